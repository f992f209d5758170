"""Searches for nearest points: brute force, k-d trees, cells (approximate); landmarks, k-means.

All exact searches return the same neighbours, and equally near points in order of their numbers.
A fast search passes the queries that it cannot decide to a slower one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np
from scipy import sparse

from eigencut import kernels
from eigencut._utils.arrays import EPS, Array, Indices
from eigencut._utils.running import blocks_of_cost, counted, for_each, row_blocks
from eigencut.kernels.numpy_kernels import LAYOUT, Grid, aligned_empty, kth_smallest_bound
from eigencut.neighbors.metrics import (
    METRICS,
    DistinctRows,
    Found,
    Metric,
    Space,
    in_order,
    middle,
    nearest_of,
    nearest_of_pairs,
    with_data,
)

BLOCK_ELEMENTS = 1 << 18  # distances, or coordinates of pairs, per block of a thread
_CACHED_ENTRIES = 1 << 19  # of a matrix of distances that fits in the cache of a core


@dataclass(frozen=True)
class Policy:
    """Which search is used when; see ``benchmarks/studies/neighbors.md``."""

    few_points: int = 64  # Up to this many points, direct differences are as fast as any search.
    landmark_tree_features: int = 4  # Up to this many features, a tree is faster than a product.
    cell_features: int = 2  # With more features, a grid has too many cells and candidates.
    many_rows: int = 1 << 19  # A grid pays from this many queries on,
    rows_per_point: int = 512  # and this many queries per point.
    tree_features: int = 8  # Up to this many features, a tree is faster than brute force.
    brute_products: float = 3.2e10  # Up to this n^2 d, "auto" prefers brute force to cells.


POLICY = Policy()


class Index:
    """Finds the nearest of its points: here from all distances, in subclasses faster."""

    is_exact = True
    direct_share = 4  # if k > n / direct_share, computing all distances is as cheap
    same_place = 1e-4  # of the k-th distance: a query this near to a point is the point, rounded

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
        """Return the k nearest points of each query, or all points if there are fewer."""
        return self.among_all(queries, k)

    def query_itself(self, k: int) -> Found:
        """Return the k nearest points of each point, itself the first."""
        return self.query(self.points, k)

    def query_rounded(self, queries: Any, k: int) -> tuple[Any, Found]:
        """Return queries, moved to the point they equal up to rounding, and their nearest."""
        distances, numbers = self.query(queries, k)
        nearest, radius = distances[:, 0], distances[:, -1]
        rounded = np.flatnonzero((nearest > 0) & (nearest <= self.same_place * radius))
        if len(rounded) and not sparse.issparse(queries):
            queries = queries.copy()
            queries[rounded] = self.points[numbers[rounded, 0]]
            distances[rounded], numbers[rounded] = self.query(queries[rounded], k)
        return queries, (distances, numbers)

    def among_all(self, queries: Array, k: int) -> Found:
        """Return the k nearest points of each query, from the distances of all pairs."""
        k, blocks = min(k, self.size), row_blocks(len(queries), self.size, BLOCK_ELEMENTS)

        def nearest(rows: slice) -> Found:
            return nearest_of(self.space.metric.all_pairs(queries[rows], self.points), k)

        return search_blocks(blocks, k, nearest)

    def distances_of_pairs(self, queries: Any, origin: Indices, numbers: Indices) -> Array:
        """Return the distance from query ``origin[i]`` to point ``numbers[i]`` for every i."""
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
    """Return empty arrays for the distances and numbers of the k nearest of m queries."""
    return np.empty((m, k)), np.empty((m, k), dtype=np.intp)


def search_blocks(blocks: Iterable[slice], k: int, nearest: Callable[[slice], Found]) -> Found:
    """Collect the k nearest of all queries from ``nearest`` of blocks of queries, in threads."""
    blocks = list(blocks)
    distances, numbers = room_for(blocks[-1].stop if blocks else 0, k)

    def fill(rows: slice) -> None:
        distances[rows], numbers[rows] = nearest(rows)

    for_each(fill, blocks, "blocks of rows searched")
    return distances, numbers


def neighbors_together(queries: Any) -> Indices:
    """Return an order of queries that has close ones together, so that searches use the cache."""
    if sparse.issparse(queries) or not queries.size:
        return np.arange(queries.shape[0])
    first = queries[:, 0]
    spread = max(float(np.ptp(first)), np.finfo(np.float64).tiny)
    strip = np.floor((first - first.min()) / spread * np.sqrt(len(first) / 8))
    return np.lexsort((queries[:, -1], strip))


class ProductSearch:
    """Finds candidates for the k nearest points y of a query x, by ``|y|^2 - 2xy`` in float32."""

    farthest = 2.0**40  # points beyond are left out, and queries near there are not decided

    def __init__(self, points: Array, cell: Indices | None = None, n_cells: int = 1) -> None:
        n, d = points.shape
        order = np.random.default_rng(0).permutation(n)  # the kernel is fastest with a random order
        cell = np.zeros(n, dtype=np.intp) if cell is None else cell
        order = order[np.argsort(cell[order], kind="stable")]
        self.cell_sizes = np.bincount(cell, minlength=n_cells)
        self._first_strip = np.append(0, np.cumsum(-(-self.cell_sizes // LAYOUT.strip)))
        # Every cell begins a new strip; its last strip is filled up with points at infinity.
        shift = LAYOUT.strip * self._first_strip[:-1] - np.cumsum(self.cell_sizes) + self.cell_sizes
        place = np.arange(n) + shift[cell[order]]
        n_strips = int(self._first_strip[-1])
        self._number_at = np.full(n_strips * LAYOUT.strip + 1, n, dtype=np.intp)  # n: filled up
        self._number_at[place] = order
        self._centre = middle(points)
        length = np.empty(n)
        for rows in row_blocks(n, d, BLOCK_ELEMENTS):
            moved = points[rows] - self._centre
            length[rows] = np.sqrt(np.einsum("ij,ij->i", moved, moved))
        half = float(np.partition(length, n // 2)[n // 2])
        self._exponent = int(np.frexp(half or length.max())[1])
        length = np.ldexp(length, -self._exponent)
        self._half = float(np.ldexp(half, -self._exponent))  # half of the points are shorter
        self._longest = np.zeros(len(self.cell_sizes))  # length in each cell
        np.maximum.at(self._longest, cell, length)
        self._strips = aligned_empty((n_strips, d + 1, LAYOUT.strip))
        self._strips[:, :d], self._strips[:, d] = 0.0, np.inf
        near = np.flatnonzero(length[order] <= self.farthest)
        for some in row_blocks(len(near), d, BLOCK_ELEMENTS):
            moved = self._in_units(points[order[near[some]]])
            strip, lane = np.divmod(place[near[some]], LAYOUT.strip)
            self._strips[strip, :-1, lane] = -2 * moved
            self._strips[strip, -1, lane] = np.einsum("ij,ij->i", moved, moved)

    def queries_at_a_time(self, most: int, cells: Indices | None = None) -> int:
        """Return the number of queries per block whose scores fit in the cache."""
        n_points = int(self.cell_sizes[slice(None) if cells is None else cells].sum())
        return kernels.chosen.queries_at_a_time(n_points, most)

    def candidates(
        self, queries: Array, k: int, most: int, cells: Indices | None = None
    ) -> tuple[Indices, Indices]:
        """Return ``k`` to ``most`` candidates per query, ascending, and how many; 0: undecided."""
        left = np.ones((len(queries), queries.shape[1] + 1), dtype=np.float32)
        moved = self._in_units(queries)
        length = np.minimum(np.sqrt(np.einsum("ij,ij->i", moved, moved)), self.farthest)
        left[:, :-1] = np.clip(moved, -self.farthest, self.farthest)
        longest = self._longest[slice(None) if cells is None else cells].max()
        if cells is None:  # then half of the points, and so at least k, are this short
            longest = np.minimum(longest, relevant_length(length, self._half))
        with np.errstate(over="ignore"):  # such queries are not decided below
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
        """Subtract the centre, and divide by a unit in which half of the points are below 1."""
        with np.errstate(over="ignore"):
            return np.asarray(np.ldexp(rows - self._centre, -self._exponent))

    def packed(self, rows: Array, order: Any = slice(None)) -> Any:
        """Convert rows, in this order, to float32 for the kernel ``near_in_graph``."""
        n, d = rows.shape
        found = np.zeros((n, d + -d % LAYOUT.coordinates), dtype=np.float32)
        numbers = np.arange(n)[order]
        for some in row_blocks(n, d, BLOCK_ELEMENTS):
            moved = self._in_units(rows[numbers[some]])
            found[some, :d] = np.clip(moved, -self.farthest, self.farthest)
        return found

    def blur(self, packed: Any) -> Array:
        """Return the distance from each packed row above which float32 errs by less than 1 %."""
        length = np.sqrt(np.einsum("ij,ij->i", packed, packed, dtype=np.float64))
        return np.ldexp(2.0**-16 * length, self._exponent)


def relevant_length(length: Array, radius: float) -> Array:
    """Return a bound of |y| for the k nearest of x (|x| = length) if k points are <= radius."""
    return 4 * length + 2 * radius


def score_error(n_terms: int, longest: Any, length: Array, eps: float = 2.0**-23) -> Array:
    """Return a bound of the error of ``|y|^2 - 2xy`` for |y| up to longest, and |x| = length."""
    return n_terms * eps * longest * (2 * length + longest)


class SparseIndex(Index):
    """Index of sparse points: products in float64 give candidates, differences their distances."""

    few, many = 2, 64  # candidates per neighbour, for clear and for unclear queries

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
        """Return ``|y|^2 - 2xy`` for all queries x and points y."""
        scores = np.asarray((queries @ self._columns).toarray())
        scores *= -2
        scores += self.squares
        return scores

    def _nearest(self, queries: Any, k: int, radius: float) -> Found:
        scores = self.scores(queries)
        length = np.sqrt(row_squares(queries))
        # For points short enough to be among the k nearest.
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
    """Return |x|^2 of each sparse row."""
    return np.asarray(with_data(rows, rows.data * rows.data).sum(axis=1)).ravel()


class LocalProducts:
    """Finds nearest points by float64 products relative to places near the queries."""

    def __init__(self, index: Index) -> None:
        self._index = index
        # The most bits per coordinate for which sums of d + 1 products of doubled differences stay
        # below 2^53, and so are exact.
        self._bits = (53 - 4 - math.ceil(math.log2(index.points.shape[1] + 1))) // 2
        self._shift = self._bits - math.frexp(_largest(index.points))[1]
        self._on_grid = self._are_on_grid(index.points)

    def _are_on_grid(self, points: Array) -> bool:
        """Return whether coordinates have few enough bits for products to be exact."""
        for rows in row_blocks(len(points), points.shape[1], BLOCK_ELEMENTS):
            scaled = np.ldexp(points[rows], self._shift)
            if (scaled != np.rint(scaled)).any() or _largest(scaled) > 2.0**self._bits:
                return False
        return True

    def query(self, queries: Array, k: int) -> Found:
        are_exact = self._on_grid and self._are_on_grid(queries)
        distances, numbers = room_for(len(queries), k)
        n_places = int(np.clip(len(queries) // 64, 1, 64))
        places = queries[np.random.default_rng(0).permutation(len(queries))[:n_places]]
        nearest = METRICS["euclidean"].nearest(queries, places)
        for i in np.unique(nearest):
            rows = np.flatnonzero(nearest == i)
            around = _Around(self._index, places[i], k, are_exact)

            def fill(block: slice, rows: Indices = rows, around: _Around = around) -> None:
                some = rows[block]
                distances[some], numbers[some] = around.nearest(queries[some])

            blocks = row_blocks(len(rows), self._index.size, BLOCK_ELEMENTS)
            for_each(fill, blocks, "blocks of rows searched")
        return distances, numbers


class _Around:
    """All points relative to one place; products with queries near there lose few digits."""

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
        # Rounding of d + 1 products, and of both factors when the place was subtracted.
        error = score_error(moved.shape[1] + 12, longest, length, EPS)
        limit = kth_smallest_bound(scores, self._k) + 2 * error
        is_near = scores <= limit[:, np.newaxis]
        if np.count_nonzero(is_near) > scores.size // Index.direct_share:
            metric = self._index.space.metric
            return nearest_of(metric.all_pairs(queries, self._index.points), self._k)
        origin, near = np.nonzero(is_near)
        distances = self._index.distances_of_pairs(queries, origin, near)
        return nearest_of_pairs(origin, near, distances, len(queries), self._k)


def _largest(points: Array) -> float:
    return max(float(points.max(initial=0.0)), -float(points.min(initial=0.0)))


Block = tuple[Any, Indices | None]  # queries (a slice or numbers), and cells to search (None: all)


class ProductIndex(Index):
    """Index by brute force: products in float32 give candidates, float64 their distances."""

    candidates = 8  # per neighbour; a query with more is not decided
    least_queries = 32  # per block; with fewer, the points are read from memory too often

    def _build(self) -> None:
        self._search = ProductSearch(self.points)

    @cached_property
    def _hard(self) -> LocalProducts:
        """The search for queries whose nearest points float32 cannot decide."""
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
        """Return blocks of queries, and the cells to search for each block."""
        step = self._step(k)
        return [(slice(start, start + step), None) for start in range(0, len(queries), step)]

    def _step(self, k: int, cells: Indices | None = None) -> int:
        """Return the number of queries per block that keeps its memory bounded."""
        most = max(self.least_queries, BLOCK_ELEMENTS // self.points.shape[1])
        return min(most, self._search.queries_at_a_time(self.candidates * k, cells))

    def _nearest(self, queries: Array, k: int, cells: Indices | None) -> tuple[Any, Array, Indices]:
        """Return whether float32 decides each query, and distances and numbers of its nearest."""
        candidates, count = self._search.candidates(queries, k, self.candidates * k, cells)
        distances = np.full(candidates.shape, np.inf)
        is_point = candidates < self.size
        origin = np.nonzero(is_point)[0]
        distances[is_point] = self.distances_of_pairs(queries, origin, candidates[is_point])
        # Candidates are in order of their numbers, which a stable sort keeps at equal distances.
        order = np.argsort(distances, axis=1, kind="stable")[:, :k]
        nearest = np.take_along_axis(candidates, order, axis=1)
        return count > 0, np.take_along_axis(distances, order, axis=1), nearest


def brute_index(points: Any, space: Space) -> Index:
    """Build the index that compares every query with all points."""
    if sparse.issparse(points):
        return SparseIndex(points, space)
    return ProductIndex(points, space) if space.metric.is_flat else Index(points, space)


class TreeIndex(Index):
    """Index by a k-d tree, which is asked again for all points at the k-th distance."""

    rounding = 1e-12  # relative; more than the rounding error of a distance

    def _build(self) -> None:
        from scipy.spatial import cKDTree

        self._tree, self._p = cKDTree(self.points, leafsize=8), self.space.metric.p

    def query(self, queries: Array, k: int) -> Found:
        k = min(k, self.size)
        if k + 1 > self.size // self.direct_share or self._is_of_no_use(queries, k):
            return self.among_all(queries, k)
        distances, numbers = self._candidates(queries, np.full(len(queries), k + 1), k + 1)
        limit = distances[:, k - 1] * (1 + self.rounding)
        tied = np.flatnonzero(distances[:, k] <= limit)
        distances, numbers = distances[:, :k].copy(), numbers[:, :k].copy()
        if len(tied):
            distances[tied], numbers[tied] = self._within(queries[tied], limit[tied], k)
        return distances, numbers

    def _is_of_no_use(self, queries: Array, k: int) -> bool:
        """Return whether too many points are as near as the k-th, for a sample of 32 queries."""
        some = queries[:: -(-len(queries) // 32)] if len(queries) > 1024 else ()
        if not len(some):
            return False
        radius = self._tree.query(some, [k], p=self._p)[0][:, 0] * (1 + self.rounding)
        count = self._tree.query_ball_point(some, radius, self._p, return_length=True)
        return bool(np.mean(count) > max(2 * k, self.size / 64))

    def _within(self, queries: Array, radius: Array, k: int) -> Found:
        """Return the k nearest of queries that have more than k points within their radius."""
        count = np.empty(len(queries), dtype=np.intp)

        def fill(rows: slice) -> None:
            count[rows] = self._tree.query_ball_point(
                queries[rows], radius[rows], self._p, return_length=True
            )

        for_each(fill, row_blocks(len(queries), 1, 1024))
        # A block asks for as many points as its largest query: less than twice what each one needs.
        step = np.maximum(1, np.ceil(np.log2(np.maximum(count, k + 1)))).astype(np.intp)
        distances, numbers = room_for(len(queries), k)
        for power in np.unique(step):
            rows = np.flatnonzero(step == power)
            if 1 << power > self.size // self.direct_share:
                found = self.among_all(queries[rows], k)
            else:
                found = self._candidates(queries[rows], count[rows], k)
            distances[rows], numbers[rows] = found
        return distances, numbers

    def _candidates(self, queries: Array, count: Any, k: int) -> Found:
        """Return the first k of at least ``count`` nearest points, by (distance, number)."""

        def nearest(block: slice) -> Found:
            asked = max(int(count[block].max()), k)
            found = self._tree.query(queries[block], np.arange(1, asked + 1), p=self._p)
            ties = np.flatnonzero((found[0][:, 1:] == found[0][:, :-1]).any(axis=1))
            found[0][ties], found[1][ties] = in_order(found[0][ties], found[1][ties])
            return found[0][:, :k], found[1][:, :k]

        # The tree holds eight numbers per neighbour.
        blocks = blocks_of_cost(8 * np.maximum(count, k), 4 * BLOCK_ELEMENTS)
        return search_blocks(blocks, k, nearest)


class Cells:
    """Finds the nearest points of very many rows in the plane, by a grid with candidates per cell.

    With D_r(c) the distance from the centre c of a cell to its r-th nearest point, and h half its
    diagonal, candidates are within ``D_r(c) + 2 h`` of c. If they are too many, a tree searches.
    """

    def __init__(self, points: Array, n_nearest: int, tree: Any) -> None:
        self._n_nearest, self._tree = n_nearest, tree
        low = points.min(axis=0)
        extent = points.max(axis=0) - low
        extent = np.where(extent > 1e-6 * extent.max(), extent, extent.max())  # points on a line
        n_features = len(extent)
        side = float(np.prod((extent / len(points) ** (1 / n_features)) ** (1 / n_features)))
        side /= 64 ** (1 / n_features)  # 64 cells per point
        shape = np.ceil(extent / side).astype(np.intp)
        found = self._candidates(low, shape, extent / shape)
        self._grid = Grid(low, shape / extent, shape, *found, points)

    def _candidates(self, low: Array, shape: Indices, side: Array) -> tuple[Any, Any]:
        """Return the candidates of every cell, ascending, and whether the list is complete."""
        axes = [np.arange(n) + 0.5 for n in shape]
        centres = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(side))
        distances, found = self._tree.query(low + centres * side, LAYOUT.candidates + 1)
        reach = distances[:, self._n_nearest - 1] + np.linalg.norm(side) * (1 + 1e-9)
        return np.sort(found[:, :-1], axis=1).astype(np.int32), distances[:, -1] > reach

    def __call__(self, X: Array) -> Indices:
        found, told = kernels.chosen.near_in_cells(X, self._grid, self._n_nearest)
        others = np.flatnonzero(~told)
        if len(others):
            _, nearest = self._tree.query(X[others], self._n_nearest)
            found[others] = np.sort(np.reshape(nearest, (len(others), self._n_nearest)), axis=1)
        return found


class SparseLandmarks:
    """Finds the ``n_nearest`` sparse points by products, or by differences if digits cancel."""

    def __init__(self, points: Any, n_nearest: int, space: Space) -> None:
        self._index, self._n_nearest = SparseIndex(points, space), n_nearest
        self._longest = float(np.sqrt(self._index.squares.max()))

    def __call__(self, X: Any) -> tuple[Indices, Array]:
        """Return numbers of the nearest points, ascending, and squared distances to them."""
        nearest = np.empty((X.shape[0], self._n_nearest), dtype=np.intp)
        squared, in_doubt = np.empty(nearest.shape), np.empty(len(nearest), dtype=bool)
        for rows in row_blocks(len(nearest), self._index.size, _CACHED_ENTRIES):
            nearest[rows], squared[rows], in_doubt[rows] = self._pick(X[rows])
        again = np.flatnonzero(in_doubt)
        if len(again):
            distances, nearest[again] = self._index.query(X[again], self._n_nearest)
            squared[again] = np.square(distances)
        order = np.argsort(nearest, axis=1)  # as for dense rows
        return np.take_along_axis(nearest, order, 1), np.take_along_axis(squared, order, 1)

    def _pick(self, X: Any) -> tuple[Indices, Array, Any]:
        """Return nearest points, squared distances, and whether rounding may make them wrong."""
        of_rows, scores = row_squares(X), self._index.scores(X)
        nearest, found, following = _take_smallest(scores, self._n_nearest)
        n_terms = np.diff(X.indptr) + 8
        error = n_terms * EPS * np.square(np.sqrt(of_rows) + self._longest)
        squared = found + of_rows[:, np.newaxis]
        is_near = following - found[:, -1] <= 2 * error
        return nearest, squared, is_near | (1e-9 * squared.min(axis=1) <= error)


def _take_smallest(scores: Any, n: int) -> tuple[Indices, Any, Any]:
    """Return columns and values of each row's n smallest scores, and the next; overwrite scores."""
    every = np.arange(len(scores))
    nearest = np.empty((len(scores), n), dtype=np.intp)
    smallest = np.empty(nearest.shape, dtype=scores.dtype)
    for place in range(n):
        nearest[:, place] = best = scores.argmin(axis=1)
        smallest[:, place] = scores[every, best]
        scores[every, best] = np.inf
    return nearest, smallest, scores.min(axis=1)


