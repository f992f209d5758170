"""A graph of few edges."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.threads import for_each
from eigencut.graphs.base import EDGE, RowGraph


class SparseProduct:
    """Multiplies a ``scipy.sparse.csr_array`` with blocks of columns, in threads.

    scipy's product runs in one thread, but it releases the interpreter's lock. Every row of the
    product is one sum in a fixed order, so the result does not depend on the number of threads.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> SparseProduct(csr_array(np.array([[2.0, 1.0], [1.0, 3.0]]))) @ np.eye(2)
    array([[2., 1.],
           [1., 3.]])
    """

    block_entries = 1 << 19  # of the matrix in a block; fewer are not worth a thread

    def __init__(self, matrix: Any) -> None:
        self._n_rows, n_columns = matrix.shape
        n_blocks = max(1, matrix.nnz // self.block_entries)
        bounds = np.linspace(0, self._n_rows, n_blocks + 1).astype(np.intp)
        self._blocks = []
        for start, stop in pairwise(bounds):
            first, last = matrix.indptr[start], matrix.indptr[stop]
            parts = (matrix.data[first:last], matrix.indices[first:last])
            pointers = matrix.indptr[start : stop + 1] - first
            block = csr_array((*parts, pointers), shape=(stop - start, n_columns))
            self._blocks.append((slice(start, stop), block))

    def __matmul__(self, V: NDArray[np.floating]) -> Any:
        V = np.ascontiguousarray(V)
        if len(self._blocks) == 1:
            return self._blocks[0][1] @ V
        product = np.empty((self._n_rows, V.shape[1]), dtype=V.dtype)

        def fill(item: tuple[slice, Any]) -> None:
            rows, block = item
            product[rows] = block @ V

        for_each(fill, self._blocks)
        return product


@dataclass(frozen=True)
class SparseGraph(RowGraph):
    """A graph of few edges: weights as a symmetric ``scipy.sparse.csr_array``."""

    weights: Any

    def matmat(self, V: Array) -> Array:
        return np.asarray(SparseProduct(self.weights) @ (V / self.n_rows))

    def dense(self, vertices: Indices | None = None) -> Array:
        return np.asarray(self.among(vertices).toarray())

    def among(self, vertices: Indices | None) -> Any:
        """The sparse weights among some vertices; among all for None."""
        return self.weights if vertices is None else self.weights[vertices][:, vertices]

    def components(self) -> Indices:
        from scipy.sparse.csgraph import connected_components

        edges = self.weights
        if edges.nnz and edges.data.min() <= EDGE * self.degrees.max():  # else all edges count
            edges, root_degree = edges.tocoo(), np.sqrt(self.degrees)
            threshold = EDGE * root_degree[edges.row] * root_degree[edges.col]
            edges.data = np.where(edges.data > threshold, edges.data, 0.0)
            edges.eliminate_zeros()
        return np.asarray(connected_components(edges, directed=False)[1], dtype=np.intp)


def index_type(n_edges: int) -> type[np.signedinteger[Any]]:
    """Of the numbers in a sparse array: 32 bits halve the memory."""
    return np.int32 if n_edges < 2**31 else np.int64


def edges_to(numbers: Indices, n: int, values: Any = None) -> Any:
    """The matrix from each row to its numbers: with ones, or values in the order of columns."""
    m, k = numbers.shape
    kind = index_type(n * k)
    columns = np.sort(numbers, axis=1).astype(kind).ravel()
    values = np.ones(m * k, dtype=np.int8) if values is None else values.astype(kind)
    starts = np.arange(0, m * k + 1, k, dtype=kind)
    return csr_array((values, columns, starts), shape=(m, n))
