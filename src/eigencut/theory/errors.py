"""Errors of a relaxed cut: the value of its objective on given rows, and the discretization gap."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from eigencut._utils.arrays import Array
from eigencut._utils.json_ready import JsonReady
from eigencut._utils.threads import threads
from eigencut._utils.validation import check_choice, check_sample_weight
from eigencut.affinities.base import Affinity, whole_or_real
from eigencut.discretization import assign, normalize_rows
from eigencut.io.of_tables import takes_tables
from eigencut.io.validation import check_rows

# How many rows weighted ones stand for, where rows are counted: in errors and their spread.


def row_counts(sample_weight: ArrayLike | None, n_rows: int) -> Array | None:
    """Weights of held-out rows as numbers of independent rows; None for None.

    Integers are numbers of identical rows, as they are. Other weights say only what rows count
    relative to each other; their sum becomes ``(sum w)^2 / sum w^2``, the number of rows of equal
    weight that estimate a mean as well (Kish, 1965).

    Examples
    --------
    >>> row_counts([1, 3], 2), row_counts([0.5, 1.5], 2)
    (array([1., 3.]), array([0.4, 1.2]))
    """
    weight = check_sample_weight(sample_weight, n_rows)
    if weight is None or (weight == np.rint(weight)).all():
        return weight
    return np.asarray(weight * (weight.sum() / (weight @ weight)))


def refuse_weights_alone(sample_weight: ArrayLike | None) -> None:
    """An error for weights of no rows: training rows have those of the fit."""
    if sample_weight is not None:
        raise ValueError(
            "sample_weight must be left out without X, for training rows have the weights of the "
            "fit. Got some; pass the rows that they belong to."
        )


# All pairs of some rows, and the weights between them: what errors and cut values are sums of.

_BLOCK = 128  # rows whose weights to themselves are found at a time
_FEWEST = 3  # a spread over rows needs as many


@dataclass(frozen=True)
class RowPairs:
    """Pairs of rows, each with its weight; never as an array of all pairs.

    Attributes
    ----------
    counts : array of shape (n_places,)
        How many rows there are at each place.
    self_weights : array of shape (n_places,)
        ``W(x, x)``.
    all_sums : callable
        V to ``sum_j c_j W(x_i, x_j) V[j]``, the sum running over all rows, i among them.
    with_itself : bool
        Whether a row makes a pair with itself, as on the graph of a fit; not so where a population
        is estimated, for then sums over pairs are U-statistics.
    """

    counts: Array
    self_weights: Array
    all_sums: Callable[[Array], Array]
    with_itself: bool = False

    @classmethod
    def of_rows(
        cls,
        affinity: Affinity,
        rows: Any,
        with_itself: bool = False,
        counts: Array | None = None,
    ) -> RowPairs:
        """Pairs of new rows, of each of which there may be several."""
        m = rows.shape[0]
        of_each = np.ones(m) if counts is None else counts
        check_enough("X", float(of_each.sum()))
        own = np.concatenate(
            [
                affinity.within(rows[start : start + _BLOCK], np.eye(min(_BLOCK, m - start)))
                .diagonal()
                .copy()
                for start in range(0, m, _BLOCK)
            ]
        )
        each = of_each[:, np.newaxis]
        return cls(of_each, own, lambda V: affinity.within(rows, each * V), with_itself)

    @classmethod
    def of_training_rows(cls, affinity: Affinity, with_itself: bool = True) -> RowPairs:
        """Pairs of the rows that an affinity was fitted on; it has to have kept them."""
        rows = getattr(affinity, "rows_", None)
        if rows is None:
            raise ValueError(
                "model must have kept its training rows to be measured on them. Got "
                f"{type(affinity).__name__}, which does not; pass held-out rows as X, or the "
                "labels, the rows and the affinity: cut_value(model.labels_, X, affinity=...)."
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
        """The rows that each row makes a pair with."""
        return self.n_rows if self.with_itself else self.n_rows - 1

    def sums(self, V: Array) -> Array:
        """``sum_j W(x_i, x_j) V[j]`` over the partners j of each row i."""
        found = self.all_sums(V)
        return found if self.with_itself else found - self.self_weights[:, np.newaxis] * V

    @cached_property
    def degrees(self) -> Array:
        """d(x), the mean weight of a row to its partners."""
        # What is left of a row without partners is rounding.
        sums = self.sums(np.ones((len(self.counts), 1)))[:, 0]
        return np.maximum(sums, 0.0) / self.n_partners


def check_enough(name: str, n_rows: float) -> None:
    """Refuse fewer rows than a standard error needs."""
    if n_rows < _FEWEST:
        raise ValueError(
            f"{name} must have at least {_FEWEST} rows to estimate an error and its standard "
            f"error. Got {n_rows:g}; hold out more rows."
        )


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
    >>> from eigencut.inspection import population_error
    >>> X, _ = make_moons(150, noise=0.05, random_state=0)
    >>> model = GPOD(2, affinity=Gaussian(sigma=0.3)).fit(X[:100])
    >>> found = population_error(model, X[100:])
    >>> bool(abs(found.value - found.per_function.sum()) < 1e-12)
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
    >>> from eigencut.inspection import discretization_gap
    >>> X, _ = make_moons(150, noise=0.05, random_state=0)
    >>> model = GPOD(2, affinity=Gaussian(sigma=0.3)).fit(X[:100])
    >>> found = discretization_gap(model, X[100:])
    >>> found.per_cluster.shape
    (2,)
    """

    per_cluster: Array
    total: float
    n_rows: float


