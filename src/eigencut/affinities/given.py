"""Affinities that the user gives: a function (``Kernel``), or a matrix (``Precomputed``)."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.memory import MEMORY, FitSizes, sparse_solver_bytes
from eigencut._utils.running import row_blocks
from eigencut.affinities.base import (
    Affinity,
    Product,
    VectorAffinity,
    complete_graph_bytes,
    whole_or_real,
)
from eigencut.exceptions import invalid
from eigencut.graphs.base import Graph, SparseGraph
from eigencut.graphs.complete import DenseGraph, SymmetricTiles
from eigencut.io.state_reader import StateReader


class Kernel(VectorAffinity):
    """Weights from a function ``k(A, B)`` on the complete graph.

    Parameters
    ----------
    function : callable
        Takes arrays of shape (a, d) and (b, d) and returns the (a, b) array of weights between
        their rows: symmetric, non-negative and finite. The functions of
        ``sklearn.metrics.pairwise`` such as ``laplacian_kernel`` have this form.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.metrics.pairwise import laplacian_kernel
    >>> Kernel(laplacian_kernel).fit_graph(np.array([[0.0], [1.0]])).dense().round(3)
    array([[1.   , 0.368],
           [0.368, 1.   ]])
    """

    def __init__(self, function: Callable[[Array, Array], ArrayLike]) -> None:
        self.function = function

    def _fit_rows(self, rows: Array) -> None:
        try:
            signature(self.function).bind(rows, rows)
        except TypeError as error:
            got, remedy = repr(self.function), "pass e.g. sklearn.metrics.pairwise.laplacian_kernel"
            raise invalid("function", "be callable as k(A, B)", got, remedy) from error
        except ValueError:  # functions in C may have no signature
            pass
        some = rows[:: max(1, len(rows) // 64)]
        weights = self._weights(some, some)
        asymmetry = np.abs(weights - weights.T).max()
        if asymmetry > 1e-8 * weights.max():
            got = f"values that differ by up to {asymmetry:.3g}"
            expected = "be symmetric: k(a, b) = k(b, a)"
            raise invalid("function", expected, got, "average k(A, B) and k(B, A).T")

    def _prepare(self, X: Array) -> Array:
        return X

    def _weights(self, A: Array, B: Array) -> Array:
        found: Any = self.function(A, B)
        weights = np.array(found.toarray() if hasattr(found, "toarray") else found)
        if weights.dtype.kind not in "fiub":
            got, remedy = f"dtype {weights.dtype}", "take the absolute value of complex ones"
            raise invalid("function", "return real numbers", got, remedy)
        weights = weights.astype(np.float64, copy=False)
        if weights.shape != (len(A), len(B)):
            expected = f"return an array of shape {(len(A), len(B))} for that many rows"
            remedy = "compute all pairs of rows at once"
            raise invalid("function", expected, f"shape {weights.shape}", remedy)
        if not np.isfinite(weights).all() or weights.min() < 0:
            got = f"values from {weights.min():.3g} to {weights.max():.3g}"
            remedy = "use a similarity that grows as rows get closer"
            raise invalid("function", "return finite, non-negative weights", got, remedy)
        return weights

    weight_bound_ = None

    def _underflowed(self, A: Array, weighted: Array) -> tuple[Array, Array]:
        """Return the values of the nearest training rows, for rows without any weight."""
        return weighted[self.nearest_vertices(A)], np.full(len(A), -np.inf)

    def connection_hint(self) -> str:
        return "Use a kernel that reaches farther."


class Precomputed(Affinity):
    """A matrix of affinities that you have computed.

    ``fit`` takes the symmetric, non-negative n x n matrix of affinities among the training rows;
    methods for new rows take the m x n matrix of affinities from the new to the training rows.
    Either may be a scipy.sparse array, whose missing entries are affinities of zero. Training rows
    of weight 0 stay in the matrix and are ignored.
    """

    _saved_as: ClassVar[str] = "Precomputed"

    pairwise = True
    accepts_sparse = True

    def fit_graph(self, X: Any, sample_weight: Array | None = None) -> Graph:
        n = X.shape[0]
        if n != X.shape[1]:
            remedy = "pass the n x n matrix among rows, or affinity='auto' for rows of features"
            raise _refusal("be a square matrix of affinities", f"shape {X.shape}", remedy)
        self._check_values(X)
        difference, (i, j) = _asymmetry(X)
        if difference > 1e-8 * _entries(X).max(initial=0.0):
            got = f"X[{i}, {j}] = {X[i, j]:.6g} and X[{j}, {i}] = {X[j, i]:.6g}"
            raise _refusal("be symmetric", got, "use (X + X.T) / 2")
        self._n_given, self._counted = n, None
        if sample_weight is not None and not sample_weight.all():
            self._counted = np.flatnonzero(sample_weight)
            X, sample_weight = self._to_counted(X)[self._counted], sample_weight[self._counted]
        self.multiplicity_ = np.ones(n) if sample_weight is None else sample_weight
        self.n_rows_ = whole_or_real(self.multiplicity_.sum())
        graph = self._graph(X)
        self.self_weights_ = graph.self_weights
        self.largest_weight_ = float(graph.weights.max())
        self._degrees = graph.degrees
        return graph

    def _to_counted(self, X: Any) -> Any:
        """Return the columns of the training rows whose weight is not 0."""
        return X if self._counted is None else X[:, self._counted]

    def _graph(self, X: Any) -> Graph:
        every = np.arange(len(self.multiplicity_))
        if sparse.issparse(X):
            return SparseGraph(sparse.csr_array((X + X.T) / 2), self.multiplicity_, every)
        weights = SymmetricTiles.compute(
            len(X), lambda rows, columns: (X[rows, columns] + X[columns, rows].T) / 2
        )
        return DenseGraph(weights, self.multiplicity_, every)

    def memory_bytes(self, sizes: FitSizes) -> float | None:
        n, K = sizes.n_rows, sizes.n_clusters
        if n is None:
            return None
        if not sizes.is_sparse:  # the matrix itself is not counted
            return complete_graph_bytes(FitSizes(n, 0, K))
        of_edges = MEMORY.sparse_edge * n * sizes.n_features
        return MEMORY.imports + of_edges + sparse_solver_bytes(n, K)

    @property
    def n_columns_(self) -> int:
        return self._n_given

    def _state(self, include_training_data: bool = True) -> dict[str, Any]:
        own: dict[str, Any] = {"degrees": self._degrees}
        if self._counted is not None:
            own["counted"] = {"rows": self._counted, "of": self._n_given}
        return super()._state(include_training_data) | own

    def _restore(self, state: StateReader) -> None:
        super()._restore(state)
        n = self._n_given = len(self.multiplicity_)
        self._degrees, self._counted = state.array("degrees", (n,), least=0.0), None
        if "counted" in state:
            counted = state.part("counted")
            self._n_given = counted.integer("of", least=n)
            self._counted = counted.indices("rows", (n,), below=self._n_given)

    @staticmethod
    def _check_values(X: Any) -> None:
        entries = _entries(X)
        largest = entries.max(initial=0.0)
        if largest > 0 and not 1e-100 < largest < 1e100:  # sums and square roots stay accurate
            got = f"{largest:.3g} as the largest"
            raise _refusal("hold affinities of ordinary size", got, "divide all by the largest")
        if entries.min(initial=0.0) < 0:
            i, j = _place(X, np.argmin)
            got = f"X[{i}, {j}] = {X[i, j]:.6g}"
            remedy = "use a similarity such as exp(-distance**2)"
            raise _refusal("hold non-negative affinities", got, remedy)

    def apply(self, X: Any, V: Array) -> Product:
        self._check_values(X)
        X = self._to_counted(X)
        share = self.multiplicity_ / self.n_rows_
        values, degrees = X @ (share[:, np.newaxis] * V), X @ share
        log_scale = np.zeros(X.shape[0])
        # A row without any affinity gets the values of the best connected training row.
        alone = degrees == 0
        values[alone], degrees[alone], log_scale[alone] = V[np.argmax(self._degrees)], 1.0, -np.inf
        return Product(values, degrees, log_scale)

    def within(self, X: Array, V: Array) -> NoReturn:
        expected = "be rows of features to measure an error among new rows"
        got = "affinities to the training rows (affinity='precomputed'), not among the new ones"
        raise invalid("X", expected, got, "use affinity='gaussian' or a function k(A, B)")

    def most_similar_vertices(self, vertices: Indices, among: Indices) -> Indices:
        # Parts of the graph have no affinity to each other, so take the best connected vertex.
        return np.full(len(vertices), among[np.argmax(self._degrees[among])])

    def connection_hint(self) -> str:
        return "Add affinities between its parts."


def _refusal(expected: str, got: str, remedy: str) -> Exception:
    return invalid("X", f"{expected} with affinity='precomputed'", got, remedy)


def _asymmetry(X: Any) -> tuple[float, tuple[int, int]]:
    """Return the largest difference between X[i, j] and X[j, i], and (i, j)."""
    if sparse.issparse(X):
        differences = abs(X - X.T)
        is_symmetric = not differences.nnz  # no entry is stored to look for
        return float(differences.max()), (0, 0) if is_symmetric else _place(differences, np.argmax)
    largest, pair = -1.0, (0, 0)
    for rows in row_blocks(len(X), len(X), 1 << 20):
        differences = np.abs(X[rows] - X[:, rows].T)
        i, j = _place(differences, np.argmax)
        if differences[i, j] > largest:
            largest, pair = float(differences[i, j]), (rows.start + i, j)
    return largest, pair


def _entries(X: Any) -> Array:
    return np.asarray(X.data if sparse.issparse(X) else X)


def _place(X: Any, extreme: Callable[[Array], Any]) -> tuple[int, int]:
    """Return row and column of the largest or smallest entry (``extreme`` is argmax or argmin)."""
    if sparse.issparse(X):
        found = X.tocoo()
        where = extreme(found.data)
        return int(found.row[where]), int(found.col[where])
    i, j = np.unravel_index(extreme(X), X.shape)
    return int(i), int(j)
