"""Valid CSV of every kind is read, by the csv module's own account of what is valid."""

import csv
import io
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eigencut.io.column_kinds import number_of_text as number
from eigencut.io.readers import open_source


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("tables") / "t"


def written(rows, delimiter, quoting=csv.QUOTE_MINIMAL):
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, quoting=quoting, lineterminator="\n").writerows(rows)
    return text.getvalue()


NOTES = st.text(st.sampled_from(list('ab"\n,;| é')), max_size=30)


@given(
    notes=st.lists(NOTES, min_size=1, max_size=70),
    before=st.integers(0, 60),
    delimiter=st.sampled_from([",", ";", "\t", "|"]),
)
def test_quoted_cells_may_hold_anything_anywhere(path, notes, before, delimiter):
    """Above all a line break at the last of the lines from which the delimiter is found out."""
    notes = ["plain"] * before + [note or "-" for note in notes]
    rows = [["id", "x", "y"], *([note, str(i), "0.5"] for i, note in enumerate(notes))]
    path.write_text(written(rows, delimiter, csv.QUOTE_ALL), newline="")
    source = open_source(str(path), delimiter=delimiter)
    assert source.names == ("id", "x", "y")
    block = source.read(["x", "y"], "id")
    assert block.ids == notes
    assert block.values[:, 0].tolist() == list(range(len(notes)))


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("start", [*range(44, 53)])
def test_the_delimiter_is_found_out_where_a_quoted_cell_goes_on(path, delimiter, start):
    rows = [["id", "x", "y"], *(["a", str(i), "2.5"] for i in range(start))]
    rows += [["one\ntwo, or three\nfour", "1.5", "2"], *([["b", "1", "2"]] * 30)]
    path.write_text(written(rows, delimiter))
    source = open_source(str(path))
    assert source.names == ("id", "x", "y")
    assert len(source.read(["x", "y"]).values) == start + 31


def test_long_lines_and_long_cells(path):
    note = "word " * 400_000  # 2 MB, where the csv module has a limit of 131072 characters
    path.write_text(written([["x", "note"], ["1", "a"], ["2", note], ["3", note + '"']], ","))
    limit = csv.field_size_limit()
    block = open_source(str(path)).read(["x"], "note")
    assert block.values[:, 0].tolist() == [1.0, 2.0, 3.0]
    assert block.ids == ["a", note, note + '"']
    assert csv.field_size_limit() == limit


def test_a_first_line_of_many_megabytes(path):
    numbers = ["1.25"] * 700_000
    path.write_text(",".join(numbers) + "\n" + ",".join(numbers) + "\n")
    source = open_source(str(path))
    assert len(source.names) == 700_000
    assert source.read(source.names[-2:]).values.tolist() == [[1.25, 1.25]] * 2


def test_the_time_for_many_columns_grows_with_their_number(path):
    """20 000 took 13 s when every name was looked up in a list of all."""

    def seconds(n):
        path.write_text(",".join(f"c{i}" for i in range(n)) + "\n" + ",".join(["1"] * n) + "\n")
        best = np.inf
        for _ in range(2):
            start = time.process_time()
            source = open_source(str(path))
            source.read(source.names)
            best = min(best, time.process_time() - start)
        return best

    assert seconds(12_000) < 12 * seconds(3_000)  # 4 if linear, 16 if quadratic


def test_truth_values_are_numbers(path):
    path.write_text("a,b\n1.5,True\n2,false\n3,TRUE\n?,\n")
    values = open_source(str(path)).read(["a", "b"]).values
    assert np.array_equal(values, [[1.5, 1], [2, 0], [3, 1], [np.nan, np.nan]], equal_nan=True)


FLOATS = st.floats(allow_nan=False, allow_infinity=False)


@given(X=st.lists(st.tuples(FLOATS, FLOATS), min_size=1, max_size=20))
def test_decimal_commas(path, X):
    """As with points, bit for bit."""
    lines = [f"{a!r};{b!r}".replace(".", ",") for a, b in X]
    path.write_text("a;b\n" + "\n".join(lines) + "\n")
    source = open_source(str(path), decimal=",")
    assert source.names == ("a", "b")
    assert np.array_equal(source.read(["a", "b"]).values, X)


@given(text=st.text(st.sampled_from(list("0123456789.,-+e "))))
def test_a_point_is_never_taken_for_a_decimal_comma(text):
    found = number(text, ",")
    if "." in text and found is not None:
        assert text.strip() == "." and np.isnan(found)
    if "," not in text and "." not in text:
        assert str(found) == str(number(text))
