"""The nearest landmarks of every row.

In few dimensions a k-d tree finds them (for millions of rows in the plane, the cells of a grid). In
many, all distances of a block of rows come from one
matrix product in float32, and the smallest are picked one after the other: finding a minimum reads
1000 numbers in 0.1 microseconds, while a partial sort takes ten times as long. Where float32 cannot
tell the last neighbour from the next, the row is done again in float64 by direct differences; so
the neighbours are those of float64.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from eigencut.kernels.layout import CANDIDATES
from eigencut.runtime.arrays import Array, Indices
from eigencut.runtime.blocks import row_blocks
from eigencut.search.distances import nearest_of
from eigencut.search.float32_candidates import score_error
from eigencut.search.grid import CELL_FEATURES, Cells
from eigencut.search.tree import TREE_LEAF

_TREE_FEATURES = 4  # up to here the tree is faster
MANY_ROWS = 1 << 19  # from here on cells pay
_FEW_POINTS = 64  # up to here direct differences are as fast as anything
_PRODUCT_ENTRIES = 512 * 1024  # of a matrix of distances: it stays in the cache of a core
_DIRECT_ENTRIES = 4 * 1024 * 1024
_FARTHEST = 1e150  # rows beyond are moved here, so that their squares stay finite


class NearestLandmarks:
    """Finds the ``n_nearest`` of the points that are nearest to a row, and their distances.

    Parameters
    ----------
    points : array of shape (n_points, n_features)
    n_nearest : int
        At most ``n_points``.
    n_rows : int, default=0
        Rows that will be asked about: what pays for many need not for few.

    Examples
    --------
    >>> import numpy as np
    >>> nearest, squared = NearestLandmarks(np.array([[0.0], [1.0], [5.0]]), 2)(np.array([[4.0]]))
    >>> nearest, squared
    (array([[1, 2]]), array([[9., 1.]]))
    """

    def __init__(self, points: Array, n_nearest: int, n_rows: int = 0) -> None:
        self.points = points
        self.n_nearest = n_nearest
        self._search = self._strategy(n_rows)

    def _strategy(self, n_rows: int) -> Any:
        n_points, n_features = self.points.shape
        if n_points <= _FEW_POINTS or self.n_nearest == n_points:
            return _Direct(self.points, self.n_nearest)
        if n_features <= _TREE_FEATURES:
            tree = _Tree(self.points, self.n_nearest)
            pays = n_rows >= MANY_ROWS and n_features <= CELL_FEATURES
            if pays and self.n_nearest < CANDIDATES < n_points:
                return Cells(self.points, self.n_nearest, tree.tree)
            return tree
        return _Product(self.points, self.n_nearest)

    def __call__(self, X: Array) -> tuple[Indices, Array]:
        """Numbers of the nearest points, in no particular order, and squared distances to them."""
        if np.abs(X).max() > _FARTHEST:
            X = np.clip(X, -_FARTHEST, _FARTHEST)
        nearest = self._search(X)
        squared = np.empty(nearest.shape, order="F")  # columns are what is worked on
        # By direct differences, without the cancellation of |x|^2 - 2xy + |y|^2.
        for place, column in enumerate(nearest.T):
            difference = self.points[column]
            difference -= X
            np.einsum("ij,ij->i", difference, difference, out=squared[:, place])
        return nearest, squared


class _Direct:
    """All distances by direct differences."""

    def __init__(self, points: Array, n_nearest: int) -> None:
        self._points, self._n_nearest = points, n_nearest

    def __call__(self, X: Array) -> Indices:
        from scipy.spatial.distance import cdist

        found = np.empty((len(X), self._n_nearest), dtype=np.intp)
        for rows in row_blocks(len(X), len(self._points), _DIRECT_ENTRIES):
            found[rows] = nearest_of(cdist(X[rows], self._points), self._n_nearest)[1]
        found.sort(axis=1)
        return found


class _Tree:
    """A k-d tree."""

    def __init__(self, points: Array, n_nearest: int) -> None:
        from scipy.spatial import cKDTree

        self._n_nearest = n_nearest
        self.tree = cKDTree(points, leafsize=TREE_LEAF)

    def __call__(self, X: Array) -> Indices:
        _, found = self.tree.query(X, self._n_nearest)
        return np.asarray(found).reshape(len(X), self._n_nearest)


class _Product:
    """Scores ``|y|^2 - 2xy`` from a product in float32, doubtful rows by direct differences."""

    def __init__(self, points: Array, n_nearest: int) -> None:
        self._direct = _Direct(points, n_nearest)
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
        step = max(1, _PRODUCT_ENTRIES // self._factor.shape[1])
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
        every = np.arange(len(X))
        found = np.empty((len(X), self._n_nearest), dtype=np.intp)
        last = np.zeros(len(X), dtype=np.float32)
        for place in range(self._n_nearest):
            found[:, place] = best = scores.argmin(axis=1)
            last = scores[every, best]
            scores[every, best] = np.inf
        following = scores.min(axis=1)
        error = score_error(X.shape[1], self._longest, length)
        return found, ~(following - last > 2 * error)
