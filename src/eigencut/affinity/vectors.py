"""What all affinities on rows of features share: tiles, blocks, duplicates and places."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from eigencut.affinity.base import Affinity, Product, refuse_without_rows, whole_or_real
from eigencut.affinity.fit_memory import FitSizes, complete_graph_bytes
from eigencut.files.state_reader import StateReader
from eigencut.graph.base import Graph
from eigencut.graph.complete import DenseGraph
from eigencut.graph.tiles import SymmetricTiles
from eigencut.runtime.arrays import Array, Indices
from eigencut.runtime.blocks import row_blocks
from eigencut.runtime.threads import for_each
from eigencut.search.distances import nearest_rows
from eigencut.search.distinct_rows import DistinctRows

_BLOCK_ELEMENTS = 1 << 19  # weights between new and training rows held at a time, per thread
_CHUNK_ROWS = 8192  # new rows prepared at a time
_TINY_DEGREE = 1e-280  # below it the weights have underflowed


class VectorAffinity(Affinity):
    """An affinity computed from rows of features.

    A subclass says what is decided from the data (``_fit_rows``), what is computed once per row
    (``_prepare``; the result supports ``len`` and indexing) and the weights between two sets of
    prepared rows (``_weights``). This class does the rest in bounded memory.
    """

    keeps = "rows"

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
        distinct = DistinctRows.of(X, sample_weight)
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

        for start in range(0, len(X), _CHUNK_ROWS):
            queries = self._prepare(X[start : start + _CHUNK_ROWS])

            def fill(rows: slice, start: int = start, queries: Any = queries) -> None:
                block = self._weights(queries[rows], self._training) @ weighted
                low = np.flatnonzero(block[:, -1] < _TINY_DEGREE)
                if len(low):
                    block[low], log_scale[start + rows.start + low] = self._underflowed(
                        queries[rows][low], weighted
                    )
                product[start + rows.start : start + rows.stop] = block

            for_each(fill, row_blocks(len(queries), len(weighted), _BLOCK_ELEMENTS))
        return Product(product[:, :-1], product[:, -1], log_scale)

    def within(self, X: Array, V: Array) -> Array:
        everything = self._prepare(X)
        product = np.empty(V.shape)

        def fill(rows: slice) -> None:
            product[rows] = self._weights(everything[rows], everything) @ V

        for_each(fill, row_blocks(len(X), len(X), _BLOCK_ELEMENTS))
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
