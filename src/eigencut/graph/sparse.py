"""A graph of few edges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from eigencut.graph.base import EDGE, RowGraph
from eigencut.graph.sparse_product import SparseProduct
from eigencut.runtime.arrays import Array, Indices


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
