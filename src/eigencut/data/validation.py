"""Rows that users pass, checked: finite numbers, and the columns of the fit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, issparse
from sklearn.utils import get_tags
from sklearn.utils.validation import validate_data

from eigencut.data.rows import Rows
from eigencut.runtime.arrays import Array


def check_source(estimator: Any, X: ArrayLike | Rows) -> Array | Rows:
    """What a model is fitted on: rows in memory, checked; or a stream, which checks as it reads."""
    if not isinstance(X, Rows):
        return check_rows(estimator, X, reset=True)
    estimator.n_features_in_ = X.n_features
    if X.feature_names is not None:
        estimator.feature_names_in_ = np.array(X.feature_names, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_
    return X


def check_stream(estimator: Any, rows: Rows) -> None:
    """A stream with the columns that the estimator was fitted on."""
    names = getattr(estimator, "feature_names_in_", None)
    is_other = rows.n_features != estimator.n_features_in_
    if names is not None and rows.feature_names is not None:
        is_other = is_other or list(names) != rows.feature_names
    if is_other:
        expected = estimator.n_features_in_ if names is None else ", ".join(names)
        raise ValueError(
            f"rows must have the columns of the fit ({expected}), in that order. "
            f"Got {', '.join(rows.feature_names or [str(rows.n_features)])}; choose columns."
        )


def check_rows(estimator: Any, X: Any, *, reset: bool, at_least: int = 1) -> Any:
    """X as finite float64 rows; columns that are not numbers are named.

    Sparse where X and the estimator's tags are: then a ``csr_array`` with indices of 32 bits.
    """
    if type(X).__name__ == "LazyFrame":
        raise ValueError("X must be rows in memory. Got a polars LazyFrame; call .collect() first.")
    try:
        rows = validate_data(
            estimator,
            X,
            reset=reset,
            dtype=np.float64,
            order="C",
            ensure_min_samples=at_least,
            accept_sparse="csr" if get_tags(estimator).input_tags.sparse else False,
            accept_large_sparse=False,
        )
    except (TypeError, ValueError) as error:
        columns = _columns_that_are_not_numbers(X)
        if not columns:
            raise
        raise ValueError(
            f"X must hold numbers only. Got the non-numeric column(s) {', '.join(columns)}; "
            "drop or encode them."
        ) from error
    return csr_array(rows) if issparse(rows) else np.asarray(rows)


def _columns_that_are_not_numbers(X: Any) -> list[str]:
    """Names of such columns of a data frame; nothing for other kinds of data."""
    names = []
    for name in getattr(X, "columns", ()):
        try:
            column = np.asarray(X[name])
            column.astype(np.float64)
        except (TypeError, ValueError):
            names.append(repr(name))
        else:
            if column.dtype.kind in "mM":  # dates convert to numbers, but are none
                names.append(repr(name))
    return names
