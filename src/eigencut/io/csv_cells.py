"""What the cells of a CSV file mean: numbers, missing values, truth values, or text."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import Any

import numpy as np

from eigencut._utils.arrays import Array
from eigencut._utils.threads import n_threads

# Lines of plain CSV as numbers and words, by pyarrow: eight times as fast as cell by cell.
#
# Plain is what pyarrow cannot read in another way than ``eigencut.io.csv_source``: valid UTF-8
# without quotes, lone carriage returns, NUL and very long lines. Whatever it refuses is left to
# that.

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
MISSING = {"", "?", "na", "n/a", "nan", "null", "none", "."}  # in any case of letters

Different = tuple[list[str], Any]  # words, and places of the cells among them

_LEAST_BYTES = 1 << 20  # for fewer it does not pay to import pyarrow
_LINE_BYTES = 1 << 16  # longer ones have so many columns that pyarrow does not pay
_SPELLINGS = sorted({f(word) for word in MISSING for f in (str.lower, str.upper, str.title)})
_NULLS = [*_SPELLINGS, "NaN"]


def plain_cells(
    chunk: bytes,
    encoding: str,
    delimiter: str,
    decimal: str,
    n_columns: int,
    places: list[int],
    place_of_id: int | None,
    places_of_words: list[int],
) -> tuple[Array, list[str] | None, list[Different]] | None:
    """Numbers of some columns and the words of others; None where that is not for pyarrow."""
    if len(chunk) < _LEAST_BYTES or not _is_plain(chunk, encoding, delimiter):
        return None
    if place_of_id in places or place_of_id in places_of_words:
        return None
    try:
        import pyarrow as pa
        from pyarrow import csv
    except ImportError:
        return None
    types = {str(place): pa.float64() for place in places}
    if place_of_id is not None:
        types[str(place_of_id)] = pa.string()
    of_words = pa.dictionary(pa.int32(), pa.string())
    types |= {str(place): of_words for place in places_of_words}
    try:
        table = csv.read_csv(
            pa.BufferReader(chunk),
            csv.ReadOptions(
                use_threads=n_threads() > 1, column_names=[str(i) for i in range(n_columns)]
            ),
            csv.ParseOptions(delimiter=delimiter, quote_char=False),
            csv.ConvertOptions(
                column_types=types,
                include_columns=list(types),
                null_values=_NULLS,
                decimal_point=decimal,
            ),
        )
    except pa.ArrowException:
        return None
    columns = [table.column(str(place)) for place in places]
    values = np.column_stack([np.empty((table.num_rows, 0)), *(c.to_numpy() for c in columns)])
    n_missing = sum(column.null_count for column in columns)
    if np.isfinite(values).sum() + n_missing < values.size:  # spellings that Python may refuse
        return None
    words = [_different(table.column(str(place))) for place in places_of_words]
    ids = None if place_of_id is None else table.column(str(place_of_id)).to_pylist()
    return values, ids, words


def _different(column: Any) -> Different:
    whole = column.unify_dictionaries().combine_chunks()
    return whole.dictionary.to_pylist(), whole.indices.to_numpy()


def _is_plain(chunk: bytes, encoding: str, delimiter: str) -> bool:
    if encoding.lower() not in ("utf-8", "utf8") or delimiter == " " or not delimiter.isascii():
        return False
    if b'"' in chunk or b"\0" in chunk or chunk.startswith(BYTE_ORDER_MARK):
        return False
    if chunk.count(b"\r") != chunk.count(b"\r\n"):
        return False
    starts = range(0, len(chunk) - _LINE_BYTES, _LINE_BYTES)
    if not all(chunk.find(b"\n", start, start + _LINE_BYTES) >= 0 for start in starts):
        return False
    try:
        chunk.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


DECIMALS = (".", ",")

_WORDS = dict.fromkeys(MISSING, float("nan")) | {"true": 1.0, "false": 0.0}
_LONGEST_CELL = 1 << 26  # the csv module's own limit, 131072, refuses long texts
_SHOWN = 30  # characters of a cell in an error


def number(cell: str, decimal: str = ".") -> float | None:
    """A cell as a number, NaN if it is missing, None if it is text.

    Examples
    --------
    >>> number("1.5"), number("1,5"), number("1,5", ","), number("1.500", ","), number("True")
    (1.5, None, 1.5, None, 1.0)
    """
    try:
        if decimal == ".":
            return float(cell)
        if "." not in cell:  # 1.500 would be fifteen hundred to some, one and a half to others
            return float(cell.replace(decimal, "."))
    except ValueError:
        pass
    return _WORDS.get(cell.strip().lower())


def cells_of(lines: Iterable[str], delimiter: str) -> Iterator[list[str]]:
    """The cells of each row; a space stands for any run of spaces."""
    if delimiter == " ":
        return (line.split() for line in lines)
    return csv.reader(lines, delimiter=delimiter, strict=True)


def example_of_text(column: Sequence[str], i: int, line: int, decimal: str) -> str:
    """The i-th cell of a column, which is text, with its line and what it may have meant."""
    cell = column[i]
    shown = cell if len(cell) <= _SHOWN else f"{cell[: _SHOWN - 3]}..."
    text = [cell.strip() for cell in column[i:] if number(cell, decimal) is None]
    hint = meant_numbers(text, decimal)
    return f"{shown!r} in line {line}" + (f": {hint}" if hint else "")


def meant_numbers(text: list[str], decimal: str) -> str:
    """What numbers are written in a way that was not expected, if they are numbers."""
    other = DECIMALS[1 - DECIMALS.index(decimal)]
    point, mark = re.escape(decimal), re.escape(other)
    groups = re.compile(rf"[-+]?\d{{1,3}}({mark}\d{{3}})+({point}\d+)?")
    if all(groups.fullmatch(cell) for cell in text):
        if any(cell.count(other) > 1 or decimal in cell for cell in text):
            return "a thousands separator, write numbers without"
        return f"a thousands separator, or decimal {other!r}"
    one_mark = re.compile(rf"[-+]?\d*{mark}\d+([eE][-+]?\d+)?")
    if all(one_mark.fullmatch(cell) for cell in text):
        name = "comma" if other == "," else "point"
        return f"a decimal {name}, read with decimal {other!r}"
    return ""


class _LongCells:
    """Lets the csv module read long cells for a while. Its limit is one for the whole process."""

    def __init__(self) -> None:
        self._lock, self._n_readers, self._before = Lock(), 0, 0

    @contextmanager
    def __call__(self) -> Iterator[None]:
        with self._lock:
            if self._n_readers == 0:
                self._before = csv.field_size_limit(_LONGEST_CELL)
            self._n_readers += 1
        try:
            yield
        finally:
            with self._lock:
                self._n_readers -= 1
                if self._n_readers == 0:
                    csv.field_size_limit(self._before)


long_cells = _LongCells()