@takes_tables
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
    check_is_fitted(model)
    check_choice("normalization", normalization, ("population", "paper"))
    n = model.affinity_.n_rows_
    if n < 2:
        raise ValueError(
            f"model must be fitted on at least 2 rows, for an error is a mean over pairs. Got {n}; "
            "fit it on more."
        )
    functions = model.fitted_cut_.functions
    U, WCU = functions.pairs.vectors, functions.pairs.products
    inner = U * (functions.degrees[:, np.newaxis] * U - WCU)
    half_sum = max(float((model.affinity_.multiplicity_ @ inner).sum()), 0.0)
    paper = half_sum / (n * (n - 1))
    return {"paper": paper, "population": paper * n**2}[normalization]


@takes_tables
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
    check_is_fitted(model)
    rows = check_rows(model, X, reset=False)
    given = row_counts(sample_weight, rows.shape[0])
    counts = np.ones(rows.shape[0]) if given is None else given
    m = whole_or_real(counts.sum())
    check_enough("X", m)
    with threads(model.n_jobs):
        F = model.fitted_cut_.unit_embedding(rows)
        columns = np.column_stack([np.ones(len(F)), F, F**2])
        products = model.affinity_.within(rows, counts[:, np.newaxis] * columns)
    K = F.shape[1]
    degrees, WF, WF2 = products[:, :1], products[:, 1 : K + 1], products[:, K + 1 :]
    # 1/2 sum_j W_ij (f_i - f_j)^2; j = i contributes nothing. Rounding must not make it negative.
    projections = np.maximum(degrees * F**2 - 2 * F * WF + WF2, 0.0) / (2 * (m - 1))
    per_function = counts @ projections / m
    of_rows = projections.sum(axis=1)
    variance = float(counts @ np.square(of_rows - counts @ of_rows / m)) / (m - 1)
    error = 2 * math.sqrt(variance / m)
    return ErrorEstimate(float(per_function.sum()), error, per_function, m)


@takes_tables
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
    check_is_fitted(model)
    fitted = model.fitted_cut_
    counts: Array | None = None
    if X is None and not fitted.functions.extends_eigenvectors:
        # The functions that answer for new rows, not the eigenvectors that were discretized.
        scores = normalize_rows(fitted.functions.at_training_vertices()) @ fitted.rotation
        labels, counts = assign(scores), fitted.affinity.multiplicity_
    elif X is None:
        if not hasattr(model, "embedding_"):
            raise ValueError(
                "X must be given for a model that has not kept its training rows (a stream, or too "
                "many of them). Got None; pass rows."
            )
        refuse_weights_alone(sample_weight)
        scores = normalize_rows(model.embedding_) @ model.rotation_
        labels = model.partition_.labels
        if fitted.functions.form != "landmarks":  # of which vertices are no rows
            scores = normalize_rows(fitted.functions.eigenvectors()) @ model.rotation_
            labels, counts = assign(scores), fitted.affinity.multiplicity_
    else:
        counts = row_counts(sample_weight, np.shape(X)[0])
        with threads(model.n_jobs):
            scores = fitted.scores(check_rows(model, X, reset=False))
        # Not predict(): a row that it leaves out still has a place in the population.
        labels = assign(scores)
    one_hot = labels[:, np.newaxis] == np.arange(scores.shape[1])
    per_cluster = np.sqrt(np.average((one_hot - scores) ** 2, axis=0, weights=counts))
    n_rows = len(scores) if counts is None else whole_or_real(counts.sum())
    return Gap(per_cluster, float(per_cluster.sum()), n_rows)


