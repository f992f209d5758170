"""Two kernels in C: used where a compiler was there when eigencut was installed.

Without them everything works the same, by numpy: ``predict`` takes two to three times as long, and
a fit of the complete graph a third longer. ``EIGENCUT_NATIVE=0`` in the environment switches them
off.
"""

from __future__ import annotations

import ctypes
import os
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

LIBRARY = Path(__file__).with_name("kernels.so")
ROWS_MULTIPLE = 60  # training rows are padded to a multiple of this
COLUMNS_MULTIPLE = 8  # columns of a block of vectors are padded to a multiple of this
PANEL_ROWS = 480  # training rows summed in single precision before they are added in double


@cache
def library() -> ctypes.CDLL | None:
    """The compiled kernels, or None."""
    if os.environ.get("EIGENCUT_NATIVE") == "0" or not LIBRARY.exists():
        return None
    try:
        return ctypes.CDLL(str(LIBRARY))
    except OSError:  # of another machine
        return None


def weighted_sums(
    kernel: ctypes.CDLL, left: NDArray[Any], right: NDArray[Any], V: NDArray[Any]
) -> NDArray[np.float64]:
    """``sum_j 2^(left_i . right_j) V[j]`` for each row i; the GIL is free meanwhile.

    All arrays are of the kernel's precision; ``right`` and V have a multiple of ``ROWS_MULTIPLE``
    rows.
    """
    (m, p), (n, columns) = left.shape, V.shape
    left, right, V = (np.ascontiguousarray(array) for array in (left, right, V))
    sums = np.empty((m, columns))
    sizes = map(ctypes.c_long, (m, n, p, columns))
    if kernel.weighted_sums(*map(_address, (left, right, V, sums)), *sizes):
        raise MemoryError("There is no memory for the buffers of weighted sums.")
    return sums


def add_symmetric_product(
    kernel: ctypes.CDLL,
    tiles: NDArray[np.float64],
    places: NDArray[np.int64],
    part: slice,
    V: NDArray[np.float64],
    sums: NDArray[np.float64],
) -> bool:
    """Add the product of some tiles of a symmetric matrix and V; the GIL is free meanwhile.

    All arrays are contiguous, and V has a multiple of ``COLUMNS_MULTIPLE`` columns. Returns whether
    there is a form of the kernel for this processor; if not, nothing was added.
    """
    numbers = (len(tiles), part.start, part.step, tiles.shape[1], len(V))
    status = kernel.symmetric_product(
        *map(_address, (tiles, places)),
        *map(ctypes.c_long, numbers),
        *map(_address, (V, sums)),
        ctypes.c_long(V.shape[1]),
    )
    return status == 0


def _address(array: NDArray[Any]) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)
