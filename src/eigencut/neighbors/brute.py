"""Nearest neighbours by comparing every query with all points."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from eigencut import kernels
from eigencut._utils.arrays import EPS, Array, Indices, row_blocks
from eigencut._utils.threads import for_each
from eigencut.kernels.layout import LAYOUT, aligned_empty
from eigencut.kernels.numpy_kernels import kth_smallest_bound
from eigencut.neighbors.index import BLOCK_ELEMENTS, Index, search_blocks
from eigencut.neighbors.metrics import Found, Space, in_order, middle, nearest_of, nearest_of_pairs


class ProductSearch:
    """Points that can be among the k nearest of a query, told by products in float32.

    The score ``|y|^2 - 2xy`` orders the points y as the distance to x does. Every point whose score
    is not above the k-th smallest one, allowing for the error of float32, is a candidate; so the k
    nearest are always among the candidates. The error grows with the size of x and of y, but a
    point far beyond x cannot be among its nearest (``relevant_length``): so one outlier does not
    blur the others.

    Parameters
    ----------
    points : array of shape (n_points, n_features)
    cell : array of shape (n_points,), optional
        A number of each point, so that a search can be confined to some cells.
    n_cells : int, default=1
        How many cells there are; some may be empty.

    Examples
    --------
    >>> import numpy as np
    >>> points = np.linspace(-1, 1, 9)[:, np.newaxis]
    >>> ProductSearch(points).candidates(np.array([[-0.6]]), k=2, most=5)
    (array([[1, 2]]), array([2]))
    """

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
        length = lengths(points, self._centre)
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
        """Numbers of the candidates of each query, ascending, and how many there are.

        At least k and at most ``most``; none where there would be more. Rows with fewer than the
        widest are filled up with n. ``cells`` are those to look into, the nearest first; they must
        hold k points. None is all.
        """
        left = np.ones((len(queries), queries.shape[1] + 1), dtype=np.float32)
        moved = self._in_units(queries)
        length = np.minimum(np.sqrt(np.einsum("ij,ij->i", moved, moved)), self.farthest)
        left[:, :-1] = np.clip(moved, -self.farthest, self.farthest)
        longest = self._longest[slice(None) if cells is None else cells].max()
        if cells is None:  # of which half, and so k of them, are that near
            longest = np.minimum(longest, relevant_length(length, self._half))
        with np.errstate(over="ignore"):  # then nothing is told below
            slack = (2 * score_error(queries.shape[1], longest, length)).astype(np.float32)
        visits = self._strips_of(cells)
        places, count = kernels.chosen.near_points(left, self._strips, visits, slack, k, most)
        count = np.where(np.maximum(8 * length, longest) <= self.farthest, count, 0)
        is_filled = np.arange(max(k, count.max(initial=0))) < count[:, np.newaxis]
        places = np.where(is_filled, places[:, : is_filled.shape[1]], -1)
        return np.sort(self._number_at[places], axis=1), count.astype(np.intp)

    def _in_units(self, rows: Array) -> Array:
        """Rows around the centre; half of the points are about as long as 1."""
        with np.errstate(over="ignore"):
            return np.asarray(np.ldexp(rows - self._centre, -self._exponent))

    def _fill(self, points: Array, numbers: Indices, places: Indices) -> None:
        """Enter the factors of points of these numbers at these places."""
        for some in row_blocks(len(numbers), points.shape[1], BLOCK_ELEMENTS):
            moved = self._in_units(points[numbers[some]])
            strip, lane = np.divmod(places[some], LAYOUT.strip)
            self._strips[strip, :-1, lane] = -2 * moved
            self._strips[strip, -1, lane] = np.einsum("ij,ij->i", moved, moved)

    def _strips_of(self, cells: Indices | None) -> Any:
        if cells is None:
            return np.arange(len(self._strips), dtype=np.int32)
        first, count = self._first_strip[cells], np.diff(self._first_strip)[cells]
        shift = first - np.cumsum(count) + count
        return (np.arange(count.sum()) + np.repeat(shift, count)).astype(np.int32)


def lengths(points: Array, centre: Array) -> Array:
    """Distances of the points to a centre."""
    found = np.empty(len(points))
    for rows in row_blocks(len(points), points.shape[1], BLOCK_ELEMENTS):
        moved = points[rows] - centre
        found[rows] = np.sqrt(np.einsum("ij,ij->i", moved, moved))
    return found


def relevant_length(length: Array, radius: float) -> Array:
    """How long a point can be that is among the k nearest of a query of this length, generously.

    If k points are not longer than the radius, the k nearest of a query x have scores of at most
    ``(|x| + radius)^2 - |x|^2``; a point longer than this has a larger one, rounding included.
    """
    return 4 * length + 2 * radius


def score_error(n_features: int, longest: Any, length: Array) -> Array:
    """Bound on the error in float32 of scores ``|y|^2 - 2xy`` with |y| up to longest, |x| = length.

    It sums n_features + 1 products of two rounded factors; what it is compared with is rounded too.
    """
    return (n_features + 5) * float(np.finfo(np.float32).eps) * longest * (2 * length + longest)


class SparseIndex(Index):
    """Points in the rows of a sparse array, all of which are compared with every query.

    A sparse product gives the scores ``|y|^2 - 2xy`` in float64, and the distances to the points of
    the smallest are taken directly. Where more than 64 k points are as near as the k-th up to
    rounding, the first of them by score and number are compared.
    """

    few, many = 2, 64  # candidates per neighbour

    def _build(self) -> None:
        self._columns = self.points.T.tocsr()
        self._squares = row_squares(self.points)
        self._most_terms = int(np.diff(self.points.indptr).max(initial=0))

    def query(self, queries: Any, k: int) -> Found:
        k = min(k, self.size)
        radius = math.sqrt(np.partition(self._squares, k - 1)[k - 1])
        blocks = row_blocks(queries.shape[0], self.size, BLOCK_ELEMENTS)
        return search_blocks(blocks, k, lambda rows: self._nearest(queries[rows], k, radius))

    def _nearest(self, queries: Any, k: int, radius: float) -> Found:
        scores = (queries @ self._columns).toarray()
        scores *= -2
        scores += self._squares
        error = self._error(np.sqrt(row_squares(queries)), radius)
        limit = np.partition(scores, k - 1, axis=1)[:, k - 1] + 2 * error
        count = np.count_nonzero(scores <= limit[:, np.newaxis], axis=1)
        distances = np.empty((len(scores), k))
        numbers = np.empty((len(scores), k), dtype=np.intp)
        is_few = count <= self.few * k
        for rows, width in ((is_few, self.few * k), (~is_few, self.many * k)):
            some = np.flatnonzero(rows)
            if len(some):
                candidates = nearest_of(scores[some], min(width, self.size))[1]
                found = self._in_order(queries[some], candidates)
                distances[some], numbers[some] = found[0][:, :k], found[1][:, :k]
        return distances, numbers

    def _error(self, length: Array, radius: float) -> Array:
        """Bound on the error of a score of a point that can be among the k nearest."""
        longest = relevant_length(length, radius)
        return (self._most_terms + 8) * EPS * longest * (2 * length + longest)

    def _in_order(self, queries: Any, numbers: Indices) -> Found:
        """The points of these numbers, the nearest first."""
        origin = np.repeat(np.arange(len(numbers)), numbers.shape[1])
        found = self.distances_of_pairs(queries, origin, numbers.ravel())
        return in_order(found.reshape(numbers.shape), numbers)


def row_squares(rows: Any) -> Array:
    """|x|^2 of each row."""
    squared = sparse.csr_array((rows.data * rows.data, rows.indices, rows.indptr), rows.shape)
    return np.asarray(squared.sum(axis=1)).ravel()


class LocalProducts:
    """Nearest points by products in float64, for queries that float32 cannot tell the points for.

    Such points lie in clumps far from each other, or at equal distances. Queries near each other
    are done together, and everything is moved there: the score ``|y|^2 - 2xy`` then has an error
    that depends on the size of their neighbourhood, not on that of the whole. The points whose
    scores leave it open are compared directly; so the nearest are those of direct differences, ties
    included. The index is of dense points in a Euclidean space.
    """

    def __init__(self, index: Index) -> None:
        self._index = index
        self._grid = ExactGrid.as_large_as(index.points)
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
        if np.count_nonzero(is_near) > scores.size // Index.direct_share:
            return nearest_of(self._index.space.all_pairs(queries, self._index.points), self._k)
        origin, near = np.nonzero(is_near)
        distances = self._index.distances_of_pairs(queries, origin, near)
        return nearest_of_pairs(origin, near, distances, len(queries), self._k)

    def _error(self, moved: Array) -> Array:
        """Bound on the error of a score of a point that can be among the k nearest."""
        length = np.sqrt(np.einsum("ij,ij->i", moved, moved))
        longest = relevant_length(length, self._radius)
        # d + 1 products, and the rounding of both factors when they were moved.
        return (moved.shape[1] + 12) * EPS * longest * (2 * length + longest)

    def _distances(self, queries: Array, numbers: Indices) -> Array:
        origin = np.repeat(np.arange(len(queries)), self._k)
        found = self._index.distances_of_pairs(queries, origin, numbers.ravel())
        return found.reshape(numbers.shape)


def _groups(queries: Array) -> list[tuple[Array, Indices]]:
    """Places among the queries, and which of the queries are nearest to each."""
    from scipy.spatial.distance import cdist

    n_places = int(np.clip(len(queries) // 64, 1, 64))
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
    >>> grid = ExactGrid.as_large_as(np.array([[0.0, 3.0], [255.0, 1.0]]))
    >>> grid.holds(np.array([[7.0, 0.5]])), grid.holds(np.array([[1 / 3, 0.0]]))
    (True, False)
    """

    shift: int
    most: float

    @classmethod
    def as_large_as(cls, points: Array) -> ExactGrid:
        """The finest one."""
        # Factors of twice the difference of two points, and the sum of d + 1 of them, below 2^53.
        bits = (53 - 4 - math.ceil(math.log2(points.shape[1] + 1))) // 2
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


class DirectIndex(Index):
    """All distances, one by one."""

    def query(self, queries: Array, k: int) -> Found:
        return self.among_all(queries, k)


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
    return ProductIndex(points, space) if space.metric.is_flat else DirectIndex(points, space)
