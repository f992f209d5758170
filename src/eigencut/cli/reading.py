"""Tables from files: which kind a file is, and rows in blocks of bounded size.

This is the only place of the command line that reads tables.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from eigencut.cli.options import Reading
from eigencut.data.table import Table, plain_names, quoted, refuse_duplicates
from eigencut.runtime.progress import tell

BLOCK_ROWS = 1 << 16
STANDARD_INPUT = "-"
_BUFFER_BYTES = 1 << 20  # of a column of a Parquet file

_NOT_TABLES = {
    b"EIGENCUT": "it is a model; a table is expected",
    b"PK\x03\x04": "it is a spreadsheet or an archive; save it as CSV",
    b"\xd0\xcf\x11\xe0": "it is an old spreadsheet; save it as CSV",
    b"SQLite f": "it is a database; export a table as CSV",
    b"%PDF": "it is a PDF; export the table as CSV",
    b"\xff\xfe": "it is UTF-16; save it as UTF-8",
    b"\xfe\xff": "it is UTF-16; save it as UTF-8",
}


@dataclass(frozen=True)
class Block:
    """Some rows: their numbers, and the cells of the column that names them."""

    table: Table
    ids: list[str] | None
    n_read: int  # of what ``Source.size`` counts, so far


class Source(ABC):
    """A table that is read in blocks."""

    name: str  # for messages
    names: tuple[str, ...]
    size: int | None  # rows or bytes in all, if known

    @abstractmethod
    def blocks(self, columns: Sequence[str], id_column: str | None) -> Iterator[Block]:
        """The chosen columns, some rows at a time."""

    def share(self, block: Block) -> float | None:
        """How much of the table is read after this block, if it can be known."""
        return block.n_read / self.size if self.size else None

    def choose(
        self, columns: Sequence[str], drop: Sequence[str], id_column: str | None
    ) -> list[str]:
        """The columns that are data: those named, or all; without dropped ones and the id."""
        wanted, dropped = self._split(columns, "--columns"), self._split(drop, "--drop")
        if id_column is not None:
            dropped += self._split([id_column], "--id")
        chosen = [name for name in wanted or self.names if name not in dropped]
        if not chosen:
            raise ValueError(f"{self.name}: no columns are left; choose some with --columns.")
        refuse_duplicates(chosen)
        return chosen

    def _split(self, texts: Sequence[str], option: str) -> list[str]:
        """Names as users give them: several options, or commas, or both."""
        found = []
        for text in texts:
            names = [text] if text in self.names else [name.strip() for name in text.split(",")]
            unknown = [name for name in names if name not in self.names]
            if unknown:
                raise ValueError(
                    f"{self.name} has no column {quoted(unknown)}, which {option} names. "
                    f"It has {quoted(self.names)}."
                )
            found += names
        return found

    def read(self, columns: Sequence[str], id_column: str | None) -> Block:
        """All rows at once."""
        blocks, n_rows = [], 0
        for block in self.blocks(columns, id_column):
            blocks.append(block)
            n_rows += len(block.table.values)
            tell(self.share(block), f"{n_rows:,} rows")
        if not blocks:
            raise ValueError(f"{self.name} has no rows.")
        values = np.concatenate([block.table.values for block in blocks])
        ids = [cell for block in blocks for cell in block.ids or []] if id_column else None
        return Block(Table(tuple(columns), values), ids, blocks[-1].n_read)


def open_source(path: str, reading: Reading) -> Source:
    """The table at a path, or standard input for ``-``; its kind is told by its first bytes."""
    from eigencut.cli.csv_source import CsvSource

    name = "Standard input" if path == STANDARD_INPUT else path
    file = cast(BufferedReader, sys.stdin.buffer)
    if path != STANDARD_INPUT:
        file = Path(path).open("rb")  # noqa: SIM115 (whoever reads it closes it)
    start = file.peek(8)[:8]  # once: a pipe cannot be opened again
    for magic, kind in ((b"PAR1", ParquetSource), (b"\x93NUMPY", NpySource)):
        if start.startswith(magic):
            if path == STANDARD_INPUT or not file.seekable():
                raise ValueError(f"{name} must be CSV; save the table to a file and name that.")
            file.close()
            return kind(path)
    for magic, reason in _NOT_TABLES.items():
        if start.startswith(magic):
            raise ValueError(f"{name} is not a table: {reason}.")
    return CsvSource(name, file, reading)


class NpySource(Source):
    """A two-dimensional array of numbers in numpy's format."""

    def __init__(self, path: str) -> None:
        self.name = path
        try:
            self._array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
        except (EOFError, ValueError) as error:
            raise ValueError(
                f"{path} must be an array of numbers. It is damaged, or holds Python objects; "
                "save it anew with numpy.save."
            ) from error
        if self._array.ndim != 2 or self._array.dtype.kind not in "fiub":
            raise ValueError(
                f"{path} must be a two-dimensional array of numbers. "
                f"Got shape {self._array.shape} of {self._array.dtype}."
            )
        self.names = plain_names(self._array.shape[1])
        self.size = len(self._array)

    def blocks(self, columns: Sequence[str], id_column: str | None) -> Iterator[Block]:
        places = [self.names.index(name) for name in columns]
        for start in range(0, len(self._array), BLOCK_ROWS):
            piece = self._array[start : start + BLOCK_ROWS]
            ids = None
            if id_column is not None:
                ids = [str(cell) for cell in piece[:, self.names.index(id_column)]]
            values = np.asarray(piece[:, places], dtype=np.float64)
            yield Block(Table(tuple(columns), values, start + 1), ids, start + len(piece))


