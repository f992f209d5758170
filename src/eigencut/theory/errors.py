"""Errors of a cut, ``F(U) = 1/2 sum_k E W(x, y) (u_k(x) - u_k(y))^2``, and excess risk.

``empirical_error`` computes F on training rows (Eq. 3), ``error_of_pairs`` on new ones (before
Eq. 11). Both sum over pairs of rows, as does the value of a partition, ``sum_k c_k / v_k`` (Eqs. 4
and 5).

The excess risk is ``F(solution) - F(best)``. ``F(U) = tr(G^-1 E)`` with ``E = U^T (D - W) U`` and
``G = U^T M U`` is the error of any orthonormal basis of the span of U (Eqs. 6, 7 and 11).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.json_ready import JsonReady
from eigencut._utils.running import threads
from eigencut._utils.validation import check_has_cut, check_sample_weight
from eigencut.affinities.base import Affinity, VectorAffinity, whole_or_real
from eigencut.cut import CUTS, Cut
from eigencut.discretization import assign
from eigencut.exceptions import invalid
from eigencut.theory.bounds import THEORIES


@contextmanager
def measured_on(
    model: Any, X: ArrayLike | None = None, sample_weight: ArrayLike | None = None
) -> Iterator[tuple[Any, Any, Array | None]]:
    """Yield the GPOD of a model, the prepared complete rows of X, and their counts (or None)."""
    gpod = check_has_cut(model).one_cut()
    if X is None:
        if sample_weight is not None:
            expected = "be left out without X, for training rows have the weights of the fit"
            raise invalid("sample_weight", expected, "some", "pass the rows that they belong to")
        with threads(gpod.n_jobs):
            yield gpod, None, None
        return
    with model.preparing(X) as (rows, complete):
        weight = check_sample_weight(sample_weight, len(complete))
        counts = row_counts(None if weight is None else weight[complete], rows.shape[0])
        yield gpod, rows.astype(np.float64, copy=False), counts


def row_counts(sample_weight: ArrayLike | None, n_rows: int) -> Array | None:
    """Return integer weights; scale others to Kish's number of rows, ``(sum w)^2 / sum w^2``."""
    weight = check_sample_weight(sample_weight, n_rows)
    if weight is None or (weight == np.rint(weight)).all():
        return weight
    return np.asarray(weight * (weight.sum() / (weight @ weight)))


def check_enough(name: str, n_rows: float) -> None:
    """Raise an error for fewer than 3 rows, which standard errors need."""
    if n_rows < 3:
        expected = "have at least 3 rows to estimate an error and its standard error"
        raise invalid(name, expected, f"{n_rows:g}", "hold out more rows")


@dataclass(frozen=True)
class RowPairs:
    """Pairs of rows and their weights, for U-statistics unless ``with_itself`` is True."""

    counts: Array  # the number of rows at each place
    self_weights: Array  # W(x, x)
    all_sums: Callable[[Array], Array]  # maps V to sum_j c_j W(x_i, x_j) V[j], including j = i
    with_itself: bool = False  # whether a row makes a pair with itself

    @classmethod
    def from_rows(
        cls, affinity: Affinity, rows: Any, counts: Array | None = None, with_itself: bool = False
    ) -> RowPairs:
        """Pair new rows, each of which may count several times."""
        m = rows.shape[0]
        counts = np.ones(m) if counts is None else counts
        check_enough("X", float(counts.sum()))
        blocks = (rows[start : start + 128] for start in range(0, m, 128))
        own = [affinity.within(some, np.eye(some.shape[0])).diagonal() for some in blocks]

        def all_sums(V: Array) -> Array:
            return affinity.within(rows, counts[:, np.newaxis] * V)

        return cls(counts, np.concatenate(own), all_sums, with_itself)

    @classmethod
    def from_training_rows(cls, affinity: Affinity, with_itself: bool = True) -> RowPairs:
        """Pair the rows that an affinity was fitted on, if it has kept them."""
        if getattr(affinity, "rows_", None) is None:
            expected = "have kept its training rows to be measured on them"
            got = f"{type(affinity).__name__}, which does not"
            raise invalid("model", expected, got, "pass held-out rows as X")
        check_enough("model", affinity.n_rows_)
        all_sums: Any = affinity.at_own_rows
        return cls(affinity.multiplicity_, affinity.self_weights_, all_sums, with_itself)

    @property
    def n_rows(self) -> float:
        return whole_or_real(float(self.counts.sum()))

    @property
    def n_partners(self) -> float:
        """The number of rows that each row makes a pair with."""
        return self.n_rows if self.with_itself else self.n_rows - 1

    def sums(self, V: Array) -> Array:
        """Return ``sum_j W(x_i, x_j) V[j]`` over the partners j of each row i."""
        sums = self.all_sums(V)
        return sums if self.with_itself else sums - self.self_weights[:, np.newaxis] * V

    @cached_property
    def degrees(self) -> Array:
        """d(x), the mean weight between a row and its partners."""
        # For a row without partners, rounding can leave a negative sum.
        sums = self.sums(np.ones((len(self.counts), 1)))[:, 0]
        return np.maximum(sums, 0.0) / self.n_partners

    def squared_differences(self, F: Array, WF: Array, WF2: Array) -> Array:
        """Return means of ``W(x, y) (f(x) - f(y))^2`` over y, given means of W f and W f^2."""
        # Rounding must not make it negative.
        return np.maximum(self.degrees[:, np.newaxis] * F**2 - 2 * F * WF + WF2, 0.0)

    def standard_error(self, values: Array) -> float:
        """Return the standard error of the mean of a value over the rows."""
        centred = values - self.counts @ values / self.n_rows
        return math.sqrt(self.counts @ centred**2 / (self.n_rows * (self.n_rows - 1)))


