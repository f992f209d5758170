"""The fused kernel in C: used where a compiler was there when eigencut was installed.

Without it everything works the same, by numpy, and ``predict`` takes two to three times as long.
``EIGENCUT_NATIVE=0`` in the environment switches it off.
"""

from __future__ import annotations

import ctypes
import os
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

LIBRARY = Path(__file__).with_name("weighted_sums.so")
ROWS_MULTIPLE = 60  # training rows are padded to a multiple of this
PANEL_ROWS = 480  # training rows summed in single precision before they are added in double


@cache
def library() -> ctypes.CDLL | None:
    """The compiled kernel, or None."""
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
    addresses = (ctypes.c_void_p(array.ctypes.data) for array in (left, right, V, sums))
    if kernel.weighted_sums(*addresses, *map(ctypes.c_long, (m, n, p, columns))):
        raise MemoryError("There is no memory for the buffers of weighted sums.")
    return sums
