"""Readers of tables in CSV, NPY, Parquet, Feather and JSON lines files; see ``open_source``."""

from __future__ import annotations

import codecs
import csv
import io
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice, pairwise
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigencut._utils.running import warn_user
from eigencut._utils.validation import needed
from eigencut.exceptions import EmptyTableError, invalid, printable
from eigencut.io.column_kinds import number_of_text, places, plain_names, quoted, refuse_duplicates
from eigencut.io.table import Source

READ_ROWS = 1 << 16  # rows read at a time from files other than CSV
BLOCK_BYTES = 1 << 22  # bytes of CSV read at a time
LONGEST_LINE = 1 << 26
MOST_COLUMNS = 1 << 16  # of CSV: pyarrow takes long for each column
_OTHER_FORMATS = {  # from the first bytes of files that are not CSV to the reason in the error
    rb"EIGENCUT": "it is a model; a table is expected",
    rb"PK\x03\x04.{26,60}\.npy": "it is an archive of arrays (.npz). Save one array of numbers "
    "with numpy.save. A sparse matrix (scipy.sparse.save_npz) is for Python: "
    "GPOD(...).fit(scipy.sparse.load_npz({name!r}))",
    rb"PK\x03\x04|\xd0\xcf\x11\xe0": "it is a spreadsheet or an archive; save it as CSV",
    rb"SQLite f|%PDF|\x89HDF": "it is a database or a document; save the table as CSV",
    rb"\xff\xfe|\xfe\xff": "it is UTF-16; save it as UTF-8",
    rb"\xfd7zXZ|BZh|\x28\xb5\x2f\xfd|\x04\x22\x4d\x18": "it is packed; unpack it, or use gzip",
    rb"\x80[\x02-\x05]": "it is a pickle, which could run code; save the table as CSV or NPY",
    rb"\s*[\[{]\s*[\[{}\"\]\d-]": "it is JSON; save the table as CSV, or one object to a line",
    rb"(?i)\s*<(\?xml|!doctype|html)": "it is XML or a web page; save the table as CSV",
}


def refuse_other_formats(name: str, start: bytes) -> None:
    """Raise an error if the first bytes of a file show that it has a format other than CSV."""
    for beginning, reason in _OTHER_FORMATS.items():
        if re.match(beginning, start.removeprefix(codecs.BOM_UTF8), re.DOTALL):
            raise ValueError(f"{name} is not a table: {reason.format(name=name)}.")


def checked_encoding(encoding: str) -> str:
    """Return the encoding; raise an error if its bytes cannot be split into lines undecoded."""
    try:
        if "\n".encode(encoding) == b"\n":
            return encoding
    except (LookupError, ValueError):  # an unknown or malformed name
        pass
    remedy = "use utf-8 or latin-1, or convert the file to UTF-8"
    raise invalid("encoding", "be one in which a line ends as in ASCII", repr(encoding), remedy)


def checked_delimiter(delimiter: str | None, decimal: str) -> str | None:
    """Return the delimiter; raise an error unless it is None or can stand between cells."""
    if delimiter is None:
        return None
    if len(delimiter) != 1 or delimiter.isalnum() or delimiter in "\"'\r\n\0.+-_":
        expected = "be one character that numbers and words do not contain"
        raise invalid("delimiter", expected, repr(delimiter), "use ','")
    if delimiter == decimal:
        remedy = "leave the delimiter out to have it found out"
        raise invalid("delimiter", "not be the decimal mark", f"{delimiter!r} for both", remedy)
    return delimiter


def sniffed_delimiter(lines: Sequence[str], decimal: str) -> str:
    """Return the delimiter that splits most lines into equally many cells, and cells of numbers."""

    def merit(delimiter: str) -> tuple[float, float, int]:
        rows = _rows_of_lines(lines, delimiter)
        usual, times = Counter(map(len, rows)).most_common(1)[0] if rows else (0, 0)
        if usual < 2:
            return 0.0, 0.0, 0
        is_number = [
            number_of_text(cell, decimal) is not None for row in rows for cell in row[:1000]
        ]
        return times / len(rows), sum(is_number) / len(is_number), usual

    return max((mark for mark in (",", ";", "\t", "|", " ") if mark != decimal), key=merit)


