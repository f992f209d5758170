"""The compiled library: whether it is that of the sources beside it, and its typed functions."""

from __future__ import annotations

import ctypes
import math
import os
import re
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.ctypeslib import ndpointer
from numpy.typing import NDArray

from eigencut.kernels.abi import abi_of

# How arrays are laid out for the kernels: the constants of ``csrc/kernels.h``, and padding.

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


LIBRARY = Path(__file__).with_name("kernels.so")


def load(path: Path) -> ctypes.CDLL | None:
    """The compiled kernels, or None: not compiled, switched off, or not to be trusted."""
    if os.environ.get("EIGENCUT_NATIVE") == "0" or not path.exists():
        return None
    try:
        library = ctypes.CDLL(str(path))
        if ctypes.c_uint.in_dll(library, "eigencut_abi").value == abi_of(SOURCES):
            return library
        reason = "was compiled from other sources than those beside it"
    except (OSError, ValueError) as error:  # of another machine, or no library of kernels
        reason = f"cannot be loaded ({error})"
    warnings.warn(
        f"The library of kernels {path} {reason}, so the slower ones in numpy are used; reinstall "
        "eigencut (pip install --force-reinstall --no-deps eigencut, or in its source folder "
        "pip install --editable .) to compile it.",
        RuntimeWarning,
        stacklevel=2,
    )
    return None


class Function:
    """A function of the library that checks its arguments before it is called.

    In C it takes arrays, then sizes, then scalars, and returns 0, or 1 if there is no memory. The
    GIL is free meanwhile.

    Parameters
    ----------
    library : ctypes.CDLL
    name : str
    sizes : str
        The axes whose sizes it takes.
    scalars : sequence of ctypes types
    **arrays : str
        Of each array the type and the axes, ``"float64 m p"``; an axis is a name, which stands for
        one size in all arrays, or a number. What is written to begins with ``"out"``.
    """

    def __init__(
        self,
        library: ctypes.CDLL,
        name: str,
        sizes: str,
        scalars: Sequence[Any] = (),
        **arrays: str,
    ) -> None:
        self._name, self._sizes, self._axes, types = name, sizes.split(), {}, []
        for array, declared in arrays.items():
            is_written = declared.startswith("out ")
            flags: Any = ["C_CONTIGUOUS", "ALIGNED", *["WRITEABLE"] * is_written]
            dtype, *axes = declared.removeprefix("out ").split()
            self._axes[array] = axes
            types.append(ndpointer(np.dtype(dtype), len(axes), flags=flags))
        self._call = getattr(library, name)
        self._call.argtypes = [*types, *[ctypes.c_long] * len(self._sizes), *scalars]
        self._call.restype = ctypes.c_int

    def __call__(self, *given: Any) -> None:
        """Call it with the arrays and the scalars."""
        n_arrays = len(self._axes)
        sizes = self._checked_sizes(given[:n_arrays])
        of_axes = [sizes[axis] for axis in self._sizes]
        if self._call(*given[:n_arrays], *of_axes, *given[n_arrays:]):
            raise MemoryError(f"There is no memory for the buffers of {self._name}.")

    def _checked_sizes(self, arrays: Sequence[Any]) -> dict[str, int]:
        sizes: dict[str, int] = {}
        for (name, axes), array in zip(self._axes.items(), arrays, strict=True):
            if len(axes) != array.ndim:
                raise ValueError(f"{name} must have {len(axes)} axes. Got shape {array.shape}.")
            for axis, size in zip(axes, array.shape, strict=True):
                expected = int(axis) if axis.isdigit() else sizes.setdefault(axis, size)
                if size != expected:
                    raise ValueError(
                        f"{name} must be of shape ({', '.join(axes)}) with {axis} = {expected}. "
                        f"Got {array.shape}."
                    )
        return sizes
