"""Checks of the rows that users pass to models: finite numbers, with the columns of the fit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, issparse
from sklearn.utils import get_tags
from sklearn.utils.validation import validate_data

from eigencut._utils.arrays import Array
from eigencut._utils.validation import as_numpy, check_sample_weight, shown
from eigencut.exceptions import invalid
from eigencut.io.refused_rows import refuse_infinite, text_error
from eigencut.io.rows import Rows
from eigencut.io.table import refuse_lazy


def check_source(
    estimator: Any, X: ArrayLike | Rows, *, keeps_narrow: bool = False
) -> Array | Rows:
    """Return the rows of a fit: an array, checked, or a stream, which checks the blocks itself."""
    if not isinstance(X, Rows):
        return check_rows(estimator, X, reset=True, keeps_narrow=keeps_narrow)
    estimator.n_features_in_ = X.n_features
    if X.feature_names is not None:
        estimator.feature_names_in_ = np.array(X.feature_names, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_
    return X


def check_weights_of(rows: Any, sample_weight: ArrayLike | None) -> Array | None:
    """Return the weights of rows, checked; None for a stream, which has its own weights."""
    if isinstance(rows, Rows) and sample_weight is not None:
        expected, got = "be left out with eigencut.Rows", type(sample_weight).__name__
        remedy = "give them to Rows.from_array or Rows.from_file"
        raise invalid("sample_weight", expected, got, remedy, error=TypeError)
    return None if isinstance(rows, Rows) else check_sample_weight(sample_weight, rows.shape[0])


def rows_that_count(
    rows: Any, sample_weight: Array | None, *, pairwise: bool = False
) -> tuple[Any, Array | None]:
    """Return the rows of positive weight, and their weights; a pairwise matrix keeps all rows."""
    if sample_weight is None or sample_weight.all() or pairwise:
        return rows, sample_weight
    is_there = np.flatnonzero(sample_weight)
    return rows[is_there], sample_weight[is_there]


def check_is_stream(rows: Rows) -> None:
    """Raise an error for rows in memory."""
    if not isinstance(rows, Rows):
        remedy = "use predict(X) for rows in memory, or eigencut.Rows.from_array(X)"
        raise invalid("rows", "be eigencut.Rows", type(rows).__name__, remedy, error=TypeError)


def check_stream(estimator: Any, rows: Rows) -> None:
    """Raise an error for a stream without the columns that the estimator was fitted on."""
    check_is_stream(rows)
    names = getattr(estimator, "feature_names_in_", None)
    is_other = rows.n_features != estimator.n_features_in_
    if names is not None and rows.feature_names is not None:
        is_other = is_other or list(names) != rows.feature_names
    if is_other:
        expected = estimator.n_features_in_ if names is None else ", ".join(names)
        got = ", ".join(rows.feature_names or [str(rows.n_features)])
        expected = f"have the columns of the fit ({expected}), in that order"
        raise invalid("rows", expected, got, "choose columns")


def check_rows(
    estimator: Any, X: Any, *, reset: bool, at_least: int = 1, keeps_narrow: bool = False
) -> Any:
    """Return X as finite float64 rows; errors name the columns and rows that are not numbers."""
    if isinstance(X, Rows):
        remedy = "use predict_stream(rows, path) or ask block by block: for X in rows"
        got = "a stream, eigencut.Rows"
        raise invalid("X", "be rows in memory", got, remedy, error=TypeError)
    refuse_lazy(X)
    X = as_numpy(X)
    tags = get_tags(estimator).input_tags
    if issparse(X) and not tags.sparse:
        affinity, expected = getattr(estimator, "affinity", None), type(estimator).__name__
        remedy = "use X.toarray()"
        if affinity is not None:
            expected += f" with affinity={shown(affinity)}"
            remedy = "use affinity='neighbors' or 'landmarks', or X.toarray()"
        raise invalid("X", f"be dense for {expected}", "a sparse X", remedy, error=TypeError)
    if issparse(X):
        got = f"{X.nnz} entries in shape {X.shape}"
        if max(X.nnz, *X.shape) >= 2**31:  # too many for indices
            expected = "have at most 2^31 - 1 entries, rows and columns"
            raise invalid("X", expected, got, "fit on some of the rows")
        if max(X.shape) > 2**24 + 16 * X.nnz:  # a tiny matrix can claim a huge shape
            expected = "store a number in more of its rows and columns"
            raise invalid("X", expected, got, "leave out those without any")
    narrow = (np.float32, np.float16, np.int8, np.uint8) if keeps_narrow else ()
    try:
        rows = validate_data(
            estimator,
            X,
            reset=reset,
            dtype=[np.float64, *narrow],
            order="C",
            ensure_min_samples=at_least,
            accept_sparse="csr" if tags.sparse else False,
            ensure_all_finite=False,
        )
    except (OverflowError, TypeError, ValueError) as error:
        of_text = text_error(X)
        if of_text is None:
            values = np.asarray(X)
            if values.ndim == 2 and values.dtype.kind == "f":
                refuse_infinite(X, values)  # NaN is reported before a wrong number of columns
            raise
        if isinstance(error, TypeError):  # an object that is not even text
            raise TypeError(f"{of_text} ({error})") from error
        raise of_text from error
    if issparse(rows):  # kernels and searches need indices of 32 bits
        rows = csr_array(rows)
        places = (each.astype(np.int32, copy=False) for each in (rows.indices, rows.indptr))
        rows = csr_array((rows.data, *places), shape=rows.shape)
    refuse_infinite(X, rows, pairwise=tags.pairwise)
    return rows
