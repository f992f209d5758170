"""Errors about rows that cannot be used, which name the row and column in the user's data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np
from scipy.sparse import issparse

from eigencut._utils.arrays import Array
from eigencut._utils.running import row_blocks
from eigencut.exceptions import RefusedRow, invalid, shortened
from eigencut.io.column_kinds import labels_of, quoted, refuse_duplicates
from eigencut.io.table import place_of


def text_error(X: Any, n_before: int = 0) -> Exception | None:
    """Return the error for columns or cells of X that are not numbers; None if all are numbers."""
    remedy = "drop or encode it, or use TableModel(GPOD(...))"
    if hasattr(X, "columns"):
        refuse_duplicates([str(name) for name in labels_of(X)])
        names = [name for name in labels_of(X) if _is_text(X[name])]
        after = f" after row {n_before}" if n_before else ""
        got = f"the non-numeric column(s) {quoted(names)}{after}"
        remedy = remedy.replace("it", "them", 1)
        return invalid("X", "hold numbers only", got, remedy) if names else None
    values: Any = np.asarray(X)  # a sparse array becomes one object, without dimensions
    for column in range(values.shape[1] if values.ndim == 2 else 0):
        if _is_text(values[:, column]):
            row = next(i for i, cell in enumerate(values[:, column]) if _is_text([cell]))
            cell, place = values[row, column], f"in row {row + n_before}, column {column}"
            if isinstance(cell, int):
                expected = "hold numbers below 1.8e308"
                return invalid("X", expected, f"a larger one {place}", "correct or drop it")
            plain = cell.item() if isinstance(cell, np.generic) else cell
            return invalid(
                "X", "hold numbers only", f"{shortened(repr(plain), 40)} {place}", remedy
            )
    return None


def refuse_infinite(X: Any, rows: Any, pairwise: bool = False) -> None:
    """Raise an error that names the first NaN or infinity in ``rows``, which were made from X."""
    values: Array = rows.data if issparse(rows) else rows
    with np.errstate(over="ignore", invalid="ignore"):
        # The sum needs no array of booleans, but it can overflow although all values are finite.
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
        what, remedy = "NaN, a missing value,", "use TableModel(GPOD(...), missing='median') or "
        remedy = "correct it" if pairwise else f"{remedy}'mean' or 'drop', or drop the rows"
    names = labels_of(X) if hasattr(X, "columns") else ()
    name = repr(names[column]) if column < len(names) else column
    raise invalid("X", "be finite", f"{what} in {place_of(X, row)}, column {name}", remedy)


def _is_text(column: Any) -> bool:
    """Return whether some cells of a column are not numbers; dates and durations count as text."""
    found = np.asarray(column)
    if found.dtype.kind in "mMc":  # numpy would convert dates and complex numbers to float64
        return found.dtype.kind != "c"
    with suppress(OverflowError, TypeError, ValueError):
        found.astype(np.float64)
        return found.ndim != 1  # structs of polars have two dimensions
    return True


def _first_refused(error: RefusedRow, rows: Any) -> RefusedRow | None:
    """Return the error for the first row of an array that fails the same check, or None."""
    for some in row_blocks(rows.shape[0], 1, 1 << 14):
        block = rows[some]
        try:
            error.check(block if issparse(block) else np.asarray(block, dtype=np.float64))
        except RefusedRow as refused:
            refused.row += some.start
            return refused
    return None


@contextmanager
def naming_refused_rows(
    rows: Any, names: Sequence[str] | None = None, X: Any = None
) -> Iterator[None]:
    """Let a ``RefusedRow`` raised inside name its place in ``rows``, an array, a stream or None."""
    try:
        yield
    except RefusedRow as error:
        is_stream, n_before = rows is None or hasattr(rows, "tables"), 0
        blocks: Any = rows if is_stream else [rows if issparse(rows) else np.asarray(rows)]
        if rows is None or not getattr(rows, "is_local", True):  # reading it again takes too long
            blocks = ()
        for block in blocks:
            if (refused := _first_refused(error, block)) is not None:
                is_named = refused.column is not None and names is not None
                name = str(names[refused.column]) if is_named else None  # type: ignore[index]
                refused.row += n_before
                raise refused.at(place_of(X, refused.row), name) from error
            n_before += block.shape[0]
        raise (error if error.place is not None else error.at("some row")) from error


@contextmanager
def naming_rows_of_table(X: Any, complete: Any, preparation: Any) -> Iterator[None]:
    """Let a ``RefusedRow`` raised inside name its place in X, from which it was prepared."""
    try:
        yield
    except RefusedRow as error:
        kinds = zip(preparation.columns, preparation.kinds, strict=True)
        names = [name for name, kind in kinds if kind.is_scaled]

        def named(refused: RefusedRow, place: str) -> RefusedRow:  # words are several columns
            j = refused.column if refused.column in range(len(names)) else None
            found = RefusedRow(*refused.parts, refused.row, j, refused.check)
            return found.at(place, None if j is None else names[j])

        if not hasattr(X, "tables"):
            raise named(error, place_of(X, int(np.flatnonzero(complete)[error.row]))) from error
        for table in X.tables(preparation.coding()) if X.is_local else ():
            rows, complete = preparation.apply(table)
            if (refused := _first_refused(error, rows)) is not None:
                place = table.place(int(np.flatnonzero(complete)[refused.row]))
                raise named(refused, place) from error
        raise error.at("some row") from error
