"""Columns of data frames and arrays as numbers: kinds are told by dtypes, then by contents."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigencut.data.coding import Coding, OtherText
from eigencut.data.column_kinds import NUMERIC, Kind
from eigencut.data.dates import date_number, numbers_of_dates
from eigencut.data.words import shown_word, word_of
from eigencut.runtime.arrays import Array

_KINDS = {"b": Kind("boolean"), "M": Kind("date")}


def coded_column(coding: Coding, name: str, column: Any, first_row: int = 1) -> Array:
    """A column of pandas, polars, pyarrow or numpy as float64; missing values are NaN.

    The coding knows the kind of the column, or learns it; errors count rows from ``first_row``.

    Examples
    --------
    >>> coding = Coding()
    >>> coded_column(coding, "day", np.array(["1970-01-02", "NaT"], dtype="datetime64[D]"))
    array([ 1., nan])
    >>> coding.kinds["day"].name
    'date'
    """
    if str(getattr(column, "dtype", "")) == "category" and hasattr(column, "cat"):
        return _of_categories(coding, name, column, first_row)
    return _of_cells(coding, name, _cells(column), first_row)


def _of_categories(coding: Coding, name: str, column: Any, first_row: int) -> Array:
    """A column of pandas whose dtype lists its words, and may order them."""
    listed = list(column.cat.categories)
    kind = coding.kind(name)
    if kind is None:
        order = tuple(word_of(word) or "" for word in listed) if column.cat.ordered else ()
        is_order = len(order) > 1 and "" not in order and len(set(order)) == len(order)
        kind = coding.found(name, Kind("ordered", order) if is_order else Kind("categorical"))
    if not kind.has_words:
        return _of_cells(coding, name, np.asarray(column, dtype=object), first_row)
    return coding.words_of(name).codes_of(listed, column.cat.codes)


def _cells(column: Any) -> NDArray[Any]:
    """The cells as numpy has them, or as objects."""
    zone = getattr(getattr(column, "dtype", None), "tz", None)
    if zone is not None and hasattr(column, "dt"):  # of pandas, which would give objects
        column = column.dt.tz_convert("UTC").dt.tz_localize(None)
    if str(getattr(column, "type", "")).startswith("dictionary"):  # of pyarrow
        column = column.to_pylist()
        return np.array([*column, None], dtype=object)[:-1]  # None keeps numpy from guessing
    found = np.asarray(column)
    return found.astype(object) if found.dtype.kind in "US" else found


def _of_cells(coding: Coding, name: str, cells: NDArray[Any], first_row: int) -> Array:
    """Cells of any dtype as numbers."""
    kind = coding.kind(name)
    if cells.dtype.kind == "O":
        if any(isinstance(cell, str) for cell in cells):
            return _of_text(coding, name, cells, first_row)
        kind = kind or coding.found(name, _kind_of_objects(cells))
    kind = kind or coding.found(name, _KINDS.get(cells.dtype.kind, NUMERIC))
    if kind.has_words:
        return coding.words_of(name).codes(cells.tolist())
    if cells.dtype.kind in "mM":
        if (kind.name == "date") == (cells.dtype.kind == "M"):
            return numbers_of_dates(cells, kind.unit)
        raise _not_a(kind, name, cells.dtype)
    if kind.name == "date":
        return _numbers(name, kind, cells, first_row, lambda cell: date_number(cell, kind.unit))
    if cells.dtype.kind in "fiub":
        return cells.astype(np.float64)
    return _numbers(name, kind, cells, first_row, _number)


def _of_text(coding: Coding, name: str, cells: NDArray[Any], first_row: int) -> Array:
    """Cells some of which are text."""
    words = [cell if isinstance(cell, str) else word_of(cell) for cell in cells]
    try:
        found = coding.text(name, words)
    except OtherText as error:
        row = words.index(error.cell) + first_row
        kind = coding.kinds[error.column]
        raise _not_a(kind, name, f"{shown_word(error.cell)} in row {row}") from error
    return found


def _kind_of_objects(cells: NDArray[Any]) -> Kind:
    """The kind of cells none of which is text."""
    there = [cell for cell in cells if not _is_missing(cell)]
    if there and all(isinstance(cell, (bool, np.bool_)) for cell in there):
        return Kind("boolean")
    if there and all(isinstance(cell, (date, np.datetime64)) for cell in there):
        return Kind("date")
    return NUMERIC


def _numbers(name: str, kind: Kind, cells: Any, first_row: int, number: Any) -> Array:
    """Cells one by one; the first that is none is named."""
    found = np.empty(len(cells))
    for i, cell in enumerate(cells.tolist()):
        value = np.nan if _is_missing(cell) else number(cell)
        if value is None:
            error = _not_a(kind, name, f"{shown_word(str(cell))} in row {i + first_row}")
            if isinstance(cell, (dict, list, set, tuple)):  # what numpy has another error for
                raise TypeError(f"{error} (argument must be a string or a real number)")
            raise error
        found[i] = value
    return found


def _number(cell: Any) -> float | None:
    return float(cell) if isinstance(cell, (Real, Decimal)) else None


def _is_missing(cell: Any) -> bool:
    """None, NaN, and pandas' NA and NaT."""
    is_nan = isinstance(cell, float) and cell != cell
    return cell is None or is_nan or type(cell).__name__ in ("NAType", "NaTType")


def _not_a(kind: Kind, name: str, what: Any) -> ValueError:
    expected = "dates" if kind.name == "date" else "numbers"
    return ValueError(
        f"Column {name!r} must hold {expected}. Got {what}; correct it, drop the column, or say "
        "that it is categorical."
    )
