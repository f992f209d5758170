"""CSV files for ``fuzz.py``: a table is read or refused, whatever the pieces it is read in.

Starts from the tables in ``corpus/tables`` and changes characters, cells and lines. Every table is
read as it is and in small pieces: the same numbers, or refused.
"""

import warnings
from functools import cache
from pathlib import Path
from unittest import mock

import numpy as np

from eigencut import Rows
from eigencut.io import readers

CORPUS = Path(__file__).parent / "corpus" / "tables"
SUFFIX = ".csv"
CELLS = [
    *("", " ", "0", "-0.0", "1", "1.5", "1,5", "1e308", "1e999", "-1e-320", "nan", "NA", "?"),
    "inf",
    *("1_000", "0x10", "١", "½", "True", "x", "=1+1", "#", '"a""b"', '"1\n2"', '"', "'", "é", "😀"),
    *("\ufeff", "\u2028", "\x1b[31m", "\x0b", "9" * 400, "x" * 5000),
]
BYTES = [*(bytes([byte]) for byte in b',;\t| "\n\r\0\xff'), b"\r\n", b"\xef\xbb\xbf"]


@cache
def seeds():
    return [path.read_bytes() for path in sorted(CORPUS.glob(f"*{SUFFIX}"))]


def begin():
    pass


def make(rng, path):
    raw = bytearray(rng.choice(seeds()))
    for _ in range(rng.choice([1, 1, 2, 5, 20])):
        if len(raw) > 1 << 16:  # sixty times as long with each copy of lines: gigabytes at last
            break
        what, place = rng.random(), rng.randrange(len(raw) + 1)
        if what < 0.3:
            raw[place:place] = rng.choice(BYTES)
        elif what < 0.6:
            start = max(raw.rfind(b",", 0, place), raw.rfind(b"\n", 0, place)) + 1
            end = min(
                i for i in (raw.find(b",", place), raw.find(b"\n", place), len(raw)) if i >= 0
            )
            raw[start : max(start, end)] = rng.choice(CELLS).encode()
        elif what < 0.75:
            del raw[place : place + rng.randrange(1, 40)]
        elif what < 0.9:
            lines = raw.splitlines(keepends=True)
            raw[place:place] = (
                b"".join(rng.choices(lines, k=rng.choice([1, 3, 60]))) if lines else b""
            )
        else:
            raw[place : place + 1] = rng.randbytes(1)
    path.write_bytes(raw)
    return True


def content(path):
    """The rows of a table, or the sentence by which it is refused; files are closed."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", ResourceWarning)
        try:
            found = np.concatenate([table.values for table in Rows.from_file(path).tables()])
        except ValueError as error:
            found = str(error)
    left_open = [each.message for each in said if each.category is ResourceWarning]
    assert not left_open, left_open[0]
    return found


def same(a, b):
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.shape == b.shape and a.tobytes() == b.tobytes()
    return type(a) is type(b)  # sentences may differ in the line they name


def outcome(path):
    found = content(path)
    with mock.patch.object(readers, "BLOCK_BYTES", 1 << 13):
        assert same(content(path), found), "it depends on the pieces it is read in"
    if isinstance(found, str):
        assert found.strip() and "\n" not in found, repr(found)
        return "refused"
    return "read"
