"""The nearest landmarks of every row.

In few dimensions a k-d tree finds them (for millions of rows in the plane, the cells of a grid). In
many, all distances of a block of rows come from one matrix product in float32, and the smallest are
picked one after the other, which is faster than a partial sort. Where float32 cannot tell the last
neighbour from the next, the row is done again in float64 by direct differences.
"""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np
from scipy.sparse import issparse

from eigencut import kernels
from eigencut._utils.arrays import EPS, Array, Indices, row_blocks
from eigencut.kernels.layout import LAYOUT
from eigencut.kernels.numpy_kernels import Grid
from eigencut.neighbors.brute import SparseIndex, row_squares, score_error
from eigencut.neighbors.metrics import METRICS, Metric, Space, nearest_of

_CACHED_ENTRIES = 1 << 19  # of a matrix of distances that stays in the cache of a core


@dataclass(frozen=True)
class Policy:
    """Which search finds the nearest landmarks."""

    few_points: int = 64  # Up to so many points direct differences are as fast as anything.
    tree_features: int = 4  # Up to so many features a tree is faster than a product.
    cell_features: int = 2  # In more dimensions there are too many cells and candidates.
    many_rows: int = 1 << 19  # From so many rows on the cells of a grid pay,
    rows_per_point: int = 512  # if there are so many for each of the points.


POLICY = Policy()


