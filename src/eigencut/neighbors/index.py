"""What a search for neighbours is asked, and what all searches share.

Exact searches agree to the last neighbour, on ties too: points at equal distance come in the order
of their numbers. So a graph does not depend on which of them was used, on the threads or on the
order of the rows.

What cannot be told by the fast way of a search is settled by a second way whose cost is known, not
by asking again and again: no arrangement of points makes it slow.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from scipy import sparse

from eigencut._utils.arrays import Array, Indices, blocks_of_cost, row_blocks
from eigencut._utils.threads import for_each
from eigencut.neighbors.metrics import Found, Space, nearest_of

BLOCK_ELEMENTS = 1 << 18  # distances, or coordinates of pairs, held at a time by a thread


class Index(ABC):
    """Finds the nearest of the points that it was built on.

    What is built is no part of a copy, be it pickled, by joblib, by skops or deep: trees cannot be
    kept by all of these, and no copy begins where wide vectors want it. It is built anew from the
    same points, and answers the same.
    """

    direct_share = 4  # with more than n over this asked for, all distances are as cheap
    same_place = 1e-4  # of the distance to the k-th; nearer than that is a point, but for rounding

    def __init__(self, points: Any, space: Space) -> None:
        self.points = points
        self.space = space
        self.size: int = points.shape[0]
        self._build()

    def _build(self) -> None:  # noqa: B027 (where all distances are taken, nothing is built)
        """Arrange the points for queries."""

    def __getstate__(self) -> dict[str, Any]:
        return {"points": self.points, "space": self.space}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.size = self.points.shape[0]
        self._build()

    @abstractmethod
    def query(self, queries: Any, k: int) -> Found:
        """The k nearest points of each query, or all if there are fewer."""

    def query_itself(self, k: int) -> Found:
        """The k nearest of each of the points, itself the first."""
        return self.query(self.points, k)

    def query_rounded(self, queries: Any, k: int) -> tuple[Any, Found]:
        """The same for queries that may be points rounded, as by other programs in float32.

        What is within a radius changes at once, and at a point it is often equality that decides.
        So a query that differs from a point by no more than rounding stands where the point does:
        the queries are returned as they then are. Sparse ones stay.
        """
        distances, numbers = self.query(queries, k)
        nearest, radius = distances[:, 0], distances[:, -1]
        rounded = np.flatnonzero((nearest > 0) & (nearest <= self.same_place * radius))
        if len(rounded) and not sparse.issparse(queries):
            queries = queries.copy()
            queries[rounded] = self.points[numbers[rounded, 0]]
            distances[rounded], numbers[rounded] = self.query(queries[rounded], k)
        return queries, (distances, numbers)

    def among_all(self, queries: Array, k: int) -> Found:
        """The same from all distances, of which there are as many as pairs."""
        k, blocks = min(k, self.size), row_blocks(len(queries), self.size, BLOCK_ELEMENTS)

        def nearest(rows: slice) -> Found:
            return nearest_of(self.space.all_pairs(queries[rows], self.points), k)

        return search_blocks(blocks, k, nearest)

    def distances_of_pairs(self, queries: Any, origin: Indices, numbers: Indices) -> Array:
        """Distances from the queries of origin to the points of these numbers, by differences."""
        found = np.empty(len(origin))
        if sparse.issparse(queries):
            cost = np.diff(queries.indptr)[origin] + np.diff(self.points.indptr)[numbers]
            blocks = blocks_of_cost(cost + 1, BLOCK_ELEMENTS)
        else:
            blocks = list(row_blocks(len(origin), queries.shape[1], BLOCK_ELEMENTS))
        for pairs in blocks:
            near = self.points[numbers[pairs]]
            found[pairs] = self.space.between(queries[origin[pairs]], near)
        return found


def search_blocks(blocks: Iterable[slice], k: int, nearest: Callable[[slice], Found]) -> Found:
    """The k nearest of all queries, found for one block of them after the other, in threads."""
    blocks = list(blocks)
    m = blocks[-1].stop if blocks else 0
    distances, numbers = np.empty((m, k)), np.empty((m, k), dtype=np.intp)

    def fill(rows: slice) -> None:
        distances[rows], numbers[rows] = nearest(rows)

    for_each(fill, blocks, "blocks of rows searched")
    return distances, numbers


def neighbors_together(queries: Any) -> Indices:
    """An order in which consecutive queries are close, so that what they visit is in the cache."""
    if sparse.issparse(queries) or not queries.size:
        return np.arange(queries.shape[0])
    first = queries[:, 0]
    spread = max(float(np.ptp(first)), np.finfo(np.float64).tiny)
    strip = np.floor((first - first.min()) / spread * np.sqrt(len(first) / 8))
    return np.lexsort((queries[:, -1], strip))