@dataclass(frozen=True)
class CutValue(JsonReady):
    """The RatioCut or NCut of clusters, as in Eqs. 4 and 5 of the paper.

        sum_k c_k / v_k,    c_k = E W(x, y) 1[x in k, y not in k],
                            v_k = E W(x, y) 1[x in k]  (NCut),  P(x in k)  (RatioCut)

    where E and P are means over pairs of rows. It is the F(u-ddot) of Theorems 2 and 4.

    Attributes
    ----------
    cut : str
    value, standard_error : float
        The sum of ``per_cluster``; its jackknife error, leaving out each row in turn and keeping
        the other labels. The error is far too small if hardly any weight leaves a cluster.
    per_cluster : array of shape (K,)
        The weight that leaves each cluster, divided by its size. For NCut it is the conductance,
        the share of the weight of its rows that goes to others, from 0 to 1. NaN, and not in the
        sum, for clusters without rows or without any weight.
    sizes, n_rows : array of shape (K,) and float
        The rows of each cluster, and of all, or the sums of their weights.
    """

    cut: str
    value: float
    standard_error: float
    per_cluster: Array
    sizes: Array
    n_rows: float

    @property
    def is_near_zero(self) -> bool:
        """Whether so little weight leaves clusters that the standard error is meaningless."""
        return not self.value > 4 * self.standard_error > 0


def cut_of_pairs(pairs: RowPairs, labels: Indices, cut: Cut, n_clusters: int) -> CutValue:
    """Return the cut value of a partition on pairs of rows."""
    is_in = labels[:, np.newaxis] == np.arange(n_clusters)
    to = pairs.sums(is_in.astype(np.float64))  # weight from each row to each cluster
    count, total = pairs.counts[:, np.newaxis], to.sum(axis=1, keepdims=True)
    leaves = np.where(is_in, total - to, to)  # what the weight c_k loses without a row
    sizes, cuts = (count * is_in).sum(axis=0), (count * is_in * leaves).sum(axis=0)
    if cut.mass_power:  # the mass of a row is its degree
        itself = pairs.self_weights[:, np.newaxis] if pairs.with_itself else 0.0
        volumes = (count * is_in * total).sum(axis=0)
        left = volumes - np.where(is_in, total + to - itself, to)
    else:
        volumes, left = pairs.n_partners * sizes, (pairs.n_partners - 1) * (sizes - is_in)
    per_cluster = ratio(cuts, volumes)
    without = np.nansum(ratio(np.maximum(cuts - leaves, 0.0), left), axis=1)
    return CutValue(
        cut=cut.name,
        value=float(np.nansum(per_cluster)),
        standard_error=(pairs.n_rows - 1) * pairs.standard_error(without),
        per_cluster=per_cluster,
        sizes=np.round(sizes).astype(np.intp),
        n_rows=pairs.n_rows,
    )


def pairs_of_cut(
    fitted: Any, rows: Any, counts: Array | None, with_itself: bool | None = None
) -> tuple[RowPairs, Indices]:
    """Return pairs of rows (None: the training rows) and the clusters of a fitted cut there."""
    if rows is None:
        pairs = RowPairs.from_training_rows(fitted.affinity, with_itself is not False)
        return pairs, fitted.partition.labels
    # Not predict(): rows that it labels as outliers still belong to the population.
    labels = assign(fitted.scores(rows))
    return RowPairs.from_rows(fitted.affinity, rows, counts, bool(with_itself)), labels


