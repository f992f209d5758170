"""Nearest neighbours, nearly all of them: only some cells of the points are looked into."""

from __future__ import annotations

from typing import Any

import numpy as np

from eigencut._utils.arrays import Array, Indices
from eigencut.neighbors.brute import Block, ProductIndex
from eigencut.neighbors.float32_candidates import ProductSearch
from eigencut.neighbors.kmeans import kmeans_centres, nearest_centres
from eigencut.neighbors.metrics import Space
from eigencut.neighbors.nearest_landmarks import NearestLandmarks

_CELLS = 1.6  # times sqrt(n): the number of cells
_SAMPLED_PER_CELL, _KMEANS_STEPS = 32, 6  # points, for the k-means that places them
_SEARCHED_CELLS = 64  # for a query
_MANY_POINTS = 100_000  # beyond, the cells searched grow with the fourth root of n


class CellIndex(ProductIndex):
    """Cells around the centres of a k-means; a query looks into those nearest to its own.

    The same points give the same answers whatever the threads and the company of a query. A point
    is always its own nearest.
    """

    def __init__(self, points: Array, space: Space) -> None:
        n_cells = min(len(points), round(_CELLS * np.sqrt(len(points))))
        sample = np.random.default_rng(0).permutation(len(points))[: _SAMPLED_PER_CELL * n_cells]
        self._centres = kmeans_centres(
            points[sample], np.ones(len(sample)), n_cells, steps=_KMEANS_STEPS
        )
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
        usual = round(_SEARCHED_CELLS * max(1.0, self.size / _MANY_POINTS) ** 0.25)
        return np.asarray(order[: max(usual, enough)])
