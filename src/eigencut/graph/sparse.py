"""A graph of few edges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

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
