"""What a search for neighbours is asked, and what all searches share.

Exact searches agree to the last neighbour, on ties too: points at equal distance come in the order
of their numbers. What cannot be told by the fast way of a search is settled by a second way whose
cost is known: no arrangement of points makes it slow.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from eigencut import kernels
from eigencut._utils.arrays import EPS, Array, Indices
from eigencut._utils.running import blocks_of_cost, for_each, row_blocks
from eigencut.kernels.numpy_kernels import LAYOUT, aligned_empty, kth_smallest_bound
from eigencut.neighbors.metrics import (
    METRICS,
    Found,
    Space,
    in_order,
    middle,
    nearest_of,
    nearest_of_pairs,
    with_data,
)

BLOCK_ELEMENTS = 1 << 18  # distances, or coordinates of pairs, held at a time by a thread


class Index:
    """Finds the nearest of the points that it was built on; a copy builds itself again."""

    is_exact = True
    direct_share = 4  # with more than n over this asked for, all distances are as cheap
    same_place = 1e-4  # of the distance to the k-th; nearer than that is a point, but for rounding

    def __init__(self, points: Any, space: Space) -> None:
        self.points = points
        self.space = space
        self.size: int = points.shape[0]
        self._build()

    def _build(self) -> None:
        """Arrange the points for queries."""

    def __getstate__(self) -> dict[str, Any]:
        return {"points": self.points, "space": self.space}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.size = self.points.shape[0]
        self._build()

    def query(self, queries: Any, k: int) -> Found:
        """The k nearest points of each query, or all if there are fewer."""
        return self.among_all(queries, k)

    def query_itself(self, k: int) -> Found:
        """The k nearest of each of the points, itself the first."""
        return self.query(self.points, k)

    def query_rounded(self, queries: Any, k: int) -> tuple[Any, Found]:
        """The same, and the queries; those that are points but for rounding are moved there."""
        distances, numbers = self.query(queries, k)
        nearest, radius = distances[:, 0], distances[:, -1]
        rounded = np.flatnonzero((nearest > 0) & (nearest <= self.same_place * radius))
        if len(rounded) and not sparse.issparse(queries):
            queries = queries.copy()
            queries[rounded] = self.points[numbers[rounded, 0]]
            distances[rounded], numbers[rounded] = self.query(queries[rounded], k)
        return queries, (distances, numbers)

    def among_all(self, queries: Array, k: int) -> Found:
        """The same from all distances, of which there are as many as pairs."""
        k, blocks = min(k, self.size), row_blocks(len(queries), self.size, BLOCK_ELEMENTS)

        def nearest(rows: slice) -> Found:
            return nearest_of(self.space.metric.all_pairs(queries[rows], self.points), k)

        return search_blocks(blocks, k, nearest)

    def distances_of_pairs(self, queries: Any, origin: Indices, numbers: Indices) -> Array:
        """Distances from the queries of origin to the points of these numbers, by differences."""
        found = np.empty(len(origin))
        if sparse.issparse(queries):
            cost = np.diff(queries.indptr)[origin] + np.diff(self.points.indptr)[numbers]
            blocks = blocks_of_cost(cost + 1, BLOCK_ELEMENTS)
        else:
            blocks = list(row_blocks(len(origin), queries.shape[1], BLOCK_ELEMENTS))
        for pairs in blocks:
            near = self.points[numbers[pairs]]
            found[pairs] = self.space.metric.between(queries[origin[pairs]], near)
        return found


def room_for(m: int, k: int) -> Found:
    """Arrays to be filled with the k nearest of m queries."""
    return np.empty((m, k)), np.empty((m, k), dtype=np.intp)


def search_blocks(blocks: Iterable[slice], k: int, nearest: Callable[[slice], Found]) -> Found:
    """The k nearest of all queries, found for one block of them after the other, in threads."""
    blocks = list(blocks)
    distances, numbers = room_for(blocks[-1].stop if blocks else 0, k)

    def fill(rows: slice) -> None:
        distances[rows], numbers[rows] = nearest(rows)

    for_each(fill, blocks, "blocks of rows searched")
    return distances, numbers


def neighbors_together(queries: Any) -> Indices:
    """An order in which consecutive queries are close, so that what they visit is in the cache."""
    if sparse.issparse(queries) or not queries.size:
        return np.arange(queries.shape[0])
    first = queries[:, 0]
    spread = max(float(np.ptp(first)), np.finfo(np.float64).tiny)
    strip = np.floor((first - first.min()) / spread * np.sqrt(len(first) / 8))
    return np.lexsort((queries[:, -1], strip))


class ProductSearch:
    """Candidates for the k nearest of a query, by scores ``|y|^2 - 2xy`` in float32."""

    farthest = 2.0**40  # points beyond are no candidates, and queries near there told nothing

    def __init__(self, points: Array, cell: Indices | None = None, n_cells: int = 1) -> None:
        n, d = points.shape
        order = np.random.default_rng(0).permutation(n)  # with which the kernel is fastest
        cell = np.zeros(n, dtype=np.intp) if cell is None else cell
        order = order[np.argsort(cell[order], kind="stable")]
        self.cell_sizes = np.bincount(cell, minlength=n_cells)
        self._first_strip = np.append(0, np.cumsum(-(-self.cell_sizes // LAYOUT.strip)))
        # Every cell begins a strip of its own; what fills up its last one is infinitely far.
        shift = LAYOUT.strip * self._first_strip[:-1] - np.cumsum(self.cell_sizes) + self.cell_sizes
        place = np.arange(n) + shift[cell[order]]
        n_strips = int(self._first_strip[-1])
        self._number_at = np.full(n_strips * LAYOUT.strip + 1, n, dtype=np.intp)  # n is no point
        self._number_at[place] = order
        self._centre = middle(points)
        length = np.empty(n)
        for rows in row_blocks(n, d, BLOCK_ELEMENTS):
            moved = points[rows] - self._centre
            length[rows] = np.sqrt(np.einsum("ij,ij->i", moved, moved))
        half = float(np.partition(length, n // 2)[n // 2])
        self._exponent = int(np.frexp(half or length.max())[1])
        length = np.ldexp(length, -self._exponent)
        self._half = float(np.ldexp(half, -self._exponent))  # the radius that half of them are in
        self._longest = np.zeros(len(self.cell_sizes))  # of each cell
        np.maximum.at(self._longest, cell, length)
        self._strips = aligned_empty((n_strips, d + 1, LAYOUT.strip))
        self._strips[:, :d], self._strips[:, d] = 0.0, np.inf
        is_near = length[order] <= self.farthest
        self._fill(points, order[is_near], place[is_near])

    def queries_at_a_time(self, most: int, cells: Indices | None = None) -> int:
        """For which what is held stays near the processor."""
        n_points = int(self.cell_sizes[slice(None) if cells is None else cells].sum())
        return kernels.chosen.queries_at_a_time(n_points, most)

    def candidates(
        self, queries: Array, k: int, most: int, cells: Indices | None = None
    ) -> tuple[Indices, Indices]:
        """Numbers of ``k`` to ``most`` candidates, ascending, and how many; 0 if there are more."""
        left = np.ones((len(queries), queries.shape[1] + 1), dtype=np.float32)
        moved = self._in_units(queries)
        length = np.minimum(np.sqrt(np.einsum("ij,ij->i", moved, moved)), self.farthest)
        left[:, :-1] = np.clip(moved, -self.farthest, self.farthest)
        longest = self._longest[slice(None) if cells is None else cells].max()
        if cells is None:  # of which half, and so k of them, are that near
            longest = np.minimum(longest, relevant_length(length, self._half))
        with np.errstate(over="ignore"):  # then nothing is told below
            slack = (2 * score_error(queries.shape[1] + 5, longest, length)).astype(np.float32)
        visits = np.arange(len(self._strips), dtype=np.int32)
        if cells is not None:
            first, n_strips = self._first_strip[cells], np.diff(self._first_strip)[cells]
            shift = first - np.cumsum(n_strips) + n_strips
            visits = (np.arange(n_strips.sum()) + np.repeat(shift, n_strips)).astype(np.int32)
        places, count = kernels.chosen.near_points(left, self._strips, visits, slack, k, most)
        count = np.where(np.maximum(8 * length, longest) <= self.farthest, count, 0)
        is_filled = np.arange(max(k, count.max(initial=0))) < count[:, np.newaxis]
        places = np.where(is_filled, places[:, : is_filled.shape[1]], -1)
        return np.sort(self._number_at[places], axis=1), count.astype(np.intp)

    def _in_units(self, rows: Array) -> Array:
        """Rows around the centre; half of the points are about as long as 1."""
        with np.errstate(over="ignore"):
            return np.asarray(np.ldexp(rows - self._centre, -self._exponent))

    def packed(self, rows: Array, order: Any = slice(None)) -> Any:
        """Rows in float32 for ``near_in_graph``, in an order."""
        n, d = rows.shape
        found = np.zeros((n, d + -d % LAYOUT.coordinates), dtype=np.float32)
        numbers = np.arange(n)[order]
        for some in row_blocks(n, d, BLOCK_ELEMENTS):
            moved = self._in_units(rows[numbers[some]])
            found[some, :d] = np.clip(moved, -self.farthest, self.farthest)
        return found

    def blur(self, packed: Any) -> Array:
        """A distance that is rounded in float32 by less than a hundredth, from packed rows."""
        length = np.sqrt(np.einsum("ij,ij->i", packed, packed, dtype=np.float64))
        return np.ldexp(2.0**-16 * length, self._exponent)

    def _fill(self, points: Array, numbers: Indices, places: Indices) -> None:
        """Enter the factors of points of these numbers at these places."""
        for some in row_blocks(len(numbers), points.shape[1], BLOCK_ELEMENTS):
            moved = self._in_units(points[numbers[some]])
            strip, lane = np.divmod(places[some], LAYOUT.strip)
            self._strips[strip, :-1, lane] = -2 * moved
            self._strips[strip, -1, lane] = np.einsum("ij,ij->i", moved, moved)


def relevant_length(length: Array, radius: float) -> Array:
    """How long one of the k nearest can be, as ``|y|^2 - 2xy <= (|x| + radius)^2 - |x|^2``."""
    return 4 * length + 2 * radius


def score_error(n_terms: int, longest: Any, length: Array, eps: float = 2.0**-23) -> Array:
    """Bound on the error of scores ``|y|^2 - 2xy`` with |y| up to longest, |x| = length."""
    return n_terms * eps * longest * (2 * length + longest)


class SparseIndex(Index):
    """Points in sparse rows: candidates by products in float64, and their distances directly."""

    few, many = 2, 64  # candidates per neighbour

    def _build(self) -> None:
        self._columns = self.points.T.tocsr()
        self.squares = row_squares(self.points)
        self._most_terms = int(np.diff(self.points.indptr).max(initial=0))

    def query(self, queries: Any, k: int) -> Found:
        k = min(k, self.size)
        radius = math.sqrt(np.partition(self.squares, k - 1)[k - 1])
        blocks = row_blocks(queries.shape[0], self.size, BLOCK_ELEMENTS)
        return search_blocks(blocks, k, lambda rows: self._nearest(queries[rows], k, radius))

    def scores(self, queries: Any) -> Array:
        """``|y|^2 - 2xy`` of all points y."""
        scores = np.asarray((queries @ self._columns).toarray())
        scores *= -2
        scores += self.squares
        return scores

    def _nearest(self, queries: Any, k: int, radius: float) -> Found:
        scores = self.scores(queries)
        length = np.sqrt(row_squares(queries))
        # Of a point that can be among the k nearest.
        error = score_error(self._most_terms + 8, relevant_length(length, radius), length, EPS)
        limit = np.partition(scores, k - 1, axis=1)[:, k - 1] + 2 * error
        count = np.count_nonzero(scores <= limit[:, np.newaxis], axis=1)
        distances, numbers = room_for(len(scores), k)
        widths = np.where(count <= self.few * k, self.few * k, self.many * k)
        for width in np.unique(widths):
            some = np.flatnonzero(widths == width)
            candidates = nearest_of(scores[some], min(int(width), self.size))[1]
            origin = np.repeat(some, candidates.shape[1])
            found = self.distances_of_pairs(queries, origin, candidates.ravel())
            found, candidates = in_order(found.reshape(candidates.shape), candidates)
            distances[some], numbers[some] = found[:, :k], candidates[:, :k]
        return distances, numbers


def row_squares(rows: Any) -> Array:
    """|x|^2 of each row."""
    return np.asarray(with_data(rows, rows.data * rows.data).sum(axis=1)).ravel()


class LocalProducts:
    """Nearest points by float64 products around places near the queries, where float32 fails."""

    def __init__(self, index: Index) -> None:
        self._index = index
        # The finest grid on which factors of twice the difference of two points, and the sum of
        # d + 1 of them, are below 2^53.
        self._bits = (53 - 4 - math.ceil(math.log2(index.points.shape[1] + 1))) // 2
        self._shift = self._bits - math.frexp(_largest(index.points))[1]
        self._on_grid = self._are_on_grid(index.points)

    def _are_on_grid(self, points: Array) -> bool:
        """Whether points are multiples of a power of two, so that products are exact."""
        for rows in row_blocks(len(points), points.shape[1], BLOCK_ELEMENTS):
            scaled = np.ldexp(points[rows], self._shift)
            if (scaled != np.rint(scaled)).any() or _largest(scaled) > 2.0**self._bits:
                return False
        return True

    def query(self, queries: Array, k: int) -> Found:
        are_exact = self._on_grid and self._are_on_grid(queries)
        distances, numbers = room_for(len(queries), k)
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
            origin = np.repeat(np.arange(len(queries)), self._k)
            found = self._index.distances_of_pairs(queries, origin, numbers.ravel())
            return found.reshape(numbers.shape), numbers
        length = np.sqrt(np.einsum("ij,ij->i", moved, moved))
        longest = relevant_length(length, self._radius)
        # d + 1 products, and the rounding of both factors when they were moved.
        error = score_error(moved.shape[1] + 12, longest, length, EPS)
        limit = kth_smallest_bound(scores, self._k) + 2 * error
        is_near = scores <= limit[:, np.newaxis]
        if np.count_nonzero(is_near) > scores.size // Index.direct_share:
            metric = self._index.space.metric
            return nearest_of(metric.all_pairs(queries, self._index.points), self._k)
        origin, near = np.nonzero(is_near)
        distances = self._index.distances_of_pairs(queries, origin, near)
        return nearest_of_pairs(origin, near, distances, len(queries), self._k)


def _groups(queries: Array) -> list[tuple[Array, Indices]]:
    """Places among the queries, and which of the queries are nearest to each."""
    n_places = int(np.clip(len(queries) // 64, 1, 64))
    places = queries[np.random.default_rng(0).permutation(len(queries))[:n_places]]
    nearest = METRICS["euclidean"].nearest(queries, places)
    return [(places[i], np.flatnonzero(nearest == i)) for i in np.unique(nearest)]


def _largest(points: Array) -> float:
    return max(float(points.max(initial=0.0)), -float(points.min(initial=0.0)))


Block = tuple[Any, Indices | None]  # queries, as a slice or by number, and cells; None for all


class ProductIndex(Index):
    """Candidates by matrix products in float32; their distances directly, in float64."""

    candidates = 8  # per neighbour: beyond, float32 is of no use
    least_queries = 32  # of a block; with fewer the points are read from memory too often

    def _build(self) -> None:
        self._search = ProductSearch(self.points)

    @cached_property
    def _hard(self) -> LocalProducts:
        """For queries that float32 cannot tell the points apart for."""
        return LocalProducts(self)

    def query(self, queries: Array, k: int) -> Found:
        if k > self.size // self.direct_share:
            return self.among_all(queries, k)
        distances, numbers = room_for(len(queries), k)
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
        most = max(self.least_queries, BLOCK_ELEMENTS // self.points.shape[1])
        return min(most, self._search.queries_at_a_time(self.candidates * k, cells))

    def _nearest(self, queries: Array, k: int, cells: Indices | None) -> tuple[Any, Array, Indices]:
        """For which queries float32 tells the points apart; and the nearest points of these."""
        candidates, count = self._search.candidates(queries, k, self.candidates * k, cells)
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
    return ProductIndex(points, space) if space.metric.is_flat else Index(points, space)


class TreeIndex(Index):
    """A k-d tree; where the k-th is not alone, it is asked for all that are as near."""

    rounding = 1e-12  # relative; more than the error of a distance from direct differences

    def _build(self) -> None:
        from scipy.spatial import cKDTree

        self._tree, self._p = cKDTree(self.points, leafsize=8), self.space.metric.p

    def query(self, queries: Array, k: int) -> Found:
        k = min(k, self.size)
        if self._is_many(k + 1) or self._is_of_no_use(queries, k):
            return self.among_all(queries, k)
        distances, numbers = self._candidates(queries, np.full(len(queries), k + 1), k + 1)
        limit = distances[:, k - 1] * (1 + self.rounding)
        tied = np.flatnonzero(distances[:, k] <= limit)
        distances, numbers = distances[:, :k].copy(), numbers[:, :k].copy()
        if len(tied):
            distances[tied], numbers[tied] = self._within(queries[tied], limit[tied], k)
        return distances, numbers

    def _is_of_no_use(self, queries: Array, k: int) -> bool:
        """Whether a part of all points is as near as the k-th, as 32 of many queries show."""
        some = queries[:: -(-len(queries) // 32)] if len(queries) > 1024 else ()
        if not len(some):
            return False
        radius = self._tree.query(some, [k], p=self._p)[0][:, 0] * (1 + self.rounding)
        count = self._tree.query_ball_point(some, radius, self._p, return_length=True)
        return bool(np.mean(count) > max(2 * k, self.size / 64))

    def _is_many(self, asked: int) -> bool:
        return asked > self.size // self.direct_share

    def _within(self, queries: Array, radius: Array, k: int) -> Found:
        """The k nearest of queries that have more points than these within a radius."""
        count = np.empty(len(queries), dtype=np.intp)

        def fill(rows: slice) -> None:
            count[rows] = self._tree.query_ball_point(
                queries[rows], radius[rows], self._p, return_length=True
            )

        for_each(fill, row_blocks(len(queries), 1, 1024))
        # In a block as many are asked for as the query needs that needs most: up to twice as many.
        step = np.maximum(1, np.ceil(np.log2(np.maximum(count, k + 1)))).astype(np.intp)
        distances, numbers = room_for(len(queries), k)
        for power in np.unique(step):
            rows = np.flatnonzero(step == power)
            if self._is_many(1 << power):
                found = self.among_all(queries[rows], k)
            else:
                found = self._candidates(queries[rows], count[rows], k)
            distances[rows], numbers[rows] = found
        return distances, numbers

    def _candidates(self, queries: Array, count: Any, k: int) -> Found:
        """The k nearest as far as rounding tells, by (distance, number), of at least ``count``."""

        def nearest(block: slice) -> Found:
            asked = max(int(count[block].max()), k)
            found = self._tree.query(queries[block], np.arange(1, asked + 1), p=self._p)
            ties = np.flatnonzero((found[0][:, 1:] == found[0][:, :-1]).any(axis=1))
            found[0][ties], found[1][ties] = in_order(found[0][ties], found[1][ties])
            return found[0][:, :k], found[1][:, :k]

        # While one neighbour is looked for, eight numbers are held.
        blocks = blocks_of_cost(8 * np.maximum(count, k), 4 * BLOCK_ELEMENTS)
        return search_blocks(blocks, k, nearest)
