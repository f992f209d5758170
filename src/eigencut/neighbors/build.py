"""Which index finds the nearest of some points, and building it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from eigencut._utils.arrays import Array, Indices, blocks_of_cost, row_blocks
from eigencut._utils.threads import for_each
from eigencut.neighbors.brute import Block, ProductIndex, ProductSearch, brute_index
from eigencut.neighbors.distinct_rows import DistinctRows
from eigencut.neighbors.index import (
    BLOCK_ELEMENTS,
    Index,
    neighbors_together,
    search_blocks,
)
from eigencut.neighbors.kmeans import kmeans_centres, nearest_centres
from eigencut.neighbors.metrics import METRICS, Found, Space, in_order
from eigencut.neighbors.nearest_landmarks import NearestLandmarks


class TreeIndex(Index):
    """A k-d tree. A query asks for one neighbour more than k, to see whether the k-th is alone.

    Where it is not, the tree counts the points that are as near, and is asked for so many; where
    they are a large part of all, all distances are as cheap.
    """

    rounding = 1e-12  # relative; more than the error of a distance from direct differences

    def _build(self) -> None:
        from scipy.spatial import cKDTree

        self._tree = cKDTree(self.points, leafsize=8)

    def query_itself(self, k: int) -> Found:
        order = neighbors_together(self.points)
        found = self.query(self.points[order], k)
        distances, numbers = np.empty_like(found[0]), np.empty_like(found[1])
        distances[order], numbers[order] = found
        return distances, numbers

    def query(self, queries: Array, k: int) -> Found:
        k = min(k, self.size)
        if self._is_many(k + 1) or self._is_of_no_use(queries, k):
            return self.among_all(queries, k)
        every = np.arange(len(queries))
        distances, numbers = self._candidates(queries, every, np.full(len(queries), k + 1), k + 1)
        is_tied = distances[:, k] <= distances[:, k - 1] * (1 + self.rounding)
        found, tied = (distances[:, :k].copy(), numbers[:, :k].copy()), np.flatnonzero(is_tied)
        if len(tied):
            radius = found[0][tied, -1] * (1 + self.rounding)
            for kept, again in zip(found, self._within(queries[tied], radius, k), strict=True):
                kept[tied] = again
        return found

    def _is_of_no_use(self, queries: Array, k: int) -> bool:
        """Whether walks through the tree go nearly everywhere, as 32 of many queries show.

        They do where a part of all points is as near as the k-th.
        """
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
        distances, numbers = np.empty((len(queries), k)), np.empty((len(queries), k), dtype=np.intp)
        for power in np.unique(step):
            rows = np.flatnonzero(step == power)
            if self._is_many(1 << power):
                found = self.among_all(queries[rows], k)
            else:
                found = self._candidates(queries, rows, count[rows], k)
            distances[rows], numbers[rows] = found
        return distances, numbers

    def _candidates(self, queries: Array, rows: Indices, count: Any, k: int) -> Found:
        """The k nearest as far as rounding tells, by (distance, number), of at least ``count``."""

        def nearest(block: slice) -> Found:
            asked = max(int(count[block].max()), k)
            found = self._tree.query(queries[rows[block]], np.arange(1, asked + 1), p=self._p)
            ties = np.flatnonzero((found[0][:, 1:] == found[0][:, :-1]).any(axis=1))
            found[0][ties], found[1][ties] = in_order(found[0][ties], found[1][ties])
            return found[0][:, :k], found[1][:, :k]

        # While one neighbour is looked for, eight numbers are held.
        return search_blocks(
            blocks_of_cost(8 * np.maximum(count, k), 4 * BLOCK_ELEMENTS), k, nearest
        )

    @property
    def _p(self) -> float:
        p = self.space.metric.p
        assert p is not None  # no tree is built for sets and codes
        return p


class CellIndex(ProductIndex):
    """Nearly all nearest neighbours: a query looks into the cells nearest to its own.

    Cells are around the centres of a k-means. The same points give the same answers whatever the
    threads and the company of a query. A point is always its own nearest.
    """

    cells_per_root = 1.6  # times sqrt(n) is the number of cells
    sampled_per_cell, kmeans_steps = 32, 6  # for the k-means that places them
    searched_cells = 64  # for a query
    many_points = 100_000  # beyond, the cells searched grow with the fourth root of n

    def __init__(self, points: Array, space: Space) -> None:
        n_cells = min(len(points), round(self.cells_per_root * np.sqrt(len(points))))
        order = np.random.default_rng(0).permutation(len(points))
        sample = points[order[: self.sampled_per_cell * n_cells]]
        counts = np.ones(len(sample))
        self._centres = kmeans_centres(sample, counts, n_cells, steps=self.kmeans_steps)
        self._home = NearestLandmarks(self._centres, 1)
        self._cell = nearest_centres(points, self._home)
        super().__init__(points, space)

    def _build(self) -> None:
        self._search = ProductSearch(self.points, self._cell, len(self._centres))

    def __getstate__(self) -> dict[str, Any]:
        # What takes long to find is kept.
        return super().__getstate__() | {
            name: getattr(self, name) for name in ("_centres", "_home", "_cell")
        }

    def _blocks(self, queries: Array, k: int) -> list[Block]:
        cell = nearest_centres(queries, self._home)
        order = np.argsort(cell, kind="stable")
        occupied, first = np.unique(cell[order], return_index=True)
        blocks: list[Block] = []
        for home, rows in zip(occupied, np.split(order, first[1:]), strict=True):
            cells = self._cells_around(home, k)
            step = self._step(k, cells)
            blocks += [(rows[start : start + step], cells) for start in range(0, len(rows), step)]
        return blocks

    def _cells_around(self, home: int, k: int) -> Indices:
        """The cells to look into, the nearest first: more of them where they hold few points."""
        difference = self._centres - self._centres[home]
        order = np.argsort(np.einsum("ij,ij->i", difference, difference), kind="stable")
        enough = int(np.searchsorted(np.cumsum(self._search.cell_sizes[order]), 4 * k)) + 1
        usual = round(self.searched_cells * max(1.0, self.size / self.many_points) ** 0.25)
        return np.asarray(order[: max(usual, enough)])


_KINDS: dict[str, Callable[[Any, Space], Index]] = {
    "kdtree": TreeIndex,
    "brute": brute_index,
    "approximate": CellIndex,
}
INDEXES = ("auto", *_KINDS)


@dataclass(frozen=True)
class Policy:
    """Which index "auto" takes; see the measurements in ``benchmarks/studies/neighbors.md``."""

    tree_features: int = 8  # Up to so many features a tree beats brute force.
    brute_products: float = 3.2e10  # Up to this n^2 d brute force takes half a second.


POLICY = Policy()


def allowed_indexes(metric: str, is_sparse: bool) -> tuple[str, ...]:
    """Those that can find neighbours of dense or of sparse rows by this metric."""
    if is_sparse:
        return ("brute",)
    used = METRICS[metric]
    is_allowed = {"kdtree": used.has_means, "brute": True, "approximate": used.is_flat}
    return tuple(kind for kind in _KINDS if is_allowed[kind])


def build_index(name: str, points: Any, space: Space) -> tuple[str, Index]:
    """The index of that name, or the one that "auto" takes; and its name."""
    kind = _fastest(points, space) if name == "auto" else name
    return kind, _KINDS[kind](points, space)


def _fastest(points: Any, space: Space) -> str:
    """The name of the index that "auto" takes."""
    n, d = points.shape
    if _has_tree(points, space):
        return "kdtree"
    is_plain = space.metric.is_flat and not sparse.issparse(points)
    return "approximate" if is_plain and float(n) ** 2 * d > POLICY.brute_products else "brute"


def exact_index(points: Any, space: Space) -> Index:
    """The faster of the exact ones."""
    kind = TreeIndex if _has_tree(points, space) else brute_index
    return kind(points, space)


def _has_tree(points: Any, space: Space) -> bool:
    """Whether a tree finds the nearest sooner than anything else."""
    is_dense = not sparse.issparse(points)
    return is_dense and space.metric.has_means and points.shape[1] <= POLICY.tree_features


@dataclass(frozen=True)
class SearchedPoints:
    """Rows as points of a metric, in an index."""

    space: Space
    points: Any  # The rows, in the units of the index
    index_name: str  # The index in use, where "auto" was asked for
    index: Index
    _nearest: dict[int, Found] = field(default_factory=dict)

    @classmethod
    def build(cls, rows: Any, metric: str, index: str) -> SearchedPoints:
        """Build the index of that name on distinct rows."""
        space = Space(rows, METRICS[metric])
        points = space.points(rows)
        return cls(space, points, *build_index(index, points, space))

    def nearest(self, k: int) -> Found:
        """The k nearest of each of the points, itself the first; found once."""
        if k not in self._nearest:
            self._nearest[k] = self.index.query_itself(k)
        return self._nearest[k]


@dataclass(frozen=True)
class SearchedRows:
    """The distinct rows of a table, searched."""

    distinct: DistinctRows
    points: SearchedPoints

    @classmethod
    def search(cls, distinct: DistinctRows, metric: str, index: str) -> SearchedRows:
        return cls(distinct, SearchedPoints.build(distinct.rows, metric, index))
