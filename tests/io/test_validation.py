"""Rows that users pass: sparse ones with indices of any width, and values that are no numbers."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from sklearn.datasets import make_blobs

from eigencut import GPOD
from eigencut.io.refused_rows import refuse_infinite, text_error
from eigencut.io.validation import check_rows

DENSE = np.maximum(make_blobs(120, 6, centers=3, cluster_std=0.5, random_state=0)[0], 0.0)


def wide(X):
    """The same with indices of 64 bits, as scipy makes them for large arrays and by itself."""
    X = X.copy()
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix, sparse.csc_array])
@pytest.mark.parametrize("affinity", ["auto", "neighbors", "landmarks", "precomputed"])
def test_sparse_indices_of_64_bits(kind, affinity):
    rows = DENSE @ DENSE.T if affinity == "precomputed" else DENSE
    X, Y = kind(rows), wide(kind(rows))
    assert Y.indices.dtype == np.int64
    narrow, model = (GPOD(3, affinity=affinity).fit(given) for given in (X, Y))
    assert (model.labels_ == narrow.labels_).all()
    assert (model.predict(Y) == model.labels_).all()
    assert (model.transform(Y) == model.transform(X)).all()
    assert Y.indices.dtype == np.int64, "the argument was changed"


def test_coordinates_of_64_bits():
    places = np.nonzero(DENSE)
    indices = tuple(place.astype(np.int64) for place in places)
    X = sparse.coo_array((DENSE[places], indices), shape=DENSE.shape)
    found = check_rows(GPOD(2), X, reset=True)
    assert found.indices.dtype == found.indptr.dtype == np.int32
    assert (found.toarray() == DENSE).all()


def test_more_columns_than_32_bits_count():
    X = sparse.csr_array((np.ones(2), [5, 2**33], [0, 1, 2]), shape=(2, 2**34))
    with pytest.raises(ValueError, match=r"X must have at most 2\^31 - 1 entries, rows and col"):
        GPOD(2).fit(X)


@given(
    X=arrays(np.float64, st.tuples(st.integers(1, 6), st.integers(1, 4))),
    is_sparse=st.booleans(),
)
def test_finite_rows_pass_and_others_are_found(X, is_sparse):
    """Whatever their sum does: huge numbers are finite, and infinities can cancel to NaN."""
    rows = sparse.csr_array(X) if is_sparse else X
    if np.isfinite(X).all():
        refuse_infinite(X, rows)
        return
    with pytest.raises(ValueError, match="X must be finite") as caught:
        refuse_infinite(X, rows)
    row, column = (int(places[0]) for places in np.nonzero(~np.isfinite(X)))
    what = "NaN, a missing value," if np.isnan(X[row, column]) else "infinity"
    assert f"Got {what} in row {row}, column {column};" in str(caught.value)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_columns_of_text_have_names(frame):
    good = {"a": [1.0, 2.0], "b": [True, False]}
    assert text_error(frame(good)) is None
    found = text_error(frame(good | {"town": ["x", "y"], "day": ["1", "z"]}), n_before=7)
    assert "'town', 'day' after row 7; drop or encode them" in str(found)


def test_cells_of_text_have_a_place():
    X = np.array([[1, 2.5], [3, "4"], [5, "tall"]], dtype=object)  # "4" can be converted
    assert "Got 'tall' in row 12, column 1" in str(text_error(X, n_before=10))
    assert text_error(DENSE) is None and text_error(sparse.csr_array(DENSE)) is None