class ParquetSource(Source):
    """A Parquet file, read with pyarrow."""

    def __init__(self, path: str) -> None:
        try:
            import pyarrow as pa
            import pyarrow.parquet as pq
        except ImportError as error:
            raise ImportError("Parquet needs pyarrow. Install it: pip install pyarrow") from error
        self.name = path
        try:
            # Read ahead, pyarrow would keep all of the file in memory.
            self._file = pq.ParquetFile(path, pre_buffer=False, buffer_size=_BUFFER_BYTES)
        except (OSError, pa.ArrowException) as error:
            raise ValueError(f"{path} is a damaged Parquet file; write it anew.") from error
        schema = self._file.schema_arrow
        self.names = tuple(schema.names)
        refuse_duplicates(self.names)
        self.size = self._file.metadata.num_rows
        self._is_number = {
            field.name: any(
                check(field.type)
                for check in (
                    pa.types.is_integer,
                    pa.types.is_floating,
                    pa.types.is_boolean,
                    pa.types.is_decimal,
                    pa.types.is_null,
                )
            )
            for field in schema
        }

    def blocks(self, columns: Sequence[str], id_column: str | None) -> Iterator[Block]:
        text = [name for name in columns if not self._is_number[name]]
        if text:
            raise text_columns(self.name, {name: str(self._type(name)) for name in text})
        wanted = [*columns, *([id_column] if id_column is not None else [])]
        done = 0
        for batch in self._batches(wanted):
            values = np.column_stack([_float64(batch.column(name)) for name in columns])
            ids = None
            if id_column is not None:
                ids = ["" if c is None else str(c) for c in batch.column(id_column).to_pylist()]
            done += len(values)
            yield Block(Table(tuple(columns), values, done - len(values) + 1), ids, done)

    def _batches(self, columns: list[str]) -> Iterator[Any]:
        import pyarrow as pa

        try:
            yield from self._file.iter_batches(BLOCK_ROWS, columns=columns)
        except (OSError, pa.ArrowException) as error:
            raise ValueError(f"{self.name} is a damaged Parquet file; write it anew.") from error

    def _type(self, name: str) -> Any:
        return self._file.schema_arrow.field(name).type


def _float64(column: Any) -> NDArray[np.float64]:
    return np.asarray(column.cast("float64").to_numpy(zero_copy_only=False))


def text_columns(name: str, examples: dict[str, str]) -> ValueError:
    """The error for columns that do not hold numbers, each with an example of what it holds."""
    shown = [f"{column!r} ({example})" for column, example in list(examples.items())[:8]]
    columns = ",".join(examples)
    return ValueError(
        f"{name}: columns must hold numbers, but not so {', '.join(shown)}. "
        f"Correct the cells, or fit without these columns (--drop {columns!r})."
    )


def closed(file: BinaryIO) -> None:
    """Close a file that was opened here, but not standard input."""
    if file is not sys.stdin.buffer:
        file.close()
