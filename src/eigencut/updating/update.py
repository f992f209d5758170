"""What is checked before a fitted model takes more rows."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from eigencut.io.rows import Rows
from eigencut.io.validation import check_rows, check_stream

if TYPE_CHECKING:
    pass


def rows_of_update(model: Any, X: Any) -> Any:
    """Return the rows, in memory or a stream, checked to have the columns of the fit."""
    refuse_nothing(X, "update by")
    if not isinstance(X, Rows):
        return check_rows(model, X, reset=False)
    check_stream(model, X)
    if not model.affinity_.streams:
        raise TypeError(
            f"X must be rows in memory for a model with {type(model.affinity_).__name__}. Got "
            "eigencut.Rows; use affinity='landmarks'."
        )
    return X


def refuse_nothing(X: Any, purpose: str) -> None:
    """An error for rows that are none; and for a stream, of which some rows are to be compared."""
    if isinstance(X, Rows) and purpose == "compare":
        raise TypeError(
            "X must be rows in memory to compare. Got a stream, eigencut.Rows; pass the table, or "
            "a few thousand of its rows, which say as much."
        )
    shape = getattr(X, "shape", None) or np.shape(X if isinstance(X, (list, tuple)) else 0)
    if shape and isinstance(shape[0], int) and shape[0] == 0:
        raise ValueError(
            f"X must have at least one row to {purpose}. Got none; leave such a table out."
        )


def checked_decay(decay: Any) -> float:
    is_number = isinstance(decay, Real) and not isinstance(decay, bool)
    if not (is_number and 0 < decay <= 1):
        raise ValueError(
            f"decay must be a number above 0 and at most 1. Got {decay!r}; use 1 to forget nothing."
        )
    return float(decay)
