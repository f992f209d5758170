"""Nearest neighbours by comparing every query with all points."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from eigencut._utils.arrays import Array, Indices, row_blocks
from eigencut._utils.threads import for_each
from eigencut.kernels.numpy_kernels import kth_smallest_bound
from eigencut.neighbors.distances import Found, nearest_of, nearest_of_pairs
from eigencut.neighbors.float32_candidates import ProductSearch, relevant_length
from eigencut.neighbors.index import BLOCK_ELEMENTS, DIRECT_SHARE, Index
from eigencut.neighbors.metrics import Space
from eigencut.neighbors.sparse_rows import SparseIndex

# Nearest points by products in float64, around the queries themselves.
#
# For queries that float32 cannot tell the points apart for: points that lie in clumps far from
# each other, or at equal distances. Queries near each other are done together, and everything is
# moved there: the score ``|y|^2 - 2xy`` then has an error that depends on the size of their
# neighbourhood, not on that of the whole (``relevant_length``). The points whose scores leave it
# open are compared directly; so the nearest are those of direct differences, ties included.

_PLACES = 64  # that queries are moved to, at most
_QUERIES_PER_PLACE = 64  # at least
_EPS = float(np.finfo(np.float64).eps)
_MANTISSA_BITS = 53


class LocalProducts:
    """The k nearest points of queries that are hard to tell.

    Parameters
    ----------
    index : Index
        Of dense points in a Euclidean space.
    """

    def __init__(self, index: Index) -> None:
        self._index = index
        self._grid = ExactGrid.of(index.points)
        self._on_grid = self._grid.holds(index.points)

    def query(self, queries: Array, k: int) -> Found:
        are_exact = self._on_grid and self._grid.holds(queries)
        distances = np.empty((len(queries), k))
        numbers = np.empty((len(queries), k), dtype=np.intp)
        for place, rows in _groups(queries):
            around = _Around(self._index, place, k, are_exact)

            def fill(block: slice, rows: Indices = rows, around: _Around = around) -> None:
                some = rows[block]
                distances[some], numbers[some] = around.nearest(queries[some])

            blocks = row_blocks(len(rows), self._index.size, BLOCK_ELEMENTS)
            for_each(fill, blocks, "blocks of rows searched")
        return distances, numbers


class _Around:
    """All points, as seen from one place."""

    def __init__(self, index: Index, place: Array, k: int, are_exact: bool) -> None:
        self._index, self._place, self._k, self._are_exact = index, place, k, are_exact
        self._points = index.points - place
        self._squares = np.einsum("ij,ij->i", self._points, self._points)
        self._radius = math.sqrt(np.partition(self._squares, k - 1)[k - 1])

    def nearest(self, queries: Array) -> Found:
        moved = queries - self._place
        scores = (-2 * moved) @ self._points.T
        scores += self._squares
        if self._are_exact:
            numbers = nearest_of(scores, self._k)[1]
            return self._distances(queries, numbers), numbers
        limit = kth_smallest_bound(scores, self._k) + 2 * self._error(moved)
        is_near = scores <= limit[:, np.newaxis]
        if np.count_nonzero(is_near) > scores.size // DIRECT_SHARE:
            return nearest_of(self._index.space.all_pairs(queries, self._index.points), self._k)
        origin, near = np.nonzero(is_near)
        distances = self._index.distances_of_pairs(queries, origin, near)
        return nearest_of_pairs(origin, near, distances, len(queries), self._k)

    def _error(self, moved: Array) -> Array:
        """Bound on the error of a score of a point that can be among the k nearest."""
        length = np.sqrt(np.einsum("ij,ij->i", moved, moved))
        longest = relevant_length(length, self._radius)
        # d + 1 products, and the rounding of both factors when they were moved.
        return (moved.shape[1] + 12) * _EPS * longest * (2 * length + longest)

    def _distances(self, queries: Array, numbers: Indices) -> Array:
        origin = np.repeat(np.arange(len(queries)), self._k)
        found = self._index.distances_of_pairs(queries, origin, numbers.ravel())
        return found.reshape(numbers.shape)


def _groups(queries: Array) -> list[tuple[Array, Indices]]:
    """Places among the queries, and which of the queries are nearest to each."""
    from scipy.spatial.distance import cdist

    n_places = int(np.clip(len(queries) // _QUERIES_PER_PLACE, 1, _PLACES))
    chosen = np.random.default_rng(0).permutation(len(queries))[:n_places]
    places, nearest = queries[chosen], np.empty(len(queries), dtype=np.intp)
    for rows in row_blocks(len(queries), n_places, BLOCK_ELEMENTS):
        nearest[rows] = np.argmin(cdist(queries[rows], places), axis=1)
    return [(places[i], np.flatnonzero(nearest == i)) for i in np.unique(nearest)]


@dataclass(frozen=True)
class ExactGrid:
    """Multiples of a power of two, so small that products of differences have no rounding error.

    On it are counts, flags and levels of grey, in any unit: points among which ties are common.

    Examples
    --------
    >>> grid = ExactGrid.of(np.array([[0.0, 3.0], [255.0, 1.0]]))
    >>> grid.holds(np.array([[7.0, 0.5]])), grid.holds(np.array([[1 / 3, 0.0]]))
    (True, False)
    """

    shift: int
    most: float

    @classmethod
    def of(cls, points: Array) -> ExactGrid:
        """The finest one as large as the points."""
        # Factors of twice the difference of two points, and the sum of d + 1 of them, below 2^53.
        bits = (_MANTISSA_BITS - 4 - math.ceil(math.log2(points.shape[1] + 1))) // 2
        return cls(bits - math.frexp(_largest(points))[1], math.ldexp(1.0, bits))

    def holds(self, points: Array) -> bool:
        """Whether all points are on it."""
        for rows in row_blocks(len(points), points.shape[1], BLOCK_ELEMENTS):
            scaled = np.ldexp(points[rows], self.shift)
            if (scaled != np.rint(scaled)).any() or _largest(scaled) > self.most:
                return False
        return True


def _largest(points: Array) -> float:
    return max(float(points.max(initial=0.0)), -float(points.min(initial=0.0)))


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
