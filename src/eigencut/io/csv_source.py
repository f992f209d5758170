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
from itertools import chain
from typing import Any, cast

import numpy as np

from eigencut._utils.arrays import Array
from eigencut.exceptions import EmptyTableError
from eigencut.io.coding import Coding, OtherText
from eigencut.io.column_kinds import NUMERIC, places, plain_names, refuse_duplicates, shown_word
from eigencut.io.csv_cells import (
    BYTE_ORDER_MARK,
    DECIMALS,
    MISSING,
    cells_of,
    example_of_text,
    long_cells,
    number,
    plain_cells,
)
from eigencut.io.source import Block, Source, text_columns
from eigencut.io.table import Lines, Table

# Files that are taken for tables of text, told by how they begin, and what to do with them.

_ARCHIVE_HEAD = 64  # bytes, within which the name of the first file of an archive stands
_AS_CSV = "save the table as CSV"
_UNPACK = "unpack it, or pack it with gzip"
_BEGINNINGS = {
    rb"EIGENCUT": "it is a model; a table is expected",
    rb"PK\x03\x04": "it is a spreadsheet or an archive; save it as CSV",
    rb"\xd0\xcf\x11\xe0": "it is an old spreadsheet; save it as CSV",
    rb"SQLite f": "it is a database; export a table as CSV",
    rb"%PDF": "it is a PDF; export the table as CSV",
    rb"\xff\xfe|\xfe\xff": "it is UTF-16; save it as UTF-8",
    rb"BZh\d": f"it is packed with bzip2; {_UNPACK}",
    rb"\xfd7zXZ": f"it is packed with xz; {_UNPACK}",
    rb"\x28\xb5\x2f\xfd": f"it is packed with zstd; {_UNPACK}",
    rb"\x89HDF": f"it is HDF5; {_AS_CSV} or NPY",
    rb"ARROW1|FEA1": f"it is Feather; {_AS_CSV} or Parquet",
    rb"\x80[\x02-\x05]": f"it is a pickle, which could run code; {_AS_CSV} or NPY",
    rb"\s*(\{\s*[\"}]|\[\s*[\[{\"\]\d-])": f"it is JSON; {_AS_CSV}",
    rb"(?i)\s*<(\?xml|!doctype|html)": f"it is XML or a web page; {_AS_CSV}",
    rb"(?i)\s*(%[^\n]*\n\s*)*@relation\s": f"it is ARFF; {_AS_CSV}",
}


def refuse_other_formats(name: str, start: bytes) -> None:
    """Say what a file is that begins like this, if it is surely no CSV.

    Examples
    --------
    >>> refuse_other_formats("a.csv", b"<DATE>,<PRICE>")
    >>> refuse_other_formats("a.json", b'[{"a": 1}]')
    Traceback (most recent call last):
    ValueError: a.json is not a table: it is JSON; save the table as CSV.
    """
    text = start.removeprefix(b"\xef\xbb\xbf")
    if text.startswith(b"PK\x03\x04") and b".npy" in text[:_ARCHIVE_HEAD]:
        raise ValueError(
            f"{name} is not a table: it is an archive of arrays (.npz). Save one array of numbers "
            "with numpy.save. A sparse matrix (scipy.sparse.save_npz) is for eigencut fit and "
            f"predict, and in Python for GPOD(...).fit(scipy.sparse.load_npz({name!r}))."
        )
    for beginning, reason in _BEGINNINGS.items():
        if re.match(beginning, text):
            raise ValueError(f"{name} is not a table: {reason}.")


# How a CSV file is written: its delimiter and header, found out from its first lines.

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


