"""What cells of text mean, what columns hold, and files and containers that are no tables."""

import numpy as np
import pytest

from eigencut.io.column_kinds import (
    Kind,
    columns_from_text,
    columns_to_text,
    date_number,
    kind_of_text,
    number_of_text,
    other_notation,
)
from eigencut.io.readers import refuse_other_formats, sniffed_delimiter
from eigencut.io.table import Coding, Table, refuse_lazy


@pytest.mark.parametrize(
    "cells, kind",
    [
        (["1", "2.5"], "numeric"),
        (["True", "false"], "boolean"),
        (["2020-01-31"], "date"),
        (["2020-01-31", "2020-02-01", "2020-13-01"], "date"),
        (["a", "b", "1"], "categorical"),
        (["a", "1", "2"], "numeric"),
    ],
)
def test_kinds_of_text(cells, kind):
    assert kind_of_text(cells).name == kind


def test_kinds_that_users_give():
    ordered = Kind(name="ordered", order=("small", "large"), is_given=True)
    assert Kind.from_user("size", ["small", "large"]) == ordered
    given = {"size": ("small", "large")}
    assert columns_from_text(columns_to_text(given)) == {"size": ["small", "large"]}


def test_dates_are_numbers_in_utc():
    assert date_number("1970-01-02") == 1.0
    assert date_number("1970-01-01T12:00+06:00") == 0.25
    assert date_number("tomorrow") is None


def test_words_are_numbered_as_they_come():
    cells = np.array(["Rome", "Oslo", "", "Rome"], dtype=object)
    np.testing.assert_array_equal(Coding().numbers("town", cells), [0, 1, np.nan, 0])


def test_words_of_an_array_are_numbers_with_a_name():
    table = Table.from_data(np.array([["Rome", 1.0], ["Oslo", 2.0]], dtype=object))
    assert table.names == ("x1", "x2") and table.kind("x1").name == "categorical"
    assert list(table.words("x1")) == ["Rome", "Oslo"]
    assert table.values.tolist() == [[0.0, 1.0], [1.0, 2.0]]


def test_numbers_of_text():
    cells = [("1.5", "."), ("1,5", "."), ("1,5", ","), ("1.500", ","), ("True", ".")]
    assert [number_of_text(*cell) for cell in cells] == [1.5, None, 1.5, None, 1.0]


def test_another_notation_is_named():
    assert other_notation(["1,5"]) == "a decimal comma, read with decimal ','"
    assert other_notation(["tall"]) == ""


def test_delimiters_are_found_out():
    assert sniffed_delimiter(["town;x", "Rome, Italy;1.5"], ".") == ";"
    assert sniffed_delimiter(["1,5 2,5", "3 4"], ",") == " "


def test_other_formats_are_named():
    refuse_other_formats("a.csv", b"<DATE>,<PRICE>")
    said = "a.pdf is not a table: it is a database or a document; save the table as CSV."
    with pytest.raises(ValueError, match=said):
        refuse_other_formats("a.pdf", b"%PDF-1.7")


def test_a_dask_array_is_not_in_memory():
    dask = pytest.importorskip("dask.array")
    said = "X must be rows in memory. Got a dask Array; on the cluster write"
    with pytest.raises(ValueError, match=said):
        refuse_lazy(dask.ones((10, 2)))