def ratio(above: Any, below: Any) -> Array:
    """Return above / below, or NaN where ``below`` is 0."""
    return np.divide(above, below, out=np.full(above.shape, np.nan), where=below > 0)


@dataclass(frozen=True)
class ErrorEstimate(JsonReady):
    """The population error F of the eigenfunctions, estimated without bias on held-out rows.

    The functions are orthonormal on the training rows. ``-model.score(X)`` is ``value / K``.

    Attributes
    ----------
    value, standard_error : float
        F, summed over the functions; its error by the Hajek projection, from the spread over rows.
    per_function : array of shape (K,)
        The terms of ``value``.
    n_rows : float
        The number of held-out rows.

    Examples
    --------
    A part of an assessment::

        eigencut.inspection.assess(model, X_heldout, theory=True).population_error
    """

    value: float
    standard_error: float
    per_function: Array
    n_rows: float


def empirical_error(gpod: Any) -> float:
    """Return F-hat of Eq. 3 for functions of unit norm and weights without 1/n."""
    affinity, functions = gpod.affinity_, gpod.fitted_cut_.functions
    n = affinity.n_rows_
    if n < 2:
        expected = "be fitted on at least 2 rows, for an error is a mean over pairs"
        raise invalid("model", expected, n, "fit it on more")
    # Half the sum over all pairs: those at the same place contribute 0.
    U, WCU = functions.pairs.vectors, functions.pairs.products
    inner = U * (functions.degrees[:, np.newaxis] * U - WCU)
    return max(float((affinity.multiplicity_ @ inner).sum()), 0.0) * n / (n - 1)


def error_of_pairs(pairs: RowPairs, F: Array) -> ErrorEstimate:
    """Estimate the population error of functions with values F at the rows of the pairs."""
    WF, WF2 = np.hsplit(pairs.sums(np.column_stack([F, F**2])) / pairs.n_partners, 2)
    squares = pairs.squared_differences(F, WF, WF2)
    per_function = pairs.counts @ squares / (2 * pairs.n_rows)
    error = pairs.standard_error(squares.sum(axis=1))
    return ErrorEstimate(float(per_function.sum()), error, per_function, pairs.n_rows)


def held_out_error(fitted: Any, rows: Array, sample_weight: ArrayLike | None = None) -> float:
    """Return the mean error of the eigenfunctions of a fitted cut on rows."""
    counts = row_counts(sample_weight, rows.shape[0])
    affinity, functions = fitted.affinity, fitted.functions
    F = functions.unit(functions(rows))
    c = np.ones((len(F), 1)) if counts is None else counts[:, np.newaxis]
    m = float(c.sum())
    if not affinity.pairwise:
        # sum_ij W_ij (f_i - f_j)^2 / 2 = sum_i f_i (d_i f_i - (W f)_i); i = j contributes nothing.
        products = affinity.within(rows, c * np.column_stack([np.ones(len(F)), F]))
        sums = (c * F * (products[:, :1] * F - products[:, 1:])).sum(axis=0)
        return float((np.maximum(sums, 0.0) / (m * (m - 1))).mean())
    # Affinities between new rows are unknown: pairs consist of a new row and a training row,
    # 1 / (2 m n) sum_{i, j} W(x_i, x_j) (f_k(x_i) - u_k(x_j))^2.
    U = functions.unit(functions.at_training_vertices())
    product = affinity.apply(rows, np.column_stack([U, U**2]))
    WU, WU2 = np.hsplit(product.values, 2)
    squares = product.degrees[:, np.newaxis] * F**2 - 2 * F * WU + WU2
    sums = (c[:, 0] * np.exp(product.log_scale)) @ np.maximum(squares, 0.0)
    return float((sums / (2 * m)).mean())


class DependentFunctionsError(ValueError):
    """Raised for functions that are linearly dependent on the given rows."""


