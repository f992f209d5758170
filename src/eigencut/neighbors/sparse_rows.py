"""Nearest neighbours of sparse rows, by comparing every query with all points.

A sparse product gives the scores ``|y|^2 - 2xy`` of a block of queries, in float64; the distances
to the points of the smallest are then taken directly.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import sparse

from eigencut._utils.arrays import Array, Indices, row_blocks
from eigencut._utils.threads import for_each
from eigencut.neighbors.distances import Found, in_order, nearest_of
from eigencut.neighbors.float32_candidates import relevant_length
from eigencut.neighbors.index import BLOCK_ELEMENTS, Index

_EPS = float(np.finfo(np.float64).eps)
_FEW_CANDIDATES, _MANY_CANDIDATES = 2, 64  # per neighbour


class SparseIndex(Index):
    """Points in the rows of a sparse array.

    Where more than 64 k points are as near as the k-th up to the rounding of float64, the first
    of them by score and number are compared.
    """

    def _build(self) -> None:
        self._columns = self.points.T.tocsr()
        self._squares = row_squares(self.points)
        self._most_terms = int(np.diff(self.points.indptr).max(initial=0))

    def query(self, queries: Any, k: int) -> Found:
        k, m = min(k, self.size), queries.shape[0]
        distances, numbers = np.empty((m, k)), np.empty((m, k), dtype=np.intp)
        radius = math.sqrt(np.partition(self._squares, k - 1)[k - 1])

        def fill(rows: slice) -> None:
            distances[rows], numbers[rows] = self._nearest(queries[rows], k, radius)

        blocks = row_blocks(m, self.size, BLOCK_ELEMENTS)
        for_each(fill, blocks, "blocks of rows searched")
        return distances, numbers

    def _nearest(self, queries: Any, k: int, radius: float) -> Found:
        scores = (queries @ self._columns).toarray()
        scores *= -2
        scores += self._squares
        error = self._error(np.sqrt(row_squares(queries)), radius)
        limit = np.partition(scores, k - 1, axis=1)[:, k - 1] + 2 * error
        count = np.count_nonzero(scores <= limit[:, np.newaxis], axis=1)
        distances = np.empty((len(scores), k))
        numbers = np.empty((len(scores), k), dtype=np.intp)
        is_few = count <= _FEW_CANDIDATES * k
        for rows, width in ((is_few, _FEW_CANDIDATES * k), (~is_few, _MANY_CANDIDATES * k)):
            some = np.flatnonzero(rows)
            if len(some):
                candidates = nearest_of(scores[some], min(width, self.size))[1]
                found = self._in_order(queries[some], candidates)
                distances[some], numbers[some] = found[0][:, :k], found[1][:, :k]
        return distances, numbers

    def _error(self, length: Array, radius: float) -> Array:
        """Bound on the error of a score of a point that can be among the k nearest."""
        longest = relevant_length(length, radius)
        return (self._most_terms + 8) * _EPS * longest * (2 * length + longest)

    def _in_order(self, queries: Any, numbers: Indices) -> Found:
        """The points of these numbers, the nearest first."""
        origin = np.repeat(np.arange(len(numbers)), numbers.shape[1])
        found = self.distances_of_pairs(queries, origin, numbers.ravel())
        return in_order(found.reshape(numbers.shape), numbers)


def row_squares(rows: Any) -> Array:
    """|x|^2 of each row."""
    squared = sparse.csr_array((rows.data * rows.data, rows.indices, rows.indptr), rows.shape)
    return np.asarray(squared.sum(axis=1)).ravel()
