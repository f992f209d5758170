"""Errors of a relaxed cut: ``F(U) = 1/2 sum_k E W(x, y) (u_k(x) - u_k(y))^2`` on given rows.

``empirical_error`` is on the training rows (Eq. 3), ``population_error`` on new ones (before
Eq. 11); ``discretization_gap`` is what POD makes small. All are sums over pairs of rows, as is the
cost of a partition, ``sum_k c_k / v_k`` (Eqs. 4 and 5): what leaves cluster k, over its volume.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.json_ready import JsonReady
from eigencut._utils.threads import threads
from eigencut._utils.validation import check_choice, check_sample_weight
from eigencut.affinities.base import Affinity, whole_or_real
from eigencut.cut import Cut
from eigencut.discretization import assign, normalize_rows
from eigencut.exceptions import invalid


@contextmanager
def measured_on(
    model: Any, X: ArrayLike | None = None, sample_weight: ArrayLike | None = None
) -> Iterator[tuple[Any, Any, Array | None]]:
    """Give the GPOD of a model, the prepared complete rows of X, if any, and their counts."""
    gpod = model.one_cut()
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
    """Return weights if they are integers; others with the sum ``(sum w)^2 / sum w^2`` (Kish)."""
    weight = check_sample_weight(sample_weight, n_rows)
    if weight is None or (weight == np.rint(weight)).all():
        return weight
    return np.asarray(weight * (weight.sum() / (weight @ weight)))


def check_enough(name: str, n_rows: float) -> None:
    """Refuse fewer than the 3 rows that a spread over rows needs."""
    if n_rows < 3:
        expected = "have at least 3 rows to estimate an error and its standard error"
        raise invalid(name, expected, f"{n_rows:g}", "hold out more rows")


@dataclass(frozen=True)
class RowPairs:
    """Pairs of rows, each with its weight; never as an array of all pairs.

    On the graph of a fit a row makes a pair with itself. Without such pairs, sums over pairs are
    U-statistics and estimate the population.
    """

    counts: Array  # how many rows there are at each place
    self_weights: Array  # W(x, x)
    all_sums: Callable[[Array], Array]  # V to sum_j c_j W(x_i, x_j) V[j], i among the j
    with_itself: bool = False

    @classmethod
    def from_rows(
        cls, affinity: Affinity, rows: Any, counts: Array | None = None, with_itself: bool = False
    ) -> RowPairs:
        """Pair new rows, each of which may count several times."""
        m, block = rows.shape[0], 128
        counts = np.ones(m) if counts is None else counts
        check_enough("X", float(counts.sum()))
        own, each = np.empty(m), counts[:, np.newaxis]
        for start in range(0, m, block):
            some = rows[start : start + block]
            own[start : start + block] = affinity.within(some, np.eye(some.shape[0])).diagonal()
        return cls(counts, own, lambda V: affinity.within(rows, each * V), with_itself)

    @classmethod
    def from_training_rows(cls, affinity: Affinity, with_itself: bool = True) -> RowPairs:
        """Pair the rows that an affinity was fitted on; it has to have kept them."""
        rows = getattr(affinity, "rows_", None)
        if rows is None:
            raise invalid(
                "model",
                "have kept its training rows to be measured on them",
                f"{type(affinity).__name__}, which does not",
                "pass held-out rows as X, or the labels, the rows and the affinity: "
                "cut_value(model.labels_, X, affinity=...)",
            )
        n = affinity.n_rows_
        check_enough("model", n)

        def all_sums(V: Array) -> Array:
            product = affinity.apply(rows, V)
            return np.asarray(n * np.exp(product.log_scale)[:, np.newaxis] * product.values)

        return cls(affinity.multiplicity_, affinity.self_weights_, all_sums, with_itself)

    @property
    def n_rows(self) -> float:
        return whole_or_real(float(self.counts.sum()))

    @property
    def n_partners(self) -> float:
        """The number of rows that each row makes a pair with."""
        return self.n_rows if self.with_itself else self.n_rows - 1

    def sums(self, V: Array) -> Array:
        """``sum_j W(x_i, x_j) V[j]`` over the partners j of each row i."""
        sums = self.all_sums(V)
        return sums if self.with_itself else sums - self.self_weights[:, np.newaxis] * V

    @cached_property
    def degrees(self) -> Array:
        """d(x), the mean weight of a row to its partners."""
        # What is left of a row without partners is rounding.
        sums = self.sums(np.ones((len(self.counts), 1)))[:, 0]
        return np.maximum(sums, 0.0) / self.n_partners


@dataclass(frozen=True)
class CutValue(JsonReady):
    """The value of the discrete cut, Eqs. 4 and 5; ``eigencut.inspection.cut_value`` returns it.

    Attributes
    ----------
    cut : str
    value : float
        The sum of ``per_cluster``.
    standard_error : float
        Of ``value``, by the jackknife: each row left out in turn, the labels of the others kept.
    per_cluster : array of shape (K,)
        What leaves a cluster, over its size: NCut's is the conductance, the share of the weight
        of its rows that goes to others, from 0 to 1. NaN, and not in the sum, for a cluster
        without a row, or without any weight.
    sizes : array of shape (K,)
        Rows of each cluster.
    interval : tuple of float, or None
        Holds the value of the population with probability ``confidence``, whatever the
        distribution; of held-out rows only.
    confidence : float
    n_rows : float
        Rows, or what they count together.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from eigencut import GPOD, Gaussian
    >>> from eigencut.inspection import cut_value
    >>> X, _ = make_moons(150, noise=0.05, random_state=0)
    >>> model = GPOD(2, affinity=Gaussian(sigma=0.3)).fit(X[:100])
    >>> result = cut_value(model, X[100:])
    >>> result.per_cluster.shape, result.sizes.tolist()
    ((2,), [27, 23])
    """

    cut: str
    value: float
    standard_error: float
    per_cluster: Array
    sizes: Array
    interval: tuple[float, float] | None
    confidence: float
    n_rows: float


def cut_of_pairs(
    pairs: RowPairs,
    labels: Indices,
    cut: Cut,
    n_clusters: int,
    largest_weight: float | None = None,
    confidence: float = 0.95,
) -> CutValue:
    """Return the value of a partition; with an interval if the largest weight is given."""
    is_in = labels[:, np.newaxis] == np.arange(n_clusters)
    to = pairs.sums(is_in.astype(np.float64))  # weight from each row to each cluster
    count, total = pairs.counts[:, np.newaxis], to.sum(axis=1, keepdims=True)
    leaves = np.where(is_in, total - to, to)  # what a cluster's cut loses with a row
    sizes = (count * is_in).sum(axis=0)
    cuts = (count * is_in * leaves).sum(axis=0)
    if cut.mass_power:  # the mass of a row is its degree
        itself = pairs.self_weights[:, np.newaxis] if pairs.with_itself else 0.0
        volumes = (count * is_in * total).sum(axis=0)
        left = volumes - np.where(is_in, total + to - itself, to)
    else:
        volumes = pairs.n_partners * sizes
        left = (pairs.n_partners - 1) * (sizes - is_in)
    per_cluster = _ratio(cuts, volumes)
    without = np.nansum(_ratio(np.maximum(cuts - leaves, 0.0), left), axis=1)
    n = pairs.n_rows
    mean = pairs.counts @ without / n
    spread = (n - 1) / n * (pairs.counts @ (without - mean) ** 2)
    interval = None
    if largest_weight is not None and not pairs.with_itself:
        means = cuts / (n * pairs.n_partners), volumes / (n * pairs.n_partners)
        interval = _interval(cut, *means, n, largest_weight, confidence)
    return CutValue(
        cut=cut.name,
        value=float(np.nansum(per_cluster)),
        standard_error=math.sqrt(spread),
        per_cluster=per_cluster,
        sizes=np.round(sizes).astype(np.intp),
        interval=interval,
        confidence=confidence,
        n_rows=n,
    )


def pairs_of_cut(
    fitted: Any, rows: Any, counts: Array | None, with_itself: bool | None = None
) -> tuple[RowPairs, Indices]:
    """Return pairs of rows, or of the training rows, and the clusters of a fitted cut there."""
    if rows is None:
        pairs = RowPairs.from_training_rows(fitted.affinity, with_itself is not False)
        return pairs, fitted.partition.labels
    # Not predict(): a row that it leaves out still has a place in the population.
    labels = assign(fitted.scores(rows))
    return RowPairs.from_rows(fitted.affinity, rows, counts, bool(with_itself)), labels


def _ratio(above: Array, below: Array) -> Array:
    """Return above / below, and NaN where there is nothing below."""
    is_there = below > 0
    return np.where(is_there, above / np.where(is_there, below, 1.0), np.nan)


def _interval(
    cut: Cut, cuts: Array, volumes: Array, n_rows: float, largest: float, confidence: float
) -> tuple[float, float]:
    """Return Bernstein's interval for all c_k and v_k at once, carried over to their ratios."""
    exponent = math.log(4 * len(cuts) / (1 - confidence))
    lowest_cut, highest_cut = _bernstein(cuts, largest / 2, exponent / (n_rows // 2))
    # Volumes are means over pairs, shares of rows are means over rows.
    b, n = (largest, n_rows // 2) if cut.mass_power else (1.0, n_rows)
    lowest_volume, highest_volume = _bernstein(volumes, b, exponent / n)
    most = 1.0 if cut.mass_power else largest
    low = lowest_cut / np.maximum(highest_volume, np.finfo(np.float64).tiny)
    high = np.nan_to_num(_ratio(highest_cut, lowest_volume), nan=most)
    return float(low.sum()), float(np.minimum(high, most).sum())


def _bernstein(mean: Array, b: float, rate: float) -> tuple[Array, Array]:
    """Return the ends of all t with ``|mean - t| <= sqrt(2 b t rate) + b rate / 3``."""
    a, shift = 2 * b * rate, b * rate / 3
    low = (np.sqrt(a + 4 * np.maximum(mean - shift, 0.0)) - math.sqrt(a)) / 2
    high = (np.sqrt(a + 4 * (mean + shift)) + math.sqrt(a)) / 2
    return low**2, high**2


@dataclass(frozen=True)
class ErrorEstimate(JsonReady):
    """An estimate of the population error F.

    Attributes
    ----------
    value : float
        F, summed over the functions.
    standard_error : float
        Of ``value``, from the spread over the rows.
    per_function : array of shape (K,)
        The summands of ``value``.
    n_rows : float
        Held-out rows it rests on.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from eigencut import GPOD, Gaussian
    >>> X, _ = make_moons(150, noise=0.05, random_state=0)
    >>> model = GPOD(2, affinity=Gaussian(sigma=0.3)).fit(X[:100])
    >>> result = population_error(model, X[100:])
    >>> bool(abs(result.value - result.per_function.sum()) < 1e-12)
    True
    """

    value: float
    standard_error: float
    per_function: Array
    n_rows: float


@dataclass(frozen=True)
class Gap(JsonReady):
    """The discretization gap: how far rows of the embedding are from indicators of clusters.

    Attributes
    ----------
    per_cluster : array of shape (K,)
        The root mean square of the difference, of every cluster.
    total : float
        Their sum.
    n_rows : float
        Rows it was measured on.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from eigencut import GPOD, Gaussian
    >>> X, _ = make_moons(150, noise=0.05, random_state=0)
    >>> model = GPOD(2, affinity=Gaussian(sigma=0.3)).fit(X[:100])
    >>> result = discretization_gap(model, X[100:])
    >>> result.per_cluster.shape
    (2,)
    """

    per_cluster: Array
    total: float
    n_rows: float


def empirical_error(model: Any, normalization: str = "population") -> float:
    """The empirical error F-hat of the relaxed cut on its own training rows (Eq. 3).

        F-hat(U) = 1 / (2 n (n - 1)) sum_k sum_{i != j} W_ij (u_ki - u_kj)^2

    Parameters
    ----------
    model : fitted GPOD or TableModel
    normalization : {"population", "paper"}, default="population"
        - "population": functions of unit norm on the training rows (the vectors times sqrt(n)) and
          weights W(x, y) without 1/n. Then ``F-hat = n / (n - 1) sum(lambda)``, which tends to the
          population error; this is the reading under which the paper's "F-hat equals the sum of the
          eigenvalues" holds in the limit.
        - "paper": Eq. 3 to the letter, unit vectors and weights with 1/n. Then
          ``F-hat = sum(lambda) / (n (n - 1))``.

    Returns
    -------
    float

    Notes
    -----
    Nothing is computed anew from the data: the fit kept ``W C U``, and
    ``sum_i c_i u_i (d_i u_i - (W C u)_i)`` is half the sum over all pairs of rows (c_i rows at
    vertex i; pairs at the same place contribute nothing).

    Examples
    --------
    >>> import numpy as np
    >>> from eigencut import GPOD
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> model = GPOD(n_clusters=2).fit(X)
    >>> bool(np.isclose(empirical_error(model), 50 / 49 * model.eigenvalues_.sum()))
    True
    """
    check_choice("normalization", normalization, ("population", "paper"))
    with measured_on(model) as (gpod, _, _):
        affinity, functions = gpod.affinity_, gpod.fitted_cut_.functions
    n = affinity.n_rows_
    if n < 2:
        expected = "be fitted on at least 2 rows, for an error is a mean over pairs"
        raise invalid("model", expected, n, "fit it on more")
    U, WCU = functions.pairs.vectors, functions.pairs.products
    inner = U * (functions.degrees[:, np.newaxis] * U - WCU)
    half_sum = max(float((affinity.multiplicity_ @ inner).sum()), 0.0)
    paper = half_sum / (n * (n - 1))
    return {"paper": paper, "population": paper * n**2}[normalization]


def population_error(
    model: Any, X: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> ErrorEstimate:
    """The population error F of the extended eigenfunctions, estimated on held-out rows.

        F(U) = 1/2 sum_k E W(x, y) (u_k(x) - u_k(y))^2

    (the display before Eq. 11), by the U-statistic over all pairs of rows of X

        1 / (m (m - 1)) sum_{i != j} h(x_i, x_j),   h(x, y) = 1/2 W(x, y) sum_k (u_k(x) - u_k(y))^2,

    in the population normalization: functions orthonormal on the training rows (those of Algorithm
    1, which are not, are made so; with the constant, which it leaves out). It has no bias if the
    rows of X played no part in the fit. The standard error is that of the Hajek projection,
    ``2 std(h1) / sqrt(m)`` with ``h1(x_i)`` the mean of h over the pairs of x_i.

    Parameters
    ----------
    model : fitted GPOD or TableModel
    X : array-like of shape (m, n_features), m >= 3
        Held-out rows. Blockwise: no m x m array is held.
    sample_weight : array-like of shape (m,), optional
        How many times each row counts; weights that are no integers count together as many rows as
        ``(sum w)^2 / sum w^2``.

    Returns
    -------
    ErrorEstimate

    Examples
    --------
    >>> import numpy as np
    >>> from eigencut import GPOD
    >>> X = np.random.default_rng(0).normal(size=(90, 2))
    >>> model = GPOD(n_clusters=2).fit(X[:50])
    >>> estimate = population_error(model, X[50:])
    >>> bool(np.isclose(estimate.value, -2 * model.score(X[50:]))), estimate.n_rows
    (True, 40)
    """
    with measured_on(model, X, sample_weight) as (gpod, rows, counts):
        return population_error_on(gpod.fitted_cut_, rows, counts)


def population_error_on(fitted: Any, rows: Array, counts: Array | None) -> ErrorEstimate:
    """Estimate the population error of a fitted cut on prepared rows."""
    counts = np.ones(rows.shape[0]) if counts is None else counts
    m = whole_or_real(counts.sum())
    check_enough("X", m)
    F = fitted.unit_embedding(rows)
    columns = np.column_stack([np.ones(len(F)), F, F**2])
    products = fitted.affinity.within(rows, counts[:, np.newaxis] * columns)
    K = F.shape[1]
    degrees, WF, WF2 = products[:, :1], products[:, 1 : K + 1], products[:, K + 1 :]
    # 1/2 sum_j W_ij (f_i - f_j)^2; j = i contributes nothing. Rounding must not make it negative.
    projections = np.maximum(degrees * F**2 - 2 * F * WF + WF2, 0.0) / (2 * (m - 1))
    per_function = counts @ projections / m
    of_rows = projections.sum(axis=1)
    variance = float(counts @ np.square(of_rows - counts @ of_rows / m)) / (m - 1)
    error = 2 * math.sqrt(variance / m)
    return ErrorEstimate(float(per_function.sum()), error, per_function, m)


def discretization_gap(
    model: Any, X: ArrayLike | None = None, *, sample_weight: ArrayLike | None = None
) -> Gap:
    """What POD makes small: the distance of rows of unit length from indicators of clusters.

        sum_k ||one_hot_k - (rows(u-check) R)_k||_2

    Algorithms 1 and 2 normalize the rows (line 8) and rotate them; norms are root mean squares over
    rows. It tells how clear the clusters are, from 0 on. The epsilon of Theorems 2 and 4 is of
    functions of unit norm instead: ``discretization_cost`` has it.

    Parameters
    ----------
    model : fitted GPOD or TableModel
    X : array-like of shape (m, n_features), optional
        Rows to measure it on. Default: the training rows, where n times the sum of the squares is
        the square of the last entry of ``partition_.gap_history``.
    sample_weight : array-like of shape (m,), optional
        What each row of X counts.

    Returns
    -------
    Gap

    Examples
    --------
    >>> import numpy as np
    >>> from eigencut import GPOD
    >>> X = np.repeat([[0.0], [9.0]], 5, axis=0) + np.linspace(0, 1, 10)[:, np.newaxis]
    >>> discretization_gap(GPOD(n_clusters=2).fit(X)).total < 0.01
    True
    """
    with measured_on(model, X, sample_weight) as (gpod, rows, counts):
        return discretization_gap_on(gpod, rows, counts)


def discretization_gap_on(gpod: Any, rows: Any = None, counts: Array | None = None) -> Gap:
    """Measure the discretization gap on prepared rows, or on the training rows."""
    fitted = gpod.fitted_cut_
    functions, labels = fitted.functions, None
    if rows is not None:
        # Not predict(): a row that it leaves out still has a place in the population.
        scores = fitted.scores(rows)
    elif functions.extends_eigenvectors and not hasattr(gpod, "embedding_"):
        expected = "be given for a model that has not kept its training rows"
        raise invalid("X", expected, None, "pass rows")
    elif functions.form == "landmarks":  # whose vertices are not rows
        scores, labels = normalize_rows(gpod.embedding_) @ gpod.rotation_, gpod.partition_.labels
    else:
        # Algorithm 1 answers for new rows with other functions than the discretized eigenvectors.
        U, rotation = functions.at_training_vertices(), fitted.rotation
        if functions.extends_eigenvectors:
            U, rotation = functions.eigenvectors(), gpod.rotation_
        scores, counts = normalize_rows(U) @ rotation, fitted.affinity.multiplicity_
    labels = assign(scores) if labels is None else labels
    one_hot = labels[:, np.newaxis] == np.arange(scores.shape[1])
    per_cluster = np.sqrt(np.average((one_hot - scores) ** 2, axis=0, weights=counts))
    n_rows = len(scores) if counts is None else whole_or_real(counts.sum())
    return Gap(per_cluster, float(per_cluster.sum()), n_rows)


def held_out_error(fitted: Any, rows: Array, sample_weight: ArrayLike | None = None) -> float:
    """Return the mean error of the eigenfunctions of a fitted cut on rows."""
    counts = row_counts(sample_weight, rows.shape[0])
    affinity, functions = fitted.affinity, fitted.functions
    values = functions.unit(functions(rows))
    if not affinity.pairwise:
        return float(dirichlet_error(affinity, rows, values, counts).mean())
    # New rows have no affinities among themselves: the pairs are of a row and a training row,
    # 1 / (2 m n) sum_{i, j} W(x_i, x_j) (f_k(x_i) - u_k(x_j))^2.
    U = functions.unit(functions.at_training_vertices())
    product = affinity.apply(rows, np.column_stack([U, U**2]))
    WU, WU2 = np.hsplit(product.values, 2)
    squares = product.degrees[:, np.newaxis] * values**2 - 2 * values * WU + WU2
    c = np.ones(rows.shape[0]) if counts is None else counts
    sums = (c * np.exp(product.log_scale)) @ np.maximum(squares, 0.0)
    return float((sums / (2 * c.sum())).mean())


def dirichlet_error(affinity: Affinity, X: Array, F: Array, counts: Array | None = None) -> Array:
    """Return the U-statistic of the error of each function, given its values F at the rows of X.

    1 / (2 m (m - 1)) sum_{i != j} W(x_i, x_j) (f_k(x_i) - f_k(x_j))^2
    """
    c = np.ones((len(F), 1)) if counts is None else counts[:, np.newaxis]
    m = float(c.sum())
    products = affinity.within(X, c * np.column_stack([np.ones(len(F)), F]))
    degrees, WF = products[:, :1], products[:, 1:]
    # sum_ij W_ij (f_i - f_j)^2 / 2 = sum_i f_i (d_i f_i - (W f)_i); pairs i = j contribute nothing.
    sums = (c * F * (degrees * F - WF)).sum(axis=0)
    return np.asarray(np.maximum(sums, 0.0) / (m * (m - 1)))
