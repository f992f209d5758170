"""How a CSV file is written: its delimiter and header, found out from its first lines."""

from __future__ import annotations

import csv
from collections import Counter

from eigencut.data.csv_cells import DECIMALS, cells_of, number

_CANDIDATES = (",", ";", "\t", "|", " ")
_CHARACTERS = 1 << 20  # of the first lines, from which the delimiter is found out


def checked_encoding(encoding: str) -> str:
    """One in which bytes can be split into lines before they are decoded."""
    try:
        if "\n".encode(encoding) == b"\n":
            return encoding
    except (LookupError, ValueError):  # unknown, or not a name at all
        pass
    raise ValueError(
        f"encoding must be one in which a line ends as in ASCII. Got {encoding!r}; "
        "use utf-8 or latin-1, or convert the file to UTF-8."
    )


def checked_delimiter(delimiter: str | None, decimal: str) -> str | None:
    """One character that is not part of a number or of a word; None is found out."""
    if delimiter is None:
        return None
    if len(delimiter) != 1 or delimiter.isalnum() or delimiter in "\"'\r\n\0.+-_":
        raise ValueError(
            "delimiter must be one character, and none of which numbers and words are made. "
            f"Got {delimiter!r}; use ','."
        )
    if delimiter == decimal:
        raise ValueError(
            f"delimiter must not be the decimal mark. Got {delimiter!r} for both; "
            "leave the delimiter out to have it found out."
        )
    return delimiter


def checked_decimal(decimal: str) -> str:
    """A point or a comma."""
    if decimal not in DECIMALS:
        raise ValueError(f"decimal must be '.' or ','. Got {decimal!r}; use '.'.")
    return decimal


def sniffed(lines: list[str], decimal: str) -> str:
    """The delimiter under which most lines have the same number of cells, and the most numbers.

    Examples
    --------
    >>> sniffed(["town;x", "Rome, Italy;1.5"], "."), sniffed(["1,5 2,5", "3 4"], ",")
    (';', ' ')
    """
    lines = [lines[0][:_CHARACTERS], *lines[1:]]

    def merit(delimiter: str) -> tuple[float, float, int]:
        rows: list[list[str]] = []
        reader = cells_of(lines, delimiter)
        try:
            rows.extend(cells for cells in reader if cells)
        except csv.Error:
            # At the last line it is a quoted cell that goes on after what was looked at.
            if getattr(reader, "line_num", 0) < len(lines):
                return 0.0, 0.0, 0
        usual, times = Counter(map(len, rows)).most_common(1)[0] if rows else (0, 0)
        if usual < 2:
            return 0.0, 0.0, 0
        cells = [number(cell, decimal) is not None for row in rows for cell in row]
        return times / len(rows), sum(cells) / len(cells), usual

    return max((mark for mark in _CANDIDATES if mark != decimal), key=merit)


def is_header(rows: list[list[str]], decimal: str = ".") -> bool:
    """Whether the first row names columns: words above numbers, or nothing but words."""
    first, others = rows[0], rows[1:]
    is_word = [number(cell, decimal) is None for cell in first]
    if all(is_word):
        return True
    same_length = [row for row in others if len(row) == len(first)]
    return any(
        word and same_length and all(number(row[i], decimal) is not None for row in same_length)
        for i, word in enumerate(is_word)
    )
