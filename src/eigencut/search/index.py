"""What a search for neighbours is asked, and the search that proves its answers.

Exact searches agree to the last neighbour, on ties too: points at equal distance come in the order
of their numbers. So a graph does not depend on which of them was used, on the threads or on the
order of the rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from scipy import sparse

from eigencut.runtime.arrays import Array, Indices
from eigencut.runtime.blocks import row_blocks
from eigencut.runtime.progress import counted
from eigencut.runtime.threads import blas_threads, for_each
from eigencut.search.distances import Found, nearest_of
from eigencut.search.metrics import Space

DIRECT_SHARE = 4  # with more than n over this asked for, all distances are as cheap
ROUNDING = 1e-12  # relative; more than the error of a distance from direct differences
_BLOCK_ELEMENTS = 1 << 20  # distances, or coordinates of pairs, held at a time


class Index(ABC):
    """Finds the nearest of the points that it was built on."""

    def __init__(self, points: Any, space: Space) -> None:
        self.points = points
        self.space = space
        self.size: int = points.shape[0]

    @abstractmethod
    def query(self, queries: Any, k: int) -> Found:
        """The k nearest points of each query, or all if there are fewer."""

    def query_itself(self, k: int) -> Found:
        """The k nearest of each of the points, itself the first."""
        return self.query(self.points, k)

    def _distances(self, queries: Any, numbers: Indices) -> Array:
        """Distances from each query to its points of these numbers, from direct differences."""
        m, k = numbers.shape
        found = np.empty((m, k))
        for rows in row_blocks(m, k * queries.shape[1], _BLOCK_ELEMENTS):
            origin = np.repeat(np.arange(rows.start, rows.stop), k)
            flat = self.space.between(queries[origin], self.points[numbers[rows].ravel()])
            found[rows] = flat.reshape(-1, k)
        return found


class RepeatedIndex(Index):
    """Asks for ever more candidates, until the k nearest are proven to be among them."""

    in_threads = True  # whether blocks are searched side by side
    spare = 1  # neighbours asked for beyond k, to see that the k-th is settled

    def query(self, queries: Any, k: int) -> Found:
        k = min(k, self.size)
        distances = np.empty((queries.shape[0], k))
        numbers = np.empty((queries.shape[0], k), dtype=np.intp)
        open_rows, asked = np.arange(queries.shape[0]), k + self.spare
        while len(open_rows):
            settled, *found = self._try(queries[open_rows], k, asked)
            distances[open_rows], numbers[open_rows] = found
            open_rows, asked = open_rows[~settled], 2 * asked
        return distances, numbers

    def _try(self, queries: Any, k: int, asked: int) -> tuple[Any, Array, Indices]:
        """The k nearest, if they are among ``asked`` candidates; and for which queries they are."""
        m = queries.shape[0]
        settled, distances = np.ones(m, dtype=bool), np.empty((m, k))
        numbers = np.empty((m, k), dtype=np.intp)

        def fill(rows: slice) -> None:
            if asked > self.size // DIRECT_SHARE:
                found = self._among_all(queries[rows], k)
            else:
                found = self._candidates(queries[rows], asked)
                settled[rows] = self._is_settled(queries[rows], found[0], k)
            distances[rows], numbers[rows] = found[0][:, :k], found[1][:, :k]

        blocks = row_blocks(m, self._cost(asked), _BLOCK_ELEMENTS)
        if self.in_threads:
            for_each(fill, blocks, "blocks of rows searched")
        else:
            with blas_threads(1):
                for block in counted(list(blocks), "blocks of rows searched"):
                    fill(block)
        return settled, distances, numbers

    def _cost(self, asked: int) -> int:
        """Numbers held per query."""
        return self.size if asked > self.size // DIRECT_SHARE else 8 * asked

    def _among_all(self, queries: Any, k: int) -> Found:
        return nearest_of(self.space.all_pairs(queries, self.points), k)

    @abstractmethod
    def _candidates(self, queries: Any, asked: int) -> Found:
        """The ``asked`` nearest as far as rounding tells, in the order of (distance, number)."""

    @abstractmethod
    def _is_settled(self, queries: Any, distances: Array, k: int) -> Any:
        """Whether no point beyond the candidates can be among the k nearest of each query."""


def neighbors_together(queries: Any) -> Indices:
    """An order in which consecutive queries are close, so that what they visit is in the cache."""
    if sparse.issparse(queries) or not queries.size:
        return np.arange(queries.shape[0])
    first = queries[:, 0]
    spread = max(float(np.ptp(first)), np.finfo(np.float64).tiny)
    strip = np.floor((first - first.min()) / spread * np.sqrt(len(first) / 8))
    return np.lexsort((queries[:, -1], strip))
