"""The k nearest of a set of points: exactly by a tree or by brute force, or approximately.

The exact searches agree to the last neighbour, on ties too: points at equal distance come in the
order of their numbers. So a graph does not depend on which of them was used, on the threads or on
the order of the rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import sparse

from eigencut.runtime.arrays import Array, Indices
from eigencut.runtime.progress import counted
from eigencut.runtime.threads import blas_threads, for_each, openmp_threads
from eigencut.search.float32_candidates import ProductSearch
from eigencut.search.kmeans import kmeans_centres, nearest_centres
from eigencut.search.metrics import Space

Found = tuple[Array, Indices]  # distances and numbers of the neighbours, nearest first
Block = tuple[Any, Indices | None]  # queries, as a slice or by number, and cells; None for all

_TREE_FEATURES = 8  # up to here a tree beats brute force
_TREE_LEAF = 8
_BRUTE_PRODUCTS = 3.2e10  # n^2 d, up to which brute force takes half a second
_CELLS = 1.6  # times sqrt(n): the number of cells
_SAMPLED_PER_CELL, _KMEANS_STEPS = 32, 6  # points, for the k-means that places them
_SEARCHED_CELLS = 64  # for a query
_MANY_POINTS = 100_000  # beyond, the cells searched grow with the fourth root of n
_BLOCK_ELEMENTS = 1 << 20  # distances, or coordinates of pairs, held at a time
_MANY_CANDIDATES = 8  # per neighbour: beyond, float32 is of no use
_DIRECT_SHARE = 4  # with more than n over this asked for, all distances are as cheap
_EPS = float(np.finfo(np.float64).eps)
_ROUNDING = 1e-12  # relative; more than the error of a distance from direct differences


class Index(ABC):
    """Finds the nearest of the points that it was built on."""

    def __init__(self, points: Any, space: Space) -> None:
        self.points = points
        self.space = space
        self.size: int = points.shape[0]

    @abstractmethod
    def query(self, queries: Any, k: int) -> Found:
        """The k nearest points of each query, or all if there are fewer."""

    def query_itself(self, k: int) -> Found:
        """The k nearest of each of the points, itself the first."""
        return self.query(self.points, k)

    def _distances(self, queries: Any, numbers: Indices) -> Array:
        """Distances from each query to its points of these numbers, from direct differences."""
        m, k = numbers.shape
        found = np.empty((m, k))
        for rows in _blocks(m, k * queries.shape[1]):
            origin = np.repeat(np.arange(rows.start, rows.stop), k)
            flat = self.space.between(queries[origin], self.points[numbers[rows].ravel()])
            found[rows] = flat.reshape(-1, k)
        return found


class RepeatedIndex(Index):
    """Asks for ever more candidates, until the k nearest are proven to be among them."""

    in_threads = True  # whether blocks are searched side by side
    spare = 1  # neighbours asked for beyond k, to see that the k-th is settled

    def query(self, queries: Any, k: int) -> Found:
        k = min(k, self.size)
        distances = np.empty((queries.shape[0], k))
        numbers = np.empty((queries.shape[0], k), dtype=np.intp)
        open_rows, asked = np.arange(queries.shape[0]), k + self.spare
        while len(open_rows):
            settled, *found = self._try(queries[open_rows], k, asked)
            distances[open_rows], numbers[open_rows] = found
            open_rows, asked = open_rows[~settled], 2 * asked
        return distances, numbers

    def _try(self, queries: Any, k: int, asked: int) -> tuple[Any, Array, Indices]:
        """The k nearest, if they are among ``asked`` candidates; and for which queries they are."""
        m = queries.shape[0]
        settled, distances = np.ones(m, dtype=bool), np.empty((m, k))
        numbers = np.empty((m, k), dtype=np.intp)

        def fill(rows: slice) -> None:
            if asked > self.size // _DIRECT_SHARE:
                found = self._among_all(queries[rows], k)
            else:
                found = self._candidates(queries[rows], asked)
                settled[rows] = self._is_settled(queries[rows], found[0], k)
            distances[rows], numbers[rows] = found[0][:, :k], found[1][:, :k]

        blocks = _blocks(m, self._cost(asked))
        if self.in_threads:
            for_each(fill, blocks, "blocks of rows searched")
        else:
            with blas_threads(1):
                for block in counted(list(blocks), "blocks of rows searched"):
                    fill(block)
        return settled, distances, numbers

    def _cost(self, asked: int) -> int:
        """Numbers held per query."""
        return self.size if asked > self.size // _DIRECT_SHARE else 8 * asked

    def _among_all(self, queries: Any, k: int) -> Found:
        distances = self.space.all_pairs(queries, self.points)
        numbers = np.argsort(distances, axis=1, kind="stable")[:, :k]
        return np.take_along_axis(distances, numbers, axis=1), numbers

    @abstractmethod
    def _candidates(self, queries: Any, asked: int) -> Found:
        """The ``asked`` nearest as far as rounding tells, in the order of (distance, number)."""

    @abstractmethod
    def _is_settled(self, queries: Any, distances: Array, k: int) -> Any:
        """Whether no point beyond the candidates can be among the k nearest of each query."""


class TreeIndex(RepeatedIndex):
    """A k-d tree: fast in few dimensions."""

    def __init__(self, points: Array, space: Space) -> None:
        from scipy.spatial import cKDTree

        super().__init__(points, space)
        self._tree = cKDTree(points, leafsize=_TREE_LEAF)

    def query_itself(self, k: int) -> Found:
        order = neighbors_together(self.points)
        found = self.query(self.points[order], k)
        distances, numbers = np.empty_like(found[0]), np.empty_like(found[1])
        distances[order], numbers[order] = found
        return distances, numbers

    def _candidates(self, queries: Array, asked: int) -> Found:
        distances, numbers = self._tree.query(queries, asked, p=self.space.metric.p)
        ties = np.flatnonzero((distances[:, 1:] == distances[:, :-1]).any(axis=1))
        distances[ties], numbers[ties] = _in_order(distances[ties], numbers[ties])
        return distances, numbers

    def _is_settled(self, queries: Array, distances: Array, k: int) -> Any:
        return distances[:, k - 1] * (1 + _ROUNDING) < distances[:, -1]


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
        return _in_order(self._distances(queries, numbers), numbers)

    def _is_settled(self, queries: Any, distances: Array, k: int) -> Any:
        # |x|^2 - 2xy + |y|^2 carries this error, for a candidate and for a point that is none.
        error = 2 * (queries.shape[1] + 4) * _EPS * (_norms(queries) + self._farthest) ** 2
        return distances[:, k - 1] ** 2 * (1 + _ROUNDING) + 2 * error < distances[:, -1] ** 2


class ProductIndex(Index):
    """Candidates by matrix products in float32; their distances directly, in float64."""

    def __init__(self, points: Array, space: Space) -> None:
        super().__init__(points, space)
        self._search = ProductSearch(points)
        self._scan = ScanIndex(points, space)

    def query(self, queries: Array, k: int) -> Found:
        if k > self.size // _DIRECT_SHARE:
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
        step = self._search.queries_at_a_time(_MANY_CANDIDATES * k)
        return [(slice(start, start + step), None) for start in range(0, len(queries), step)]

    def _nearest(self, queries: Array, k: int, cells: Indices | None) -> tuple[Any, Array, Indices]:
        """For which queries float32 tells the points apart; and the nearest points of these."""
        candidates, count = self._search.candidates(queries, k, _MANY_CANDIDATES * k, cells)
        is_point = candidates < self.size
        near = self.points[np.where(is_point, candidates, 0)]
        distances = self.space.between(queries[:, np.newaxis], near)
        distances[~is_point] = np.inf
        # Candidates come by their numbers, and so do those at equal distance.
        order = np.argsort(distances, axis=1, kind="stable")[:, :k]
        nearest = np.take_along_axis(candidates, order, axis=1)
        return count > 0, np.take_along_axis(distances, order, axis=1), nearest


class CellIndex(ProductIndex):
    """Cells around the centres of a k-means; a query looks into those nearest to its own.

    The same points give the same answers whatever the threads and the company of a query. A point
    is always its own nearest.
    """

    def __init__(self, points: Array, space: Space) -> None:
        Index.__init__(self, points, space)
        n_cells = max(1, round(_CELLS * np.sqrt(self.size)))
        sample = np.random.default_rng(0).permutation(self.size)[: _SAMPLED_PER_CELL * n_cells]
        self._centres = kmeans_centres(
            points[sample], np.ones(len(sample)), n_cells, steps=_KMEANS_STEPS
        )
        self._search = ProductSearch(points, nearest_centres(points, self._centres))
        self._scan = ScanIndex(points, space)

    def _blocks(self, queries: Array, k: int) -> list[Block]:
        cell = nearest_centres(queries, self._centres)
        order = np.argsort(cell, kind="stable")
        occupied, first = np.unique(cell[order], return_index=True)
        blocks: list[Block] = []
        for home, rows in zip(occupied, np.split(order, first[1:]), strict=True):
            cells = self._cells_around(home, k)
            step = self._search.queries_at_a_time(_MANY_CANDIDATES * k, cells)
            blocks += [(rows[start : start + step], cells) for start in range(0, len(rows), step)]
        return blocks

    def _cells_around(self, home: int, k: int) -> Indices:
        """The cells to look into, the nearest first: more of them where they hold few points."""
        difference = self._centres - self._centres[home]
        order = np.argsort(np.einsum("ij,ij->i", difference, difference), kind="stable")
        enough = int(np.searchsorted(np.cumsum(self._search.cell_sizes[order]), 4 * k)) + 1
        usual = round(_SEARCHED_CELLS * max(1.0, self.size / _MANY_POINTS) ** 0.25)
        return np.asarray(order[: max(usual, enough)])


def brute_index(points: Any, space: Space) -> Index:
    """The index that compares every query with all points."""
    is_plain = space.metric.p == 2 and not sparse.issparse(points)
    return ProductIndex(points, space) if is_plain else ScanIndex(points, space)


_KINDS: dict[str, Callable[[Any, Space], Index]] = {
    "kdtree": TreeIndex,
    "brute": brute_index,
    "approximate": CellIndex,
}
INDEXES = ("auto", *_KINDS)


def build_index(name: str, points: Any, space: Space) -> tuple[str, Index]:
    """The index of that name, or the one that "auto" takes; and its name."""
    kind = _fastest(points, space) if name == "auto" else name
    return kind, _KINDS[kind](points, space)


def _fastest(points: Any, space: Space) -> str:
    """See the measurements in ``docs/neighbors.md``."""
    n, d = points.shape
    if not sparse.issparse(points) and d <= _TREE_FEATURES:
        return "kdtree"
    is_plain = space.metric.p == 2 and not sparse.issparse(points)
    return "approximate" if is_plain and float(n) ** 2 * d > _BRUTE_PRODUCTS else "brute"


def _blocks(n_rows: int, elements_per_row: int) -> Iterator[slice]:
    step = max(1, _BLOCK_ELEMENTS // max(1, elements_per_row))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def _in_order(distances: Array, numbers: Indices) -> Found:
    order = np.lexsort((numbers, distances), axis=1)
    return np.take_along_axis(distances, order, 1), np.take_along_axis(numbers, order, 1)


def neighbors_together(queries: Any) -> Indices:
    """An order in which consecutive queries are close, so that what they visit is in the cache."""
    if sparse.issparse(queries) or not queries.size:
        return np.arange(queries.shape[0])
    first = queries[:, 0]
    spread = max(float(np.ptp(first)), np.finfo(np.float64).tiny)
    strip = np.floor((first - first.min()) / spread * np.sqrt(len(first) / 8))
    return np.lexsort((queries[:, -1], strip))


def _norms(points: Any) -> Array:
    if sparse.issparse(points):
        return np.sqrt(np.asarray(points.multiply(points).sum(axis=1)).ravel())
    return np.sqrt(np.einsum("ij,ij->i", points, points))
