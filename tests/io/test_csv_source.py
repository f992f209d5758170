"""CSV by pyarrow and cell by cell: the same numbers, names and errors, bit for bit."""

import gzip
import sys

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from eigencut.io import csv_cells as plain_csv
from eigencut.io import csv_source
from eigencut.io.csv_source import is_header
from eigencut.io.reading import open_source

CELLS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(-1e6, 1e6, width=32).map("{:.3f}".format),
    st.integers(-(10**20), 10**20).map(str),
    st.sampled_from(["", "?", "NA", "na", "nan", "NaN", "n/a", "N/A", "null", ".", "None", "nA"]),
    st.sampled_from(["+1", " 2", "3 ", ".5", "6.", "1e5", "1E-400", "1_0", "-0", "0x1p3", "\xa07"]),
    st.sampled_from(["inf", "-inf", "1e400", "nan(7)", "-nan", "infinity"]),
    st.sampled_from(['"1.5"', '"2,5"', '"3\n4"', '"1"5', '5"', '"', "x", "é", "1\r2", "true"]),
)
PLAIN = st.one_of(st.floats(-1e9, 1e9).map(repr), st.just(""), st.just("?"))


@st.composite
def texts(draw):
    """Tables as bytes: mostly plain ones, with something odd in some."""
    width = draw(st.integers(1, 4))
    rows = draw(st.lists(st.lists(PLAIN, min_size=width, max_size=width), max_size=12))
    for _ in range(draw(st.integers(0, 2)) if rows else 0):
        draw(st.sampled_from(rows))[draw(st.integers(0, width - 1))] = draw(CELLS)
    if rows and draw(st.integers(0, 9)) == 0:
        draw(st.sampled_from(rows)).append("1")  # ragged
    delimiter = draw(st.sampled_from([",", ",", ";", "\t"]))
    lines = [delimiter.join(row) for row in rows]
    if draw(st.booleans()):
        lines.insert(draw(st.integers(0, len(lines))), draw(st.sampled_from(["", "  "])))
    if draw(st.booleans()):
        lines.insert(0, delimiter.join("abcd"[:width]))
    end = draw(st.sampled_from(["\n", "\r\n"]))
    text = end.join(lines) + draw(st.sampled_from(["", end]))
    mark = draw(st.sampled_from(["", "", "\ufeff"]))
    encoding = draw(st.sampled_from(["utf-8", "utf-8", "utf-8", "latin-1"]))
    found = (mark + text).encode(encoding, errors="replace")
    return gzip.compress(found) if draw(st.booleans()) else found


def outcome(path, with_id):
    """All that a source says of a table, or the error."""
    try:
        source = open_source(str(path), delimiter=None)
        names = source.names
        name_of_id = names[-1] if with_id and len(names) > 1 else None
        columns = [name for name in names if name != name_of_id]
        blocks = list(source.blocks(columns, name_of_id))
    except ValueError as error:
        return str(error)
    values = [np.where(np.isnan(b.table.values), np.nan, b.table.values) for b in blocks]
    ids = [cell for block in blocks for cell in block.ids or ()]
    return names, b"".join(v.tobytes() for v in values), ids, [b.table.first_row for b in blocks]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("tables") / "t"


@given(text=texts(), with_id=st.booleans(), chunk=st.sampled_from([1, 7, 40, 1 << 22]))
@example(text=b'a,b\n1,2\n3,"4\n5"\n6,7\n', with_id=True, chunk=7)
@example(text=b"1\n" * 60 + b"\n \n2", with_id=False, chunk=1)
def test_pyarrow_changes_nothing(path, text, with_id, chunk):
    path.write_bytes(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_source, "_CHUNK_BYTES", chunk)
        own = outcome(path, with_id)
        patch.setattr(plain_csv, "_LEAST_BYTES", 1)
        assert outcome(path, with_id) == own
        patch.setitem(sys.modules, "pyarrow", None)
        assert outcome(path, with_id) == own


def test_pyarrow_reads_what_is_plain(tmp_path, monkeypatch):
    """Otherwise the test above would compare our reader with itself."""
    X = np.random.default_rng(0).normal(size=(500, 3))
    X[7, 1] = np.nan
    lines = [",".join("?" if np.isnan(x) else repr(float(x)) for x in row) for row in X]
    (tmp_path / "t").write_text("a,b,c\n" + "\n".join(lines))
    monkeypatch.setattr(plain_csv, "_LEAST_BYTES", 1)
    monkeypatch.setattr(csv_source.CsvSource, "_numbers", None)  # ours is not called
    source = open_source(str(tmp_path / "t"))
    table = source.read(["c", "b"], "a")
    assert np.array_equal(table.table.values, X[:, [2, 1]], equal_nan=True)
    assert table.ids == [repr(float(x)) for x in X[:, 0]]


def test_a_chunk_that_pyarrow_refuses_is_read_here_and_the_next_is_not(tmp_path, monkeypatch):
    """What is odd in one place costs no more than that place; lines are counted all the way."""
    lines = [f"{i},{i + 0.5}" for i in range(1000)]
    lines[300] = "3_00,300.5"  # which Python reads, and pyarrow refuses
    lines[900] = "900,tall"
    (tmp_path / "t").write_text("a,b\n" + "\n".join(lines))
    monkeypatch.setattr(plain_csv, "_LEAST_BYTES", 1)
    monkeypatch.setattr(csv_source, "_CHUNK_BYTES", 1000)
    by_us = []
    numbers = csv_source.CsvSource._numbers

    def counted(self, rows, *how):
        by_us.append(rows[0][0])
        return numbers(self, rows, *how)

    monkeypatch.setattr(csv_source.CsvSource, "_numbers", counted)
    with pytest.raises(ValueError, match=r"'b' \('tall' in line 902\)"):
        open_source(str(tmp_path / "t")).read(["a", "b"])
    assert len(by_us) == 2


def test_a_quoted_cell_may_span_the_lines_that_are_looked_at(tmp_path):
    (tmp_path / "t").write_text("a,b\n" + "1,x\n" * 48 + '2,"y\nz"\n' + "3,x\n")
    block = open_source(str(tmp_path / "t")).read(["a"], "b")
    assert block.table.values[:, 0].tolist() == [1.0] * 48 + [2.0, 3.0]
    assert block.ids[-2:] == ["y\nz", "x"]


def test_a_header_of_numbers_or_a_text_column():
    rows = [["Rome", "1.5", "2"], ["Oslo", "?", "3"]]
    assert not is_header(rows)
    assert is_header([["town", "x", "2020"], ["Rome", "1", "2"]])
    assert is_header([["a"], ["1"]])
    assert not is_header([["1", "2"], ["3", "4"]])
