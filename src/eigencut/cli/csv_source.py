"""CSV, however it is written: any delimiter, with or without a header, compressed or not."""

from __future__ import annotations

import csv
import gzip
import os
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from eigencut.cli.options import Reading
from eigencut.cli.reading import Block, Source, closed, text_columns
from eigencut.data.table import Table, plain_names, refuse_duplicates

_CANDIDATES = (",", ";", "\t", "|", " ")  # a space stands for any run of spaces
_LOOKED_AT = 50  # lines from which delimiter and header are found out
_LONGEST_LINE = 1 << 20
_BLOCK_CELLS = 1 << 18
_MISSING = {"", "?", "na", "n/a", "nan", "null", "none", "."}
_DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d+")

Row = tuple[int, list[str]]  # number of the line, cells


class CsvSource(Source):
    """Lines of cells, from a file or a pipe."""

    def __init__(self, name: str, file: BinaryIO, reading: Reading) -> None:
        self.name = name
        self._file = file
        self._encoding = self._checked(reading.encoding)
        self.size = os.fstat(file.fileno()).st_size or None
        lines = self._lines(self._unpacked())
        first = list(islice(lines, _LOOKED_AT))
        if not first:
            raise ValueError(f"{name} is empty.")
        self._delimiter = reading.delimiter or _sniffed(first)
        if len(self._delimiter) != 1:
            raise ValueError(f"--delimiter must be one character. Got {reading.delimiter!r}.")
        looked_at = [cells for _, cells in self._rows(first)]
        if not looked_at:
            raise ValueError(f"{name} has no rows.")
        header = _is_header(looked_at) if reading.header is None else reading.header
        self._width = len(looked_at[0])
        self._remaining = self._rows(chain(first, lines))
        self.names = plain_names(self._width)
        if header:
            cells = next(self._remaining)[1]
            given = (cell.strip() for cell in cells)
            self.names = tuple(c or d for c, d in zip(given, self.names, strict=True))
        try:
            refuse_duplicates(self.names)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from error

    # ------------------------------------------------------------------------------ bytes to lines

    def _checked(self, encoding: str) -> str:
        try:
            if "\n".encode(encoding) == b"\n":
                return encoding
        except LookupError:
            pass
        raise ValueError(
            f"--encoding must be one in which a line ends as in ASCII. Got {encoding!r}; "
            "use utf-8 or latin-1, or convert the file to UTF-8."
        )

    def _unpacked(self) -> BinaryIO:
        start = self._file.peek(2)[:2] if hasattr(self._file, "peek") else b""
        return gzip.open(self._file) if start == b"\x1f\x8b" else self._file  # type: ignore[return-value]

    def _lines(self, binary: BinaryIO) -> Iterator[str]:
        number = 0
        try:
            while line := binary.readline(_LONGEST_LINE):
                number += 1
                if len(line) == _LONGEST_LINE or b"\0" in line:
                    raise ValueError(f"{self.name} is not a table: line {number} is not text.")
                if number == 1:
                    line = line.removeprefix(b"\xef\xbb\xbf")
                yield line.decode(self._encoding)
        except UnicodeDecodeError as error:
            raise ValueError(
                f"{self.name}: line {number} is not {self._encoding} "
                f"(byte {error.object[error.start]:#x}); name its encoding, "
                "e.g. --encoding latin-1."
            ) from error
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise ValueError(f"{self.name} is damaged: {error}.") from error

    # ------------------------------------------------------------------------------ lines to cells

    def _rows(self, lines: Iterable[str]) -> Iterator[Row]:
        """Numbered rows without blank ones; all of the length of the first."""
        width = None
        try:
            for number, cells in _cells(lines, self._delimiter):
                if not cells or (len(cells) == 1 and not cells[0].strip()):
                    continue
                width = width or (number, len(cells))
                if len(cells) != width[1]:
                    raise ValueError(
                        f"{self.name}: line {number} has {len(cells)} cells, but line {width[0]} "
                        f"has {width[1]}. Correct it, or name the --delimiter."
                    )
                yield number, cells
        except csv.Error as error:
            raise ValueError(f"{self.name} is not a table: {error}.") from error

    # ---------------------------------------------------------------------------- cells to numbers

    def blocks(self, columns: Sequence[str], id_column: str | None) -> Iterator[Block]:
        places = [self.names.index(name) for name in columns]
        place_of_id = None if id_column is None else self.names.index(id_column)
        step, done = max(1, _BLOCK_CELLS // self._width), 0
        while rows := list(islice(self._remaining, step)):
            values = self._numbers(rows, places)
            ids = None if place_of_id is None else [cells[place_of_id] for _, cells in rows]
            yield Block(Table(tuple(columns), values, done + 1), ids, self._position())
            done += len(rows)
        closed(self._file)

    def _position(self) -> int:
        return self._file.tell() if self._file.seekable() else 0

    def _numbers(self, rows: list[Row], places: list[int]) -> NDArray[np.float64]:
        try:
            return np.array([[cells[i] for i in places] for _, cells in rows], dtype=np.float64)
        except ValueError:  # missing values, or text
            pass
        values = np.empty((len(rows), len(places)))
        text = {}
        for j, place in enumerate(places):
            for i, (line, cells) in enumerate(rows):
                number = _number(cells[place])
                if number is None:
                    text[self.names[place]] = self._example(cells[place], line)
                    break
                values[i, j] = number
        if text:
            raise text_columns(self.name, text)
        return values

    @staticmethod
    def _example(cell: str, line: int) -> str:
        shown = cell if len(cell) <= 30 else f"{cell[:27]}..."
        hint = ": a decimal comma" if _DECIMAL_COMMA.fullmatch(cell.strip()) else ""
        return f"{shown!r} in line {line}{hint}"


def _number(cell: str) -> float | None:
    """A cell as a number, NaN if it is missing, None if it is text."""
    try:
        return float(cell)
    except ValueError:
        return float("nan") if cell.strip().lower() in _MISSING else None


def _cells(lines: Iterable[str], delimiter: str) -> Iterator[Row]:
    if delimiter == " ":
        yield from ((i, line.split()) for i, line in enumerate(lines, start=1))
        return
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    for cells in reader:
        yield reader.line_num, cells


def _sniffed(lines: list[str]) -> str:
    """The delimiter under which most lines have the same number of cells, and the most numbers."""

    def merit(delimiter: str) -> tuple[float, float, int]:
        try:
            rows = [cells for _, cells in _cells(lines, delimiter) if cells]
        except csv.Error:
            return 0.0, 0.0, 0
        usual, times = Counter(map(len, rows)).most_common(1)[0] if rows else (0, 0)
        if usual < 2:
            return 0.0, 0.0, 0
        cells = [_number(cell) is not None for row in rows for cell in row]
        return times / len(rows), sum(cells) / len(cells), usual

    return max(_CANDIDATES, key=merit)


def _is_header(rows: list[list[Any]]) -> bool:
    """Whether the first row names columns: words above numbers, or nothing but words."""
    first, others = rows[0], rows[1:]
    is_word = [_number(cell) is None for cell in first]
    if all(is_word):
        return True
    same_length = [row for row in others if len(row) == len(first)]
    return any(
        word and same_length and all(_number(row[i]) is not None for row in same_length)
        for i, word in enumerate(is_word)
    )