class Cells:
    """Nearest points of very many rows in the plane: a grid whose cells know their candidates.

    A row x in a cell with centre c and half diagonal h has its r nearest points within ``D_r(x) <=
    D_r(c) + h``, so within ``D_r(c) + 2 h`` of c. Where a cell has few such points, the nearest of
    a row in it are found among them; else the tree of the points is asked.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.spatial import cKDTree
    >>> points = np.random.default_rng(0).random((100, 2))
    >>> tree, X = cKDTree(points), np.random.default_rng(1).random((50, 2))
    >>> found = Cells(points, 3, tree)(X)
    >>> bool((found == np.sort(tree.query(X, 3)[1])).all())
    True
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
    """Finds the ``n_nearest`` of sparse points, by products in float64.

    A centre of a few dozen rows with a few dozen words each has few of all words, so these products
    take a fraction of the time of dense ones. Where ``|x|^2 - 2xy + |y|^2`` does not tell which are
    nearest, or cancels, distances are taken directly.
    """

    def __init__(self, points: Any, n_nearest: int, space: Space) -> None:
        self._index, self._n_nearest = SparseIndex(points, space), n_nearest
        self._columns = points.T.tocsr()
        self._squares = row_squares(points)
        self._longest = float(np.sqrt(self._squares.max()))

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
        of_rows = row_squares(X)
        scores = (X @ self._columns).toarray()
        scores *= -2
        scores += self._squares
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
    """Finds the ``n_nearest`` of the points that are nearest to a row, and their distances.

    Distances other than the Euclidean one are all measured, or found by the tree.

    Parameters
    ----------
    points : array or sparse array of shape (n_points, n_features)
    n_nearest : int
        At most ``n_points``.
    n_rows : int, default=0
        Rows that will be asked about: what pays for many need not for few. Where more are asked
        about than it says, it is found out; what is found is the same.
    metric : Metric, default=METRICS["euclidean"]
        Of rows; ``points`` are points of it already.

    Attributes
    ----------
    points : array or sparse array of shape (n_points, n_features)
        In units of ``2 ** exponent``, around their middle.
    exponent : int

    Examples
    --------
    >>> import numpy as np
    >>> search = NearestLandmarks(np.array([[0.0], [1.0], [5.0]]), 2)
    >>> nearest, squared = search(np.array([[4.0]]))
    >>> nearest, np.ldexp(squared, 2 * search.exponent)
    (array([[1, 2]]), array([[9., 1.]]))
    """

    def __init__(
        self,
        points: Any,
        n_nearest: int,
        n_rows: int = 0,
        metric: Metric = METRICS["euclidean"],
    ) -> None:
        self.metric = metric
        self.space = Space(points, metric)
        self.exponent = self.space.exponent
        self.points: Any = self.space.in_units(points)
        self.n_nearest = n_nearest
        self._n_asked = n_rows
        self._search = self._strategy()

    def __getstate__(self) -> dict[str, Any]:
        # What searches is quickly built anew, and trees are nothing that skops can keep.
        return {name: value for name, value in self.__dict__.items() if name != "_search"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._search = self._strategy()

    def _strategy(self) -> Any:
        n_points, n_features = self.points.shape
        direct = _Direct(self.points, self.n_nearest, self.metric)
        if issparse(self.points):
            return SparseLandmarks(self.points, self.n_nearest, self.space)
        if n_points <= POLICY.few_points or self.n_nearest == n_points:
            return direct
        if n_features <= POLICY.tree_features and self.metric.has_means:
            return _Tree(self.points, self.n_nearest, self.metric)
        return _Product(self.points, self.n_nearest) if self.metric.is_flat else direct

    def _search_for(self, n_rows: int) -> Any:
        """What finds the nearest points of so many more rows: cells once they pay."""
        self._n_asked += n_rows
        if self._n_asked >= POLICY.many_rows and isinstance(self._search, _Tree):
            n_points, n_features = self.points.shape
            pays = self._n_asked >= POLICY.rows_per_point * n_points
            pays = pays and n_features <= POLICY.cell_features
            pays = pays and self.metric.is_flat
            if pays and self.n_nearest < LAYOUT.candidates < n_points:
                with _building:
                    if isinstance(self._search, _Tree):
                        self._search = Cells(self.points, self.n_nearest, self._search.tree)
        return self._search

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


class _Direct:
    """All distances by direct differences."""

    def __init__(self, points: Array, n_nearest: int, metric: Metric) -> None:
        self._points, self._n_nearest, self._metric = points, n_nearest, metric

    def __call__(self, X: Array) -> Indices:
        found = np.empty((len(X), self._n_nearest), dtype=np.intp)
        for rows in row_blocks(len(X), len(self._points), 8 * _CACHED_ENTRIES):
            distances = self._metric.all_pairs(X[rows], self._points)
            found[rows] = nearest_of(distances, self._n_nearest)[1]
        found.sort(axis=1)
        return found


class _Tree:
    """A k-d tree."""

    def __init__(self, points: Array, n_nearest: int, metric: Metric) -> None:
        from scipy.spatial import cKDTree

        self._n_nearest, self._p = n_nearest, metric.p
        self.tree = cKDTree(points, leafsize=8)

    def __call__(self, X: Array) -> Indices:
        _, found = self.tree.query(X, self._n_nearest, p=self._p)
        # In the order in which cells have them, so that sums over them have the same bits.
        return np.sort(np.reshape(found, (len(X), self._n_nearest)), axis=1)


class _Product:
    """Scores ``|y|^2 - 2xy`` from a product in float32, doubtful rows by direct differences."""

    def __init__(self, points: Array, n_nearest: int) -> None:
        self._direct = _Direct(points, n_nearest, METRICS["euclidean"])
        self._n_nearest = n_nearest
        self._centre = points.mean(axis=0)
        centred = points - self._centre
        self._unit = float(np.abs(centred).max()) or 1.0
        centred = centred / self._unit
        squares = np.einsum("ij,ij->i", centred, centred)
        self._factor = np.column_stack([-2 * centred, squares]).T.astype(np.float32)
        self._longest = float(np.sqrt(squares.max()))

    def __call__(self, X: Array) -> Indices:
        found = np.empty((len(X), self._n_nearest), dtype=np.intp)
        step = max(1, _CACHED_ENTRIES // self._factor.shape[1])
        scores = np.empty((step, self._factor.shape[1]), dtype=np.float32)
        doubtful = [np.empty(0, dtype=np.intp)]
        for start in range(0, len(X), step):
            rows = slice(start, start + step)
            found[rows], in_doubt = self._pick(X[rows], scores)
            doubtful.append(start + np.flatnonzero(in_doubt))
        again = np.concatenate(doubtful)
        if len(again):
            found[again] = self._direct(X[again])
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
        error = score_error(X.shape[1], self._longest, length)
        return nearest, ~(following - smallest[:, -1] > 2 * error)
