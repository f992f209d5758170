"""One report on a fitted model: what was measured, and what the paper's bounds say about it."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from textwrap import fill
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from eigencut.affinity.base import Affinity
from eigencut.affinity.precomputed import Precomputed
from eigencut.affinity.vectors import VectorAffinity
from eigencut.data.validation import check_rows
from eigencut.risk.bounds import THEORIES, Bounds, bounds, largest_error
from eigencut.risk.errors import (
    ErrorEstimate,
    Gap,
    discretization_gap,
    empirical_error,
    population_error,
)
from eigencut.risk.json_ready import JsonReady
from eigencut.runtime.arrays import Array
from eigencut.runtime.threads import threads
from eigencut.runtime.validation import check_fraction

_LABEL = 32  # width of the first column of the report
_LINE = 96


@dataclass(frozen=True)
class RiskSummary(JsonReady):
    """What is known about the risk of a fitted model. ``print`` it to read it.

    Attributes
    ----------
    cut, n_rows, n_clusters, delta : str, int, int, float
        Of the model and the question.
    eigenvalues : array of shape (K,)
    empirical_error : float
        Eq. 3 on the training rows, in population normalization.
    population_error : ErrorEstimate or None
        F on the held-out rows.
    gap_training, gap_heldout : Gap, Gap or None
        The discretization gap. The bounds use the held-out one if there is one.
    C, B, kappa : float
        The constants of the bounds, as far as the rows show them: the largest weight, the largest
        squared value of an eigenfunction, the largest |d(x) - W(x, x)|.
    bounds_paper, bounds_tight : Bounds
    largest_error : float
        F cannot be larger than this.
    vacuous : bool
        Whether the paper's continuous bound is not below ``largest_error``.
    notes : tuple of str
        What to keep in mind.
    """

    cut: str
    n_rows: int
    n_clusters: int
    delta: float
    eigenvalues: Array
    empirical_error: float
    population_error: ErrorEstimate | None
    gap_training: Gap
    gap_heldout: Gap | None
    C: float
    B: float
    kappa: float
    bounds_paper: Bounds
    bounds_tight: Bounds
    largest_error: float
    vacuous: bool
    notes: tuple[str, ...]

    def __str__(self) -> str:
        title = (
            f"Risk of {self.cut}, {self.n_clusters} clusters fitted on {self.n_rows} rows "
            f"(delta = {self.delta:g})"
        )
        blocks = [[title], self._measured(), self._constants(), self._bounds(), self._notes()]
        return "\n\n".join("\n".join(block) for block in blocks)

    def _measured(self) -> list[str]:
        listed = ", ".join(f"{value:.4g}" for value in self.eigenvalues)
        lines = [
            "Measured",
            _line("eigenvalues", listed),
            _line("empirical error", f"{self.empirical_error:.4g} on the training rows"),
        ]
        if self.population_error is not None:
            found = self.population_error
            value = f"{found.value:.4g} ± {found.standard_error:.2g}"
            lines.append(_line("population error", f"{value} on {found.n_rows} held-out rows"))
        for gap, where in ((self.gap_training, "training"), (self.gap_heldout, "held-out")):
            if gap is not None:
                text = f"{gap.total:.4g} on {gap.n_rows} {where} rows"
                lines.append(_line("discretization gap", text))
        return lines

    def _constants(self) -> list[str]:
        return [
            "Constants, as far as the rows show them",
            _line("C, largest weight", f"{self.C:.4g}"),
            _line("B, largest squared function", f"{self.B:.4g}"),
            _line("kappa, largest |d(x) - W(x, x)|", f"{self.kappa:.4g}"),
        ]

    def _bounds(self) -> list[str]:
        paper, tight, theory = self.bounds_paper, self.bounds_tight, THEORIES[self.cut]
        lines = [_line("Bounds of the excess risk", f"{'paper':>10}  {'tight':>10}", indent="")]
        for name, value in paper.terms.items():
            lines.append(_line(name, f"{value:10.4g}  {tight.terms[name]:10.4g}"))
        for name in ("continuous", "discrete", "generalization"):
            values = f"{getattr(paper, name):10.4g}  {getattr(tight, name):10.4g}"
            where = f"{getattr(theory, name)}, confidence {paper.confidence[name]:.0%}"
            lines.append(_line(f"= {name}", f"{values}  ({where})"))
        lines.append(_line("largest possible error", f"{self.largest_error:10.4g}"))
        return lines

    def _notes(self) -> list[str]:
        wrapped = (
            fill(note, _LINE, initial_indent="  - ", subsequent_indent="    ")
            for note in self.notes
        )
        return ["Notes", *wrapped]


def _line(label: str, text: str, indent: str = "  ") -> str:
    return f"{indent + label:<{_LABEL + 2}}  {text}"


def assess(model: Any, X_heldout: ArrayLike | None = None, delta: float = 0.05) -> RiskSummary:
    """Everything this library can say about the risk of a fitted model.

    Parameters
    ----------
    model : fitted GPOD
    X_heldout : array-like of shape (m, n_features), optional
        Rows that played no part in the fit, at least 3. Without them there is no estimate of the
        population error, and the gap in the bounds is the one on the training rows.
    delta : float, default=0.05
        The bounds hold with probability 1 - 2 delta (generalization: 1 - delta).

    Returns
    -------
    RiskSummary

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from eigencut import GPOD
    >>> X, _ = make_moons(300, noise=0.05, random_state=0)
    >>> summary = assess(GPOD(n_clusters=2).fit(X[:200]), X[200:])
    >>> summary.vacuous
    True
    >>> print(str(summary).splitlines()[0])
    Risk of ncut, 2 clusters fitted on 200 rows (delta = 0.05)
    """
    check_is_fitted(model)
    delta = check_fraction("delta", delta, 0.05)
    affinity, fitted = model.affinity_, model.fitted_cut_
    n, K = affinity.n_rows_, len(model.eigenvalues_)
    B = n * float(np.square(fitted.functions.at_training_vertices()).max())
    error, gap = None, None
    if X_heldout is not None:
        error, gap = population_error(model, X_heldout), discretization_gap(model, X_heldout)
        rows = check_rows(model, X_heldout, reset=False)
        with threads(model.n_jobs):
            B = max(B, float(np.square(fitted.unit_embedding(rows)).max()))
    diagonal = fitted.functions.degrees - affinity.self_weights_
    C, kappa = float(affinity.largest_weight_), float(np.abs(diagonal).max())
    gap_training = discretization_gap(model)
    eps = (gap or gap_training).total
    paper, tight = (
        bounds(model.cut, n, K, C=C, B=B, kappa=kappa, eps=eps, delta=delta, constant=constant)
        for constant in ("paper", "tight")
    )
    ceiling = largest_error(model.cut, K, C, B)
    return RiskSummary(
        cut=model.cut,
        n_rows=n,
        n_clusters=K,
        delta=delta,
        eigenvalues=model.eigenvalues_,
        empirical_error=empirical_error(model),
        population_error=error,
        gap_training=gap_training,
        gap_heldout=gap,
        C=C,
        B=B,
        kappa=kappa,
        bounds_paper=paper,
        bounds_tight=tight,
        largest_error=ceiling,
        vacuous=paper.continuous >= ceiling,
        notes=_notes(model.cut, affinity, diagonal, paper.continuous, tight.continuous, ceiling),
    )


def _notes(
    cut: str, affinity: Affinity, diagonal: Array, paper: float, tight: float, ceiling: float
) -> tuple[str, ...]:
    notes = []
    if paper >= ceiling:
        also = "so is the tight one" if tight >= ceiling else "the tight one is not"
        notes.append(
            f"The paper's continuous bound ({paper:.3g}) is vacuous: no error can be larger than "
            f"{ceiling:.3g}; {also}. Rely on what is measured: the error on held-out rows, the "
            "discretization gap, and learning_curve."
        )
    notes.extend(_on_the_weights(affinity))
    if (diagonal <= 0).all():
        notes.append(
            "kappa is an absolute value: L(x, x) = d(x) - W(x, x) is nowhere positive here, as "
            "for every Gaussian, so the paper's sup L(x, x) would not be positive. It enters "
            "RatioCut's bounds only."
        )
    notes.append(THEORIES[cut].remark)
    return tuple(notes)


def _on_the_weights(affinity: Affinity) -> list[str]:
    """Whether the weight function was there before the data, as every bound assumes."""
    fixed = "The bounds are for a weight function fixed before seeing the data"
    if not isinstance(affinity, (VectorAffinity, Precomputed)):
        return [f"{fixed}; the edges of this graph depend on the sample, so they do not apply."]
    sigma = getattr(affinity, "sigma", None)
    if affinity.pairwise:
        return [f"{fixed}; whether these precomputed affinities are such, only you can say."]
    if sigma is not None and not isinstance(sigma, Real):
        rule = "a function" if callable(sigma) else repr(sigma)
        return [f"{fixed}; here sigma was {rule}. Give it as a number that you chose beforehand."]
    return []
