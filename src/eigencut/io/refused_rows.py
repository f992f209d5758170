"""Rows that a metric has no place for, named by where they stand in what the user gave.

A fit sorts, samples and divides rows before it makes points of them, so whoever refuses a row
knows its place in a piece only. Once one was refused it is looked for in the rows as they were
given: that costs nothing where no row is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np
from scipy.sparse import issparse

from eigencut._utils.arrays import Array
from eigencut.io.column_kinds import quoted

# Values that are no numbers, or not finite ones: errors that name the place and a remedy.

MISSING_REMEDY = "use TableModel(GPOD(...), missing='median') or 'mean' or 'drop', or drop the rows"


def text_error(X: Any, n_before: int = 0) -> ValueError | None:
    """The error for columns that are not numbers, of a data frame or an array; None if all are.

    Examples
    --------
    >>> print(text_error(np.array([[1.0, "tall"]], dtype=object)))
    X must hold numbers only. Got 'tall' in row 0, column 1; drop or encode it, or use
    TableModel(GPOD(...)).
    """
    if hasattr(X, "columns"):
        names = [name for name in X.columns if _is_text(X[name])]
        if not names:
            return None
        after = f" after row {n_before}" if n_before else ""
        return ValueError(
            f"X must hold numbers only. Got the non-numeric column(s) {quoted(names)}{after}; drop "
            "or encode them, or use TableModel(GPOD(...))."
        )
    values: Any = np.asarray(X)  # of a sparse array, one object
    if values.ndim == 2:
        for column in range(values.shape[1]):
            if not _is_text(values[:, column]):
                continue
            row = next(i for i, cell in enumerate(values[:, column]) if _is_text([cell]))
            return ValueError(
                f"X must hold numbers only. Got {_shown(values[row, column])} in row "
                f"{row + n_before}, column {column}; drop or encode it, or use "
                "TableModel(GPOD(...))."
            )
    return None


def refuse_infinite(X: Any, rows: Any, n_before: int = 0, pairwise: bool = False) -> None:
    """An error if the rows, made of X, are not finite.

    Examples
    --------
    >>> X = np.array([[1.0, np.inf]])
    >>> refuse_infinite(X, X)
    Traceback (most recent call last):
    ValueError: X must be finite. Got infinity in row 0, column 1; correct or drop it.
    """
    values: Array = rows.data if issparse(rows) else rows
    with np.errstate(over="ignore", invalid="ignore"):
        # One pass without an array of their size; a sum can be infinite though no value is.
        if np.isfinite(values.sum()) or np.isfinite(values).all():
            return
    if issparse(rows):
        entries = rows.tocoo()
        first = int(np.flatnonzero(~np.isfinite(entries.data))[0])
        row, column, value = int(entries.row[first]), int(entries.col[first]), entries.data[first]
    else:
        row, column = (int(places[0]) for places in np.nonzero(~np.isfinite(rows)))
        value = rows[row, column]
    what, remedy = "infinity", "correct or drop it"
    if np.isnan(value):
        what, remedy = "NaN, a missing value,", "correct it" if pairwise else MISSING_REMEDY
    place: Any = column
    names = getattr(X, "columns", None)
    if names is not None and column < len(names):
        place = repr(names[column])
    raise ValueError(
        f"X must be finite. Got {what} in row {row + n_before}, column {place}; {remedy}."
    )


def _is_text(column: Any) -> bool:
    """Whether some of it is no number; dates can be made numbers, but are none."""
    found = np.asarray(column)
    if found.dtype.kind in "mMc":  # which numpy would convert, if with a warning
        return found.dtype.kind != "c"
    with suppress(TypeError, ValueError):
        found.astype(np.float64)
        return False
    return True


def _shown(value: Any) -> str:
    text = repr(value.item() if isinstance(value, np.generic) else value)
    return text if len(text) <= 40 else f"{text[:37]}..."


_BLOCK_ROWS = 1 << 14


class RefusedRow(ValueError):
    """A row that cannot be a point of a metric.

    Parameters
    ----------
    expectation, got, remedy : str
        The parts of the sentence.
    row : int
        From 0, among the rows that ``check`` was given.
    column : int or None
        Where one value is wrong, not the row.
    check : function
        Raises this error for rows that have such a row.
    place : str, optional
        Where the row is, in words. Default: its number.

    Examples
    --------
    >>> error = RefusedRow("X must be 0 or 1.", "7", "correct it", 3, 1, print)
    >>> print(error)
    X must be 0 or 1. Got 7 in row 3, column 1; correct it.
    >>> print(error.at("line 5", "size"))
    X must be 0 or 1. Got 7 in line 5, column 'size'; correct it.
    """

    def __init__(
        self,
        expectation: str,
        got: str,
        remedy: str,
        row: int,
        column: int | None,
        check: Callable[[Any], Any],
        place: str | None = None,
    ) -> None:
        where = place or f"row {row}" + ("" if column is None else f", column {column}")
        super().__init__(f"{expectation} Got {got} in {where}; {remedy}.")
        self.parts = (expectation, got, remedy)
        self.row, self.column, self.check, self.place = row, column, check, place

    def __reduce__(self) -> tuple[Any, ...]:  # for errors that come from another process
        return type(self), (*self.parts, self.row, self.column, self.check, self.place)

    def at(self, where: str, name: str | None = None) -> RefusedRow:
        """The same error with another place, and the name of the column."""
        place = where
        if self.column is not None:
            place += f", column {self.column if name is None else repr(name)}"
        return RefusedRow(*self.parts, self.row, self.column, self.check, place)

    def found_in(self, rows: Any, n_before: int = 0) -> RefusedRow | None:
        """The first such row of an array, which stands after so many others; None if none is."""
        for start in range(0, rows.shape[0], _BLOCK_ROWS):
            block = rows[start : start + _BLOCK_ROWS]
            try:
                self.check(block if issparse(block) else np.asarray(block, dtype=np.float64))
            except RefusedRow as found:
                found.row += start + n_before
                return found
        return None


@contextmanager
def naming_refused_rows(rows: Any, names: Sequence[str] | None = None) -> Iterator[None]:
    """Whatever refuses a row within names it by its place among these: an array or a stream.

    Parameters
    ----------
    rows : array, sparse array, Rows or None
    names : sequence of str, optional
        Of the columns.
    """
    try:
        yield
    except RefusedRow as error:
        raise _named(error, rows, names) from error


def _named(error: RefusedRow, rows: Any, names: Sequence[str] | None) -> RefusedRow:
    if not getattr(rows, "is_local", True):
        return error.at("some row")  # reading all of a cluster's rows again is not for an error
    n_before = 0
    for block in _blocks(rows):
        found = error.found_in(block, n_before)
        if found is not None:
            known = found.column is not None and names is not None
            return found.at(f"row {found.row}", str(names[found.column]) if known else None)  # type: ignore[index]
        n_before += block.shape[0]
    return error if error.place is not None else error.at("some row")


def _blocks(rows: Any) -> Iterable[Any]:
    if rows is None:
        return ()
    if hasattr(rows, "tables"):  # a stream
        return iter(rows)
    return [rows if issparse(rows) else np.asarray(rows)]


@contextmanager
def naming_rows_of_table(X: Any, complete: Any, preparation: Any) -> Iterator[None]:
    """The same of rows that a table was made into: its lines, or rows from 1 on, and its columns.

    Parameters
    ----------
    X : Table, data frame, array, or eigencut.Rows of such
    complete : array of bool
        Which rows of X were made into rows for the model. Not used for a stream.
    preparation : Preparation
        By which they were.
    """
    try:
        yield
    except RefusedRow as error:
        if hasattr(X, "tables"):
            raise _in_stream(error, X, preparation) from error
        row = int(np.flatnonzero(complete)[error.row])
        place = X.place(row) if hasattr(X, "place") else f"row {row + 1}"
        raise _of_table(error, place, preparation) from error


def _in_stream(error: RefusedRow, rows: Any, preparation: Any) -> RefusedRow:
    if rows.is_local:
        for table in rows.tables(preparation.coding()):
            prepared, complete = preparation.apply(table)
            found = error.found_in(prepared)
            if found is not None:
                place = table.place(int(np.flatnonzero(complete)[found.row]))
                return _of_table(found, place, preparation)
    return error.at("some row")


def _of_table(error: RefusedRow, place: str, preparation: Any) -> RefusedRow:
    """The error with the name of a column of the table; words are several columns of the model."""
    kinds = zip(preparation.columns, preparation.kinds, strict=True)
    names: list[str] = []
    words: list[str] = []
    for name, kind in kinds:
        (names if kind.is_scaled else words).append(name)
    if error.column is None or error.column < len(names):
        return error.at(place, None if error.column is None else names[error.column])
    of_words = f"{place}, where words stand for points ({quoted(words)})"
    return RefusedRow(*error.parts, error.row, None, error.check, of_words)
