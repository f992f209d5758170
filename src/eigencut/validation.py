"""Checks of what users pass, with errors that name parameter, expectation, value and remedy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import validate_data

from eigencut.stream import Rows

Array = NDArray[np.float64]


def check_count(name: str, value: object, remedy: str) -> None:
    """An integer of at least 1."""
    is_integer = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not is_integer or value < 1:  # type: ignore[operator]
        raise ValueError(f"{name} must be an integer of at least 1. Got {value!r}; {remedy}.")


def check_random(name: str, value: object) -> None:
    """Something that seeds a generator."""
    try:
        check_random_state(0 if value is None else value)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} must be a non-negative integer, a numpy RandomState or None. "
            f"Got {value!r}; use {name}=0."
        ) from error


def check_n_clusters(n_clusters: int, available: int, what: str) -> None:
    """Not more clusters than there is something to cluster."""
    if n_clusters > available:
        raise ValueError(
            f"n_clusters must be at most the number of {what}, {available}. "
            f"Got {n_clusters}; lower it or add data."
        )


def check_choice(name: str, value: object, choices: Sequence[str]) -> None:
    """One of a few words."""
    if not (isinstance(value, str) and value in choices):
        listed = " or ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be {listed}. Got {value!r}; use {name}={choices[0]!r}.")


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


def real_array(name: str, values: Any) -> Array:
    """An array of float64; complex numbers and words are refused."""
    try:
        if np.iscomplexobj(values):
            raise TypeError("complex")
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        kind = type(values).__name__
        raise ValueError(
            f"{name} must hold real numbers. Got a {kind} of something else; convert it."
        ) from error


def described(values: NDArray[Any]) -> str:
    """Shape and range, for an error message."""
    if values.size == 0:
        return f"shape {values.shape}"
    return f"shape {values.shape} with values from {values.min():.3g} to {values.max():.3g}"
