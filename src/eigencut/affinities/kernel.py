"""Any function of two rows as an affinity, and what all affinities on rows of features share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from eigencut._utils.arrays import Array, Indices, row_blocks
from eigencut._utils.threads import for_each
from eigencut.affinities.base import Affinity, Product, refuse_without_rows, whole_or_real
from eigencut.affinities.fit_memory import FitSizes, complete_graph_bytes
from eigencut.exceptions import invalid
from eigencut.graphs.base import Graph
from eigencut.graphs.complete import DenseGraph, SymmetricTiles
from eigencut.io.state_reader import StateReader
from eigencut.neighbors.distinct_rows import DistinctRows
from eigencut.neighbors.metrics import nearest_rows


class VectorAffinity(Affinity):
    """An affinity computed from rows of features.

    A subclass says what is decided from the data (``_fit_rows``), what is computed once per row
    (``_prepare``; the result supports ``len`` and indexing) and the weights between two sets of
    prepared rows (``_weights``). This class does the rest in bounded memory.
    """

    keeps = "rows"
    block_elements: ClassVar[int] = 1 << 19  # weights of new rows held at a time, per thread
    chunk_rows: ClassVar[int] = 8192  # new rows prepared at a time

    rows_: Array

    @abstractmethod
    def _fit_rows(self, rows: Array) -> None:
        """Decide what depends on the (distinct) rows."""

    @abstractmethod
    def _prepare(self, X: Array) -> Any:
        """Compute what is needed once per row."""

    @abstractmethod
    def _weights(self, A: Any, B: Any) -> Array:
        """The matrix ``W(a, b)`` of two sets of prepared rows."""

    @abstractmethod
    def _underflowed(self, A: Any, weighted: Array) -> tuple[Array, Array]:
        """Product with ``weighted`` and log scale of rows whose weights all underflow."""

    def fit_graph(self, X: Array, sample_weight: Array | None = None) -> Graph:
        distinct = DistinctRows.from_rows(X, sample_weight)
        self.rows_ = distinct.rows
        self.multiplicity_ = distinct.multiplicity
        self.n_rows_ = whole_or_real(distinct.multiplicity.sum())
        self._vertex_at: dict[bytes, int] | None = None
        self._fit_rows(distinct.rows)
        self._training = self._prepare(distinct.rows)
        weights = SymmetricTiles.compute(len(distinct.rows), self._training_weights)
        graph = DenseGraph(weights, distinct.multiplicity, distinct.vertex_of_row)
        self.self_weights_ = graph.self_weights
        self.largest_weight_ = self._largest_weight(graph.weights)
        return graph

    def memory_bytes(self, sizes: FitSizes) -> float | None:
        return complete_graph_bytes(sizes)

    @property
    def n_columns_(self) -> int:
        return self.rows_.shape[1]

    def _state(self, include_training_data: bool = True) -> dict[str, Any]:
        refuse_without_rows(self, include_training_data)
        return super()._state() | {"rows": self.rows_}

    def __getstate__(self) -> dict[str, Any]:
        # The places of rows are quickly found anew, and have keys that skops cannot keep.
        return {**super().__getstate__(), "_vertex_at": None}

    def _restore(self, state: StateReader) -> None:
        super()._restore(state)
        self.rows_ = state.coordinates("rows", (len(self.multiplicity_), None))
        self._vertex_at = None

    def _training_weights(self, rows: slice, columns: slice) -> Array:
        return self._weights(self._training[rows], self._training[columns])

    def _largest_weight(self, weights: SymmetricTiles) -> float:
        """C of ``0 < W(x, y) <= C`` (Eq. 8), as far as the training rows show it."""
        return weights.max()

    def apply(self, X: Array, V: Array) -> Product:
        # A last column of ones gives the degrees in the same matrix product.
        weighted = np.column_stack([V, np.ones(len(V))])
        weighted *= self.multiplicity_[:, np.newaxis] / self.n_rows_
        product = np.empty((len(X), weighted.shape[1]))
        log_scale = np.zeros(len(X))

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
        everything = self._prepare(X)
        product = np.empty(V.shape)

        def fill(rows: slice) -> None:
            product[rows] = self._weights(everything[rows], everything) @ V

        for_each(fill, row_blocks(len(X), len(X), self.block_elements))
        return product

    def identical_vertices(self, X: Array) -> Indices:
        if self._vertex_at is None:
            self._vertex_at = {row.tobytes(): i for i, row in enumerate(self.rows_)}
        found = [self._vertex_at.get(row.tobytes(), -1) for row in X + 0.0]
        return np.array(found, dtype=np.intp)

    def nearest_vertices(self, X: Array) -> Indices:
        return nearest_rows(X, self.rows_)

    def most_similar_vertices(self, vertices: Indices, among: Indices) -> Indices:
        return among[nearest_rows(self.rows_[vertices], self.rows_[among])]


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
        if not callable(self.function):
            remedy = "pass e.g. sklearn.metrics.pairwise.laplacian_kernel"
            raise invalid("function", "be callable as k(A, B)", repr(self.function), remedy)
        some = rows[:: max(1, len(rows) // 64)]
        weights = self._weights(some, some)
        asymmetry = np.abs(weights - weights.T).max()
        if asymmetry > 1e-8 * weights.max():
            got, remedy = (
                f"values that differ by up to {asymmetry:.3g}",
                "average k(A, B) and k(B, A).T",
            )
            raise invalid("function", "be symmetric: k(a, b) = k(b, a)", got, remedy)

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

    def _underflowed(self, A: Array, weighted: Array) -> tuple[Array, Array]:
        """A row without any weight counts as its nearest training row."""
        return weighted[nearest_rows(A, self.rows_)], np.full(len(A), -np.inf)

    def connection_hint(self) -> str:
        return "Use a kernel that reaches farther."
