"""Labels to files: CSV, Parquet or NPY by the name of the file; CSV to standard output."""

from __future__ import annotations

import csv
import gzip
import io
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from eigencut._utils.validation import printable
from eigencut.cli.outputs import is_standard_output
from eigencut.cli.printable import spreadsheet_safe
from eigencut.io.atomic import replacing

Columns = Mapping[str, Any]  # arrays, or lists of words


class Writer(ABC):
    """Takes columns a block at a time."""

    @abstractmethod
    def write(self, columns: Columns) -> None:
        """Add rows."""

    @abstractmethod
    def finish(self) -> None:
        """Write what can only be written at the end."""


class CsvWriter(Writer):
    """A header, then a line for each row; NaN is an empty cell."""

    def __init__(self, file: BinaryIO, shown: Callable[[str], str] = str) -> None:
        self._file = file
        self._shown = shown  # what is written for a word
        self._has_header = False

    def write(self, columns: Columns) -> None:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        if not self._has_header:
            writer.writerow(map(self._shown, columns))
            self._has_header = True
        writer.writerows(zip(*map(self._cells, columns.values()), strict=True))
        self._file.write(text.getvalue().encode("utf-8"))

    def finish(self) -> None:
        pass  # every line is written

    def _cells(self, column: Any) -> list[Any]:
        if not isinstance(column, np.ndarray):
            return [self._shown(word) for word in column]
        if column.dtype.kind == "f":
            return ["" if np.isnan(value) else value for value in column.tolist()]
        return column.tolist()


class NpyWriter(Writer):
    """The clusters alone, as one array of integers."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._labels: list[NDArray[Any]] = []

    def write(self, columns: Columns) -> None:
        self._labels.append(np.asarray(columns["cluster"], dtype=np.int64))

    def finish(self) -> None:
        np.save(self._file, np.concatenate(self._labels), allow_pickle=False)


class ParquetWriter(Writer):
    """A Parquet file with the same columns as CSV."""

    def __init__(self, file: BinaryIO) -> None:
        try:
            import pyarrow.parquet as pq
        except ImportError as error:
            raise ImportError("Parquet needs pyarrow. Install it: pip install pyarrow") from error
        self._parquet = pq
        self._file = file
        self._writer: Any = None

    def write(self, columns: Columns) -> None:
        import pyarrow as pa

        table = pa.table(dict(columns))
        if self._writer is None:
            self._writer = self._parquet.ParquetWriter(self._file, table.schema)
        self._writer.write_table(table)

    def finish(self) -> None:
        if self._writer is not None:
            self._writer.close()


@contextmanager
def open_writer(path: str, spreadsheet: bool = False) -> Iterator[Writer]:
    """A writer for what the name of the file says; the file appears when the block ends well.

    Words are written as they are; on a terminal without what would move its cursor, and for
    spreadsheets without what these would run.
    """
    shown = spreadsheet_safe if spreadsheet else str
    if is_standard_output(path):
        on_terminal = sys.stdout.isatty()
        yield CsvWriter(sys.stdout.buffer, _both(shown, printable) if on_terminal else shown)
        sys.stdout.buffer.flush()
        return
    with replacing(path) as file:
        if path.lower().endswith(".gz"):
            with gzip.open(file, "wb") as packed:
                yield CsvWriter(cast(BinaryIO, packed), shown)
            return
        writer = _writer(path.lower(), file, shown)
        yield writer
        writer.finish()


def _writer(name: str, file: BinaryIO, shown: Callable[[str], str]) -> Writer:
    if name.endswith(".npy"):
        return NpyWriter(file)
    return ParquetWriter(file) if name.endswith(".parquet") else CsvWriter(file, shown)


def _both(first: Callable[[str], str], second: Callable[[str], str]) -> Callable[[str], str]:
    return lambda text: second(first(text))