def _rows_of_lines(lines: Sequence[str], delimiter: str) -> list[list[str]]:
    """Return the cells of all rows that are not blank; no rows if a quoted cell is damaged."""
    rows: list[list[str]] = []
    left = iter(lines)
    try:
        rows.extend(cells for _, cells in _numbered_rows(left, delimiter, is_strict=True))
    except csv.Error:
        if any(True for _ in left):  # otherwise a quoted cell may end after these lines
            return []
    return rows


def _numbered_rows(
    lines: Iterable[str], delimiter: str, is_strict: bool = False
) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of the last line and the cells of each row that is not blank."""
    if delimiter == " ":  # stands for any number of spaces
        yield from ((i, line.split()) for i, line in enumerate(lines, 1) if line.strip())
        return
    reader = csv.reader(lines, delimiter=delimiter, strict=is_strict)
    for cells in reader:
        if len(cells) > 1 or "".join(cells).strip():
            yield reader.line_num, cells


def is_header(rows: Sequence[Sequence[str]], decimal: str = ".") -> bool:
    """Return whether the first row names the columns, by words or by numbers that count up."""
    first, others = rows[0], [row for row in rows[1:] if len(row) == len(rows[0])]
    is_word = [number_of_text(cell, decimal) is None for cell in first]
    if all(is_word) or any(
        word and others and all(number_of_text(row[i], decimal) is not None for row in others)
        for i, word in enumerate(is_word)
    ):
        return True
    numbered = [i for i, word in enumerate(is_word) if not word]
    step = step_up([first[i] for i in numbered])
    return (
        step > 0
        and any(step_up([row[i] for i in numbered]) != step for row in others)
        and not any(row[i] == first[i] for row in others for i, word in enumerate(is_word) if word)
        and all(_is_unlike(first[i], [row[i] for row in others], decimal) for i in numbered)
    )


def step_up(cells: Sequence[str]) -> int:
    """Return the step of at least two integers at equal steps, such as 5 of 0, 5, 10; else 0."""
    if len(cells) < 2 or not all(re.fullmatch(r"\s*[0-9]{1,15}\s*", cell) for cell in cells):
        return 0
    steps = {int(after) - int(before) for before, after in pairwise(cells)}
    return max(0, *steps) if len(steps) == 1 else 0


def _is_unlike(first: str, others: Sequence[str], decimal: str) -> bool:
    """Return whether an integer differs in kind from others: they are fractions, or far away."""
    numbers = [number_of_text(cell, decimal) for cell in others]
    there = [(n, cell) for n, cell in zip(numbers, others, strict=True) if n is not None and n == n]
    if all(decimal in cell or "e" in cell.lower() for _, cell in there):
        return bool(there)
    low, high = min(n for n, _ in there), max(n for n, _ in there)
    return len(others) > 1 and max(low - float(first), float(first) - high) > high - low


class CsvSource(Source):
    """A CSV file or pipe. If the delimiter or ``header`` is None, the first lines decide it."""

    def __init__(
        self,
        path: str,
        file: io.BufferedReader,
        *,
        is_ours: bool = True,
        delimiter: str | None = None,
        header: bool | None = None,
        encoding: str = "utf-8",
        decimal: str = ".",
    ) -> None:
        self._arrow, self._csv = needed("pyarrow", "cli"), needed("pyarrow.csv", "cli")
        self.name, self._file, self._is_ours = path, file, is_ours
        self._encoding = checked_encoding(encoding)
        if decimal not in (".", ","):
            raise invalid("decimal", "be '.' or ','", repr(decimal), "use '.'")
        delimiter = checked_delimiter(delimiter, decimal)
        self.decimal = decimal
        self.size = os.fstat(file.fileno()).st_size or None
        self._text = self._unpacked(file)
        self._head = self._read_head()
        self._line_end = b"\n" if b"\n" in self._head else b"\r"
        lines = self._first_lines()
        self._delimiter = delimiter or sniffed_delimiter(lines, decimal)
        rows = _rows_of_lines(lines, self._delimiter)
        if not rows and b'"' in self._head:
            raise self._no_table("a quoted cell in its first lines is damaged, or does not end")
        if not rows:
            raise EmptyTableError(f"{path} has no rows.")
        self.has_names = is_header(rows, decimal) if header is None else header
        if header is None and step_up([cell for cell in rows[0] if cell.strip().isdigit()]):
            taken, other = ("names of columns", "no-") if self.has_names else ("data", "")
            warn_user(
                f"The first line of {path}, {quoted(rows[0], most=3)}, was read as {taken}. If "
                f"that is wrong, use --{other}header, or header={not self.has_names} in Python."
            )
        self.names = plain_names(len(rows[0]))
        if self.has_names:
            pairs = list(zip(map(str.strip, rows[0]), self.names, strict=True))
            self.names = tuple(cell or plain for cell, plain in pairs)
            self.unnamed = frozenset(plain for cell, plain in pairs if not cell)
        with self.named_errors():
            refuse_duplicates(self.names)

    def _unpacked(self, file: io.BufferedReader) -> io.BufferedReader:
        if not file.peek(8).startswith(b"\x1f\x8b"):
            return file
        return io.BufferedReader(self._arrow.CompressedInputStream(file, "gzip"))

    def _read(self, size: int, at_once: bool = False) -> bytes:
        """Read ``size`` bytes, or fewer at the end, or (``at_once``) those already in the pipe."""
        try:
            return self._text.read1(size) if at_once else self._text.read(size)
        except (OSError, EOFError) as error:
            raise ValueError(f"{self.name} is damaged: {str(error).rstrip('.')}.") from error

    def _read_head(self) -> bytes:
        """Read the first lines, without waiting for more when they come through a pipe."""
        head, n_lines, n_quotes = b"", 0, 0
        while piece := self._read(1 << 20, at_once=True):
            if not head:
                refuse_other_formats(self.name, piece)
            head += piece
            n_lines += max(piece.count(b"\n"), piece.count(b"\r"))
            n_quotes += piece.count(b'"')
            is_enough = n_lines > 50 and n_quotes % 2 == 0
            if is_enough or (n_lines and len(head) >= 1 << 20):
                break
            if len(head) > LONGEST_LINE:
                raise self._no_table(f"line 1 is longer than {LONGEST_LINE >> 20} MiB")
        self._head_is_all = not piece
        if b"\0" in head:
            line = head[: head.index(b"\0")].count(b"\n") + 1
            raise self._no_table(f"line {line} is not text")
        if not head:
            raise EmptyTableError(f"{self.name} is empty.")
        return head

    def _first_lines(self) -> list[str]:
        """Return the lines that show delimiter and header; mostly, the last one ends a row."""
        try:
            text = codecs.getincrementaldecoder(self._encoding)().decode(self._head)
        except UnicodeDecodeError as error:
            raise self._not_encoded(self._head[: error.start].count(b"\n") + 1, error) from error
        lines: list[str] = []
        n_quotes = 0
        for line in io.StringIO(text.removeprefix("\ufeff"), newline=""):
            lines.append(line)
            n_quotes += line.count('"')
            if len(lines) >= 50 and n_quotes % 2 == 0:  # an odd number leaves a cell open
                return lines
        return lines if self._head_is_all or len(lines) == 1 else lines[:-1]

    def _pieces(self) -> Iterator[bytes]:
        """Yield the bytes of the file in pieces of whole rows."""
        rest, piece = b"", self._head
        while piece:
            rest += piece
            cut = self._end_of_rows(rest)
            yield rest[:cut]
            rest = rest[cut:]
            if len(rest) > LONGEST_LINE:
                raise self._no_table(f"a line is longer than {LONGEST_LINE >> 20} MiB")
            piece = self._read(BLOCK_BYTES)
        if self._end_of_rows(rest + self._line_end) <= len(rest) and rest:
            raise ValueError("a quoted cell does not end")
        yield rest

    def _end_of_rows(self, text: bytes) -> int:
        """Return the length of the part of the text that consists of complete rows."""
        cut = text.rfind(self._line_end) + 1
        if self._delimiter == " " or text.count(b'"', 0, cut) % 2 == 0:
            return cut
        # An odd number of quotes: a quoted cell is open, or a cell has a quote in its middle.
        end = 0

        def lines() -> Iterator[str]:  # lazily, since csv stops at a cell that is too long
            nonlocal end
            while end < cut:
                start, end = end, text.index(self._line_end, end) + 1
                yield f"{text[start : end - 1].decode(self._encoding, 'replace')}\n"

        whole = 0
        with suppress(csv.Error):
            for _ in csv.reader(lines(), delimiter=self._delimiter, strict=True):
                whole = end
        return whole

    def batches(self, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
        if len(columns) > MOST_COLUMNS:
            remedy = "choose some of them, name the delimiter, or save numbers by numpy.save"
            raise invalid("columns", f"be at most {MOST_COLUMNS} of CSV", len(columns), remedy)
        is_first = True
        try:
            for piece in self._pieces():
                if piece.strip():
                    table = self._parsed(piece, columns, n_skipped=int(is_first and self.has_names))
                    self.n_read = self._file.tell() if self._file.seekable() else 0
                    is_first = False
                    if len(table):
                        yield {name: table.column(name).combine_chunks() for name in columns}
        except (self._arrow.ArrowException, ValueError) as error:
            if str(error).startswith(f"{self.name} is"):
                raise
            raise self._explained(error) from error
        finally:
            self.close()

    def _parsed(self, piece: bytes, columns: Sequence[str], n_skipped: int) -> Any:
        """Return columns of complete rows as a pyarrow table of text."""
        is_spaced = self._delimiter == " "
        if is_spaced:  # make one space of many
            piece = b"\n".join(b" ".join(line.split()) for line in piece.split(b"\n"))
        elif b'"' in piece:  # refuse cells such as "3"3, which pyarrow reads as 33
            ends = re.escape(self._delimiter.encode()) + rb"\r\n"
            quoted = rb'(?:\A|(?<=[%b]))"(?:[^"]++|"")*+"(?=[%b]|\Z)' % (ends, ends)
            if re.search(rb'(?:\A|[%b])"' % ends, re.sub(quoted, b"", piece)):
                what = "text stands behind the closing quote of a cell; double the quote or remove"
                raise ValueError(f"{what} it")

        def handle(row: Any) -> str:
            return "error" if row.text.strip() else "skip"

        handler = None  # of a row that cannot be decoded, which pyarrow refuses on its own
        with suppress(UnicodeDecodeError):
            piece.decode(self._encoding)
            handler = handle
        return self._csv.read_csv(
            self._arrow.BufferReader(piece),
            self._csv.ReadOptions(
                block_size=len(piece) + 1,
                column_names=list(self.names),
                skip_rows_after_names=n_skipped,
                encoding=self._encoding,
                use_threads=False,  # a thread that frees ``piece`` while Python exits would abort
            ),
            self._csv.ParseOptions(
                delimiter=self._delimiter,
                quote_char=False if is_spaced else '"',
                newlines_in_values=not is_spaced,
                invalid_row_handler=handler,
            ),
            self._csv.ConvertOptions(
                column_types=dict.fromkeys(columns, self._arrow.string()),
                include_columns=list(dict.fromkeys(columns)),
            ),
        )

    def close(self) -> None:
        if self._is_ours:
            self._file.close()

    def _rows_with_lines(self) -> Iterator[tuple[int, list[str]]]:
        """Read the file again; yield the number of the last line and the cells of each row."""
        with Path(self.name).open("rb") as file:
            yield from _numbered_rows(self._decoded(self._unpacked(file)), self._delimiter)

    def _decoded(self, file: Iterable[bytes]) -> Iterator[str]:
        """Yield lines as text; a line also ends in a carriage return, as it does for pyarrow."""
        for number, line in enumerate(file, start=1):
            try:
                text = line.decode(self._encoding)
            except UnicodeDecodeError as error:
                raise self._not_encoded(number, error) from error
            yield from io.StringIO(text.removeprefix("\ufeff"), newline="")

    def place(self, row: int) -> str:
        """Return the line of a row, or its number if the file cannot be read again."""
        with suppress(OSError, StopIteration, ValueError, csv.Error):
            if Path(self.name).is_file():  # a pipe can be read only once
                rows = islice(self._rows_with_lines(), row + self.has_names, None)
                return f"line {next(rows)[0]}"
        return f"row {row}"

    def _explained(self, error: Exception) -> ValueError:
        """Return an error that names the wrong line of a file, for an error of pyarrow."""
        first = cells = None
        before = last = 0
        try:
            for line, other in self._rows_with_lines() if Path(self.name).is_file() else ():
                first, cells = first or line, cells or other
                if len(other) != len(cells):
                    return ValueError(
                        f"{self.name}: line {line} has {len(other)} cells, but line {first} has "
                        f"{len(cells)}. Correct it, or name the delimiter."
                    )
                before, last = last, line
        except OSError:
            pass
        except csv.Error:  # a cell without end, which exceeds the longest that csv reads
            before = last
        if "quoted cell" in str(error) and last:
            where = f"a quoted cell begins in line {before + 1} and does not end"
            error = ValueError(f"{where}. Add or remove a quote")
        return ValueError(
            f"{self.name}: {printable(str(error)).removeprefix('CSV parse error: ')}."
        )

    def _no_table(self, reason: str) -> ValueError:
        return ValueError(f"{self.name} is not a table: {reason}.")

    def _not_encoded(self, line: int, error: UnicodeDecodeError) -> ValueError:
        return ValueError(
            f"{self.name}: line {line} is not {self._encoding} "
            f"(byte {error.object[error.start]:#x}); name its encoding, e.g. latin-1."
        )


class NpySource(Source):
    """A NPY file with a two-dimensional array of numbers, mapped into memory; never a pickle."""

    has_names = False

    def __init__(self, path: str) -> None:
        self.name = path
        array = self._mapped()
        if array.ndim != 2 or array.dtype.kind not in "fiub":
            got = f"shape {array.shape} of {array.dtype}"
            raise invalid(path, "be a two-dimensional array of numbers", got, "save it as such")
        self.names, self.size = plain_names(array.shape[1]), len(array)

    def _mapped(self) -> NDArray[Any]:
        try:
            return np.asanyarray(np.load(self.name, mmap_mode="r", allow_pickle=False))
        except (EOFError, OverflowError, SyntaxError, TokenError, ValueError) as error:
            raise ValueError(
                f"{self.name} must be an array of numbers. It is damaged, or holds Python objects; "
                "save it again with numpy.save."
            ) from error

    def batches(self, columns: Sequence[str]) -> Iterator[NDArray[Any]]:
        chosen = places(columns, self.names)
        for start in range(0, self.size or 0, READ_ROWS):
            # Map the file anew for each block: pages count as memory of the process until unmapped.
            piece = np.array(self._mapped()[start : start + READ_ROWS, chosen])
            self.n_read = start + len(piece)
            yield piece


class ArrowSource(Source):
    """A Parquet, Feather or JSON lines file; columns of lists of numbers become several columns."""

    has_names = True

    def __init__(self, path: str, kind: str) -> None:
        self._arrow = needed("pyarrow", "stream")
        self.name, self._kind = path, kind
        with self._damaged():
            if kind == "Parquet":
                # With ``pre_buffer``, pyarrow would keep the whole file in memory.
                parquet = needed("pyarrow.parquet", "stream")
                self._file = parquet.ParquetFile(path, pre_buffer=False, buffer_size=1 << 20)
                self._schema, self.size = self._file.schema_arrow, self._file.metadata.num_rows
            elif kind == "Feather":
                self._file = self._arrow.ipc.open_file(self._arrow.OSFile(path))
                self._schema = self._file.schema
            else:
                self._file = needed("pyarrow.json", "stream").read_json(path)
                self._schema, self.size = self._file.schema, len(self._file)
            refuse_duplicates(self._schema.names)
            lengths = {column: self._length_of_lists(column) for column in self._schema.names}
        self.groups = {c: tuple(f"{c}[{i}]" for i in range(n)) for c, n in lengths.items() if n}
        self._column_of = [  # name, column of the file, place in its lists (0 if it has none)
            (name, column, place)
            for column in lengths
            for place, name in enumerate(self.groups.get(column, (column,)))
        ]
        self.names = tuple(name for name, _, _ in self._column_of)
        refuse_duplicates(self.names)

    def _length_of_lists(self, column: str) -> int | None:
        """Return the length of the first list of numbers in a column; None if it has no lists."""
        types, kind = self._arrow.types, self._schema.field(column).type
        is_list = types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
        of_numbers = (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean)
        if not (is_list and any(check(kind.value_type) for check in of_numbers)):
            return None
        if hasattr(kind, "list_size"):
            return int(kind.list_size)
        lists = next(self._raw_batches([column], 1024)).column(0).drop_null()
        return len(lists[0]) if len(lists) else None

    def _raw_batches(self, columns: list[str], n_rows: int) -> Iterator[Any]:
        if self._kind == "Parquet":
            yield from self._file.iter_batches(n_rows, columns=columns)
        elif self._kind == "Feather":
            for i in range(self._file.num_record_batches):
                yield self._file.get_batch(i).select(columns)
        else:
            yield from self._file.select(columns).to_batches(n_rows)

    def batches(self, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
        chosen = [each for each in self._column_of if each[0] in set(columns)]
        wanted = list(dict.fromkeys(column for _, column, _ in chosen))
        kinds = {name: self._schema.field(name).type for name in wanted if name not in self.groups}
        nested = [name for name in kinds if self._arrow.types.is_nested(kinds[name])]
        if nested:
            listed = ", ".join(f"{name!r} ({kinds[name]})" for name in nested[:8])
            raise ValueError(
                f"{self.name}: cells must hold a number, a word, a date, or a list of numbers. "
                f"Got {listed}. Fit without these columns (drop {','.join(nested)!r}), or write "
                "one value to a cell."
            )
        n_rows = int(np.clip((1 << 24) // max(1, len(columns)), 1024, READ_ROWS))
        try:
            with self._damaged():
                for batch in self._raw_batches(wanted, n_rows):
                    for column in self.groups.keys() & wanted:
                        self._refuse_other_lengths(column, batch.column(column))
                    self.n_read += len(batch)
                    found = {name: self._cells(batch, *of) for name, *of in chosen}
                    yield {name: found[name] for name in columns}
        finally:
            self.close()

    def _cells(self, batch: Any, column: str, place: int) -> Any:
        """Return a column, or the numbers at one place in its lists."""
        if column not in self.groups:
            return batch.column(column)
        lists = needed("pyarrow.compute", "stream").list_element(batch.column(column), place)
        return lists.cast("float64", safe=False)

    def _refuse_other_lengths(self, name: str, lists: Any) -> None:
        """Raise an error if a list has another length than the first one; lists may be missing."""
        length = len(self.groups[name])
        lengths = needed("pyarrow.compute", "stream").list_value_length(lists)
        sizes = np.asarray(lengths.fill_null(length))
        if (sizes != length).any():
            at = int(np.argmax(sizes != length))
            raise ValueError(
                f"{self.name}: the lists of column {name!r} must all have {length} numbers, as the "
                f"first one has. Got {sizes[at]} in row {at + self.n_read}; make them of one "
                f"length, or fit without the column (drop {name!r})."
            )

    def close(self) -> None:
        if self._kind == "Parquet":
            self._file.close()

    @contextmanager
    def _damaged(self) -> Iterator[None]:
        try:
            yield
        except (OSError, self._arrow.ArrowException) as error:
            damaged = f"{self.name} is a damaged {self._kind} file; write it again."
            raise ValueError(damaged) from error


def open_source(path: str, *, file: io.BufferedReader | None = None, **dialect: Any) -> Source:
    """Open a file as Parquet, Feather, JSON lines, NPY or CSV, according to its first bytes."""
    opened = file or Path(path).open("rb")  # noqa: SIM115 (the source closes it)
    try:
        start = opened.peek(8)  # not read: a pipe cannot be opened again
        kinds = {b"PAR1": "Parquet", b"ARROW1": "Feather", b"{": "JSON lines", b"\x93NUMPY": "NPY"}
        kind = next((kind for magic, kind in kinds.items() if start.startswith(magic)), None)
        if kind is None:
            return CsvSource(path, opened, is_ours=file is None, **dialect)
        if file is not None or not opened.seekable():
            raise ValueError(f"{path} must be CSV; save the table to a file and name that.")
        opened.close()
        return NpySource(path) if kind == "NPY" else ArrowSource(path, kind)
    except BaseException:
        if file is None:
            opened.close()
        raise
