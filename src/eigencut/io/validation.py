"""Rows that users pass, checked: finite numbers, and the columns of the fit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, issparse
from sklearn.utils import get_tags
from sklearn.utils.validation import validate_data

from eigencut._utils.arrays import Array, as_numpy
from eigencut._utils.validation import check_sample_weight, shown
from eigencut.exceptions import invalid
from eigencut.io.refused_rows import refuse_infinite, text_error
from eigencut.io.rows import Rows
from eigencut.io.table import refuse_lazy

_NARROW = (np.float32, np.float16, np.int8, np.uint8)  # what embeddings and codes are kept in


def check_source(
    estimator: Any, X: ArrayLike | Rows, *, keeps_narrow: bool = False
) -> Array | Rows:
    """What a model is fitted on: rows in memory, checked; or a stream, which checks as it reads."""
    if not isinstance(X, Rows):
        return check_rows(estimator, X, reset=True, keeps_narrow=keeps_narrow)
    estimator.n_features_in_ = X.n_features
    if X.feature_names is not None:
        estimator.feature_names_in_ = np.array(X.feature_names, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_
    return X


def check_weights_of(rows: Any, sample_weight: ArrayLike | None) -> Array | None:
    """The weights of rows that were checked; a stream has its own."""
    if isinstance(rows, Rows) and sample_weight is not None:
        raise TypeError(
            f"sample_weight must be left out with eigencut.Rows. Got {type(sample_weight).__name__}"
            "; the stream has the weights: Rows.from_array(X, sample_weight=...), "
            "Rows.from_file(path, weights=...)."
        )
    return None if isinstance(rows, Rows) else check_sample_weight(sample_weight, rows.shape[0])


def rows_that_count(
    rows: Any, sample_weight: Array | None, *, pairwise: bool = False
) -> tuple[Any, Array | None]:
    """Return the rows of positive weight, and their weights; a matrix of affinities stays whole."""
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
        raise ValueError(
            f"rows must have the columns of the fit ({expected}), in that order. "
            f"Got {', '.join(rows.feature_names or [str(rows.n_features)])}; choose columns."
        )


def check_rows(
    estimator: Any, X: Any, *, reset: bool, at_least: int = 1, keeps_narrow: bool = False
) -> Any:
    """X as finite float64 rows; columns that are not numbers are named.

    Sparse where X and the estimator's tags are: then a ``csr_array`` with indices of 32 bits. With
    ``keeps_narrow``, numbers of fewer than 64 bits stay as they are: for who reads blocks of rows.
    """
    if isinstance(X, Rows):
        raise TypeError(
            "X must be rows in memory. Got a stream, eigencut.Rows; use predict_stream(rows, path) "
            "or ask block by block: for X in rows."
        )
    refuse_lazy(X)
    X = as_numpy(X)
    tags = get_tags(estimator).input_tags
    if issparse(X) and not tags.sparse:
        raise _sparse_error(estimator)
    try:
        rows = validate_data(
            estimator,
            X,
            reset=reset,
            dtype=[np.float64, *_NARROW] if keeps_narrow else np.float64,
            order="C",
            ensure_min_samples=at_least,
            accept_sparse="csr" if tags.sparse else False,
            ensure_all_finite=False,
        )
    except (TypeError, ValueError) as error:
        of_text = text_error(X)
        if of_text is None:
            _refuse_infinite_array(X)  # which is said before a number of columns, as elsewhere
            raise
        if isinstance(error, TypeError):  # an object that is not even text
            raise TypeError(f"{of_text} ({error})") from error
        raise of_text from error
    if issparse(rows):
        rows = _short_indices(csr_array(rows))
    else:
        rows = np.asarray(rows)
    refuse_infinite(X, rows, pairwise=tags.pairwise)
    return rows


def _sparse_error(estimator: Any) -> TypeError:
    """What is wrong with sparse rows, and what takes them."""
    affinity = getattr(estimator, "affinity", None)
    name = type(estimator).__name__
    if affinity is None:
        return TypeError(f"X must be dense for {name}. Got a sparse X; use X.toarray().")
    return TypeError(
        f"X must be dense for {name} with affinity={shown(affinity)}. Got a sparse X; use "
        "affinity='neighbors' or 'landmarks', which take sparse rows, or X.toarray()."
    )


def _refuse_infinite_array(X: Any) -> None:
    """The same for what may be no table of rows."""
    values = np.asarray(X)
    if values.ndim == 2 and values.dtype.kind == "f":
        refuse_infinite(X, values)


def _short_indices(rows: Any) -> Any:
    """A sparse array with indices of 32 bits, which is what kernels and searches count in."""
    if rows.indices.dtype == np.int32 and rows.indptr.dtype == np.int32:
        return rows
    if max(rows.nnz, *rows.shape) > np.iinfo(np.int32).max:
        raise ValueError(
            f"X must have at most 2^31 - 1 entries, rows and columns. Got {rows.nnz} entries in "
            f"shape {rows.shape}; fit on some of the rows."
        )
    indices, starts = rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
    return csr_array((rows.data, indices, starts), shape=rows.shape)
