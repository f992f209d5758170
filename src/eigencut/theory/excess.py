"""Excess risk ``F(solution) - F(best)``: between two fits, on new rows, and by discretization.

``F(U) = tr(G^-1 E)`` with ``E = U^T (D - W) U`` and ``G = U^T M U`` over pairs of rows is the error
of any orthonormal basis of the span of U (Eqs. 6, 7 and 11).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.json_ready import JsonReady
from eigencut._utils.threads import threads
from eigencut.affinities import Affinity
from eigencut.affinities.kernel import VectorAffinity
from eigencut.cut import CUTS, Cut
from eigencut.exceptions import invalid
from eigencut.theory.bounds import THEORIES
from eigencut.theory.errors import (
    CutValue,
    RowPairs,
    cut_of_pairs,
    empirical_error,
    measured_on,
    pairs_of_cut,
)


class DependentFunctionsError(ValueError):
    """Functions that cannot be made orthonormal on the rows at hand."""


@dataclass(frozen=True)
class ConstrainedError:
    """``tr(G^-1 E)`` on pairs of rows, and functions that have it: orthonormal, E diagonal."""

    value: float
    standard_error: float
    per_function: Array  # ascending; the eigenvalues of E on the span
    functions: Array
    sums: Array  # pairs.sums(functions)
    mass: Array  # m(x) of each place times its share of the rows


def constrained_error(pairs: RowPairs, F: Array, cut: Cut) -> ConstrainedError:
    """Return the error of functions with the values F, under the constraint of Eqs. 6, 7 and 11."""
    n, degrees = pairs.n_rows, pairs.degrees[:, np.newaxis]
    share = pairs.counts[:, np.newaxis] / n
    mass = degrees**cut.mass_power
    root = np.sqrt(share * mass)
    triangle = np.linalg.qr(root * F)[1]
    length = np.linalg.norm(triangle, axis=0)
    enough = triangle.shape[0] == F.shape[1] and bool(length.all())
    # What a function adds to the span of those before it is not rounding.
    if not enough or (np.abs(triangle.diagonal()) < 1e-10 * length).any():
        raise invalid(
            "X",
            f"have rows on which the {F.shape[1]} eigenfunctions are linearly independent",
            f"{n} rows on which they are not",
            "hold out more rows, from every cluster",
            DependentFunctionsError,
        )
    H = np.linalg.solve(triangle.T, F.T).T
    sums = pairs.sums(H) / pairs.n_partners
    E = (share * H).T @ (degrees * H - sums)
    values, turn = np.linalg.eigh((E + E.T) / 2)
    values, H, sums = np.maximum(values, 0.0), H @ turn, sums @ turn
    squares = pairs.sums(H**2) / pairs.n_partners
    # What each row adds to E and to G, the mean of both over rows being E and G.
    to_error = 2 * np.maximum(degrees * H**2 - 2 * H * sums + squares, 0.0) / 2
    to_gram = degrees * H**2 + squares if cut.mass_power else H**2
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
    >>> X, _ = make_moons(150, noise=0.05, random_state=0)
    >>> model = GPOD(2, affinity=Gaussian(sigma=0.3)).fit(X[:100])
    >>> result = discretization_cost(model, X[100:])
    >>> result.cost <= result.by_error <= result.by_norm
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
    >>> result = discretization_cost(GPOD(2, affinity=Gaussian(1.0)).fit(X))
    >>> 0 < result.cost < result.by_error < result.by_norm
    True
    """
    with measured_on(model, X, sample_weight) as (gpod, rows, counts):
        pairs, labels = pairs_of_cut(gpod.fitted_cut_, rows, counts)
        functions = gpod.fitted_cut_.functions
        values = functions.at_training_vertices() if rows is None else functions(rows)
        continuous = constrained_error(pairs, functions.unit(values), functions.cut)
        largest = float(functions.affinity.largest_weight_)
        return compare(pairs, continuous, labels, functions.cut, largest)


def compare(
    pairs: RowPairs, continuous: ConstrainedError, labels: Indices, cut: Cut, largest_weight: float
) -> DiscretizationCost:
    """Return the cost of discretization on pairs of rows, given functions and labels there."""
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
    """Return epsilon on the training rows, from what the fit has kept; it needs no weights."""
    functions = model.fitted_cut_.functions
    if functions.form != "landmarks":
        U, degrees = functions.at_training_vertices(), functions.degrees
        share, labels = functions.affinity.multiplicity_, model.fitted_cut_.partition.labels
    else:  # every row is a place, and all degrees are 1
        U, labels = model.embedding_, model.partition_.labels
        share = degrees = np.ones(len(labels))
    mass = share / share.sum() * functions.cut.mass(degrees)
    triangle = np.linalg.qr(np.sqrt(mass)[:, np.newaxis] * functions.unit(U))[1]
    H = np.linalg.solve(triangle.T, functions.unit(U).T).T
    return float(_differences(H, mass, labels)[3].sum())


