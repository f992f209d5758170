"""One report on a fitted model: what can be acted on first, and the theorems below it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from textwrap import fill
from typing import Any

import numpy as np

from eigencut._utils.arrays import Array
from eigencut._utils.json_ready import JsonReady
from eigencut.inspection.cut_values import CutValue
from eigencut.theory.bounds import THEORIES, Bounds
from eigencut.theory.discretization_cost import DiscretizationCost
from eigencut.theory.errors import ErrorEstimate, Gap
from eigencut.theory.measured_excess import MeasuredExcess

TORN = 0.1  # rows with a smaller margin belong to two clusters nearly alike
SMALL_P = 0.05  # up to which a p-value speaks for clusters, in words
_LABEL = 32  # width of the first column of the report
_LINE = 96


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
    unsupported : float or None
        Share of the held-out rows with less support than ``outlier_quantile`` of the training rows.
    torn : float
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
    >>> from eigencut.inspection import assess
    >>> X, _ = make_moons(150, noise=0.05, random_state=0)
    >>> model = GPOD(2, affinity=Gaussian(sigma=0.3)).fit(X[:100])
    >>> found = assess(model, X[100:])
    >>> found.cut, found.n_rows, found.n_clusters
    ('ncut', 100, 2)
    >>> found.cut_heldout.value <= 2.0
    True
    """

    cut: str
    n_rows: float
    n_clusters: int
    cut_training: CutValue | None
    cut_heldout: CutValue | None
    excess: MeasuredExcess | None
    unsupported: float | None
    torn: float
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
        blocks = [
            [title],
            self._whether_real(),
            self._to_act_on(),
            self._measured(),
            self._theorems(),
            self._notes(),
        ]
        return "\n\n".join("\n".join(block) for block in blocks)

    def _whether_real(self) -> list[str]:
        """Whether there are clusters at all comes before how good they are."""
        if self.n_clusters == 1:
            return ["One cluster: there is no cut to be judged"]
        text = "not asked: eigencut.inspection.significance(model)"
        if self.significance is not None:
            p = self.significance.p_value
            verdict = "more than one cluster" if p <= SMALL_P else "the rows may be one cluster"
            text = f"p = {p:.3g}: {verdict}"
        return ["Are the clusters real?", _line("significance", text)]

    def _to_act_on(self) -> list[str]:
        found, own = self.cut_heldout or self.cut_training, self.cut_training
        lines = ["On the training rows"]
        if self.cut_heldout is not None:
            lines = [f"On new data, {self.cut_heldout.n_rows} held-out rows"]
        if found is not None:
            text = _with_error(found.value, found.standard_error)
            if self.cut_heldout is not None and own is not None:
                training = _with_error(own.value, own.standard_error)
                text = f"{text}; on the training rows {training}"
            lines.append(_line("cut value", text))
            name = THEORIES[self.cut].cost_of_one
            lines.append(_line(f"{name} of each cluster", _listed(found.per_cluster)))
        if self.excess is not None:
            of_functions = _with_error(self.excess.continuous, self.excess.continuous_error)
            of_clusters = _with_error(self.excess.discrete, self.excess.discrete_error)
            lines += [
                _line("excess risk, measured", f"{of_functions} of the functions"),
                _line("", f"{of_clusters} of the clusters, at most"),
            ]
        if self.unsupported is not None:
            lines.append(_line("rows without support", f"{self.unsupported:.1%}"))
        lines.append(_line("torn rows", f"{self.torn:.1%} have a margin below {TORN:g}"))
        if self.stability is not None:
            text = f"{self.stability.mean:.1%} of labels stay in refits"
            lines.append(_line("stability", text))
        return lines

    def _measured(self) -> list[str]:
        on_training = f"{self.empirical_error:.4g} on the training rows"
        lines = [
            "The relaxed cut",
            _line("eigenvalues", _listed(self.eigenvalues)),
            _line("empirical error", on_training),
        ]
        if self.population_error is not None:
            found = self.population_error
            value = _with_error(found.value, found.standard_error)
            lines.append(_line("population error", f"{value} on {found.n_rows} held-out rows"))
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
            lines.append(_line(f"= {name}", f"{both[0]:10.4g}  {both[1]:10.4g}  ({where})"))
            lines[-1] += self._verdict(both)
        lines.append(_line("largest possible error", f"{self.largest_error:10.4g}"))
        if self.cost is not None:
            at_most = f"at most {self.cost.by_error:.4g}, by its Dirichlet form"
            lines.append(_line("cost of discretization", f"{self.cost.cost:10.4g}  ({at_most})"))
        return lines

    def _verdict(self, both: Iterable[float]) -> str:
        is_vacuous = [value >= self.largest_error for value in both]
        if all(is_vacuous):
            return " vacuous"
        return " vacuous but for tight" if any(is_vacuous) else ""

    def _notes(self) -> list[str]:
        wrapped = (
            fill(note, _LINE, initial_indent="  - ", subsequent_indent="    ")
            for note in self.notes
        )
        return ["Notes", *wrapped]


def _line(label: str, text: str, indent: str = "  ") -> str:
    return f"{indent + label:<{_LABEL + 2}}  {text}"


def _with_error(value: float, standard_error: float) -> str:
    return f"{value:.4g} ± {standard_error:.2g}"


def _listed(values: Array) -> str:
    text = ", ".join("no rows" if np.isnan(value) else f"{value:.4g}" for value in values)
    limit = _LINE - _LABEL - 6
    if len(text) <= limit:
        return text
    low, high = np.nanmin(values), np.nanmax(values)
    return f"{low:.4g} to {high:.4g}, {len(values)} values"
