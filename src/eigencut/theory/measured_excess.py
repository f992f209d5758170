"""The excess risk as far as held-out rows show it: what the theorems bound, measured."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from eigencut._utils.json_ready import JsonReady
from eigencut._utils.threads import threads
from eigencut.cut import CUTS
from eigencut.discretization import assign
from eigencut.inspection.cut_values import CutValue, measure
from eigencut.io.of_tables import takes_tables
from eigencut.io.validation import check_rows
from eigencut.theory.discretization_cost import ConstrainedError, constrained_error
from eigencut.theory.errors import RowPairs, empirical_error, row_counts


@dataclass(frozen=True)
class MeasuredExcess(JsonReady):
    """Excess risk, measured.

    Attributes
    ----------
    continuous : float
        ``held_out - empirical``: of the eigenfunctions, the left side of Theorems 1 and 3.
    continuous_error : float
        Its standard error.
    discrete : float
        ``held_out_discrete - empirical``: of the clusters, the left side of Theorems 2 and 4.
    discrete_error : float
        Its standard error.
    held_out : float
        F of the eigenfunctions on held-out rows, orthonormal there: ``tr(G^-1 E)``.
    held_out_discrete : float
        F of the clusters on held-out rows: their cut value.
    empirical : float
        F-hat of the eigenvectors on the training rows, ``empirical_error(model)``.
    n_rows : float
        Held-out rows.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from eigencut import GPOD, Gaussian
    >>> from eigencut.inspection import measured_excess
    >>> X, _ = make_moons(150, noise=0.05, random_state=0)
    >>> model = GPOD(2, affinity=Gaussian(sigma=0.3)).fit(X[:100])
    >>> found = measured_excess(model, X[100:])
    >>> found.continuous <= found.discrete
    True
    """

    continuous: float
    continuous_error: float
    discrete: float
    discrete_error: float
    held_out: float
    held_out_discrete: float
    empirical: float
    n_rows: float


@takes_tables
def measured_excess(
    model: Any, X: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> MeasuredExcess:
    """Estimate the excess risk from held-out rows, from above on average.

    The excess risk is F(solution) - F(best), both on the population. The first is estimated on
    held-out rows. The second is not known, but the eigenvectors are best on their own rows: F-hat
    is a minimum over them, so on average it lies below the minimum over the population. The
    difference of the two is therefore too large rather than too small.

    Of the clusters, ``F(u-ddot) - F(u*)``, it over-estimates by more, for the best clusters are
    worse than the best functions by an amount that nobody knows.

    Parameters
    ----------
    model : fitted GPOD or TableModel
    X : array-like of shape (m, n_features), m >= 3
        Rows that played no part in the fit.
    sample_weight : array-like of shape (m,), optional
        How many times each of them counts; weights that are no integers count together as many
        rows as ``(sum w)^2 / sum w^2``.

    Returns
    -------
    MeasuredExcess

    Notes
    -----
    The standard errors count both samples; of affinities that keep no training rows (landmarks)
    only the held-out one.

    Where eigenvectors single out rows instead of clusters, of which ``fit`` warns, F-hat can lie
    above the minimum over the population, which has rows farther out than any sample; then the
    excess is not over-estimated.

    Examples
    --------
    >>> import numpy as np
    >>> from eigencut import GPOD, Gaussian
    >>> X = np.random.default_rng(0).normal(size=(900, 1))
    >>> found = measured_excess(GPOD(2, affinity=Gaussian(1.0)).fit(X[:400]), X[400:])
    >>> abs(found.continuous) < 3 * found.continuous_error < 0.1 < found.discrete
    True
    """
    check_is_fitted(model)
    rows = check_rows(model, X, reset=False)
    fitted, cut = model.fitted_cut_, CUTS[model.cut]
    with threads(model.n_jobs):
        counts = row_counts(sample_weight, rows.shape[0])
        pairs = RowPairs.of_rows(fitted.affinity, rows, counts=counts)
        held_out = constrained_error(pairs, fitted.unit_embedding(rows), cut)
        labels = assign(fitted.scores(rows))
        return excess_over_training(model, held_out, measure(pairs, labels, cut, model.n_clusters_))


def excess_over_training(
    model: Any, held_out: ConstrainedError, clusters: CutValue
) -> MeasuredExcess:
    """What functions and clusters have on held-out rows, less F-hat."""
    empirical, error = empirical_error(model), _standard_error(model)
    return MeasuredExcess(
        continuous=held_out.value - empirical,
        continuous_error=math.hypot(held_out.standard_error, error),
        discrete=clusters.value - empirical,
        discrete_error=math.hypot(clusters.standard_error, error),
        held_out=held_out.value,
        held_out_discrete=clusters.value,
        empirical=empirical,
        n_rows=clusters.n_rows,
    )


def _standard_error(model: Any) -> float:
    """Of F-hat: at a minimum, the functions' own dependence on the sample is of second order."""
    functions = model.fitted_cut_.functions
    if not hasattr(functions.affinity, "rows_"):
        return 0.0
    pairs = RowPairs.of_training_rows(functions.affinity)
    return constrained_error(pairs, functions.eigenvectors(), CUTS[model.cut]).standard_error
