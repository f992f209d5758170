"""Base classes of affinities, which weigh two rows, and the density contrast of weights.

An affinity is fitted on rows X (``fit_graph``), and then weighs any rows with X (``apply``). Three
rules make both agree, up to rounding:

* The factor 1/n belongs to the weights: ``W_ij = W(x_i, x_j) / n``. Where rows have weights of
  their own (``sample_weight``), n is the sum of these.
* Self-weights count: ``d_i`` includes ``W_ii``.
* Identical rows are one vertex with a multiplicity, and vertices are sorted. So later results do
  not depend on the order of the rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator, clone

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.memory import MEMORY, FitSizes, dense_solver_bytes
from eigencut._utils.running import all_or_nothing, for_each, n_threads, row_blocks
from eigencut._utils.validation import is_real
from eigencut.exceptions import invalid
from eigencut.graphs.base import Graph
from eigencut.graphs.complete import DenseGraph, SymmetricTiles
from eigencut.io.refused_rows import naming_refused_rows
from eigencut.io.state_reader import StateReader, csr_state
from eigencut.neighbors.metrics import (
    METRICS,
    DistinctRows,
    Metric,
    distinct_rows,
    in_form_of,
    row_keys,
)


@dataclass(frozen=True)
class Product:
    """``W(X_new, X) @ V`` in a form that cannot underflow.

    The true numbers are ``exp(log_scale) * values`` and ``exp(log_scale) * degrees``. ``support``
    says how near each row is to the training rows, for affinities whose degrees do not.
    """

    values: Array
    degrees: Array
    log_scale: Array
    support: Array | None = None

    @property
    def log_degrees(self) -> Array:
        """Return log d(x)."""
        # For a column of a matrix, numpy may use another log, which differs in the last bit.
        return self.log_scale + np.log(np.ascontiguousarray(self.degrees))

    @property
    def row_support(self) -> Array:
        """The support of each row by the training rows: log d(x), or the affinity's own."""
        return self.log_degrees if self.support is None else self.support

    def shares(self) -> tuple[Any, Array]:
        """Return the share of each column in the sum of its row (sparse), and rows' support."""
        shares = self.values / self.values.sum(axis=1, keepdims=True)
        return csr_array(shares), self.row_support


