"""CSV by pyarrow: what is odd is read, or refused with its line."""

import contextlib
import gzip
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from eigencut import GraphWarning, Rows
from eigencut.io import readers
from eigencut.io.column_kinds import number_of_text
from eigencut.io.readers import is_header, open_source
from eigencut.io.table import Coding

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
    values = [np.where(np.isnan(b.values), np.nan, b.values) for b in blocks]
    ids = [cell for block in blocks for cell in block.ids or ()]
    return names, b"".join(v.tobytes() for v in values), ids, [b.first_row for b in blocks]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("tables") / "t"


@given(text=texts(), with_id=st.booleans(), size=st.sampled_from([1 << 10, 1 << 12]))
@example(text=b'a,b\n1,2\n3,"4\n5"\n6,7\n', with_id=True, size=1 << 10)
@example(text=b"1\n" * 60 + b"\n \n2", with_id=False, size=1 << 10)
def test_blocks_change_nothing(path, text, with_id, size):
    path.write_bytes(text)
    whole = outcome(path, with_id)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(readers, "BLOCK_BYTES", size)
        assert outcome(path, with_id) == whole


@given(st.lists(CELLS.filter(lambda cell: not set(cell) & set('"\r\n,')), min_size=1, max_size=30))
def test_numbers_are_those_of_python(path, cells):
    """Bit for bit, and refused where Python has no number for them."""
    path.write_text("a,b\n" + "".join(f"{cell},1\n" for cell in cells))
    expected = [number_of_text(cell) for cell in cells]
    if None in expected:
        line = expected.index(None) + 2
        with pytest.raises(ValueError, match=rf"'a' must hold numbers. Got .* in line {line}"):
            open_source(str(path), header=True).read(["a"])
    else:
        values = open_source(str(path), header=True).read(["a"]).values[:, 0]
        is_nan = np.isnan(expected)
        assert (np.isnan(values) == is_nan).all()
        assert values[~is_nan].tobytes() == np.array(expected)[~is_nan].tobytes()


def test_without_pyarrow_there_is_a_hint(path, monkeypatch):
    path.write_text("a,b\n1,2\n")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install 'eigencut\[cli\]'"):
        open_source(str(path))


@pytest.mark.parametrize("codec", ["gzip", "bz2", "zstd", "lz4"])
def test_packed_files(path, codec):
    import pyarrow as pa

    with pa.output_stream(str(path), compression=codec) as file:
        file.write(b"a,b\n" + b"1.5,x\n" * 5000)
    if codec != "gzip":
        with pytest.raises(ValueError, match="it is packed; unpack it, or use gzip"):
            open_source(str(path))
        return
    block = open_source(str(path)).read(["a"], "b")
    assert (block.values == 1.5).all() and block.ids == ["x"] * 5000


def test_old_line_ends_and_runs_of_spaces(path):
    path.write_bytes(b"a,b\r1,2\r3,4\r")
    assert open_source(str(path)).read(["a", "b"]).values.tolist() == [[1, 2], [3, 4]]
    path.write_bytes(b"a  b\n 1   2\r\n3 4 \n\n5 6")
    assert open_source(str(path)).read(["b"]).values[:, 0].tolist() == [2, 4, 6]


def test_lines_are_counted_where_rows_are_not_lines(path):
    path.write_text('a,b\n\n1,"x\ny"\n  \n2,z\ntall,z\n')
    with pytest.raises(ValueError, match=r"Column 'a' must hold numbers. Got 'tall' in line 7;"):
        open_source(str(path)).read(["a"])


@pytest.mark.parametrize("kind", ["feather", "json"])
def test_other_files_of_pyarrow(tmp_path, kind):
    import pandas as pd

    frame = pd.DataFrame({"x": [1.5, None, 3.0], "town": ["Rome", "Oslo", "Rome"]})
    if kind == "feather":
        frame.to_feather(tmp_path / "t")
    else:
        frame.to_json(tmp_path / "t", orient="records", lines=True)
    source = open_source(str(tmp_path / "t"))
    table = source.read(source.names, coding=Coding())
    assert source.names == ("x", "town") and table.kind("town").name == "categorical"
    assert np.array_equal(table.values, [[1.5, 0], [np.nan, 1], [3, 0]], equal_nan=True)


def test_a_quoted_cell_may_span_the_lines_that_are_looked_at(tmp_path):
    (tmp_path / "t").write_text("a,b\n" + "1,x\n" * 48 + '2,"y\nz"\n' + "3,x\n")
    block = open_source(str(tmp_path / "t")).read(["a"], "b")
    assert block.values[:, 0].tolist() == [1.0] * 48 + [2.0, 3.0]
    assert block.ids[-2:] == ["y\nz", "x"]


def test_a_header_of_numbers_or_a_text_column():
    rows = [["Rome", "1.5", "2"], ["Oslo", "?", "3"]]
    assert not is_header(rows)
    assert is_header([["town", "x", "2020"], ["Rome", "1", "2"]])
    assert is_header([["a"], ["1"]])
    assert not is_header([["1", "2"], ["3", "4"]])


