"""What the cells of a CSV file mean: numbers, missing values, truth values, or text."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from threading import Lock

from eigencut.data.plain_csv import MISSING

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
