"""``assess``: cut values, errors and bounds of a fitted model, and how they are printed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from numbers import Real
from textwrap import fill
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from eigencut._utils.arrays import Array
from eigencut._utils.json_ready import HtmlTable, JsonReady, Printed
from eigencut._utils.validation import is_real, shown
from eigencut.affinities.base import Affinity, VectorAffinity
from eigencut.affinities.given import Precomputed
from eigencut.cut import CUTS
from eigencut.exceptions import invalid
from eigencut.inspection.leaving import LeavingShares, leaving_share
from eigencut.inspection.policy import POLICY
from eigencut.theory.bounds import THEORIES, Bounds, bounds
from eigencut.theory.errors import (
    CutValue,
    DependentFunctionsError,
    DiscretizationCost,
    ErrorEstimate,
    MeasuredExcess,
    RowPairs,
    constrained_error,
    cost_of_pairs,
    cut_of_pairs,
    empirical_error,
    error_of_pairs,
    excess_over_training,
    measured_on,
    pairs_of_cut,
    training_cost,
    training_epsilon,
)

_LABEL = 32  # width of the first column of the report
_Lines = Iterator[tuple[str, str]]  # pairs of a label and a text


@dataclass(frozen=True, repr=False)
class RiskSummary(Printed, JsonReady):
    """How well the clusters of a fitted model hold on new data. ``print`` it to read it.

    Attributes
    ----------
    cut, n_rows, n_clusters : str, int, int
        The cut, the number of training rows and the number of clusters of the model.
    leaving : LeavingShares or None
        How much of a row's similarity leaves its cluster on new data, with limits that hold.
    cut_training, cut_heldout : CutValue or None
        The value of the cut over pairs of different rows; None without these rows.
    excess : MeasuredExcess or None
        The excess risk, measured on held-out rows.
    outliers, ambiguous : float or None, float
        The share of the held-out rows that are unlike the training rows (see ``outlier_quantile``
        of ``GPOD``); the share of rows with a margin below 0.1, among the held-out rows or, without
        them, the training rows.
    significance, stability : object or None
        The results that you passed to ``assess``.
    eigenvalues : array of shape (K,) or None
        The eigenvalues. After a discrete cut, these and all below except C and notes are None.
    empirical_error, population_error : float, ErrorEstimate or None
        The paper's error F (Eq. 3): on the training rows, and on the held-out rows.
    cost, epsilon : DiscretizationCost or None, float
        What turning functions into clusters adds to F, and epsilon of Theorems 2 and 4: on the
        held-out rows or, without them, the training rows. NaN if unknown.
    C, B, kappa : float
        The constants of the bounds, estimated from the rows: the largest weight, the largest
        squared value of an eigenfunction, the largest ``|d(x) - W(x, x)|``.
    bounds_paper, bounds_tight : Bounds
    largest_error, vacuous : float and bool
        The largest possible F; whether the paper's continuous bound is as large as this.
    notes, cautions : tuple of str
        Remarks on the theory, and warnings about the held-out rows.
    cut_values_compare : bool
        False with ``RankedNeighbors``: cut values of different numbers of rows cannot be compared,
        so ``print`` leaves those of held-out rows out.
    theory : bool
        Whether ``print`` shows errors of functions, bounds and notes.
    """

    cut: str
    n_rows: float
    n_clusters: int
    leaving: LeavingShares | None = None
    cut_training: CutValue | None = None
    cut_heldout: CutValue | None = None
    excess: MeasuredExcess | None = None
    outliers: float | None = None
    ambiguous: float = math.nan
    significance: Any = None
    stability: Any = None
    eigenvalues: Array | None = None
    empirical_error: float | None = None
    population_error: ErrorEstimate | None = None
    cost: DiscretizationCost | None = None
    epsilon: float | None = None
    C: float = math.nan
    B: float | None = None
    kappa: float | None = None
    bounds_paper: Bounds | None = None
    bounds_tight: Bounds | None = None
    largest_error: float | None = None
    vacuous: bool | None = None
    notes: tuple[str, ...] = ()
    cautions: tuple[str, ...] = ()
    cut_values_compare: bool = True
    theory: bool = False

    def _sentences(self) -> list[str]:
        """Return the title, the cautions and the sentence on leaving shares."""
        n = round(self.n_rows, 1)  # an integer stays one
        K, how = self.n_clusters, "normalized" if CUTS[self.cut].mass_is_degree else "ratio"
        title = f"{K} cluster{'s' * (K > 1)}, fitted on {n} rows by the {how} cut"
        sentences = [title, *(fill(caution, 100) for caution in self.cautions)]
        if self.leaving is not None and self.n_clusters > 1:
            sentences.append(fill(self.leaving.sentence, 100))
        return sentences

    def _blocks(self) -> Iterator[tuple[str, Iterable[tuple[str, str]]]]:
        """Yield the title of each block, with its labels and texts."""
        if self.n_clusters == 1:
            yield "One cluster: there is no cut to judge", []
        else:  # first whether there are clusters, then how good they are
            text = "not tested; eigencut.inspection.significance(model, X) tests it"
            if self.significance is not None:
                p = self.significance.p_value
                is_real = p <= POLICY.small_p
                verdict = "more than one cluster" if is_real else "the rows may be one cluster"
                text = f"p = {p:.3g}: {verdict}"
            yield "Are the clusters real?", [("significance", text)]
        where = "On the training rows"
        if self.cut_heldout is not None:
            where = f"On new data, {self.cut_heldout.n_rows} held-out rows"
        yield where, self._to_act_on()
        if self.theory and self.eigenvalues is not None:
            yield "The relaxed cut", self._measured()
            constants = {
                "C, largest weight": self.C,
                "B, largest squared function": self.B,
                "kappa, largest |d(x) - W(x, x)|": self.kappa,
                "epsilon": self.epsilon,
            }
            where = "The paper's bounds (delta = 0.05), constants as the rows show them"
            yield where, [(name, f"{value:.4g}") for name, value in constants.items()]
            head = f"{'Bounds of the excess risk':<{_LABEL + 4}}{'paper':>10}  {'tight':>10}"
            yield head, self._bounds()

    def _html_tables(self) -> Iterator[HtmlTable]:
        yield "", (), [[text] for text in self._sentences()]
        for title, lines in self._blocks():
            yield " ".join(title.split()), (), lines
        if self.theory and self.notes:
            yield "Notes", (), [[note] for note in self.notes]

    def __str__(self) -> str:
        blocks = [self._sentences()]
        for head, lines in self._blocks():
            blocks.append([head, *(f"  {label:<{_LABEL}}  {text}" for label, text in lines)])
        if self.theory and self.notes:
            notes = (fill(f"  - {note}", 96, subsequent_indent="    ") for note in self.notes)
            blocks.append(["Notes", *notes])
        return "\n\n".join(map("\n".join, blocks))

    def _to_act_on(self) -> _Lines:
        own = self.cut_training
        cut = self.cut_heldout or own
        if self.cut_heldout is not None and not self.cut_values_compare:
            cut = None
        if self.leaving is not None:
            yield "leaves each cluster", _listed(self.leaving.mean)
            yield "", f"at most {_listed(self.leaving.high)} ({self.leaving.confidence:.0%})"
        if cut is not None:
            yield "cut value", _of_cut(cut)
            if cut is not own and own is not None:
                yield "", f"{_of_cut(own)} on the training rows"
            yield f"{THEORIES[self.cut].cost_of_one} of each cluster", _listed(cut.per_cluster)
        if self.outliers is not None:
            yield "outliers", f"{self.outliers:.1%} are unlike the training rows"
        least = f"{POLICY.ambiguous_margin:g}"
        yield "ambiguous rows", f"{self.ambiguous:.1%} have a margin below {least}"
        if self.stability is not None:
            chance = getattr(self.stability, "chance", None)
            by_chance = "" if chance is None else f"; {chance:.1%} would by chance"
            yield "stability", f"{self.stability.mean:.1%} of labels stay in refits{by_chance}"

    def _measured(self) -> _Lines:
        assert self.eigenvalues is not None
        yield "eigenvalues", _listed(self.eigenvalues)
        yield "empirical error", f"{self.empirical_error:.4g} on the training rows"
        if (error := self.population_error) is not None:
            value = _with_error(error.value, error.standard_error)
            yield "population error", f"{value} on {error.n_rows} held-out rows"
        if (excess := self.excess) is not None:
            value = _with_error(excess.continuous, excess.continuous_error)
            yield "excess risk, measured", f"{value} of the functions"
            value = _with_error(excess.discrete, excess.discrete_error)
            yield "", f"{value} of the clusters, against the best functions"

    def _bounds(self) -> _Lines:
        paper, tight, theory = self.bounds_paper, self.bounds_tight, THEORIES[self.cut]
        assert paper is not None and tight is not None and self.largest_error is not None
        for name, value in paper.terms.items():
            yield name, f"{value:10.4g}  {tight.terms[name]:10.4g}"
        for name in ("continuous", "discrete", "generalization"):
            first, second = (getattr(bound, name) for bound in (paper, tight))
            where = getattr(theory, name)
            n_vacuous = (first >= self.largest_error) + (second >= self.largest_error)
            verdict = ("", " paper's is vacuous", " vacuous")[n_vacuous]
            yield f"= {name}", f"{first:10.4g}  {second:10.4g}  ({where}){verdict}"
        yield "largest possible error", f"{self.largest_error:10.4g}"
        if self.cost is not None:
            at_most = f"at most {self.cost.by_error:.4g}, by its Dirichlet form"
            yield "cost of discretization", f"{self.cost.cost:10.4g}  ({at_most})"


def assess(
    model: Any,
    X_heldout: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    significance: Any = None,
    stability: Any = None,
    theory: bool = False,
) -> RiskSummary:
    """Measure how well the clusters of a fitted model hold.

    Parameters
    ----------
    model : fitted GPOD or TableModel
    X_heldout : array-like of shape (m, n_features), optional
        At least 3 rows that played no part in the fit. Without them, new data are not assessed.
    sample_weight : array-like of shape (m,), optional
        How many times each held-out row counts. If some weights are not integers, all together
        count as ``(sum w)^2 / sum w^2`` rows. The n of the bounds is the sum of the fit's weights.
    significance, stability : optional
        Results of ``significance`` and ``stability``, to print with the rest.
    theory : bool, default=False
        Whether ``print`` also shows the errors and bounds of the paper. They hold only for weights
        that do not depend on the data.

    Returns
    -------
    RiskSummary

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from eigencut import GPOD, Gaussian
    >>> X, _ = make_moons(300, noise=0.05, random_state=0)
    >>> summary = assess(GPOD(2, affinity=Gaussian(0.3)).fit(X[:200]), X[200:])
    >>> summary.cut_heldout.value < 0.3, summary.vacuous
    (True, True)
    >>> print(str(summary).splitlines()[0])
    2 clusters, fitted on 200 rows by the normalized cut
    """
    for name, result in (("significance", significance), ("stability", stability)):
        value = getattr(result, "p_value" if name == "significance" else "mean", None)
        if result is not None and not is_real(value):
            expected, remedy = f"be what eigencut.inspection.{name} returns", "compute it first"
            raise invalid(name, expected, shown(result), remedy)
    with measured_on(model, X_heldout, sample_weight) as (gpod, rows, counts):
        affinity, fitted = gpod.affinity_, gpod.fitted_cut_
        n, K, cut, known = affinity.n_rows_, gpod.n_clusters_, fitted.cut, affinity.weight_bound_
        C = float(affinity.largest_weight_ if known is None else known)
        has_rows = hasattr(affinity, "rows_")
        if rows is None and not (has_rows or hasattr(gpod, "embedding_")):
            expected = "be given for a model that has not kept its training rows"
            raise invalid("X_heldout", expected, None, "pass rows that it was not fitted on")
        leaving, cautions = None, list[str]()
        if rows is not None and (is_known := affinity.identical_vertices(rows) >= 0).mean() > 0.5:
            cautions.append(
                f"{is_known.mean():.0%} of these rows are identical to training rows. If they are "
                "the training rows, these numbers are too favourable: pass rows that were held out."
            )
        is_relaxed, heldout, outliers = hasattr(gpod, "eigenvalues_"), None, None
        pairs, labels = None, None
        if rows is not None:
            leaving = leaving_share(gpod, rows, sample_weight=counts, confidence=POLICY.confidence)
            answers = fitted.answers(rows)
            # All that follows uses the same pairs, because their weights take most of the time.
            pairs = RowPairs.from_rows(affinity, rows, counts)
            labels, margins, weights = answers.labels, answers.margins, counts
            heldout = cut_of_pairs(pairs, labels, cut, K)
            outliers = float(np.average(answers.support < fitted.least_support, weights=counts))
        elif is_relaxed:
            margins, weights = fitted.margins_at_vertices(), affinity.multiplicity_
        elif has_rows:
            margins, weights = fitted.margins(affinity.rows_), affinity.multiplicity_
        else:
            margins, weights = fitted.leads(gpod.embedding_), None
        summary = RiskSummary(
            cut=cut.name,
            n_rows=n,
            n_clusters=K,
            leaving=leaving,
            cut_training=cut_value(gpod, self_weights=False) if has_rows else None,
            cut_heldout=heldout,
            outliers=outliers,
            ambiguous=float(np.average(margins < POLICY.ambiguous_margin, weights=weights)),
            significance=significance,
            stability=stability,
            C=C,
            cautions=tuple(cautions),
            cut_values_compare=affinity.solver != "discrete",
            theory=theory,
        )
        if is_relaxed:
            return _with_functions(summary, gpod, rows=rows, pairs=pairs, labels=labels)
    note = (
        "A discrete cut has no eigenfunctions: errors of functions and the bounds were "
        "left out. Fit with solver='relaxed' for them."
    )
    if affinity.solver == "discrete":
        note += (
            " Weights go by ranks of neighbours, so compare cut values only between samples of the "
            "same number of rows."
        )
    return replace(summary, notes=(note,))


def _with_functions(
    summary: RiskSummary, gpod: Any, *, rows: Any, pairs: Any, labels: Any
) -> RiskSummary:
    """Add to the summary what needs eigenfunctions: errors, cost of discretization, bounds."""
    fitted, affinity, C, heldout = gpod.fitted_cut_, gpod.affinity_, summary.C, summary.cut_heldout
    functions, K = fitted.functions, summary.n_clusters
    n = max(int(summary.n_rows), 1)  # bounds fall with n, so rounding down keeps them valid
    B = float(np.square(functions.unit(functions.at_training_vertices())).max())
    error, cost, excess, notes = None, None, None, list[str]()
    if heldout is not None:
        values = functions.unit(functions(rows))
        error = error_of_pairs(pairs, values)
        try:
            continuous = constrained_error(pairs, values, fitted.cut)
            cost = cost_of_pairs(pairs, continuous, labels, fitted.cut, C)
            excess = excess_over_training(gpod, continuous, heldout)
        except DependentFunctionsError as error_of_rows:
            notes.append(f"The excess risk was not measured. {error_of_rows}")
        B = max(B, float(np.square(values).max()))
    elif summary.cut_training is not None:
        cost = training_cost(gpod)
    keeps_rows = summary.cut_training is not None or hasattr(gpod, "embedding_")
    eps = training_epsilon(gpod) if cost is None and keeps_rows else math.nan
    eps = eps if cost is None else cost.epsilon
    diagonal = functions.degrees - affinity.self_weights_
    kappa, both = float(np.abs(diagonal).max()), []
    for constant in ("paper", "tight"):
        known = 0.0 if math.isnan(eps) else eps
        one = bounds(gpod.cut, n, K, C=C, B=B, kappa=kappa, eps=known, constant=constant)
        if math.isnan(eps):
            one = replace(one, discrete=eps, terms=one.terms | {"discretization": eps})
        both.append(one)
    paper, tight = both
    ceiling = THEORIES[gpod.cut].largest_error(K, C, B)
    return replace(
        summary,
        excess=excess,
        eigenvalues=gpod.eigenvalues_,
        empirical_error=empirical_error(gpod),
        population_error=error,
        cost=cost,
        epsilon=eps,
        B=B,
        kappa=kappa,
        bounds_paper=paper,
        bounds_tight=tight,
        largest_error=ceiling,
        vacuous=paper.continuous >= ceiling,
        notes=(*notes, *_notes(fitted.cut.name, affinity, diagonal, paper, tight, ceiling)),
    )


def _notes(
    cut: str, affinity: Affinity, diagonal: Array, paper: Bounds, tight: Bounds, ceiling: float
) -> list[str]:
    notes = []
    if paper.continuous >= ceiling:
        also = "so is the tight one" if tight.continuous >= ceiling else "the tight one is not"
        notes.append(
            f"The paper's continuous bound ({paper.continuous:.3g}) is vacuous: no error can be "
            f"larger than {ceiling:.3g}; {also}. Rely on what is measured: the cut value and the "
            "excess risk on held-out rows, and learning_curve."
        )
    # Every bound assumes that the weight function was fixed before the data were seen.
    fixed = "The bounds are for a weight function fixed before seeing the data"
    sigma = getattr(affinity, "sigma", None)
    if not isinstance(affinity, (VectorAffinity, Precomputed)):
        why = "the edges of this graph depend on the sample, so they do not apply"
        notes.append(f"{fixed}; {why}.")
    elif affinity.pairwise:
        notes.append(f"{fixed}; only you know whether these affinities were.")
    elif sigma is not None and not isinstance(sigma, Real):
        rule = "a function" if callable(sigma) else repr(sigma)
        notes.append(f"{fixed}; here sigma was {rule}. Give it as a number chosen beforehand.")
    if affinity.weight_bound_ is None:
        text = "C is the largest weight that was seen: no upper bound is known of this affinity."
        notes.append(text)
    if (diagonal <= 0).all():
        notes.append(
            "kappa is an absolute value: L(x, x) = d(x) - W(x, x) is nowhere positive here, as "
            "for every Gaussian, so the paper's sup L(x, x) would not be positive. It enters "
            "RatioCut's bounds only."
        )
    notes.append(THEORIES[cut].remark)
    return notes


def _with_error(value: float, standard_error: float) -> str:
    return f"{value:.4g} ± {standard_error:.2g}"


def _of_cut(cut: CutValue) -> str:
    """Return the cut value; with its standard error, unless the value is too near 0 for one."""
    return f"{cut.value:.4g}" if cut.is_near_zero else _with_error(cut.value, cut.standard_error)


def _listed(values: Array) -> str:
    text = ", ".join("no rows" if np.isnan(value) else f"{value:.4g}" for value in values)
    if len(text) <= 90 - _LABEL:
        return text
    low, high = np.nanmin(values), np.nanmax(values)
    return f"{low:.4g} to {high:.4g}, {len(values)} values"


def cut_value(
    model: Any,
    X: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    self_weights: bool | None = None,
) -> CutValue:
    """Return the value of the clusters on the training rows, or on rows held out."""
    # By default, training rows make pairs with themselves, as in the graph of the fit.
    with measured_on(model, X, sample_weight) as (gpod, rows, counts):
        pairs, labels = pairs_of_cut(gpod.fitted_cut_, rows, counts, self_weights)
        return cut_of_pairs(pairs, labels, gpod.fitted_cut_.cut, gpod.n_clusters_)
