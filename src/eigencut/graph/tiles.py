"""A symmetric matrix in square tiles, of which only the upper half is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import eigencut.kernels.native as native
from eigencut.runtime.arrays import Array, Indices
from eigencut.runtime.threads import for_each

_SIDE = 384  # of a tile
_BLOCK = 192  # side of the blocks that BLAS multiplies: small ones it does not copy
_PARTIAL_SUMS = 8  # of a product; a fixed number, so that no result depends on the threads


@dataclass(frozen=True)
class SymmetricTiles:
    """The tiles (i, j), i <= j, of a symmetric n x n matrix: half the memory of the whole.

    Attributes
    ----------
    size : int
        n.
    places : array of shape (n_tiles, 2)
        The strip of rows i and the strip of columns j of each tile.
    squares : array of shape (n_tiles, side, side)
        The tiles; those of the last strips fill a corner of their square.

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
    places: NDArray[np.int64]
    squares: Array

    @classmethod
    def compute(cls, size: int, tile_of: Callable[[slice, slice], Array]) -> SymmetricTiles:
        """Collect ``tile_of(rows, columns)`` for all tiles of the upper half, in threads."""
        n_strips = -(-size // _SIDE)
        places = np.array([(i, j) for i in range(n_strips) for j in range(i, n_strips)])
        side = min(size, _SIDE)
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
            n_rows, n_columns = (min(_SIDE, self.size - strip * _SIDE) for strip in (i, j))
            yield i, j, square[:n_rows, :n_columns]

    def matmat(self, V: Array) -> Array:
        """The product with the columns of V; every tile is read once and used twice."""
        parts = min(_PARTIAL_SUMS, len(self.places))
        product = self._native_product(V, parts)
        if product is not None:
            return product
        tiles = list(self.tiles())
        sums = np.empty((parts, *V.shape))

        def add(part: int) -> None:
            sums[part] = 0.0
            for i, j, tile in tiles[part::parts]:
                _add_products(sums[part], tile, V, i * _SIDE, j * _SIDE)

        for_each(add, range(parts))
        return np.asarray(sums.sum(axis=0))

    def _native_product(self, V: Array, parts: int) -> Array | None:
        """The same by the kernel in C, where there is one."""
        kernel = native.library()
        if kernel is None:
            return None
        width = V.shape[1] + -V.shape[1] % native.COLUMNS_MULTIPLE
        padded = np.zeros((self.size, width))
        padded[:, : V.shape[1]] = V
        sums = np.empty((parts, *padded.shape))
        done = [False] * parts

        def add(part: int) -> None:
            sums[part] = 0.0
            some = slice(part, None, parts)
            done[part] = native.add_symmetric_product(
                kernel, self.squares, self.places, some, padded, sums[part]
            )

        for_each(add, range(parts))
        return np.asarray(sums.sum(axis=0)[:, : V.shape[1]]) if all(done) else None

    def rows(self, wanted: Indices) -> Array:
        """Whole rows of the matrix."""
        found = np.empty((len(wanted), self.size))
        strip, offset = wanted // _SIDE, wanted % _SIDE
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