def _differences(H: Array, mass: Array, labels: Indices) -> tuple[Array, Array, Array, Array]:
    """Return unit indicators, the rotation of H nearest to them, the difference and its norms."""
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
    """Return ``1/2 sum_k E W(x, y) (f_k(x) - f_k(y))^2``, given ``pairs.sums(F)``."""
    inner = F * (pairs.degrees[:, np.newaxis] * F - sums / pairs.n_partners)
    return max(float((pairs.counts @ inner).sum()) / pairs.n_rows, 0.0)


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
    >>> X, _ = make_moons(150, noise=0.05, random_state=0)
    >>> model = GPOD(2, affinity=Gaussian(sigma=0.3)).fit(X[:100])
    >>> result = measured_excess(model, X[100:])
    >>> result.continuous <= result.discrete
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
    >>> result = measured_excess(GPOD(2, affinity=Gaussian(1.0)).fit(X[:400]), X[400:])
    >>> abs(result.continuous) < 3 * result.continuous_error < 0.1 < result.discrete
    True
    """
    with measured_on(model, X, sample_weight) as (gpod, rows, counts):
        pairs, labels = pairs_of_cut(gpod.fitted_cut_, rows, counts)
        cut = gpod.fitted_cut_.functions.cut
        held_out = constrained_error(pairs, gpod.fitted_cut_.unit_embedding(rows), cut)
        clusters = cut_of_pairs(pairs, labels, cut, gpod.n_clusters_)
        return excess_over_training(gpod, held_out, clusters)


def excess_over_training(
    model: Any, held_out: ConstrainedError, clusters: CutValue
) -> MeasuredExcess:
    """Return the excess over F-hat of functions and clusters on held-out rows."""
    functions, error = model.fitted_cut_.functions, 0.0
    if hasattr(functions.affinity, "rows_"):
        # At a minimum, the functions' own dependence on the sample is of second order.
        pairs = RowPairs.from_training_rows(functions.affinity)
        error = constrained_error(pairs, functions.eigenvectors(), functions.cut).standard_error
    empirical = empirical_error(model)
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


def excess_risk(reference: Any, model: Any) -> float:
    """``F(model) - F(reference)`` on the training rows of the reference, taken as the population.

    The functions of the model are first made orthonormal on that population, as the constraint of
    Eq. 11 demands (for NCut with the degrees as weights, Eq. 7). They are orthonormal on the
    model's own rows only; elsewhere their norm differs a little, and shrinking functions shrinks
    F: without this step a model could seem better than the best. F does not depend on which
    orthonormal basis of their span is taken, and by Ky Fan's theorem

        F(model) = trace(G^-1 E) >= sum(lambda) = F(reference),

    with ``G = U^T C M U`` and ``E = U^T C (D - W C) U`` of the reference's graph.

    Parameters
    ----------
    reference, model : fitted GPOD
        With the same cut, number of clusters and weight function; see ``Affinity.frozen``.

    Examples
    --------
    >>> import numpy as np
    >>> from eigencut import GPOD, Gaussian
    >>> X = np.random.default_rng(0).normal(size=(200, 1))
    >>> model = GPOD(n_clusters=2, affinity=Gaussian(sigma=1.0))
    >>> reference = model.fit(X)
    >>> abs(excess_risk(reference, reference)) < 1e-12
    True
    """
    check_is_fitted(reference)
    check_is_fitted(model)
    refuse_matrices(reference.affinity, reference.affinity_)
    for name in ("cut", "n_clusters"):
        if getattr(model, name) != getattr(reference, name):
            expected = f"have the {name} of the reference, {getattr(reference, name)!r}"
            raise invalid("model", expected, repr(getattr(model, name)), "fit both alike")
    with threads(model.n_jobs):
        return float(excess_on_training_rows(reference, [model])[0])


def excess_on_training_rows(reference: Any, models: Iterable[Any]) -> Array:
    """Excess risk of several models, in one product with the weights of the population."""
    affinity, functions = reference.affinity_, reference.fitted_cut_.functions
    count, degrees = affinity.multiplicity_[:, np.newaxis], functions.degrees[:, np.newaxis]
    root = np.sqrt(count * CUTS[reference.cut].mass(degrees))
    # A QR decomposition makes functions orthonormal without squaring their condition number.
    bases = [
        np.linalg.qr(root * model.fitted_cut_.embedding(affinity.rows_))[0] / root
        for model in models
    ]
    V = np.column_stack(bases)
    WCV = affinity.within(affinity.rows_, count * V) / affinity.n_rows_
    per_function = (count * V * (degrees * V - WCV)).sum(axis=0)
    risks = per_function.reshape(len(bases), -1).sum(axis=1)
    return np.asarray(risks - reference.eigenvalues_.sum())


def refuse_matrices(given: Any, affinity: Affinity) -> None:
    """Refuse an affinity that has no weight function."""
    if not isinstance(affinity, VectorAffinity):
        raise invalid(
            "affinity",
            "be a weight function of two rows, which stays the same for samples of rows",
            repr(given),
            "use affinity='gaussian' or a function k(A, B)",
        )
