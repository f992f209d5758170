"""Nearest neighbours by a k-d tree: fast in few dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np

from eigencut._utils.arrays import Array, Indices, blocks_of_cost, row_blocks
from eigencut._utils.threads import for_each
from eigencut.neighbors.distances import Found, in_order
from eigencut.neighbors.index import BLOCK_ELEMENTS, DIRECT_SHARE, Index, neighbors_together

TREE_LEAF = 8
_ROUNDING = 1e-12  # relative; more than the error of a distance from direct differences
_PER_NEIGHBOR = 8  # numbers held while one is looked for
_COUNTED_ROWS = 1024  # at a time
_SHOWN, _MANY_QUERIES = 32, 1024  # queries by which the tree is judged, where they are many
_LARGE_PART = 64


class TreeIndex(Index):
    """A k-d tree. A query asks for one neighbour more than k, to see whether the k-th is alone.

    Where it is not, the tree counts the points that are as near, and is asked for so many; where
    they are a large part of all, all distances are as cheap.
    """

    def _build(self) -> None:
        from scipy.spatial import cKDTree

        self._tree = cKDTree(self.points, leafsize=TREE_LEAF)

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
        is_tied = distances[:, k] <= distances[:, k - 1] * (1 + _ROUNDING)
        found, tied = (distances[:, :k].copy(), numbers[:, :k].copy()), np.flatnonzero(is_tied)
        if len(tied):
            radius = found[0][tied, -1] * (1 + _ROUNDING)
            for kept, again in zip(found, self._within(queries[tied], radius, k), strict=True):
                kept[tied] = again
        return found

    def _is_of_no_use(self, queries: Array, k: int) -> bool:
        """Whether a part of all points is as near as the k-th, as some queries show.

        Then a walk through the tree goes nearly everywhere, and takes longer than all distances do.
        """
        some = queries[:: -(-len(queries) // _SHOWN)] if len(queries) > _MANY_QUERIES else ()
        if not len(some):
            return False
        radius = self._tree.query(some, [k], p=self._p)[0][:, 0] * (1 + _ROUNDING)
        count = self._tree.query_ball_point(some, radius, self._p, return_length=True)
        return bool(np.mean(count) > max(2 * k, self.size / _LARGE_PART))

    def _is_many(self, asked: int) -> bool:
        return asked > self.size // DIRECT_SHARE

    def _within(self, queries: Array, radius: Array, k: int) -> Found:
        """The k nearest of queries that have more points than these within a radius."""
        count = np.empty(len(queries), dtype=np.intp)

        def fill(rows: slice) -> None:
            given = queries[rows], radius[rows], self._p
            count[rows] = self._tree.query_ball_point(*given, return_length=True)

        for_each(fill, row_blocks(len(queries), 1, _COUNTED_ROWS))
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
        distances, numbers = np.empty((len(rows), k)), np.empty((len(rows), k), dtype=np.intp)

        def fill(block: slice) -> None:
            asked = max(int(count[block].max()), k)
            found = self._tree.query(queries[rows[block]], np.arange(1, asked + 1), p=self._p)
            ties = np.flatnonzero((found[0][:, 1:] == found[0][:, :-1]).any(axis=1))
            found[0][ties], found[1][ties] = in_order(found[0][ties], found[1][ties])
            distances[block], numbers[block] = found[0][:, :k], found[1][:, :k]

        blocks = blocks_of_cost(_PER_NEIGHBOR * np.maximum(count, k), 4 * BLOCK_ELEMENTS)
        for_each(fill, blocks, "blocks of rows searched")
        return distances, numbers

    @property
    def _p(self) -> float:
        p = self.space.metric.p
        assert p is not None  # no tree is built for sets and codes
        return p
