"""One report on a fitted model: what can be acted on first, and the theorems below it."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from textwrap import fill
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from eigencut._utils.arrays import Array
from eigencut._utils.json_ready import JsonReady
from eigencut._utils.validation import check_fraction
from eigencut.affinities.base import Affinity
from eigencut.affinities.kernel import VectorAffinity
from eigencut.affinities.precomputed import Precomputed
from eigencut.exceptions import invalid
from eigencut.inspection.cut_values import cut_value
from eigencut.inspection.policy import POLICY
from eigencut.theory.bounds import THEORIES, Bounds, bounds, largest_error
from eigencut.theory.errors import (
    CutValue,
    ErrorEstimate,
    Gap,
    RowPairs,
    cut_of_pairs,
    discretization_gap_on,
    empirical_error,
    measured_on,
    population_error_on,
)
from eigencut.theory.excess import (
    DependentFunctionsError,
    DiscretizationCost,
    MeasuredExcess,
    compare,
    constrained_error,
    discretization_cost,
    excess_over_training,
    training_epsilon,
)

_LABEL = 32  # width of the first column of the report


@dataclass(frozen=True)
class RiskSummary(JsonReady):
    """What is known about the risk of a fitted model. ``print`` it to read it.

    Attributes
    ----------
    cut, n_rows, n_clusters : str, int, int
        Of the model.
    cut_training, cut_heldout : CutValue or None
        The value of the cut over pairs of different rows; None where rows are missing.
    excess : MeasuredExcess or None
        The excess risk, measured on held-out rows.
    outliers : float or None
        Share of the held-out rows that are less similar to the training rows than these are,
        but for the ``outlier_quantile``.
    ambiguous : float
        Share of the rows, held-out ones if there are any, with a margin below 0.1.
    significance, stability : object or None
        Results that were handed to ``assess``.
    eigenvalues : array of shape (K,)
    empirical_error : float
        Eq. 3 on the training rows, in population normalization.
    population_error : ErrorEstimate or None
        F on the held-out rows.
    gap_training, gap_heldout : Gap or None
        The discretization gap.
    cost : DiscretizationCost or None
        What the discretization adds to F: on held-out rows, or else on the training rows.
    epsilon : float
        Of Theorems 2 and 4, on the same rows.
    delta : float
        The bounds hold with probability 1 - 2 delta (generalization: 1 - delta).
    C, B, kappa : float
        The constants of the bounds, as far as the rows show them: the largest weight, the largest
        squared value of an eigenfunction, the largest ``|d(x) - W(x, x)|``.
    bounds_paper, bounds_tight : Bounds
    largest_error : float
        F cannot be larger than this.
    vacuous : bool
        Whether the paper's continuous bound is not below ``largest_error``.
    notes : tuple of str
        What to keep in mind.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from eigencut import GPOD, Gaussian
    >>> X, _ = make_moons(150, noise=0.05, random_state=0)
    >>> model = GPOD(2, affinity=Gaussian(sigma=0.3)).fit(X[:100])
    >>> result = assess(model, X[100:])
    >>> result.cut, result.n_rows, result.n_clusters
    ('ncut', 100, 2)
    >>> result.cut_heldout.value <= 2.0
    True
    """

    cut: str
    n_rows: float
    n_clusters: int
    cut_training: CutValue | None
    cut_heldout: CutValue | None
    excess: MeasuredExcess | None
    outliers: float | None
    ambiguous: float
    significance: Any
    stability: Any
    eigenvalues: Array
    empirical_error: float
    population_error: ErrorEstimate | None
    gap_training: Gap | None
    gap_heldout: Gap | None
    cost: DiscretizationCost | None
    epsilon: float
    delta: float
    C: float
    B: float
    kappa: float
    bounds_paper: Bounds
    bounds_tight: Bounds
    largest_error: float
    vacuous: bool
    notes: tuple[str, ...]

    def __str__(self) -> str:
        title = f"Risk of {self.cut}, {self.n_clusters} clusters fitted on {self.n_rows} rows"
        notes = [
            fill(note, 96, initial_indent="  - ", subsequent_indent="    ") for note in self.notes
        ]
        blocks = [
            [title],
            self._whether_real(),
            self._to_act_on(),
            self._measured(),
            self._theorems(),
            ["Notes", *notes],
        ]
        return "\n\n".join("\n".join(block) for block in blocks)

    def _whether_real(self) -> list[str]:
        """Whether there are clusters at all comes before how good they are."""
        if self.n_clusters == 1:
            return ["One cluster: there is no cut to be judged"]
        text = "not asked: eigencut.inspection.significance(model)"
        if self.significance is not None:
            p = self.significance.p_value
            is_real = p <= POLICY.small_p
            verdict = "more than one cluster" if is_real else "the rows may be one cluster"
            text = f"p = {p:.3g}: {verdict}"
        return ["Are the clusters real?", _line("significance", text)]

    def _to_act_on(self) -> list[str]:
        own, held_out, excess = self.cut_training, self.cut_heldout, self.excess
        cut, lines = held_out or own, ["On the training rows"]
        if held_out is not None:
            lines = [f"On new data, {held_out.n_rows} held-out rows"]
        if cut is not None:
            text = _with_error(cut.value, cut.standard_error)
            if cut is not own and own is not None:
                text += f"; on the training rows {_with_error(own.value, own.standard_error)}"
            name = f"{THEORIES[self.cut].cost_of_one} of each cluster"
            lines += [_line("cut value", text), _line(name, _listed(cut.per_cluster))]
        if excess is not None:
            text = f"{_with_error(excess.continuous, excess.continuous_error)} of the functions"
            lines.append(_line("excess risk, measured", text))
            text = f"{_with_error(excess.discrete, excess.discrete_error)} of the clusters, at most"
            lines.append(_line("", text))
        if self.outliers is not None:
            lines.append(_line("outliers", f"{self.outliers:.1%} are unlike the training rows"))
        text = f"{self.ambiguous:.1%} have a margin below {POLICY.ambiguous_margin:g}"
        lines.append(_line("ambiguous rows", text))
        if self.stability is not None:
            lines.append(_line("stability", f"{self.stability.mean:.1%} of labels stay in refits"))
        return lines

    def _measured(self) -> list[str]:
        lines = [
            "The relaxed cut",
            _line("eigenvalues", _listed(self.eigenvalues)),
            _line("empirical error", f"{self.empirical_error:.4g} on the training rows"),
        ]
        error = self.population_error
        if error is not None:
            value = _with_error(error.value, error.standard_error)
            lines.append(_line("population error", f"{value} on {error.n_rows} held-out rows"))
        for gap, where in ((self.gap_training, "training"), (self.gap_heldout, "held-out")):
            if gap is not None:
                text = f"{gap.total:.4g} on {gap.n_rows} {where} rows"
                lines.append(_line("discretization gap", text))
        return lines

    def _theorems(self) -> list[str]:
        paper, tight, theory = self.bounds_paper, self.bounds_tight, THEORIES[self.cut]
        constants = (
            ("C, largest weight", self.C),
            ("B, largest squared function", self.B),
            ("kappa, largest |d(x) - W(x, x)|", self.kappa),
            ("epsilon", self.epsilon),
        )
        lines = [
            f"The theorems (delta = {self.delta:g}), with what the rows show of their constants"
        ]
        lines += [_line(name, f"{value:.4g}") for name, value in constants]
        lines += ["", _line("Bounds of the excess risk", f"{'paper':>10}  {'tight':>10}", "")]
        for name, value in paper.terms.items():
            lines.append(_line(name, f"{value:10.4g}  {tight.terms[name]:10.4g}"))
        for name in ("continuous", "discrete", "generalization"):
            both = [getattr(of, name) for of in (paper, tight)]
            where = f"{getattr(theory, name)}, confidence {paper.confidence[name]:.0%}"
            verdicts = ("", " vacuous but for tight", " vacuous")
            verdict = verdicts[sum(value >= self.largest_error for value in both)]
            text = f"{both[0]:10.4g}  {both[1]:10.4g}  ({where}){verdict}"
            lines.append(_line(f"= {name}", text))
        lines.append(_line("largest possible error", f"{self.largest_error:10.4g}"))
        if self.cost is not None:
            at_most = f"at most {self.cost.by_error:.4g}, by its Dirichlet form"
            lines.append(_line("cost of discretization", f"{self.cost.cost:10.4g}  ({at_most})"))
        return lines


def assess(
    model: Any,
    X_heldout: ArrayLike | None = None,
    delta: float = 0.05,
    *,
    sample_weight: ArrayLike | None = None,
    significance: Any = None,
    stability: Any = None,
) -> RiskSummary:
    """Everything this library can say about the risk of a fitted model.

    Parameters
    ----------
    model : fitted GPOD or TableModel
    X_heldout : array-like of shape (m, n_features), optional
        Rows that played no part in the fit, at least 3. Without them nothing is known of new data:
        no excess risk, no population error, and the epsilon of the bounds is that of the training
        rows.
    delta : float, default=0.05
        The bounds hold with probability 1 - 2 delta (generalization: 1 - delta).
    sample_weight : array-like of shape (m,), optional
        How many times each held-out row counts; weights that are no integers count together as many
        rows as ``(sum w)^2 / sum w^2``. Of the training rows n, and so every bound, counts the
        weights of the fit: it is that of independent rows only if each weight is a number of them.
    significance, stability : optional
        Results that take many refits, to be shown with the rest: anything with a ``p_value``, and
        anything with a ``mean``.

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
    Risk of ncut, 2 clusters fitted on 200 rows
    """
    delta = check_fraction("delta", delta, 0.05)
    with measured_on(model, X_heldout, sample_weight) as (gpod, rows, counts):
        return _summary(gpod, rows, counts, delta, significance, stability)


def _summary(
    gpod: Any, rows: Any, counts: Array | None, delta: float, significance: Any, stability: Any
) -> RiskSummary:
    affinity, fitted = gpod.affinity_, gpod.fitted_cut_
    functions, n, K = fitted.functions, affinity.n_rows_, len(gpod.eigenvalues_)
    cut, C = functions.cut, float(affinity.largest_weight_)
    B = float(np.square(functions.unit(functions.at_training_vertices())).max())
    has_rows = hasattr(affinity, "rows_")
    keeps_rows = has_rows or hasattr(gpod, "embedding_")
    error = gap = heldout = excess = outliers = cost = None
    notes: list[str] = []
    if rows is None and not keeps_rows:
        raise invalid(
            "X_heldout",
            "be given for a model that has not kept its training rows",
            None,
            "pass rows that it was not fitted on",
        )
    if rows is not None:
        error = population_error_on(fitted, rows, counts)
        gap = discretization_gap_on(gpod, rows, counts)
        values, answers = fitted.unit_embedding(rows), fitted.answers(rows)
        # What follows is made of the same pairs, whose weights take most of the time.
        pairs = RowPairs.from_rows(affinity, rows, counts)
        heldout = cut_of_pairs(pairs, answers.labels, cut, K, C)
        try:
            continuous = constrained_error(pairs, values, cut)
            cost = compare(pairs, continuous, answers.labels, cut, C)
            excess = excess_over_training(gpod, continuous, heldout)
        except DependentFunctionsError as error_of_rows:
            notes.append(f"The excess risk was not measured. {error_of_rows}")
        B = max(B, float(np.square(values).max()))
        outliers = float(np.average(answers.support < fitted.least_support, weights=counts))
        margins = answers.margins
    else:
        cost = discretization_cost(gpod) if has_rows else None
        margins, counts = fitted.margins_at_vertices(), affinity.multiplicity_
    eps = float("nan")
    if cost is not None or keeps_rows:
        eps = training_epsilon(gpod) if cost is None else cost.epsilon
    diagonal = functions.degrees - affinity.self_weights_
    kappa = float(np.abs(diagonal).max())
    paper, tight = (
        bounds(gpod.cut, n, K, C=C, B=B, kappa=kappa, eps=eps, delta=delta, constant=constant)
        for constant in ("paper", "tight")
    )
    ceiling = largest_error(gpod.cut, K, C, B)
    return RiskSummary(
        cut=cut.name,
        n_rows=n,
        n_clusters=K,
        cut_training=cut_value(gpod, self_weights=False) if has_rows else None,
        cut_heldout=heldout,
        excess=excess,
        outliers=outliers,
        ambiguous=float(np.average(margins < POLICY.ambiguous_margin, weights=counts)),
        significance=significance,
        stability=stability,
        eigenvalues=gpod.eigenvalues_,
        empirical_error=empirical_error(gpod),
        population_error=error,
        gap_training=discretization_gap_on(gpod) if keeps_rows else None,
        gap_heldout=gap,
        cost=cost,
        epsilon=eps,
        delta=delta,
        C=C,
        B=B,
        kappa=kappa,
        bounds_paper=paper,
        bounds_tight=tight,
        largest_error=ceiling,
        vacuous=paper.continuous >= ceiling,
        notes=(*notes, *_notes(cut.name, affinity, diagonal, paper, tight, ceiling)),
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
    # Whether the weight function was there before the data, as every bound assumes.
    fixed = "The bounds are for a weight function fixed before seeing the data"
    sigma = getattr(affinity, "sigma", None)
    if not isinstance(affinity, (VectorAffinity, Precomputed)):
        notes.append(
            f"{fixed}; the edges of this graph depend on the sample, so they do not apply."
        )
    elif affinity.pairwise:
        notes.append(f"{fixed}; whether these precomputed affinities are such, only you can say.")
    elif sigma is not None and not isinstance(sigma, Real):
        rule = "a function" if callable(sigma) else repr(sigma)
        notes.append(f"{fixed}; here sigma was {rule}. Give it as a number chosen beforehand.")
    if (diagonal <= 0).all():
        notes.append(
            "kappa is an absolute value: L(x, x) = d(x) - W(x, x) is nowhere positive here, as "
            "for every Gaussian, so the paper's sup L(x, x) would not be positive. It enters "
            "RatioCut's bounds only."
        )
    notes.append(THEORIES[cut].remark)
    return notes


def _line(label: str, text: str, indent: str = "  ") -> str:
    return f"{indent + label:<{_LABEL + 2}}  {text}"


def _with_error(value: float, standard_error: float) -> str:
    return f"{value:.4g} ± {standard_error:.2g}"


def _listed(values: Array) -> str:
    text = ", ".join("no rows" if np.isnan(value) else f"{value:.4g}" for value in values)
    if len(text) <= 90 - _LABEL:
        return text
    low, high = np.nanmin(values), np.nanmax(values)
    return f"{low:.4g} to {high:.4g}, {len(values)} values"
