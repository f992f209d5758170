"""From functions to clusters: what the discretization costs, and what bounds it (term A)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.json_ready import JsonReady
from eigencut._utils.threads import threads
from eigencut.cut import CUTS, Cut
from eigencut.discretization import assign
from eigencut.io.of_tables import takes_tables
from eigencut.io.validation import check_rows
from eigencut.theory.bounds import THEORIES
from eigencut.theory.errors import RowPairs, refuse_weights_alone, row_counts

# The error of the best use of some functions: orthonormal on the rows it is measured on.

_DEPENDENT = 1e-10  # relative length of what a function adds to the span of those before it


class DependentFunctionsError(ValueError):
    """Functions that cannot be made orthonormal on the rows at hand."""


@dataclass(frozen=True)
class ConstrainedError:
    """``tr(G^-1 E)``, and the functions that have it.

    Attributes
    ----------
    value : float
        The sum of ``per_function``.
    standard_error : float
    per_function : array of shape (K,)
        Ascending; the eigenvalues of E on the span.
    functions : array of shape (n_places, K)
        Orthonormal in L2(rho_M) on the rows, E diagonal.
    sums : array of shape (n_places, K)
        ``pairs.sums(functions)``.
    mass : array of shape (n_places,)
        m(x) of each place times its share of the rows.
    """

    value: float
    standard_error: float
    per_function: Array
    functions: Array
    sums: Array
    mass: Array


def constrained_error(pairs: RowPairs, F: Array, cut: Cut) -> ConstrainedError:
    """The error of functions under the constraint of Eqs. 6, 7 and 11, on the rows of ``pairs``.

    With ``E = F^T (D - W) F`` and ``G = F^T M F`` over pairs of rows it is ``tr(G^-1 E)``: F of any
    orthonormal basis of their span. By Ky Fan's theorem it is not below the sum of the K smallest
    eigenvalues on these rows. The standard error is that of the delta method for U-statistics.

    Parameters
    ----------
    pairs : RowPairs
    F : array of shape (n_places, K)
        The functions' values.
    cut : Cut
    """
    n, degrees = pairs.n_rows, pairs.degrees[:, np.newaxis]
    share = pairs.counts[:, np.newaxis] / n
    mass = degrees**cut.mass_power
    root = np.sqrt(share * mass)
    triangle = np.linalg.qr(root * F)[1]
    length = np.linalg.norm(triangle, axis=0)
    enough = triangle.shape[0] == F.shape[1] and bool(length.all())
    if not enough or (np.abs(triangle.diagonal()) < _DEPENDENT * length).any():
        raise DependentFunctionsError(
            f"X must have rows on which the {F.shape[1]} eigenfunctions are linearly independent. "
            f"Got {n} rows on which they are not; hold out more rows, from every cluster."
        )
    H = np.linalg.solve(triangle.T, F.T).T
    sums = pairs.sums(H) / pairs.n_partners
    E = (share * H).T @ (degrees * H - sums)
    values, turn = np.linalg.eigh((E + E.T) / 2)
    values, H, sums = np.maximum(values, 0.0), H @ turn, sums @ turn
    squares = pairs.sums(H**2) / pairs.n_partners
    # What each row adds to E and to G, the mean of both over rows being E and G.
    to_error = 2 * np.maximum(degrees * H**2 - 2 * H * sums + squares, 0.0) / 2
    to_gram = degrees * H**2 + squares if cut.mass_is_degree else H**2
    influence = (to_error - values * to_gram).sum(axis=1)
    centred = influence - share[:, 0] @ influence
    variance = float(share[:, 0] @ centred**2) * n / (n - 1)
    return ConstrainedError(
        value=float(values.sum()),
        standard_error=math.sqrt(variance / n),
        per_function=values,
        functions=H,
        sums=pairs.n_partners * sums,
        mass=(share * mass)[:, 0],
    )


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
    >>> from eigencut.inspection import discretization_cost
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
    per_norm *= 1.0 if cut.mass_is_degree else pairs.n_rows / pairs.n_partners
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
