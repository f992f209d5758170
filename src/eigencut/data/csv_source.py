"""CSV, however it is written: any delimiter, with or without a header, compressed or not.

Text is taken in chunks of whole lines. Where a chunk is large and plain, pyarrow reads it, eight
times as fast (``eigencut.data.plain_csv``); what pyarrow refuses is read here, cell by cell, with
errors that name line and column. Both give the same numbers, bit for bit.
"""

from __future__ import annotations

import csv
import gzip
import os
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from io import BufferedReader, BytesIO
from itertools import chain, islice
from typing import Any, cast

import numpy as np

from eigencut.data.plain_csv import BYTE_ORDER_MARK, MISSING, plain_cells
from eigencut.data.source import Block, Source, text_columns
from eigencut.data.table import Table, plain_names, refuse_duplicates
from eigencut.runtime.arrays import Array

_CANDIDATES = (",", ";", "\t", "|", " ")  # a space stands for any run of spaces
_LOOKED_AT = 50  # lines from which delimiter and header are found out
_LONGEST_LINE = 1 << 20
_CHUNK_BYTES = 1 << 22
_DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d+")

Row = tuple[int, list[str]]  # number of its last line, cells


class CsvSource(Source):
    """Lines of cells, from a file or a pipe."""

    def __init__(
        self,
        name: str,
        file: BufferedReader,
        closes: bool = True,
        delimiter: str | None = None,
        header: bool | None = None,
        encoding: str = "utf-8",
    ) -> None:
        self.name = name
        self._file, self._closes = file, closes
        self._encoding = _checked(encoding)
        self.size = os.fstat(file.fileno()).st_size or None
        is_packed = file.peek(2)[:2] == b"\x1f\x8b"
        self._text = cast(BufferedReader, gzip.GzipFile(fileobj=file)) if is_packed else file
        self._n_lines = 0  # that were read
        self._first_row: Row | None = None
        head: list[bytes] = []
        first = list(islice(self._lines(self._kept(head)), _LOOKED_AT))
        if not first:
            raise ValueError(f"{name} is empty.")
        self._delimiter = delimiter or _sniffed(first)
        if len(self._delimiter) != 1:
            raise ValueError(f"delimiter must be one character. Got {delimiter!r}; use ','.")
        self._n_lines = 0
        again = self._lines(chain(tuple(head), self._kept(head)))
        looked_at = [cells for _, cells in self._rows(again, len(first))]
        if self._first_row is None:
            raise ValueError(f"{name} has no rows.")
        self.has_names = _is_header(looked_at) if header is None else header
        self.names = plain_names(len(looked_at[0]))
        self._n_lines = 0
        if self.has_names:
            given = (cell.strip() for cell in looked_at[0])
            self.names = tuple(c or d for c, d in zip(given, self.names, strict=True))
            self._n_lines = self._first_row[0]
        self._begun: bytes = b"".join(head[self._n_lines :])
        try:
            refuse_duplicates(self.names)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from error

    # ------------------------------------------------------------------------------ bytes to lines

    def _next_chunk(self) -> bytes:
        """Some whole lines; nothing at the end."""
        chunk = self._read(self._text.read, _CHUNK_BYTES)
        return chunk if chunk.endswith(b"\n") else chunk + self._next_line()

    def _next_line(self) -> bytes:
        return self._read(self._text.readline, _LONGEST_LINE)

    def _kept(self, head: list[bytes]) -> Iterator[bytes]:
        """The lines at the beginning, each kept in ``head`` once it was read."""
        for line in iter(self._next_line, b""):
            head.append(line if head else line.removeprefix(BYTE_ORDER_MARK))
            yield head[-1]

    def _read(self, read: Any, size: int) -> bytes:
        try:
            return bytes(read(size))
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise ValueError(f"{self.name} is damaged: {error}.") from error

    def _lines(self, lines: Iterable[bytes]) -> Iterator[str]:
        """Lines as text; they are counted."""
        for line in lines:
            self._n_lines += 1
            if len(line) >= _LONGEST_LINE or b"\0" in line:
                raise ValueError(f"{self.name} is not a table: line {self._n_lines} is not text.")
            try:
                yield line.decode(self._encoding)
            except UnicodeDecodeError as error:
                raise ValueError(
                    f"{self.name}: line {self._n_lines} is not {self._encoding} "
                    f"(byte {error.object[error.start]:#x}); name its encoding, e.g. latin-1."
                ) from error

    # ------------------------------------------------------------------------------ lines to cells

    def _rows(self, lines: Iterator[str], n_lines: int) -> Iterator[Row]:
        """Rows of so many lines, without blank ones; all of the length of the table's first."""
        cells_of_rows = _cells(lines, self._delimiter)
        last = self._n_lines + n_lines
        try:
            while self._n_lines < last:
                cells = next(cells_of_rows)
                if not cells or (len(cells) == 1 and not cells[0].strip()):
                    continue
                self._first_row = self._first_row or (self._n_lines, cells)
                line, first_cells = self._first_row
                if len(cells) != len(first_cells):
                    raise ValueError(
                        f"{self.name}: line {self._n_lines} has {len(cells)} cells, but line "
                        f"{line} has {len(first_cells)}. Correct it, or name the delimiter."
                    )
                yield self._n_lines, cells
        except csv.Error as error:
            raise ValueError(f"{self.name} is not a table: {error}.") from error

    # ---------------------------------------------------------------------------- cells to numbers

    def blocks(self, columns: Sequence[str], id_column: str | None = None) -> Iterator[Block]:
        places = [self.names.index(name) for name in columns]
        place_of_id = None if id_column is None else self.names.index(id_column)
        done = 0
        try:
            for chunk in chain([self._begun + self._next_chunk()], iter(self._next_chunk, b"")):
                values, ids = self._parsed(chunk, places, place_of_id)
                if len(values):
                    table = Table(tuple(columns), values, done + 1)
                    yield Block(table, ids, self._position())
                done += len(values)
        finally:
            self.close()

    def close(self) -> None:
        if self._closes:
            self._file.close()

    def _position(self) -> int:
        return self._file.tell() if self._file.seekable() else 0

    def _parsed(
        self, chunk: bytes, places: list[int], place_of_id: int | None
    ) -> tuple[Array, list[str] | None]:
        """Numbers and ids of the rows of a chunk."""
        n_lines = chunk.count(b"\n") + (chunk[-1:] not in (b"", b"\n"))
        found = plain_cells(
            chunk, self._encoding, self._delimiter, len(self.names), places, place_of_id
        )
        if found is not None:
            self._n_lines += n_lines
            return found
        # Lines after the chunk are for a quoted cell that does not end in it.
        lines = chain(BytesIO(chunk), iter(self._next_line, b""))
        rows = list(self._rows(self._lines(lines), n_lines))
        ids = None if place_of_id is None else [cells[place_of_id] for _, cells in rows]
        return self._numbers(rows, places), ids

    def _numbers(self, rows: list[Row], places: list[int]) -> Array:
        values = np.empty((len(rows), len(places)))
        text = {}
        for j, place in enumerate(places):
            try:
                values[:, j] = [float(cells[place]) for _, cells in rows]
                continue
            except ValueError:  # missing values, or text
                pass
            for i, (line, cells) in enumerate(rows):
                number = _number(cells[place])
                if number is None:
                    text[self.names[place]] = _example(cells[place], line)
                    break
                values[i, j] = number
        if text:
            raise text_columns(self.name, text)
        return values


