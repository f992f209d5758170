"""Columns of whatever is given: kinds, missing values, and many of them."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from eigencut.inspection.describe import columns_of
from eigencut.io.table import Table


def kinds(X, **options):
    return {column.name: column.kind for column in columns_of(X, **options)}


def test_kinds_of_a_data_frame():
    frame = pd.DataFrame(
        {
            "i": [1, 2, 3],
            "f": [0.5, None, 2.5],
            "b": [True, False, True],
            "s": ["x", None, "y"],
            "c": pd.Categorical([1, 2, 1]),
            "d": pd.to_datetime(["2021-01-01T00:00", None, "2021-01-03T12:00"]),
            "o": pd.Series([1, None, 2.5], dtype=object),
            "n": pd.array([1, None, 3], dtype="Int64"),
            5: [1.0, 2.0, 3.0],
        }
    )
    assert kinds(frame) == {
        "i": "number",
        "f": "number",
        "b": "category",
        "s": "category",
        "c": "category",
        "d": "date",
        "o": "number",
        "n": "number",
        "5": "number",
    }
    columns = {column.name: column for column in columns_of(frame)}
    for name in ("f", "s", "d", "o", "n"):
        assert columns[name].is_missing.tolist() == [False, True, False]
        assert columns[name].plain(columns[name].values[1]) is None
    dates = [columns["d"].plain(value) for value in columns["d"].values[[0, 2]]]
    assert dates == ["2021-01-01", "2021-01-03T12:00:00"]
    assert [columns["s"].plain(code) for code in columns["s"].values] == ["x", None, "y"]


def test_polars_tables_and_arrays():
    frame = pl.DataFrame({"x": [1.0, None], "w": ["a", "b"]})
    assert kinds(frame) == {"x": "number", "w": "category"}
    assert kinds(frame, names=["w"]) == {"w": "category"}
    assert kinds(Table(("p", "q"), np.eye(2)), names=["q"]) == {"q": "number"}
    assert kinds(np.eye(2)) == {"x1": "number", "x2": "number"}
    found = columns_of(sparse.csr_array(np.diag([1.0, 2.0])), names=["p", "q"])
    assert [column.values.tolist() for column in found] == [[1.0, 0.0], [0.0, 2.0]]


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_of_very_many_columns_those_that_differ_are_taken(make):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 120)
    X = rng.normal(size=(120, 700))
    X[:, 650] += 5 * labels
    found = columns_of(make(X), labels=labels)
    assert len(found) == 300 and "x651" in [column.name for column in found]


def test_a_column_that_names_rows_is_known():
    numbers = np.arange(100)
    names = pd.DataFrame({"id": numbers.astype(str), "town": (numbers % 9).astype(str)})
    assert [column.names_rows for column in columns_of(names)] == [True, False]