_building = Lock()  # one thread makes the cells, while others wait for them


class NearestLandmarks:
    """Finds the ``n_nearest`` points of rows, in the way that is fastest for ``n_rows`` rows."""

    def __init__(
        self, points: Any, n_nearest: int, n_rows: int = 0, metric: Metric = METRICS["euclidean"]
    ) -> None:
        self.metric, self.space = metric, Space(points, metric)
        self.exponent, self.points = self.space.exponent, self.space.in_units(points)
        self.n_nearest, self._n_asked = n_nearest, n_rows
        self._build()

    def __getstate__(self) -> dict[str, Any]:
        # Searches are quick to build again, and skops cannot store trees.
        built = ("_search", "_tree")
        return {name: value for name, value in self.__dict__.items() if name not in built}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._build()

    def _build(self) -> None:
        """Choose the fastest search and build it."""
        n_points, n_features = self.points.shape
        self._tree: Any = None
        self._search: Any = self._directly
        if sparse.issparse(self.points):
            self._search = SparseLandmarks(self.points, self.n_nearest, self.space)
        elif n_points > POLICY.few_points and self.n_nearest < n_points:
            if n_features <= POLICY.landmark_tree_features and self.metric.has_means:
                from scipy.spatial import cKDTree

                self._tree, self._search = cKDTree(self.points, leafsize=8), self._by_tree
            elif self.metric.is_flat:
                self._search = _Product(self.points, self.n_nearest, self._directly)

    def _directly(self, X: Array) -> Indices:
        """Find neighbours from all distances, by direct differences."""
        found = np.empty((len(X), self.n_nearest), dtype=np.intp)
        for rows in row_blocks(len(X), len(self.points), 8 * _CACHED_ENTRIES):
            distances = self.metric.all_pairs(X[rows], self.points)
            found[rows] = nearest_of(distances, self.n_nearest)[1]
        found.sort(axis=1)
        return found

    def _by_tree(self, X: Array) -> Indices:
        """Find neighbours with a k-d tree."""
        _, found = self._tree.query(X, self.n_nearest, p=self.metric.p)
        # In the order that ``Cells`` uses, so that sums over neighbours have the same bits.
        return np.sort(np.reshape(found, (len(X), self.n_nearest)), axis=1)

    def __call__(self, X: Any) -> tuple[Indices, Array]:
        """Return the nearest points of rows, ascending, and squared distances in search units."""
        return self.of_points(self.metric.points(X))

    def of_points(self, X: Any) -> tuple[Indices, Array]:
        """Return the same for rows that are points already."""
        X = self.space.in_units(X)
        if isinstance(self._search, SparseLandmarks):
            return self._search(X)
        self._n_asked += len(X)
        n_points, n_features = self.points.shape
        is_flat = self._tree is not None and self.metric.is_flat
        are_many = self._n_asked >= max(POLICY.many_rows, POLICY.rows_per_point * n_points)
        pays = is_flat and are_many and n_features <= POLICY.cell_features
        if pays and self.n_nearest < LAYOUT.candidates < n_points:
            with _building:
                if not isinstance(self._search, Cells):
                    self._search = Cells(self.points, self.n_nearest, self._tree)
        nearest = self._search(X)
        squared = np.empty(nearest.shape, order="F")  # filled by columns
        # By direct differences: |x|^2 - 2xy + |y|^2 would cancel digits.
        for place, column in enumerate(nearest.T):
            if not self.metric.is_flat:
                squared[:, place] = self.metric.between(X, self.points[column]) ** 2
                continue
            difference = self.points[column]
            difference -= X
            np.einsum("ij,ij->i", difference, difference, out=squared[:, place])
        return nearest, squared


