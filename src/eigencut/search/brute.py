"""Nearest neighbours by comparing every query with all points."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from eigencut.runtime.arrays import Array, Indices
from eigencut.runtime.threads import for_each
from eigencut.search.distances import Found
from eigencut.search.float32_candidates import ProductSearch
from eigencut.search.index import BLOCK_ELEMENTS, DIRECT_SHARE, Index
from eigencut.search.local_products import LocalProducts
from eigencut.search.metrics import Space
from eigencut.search.sparse_rows import SparseIndex

Block = tuple[Any, Indices | None]  # queries, as a slice or by number, and cells; None for all

MANY_CANDIDATES = 8  # per neighbour: beyond, float32 is of no use
_LEAST_QUERIES = 32  # of a block; with fewer the points are read from memory too often


class DirectIndex(Index):
    """All distances, one by one."""

    def query(self, queries: Array, k: int) -> Found:
        return self.among_all(queries, k)


class ProductIndex(Index):
    """Candidates by matrix products in float32; their distances directly, in float64."""

    def _build(self) -> None:
        self._search = ProductSearch(self.points)

    @cached_property
    def _hard(self) -> LocalProducts:
        """For queries that float32 cannot tell the points apart for."""
        return LocalProducts(self)

    def query(self, queries: Array, k: int) -> Found:
        if k > self.size // DIRECT_SHARE:
            return self.among_all(queries, k)
        distances = np.empty((len(queries), k))
        numbers = np.empty((len(queries), k), dtype=np.intp)
        told = np.empty(len(queries), dtype=bool)

        def fill(block: Block) -> None:
            rows, cells = block
            told[rows], distances[rows], numbers[rows] = self._nearest(queries[rows], k, cells)

        for_each(fill, self._blocks(queries, k), "blocks of rows searched")
        rest = np.flatnonzero(~told)
        if len(rest):
            distances[rest], numbers[rest] = self._hard.query(queries[rest], k)
        return distances, numbers

    def _blocks(self, queries: Array, k: int) -> list[Block]:
        """Queries to be done together, and the cells to look into."""
        step = self._step(k)
        return [(slice(start, start + step), None) for start in range(0, len(queries), step)]

    def _step(self, k: int, cells: Indices | None = None) -> int:
        """Queries of a block: what it holds is bounded, however many features there are."""
        most = max(_LEAST_QUERIES, BLOCK_ELEMENTS // self.points.shape[1])
        return min(most, self._search.queries_at_a_time(MANY_CANDIDATES * k, cells))

    def _nearest(self, queries: Array, k: int, cells: Indices | None) -> tuple[Any, Array, Indices]:
        """For which queries float32 tells the points apart; and the nearest points of these."""
        candidates, count = self._search.candidates(queries, k, MANY_CANDIDATES * k, cells)
        distances = np.full(candidates.shape, np.inf)
        is_point = candidates < self.size
        origin = np.nonzero(is_point)[0]
        distances[is_point] = self.distances_of_pairs(queries, origin, candidates[is_point])
        # Candidates come by their numbers, and so do those at equal distance.
        order = np.argsort(distances, axis=1, kind="stable")[:, :k]
        nearest = np.take_along_axis(candidates, order, axis=1)
        return count > 0, np.take_along_axis(distances, order, axis=1), nearest


def brute_index(points: Any, space: Space) -> Index:
    """The index that compares every query with all points."""
    if sparse.issparse(points):
        return SparseIndex(points, space)
    return ProductIndex(points, space) if space.metric.is_flat else DirectIndex(points, space)