NUMBERED = {
    "2019,2020,2021 1,2.5,3 4,5,6.5": True,
    "0,1,2 0.5,1.5,0.1 3.2,1.1,4.0": True,  # as pandas numbers columns
    "country,2019,2020 France,3,4 Italy,6,9": True,
    "2010,2015,2020 1.5,, 2.5,3.1,4": True,
    "0,1,2 3,4,5 6,7,8": False,
    "1,2 2,5 3,9": False,
    "1,2 1.5,2.5 2,3": False,
    "red,1,2 blue,1.5,2.5 red,2.5,1.5": False,
    "1,2,3 1,2,3": False,
    "5,6 1,9 9,1": False,
    "1,2": False,
}


@pytest.mark.parametrize(("text", "is_named"), NUMBERED.items())
def test_numbers_that_count_up_are_names_above_others(tmp_path, text, is_named):
    path = tmp_path / "t.csv"
    path.write_text(text.replace(" ", "\n") + "\n")
    what, other = ("names of columns", "no-") if is_named else ("data", "")
    note = (
        rf"The first line of .*t.csv, '.*was read as {what}\. If that is wrong, use --{other}header"
    )
    with pytest.warns(GraphWarning, match=note):
        source = open_source(str(path))
    source.close()
    assert source.has_names == is_named
    for header in (True, False):  # what is said is neither doubted nor noted
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with contextlib.suppress(ValueError):
                source = open_source(str(path), header=header)
                source.close()
        assert source.has_names == header


def test_rows_of_numbers_are_seldom_taken_for_names():
    rng = np.random.default_rng(0)
    found = 0
    for _ in range(3000):
        n, d = rng.integers(1, 50), rng.integers(2, 6)
        X = rng.integers(0, rng.choice([2, 10, 100]), size=(n, d)) * rng.choice([1, 0.37])
        found += is_header([[f"{x:.3g}" for x in row] for row in X])
    assert found <= 3


@pytest.mark.parametrize("cells", ['"3"3,4', '1,"2"x', '"a""b"c,1', '"3" ,4'])
def test_text_behind_a_closing_quote_is_refused(tmp_path, cells):
    path = tmp_path / "t.csv"
    path.write_text(f'a,b\n"1","2"\n{cells}\n', encoding="utf-8")
    with pytest.raises(ValueError, match="text stands behind the closing quote of a cell; double"):
        list(open_source(str(path)).batches(["a", "b"]))


@pytest.mark.parametrize("cell", ['x\n""y"" z', 'a,""b""', "", "\r\n"])
def test_quotes_within_quoted_cells_are_read(tmp_path, cell):
    path = tmp_path / "t.csv"
    path.write_bytes(f'a,b\n"{cell}",5" nail\n"1","2"'.encode())
    blocks = list(open_source(str(path)).batches(["a", "b"]))
    first, second = ([cell for b in blocks for cell in b[name].to_pylist()] for name in "ab")
    assert first == [cell.replace('""', '"'), "1"] and second == ['5" nail', "2"]


@pytest.mark.parametrize("length", [5, 1_000_000])
def test_a_quoted_cell_that_does_not_end_is_named_by_its_first_line(tmp_path, length):
    path = tmp_path / "open.csv"
    path.write_text('a,b\n1,2\n3,"' + "x" * length, encoding="utf-8")
    with pytest.raises(ValueError, match="a quoted cell begins in line 3 and does not end"):
        list(Rows.from_file(path))


@pytest.mark.parametrize("line", [b"3,\xff\n", b"3\xff\n", b"3,\xff,4\n"])
@pytest.mark.parametrize("n_before", [1, 400_000])
def test_bytes_that_are_no_text_are_named_and_nothing_is_printed(
    tmp_path, monkeypatch, capfd, line, n_before
):
    """pyarrow prints what its handler of short rows raises, and goes on."""
    path, dropped = tmp_path / "t.csv", []
    path.write_bytes(b"a,b\n" + b"1,2\n" * n_before + line + b"1,2\n")
    monkeypatch.setattr(sys, "unraisablehook", dropped.append)
    with pytest.raises(ValueError, match=rf"line {n_before + 2} is not utf-8 \(byte 0xff\); name"):
        list(Rows.from_file(path).tables())
    assert not dropped and capfd.readouterr() == ("", "")


def test_very_many_columns_are_refused_soon(tmp_path):
    path = tmp_path / "wide.csv"
    for n, cell in ((readers.MOST_COLUMNS + 1, "111"), (238_066, "1")):
        path.write_text("\n".join([",".join([cell] * n)] * 2))
        start = time.process_time()
        expected = f"columns must be at most 65536 of CSV. Got {n}; choose some of them, name the"
        with pytest.raises(ValueError, match=expected):
            next(Rows.from_file(path).tables())
        assert time.process_time() - start < 5
    assert open_source(str(path)).read(["x2"]).values.tolist() == [[1.0], [1.0]]


COUNT_THREADS = """
import os, sys
import pyarrow, pyarrow.csv
from eigencut.io.readers import open_source

pyarrow.enable_signal_handlers(False)  # they wait in a thread, which holds nothing of Python
source = open_source(sys.argv[1])
before = len(os.listdir("/proc/self/task"))
assert sum(len(batch["a"]) for batch in source.batches(source.names)) == 700
print(len(os.listdir("/proc/self/task")) - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="counts threads in /proc")
def test_no_thread_is_left_that_could_need_python_while_it_exits(tmp_path):
    """It would abort the process, now and then: a message and exit code 134 after any error."""
    path = tmp_path / "table.csv"
    path.write_text("a,b\n" + "1,x\n" * 700)
    command = [sys.executable, "-c", COUNT_THREADS, str(path)]
    left = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert int(left) == 0
