"""Nearest points of very many rows in the plane: a grid whose cells know their candidates.

A row x in a cell with centre c and half diagonal h has its r nearest points within ``D_r(x) <=
D_r(c) + h``, so within ``D_r(c) + 2 h`` of c. Where a cell has few such points, the nearest of a
row in it are found among them by a handful of vector operations, twice as fast as by a walk down
a tree.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from eigencut import kernels
from eigencut.kernels.layout import CANDIDATES
from eigencut.kernels.numpy_kernels import Grid
from eigencut.runtime.arrays import Array, Indices

CELL_FEATURES = 2  # in more dimensions there are too many cells, and too many candidates in each

_CELLS_PER_POINT = 64


class Cells:
    """Candidates for the nearest points, by cells of a grid.

    Parameters
    ----------
    points : array of shape (n_points, n_features)
    n_nearest : int
        Below ``CANDIDATES``; where a cell has more of these, the tree is asked.
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
        self._n_nearest, self._tree = n_nearest, tree
        low = points.min(axis=0)
        extent = points.max(axis=0) - low
        extent = np.where(extent > 1e-6 * extent.max(), extent, extent.max())  # points on a line
        n_features = len(extent)
        side = float(np.prod((extent / len(points) ** (1 / n_features)) ** (1 / n_features)))
        side /= _CELLS_PER_POINT ** (1 / n_features)
        shape = np.ceil(extent / side).astype(np.intp)
        found = self._candidates(low, shape, extent / shape)
        self._grid = Grid(low, shape / extent, shape, *found, points)

    def _candidates(self, low: Array, shape: Indices, side: Array) -> tuple[Any, Any]:
        """The candidates of every cell, ascending, and whether they are all there are."""
        axes = [np.arange(n) + 0.5 for n in shape]
        centres = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(side))
        distances, found = self._tree.query(low + centres * side, CANDIDATES + 1)
        reach = distances[:, self._n_nearest - 1] + np.linalg.norm(side) * (1 + 1e-9)
        return np.sort(found[:, :-1], axis=1).astype(np.int32), distances[:, -1] > reach

    def __call__(self, X: Array) -> Indices:
        found, told = kernels.chosen.near_in_cells(X, self._grid, self._n_nearest)
        others = np.flatnonzero(~told)
        if len(others):
            _, nearest = self._tree.query(X[others], self._n_nearest)
            found[others] = np.sort(np.reshape(nearest, (len(others), self._n_nearest)), axis=1)
        return found
