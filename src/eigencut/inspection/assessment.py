"""Everything that can be said about the risk of a fitted model, in one call."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from eigencut._utils.arrays import Array
from eigencut._utils.threads import threads
from eigencut._utils.validation import check_fraction
from eigencut.affinities.base import Affinity
from eigencut.affinities.kernel import VectorAffinity
from eigencut.affinities.precomputed import Precomputed
from eigencut.cut import CUTS
from eigencut.inspection.cut_values import cut_value, measure
from eigencut.inspection.summary import TORN, RiskSummary
from eigencut.io.of_tables import takes_tables
from eigencut.io.validation import check_rows
from eigencut.theory.bounds import THEORIES, Bounds, bounds, largest_error
from eigencut.theory.discretization_cost import (
    DependentFunctionsError,
    DiscretizationCost,
    compare,
    constrained_error,
    discretization_cost,
    training_epsilon,
)
from eigencut.theory.errors import (
    RowPairs,
    discretization_gap,
    empirical_error,
    population_error,
    refuse_weights_alone,
    row_counts,
)
from eigencut.theory.measured_excess import excess_over_training


@takes_tables
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
    check_is_fitted(model)
    delta = check_fraction("delta", delta, 0.05)
    affinity, fitted = model.affinity_, model.fitted_cut_
    functions, n, K = fitted.functions, affinity.n_rows_, len(model.eigenvalues_)
    cut, C = CUTS[model.cut], float(affinity.largest_weight_)
    B = float(np.square(functions.unit(functions.at_training_vertices())).max())
    has_rows = hasattr(affinity, "rows_")
    cost: DiscretizationCost | None = None
    error = gap = found = excess = unsupported = None
    notes: list[str] = []
    keeps_rows = has_rows or hasattr(model, "embedding_")
    if X_heldout is None and not keeps_rows:
        raise ValueError(
            "X_heldout must be given for a model that has not kept its training rows (a stream, or "
            "too many of them). Got None; pass rows that it was not fitted on."
        )
    gap_training = discretization_gap(model) if keeps_rows else None
    if X_heldout is not None:
        error = population_error(model, X_heldout, sample_weight=sample_weight)
        gap = discretization_gap(model, X_heldout, sample_weight=sample_weight)
        rows = check_rows(model, X_heldout, reset=False)
        counts = row_counts(sample_weight, rows.shape[0])
        with threads(model.n_jobs):
            values, answers = fitted.unit_embedding(rows), fitted.answers(rows)
            # What follows is made of the same pairs, whose weights take most of the time.
            pairs = RowPairs.of_rows(affinity, rows, counts=counts)
            found = measure(pairs, answers.labels, cut, K, C)
            try:
                continuous = constrained_error(pairs, values, cut)
                cost = compare(pairs, continuous, answers.labels, cut, C)
                excess = excess_over_training(model, continuous, found)
            except DependentFunctionsError as error_of_rows:
                notes.append(f"The excess risk was not measured. {error_of_rows}")
        B = max(B, float(np.square(values).max()))
        is_unsupported = answers.support < fitted.least_support
        unsupported = float(np.average(is_unsupported, weights=counts))
        torn = float(np.average(answers.margins < TORN, weights=counts))
    else:
        refuse_weights_alone(sample_weight)
        cost = discretization_cost(model) if has_rows else None
        is_torn = fitted.margins_at_vertices() < TORN
        torn = float(np.average(is_torn, weights=affinity.multiplicity_))
    if cost is not None:
        eps = cost.epsilon
    else:
        eps = training_epsilon(model) if keeps_rows else float("nan")
    diagonal = functions.degrees - affinity.self_weights_
    kappa = float(np.abs(diagonal).max())
    paper, tight = (
        bounds(model.cut, n, K, C=C, B=B, kappa=kappa, eps=eps, delta=delta, constant=constant)
        for constant in ("paper", "tight")
    )
    ceiling = largest_error(model.cut, K, C, B)
    return RiskSummary(
        cut=cut.name,
        n_rows=n,
        n_clusters=K,
        cut_training=cut_value(model, self_weights=False) if has_rows else None,
        cut_heldout=found,
        excess=excess,
        unsupported=unsupported,
        torn=torn,
        significance=significance,
        stability=stability,
        eigenvalues=model.eigenvalues_,
        empirical_error=empirical_error(model),
        population_error=error,
        gap_training=gap_training,
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
    notes.extend(_on_the_weights(affinity))
    if (diagonal <= 0).all():
        notes.append(
            "kappa is an absolute value: L(x, x) = d(x) - W(x, x) is nowhere positive here, as "
            "for every Gaussian, so the paper's sup L(x, x) would not be positive. It enters "
            "RatioCut's bounds only."
        )
    notes.append(THEORIES[cut].remark)
    return notes


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