def dirichlet_error(affinity: Affinity, X: Array, F: Array, counts: Array | None = None) -> Array:
    """The error F of functions known at the rows of X, one number per function.

        1 / (2 m (m - 1)) sum_{i != j} W(x_i, x_j) (f_k(x_i) - f_k(x_j))^2

    It is the U-statistic that estimates the population error without bias, if X was not used to
    find the functions (the paper's display after Eq. 8). Blockwise: no m x m array is held. With
    counts there are so many of each row, and m is their sum.

    Parameters
    ----------
    affinity : fitted Affinity
    X : array of shape (m, n_features), m >= 2
    F : array of shape (m, K)
        The functions' values at the rows.
    counts : array of shape (m,), optional

    Returns
    -------
    errors : array of shape (K,)

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from eigencut import GPOD, Gaussian
    >>> from eigencut.inspection import dirichlet_error
    >>> X, _ = make_moons(150, noise=0.05, random_state=0)
    >>> model = GPOD(2, affinity=Gaussian(sigma=0.3)).fit(X[:100])
    >>> dirichlet_error(model.affinity_, X[100:], model.transform(X[100:])).shape
    (2,)
    """
    c = np.ones((len(F), 1)) if counts is None else counts[:, np.newaxis]
    m = float(c.sum())
    products = affinity.within(X, c * np.column_stack([np.ones(len(F)), F]))
    degrees, WF = products[:, :1], products[:, 1:]
    # sum_ij W_ij (f_i - f_j)^2 / 2 = sum_i f_i (d_i f_i - (W f)_i); pairs i = j contribute nothing.
    sums = (c * F * (degrees * F - WF)).sum(axis=0)
    return np.asarray(np.maximum(sums, 0.0) / (m * (m - 1)))


def crossed_error(
    affinity: Affinity, X: Array, F: Array, U: Array, counts: Array | None = None
) -> Array:
    """The same error over pairs of a row of X and a training row, where U are the functions.

        1 / (2 m n) sum_{i, j} W(x_i, x_j) (f_k(x_i) - U[j, k])^2

    For affinities that know nothing about new rows among themselves.

    Parameters
    ----------
    affinity : fitted Affinity
    X : array of shape (m, n_features)
    F : array of shape (m, K)
        The functions' values at the rows.
    U : array of shape (n_vertices, K)
        The functions' values at the training vertices.
    counts : array of shape (m,), optional
        How many there are of each row of X.

    Returns
    -------
    errors : array of shape (K,)

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from eigencut import GPOD, Gaussian
    >>> from eigencut.inspection import crossed_error
    >>> X, _ = make_moons(150, noise=0.05, random_state=0)
    >>> model = GPOD(2, affinity=Gaussian(sigma=0.3)).fit(X[:100])
    >>> U = model.fitted_cut_.functions.pairs.vectors
    >>> crossed_error(model.affinity_, X[100:], model.transform(X[100:]), U).shape
    (2,)
    """
    K = U.shape[1]
    product = affinity.apply(X, np.column_stack([U, U**2]))
    WU, WU2 = product.values[:, :K], product.values[:, K:]
    squares = product.degrees[:, np.newaxis] * F**2 - 2 * F * WU + WU2
    c = np.ones(X.shape[0]) if counts is None else counts
    scale = c * np.exp(product.log_scale)
    return np.asarray((scale @ np.maximum(squares, 0.0)) / (2 * c.sum()))


def held_out_error(fitted: Any, rows: Array, sample_weight: ArrayLike | None = None) -> float:
    """The mean error of the eigenfunctions of a fitted cut on rows, orthonormal on its own.

    Over pairs of the rows, or, for precomputed affinities, of a row and a training row.
    """
    counts = row_counts(sample_weight, rows.shape[0])
    affinity, functions = fitted.affinity, fitted.functions
    values = functions.unit(functions(rows))
    if affinity.pairwise:
        training = functions.unit(functions.at_training_vertices())
        errors = crossed_error(affinity, rows, values, training, counts)
    else:
        errors = dirichlet_error(affinity, rows, values, counts)
    return float(errors.mean())
