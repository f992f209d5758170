"""From functions to clusters: what the discretization costs, and what bounds it (term A)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from eigencut.cut import CUTS, Cut
from eigencut.data.validation import check_rows
from eigencut.discretization import assign
from eigencut.risk.bounds import THEORIES
from eigencut.risk.constrained import ConstrainedError, constrained_error
from eigencut.risk.json_ready import JsonReady
from eigencut.risk.of_tables import takes_tables
from eigencut.risk.row_counts import refuse_weights_alone, row_counts
from eigencut.risk.row_pairs import RowPairs
from eigencut.runtime.arrays import Array, Indices
from eigencut.runtime.threads import threads


@dataclass(frozen=True)
class DiscretizationCost(JsonReady):
    """Term A of the proofs of Theorems 2 and 4, ``F(u-ddot) - F(u-check)``, and its bounds.

    Attributes
    ----------
    discrete, continuous : float
        F of the clusters and of the eigenfunctions, both orthonormal on the rows.
    cost : float
        Their difference.
    epsilon : float
        ``sum_k ||u-ddot_k - (u-check R)_k||`` in L2(rho_M).
    per_cluster : array of shape (K,)
        Its summands.
    by_error : float
        ``sqrt(E(p)) (sqrt(F(u-ddot)) + sqrt(F(u-check)))``, p the difference of the two: a bound of
        ``cost``.
    by_norm : float
        ``2 C epsilon`` for RatioCut, ``4 epsilon`` for NCut: a bound of ``cost``.
    by_paper : float
        ``4 C epsilon``, as Theorems 2 and 4 have it; no bound for NCut if C < 1.
    n_rows : float

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from eigencut import GPOD, Gaussian
    >>> from eigencut.risk import discretization_cost
    >>> X, _ = make_moons(150, noise=0.05, random_state=0)
    >>> model = GPOD(2, affinity=Gaussian(sigma=0.3)).fit(X[:100])
    >>> found = discretization_cost(model, X[100:])
    >>> found.cost <= found.by_error <= found.by_norm
    True
    """

    discrete: float
    continuous: float
    cost: float
    epsilon: float
    per_cluster: Array
    by_error: float
    by_norm: float
    by_paper: float
    n_rows: float


@takes_tables
def discretization_cost(
    model: Any, X: ArrayLike | None = None, *, sample_weight: ArrayLike | None = None
) -> DiscretizationCost:
    """What turning functions into clusters adds to F, and the theorems' epsilon.

    Theorems 2 and 4 compare indicators of unit norm (Eqs. 4 and 5, for NCut in L2(rho_W), where
    rho_W has the degrees as density) with eigenfunctions of unit norm; only then do the terms A to
    D of their proofs add up. Rotated eigenfunctions ``u-check R`` have the same F, and R is the
    rotation that brings them closest to the indicators. With the Dirichlet form
    ``E(f) = 1/2 E W(x, y) (f(x) - f(y))^2``, a seminorm squared,

        F(u-ddot) - F(u-check) <= sqrt(E(p)) (sqrt(F(u-ddot)) + sqrt(F(u-check))),

    and since ``E(f) <= C ||f||^2`` for RatioCut, ``2 ||f||^2`` for NCut, by Cauchy and Schwarz also
    ``<= 2 C epsilon``, ``4 epsilon``. The paper has ``4 C epsilon`` for both.

    Parameters
    ----------
    model : fitted GPOD or TableModel
    X : array-like of shape (m, n_features), optional
        Rows to measure it on. Default: the training rows.
    sample_weight : array-like of shape (m,), optional
        How many times each row of X counts; weights that are no integers count together as many
        rows as Kish's effective number. Training rows have the weights of the fit.

    Returns
    -------
    DiscretizationCost

    See Also
    --------
    discretization_gap : What POD makes small: rows of unit length instead of functions.

    Examples
    --------
    >>> import numpy as np
    >>> from eigencut import GPOD, Gaussian
    >>> X = np.random.default_rng(0).normal(size=(300, 1))
    >>> found = discretization_cost(GPOD(2, affinity=Gaussian(1.0)).fit(X))
    >>> 0 < found.cost < found.by_error < found.by_norm
    True
    """
    check_is_fitted(model)
    fitted = model.fitted_cut_
    with threads(model.n_jobs):
        if X is None:
            refuse_weights_alone(sample_weight)
            pairs = RowPairs.of_training_rows(fitted.affinity)
            labels = fitted.partition.labels
            values = fitted.functions.at_training_vertices()
        else:
            rows = check_rows(model, X, reset=False)
            counts = row_counts(sample_weight, rows.shape[0])
            pairs = RowPairs.of_rows(fitted.affinity, rows, counts=counts)
            labels, values = assign(fitted.scores(rows)), fitted.functions(rows)
        cut, largest = CUTS[model.cut], float(fitted.affinity.largest_weight_)
        continuous = constrained_error(pairs, fitted.functions.unit(values), cut)
        return compare(pairs, continuous, labels, cut, largest)


def compare(
    pairs: RowPairs,
    continuous: ConstrainedError,
    labels: Indices,
    cut: Cut,
    largest_weight: float,
) -> DiscretizationCost:
    """The cost on pairs of rows, of functions known there and labels."""
    Z, R, P, per_cluster = _differences(continuous.functions, continuous.mass, labels)
    sums = pairs.sums(Z)
    discrete = _dirichlet(pairs, Z, sums)
    form = _dirichlet(pairs, P, sums - continuous.sums @ R)
    epsilon = float(per_cluster.sum())
    # Means over pairs of different rows have n - 1 for n.
    per_norm = THEORIES[cut.name].form_per_norm(largest_weight)
    per_norm *= 1.0 if cut.mass_power else pairs.n_rows / pairs.n_partners
    return DiscretizationCost(
        discrete=discrete,
        continuous=continuous.value,
        cost=discrete - continuous.value,
        epsilon=epsilon,
        per_cluster=per_cluster,
        by_error=math.sqrt(form) * (math.sqrt(discrete) + math.sqrt(continuous.value)),
        by_norm=2 * per_norm * epsilon,
        by_paper=4 * largest_weight * epsilon,
        n_rows=pairs.n_rows,
    )


def training_epsilon(model: Any) -> float:
    """Epsilon on the training rows, from what the fit has kept: no weights are needed."""
    functions, cut = model.fitted_cut_.functions, CUTS[model.cut]
    if functions.form != "landmarks":
        U, degrees = functions.at_training_vertices(), functions.degrees
        share, labels = functions.affinity.multiplicity_, model.fitted_cut_.partition.labels
    else:  # every row is a place, and all degrees are 1
        U, labels = model.embedding_, model.partition_.labels
        share = degrees = np.ones(len(labels))
    mass = share / share.sum() * cut.mass(degrees)
    triangle = np.linalg.qr(np.sqrt(mass)[:, np.newaxis] * functions.unit(U))[1]
    H = np.linalg.solve(triangle.T, functions.unit(U).T).T
    return float(_differences(H, mass, labels)[3].sum())


def _differences(H: Array, mass: Array, labels: Indices) -> tuple[Array, Array, Array, Array]:
    """Indicators of unit norm, the rotation of H nearest to them, the difference, its norms."""
    weight = mass[:, np.newaxis]
    is_in = (labels[:, np.newaxis] == np.arange(H.shape[1])).astype(np.float64)
    norms = np.sqrt((weight * is_in).sum(axis=0))
    # A cluster without rows has the indicator zero.
    Z = is_in / np.where(norms > 0, norms, 1.0)
    V, _, Vt = np.linalg.svd((weight * Z).T @ H)
    R = Vt.T @ V.T
    P = Z - H @ R
    return Z, R, P, np.sqrt((weight * P**2).sum(axis=0))


def _dirichlet(pairs: RowPairs, F: Array, sums: Array) -> float:
    """``1/2 sum_k E W(x, y) (f_k(x) - f_k(y))^2``, given ``pairs.sums(F)``."""
    inner = F * (pairs.degrees[:, np.newaxis] * F - sums / pairs.n_partners)
    return max(float((pairs.counts @ inner).sum()) / pairs.n_rows, 0.0)
