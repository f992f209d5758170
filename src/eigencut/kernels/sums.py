"""``sum_j exp(l(x) . r(y_j)) v_j`` in single precision: by numpy, or by the kernel in C."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable

import numpy as np

import eigencut.kernels.native as native
from eigencut.runtime.arrays import Array

TRAINING_ROWS = 512  # summed in single precision, at most, before they are added in double
_NEW_ROWS = 128  # with them, a tile of a quarter of a megabyte


def weighted_sums_of(right: Array, columns: Array) -> Callable[[Array], Array]:
    """A function of left factors, one row per new row, that gives the sums of all columns."""
    kernel = native.library()
    return NumpySums(right, columns) if kernel is None else NativeSums(right, columns, kernel)


class NumpySums:
    """Two matrix products and an exponential, on tiles that stay in the cache of a core."""

    def __init__(self, right: Array, columns: Array) -> None:
        self._tiles = [
            (right[rows].astype(np.float32), columns[rows].T.astype(np.float32, order="C"))
            for start in range(0, len(right), TRAINING_ROWS)
            for rows in [slice(start, start + TRAINING_ROWS)]
        ]

    def __call__(self, left: Array) -> Array:
        sums = np.zeros((self._tiles[0][1].shape[0], len(left)))
        for start in range(0, len(left), _NEW_ROWS):
            new = left[start : start + _NEW_ROWS].T.astype(np.float32, order="C")
            part = sums[:, start : start + _NEW_ROWS]
            for right, columns in self._tiles:
                weights = right @ new
                np.exp(weights, out=weights)
                part += columns @ weights
        return sums.T


class NativeSums:
    """The fused kernel; powers of two instead of e."""

    def __init__(self, right: Array, columns: Array, kernel: ctypes.CDLL) -> None:
        assert native.PANEL_ROWS <= TRAINING_ROWS
        self._kernel = kernel
        self._right, self._columns = (_padded(array) for array in (right, columns))

    def __call__(self, left: Array) -> Array:
        scaled = (math.log2(math.e) * left).astype(np.float32, order="C")
        return native.weighted_sums(self._kernel, scaled, self._right, self._columns)


def _padded(array: Array) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    n_more = -len(array) % native.ROWS_MULTIPLE
    return np.pad(array, ((0, n_more), (0, 0))).astype(np.float32, order="C")
