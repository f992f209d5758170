"""The complete graph: edges between all vertices, their weights in tiles."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from eigencut import kernels
from eigencut._utils.arrays import Array, Indices
from eigencut._utils.threads import for_each
from eigencut.graphs.base import EDGE, Graph, RowGraph


@dataclass(frozen=True)
class SymmetricTiles:
    """The tiles (i, j), i <= j, of a symmetric n x n matrix: half the memory of the whole.

    Examples
    --------
    >>> import numpy as np
    >>> matrix = np.array([[2.0, 1.0], [1.0, 3.0]])
    >>> tiles = SymmetricTiles.compute(2, lambda rows, columns: matrix[rows, columns])
    >>> tiles.matmat(np.eye(2))
    array([[2., 1.],
           [1., 3.]])
    """

    side: ClassVar[int] = 384  # of a tile

    size: int  # n
    # (n_tiles, 2): the strip of rows i and the strip of columns j of each tile.
    places: NDArray[np.int64]
    # (n_tiles, side, side): the tiles; those of the last strips fill a corner of their square.
    squares: Array

    @classmethod
    def compute(cls, size: int, tile_of: Callable[[slice, slice], Array]) -> SymmetricTiles:
        """Collect ``tile_of(rows, columns)`` for all tiles of the upper half, in threads."""
        n_strips = -(-size // cls.side)
        places = np.array([(i, j) for i in range(n_strips) for j in range(i, n_strips)])
        side = min(size, cls.side)
        # One large array: the system hands it out in large pages, which takes far less time.
        tiles = cls(size, places, np.empty((len(places), side, side)))

        def fill(place: tuple[int, int, Array]) -> None:
            i, j, tile = place
            found = tile_of(_strip(i, size), _strip(j, size))
            # The two halves of a tile on the diagonal may differ by rounding: one is mirrored.
            tile[:] = np.triu(found) + np.triu(found, 1).T if i == j else found

        for_each(fill, tiles.tiles(), "tiles")
        return tiles

    def tiles(self) -> Iterator[tuple[int, int, Array]]:
        """Strip of rows, strip of columns, and the tile where they meet."""
        for (i, j), square in zip(self.places.tolist(), self.squares, strict=True):
            n_rows, n_columns = (min(self.side, self.size - strip * self.side) for strip in (i, j))
            yield i, j, square[:n_rows, :n_columns]

    def matmat(self, V: Array) -> Array:
        """The product with the columns of V; every tile is read once and used twice."""
        return kernels.chosen.symmetric_product(self.squares, self.places, V)

    def rows(self, wanted: Indices) -> Array:
        """Whole rows of the matrix."""
        found = np.empty((len(wanted), self.size))
        strip, offset = wanted // self.side, wanted % self.side
        for i, j, tile in self.tiles():
            inside = np.flatnonzero(strip == i)
            if len(inside):
                found[inside, _strip(j, self.size)] = tile[offset[inside]]
            inside = np.flatnonzero(strip == j)
            if i != j and len(inside):
                found[inside, _strip(i, self.size)] = tile[:, offset[inside]].T
        return found

    def diagonal(self) -> Array:
        return np.concatenate([tile.diagonal() for i, j, tile in self.tiles() if i == j])

    def max(self) -> float:
        return max(float(tile.max()) for _, _, tile in self.tiles())

    def dense(self) -> Array:
        """The whole matrix: for small ones."""
        return self.rows(np.arange(self.size))


def _strip(index: int, size: int) -> slice:
    return slice(index * SymmetricTiles.side, min((index + 1) * SymmetricTiles.side, size))


@dataclass(frozen=True)
class CompleteGraph(Graph):
    """Edges between all vertices, their weights in tiles."""

    weights: SymmetricTiles

    def matmat(self, V: Array) -> Array:
        return self.weights.matmat(V / self.n_rows)

    def dense(self, vertices: Indices | None = None) -> Array:
        if vertices is None:
            return self.weights.dense()
        return self.weights.rows(vertices)[:, vertices]

    def components(self) -> Indices:
        root_degree = np.sqrt(self.degrees)
        label = np.full(self.n_vertices, -1, dtype=np.intp)
        unseen = np.arange(self.n_vertices)
        n_found = 0
        while len(unseen):
            frontier, unseen = unseen[:1], unseen[1:]
            label[frontier] = n_found
            while len(frontier) and len(unseen):
                some, frontier = frontier[:128], frontier[128:]
                threshold = EDGE * root_degree[some, np.newaxis] * root_degree[unseen]
                reached = (self.weights.rows(some)[:, unseen] > threshold).any(axis=0)
                label[unseen[reached]] = n_found
                frontier = np.concatenate([frontier, unseen[reached]])
                unseen = unseen[~reached]
            n_found += 1
        return label


@dataclass(frozen=True)
class DenseGraph(CompleteGraph, RowGraph):
    """The complete graph on rows."""
