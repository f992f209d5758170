"""Values that are no numbers, or not finite ones: errors that name the place and a remedy."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from scipy.sparse import issparse

from eigencut._utils.arrays import Array
from eigencut.io.column_kinds import quoted

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
