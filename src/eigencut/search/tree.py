"""Nearest neighbours by a k-d tree: fast in few dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np

from eigencut.runtime.arrays import Array
from eigencut.search.distances import Found, in_order
from eigencut.search.index import ROUNDING, RepeatedIndex, neighbors_together
from eigencut.search.metrics import Space

TREE_LEAF = 8


class TreeIndex(RepeatedIndex):
    """A k-d tree: fast in few dimensions."""

    def __init__(self, points: Array, space: Space) -> None:
        from scipy.spatial import cKDTree

        super().__init__(points, space)
        self._tree = cKDTree(points, leafsize=TREE_LEAF)

    def query_itself(self, k: int) -> Found:
        order = neighbors_together(self.points)
        found = self.query(self.points[order], k)
        distances, numbers = np.empty_like(found[0]), np.empty_like(found[1])
        distances[order], numbers[order] = found
        return distances, numbers

    def _candidates(self, queries: Array, asked: int) -> Found:
        distances, numbers = self._tree.query(queries, asked, p=self.space.metric.p)
        ties = np.flatnonzero((distances[:, 1:] == distances[:, :-1]).any(axis=1))
        distances[ties], numbers[ties] = in_order(distances[ties], numbers[ties])
        return distances, numbers

    def _is_settled(self, queries: Array, distances: Array, k: int) -> Any:
        return distances[:, k - 1] * (1 + ROUNDING) < distances[:, -1]