class _Product:
    """Finds nearest points by ``|y|^2 - 2xy`` in float32; unclear rows by direct differences."""

    def __init__(self, points: Array, n_nearest: int, directly: Callable[[Array], Indices]) -> None:
        self._directly, self._n_nearest = directly, n_nearest
        self._centre = points.mean(axis=0)
        centred = points - self._centre
        self._unit = float(np.abs(centred).max()) or 1.0
        centred = centred / self._unit
        squares = np.einsum("ij,ij->i", centred, centred)
        self._factor = np.column_stack([-2 * centred, squares]).T.astype(np.float32)
        self._longest = float(np.sqrt(squares.max()))

    def __call__(self, X: Array) -> Indices:
        found = np.empty((len(X), self._n_nearest), dtype=np.intp)
        in_doubt = np.empty(len(X), dtype=bool)
        n_points = self._factor.shape[1]
        scores = np.empty((max(1, _CACHED_ENTRIES // n_points), n_points), dtype=np.float32)
        for rows in row_blocks(len(X), n_points, _CACHED_ENTRIES):
            found[rows], in_doubt[rows] = self._pick(X[rows], scores)
        again = np.flatnonzero(in_doubt)
        if len(again):
            found[again] = self._directly(X[again])
        found.sort(axis=1)  # rounding, and so the order of scores, depends on other rows
        return found

    def _pick(self, X: Array, scores: Any) -> tuple[Indices, Any]:
        """Return the nearest points, and for which rows float32 does not decide them."""
        centred = (X - self._centre) / self._unit
        length = np.sqrt(np.einsum("ij,ij->i", centred, centred))
        # Lengths of far rows are clipped against overflow; such rows are never decided.
        length = np.minimum(length, 1e15)
        one = np.ones((len(X), 1))
        with np.errstate(over="ignore", invalid="ignore"):
            left = np.column_stack([np.clip(centred, -1e15, 1e15), one]).astype(np.float32)
            scores = np.matmul(left, self._factor, out=scores[: len(X)])
        nearest, smallest, following = _take_smallest(scores, self._n_nearest)
        error = score_error(X.shape[1] + 5, self._longest, length)
        return nearest, ~(following - smallest[:, -1] > 2 * error)


def kmeans_centres(rows: Any, counts: Array, n_centres: int, steps: int = 30) -> Any:
    """Return centres of k-means on different rows in random order, each with its count."""
    if n_centres == rows.shape[0]:
        return rows.copy()
    # Sums stay finite in these units. Relative to one of the rows, means lose no digits in columns
    # that are far from zero compared with their width.
    space = Space(rows, METRICS["euclidean"])
    points = space.points(rows)
    if sparse.issparse(rows):
        centres = _moved(points, counts, n_centres, steps)
        return with_data(centres, space.rows(centres.data))
    first = points[0].copy()
    points -= first
    return space.rows(_moved(points, counts, n_centres, steps) + first)


def _moved(rows: Any, counts: Array, n_centres: int, steps: int) -> Any:
    """Return the centres after the steps of k-means."""
    centres, previous = rows[:n_centres].copy(), np.empty(0, dtype=np.intp)
    for _ in counted(range(steps), "steps of k-means"):
        group = nearest_centres(rows, NearestLandmarks(centres, 1))
        if np.array_equal(group, previous):
            break
        previous = group
        size = np.bincount(group, weights=counts, minlength=n_centres)
        centres = _means(rows, counts, group, size, centres)
    return centres


def _means(rows: Any, counts: Array, group: Indices, size: Any, centres: Any) -> Any:
    """Return the mean of each group of rows; an empty group keeps its centre."""
    kept, n_centres = size > 0, len(size)
    if sparse.issparse(rows):
        shares, shape = counts / size[group], (n_centres, len(group))
        means = sparse.csr_array((shares, (group, np.arange(len(group)))), shape) @ rows
        means += sparse.diags_array(np.where(kept, 0.0, 1.0)) @ centres
        means.eliminate_zeros()
        return means
    sums = np.column_stack(
        [np.bincount(group, weights=column * counts, minlength=n_centres) for column in rows.T]
    )
    centres[kept] = sums[kept] / size[kept, np.newaxis]
    return centres


def nearest_centres(rows: Any, search: NearestLandmarks) -> Indices:
    """Return the number of the centre nearest to each row."""
    group = np.empty(rows.shape[0], dtype=np.intp)
    # One thread works on at most 2048 rows, and 2^19 numbers, at a time.
    width = max(0 if sparse.issparse(rows) else rows.shape[1], (1 << 19) // 2048)

    def fill(some: slice) -> None:
        group[some] = search(rows[some])[0][:, 0]

    for_each(fill, row_blocks(rows.shape[0], width, 1 << 19))
    return group


class CellIndex(ProductIndex):
    """Approximate index: searches the cells around a query, then a graph of neighbours."""

    is_exact = False
    cells_per_root = 1.6  # number of cells, in units of sqrt(n)
    sampled_per_cell, kmeans_steps = 32, 6  # of the k-means that makes the cells
    searched_cells = 16  # per query
    n_starts = 16  # nearest points in these cells, where a query enters the graph
    n_linked = 16  # neighbours of each point in the graph,
    n_links = 2  # how often the graph is improved
    n_expanded = 32  # points whose neighbours a query visits in a round
    n_rounds = 4  # of a query, at most

    def __init__(self, points: Array, space: Space) -> None:
        n_cells = min(len(points), round(self.cells_per_root * np.sqrt(len(points))))
        order = np.random.default_rng(0).permutation(len(points))
        sample = points[order[: self.sampled_per_cell * n_cells]]
        counts = np.ones(len(sample))
        self._centres = kmeans_centres(sample, counts, n_cells, steps=self.kmeans_steps)
        self._home = NearestLandmarks(self._centres, 1)
        self._cell = nearest_centres(points, self._home)
        self._graph: Any = None
        super().__init__(points, space)

    def _build(self) -> None:
        self._search = ProductSearch(self.points, self._cell, len(self._centres))
        # Points are stored cell by cell, so that a query finds its points in the cache.
        self._number_at = np.argsort(self._cell, kind="stable")
        self._place_of = np.full(self.size + 1, -1, dtype=np.intc)
        self._place_of[self._number_at] = np.arange(self.size)
        self._packed = self._search.packed(self.points, self._number_at)
        if self._graph is None:
            self._graph = np.empty((self.size, 0), dtype=np.intc)
            for _ in range(1 + self.n_links):
                self._graph = self._linked(min(self.n_linked + 1, self.size))

    def _linked(self, k: int) -> Any:
        """Return a graph from the present one: neighbours of each point, and reverse neighbours."""
        linked = np.empty((self.size, k), dtype=np.intc)

        def fill(block: Block) -> None:
            rows, cells = block
            places = self._place_of[rows]
            starts = np.column_stack([places, self._graph[places]])
            if not self._graph.shape[1]:
                starts = self._starts(self.points[rows], k, cells)[0]
            linked[places] = self._met(self._packed[places], starts, k, rounds=1)

        for_each(fill, self._blocks(self.points, k), "blocks of rows searched")
        # Also k reverse neighbours, those of lowest rank first; -1 where there are fewer.
        others = linked[:, 1:]
        n, k = others.shape
        flat = others.T.ravel()
        order = np.argsort(flat, kind="stable")  # by point, then by rank
        order = order[flat[order] >= 0]
        point, origin = flat[order], (order % n).astype(np.intc)
        rank = np.arange(len(point)) - np.searchsorted(point, np.arange(n))[point]
        both = np.full((n, 2 * k), -1, dtype=np.intc)
        both[:, :k] = others
        both[point[rank < k], k + rank[rank < k]] = origin[rank < k]
        return both

    def __getstate__(self) -> dict[str, Any]:
        kept = ("_centres", "_home", "_cell", "_graph")  # which take long to compute
        return super().__getstate__() | {name: getattr(self, name) for name in kept}

    def _blocks(self, queries: Array, k: int) -> list[Block]:
        is_itself = queries is self.points
        cell = self._cell if is_itself else nearest_centres(queries, self._home)
        order = np.argsort(cell, kind="stable")
        occupied, first = np.unique(cell[order], return_index=True)
        blocks: list[Block] = []
        for home, rows in zip(occupied, np.split(order, first[1:]), strict=True):
            difference = self._centres - self._centres[home]
            nearest = np.argsort(np.einsum("ij,ij->i", difference, difference), kind="stable")
            sizes = np.cumsum(self._search.cell_sizes[nearest])
            # Search the nearest cells: more of them where they hold few points.
            enough = int(np.searchsorted(sizes, min(4 * max(k, self.n_starts), self.size))) + 1
            cells = nearest[: max(self.searched_cells, enough)]
            step = self._step(k, cells)
            blocks += [(rows[start : start + step], cells) for start in range(0, len(rows), step)]
        return blocks

    def _starts(self, queries: Array, k: int, cells: Indices | None) -> tuple[Any, Indices]:
        """Return the places of the nearest points in the cells, and how many there are."""
        k = min(max(k, self.n_starts), self.size)
        candidates, count = self._search.candidates(queries, k, self.candidates * k, cells)
        return self._place_of[candidates], count

    def _met(self, packed: Any, starts: Any, k: int, rounds: int) -> Any:
        """Return the places of the k nearest points that queries find in the graph."""
        return kernels.chosen.near_in_graph(
            packed,
            self._packed,
            self._graph,
            np.ascontiguousarray(starts),
            k,
            expanded=self.n_expanded,
            rounds=rounds,
        )

    def _nearest(self, queries: Array, k: int, cells: Indices | None) -> tuple[Any, Array, Indices]:
        starts, count = self._starts(queries, k, cells)
        packed = self._search.packed(queries)
        # Some more than k, so that equally near points are chosen by their numbers.
        places = self._met(packed, starts, min(k + 8, self.size), self.n_rounds)
        numbers = self._number_at[places]
        origin = np.repeat(np.arange(len(queries)), places.shape[1])
        distances = self.distances_of_pairs(queries, origin, numbers.ravel())
        distances = np.where(places < 0, np.inf, distances.reshape(numbers.shape))
        distances, numbers = in_order(distances, numbers)
        # Float32 decides if the k-th distance is not tiny compared with the length of the query.
        told = distances[:, k - 1] > self._search.blur(packed)
        return told & (count > 0) & (places[:, k - 1] >= 0), distances[:, :k], numbers[:, :k]


_KINDS: dict[str, Callable[[Any, Space], Index]] = {
    "kdtree": TreeIndex,
    "brute": brute_index,
    "approximate": CellIndex,
}
INDEXES = ("auto", *_KINDS)


def allowed_indexes(metric: str, is_sparse: bool) -> tuple[str, ...]:
    """Return the names of indexes that support the metric, for sparse or for dense rows."""
    if is_sparse:
        return ("brute",)
    used = METRICS[metric]
    is_allowed = {"kdtree": used.has_means, "brute": True, "approximate": used.is_flat}
    return tuple(kind for kind in _KINDS if is_allowed[kind])


def build_index(name: str, points: Any, space: Space) -> tuple[str, Index]:
    """Build the index of this name, or the fastest for "auto"; return its name and the index."""
    if name == "auto":
        n, d = points.shape
        is_plain = space.metric.is_flat and not sparse.issparse(points)
        is_large = is_plain and float(n) ** 2 * d > POLICY.brute_products
        name = "approximate" if is_large else "brute"
        if _has_tree(points, space):
            name = "kdtree"
    return name, _KINDS[name](points, space)


def exact_index(points: Any, space: Space) -> Index:
    """Build the faster exact index: a tree or brute force."""
    return (TreeIndex if _has_tree(points, space) else brute_index)(points, space)


def _has_tree(points: Any, space: Space) -> bool:
    """Return whether a tree is the fastest index for the points."""
    is_dense = not sparse.issparse(points)
    return is_dense and space.metric.has_means and points.shape[1] <= POLICY.tree_features


@dataclass(frozen=True)
class SearchedPoints:
    """Distinct rows as points, their index, and the neighbours found so far."""

    space: Space
    points: Any  # The rows, in the units of ``space``
    index_name: str  # The index in use, never "auto"
    index: Index
    _nearest: dict[int, Found] = field(default_factory=dict)

    @classmethod
    def build(cls, rows: Any, metric: str, index: str, axes: Array | None = None) -> SearchedPoints:
        """Build the index of that name on distinct rows, or on their projections on axes."""
        space = Space(rows, METRICS[metric], axes)
        points = space.points(rows)
        return cls(space, points, *build_index(index, points, space))

    def nearest(self, k: int) -> Found:
        """Return the k nearest of each point, itself the first; later calls reuse the result."""
        larger = [n for n in self._nearest if n > k and self.index.is_exact]
        if k not in self._nearest and larger:
            distances, numbers = self._nearest[larger[0]]
            self._nearest[k] = distances[:, :k].copy(), numbers[:, :k].copy()
        elif k not in self._nearest:
            self._nearest[k] = self.index.query_itself(k)
        return self._nearest[k]


@dataclass(frozen=True)
class SearchedRows:
    """The distinct rows of a table, and the search among them."""

    distinct: DistinctRows
    points: SearchedPoints
