"""Rows that a model of tables refuses: other columns, and sparse ones with units."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def refuse_width(X: Any, n_columns: int, n_used: int) -> None:
    """An error for an array that has neither the columns of the fit nor those that were used."""
    found = np.shape(X)[1] if isinstance(X, np.ndarray) else n_columns
    if found not in (n_columns, n_used):
        raise ValueError(
            f"X has {found} features, but TableModel is expecting {n_columns} features as input; "
            "give it the columns of the fit."
        )


def sparse_rows(preparation: Any, X: Any) -> tuple[Any, NDArray[np.bool_]]:
    """Sparse rows for a model that takes rows as they are, all of them complete."""
    if preparation.units != "none" or not preparation.is_numeric:
        raise ValueError(
            "X must be a table for a model that was fitted on one. Got a sparse X; use X.toarray() "
            "with the columns of the fit, or fit GPOD on sparse rows."
        )
    return X, np.ones(X.shape[0], dtype=bool)
