"""Nearest neighbours by comparing every query with all points."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from eigencut.runtime.arrays import Array, Indices
from eigencut.runtime.threads import for_each, openmp_threads
from eigencut.search.distances import Found, in_order
from eigencut.search.float32_candidates import ProductSearch
from eigencut.search.index import DIRECT_SHARE, ROUNDING, Index, RepeatedIndex
from eigencut.search.metrics import Space

Block = tuple[Any, Indices | None]  # queries, as a slice or by number, and cells; None for all

MANY_CANDIDATES = 8  # per neighbour: beyond, float32 is of no use
_EPS = float(np.finfo(np.float64).eps)


class ScanIndex(RepeatedIndex):
    """All distances, as scikit-learn has them; those of the candidates again, directly."""

    in_threads = False  # scikit-learn has its own
    spare = 4

    def __init__(self, points: Any, space: Space) -> None:
        from sklearn.neighbors import NearestNeighbors

        super().__init__(points, space)
        self._all = NearestNeighbors(algorithm="brute", metric=space.metric.name).fit(points)
        self._farthest = float(_norms(points).max())

    def _candidates(self, queries: Any, asked: int) -> Found:
        with openmp_threads():
            numbers = self._all.kneighbors(queries, asked, return_distance=False)
        return in_order(self._distances(queries, numbers), numbers)

    def _is_settled(self, queries: Any, distances: Array, k: int) -> Any:
        # |x|^2 - 2xy + |y|^2 carries this error, for a candidate and for a point that is none.
        error = 2 * (queries.shape[1] + 4) * _EPS * (_norms(queries) + self._farthest) ** 2
        return distances[:, k - 1] ** 2 * (1 + ROUNDING) + 2 * error < distances[:, -1] ** 2


class ProductIndex(Index):
    """Candidates by matrix products in float32; their distances directly, in float64."""

    def __init__(self, points: Array, space: Space) -> None:
        super().__init__(points, space)
        self._search = ProductSearch(points)

    @cached_property
    def _scan(self) -> ScanIndex:
        return ScanIndex(self.points, self.space)

    def query(self, queries: Array, k: int) -> Found:
        if k > self.size // DIRECT_SHARE:
            return self._scan.query(queries, k)
        distances = np.empty((len(queries), k))
        numbers = np.empty((len(queries), k), dtype=np.intp)
        told = np.empty(len(queries), dtype=bool)

        def fill(block: Block) -> None:
            rows, cells = block
            told[rows], distances[rows], numbers[rows] = self._nearest(queries[rows], k, cells)

        for_each(fill, self._blocks(queries, k), "blocks of rows searched")
        rest = np.flatnonzero(~told)
        if len(rest):
            distances[rest], numbers[rest] = self._scan.query(queries[rest], k)
        return distances, numbers

    def _blocks(self, queries: Array, k: int) -> list[Block]:
        """Queries to be done together, and the cells to look into."""
        step = self._search.queries_at_a_time(MANY_CANDIDATES * k)
        return [(slice(start, start + step), None) for start in range(0, len(queries), step)]

    def _nearest(self, queries: Array, k: int, cells: Indices | None) -> tuple[Any, Array, Indices]:
        """For which queries float32 tells the points apart; and the nearest points of these."""
        candidates, count = self._search.candidates(queries, k, MANY_CANDIDATES * k, cells)
        is_point = candidates < self.size
        near = self.points[np.where(is_point, candidates, 0)]
        distances = self.space.between(queries[:, np.newaxis], near)
        distances[~is_point] = np.inf
        # Candidates come by their numbers, and so do those at equal distance.
        order = np.argsort(distances, axis=1, kind="stable")[:, :k]
        nearest = np.take_along_axis(candidates, order, axis=1)
        return count > 0, np.take_along_axis(distances, order, axis=1), nearest


def brute_index(points: Any, space: Space) -> Index:
    """The index that compares every query with all points."""
    is_plain = space.metric.p == 2 and not sparse.issparse(points)
    return ProductIndex(points, space) if is_plain else ScanIndex(points, space)


def _norms(points: Any) -> Array:
    if sparse.issparse(points):
        return np.sqrt(np.asarray(points.multiply(points).sum(axis=1)).ravel())
    return np.sqrt(np.einsum("ij,ij->i", points, points))
