"""Columns of lists in Parquet files: an embedding in each cell is so many columns of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from eigencut.runtime.arrays import Array

_LOOKED_AT = 1024  # rows, the first of which that has a list tells its length
_LISTS = ("list", "large_list", "fixed_size_list")
_NUMBERS = ("integer", "floating", "decimal", "boolean")


def is_list_of_numbers(arrow: Any, kind: Any) -> bool:
    """Whether a type of pyarrow is lists of numbers."""
    if not any(getattr(arrow.types, f"is_{name}")(kind) for name in _LISTS):
        return False
    return any(getattr(arrow.types, f"is_{name}")(kind.value_type) for name in _NUMBERS)


def names_of_elements(column: str, length: int) -> tuple[str, ...]:
    """name[0], name[1], ..."""
    return tuple(f"{column}[{i}]" for i in range(length))


def length_of_lists(file: Any, column: str, kind: Any) -> int | None:
    """How many numbers each list of a column has, as far as its beginning shows."""
    if hasattr(kind, "list_size"):
        return int(kind.list_size)
    for batch in file.iter_batches(_LOOKED_AT, columns=[column]):
        there = batch.column(0).drop_null()
        return len(there[0]) or None if len(there) else None
    return None


def numbers_of_lists(source: str, name: str, column: Any, length: int, first_row: int) -> Array:
    """Lists as rows; a cell without a list is a row of missing values.

    Another number of elements is refused by its row.
    """
    is_there = np.asarray(column.is_valid())
    lists = column.drop_null()
    if not hasattr(column.type, "list_size"):
        sizes = np.asarray(lists.value_lengths())
        if (sizes != length).any():
            at = int(np.argmax(sizes != length))
            row = int(np.flatnonzero(is_there)[at]) + first_row
            raise ValueError(
                f"{source}: the lists of column {name!r} must all have {length} numbers, as the "
                f"first one has. Got {sizes[at]} in row {row}; make them of one length, or fit "
                f"without the column (drop {name!r})."
            )
    flat = lists.flatten().cast("float64", safe=False).to_numpy(zero_copy_only=False)
    found = np.full((len(is_there), length), np.nan)
    found[is_there] = flat.reshape(-1, length)
    return found