def _checked(encoding: str) -> str:
    try:
        if "\n".encode(encoding) == b"\n":
            return encoding
    except LookupError:
        pass
    raise ValueError(
        f"encoding must be one in which a line ends as in ASCII. Got {encoding!r}; "
        "use utf-8 or latin-1, or convert the file to UTF-8."
    )


def _example(cell: str, line: int) -> str:
    shown = cell if len(cell) <= 30 else f"{cell[:27]}..."
    hint = ": a decimal comma" if _DECIMAL_COMMA.fullmatch(cell.strip()) else ""
    return f"{shown!r} in line {line}{hint}"


def _number(cell: str) -> float | None:
    """A cell as a number, NaN if it is missing, None if it is text."""
    try:
        return float(cell)
    except ValueError:
        return float("nan") if cell.strip().lower() in MISSING else None


def _cells(lines: Iterable[str], delimiter: str) -> Iterator[list[str]]:
    if delimiter == " ":
        return (line.split() for line in lines)
    return csv.reader(lines, delimiter=delimiter, strict=True)


def _sniffed(lines: list[str]) -> str:
    """The delimiter under which most lines have the same number of cells, and the most numbers."""

    def merit(delimiter: str) -> tuple[float, float, int]:
        try:
            rows = [cells for cells in _cells(lines, delimiter) if cells]
        except csv.Error:
            return 0.0, 0.0, 0
        usual, times = Counter(map(len, rows)).most_common(1)[0] if rows else (0, 0)
        if usual < 2:
            return 0.0, 0.0, 0
        cells = [_number(cell) is not None for row in rows for cell in row]
        return times / len(rows), sum(cells) / len(cells), usual

    return max(_CANDIDATES, key=merit)


def _is_header(rows: list[list[str]]) -> bool:
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
