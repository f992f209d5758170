"""The nearest landmarks of every row.

In few dimensions a k-d tree finds them (for millions of rows in the plane, the cells of a grid). In
many, all distances of a block of rows come from one matrix product in float32, and the smallest are
picked one after the other, which is faster than a partial sort. Where float32 cannot tell the last
neighbour from the next, the row is done again in float64 by direct differences.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import numpy as np
from scipy import sparse

from eigencut import kernels
from eigencut._utils.arrays import EPS, Array, Indices
from eigencut._utils.running import counted, for_each, row_blocks
from eigencut.kernels.numpy_kernels import LAYOUT, Grid
from eigencut.neighbors.index import (
    Block,
    Index,
    ProductIndex,
    ProductSearch,
    SparseIndex,
    TreeIndex,
    brute_index,
    row_squares,
    score_error,
)
from eigencut.neighbors.metrics import (
    METRICS,
    DistinctRows,
    Found,
    Metric,
    Space,
    in_order,
    nearest_of,
    with_data,
)

_CACHED_ENTRIES = 1 << 19  # of a matrix of distances that stays in the cache of a core


@dataclass(frozen=True)
class Policy:
    """Which search finds the nearest; see ``benchmarks/studies/neighbors.md``."""

    few_points: int = 64  # Up to so many points direct differences are as fast as anything.
    landmark_tree_features: int = 4  # Up to so many a tree beats a product with landmarks.
    cell_features: int = 2  # In more dimensions there are too many cells and candidates.
    many_rows: int = 1 << 19  # From so many rows on the cells of a grid pay,
    rows_per_point: int = 512  # if there are so many for each of the points.
    tree_features: int = 8  # Up to so many features a tree beats brute force as an index.
    brute_products: float = 3.2e10  # Up to this n^2 d brute force takes half a second.


POLICY = Policy()


class Cells:
    """Nearest points of very many rows in the plane: a grid whose cells know their candidates.

    A row x in a cell with centre c and half diagonal h has its r nearest points within ``D_r(x) <=
    D_r(c) + h``, so within ``D_r(c) + 2 h`` of c. Where a cell has few such points, the nearest of
    a row in it are found among them; else the tree of the points is asked.
    """

    def __init__(self, points: Array, n_nearest: int, tree: Any) -> None:
        self._n_nearest, self._tree = n_nearest, tree
        low = points.min(axis=0)
        extent = points.max(axis=0) - low
        extent = np.where(extent > 1e-6 * extent.max(), extent, extent.max())  # points on a line
        n_features = len(extent)
        side = float(np.prod((extent / len(points) ** (1 / n_features)) ** (1 / n_features)))
        side /= 64 ** (1 / n_features)  # so many cells per point
        shape = np.ceil(extent / side).astype(np.intp)
        found = self._candidates(low, shape, extent / shape)
        self._grid = Grid(low, shape / extent, shape, *found, points)

    def _candidates(self, low: Array, shape: Indices, side: Array) -> tuple[Any, Any]:
        """The candidates of every cell, ascending, and whether they are all there are."""
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
    """Finds the ``n_nearest`` of sparse points: by products, or directly where these cancel."""

    def __init__(self, points: Any, n_nearest: int, space: Space) -> None:
        self._index, self._n_nearest = SparseIndex(points, space), n_nearest
        self._longest = float(np.sqrt(self._index.squares.max()))

    def __call__(self, X: Any) -> tuple[Indices, Array]:
        """Numbers of the nearest points, ascending, and squared distances to them."""
        nearest = np.empty((X.shape[0], self._n_nearest), dtype=np.intp)
        squared, in_doubt = np.empty(nearest.shape), np.empty(len(nearest), dtype=bool)
        for rows in row_blocks(len(nearest), self._index.size, _CACHED_ENTRIES):
            nearest[rows], squared[rows], in_doubt[rows] = self._pick(X[rows])
        again = np.flatnonzero(in_doubt)
        if len(again):
            distances, nearest[again] = self._index.query(X[again], self._n_nearest)
            squared[again] = np.square(distances)
        order = np.argsort(nearest, axis=1)  # in which dense rows have them
        return np.take_along_axis(nearest, order, 1), np.take_along_axis(squared, order, 1)

    def _pick(self, X: Any) -> tuple[Indices, Array, Any]:
        """The nearest points, squared distances, and whether these may be wrong."""
        of_rows, scores = row_squares(X), self._index.scores(X)
        nearest, found, following = _take_smallest(scores, self._n_nearest)
        n_terms = np.diff(X.indptr) + 8
        error = n_terms * EPS * np.square(np.sqrt(of_rows) + self._longest)
        squared = found + of_rows[:, np.newaxis]
        is_near = following - found[:, -1] <= 2 * error
        return nearest, squared, is_near | (1e-9 * squared.min(axis=1) <= error)


def _take_smallest(scores: Any, n: int) -> tuple[Indices, Any, Any]:
    """Columns of the n smallest scores of each row, these scores, and the next; scores are used."""
    every = np.arange(len(scores))
    nearest = np.empty((len(scores), n), dtype=np.intp)
    smallest = np.empty(nearest.shape, dtype=scores.dtype)
    for place in range(n):
        nearest[:, place] = best = scores.argmin(axis=1)
        smallest[:, place] = scores[every, best]
        scores[every, best] = np.inf
    return nearest, smallest, scores.min(axis=1)


_building = Lock()  # cells are made by one thread, while others wait for them


class NearestLandmarks:
    """Finds the ``n_nearest`` points, in the way that pays for ``n_rows`` rows, and distances."""

    def __init__(
        self, points: Any, n_nearest: int, n_rows: int = 0, metric: Metric = METRICS["euclidean"]
    ) -> None:
        self.metric, self.space = metric, Space(points, metric)
        self.exponent, self.points = self.space.exponent, self.space.in_units(points)
        self.n_nearest, self._n_asked = n_nearest, n_rows
        self._build()

    def __getstate__(self) -> dict[str, Any]:
        # What searches is quickly built again, and trees are nothing that skops can keep.
        built = ("_search", "_tree")
        return {name: value for name, value in self.__dict__.items() if name not in built}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._build()

    def _build(self) -> None:
        """Arrange the points for the search that suits them."""
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

    def _search_for(self, n_rows: int) -> Any:
        """What finds the nearest points of so many more rows: cells once they pay."""
        self._n_asked += n_rows
        n_points, n_features = self.points.shape
        is_flat = self._tree is not None and self.metric.is_flat
        are_many = self._n_asked >= max(POLICY.many_rows, POLICY.rows_per_point * n_points)
        pays = is_flat and are_many and n_features <= POLICY.cell_features
        if pays and self.n_nearest < LAYOUT.candidates < n_points:
            with _building:
                if not isinstance(self._search, Cells):
                    self._search = Cells(self.points, self.n_nearest, self._tree)
        return self._search

    def _directly(self, X: Array) -> Indices:
        """All distances by direct differences."""
        found = np.empty((len(X), self.n_nearest), dtype=np.intp)
        for rows in row_blocks(len(X), len(self.points), 8 * _CACHED_ENTRIES):
            distances = self.metric.all_pairs(X[rows], self.points)
            found[rows] = nearest_of(distances, self.n_nearest)[1]
        found.sort(axis=1)
        return found

    def _by_tree(self, X: Array) -> Indices:
        """A k-d tree."""
        _, found = self._tree.query(X, self.n_nearest, p=self.metric.p)
        # In the order in which cells have them, so that sums over them have the same bits.
        return np.sort(np.reshape(found, (len(X), self.n_nearest)), axis=1)

    def __call__(self, X: Any) -> tuple[Indices, Array]:
        """Numbers of the nearest points, ascending, and squared distances to them, in units."""
        return self.of_points(self.metric.points(X))

    def of_points(self, X: Any) -> tuple[Indices, Array]:
        """The same of rows that are points already."""
        X = self.space.in_units(X)
        if isinstance(self._search, SparseLandmarks):
            return self._search(X)
        nearest = self._search_for(len(X))(X)
        squared = np.empty(nearest.shape, order="F")  # columns are what is worked on
        # By direct differences, without the cancellation of |x|^2 - 2xy + |y|^2.
        for place, column in enumerate(nearest.T):
            if not self.metric.is_flat:
                squared[:, place] = self.metric.between(X, self.points[column]) ** 2
                continue
            difference = self.points[column]
            difference -= X
            np.einsum("ij,ij->i", difference, difference, out=squared[:, place])
        return nearest, squared


class _Product:
    """Scores ``|y|^2 - 2xy`` from a product in float32, doubtful rows by direct differences."""

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
        found.sort(axis=1)  # the order of scores may depend on the company of a row
        return found

    def _pick(self, X: Array, scores: Any) -> tuple[Indices, Any]:
        """The nearest points, and for which rows float32 is not enough to know them."""
        centred = (X - self._centre) / self._unit
        length = np.sqrt(np.einsum("ij,ij->i", centred, centred))
        # Rows far away would overflow; they are in doubt whatever their scores.
        length = np.minimum(length, 1e15)
        one = np.ones((len(X), 1))
        with np.errstate(over="ignore", invalid="ignore"):
            left = np.column_stack([np.clip(centred, -1e15, 1e15), one]).astype(np.float32)
            scores = np.matmul(left, self._factor, out=scores[: len(X)])
        nearest, smallest, following = _take_smallest(scores, self._n_nearest)
        error = score_error(X.shape[1] + 5, self._longest, length)
        return nearest, ~(following - smallest[:, -1] > 2 * error)


def kmeans_centres(rows: Any, counts: Array, n_centres: int, steps: int = 30) -> Any:
    """Centres of groups of different rows in random order, each counting so many times."""
    if n_centres == rows.shape[0]:
        return rows.copy()
    # Sums stay finite in these units, and around one of the rows a mean does not lose the digits of
    # a column that is far from zero compared with its width.
    space = Space(rows, METRICS["euclidean"])
    points = space.points(rows)
    if sparse.issparse(rows):
        centres = _moved(points, counts, n_centres, steps)
        return with_data(centres, space.rows(centres.data))
    first = points[0].copy()
    points -= first
    return space.rows(_moved(points, counts, n_centres, steps) + first)


def _moved(rows: Any, counts: Array, n_centres: int, steps: int) -> Any:
    """The centres after some steps."""
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
    """The mean of each group of rows; that of no rows stays where it is."""
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
    """The centre nearest to each row, by a search among the centres."""
    group = np.empty(rows.shape[0], dtype=np.intp)
    # One thread works on at most 2048 rows, and 2^19 numbers, at a time.
    width = max(0 if sparse.issparse(rows) else rows.shape[1], (1 << 19) // 2048)

    def fill(some: slice) -> None:
        group[some] = search(rows[some])[0][:, 0]

    for_each(fill, row_blocks(rows.shape[0], width, 1 << 19))
    return group


class CellIndex(ProductIndex):
    """Nearly all neighbours: points of the cells around a query, then those linked to them."""

    is_exact = False
    cells_per_root = 1.6  # times sqrt(n) is the number of cells
    sampled_per_cell, kmeans_steps = 32, 6  # for the k-means that places them
    searched_cells = 16  # for a query
    n_starts = 16  # points of these cells
    n_linked = 16  # neighbours of each point in the graph,
    n_links = 2  # which is improved so many times
    n_expanded = 32  # points whose neighbours a query meets,
    n_rounds = 4  # at most so many times

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
        # Points of a cell are together, so that what a query meets is in the cache.
        self._number_at = np.argsort(self._cell, kind="stable")
        self._place_of = np.full(self.size + 1, -1, dtype=np.intc)
        self._place_of[self._number_at] = np.arange(self.size)
        self._packed = self._search.packed(self.points, self._number_at)
        if self._graph is None:
            self._graph = np.empty((self.size, 0), dtype=np.intc)
            for _ in range(1 + self.n_links):
                self._graph = self._linked(min(self.n_linked + 1, self.size))

    def _linked(self, k: int) -> Any:
        """The nearest places of each place but itself, by the graph so far."""
        linked = np.empty((self.size, k), dtype=np.intc)

        def fill(block: Block) -> None:
            rows, cells = block
            places = self._place_of[rows]
            starts = np.column_stack([places, self._graph[places]])
            if not self._graph.shape[1]:
                starts = self._starts(self.points[rows], k, cells)[0]
            linked[places] = self._met(self._packed[places], starts, k, rounds=1)

        for_each(fill, self._blocks(self.points, k), "blocks of rows searched")
        return _with_reverse(linked[:, 1:])

    def __getstate__(self) -> dict[str, Any]:
        kept = ("_centres", "_home", "_cell", "_graph")  # what takes long to find
        return super().__getstate__() | {name: getattr(self, name) for name in kept}

    def _blocks(self, queries: Array, k: int) -> list[Block]:
        is_itself = queries is self.points
        cell = self._cell if is_itself else nearest_centres(queries, self._home)
        order = np.argsort(cell, kind="stable")
        occupied, first = np.unique(cell[order], return_index=True)
        blocks: list[Block] = []
        for home, rows in zip(occupied, np.split(order, first[1:]), strict=True):
            cells = self._cells_around(home, max(k, self.n_starts))
            step = self._step(k, cells)
            blocks += [(rows[start : start + step], cells) for start in range(0, len(rows), step)]
        return blocks

    def _cells_around(self, home: int, k: int) -> Indices:
        """The cells to look into, the nearest first: more of them where they hold few points."""
        difference = self._centres - self._centres[home]
        order = np.argsort(np.einsum("ij,ij->i", difference, difference), kind="stable")
        sizes = np.cumsum(self._search.cell_sizes[order])
        enough = int(np.searchsorted(sizes, min(4 * k, self.size))) + 1
        return np.asarray(order[: max(self.searched_cells, enough)])

    def _starts(self, queries: Array, k: int, cells: Indices | None) -> tuple[Any, Indices]:
        """Places of the nearest points of some cells, and how many of them there are."""
        k = min(max(k, self.n_starts), self.size)
        candidates, count = self._search.candidates(queries, k, self.candidates * k, cells)
        return self._place_of[candidates], count

    def _met(self, packed: Any, starts: Any, k: int, rounds: int) -> Any:
        """Places of the k nearest of the points that queries meet."""
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
        # Some more than k, for those at equal distance are told apart by their numbers.
        places = self._met(packed, starts, min(k + 8, self.size), self.n_rounds)
        numbers = self._number_at[places]
        origin = np.repeat(np.arange(len(queries)), places.shape[1])
        distances = self.distances_of_pairs(queries, origin, numbers.ravel())
        distances = np.where(places < 0, np.inf, distances.reshape(numbers.shape))
        distances, numbers = in_order(distances, numbers)
        # Float32 tells points apart where they are not much nearer to each other than to 0.
        told = distances[:, k - 1] > self._search.blur(packed)
        return told & (count > 0) & (places[:, k - 1] >= 0), distances[:, :k], numbers[:, :k]


def _with_reverse(linked: Any) -> Any:
    """Neighbours of each point, -1 for none, and the nearest of those it is a neighbour of."""
    n, k = linked.shape
    flat = linked.T.ravel()
    order = np.argsort(flat, kind="stable")  # by point, then by rank
    order = order[flat[order] >= 0]
    point, origin = flat[order], (order % n).astype(np.intc)
    rank = np.arange(len(point)) - np.searchsorted(point, np.arange(n))[point]
    both = np.full((n, 2 * k), -1, dtype=np.intc)
    both[:, :k] = linked
    both[point[rank < k], k + rank[rank < k]] = origin[rank < k]
    return both


_KINDS: dict[str, Callable[[Any, Space], Index]] = {
    "kdtree": TreeIndex,
    "brute": brute_index,
    "approximate": CellIndex,
}
INDEXES = ("auto", *_KINDS)


def allowed_indexes(metric: str, is_sparse: bool) -> tuple[str, ...]:
    """Those that can find neighbours of dense or of sparse rows by this metric."""
    if is_sparse:
        return ("brute",)
    used = METRICS[metric]
    is_allowed = {"kdtree": used.has_means, "brute": True, "approximate": used.is_flat}
    return tuple(kind for kind in _KINDS if is_allowed[kind])


def build_index(name: str, points: Any, space: Space) -> tuple[str, Index]:
    """The index of that name, or the fastest one if that is "auto"; and its name."""
    if name == "auto":
        n, d = points.shape
        is_plain = space.metric.is_flat and not sparse.issparse(points)
        is_large = is_plain and float(n) ** 2 * d > POLICY.brute_products
        name = "approximate" if is_large else "brute"
        if _has_tree(points, space):
            name = "kdtree"
    return name, _KINDS[name](points, space)


def exact_index(points: Any, space: Space) -> Index:
    """The faster of the exact ones."""
    return (TreeIndex if _has_tree(points, space) else brute_index)(points, space)


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
    def build(cls, rows: Any, metric: str, index: str, axes: Array | None = None) -> SearchedPoints:
        """Build the index of that name on distinct rows, or on their parts along axes."""
        space = Space(rows, METRICS[metric], axes)
        points = space.points(rows)
        return cls(space, points, *build_index(index, points, space))

    def nearest(self, k: int) -> Found:
        """The k nearest of each of the points, itself the first; found once."""
        larger = [n for n in self._nearest if n > k and self.index.is_exact]
        if k not in self._nearest and larger:
            distances, numbers = self._nearest[larger[0]]
            self._nearest[k] = distances[:, :k].copy(), numbers[:, :k].copy()
        elif k not in self._nearest:
            self._nearest[k] = self.index.query_itself(k)
        return self._nearest[k]


@dataclass(frozen=True)
class SearchedRows:
    """The distinct rows of a table, searched."""

    distinct: DistinctRows
    points: SearchedPoints