_LOOKED_AT = 50  # lines from which delimiter and header are found out,
_LOOKED_AT_CHARACTERS = 1 << 20  # or more, up to so long, where a quoted cell goes on
_START_BYTES = 512  # that tell which kind of file it is
_LONGEST_LINE = 1 << 26
_CHUNK_BYTES = 1 << 22

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
        decimal: str = ".",
    ) -> None:
        self.name = name
        self._file, self._closes = file, closes
        self._encoding, self._decimal = checked_encoding(encoding), checked_decimal(decimal)
        delimiter = checked_delimiter(delimiter, decimal)
        self.size = os.fstat(file.fileno()).st_size or None
        is_packed = file.peek(2)[:2] == b"\x1f\x8b"
        self._text = cast(BufferedReader, gzip.GzipFile(fileobj=file)) if is_packed else file
        refuse_other_formats(name, self._read(self._text.peek, _START_BYTES))
        self._n_lines = 0  # that were read
        self._first_row: Row | None = None
        head: list[bytes] = []
        first = self._first_lines(head)
        if not first:
            raise EmptyTableError(f"{name} is empty.")
        if len(first) == 1 and "\r" in first[0].rstrip() and '"' not in first[0]:
            raise ValueError(
                f"{name} is not a table: its lines end in CR alone, as on old Macs; save it with "
                "LF, e.g. by tr '\\r' '\\n'."
            )
        with long_cells():
            self._delimiter = delimiter or sniffed(first, decimal)
            self._n_lines = 0
            again = self._lines(chain(tuple(head), self._kept(head)))
            looked_at = [cells for _, cells in self._rows(again, len(first))]
        if self._first_row is None:
            raise EmptyTableError(f"{name} has no rows.")
        self.has_names = is_header(looked_at, decimal) if header is None else header
        self.names = plain_names(len(looked_at[0]))
        self._n_lines = 0
        if self.has_names:
            given = [cell.strip() for cell in looked_at[0]]
            pairs = list(zip(given, self.names, strict=True))
            self.names = tuple(cell or plain for cell, plain in pairs)
            self.unnamed = frozenset(plain for cell, plain in pairs if not cell)
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

    def _first_lines(self, head: list[bytes]) -> list[str]:
        """Lines to find out from how the file is written; they end with a row, mostly."""
        found: list[str] = []
        n_characters = n_quotes = 0
        for line in self._lines(self._kept(head)):
            found.append(line)
            n_characters += len(line)
            n_quotes += line.count('"')
            is_whole = n_quotes % 2 == 0  # an odd one opens a cell
            if n_characters >= _LOOKED_AT_CHARACTERS or (len(found) >= _LOOKED_AT and is_whole):
                break
        return found

    def _read(self, read: Any, size: int) -> bytes:
        try:
            return bytes(read(size))
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise ValueError(f"{self.name} is damaged: {error}.") from error

    def _lines(self, lines: Iterable[bytes]) -> Iterator[str]:
        """Lines as text; they are counted."""
        for line in lines:
            self._n_lines += 1
            if b"\0" in line:
                raise ValueError(f"{self.name} is not a table: line {self._n_lines} is not text.")
            if len(line) >= _LONGEST_LINE:
                raise ValueError(
                    f"{self.name} is not a table: line {self._n_lines} is longer than "
                    f"{_LONGEST_LINE >> 20} MiB."
                )
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
        cells_of_rows = cells_of(lines, self._delimiter)
        last = self._n_lines + n_lines
        begin = self._n_lines + 1
        try:
            while self._n_lines < last:
                begin = self._n_lines + 1
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
            raise ValueError(f"{self.name}: {_quoting(error, begin, self._n_lines)}") from error

    # ---------------------------------------------------------------------------- cells to numbers

    def blocks(
        self, columns: Sequence[str], id_column: str | None = None, coding: Coding | None = None
    ) -> Iterator[Block]:
        chosen = places(columns, self.names)
        place_of_id = None if id_column is None else self.names.index(id_column)
        done, lines = 0, Lines()
        try:
            for chunk in chain([self._begun + self._next_chunk()], iter(self._next_chunk, b"")):
                values, ids, numbers = self._parsed(chunk, chosen, place_of_id, coding)
                if len(values):
                    lines.add(done + 1, numbers)
                    table = Table(tuple(columns), values, done + 1, coding=coding, lines=lines)
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
        self, chunk: bytes, chosen: list[int], place_of_id: int | None, coding: Coding | None
    ) -> tuple[Array, list[str] | None, Sequence[int]]:
        """Numbers and ids of the rows of a chunk, and their lines."""
        n_lines = chunk.count(b"\n") + (chunk[-1:] not in (b"", b"\n"))
        found = self._plain(chunk, chosen, place_of_id, coding)
        numbers = None if found is None else self._lines_of_rows(chunk, len(found[0]), n_lines)
        if found is not None and numbers is not None:
            self._n_lines += n_lines
            return *found, numbers
        # Lines after the chunk are for a quoted cell that does not end in it.
        lines = chain(BytesIO(chunk), iter(self._next_line, b""))
        with long_cells():
            rows = list(self._rows(self._lines(lines), n_lines))
        ids = None if place_of_id is None else [cells[place_of_id] for _, cells in rows]
        return self._numbers(rows, chosen, coding), ids, [line for line, _ in rows]

    def _lines_of_rows(self, chunk: bytes, n_rows: int, n_lines: int) -> Sequence[int] | None:
        """The lines of the rows that pyarrow found in a chunk; None where there is no telling."""
        first = self._n_lines + 1
        if n_rows == n_lines:
            return range(first, first + n_lines)
        found = [first + i for i, line in enumerate(chunk.split(b"\n")) if line.rstrip(b"\r")]
        return found if len(found) == n_rows else None

    def _plain(
        self, chunk: bytes, chosen: list[int], place_of_id: int | None, coding: Coding | None
    ) -> tuple[Array, list[str] | None] | None:
        """The same by pyarrow, if it can; columns of a kind not known yet are tried as numbers."""
        words = [] if coding is None else [p for p in chosen if not self._is_numeric(p, coding)]
        numbers = [place for place in chosen if place not in words]
        written = (self._encoding, self._delimiter, self._decimal)
        found = plain_cells(chunk, *written, len(self.names), numbers, place_of_id, words)
        if found is None or coding is None:
            return None if found is None else found[:2]
        values = np.empty((len(found[0]), len(chosen)))
        values[:, [chosen.index(place) for place in numbers]] = found[0]
        for place, (different, places_of_cells) in zip(words, found[2], strict=True):
            try:
                codes = coding.text(self.names[place], different, self._decimal, MISSING)
            except OtherText:
                return None  # which is said with its line
            is_outside = any(_is_outside(self.names[place], cell, coding) for cell in different)
            if is_outside and self.names[place] not in coding.outside:
                return None
            values[:, chosen.index(place)] = codes[places_of_cells]
        for place in numbers:
            if not np.isnan(values[:, chosen.index(place)]).all():
                coding.found(self.names[place], NUMERIC)
        return values, found[1]

    def _is_numeric(self, place: int, coding: Coding) -> bool:
        return (coding.kind(self.names[place]) or NUMERIC).name == "numeric"

    def _note_words(self, name: str, column: list[str], rows: list[Row], coding: Coding) -> None:
        """Keep the lines of words that may have to be refused once all are known."""
        if column and coding.kinds.get(name, NUMERIC).has_words:
            first = f"{shown_word(column[0])} in line {rows[0][0]}"
            coding.examples.setdefault(name, first)
        other = {cell for cell in dict.fromkeys(column) if _is_outside(name, cell, coding)}
        if other and name not in coding.outside:
            i = next(i for i, cell in enumerate(column) if cell in other)
            coding.outside[name] = f"{shown_word(column[i])} in line {rows[i][0]}"

    def _numbers(self, rows: list[Row], chosen: list[int], coding: Coding | None) -> Array:
        values = np.empty((len(rows), len(chosen)))
        text = {}
        coding = Coding({self.names[p]: NUMERIC for p in chosen}) if coding is None else coding
        for j, place in enumerate(chosen):
            name, column = self.names[place], [cells[place] for _, cells in rows]
            try:
                if self._decimal == "." and self._is_numeric(place, coding):
                    values[:, j] = [float(cell) for cell in column]
                    if not np.isnan(values[:, j]).all():
                        coding.found(name, NUMERIC)
                    continue
            except ValueError:  # missing values, or text
                pass
            try:
                values[:, j] = coding.text(name, column, self._decimal, MISSING)
                self._note_words(name, column, rows, coding)
            except OtherText as error:
                i = column.index(error.cell)
                text[name] = f"{shown_word(error.cell)} in line {rows[i][0]}: no date of ISO 8601"
                if not coding.kinds[name].is_given:
                    text[name] += ", as other cells are"
                if self._is_numeric(place, coding):
                    text[name] = example_of_text(column, i, rows[i][0], self._decimal)
        if text:
            raise text_columns(self.name, text)
        return values


def _is_outside(name: str, cell: str, coding: Coding) -> bool:
    """Whether a cell is there, but not in the order of its column."""
    return cell.strip().lower() not in MISSING and coding.is_outside(name, cell)


def _quoting(error: csv.Error, begin: int, line: int) -> str:
    """What is wrong with the quotes of a row, in words."""
    if "unexpected end" in str(error):
        return f"a quoted cell begins in line {begin} and does not end. Add or remove a quote."
    if "expected after" in str(error):
        return (
            f"line {line} goes on after the end of a quoted cell. Double the quotes inside of "
            "cells, or name the delimiter."
        )
    if "new-line character" in str(error):
        return f"line {line} has a carriage return (CR) within a cell. Quote it, or remove it."
    return f"line {line} cannot be split into cells ({error}). Correct it, or name the delimiter."
