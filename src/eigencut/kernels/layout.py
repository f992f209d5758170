"""How arrays are laid out for the kernels: the constants of ``csrc/kernels.h``, and padding."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

SOURCES = Path(__file__).with_name("csrc")

_HEADER = (SOURCES / "kernels.h").read_text(encoding="utf-8")
_VALUES = {name: int(value) for name, value in re.findall(r"#define (\w+) (\d+)", _HEADER)}

ROWS_MULTIPLE = _VALUES["ROWS_MULTIPLE"]
MOST_PANEL_ROWS = _VALUES["MOST_PANEL_ROWS"]
COLUMNS_MULTIPLE = _VALUES["COLUMNS_MULTIPLE"]
STRIP = _VALUES["STRIP"]
STRIP_BYTES = _VALUES["STRIP_BYTES"]
CANDIDATES = _VALUES["CANDIDATES"]
POSITION_BITS = _VALUES["POSITION_BITS"]


def padded(array: NDArray[Any], rows: int = 1, columns: int = 1) -> NDArray[Any]:
    """A contiguous copy with zeros up to a multiple of so many rows and columns."""
    n, p = array.shape
    copy = np.zeros((n + -n % rows, p + -p % columns), dtype=array.dtype)
    copy[:n, :p] = array
    return copy


def aligned(array: NDArray[Any]) -> NDArray[Any]:
    """A contiguous copy that begins at a multiple of ``STRIP_BYTES``, as wide vectors want it."""
    copy = aligned_empty(array.shape)
    copy[...] = array
    return copy


def aligned_empty(shape: tuple[int, ...]) -> NDArray[np.float32]:
    """Room for numbers that begins at such a multiple."""
    n_bytes = 4 * math.prod(shape)
    room = np.empty(n_bytes + STRIP_BYTES, dtype=np.uint8)
    start = -room.ctypes.data % STRIP_BYTES
    return room[start : start + n_bytes].view(np.float32).reshape(shape)