@dataclass(frozen=True)
class ConstrainedError:
    """``tr(G^-1 E)`` on pairs of rows, and functions in the same span with G = I and E diagonal."""

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
    mass = share * degrees**cut.mass_power
    triangle = np.linalg.qr(np.sqrt(mass) * F)[1]
    length = np.linalg.norm(triangle, axis=0)
    enough = triangle.shape[0] == F.shape[1] and bool(length.all())
    # A function must add more to the span of those before it than rounding.
    if not enough or (np.abs(triangle.diagonal()) < 1e-10 * length).any():
        expected = f"have rows on which the {F.shape[1]} eigenfunctions are linearly independent"
        got, remedy = f"{n} rows on which they are not", "hold out more rows, from every cluster"
        raise invalid("X", expected, got, remedy, DependentFunctionsError)
    H = np.linalg.solve(triangle.T, F.T).T
    sums = pairs.sums(H) / pairs.n_partners
    E = (share * H).T @ (degrees * H - sums)
    values, turn = np.linalg.eigh((E + E.T) / 2)
    values, H, sums = np.maximum(values, 0.0), H @ turn, sums @ turn
    squares = pairs.sums(H**2) / pairs.n_partners
    # The part of each row in E and in G, which are the means of these parts.
    to_error = pairs.squared_differences(H, sums, squares)
    to_gram = degrees * H**2 + squares if cut.mass_power else H**2
    return ConstrainedError(
        value=float(values.sum()),
        standard_error=pairs.standard_error((to_error - values * to_gram).sum(axis=1)),
        per_function=values,
        functions=H,
        sums=pairs.n_partners * sums,
        mass=mass[:, 0],
    )


@dataclass(frozen=True)
class DiscretizationCost(JsonReady):
    """What turning functions into clusters adds to F: term A of the proofs, and its bounds.

    Indicators and eigenfunctions have unit norm (Eqs. 4 and 5, for NCut in L2(rho_W)). Functions
    are rotated to ``u-check R``, closest to the indicators, which has the same F. With the
    Dirichlet form ``E(f) = 1/2 E W(x, y) (f(x) - f(y))^2``, a squared seminorm,

        F(u-ddot) - F(u-check) <= sqrt(E(p)) (sqrt(F(u-ddot)) + sqrt(F(u-check))).

    Attributes
    ----------
    discrete, continuous, cost : float
        F of the clusters and of the eigenfunctions, orthonormal on the rows; their difference.
    epsilon : float
        ``sum_k ||u-ddot_k - (u-check R)_k||`` in L2(rho_M).
    by_error, by_norm : float
        Bounds of ``cost``: the one above, where p is indicators minus functions; and
        ``2 C epsilon`` for RatioCut, ``4 epsilon`` for NCut.
    """

    discrete: float
    continuous: float
    cost: float
    epsilon: float
    by_error: float
    by_norm: float


def training_cost(gpod: Any) -> DiscretizationCost:
    """Return the cost of discretization on the training rows, if the model has kept them."""
    pairs, labels = pairs_of_cut(gpod.fitted_cut_, None, None)
    functions = gpod.fitted_cut_.functions
    values = functions.unit(functions.at_training_vertices())
    continuous = constrained_error(pairs, values, functions.cut)
    largest = float(functions.affinity.largest_weight_)
    return cost_of_pairs(pairs, continuous, labels, functions.cut, largest)


def cost_of_pairs(
    pairs: RowPairs, continuous: ConstrainedError, labels: Indices, cut: Cut, largest_weight: float
) -> DiscretizationCost:
    """Return the cost of discretization on pairs of rows, given functions and labels there."""
    Z, R, P, epsilon = _differences(continuous.functions, continuous.mass, labels)
    sums = pairs.sums(Z)
    discrete = _dirichlet(pairs, Z, sums)
    form = _dirichlet(pairs, P, sums - continuous.sums @ R)
    # Means over pairs of different rows divide by n - 1 instead of n.
    per_norm = THEORIES[cut.name].form_per_norm(largest_weight)
    per_norm *= 1.0 if cut.mass_power else pairs.n_rows / pairs.n_partners
    return DiscretizationCost(
        discrete=discrete,
        continuous=continuous.value,
        cost=discrete - continuous.value,
        epsilon=epsilon,
        by_error=math.sqrt(form) * (math.sqrt(discrete) + math.sqrt(continuous.value)),
        by_norm=2 * per_norm * epsilon,
    )


def training_epsilon(model: Any) -> float:
    """Return epsilon on the training rows, even if the model keeps only its embedding."""
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
    return _differences(H, mass, labels)[3]


def _differences(H: Array, mass: Array, labels: Indices) -> tuple[Array, Array, Array, float]:
    """Return unit indicators Z, the rotation R of H nearest to them, Z - H R, and epsilon."""
    weight = mass[:, np.newaxis]
    is_in = (labels[:, np.newaxis] == np.arange(H.shape[1])).astype(np.float64)
    norms = np.sqrt((weight * is_in).sum(axis=0))
    # The indicator of a cluster without rows is zero.
    Z = is_in / np.where(norms > 0, norms, 1.0)
    V, _, Vt = np.linalg.svd((weight * Z).T @ H)
    R = Vt.T @ V.T
    P = Z - H @ R
    return Z, R, P, float(np.sqrt((weight * P**2).sum(axis=0)).sum())


