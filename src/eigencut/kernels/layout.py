"""How arrays are laid out for the kernels: the constants of ``csrc/kernels.h``, and padding."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

SOURCES = Path(__file__).with_name("csrc")


class Layout(NamedTuple):
    """How arrays are laid out for the kernels: the constants of ``csrc/kernels.h``."""

    rows_multiple: int
    most_panel_rows: int
    columns_multiple: int
    strip: int
    strip_bytes: int
    candidates: int
    position_bits: int

    @classmethod
    def of_header(cls, path: Path) -> Layout:
        """Read the constants."""
        defined = dict(re.findall(r"#define (\w+) (\d+)", path.read_text(encoding="utf-8")))
        return cls(**{name: int(defined[name.upper()]) for name in cls._fields})


LAYOUT = Layout.of_header(SOURCES / "kernels.h")


def padded(array: NDArray[Any], rows: int = 1, columns: int = 1) -> NDArray[Any]:
    """A contiguous copy with zeros up to a multiple of so many rows and columns."""
    n, p = array.shape
    copy = np.zeros((n + -n % rows, p + -p % columns), dtype=array.dtype)
    copy[:n, :p] = array
    return copy


def aligned(array: NDArray[Any]) -> NDArray[Any]:
    """A contiguous copy that begins where wide vectors want it."""
    copy = aligned_empty(array.shape)
    copy[...] = array
    return copy


def aligned_empty(shape: tuple[int, ...]) -> NDArray[np.float32]:
    """Room for numbers that begins at a multiple of ``LAYOUT.strip_bytes``."""
    n_bytes = 4 * math.prod(shape)
    room = np.empty(n_bytes + LAYOUT.strip_bytes, dtype=np.uint8)
    start = -room.ctypes.data % LAYOUT.strip_bytes
    return room[start : start + n_bytes].view(np.float32).reshape(shape)
