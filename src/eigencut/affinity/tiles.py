"""A symmetric matrix in square tiles, of which only the upper half is kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eigencut.parallel import for_each

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

_SIDE = 384  # of a tile
_BLOCK = 192  # side of the blocks multiplied: small ones, BLAS multiplies without copying them
_PARTIAL_SUMS = 8  # of a product; a fixed number, so that no result depends on the threads


@dataclass(frozen=True)
class SymmetricTiles:
    """The tiles (i, j), i <= j, of a symmetric n x n matrix: half the memory of the whole.

    Attributes
    ----------
    size : int
        n.
    tiles : dict
        From the pair (i, j) to the array of the rows of strip i and the columns of strip j.

    Examples
    --------
    >>> import numpy as np
    >>> matrix = np.array([[2.0, 1.0], [1.0, 3.0]])
    >>> tiles = SymmetricTiles.compute(2, lambda rows, columns: matrix[rows, columns])
    >>> tiles.matmat(np.eye(2))
    array([[2., 1.],
           [1., 3.]])
    """

    size: int
    tiles: dict[tuple[int, int], Array]

    @classmethod
    def compute(
        cls, size: int, tile_of: Callable[[slice, slice], Array], n_jobs: int | None = None
    ) -> SymmetricTiles:
        """Collect ``tile_of(rows, columns)`` for all tiles of the upper half, in threads."""
        n_strips = -(-size // _SIDE)
        places = [(i, j) for i in range(n_strips) for j in range(i, n_strips)]
        side = min(size, _SIDE)
        # One large array: the system hands it out in large pages, which takes far less time.
        pool = np.empty((len(places), side, side))
        tiles = {}
        for (i, j), room in zip(places, pool, strict=True):
            rows, columns = _strip(i, size), _strip(j, size)
            tiles[i, j] = room[: rows.stop - rows.start, : columns.stop - columns.start]

        def fill(place: tuple[int, int]) -> None:
            i, j = place
            tile = tile_of(_strip(i, size), _strip(j, size))
            # The two halves of a tile on the diagonal may differ by rounding: one is mirrored.
            tiles[place][:] = np.triu(tile) + np.triu(tile, 1).T if i == j else tile

        for_each(fill, places, n_jobs)
        return cls(size, tiles)

    def matmat(self, V: Array, n_jobs: int | None = None) -> Array:
        """The product with the columns of V; every tile is read once and used twice."""
        tiles = list(self.tiles.items())
        sums = np.zeros((min(_PARTIAL_SUMS, len(tiles)), *V.shape))

        def add(part: int) -> None:
            for (i, j), tile in tiles[part :: len(sums)]:
                _add_products(sums[part], tile, V, i * _SIDE, j * _SIDE)

        for_each(add, range(len(sums)), n_jobs)
        return np.asarray(sums.sum(axis=0))

    def rows(self, wanted: Indices) -> Array:
        """Whole rows of the matrix."""
        found = np.empty((len(wanted), self.size))
        strip, offset = wanted // _SIDE, wanted % _SIDE
        for (i, j), tile in self.tiles.items():
            inside = np.flatnonzero(strip == i)
            if len(inside):
                found[inside, _strip(j, self.size)] = tile[offset[inside]]
            inside = np.flatnonzero(strip == j)
            if i != j and len(inside):
                found[inside, _strip(i, self.size)] = tile[:, offset[inside]].T
        return found

    def diagonal(self) -> Array:
        return np.concatenate([tile.diagonal() for (i, j), tile in self.tiles.items() if i == j])

    def max(self) -> float:
        return max(float(tile.max()) for tile in self.tiles.values())

    def dense(self) -> Array:
        """The whole matrix: for small ones."""
        return self.rows(np.arange(self.size))


def _add_products(sums: Array, tile: Array, V: Array, top: int, left: int) -> None:
    """Add the products with a tile and, off the diagonal, with its mirror image."""
    n_rows, n_columns = tile.shape
    for start in range(0, n_rows, _BLOCK):
        rows = slice(top + start, top + min(start + _BLOCK, n_rows))
        for across in range(0, n_columns, _BLOCK):
            columns = slice(left + across, left + min(across + _BLOCK, n_columns))
            block = tile[start : start + _BLOCK, across : across + _BLOCK]
            sums[rows] += block @ V[columns]
            if top != left:
                sums[columns] += block.T @ V[rows]


def _strip(index: int, size: int) -> slice:
    return slice(index * _SIDE, min((index + 1) * _SIDE, size))
