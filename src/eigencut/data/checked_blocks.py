"""Blocks of rows, checked: numbers, all of one width, and finite; errors say after which row."""

from __future__ import annotations

from typing import Any

import numpy as np

from eigencut.data.bad_values import refuse_infinite, text_error
from eigencut.runtime.arrays import Array


def checked_block(block: Any, width: int | None = None, n_before: int = 0) -> Array:
    """A block as finite float64 rows, or an error that says where it is not."""
    return finite_rows(numbers_of_block(block, width, n_before), n_before)


def numbers_of_block(block: Any, width: int | None, n_before: int) -> Array:
    """A block as float64 rows of that many columns."""
    try:
        found = np.asarray(block)
        if found.dtype.kind in "mMc":  # dates and complex numbers would be converted silently
            raise TypeError(found.dtype)
        rows = np.ascontiguousarray(found, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise text_error(block, n_before) or ValueError(
            f"X must hold numbers only. Got something else in the block after row {n_before}; drop "
            "or encode it."
        ) from error
    refuse_shape(rows.shape, width, n_before)
    return rows


def refuse_shape(shape: tuple[int, ...], width: int | None, n_before: int) -> None:
    """An error for a block that does not have so many columns."""
    if len(shape) != 2 or 0 in shape[1:] or (width is not None and shape[1] != width):
        expected = "one or more" if width is None else f"{width}"
        raise ValueError(
            f"X must come in two-dimensional blocks of {expected} columns. Got shape {shape} "
            f"after row {n_before}; make all blocks alike, whenever they are read."
        )


def finite_rows(rows: Array, n_before: int) -> Array:
    """The rows themselves, if they are finite."""
    refuse_infinite(rows, rows, n_before)
    return rows