def _dirichlet(pairs: RowPairs, F: Array, sums: Array) -> float:
    """Return ``1/2 sum_k E W(x, y) (f_k(x) - f_k(y))^2``, given ``pairs.sums(F)``."""
    inner = F * (pairs.degrees[:, np.newaxis] * F - sums / pairs.n_partners)
    return max(float((pairs.counts @ inner).sum()) / pairs.n_rows, 0.0)


@dataclass(frozen=True)
class MeasuredExcess(JsonReady):
    """Excess risk ``F(solution) - F(best)``, measured on held-out rows with a bias of order 1 / n.

    F(best) is estimated by the sum of the eigenvalues, so that a measured excess can be too small.
    That of clusters is too large, because the best clusters are worse than the best functions.

    Attributes
    ----------
    continuous, continuous_error : float
        The excess of the eigenfunctions, the left side of Theorems 1 and 3, as ``held_out (m - 1)
        / m - empirical`` for m held-out rows; and its standard error.
    discrete, discrete_error : float
        The excess of the clusters, the left side of Theorems 2 and 4, from the cut value on
        held-out rows.
    held_out : float
        F of the eigenfunctions on held-out rows, orthonormal there: ``tr(G^-1 E)``.
    empirical : float
        The sum of the eigenvalues: the error of the eigenvectors over all pairs of training rows.
    """

    continuous: float
    continuous_error: float
    discrete: float
    discrete_error: float
    held_out: float
    empirical: float


def excess_over_training(
    model: Any, held_out: ConstrainedError, clusters: CutValue
) -> MeasuredExcess:
    """Return the excess of functions and clusters on held-out rows over the training error."""
    functions, error = model.fitted_cut_.functions, 0.0
    if hasattr(functions.affinity, "rows_"):
        # The functions minimize F, so their dependence on the sample is of second order.
        pairs = RowPairs.from_training_rows(functions.affinity)
        error = constrained_error(pairs, functions.eigenvectors(), functions.cut).standard_error
    n, m = functions.affinity.n_rows_, clusters.n_rows
    empirical, all_pairs = empirical_error(model) * (n - 1) / n, (m - 1) / m
    return MeasuredExcess(
        continuous=all_pairs * held_out.value - empirical,
        continuous_error=math.hypot(all_pairs * held_out.standard_error, error),
        discrete=all_pairs * clusters.value - empirical,
        discrete_error=math.hypot(all_pairs * clusters.standard_error, error),
        held_out=held_out.value,
        empirical=empirical,
    )


def excess_risk(reference: Any, model: Any) -> float:
    """Return F of a model minus F of a reference, both on the training rows of the reference.

    The functions of the model are first made orthonormal on these rows, as the constraint of
    Eq. 11 demands (for NCut with the degrees as weights, Eq. 7). By Ky Fan's theorem

        F(model) = trace(G^-1 E) >= sum(lambda) = F(reference),

    with ``G = U^T C M U`` and ``E = U^T C (D - W C) U`` from the reference's graph.

    Parameters
    ----------
    reference, model : fitted GPOD
        Both with the same cut, number of clusters and weight function; see ``Affinity.frozen``.

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
    """Return the excess risk of several models, from a single product with the weights."""
    affinity, functions = reference.affinity_, reference.fitted_cut_.functions
    count, degrees = affinity.multiplicity_[:, np.newaxis], functions.degrees[:, np.newaxis]
    root = np.sqrt(count * CUTS[reference.cut].mass(degrees))
    # A QR decomposition makes functions orthonormal without squaring their condition number.
    values = (model.fitted_cut_.functions(affinity.rows_) for model in models)
    bases = [np.linalg.qr(root * of_model)[0] / root for of_model in values]
    V = np.column_stack(bases)
    WCV = affinity.within(affinity.rows_, count * V) / affinity.n_rows_
    risks = (count * V * (degrees * V - WCV)).sum(axis=0).reshape(len(bases), -1).sum(axis=1)
    return np.asarray(risks - reference.eigenvalues_.sum())


def refuse_matrices(given: Any, affinity: Affinity) -> None:
    """Raise an error for an affinity without a weight function of two rows."""
    if not isinstance(affinity, VectorAffinity):
        expected = "be a weight function of two rows, which stays the same for samples of rows"
        remedy = "use affinity='gaussian' or a function k(A, B)"
        raise invalid("affinity", expected, repr(given), remedy)