class Affinity(BaseEstimator, ABC):
    """Base class of affinities, for affinities of your own.

    A fitted affinity has ``multiplicity_`` (rows per vertex, or the sum of their weights),
    ``n_rows_`` (n, their sum), ``self_weights_`` (``W(x_i, x_i)`` of each vertex),
    ``largest_weight_`` (between training rows, or slightly more) and ``weight_bound_`` (C, the
    upper bound of W for all rows, or None if unknown).

    Examples
    --------
    >>> import numpy as np
    >>> from eigencut import Affinity, Gaussian
    >>> isinstance(Gaussian(), Affinity)
    True
    >>> Gaussian(sigma=1.0).fit_graph(np.array([[0.0], [1.0], [5.0]])).degrees.shape
    (3,)
    """

    pairwise = False  # True if X is a matrix of affinities instead of rows of features
    streams = False  # True if fit_graph takes a stream of rows
    form: str | None = None  # of the extension, if only one works with this affinity
    solver: str | None = None  # of the cut, if only one works
    accepts_sparse = False  # whether X may be a scipy.sparse array
    keeps: str | None = None  # training data in a fitted object: "rows", "sums" over rows, or none
    saved_rounding = 1e-6  # relative; allowed in the sums of a file

    multiplicity_: Array
    n_rows_: float
    self_weights_: Array
    largest_weight_: float

    @property
    def _metric(self) -> Metric:
        """The metric that the parameter ``metric`` names, by default the Euclidean one."""
        return METRICS[getattr(self, "metric", "euclidean")]

    def __repr__(self, *_: Any) -> str:
        """Return the parameters that are not defaults; scikit-learn's takes milliseconds."""
        defaults = signature(type(self)).parameters
        given = sorted(self.get_params(deep=False).items())
        changed = (f"{k}={v!r}" for k, v in given if repr(v) != repr(defaults[k].default))
        return f"{type(self).__name__}({', '.join(changed)})"

    @abstractmethod
    def fit_graph(self, X: Any, sample_weight: Array | None = None) -> Graph:
        """Fit on the rows of X, an array (or a stream if ``streams``); return the graph on them.

        Sample weights are positive; a row of weight k counts as k identical rows.
        """

    @abstractmethod
    def apply(self, X: Array, V: Array) -> Product:
        """Return ``(1/n) sum_j c_j W(x, x_j) V[j]`` for rows x of X (c: multiplicities)."""

    def shares(self, X: Array, labels: Indices, n_clusters: int) -> tuple[Any, Array]:
        """Return the share of each row's weight that goes to each cluster, and its support."""
        return self.apply(X, np.eye(n_clusters)[labels]).shares()

    def shares_at_vertices(self, graph: Graph, labels: Indices, n_clusters: int) -> Any:
        """Return these shares for the training vertices, without their support."""
        values = graph.matmat(np.eye(n_clusters)[labels] * graph.multiplicity[:, np.newaxis])
        return csr_array(values / values.sum(axis=1, keepdims=True))

    def averages_at_vertices(self, graph: Graph, V: Array) -> Array:
        """Return the average of V around each training vertex, by weights."""
        values = graph.matmat(V * graph.multiplicity[:, np.newaxis])
        return np.asarray(values / graph.degrees[:, np.newaxis])

    @abstractmethod
    def within(self, X: Array, V: Array) -> Array:
        """Return ``sum_j W(x_i, x_j) V[j]`` for rows i and j of X (no factor 1/n)."""

    @abstractmethod
    def most_similar_vertices(self, vertices: Indices, among: Indices) -> Indices:
        """Return for each vertex the one of ``among`` that is most similar to it."""

    @abstractmethod
    def connection_hint(self) -> str:
        """Return a sentence that tells users how to connect a graph in several parts."""

    def memory_bytes(self, sizes: FitSizes) -> float | None:
        """Return the most memory that a fit needs besides the rows; None if it is unknown."""
        return None

    def exponent_factors(self, X: Array | None = None) -> Array | None:
        """Return l of rows X, or r of the training rows, if ``W(x, y) = exp(l(x) . r(y))``."""
        return None

    @property
    def weight_bound_(self) -> float | None:
        """C of ``W(x, y) <= C`` (Eq. 8) for new rows too; None if it depends on them."""
        return self.largest_weight_

    @property
    @abstractmethod
    def n_columns_(self) -> int:
        """The number of columns that new rows must have."""

    def _state(self, include_training_data: bool = True) -> dict[str, Any]:
        """Return what a model file stores: what new rows need, as plain values and arrays.

        Subclasses that can be saved add their own entries, and read them in ``_restore``.
        """
        return {
            "multiplicity": self.multiplicity_,
            "n_rows": self.n_rows_,
            "self_weights": self.self_weights_,
            "largest_weight": self.largest_weight_,
        }

    def _restore(self, state: StateReader) -> None:
        """Restore a saved ``_state()`` instead of a fit; a file may be hostile, so check it."""
        self.multiplicity_ = state.array("multiplicity", (None,))
        if self.multiplicity_.min() <= 0:
            raise ValueError("multiplicity must be positive.")
        self.n_rows_ = whole_or_real(state.number("n_rows", least=0.0))
        if abs(self.multiplicity_.sum() - self.n_rows_) > self.saved_rounding * self.n_rows_:
            raise ValueError("multiplicity must add up to n_rows.")
        self.largest_weight_ = state.number("largest_weight", least=0.0)
        most = self.largest_weight_ * (1 + self.saved_rounding)
        self.self_weights_ = state.array("self_weights", (len(self.multiplicity_),), 0.0, most)

    def frozen(self) -> Affinity:
        """Return an unfitted affinity whose weight function stays the same on any rows."""
        return clone(self)

    def identical_vertices(self, X: Array) -> Indices:
        """Return the training vertex that each row of X is identical to, or -1."""
        return np.full(X.shape[0], -1, dtype=np.intp)

    def nearest_vertices(self, X: Array) -> Indices:
        """Return the training vertex nearest to each row of X, or -1 if it is unknown."""
        return np.full(X.shape[0], -1, dtype=np.intp)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the affinity alone, without building a clustering on it."""
        with all_or_nothing(self) as fresh:
            rows = csr_array(X) if issparse(X) else np.asarray(X, dtype=np.float64)
            with naming_refused_rows(rows):
                fresh.fit_graph(rows)
        return self


def whole_or_real(total: float) -> float:
    """Return the sum of all weights: as an integer if it is whole and below 2^53."""
    return int(total) if float(total).is_integer() and total < 2**53 else float(total)


class RowAffinity(Affinity):
    """An affinity whose vertices are distinct rows of features, which it keeps."""

    keeps = "rows"

    rows_: Any

    def _keep(self, distinct: DistinctRows) -> None:
        """Store the distinct rows and their multiplicities."""
        self.rows_ = distinct.rows
        self.multiplicity_ = distinct.multiplicity
        self.n_rows_ = whole_or_real(distinct.multiplicity.sum())
        self._vertex_at: dict[bytes, int] | None = None

    @property
    def n_columns_(self) -> int:
        return int(self.rows_.shape[1])

    def _state(self, include_training_data: bool = True) -> dict[str, Any]:
        if not include_training_data:
            expected = f"be True with {type(self).__name__}"
            got = "False, but new rows are compared with the training rows"
            raise invalid("include_training_data", expected, got, "leave it out, or use Landmarks")
        rows = csr_state(self.rows_) if issparse(self.rows_) else self.rows_
        return super()._state() | {"rows": rows}

    def _restore(self, state: StateReader) -> None:
        super()._restore(state)
        n = len(self.multiplicity_)
        is_sparse = self.accepts_sparse and "rows" in state.groups()
        self.rows_ = state.csr("rows", n) if is_sparse else state.coordinates("rows", (n, None))
        self._vertex_at = None

    def __getstate__(self) -> dict[str, Any]:
        # The dict of rows is quick to build again, and skops cannot store its keys.
        return {**super().__getstate__(), "_vertex_at": None}

    def identical_vertices(self, X: Any) -> Indices:
        if self._vertex_at is None:
            keys = row_keys(self._metric.places(self.rows_))
            self._vertex_at = {key: i for i, key in enumerate(keys)}
        keys = row_keys(self._metric.places(in_form_of(self.rows_, X)))
        return np.array([self._vertex_at.get(key, -1) for key in keys], dtype=np.intp)

    def at_own_rows(self, V: Array) -> Array:
        """Return ``sum_j c_j W(x_i, x_j) V[j]`` for the training vertices i."""
        product = self.apply(self.rows_, V)
        return np.asarray(self.n_rows_ * np.exp(product.log_scale)[:, np.newaxis] * product.values)

    def _weighted(self, V: Array) -> Array:
        """Return ``V[j] c_j / n`` and a last column ``c_j / n``, whose product is the degrees."""
        weights = self.multiplicity_[:, np.newaxis] / self.n_rows_
        return np.column_stack([V, np.ones(len(V))]) * weights


def complete_graph_bytes(sizes: FitSizes) -> float | None:
    """Return the memory of a complete graph, n^2 / 2 weights in tiles, and of its eigensolver."""
    n, d, K = sizes.n_vertices, sizes.n_features, sizes.n_clusters
    if n is None or sizes.n_rows is None:
        return None
    of_graph = 4 * n * (n + 400) + dense_solver_bytes(n, K)
    return MEMORY.imports + 2e6 * n_threads() + of_graph + 48 * sizes.n_rows * d


class VectorAffinity(RowAffinity):
    """An affinity computed from rows of features, in bounded memory.

    A subclass stores what depends on the training rows (``_fit_rows``), and computes what is needed
    once per row (``_prepare``) and the weights between two sets of prepared rows (``_weights``).
    """

    block_elements: ClassVar[int] = 1 << 19  # weights of new rows held at a time, per thread
    chunk_rows: ClassVar[int] = 8192  # new rows prepared at a time

    def _check_parameters(self) -> Any:
        """Raise an error for invalid parameters."""

    @abstractmethod
    def _fit_rows(self, rows: Array) -> None:
        """Store what depends on the distinct training rows, such as a bandwidth."""

    @abstractmethod
    def _prepare(self, X: Array) -> Any:
        """Compute what is needed once per row."""

    @abstractmethod
    def _weights(self, A: Any, B: Any) -> Array:
        """Return the matrix ``W(a, b)`` of two sets of prepared rows."""

    @abstractmethod
    def _underflowed(self, A: Any, weighted: Array) -> tuple[Array, Array]:
        """Return products with ``weighted`` and log scales of rows whose weights underflow."""

    def fit_graph(self, X: Array, sample_weight: Array | None = None) -> Graph:
        self._check_parameters()
        distinct = distinct_rows(X, sample_weight, self._metric)
        self._keep(distinct)
        self._fit_rows(distinct.rows)
        rows = self._training = self._prepare(distinct.rows)
        weights = SymmetricTiles.compute(len(rows), lambda i, j: self._weights(rows[i], rows[j]))
        graph = DenseGraph(weights, distinct.multiplicity, distinct.vertex_of_row)
        self.self_weights_ = graph.self_weights
        self.largest_weight_ = self._largest_weight(graph.weights)
        return graph

    def memory_bytes(self, sizes: FitSizes) -> float | None:
        return complete_graph_bytes(sizes)

    def _largest_weight(self, weights: SymmetricTiles) -> float:
        """Return the largest weight between training rows, for C of Eq. 8."""
        return weights.max()

    def apply(self, X: Array, V: Array) -> Product:
        weighted = self._weighted(V)
        product, log_scale = np.empty((len(X), weighted.shape[1])), np.zeros(len(X))
        for start in range(0, len(X), self.chunk_rows):
            queries = self._prepare(X[start : start + self.chunk_rows])

            def fill(rows: slice, start: int = start, queries: Any = queries) -> None:
                block = self._weights(queries[rows], self._training) @ weighted
                low = np.flatnonzero(block[:, -1] < 1e-280)  # the weights have underflowed
                if len(low):
                    block[low], log_scale[start + rows.start + low] = self._underflowed(
                        queries[rows][low], weighted
                    )
                product[start + rows.start : start + rows.stop] = block

            for_each(fill, row_blocks(len(queries), len(weighted), self.block_elements))
        return Product(product[:, :-1], product[:, -1], log_scale)

    def within(self, X: Array, V: Array) -> Array:
        everything, product = self._prepare(X), np.empty(V.shape)

        def fill(rows: slice) -> None:
            product[rows] = self._weights(everything[rows], everything) @ V

        for_each(fill, row_blocks(len(X), len(X), self.block_elements))
        return product

    def nearest_vertices(self, X: Array) -> Indices:
        return self._metric.nearest(self._metric.points(X), self._metric.points(self.rows_))

    def most_similar_vertices(self, vertices: Indices, among: Indices) -> Indices:
        points = self._metric.points(self.rows_)
        return among[self._metric.nearest(points[vertices], points[among])]


# Density contrast: weights that count more where rows are dense.
#
#     W'(x, y) = W(x, y) (rho(x) rho(y))^beta
#
# It raises the power by which cuts weigh density (Hoffmann, Hosseini, Oberai, Stuart, 2022).

LIMITS = (1e-6, 1e6)  # of densities, in units of the median: no row dominates or vanishes
MOST_POWER = 2.0  # of a distance in a density, however many features there are
LEAST_MASS = 0.99e-6  # of a landmark, in units of the largest: 1e-6, up to rounding


def check_contrast(beta: Any) -> float:
    """Return beta as a float; raise an error if it is invalid."""
    most = 4.0  # beyond, a few rows carry all weight
    if not (is_real(beta) and 0 <= beta <= most):
        expected = f"be a number from 0 to {most:g}"
        raise invalid("density_contrast", expected, repr(beta), "use 1, or 0 for none")
    return float(beta)


@dataclass(frozen=True)
class DensityContrast:
    """The factor ``rho(x)^beta`` of any row, from the densities of its k nearest training rows."""

    beta: float
    densities: Array  # (n_vertices,): ``r_j^-min(d, 2)`` of each vertex, in units of the median
    factors: Array  # (n_vertices,): ``rho^beta`` of each vertex

    @classmethod
    def fit(cls, radii: Array, numbers: Indices, n_features: int, beta: float) -> DensityContrast:
        """Compute densities from each vertex's distance to its k-th nearest, and the k nearest."""
        unit = float(np.median(radii[radii > 0])) if radii.any() else 1.0
        with np.errstate(divide="ignore", over="ignore"):
            raw = (radii / unit) ** -min(float(n_features), MOST_POWER)
        found = cls(beta, np.clip(raw, *LIMITS), np.empty(0))
        return replace(found, factors=found.at(numbers))

    @property
    def bound(self) -> float:
        """An upper bound of ``(rho(x) rho(y))^beta`` for any two rows."""
        return float(self.densities.max() ** (2 * self.beta))

    def at(self, numbers: Indices) -> Array:
        """Return ``rho(x)^beta`` of rows whose k nearest vertices have these numbers."""
        return np.asarray(self.densities[numbers].mean(axis=1) ** self.beta)

    def _state(self) -> dict[str, Any]:
        return {"beta": self.beta, "densities": self.densities, "factors": self.factors}

    @classmethod
    def _restored(cls, state: StateReader, n_vertices: int) -> DensityContrast:
        beta = state.number("beta", 0.0, 8.0)  # so that products of weights stay finite
        densities = state.array("densities", (n_vertices,), *LIMITS)
        least, most = LIMITS[0] ** beta * (1 - 1e-6), LIMITS[1] ** beta * (1 + 1e-6)
        return cls(beta, densities, state.array("factors", (n_vertices,), least, most))


def landmark_masses(counts: Array, spacing: Array, n_features: int, beta: float) -> Array:
    """Return ``rho^(2 beta)`` at landmarks, in units of the largest."""
    power = min(float(n_features), MOST_POWER)
    with np.errstate(over="ignore", divide="ignore"):
        rho = (counts / np.median(counts)) ** (power / n_features)
        rho *= (spacing / np.median(spacing)) ** (-power / 2)
        rho = np.clip(rho, *LIMITS)
        middle = np.quantile(rho, 0.5, weights=counts, method="inverted_cdf")
        masses = np.clip((rho / middle) ** (2 * beta), 1e-3, 1e3)  # or sums lose digits
    return np.asarray(masses / masses.max())
