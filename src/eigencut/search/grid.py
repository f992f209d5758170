"""Nearest points of very many rows in the plane: a grid whose cells know their candidates.

A row x in a cell with centre c and half diagonal h has its r nearest points within ``D_r(x) <=
D_r(c) + h``, so within ``D_r(c) + 2 h`` of c. Where a cell has few such points, the nearest of a
row in it are found among them by a handful of vector operations, twice as fast as by a walk down
a tree.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import eigencut.kernels.native as native
from eigencut.runtime.arrays import Array, Indices

CELL_FEATURES = 2  # in more dimensions there are too many cells, and too many candidates in each

_CELLS_PER_POINT = 64
CANDIDATES = 12  # of a cell; where there are more, the tree is asked
_POSITION_BITS = np.int64(15)  # of a distance, which hold the position among the candidates


class Cells:
    """Candidates for the nearest points, by cells of a grid.

    Parameters
    ----------
    points : array of shape (n_points, n_features)
    n_nearest : int
        At most 12.
    tree : scipy.spatial.cKDTree of the points

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
        self._points, self._n_nearest, self._tree = points, n_nearest, tree
        self._low = points.min(axis=0)
        extent = points.max(axis=0) - self._low
        extent = np.where(extent > 1e-6 * extent.max(), extent, extent.max())  # points on a line
        n_features = len(extent)
        side = float(np.prod((extent / len(points) ** (1 / n_features)) ** (1 / n_features)))
        side /= _CELLS_PER_POINT ** (1 / n_features)
        self._shape = np.ceil(extent / side).astype(np.intp)
        self._scale = self._shape / extent
        self._candidates, self._is_known = self._find(extent / self._shape)

    def _find(self, side: Array) -> tuple[Any, Any]:
        """The candidates of every cell, ascending, and whether they are all there are."""
        axes = [np.arange(n) + 0.5 for n in self._shape]
        centres = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(side))
        distances, found = self._tree.query(self._low + centres * side, CANDIDATES + 1)
        reach = distances[:, self._n_nearest - 1] + np.linalg.norm(side) * (1 + 1e-9)
        return np.sort(found[:, :-1], axis=1).astype(np.int32), distances[:, -1] > reach

    def __call__(self, X: Array) -> Indices:
        kernel = native.library()
        if kernel is None:
            found, told = self._by_numpy(X)
        else:
            grid = (self._low, self._scale, self._shape)
            found, told = native.near_in_cells(
                kernel, X, grid, self._candidates, self._is_known, self._points, self._n_nearest
            )
        others = np.flatnonzero(~told)
        if len(others):
            _, nearest = self._tree.query(X[others], self._n_nearest)
            found[others] = np.sort(np.reshape(nearest, (len(others), self._n_nearest)), axis=1)
        return found

    def _by_numpy(self, X: Array) -> tuple[Indices, Any]:
        """The nearest of each row, ascending, and for which rows they are known."""
        place = np.floor(np.clip((X - self._low) * self._scale, -1, self._shape)).astype(np.intp)
        inside = ((place >= 0) & (place < self._shape)).all(axis=1)
        cell: Indices = np.asarray(
            np.ravel_multi_index(np.where(inside[:, np.newaxis], place, 0).T, self._shape)
        )
        found = self._among_candidates(X, cell)
        found.sort(axis=1)
        return found, inside & self._is_known[cell]

    def _among_candidates(self, X: Array, cell: Indices) -> Indices:
        candidates = self._candidates[cell].T
        squared = np.zeros(candidates.shape)
        for x, y in zip(X.T, self._points.T, strict=True):
            difference = y[candidates]
            difference -= x
            difference *= difference
            squared += difference
        # The last bits of a distance make room for the position, so that both are sorted as one.
        keys = squared.view(np.int64)
        keys &= ~_POSITION_BITS
        keys |= np.arange(CANDIDATES, dtype=np.int64)[:, np.newaxis]
        smaller = np.empty(len(X))
        for first in range(self._n_nearest):
            for second in range(CANDIDATES - 1, first, -1):
                np.minimum(squared[second - 1], squared[second], out=smaller)
                np.maximum(squared[second - 1], squared[second], out=squared[second])
                squared[second - 1] = smaller
        position = keys[: self._n_nearest] & _POSITION_BITS
        return np.take_along_axis(candidates, position, axis=0).T.astype(np.intp)
