"""Parquet files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigencut.data.coding import Coding
from eigencut.data.column_kinds import NUMERIC
from eigencut.data.column_names import refuse_duplicates
from eigencut.data.frame_columns import coded_column
from eigencut.data.source import READ_ROWS, Block, Source, text_columns
from eigencut.data.table import Table
from eigencut.runtime.optional import needed

_BUFFER_BYTES = 1 << 20  # of a column
_NUMBERS = ("integer", "floating", "decimal", "null", "boolean")
_CODED = ("string", "large_string", "dictionary", "boolean", "date", "timestamp", "duration")


class ParquetSource(Source):
    """A Parquet file, read with pyarrow."""

    has_names = True

    def __init__(self, path: str) -> None:
        parquet = needed("pyarrow.parquet", "stream")
        self._arrow = needed("pyarrow", "stream")
        self.name = path
        try:
            # Read ahead, pyarrow would keep all of the file in memory.
            self._file = parquet.ParquetFile(path, pre_buffer=False, buffer_size=_BUFFER_BYTES)
        except (OSError, self._arrow.ArrowException) as error:
            raise self._damaged() from error
        self._schema = self._file.schema_arrow
        self.names = tuple(self._schema.names)
        refuse_duplicates(self.names)
        self.size = self._file.metadata.num_rows

    def blocks(
        self, columns: Sequence[str], id_column: str | None = None, coding: Coding | None = None
    ) -> Iterator[Block]:
        kinds = _NUMBERS if coding is None else (*_NUMBERS, *_CODED)
        text = {name: str(self._type(name)) for name in columns if not self._is_one(name, kinds)}
        if text:
            raise text_columns(self.name, text)
        wanted = [*columns, *([id_column] if id_column is not None else [])]
        done = 0
        for batch in self._batches(wanted):
            found = [self._values(name, batch.column(name), coding, done + 1) for name in columns]
            values = np.column_stack(found)
            ids = None
            if id_column is not None:
                ids = ["" if c is None else str(c) for c in batch.column(id_column).to_pylist()]
            done += len(values)
            table = Table(tuple(columns), values, done - len(values) + 1, coding=coding)
            yield Block(table, ids, done)

    def _values(self, name: str, column: Any, coding: Coding | None, row: int) -> Any:
        """A column as numbers; words and dates where there is a coding."""
        if coding is None:
            return _float64(column)
        is_number = self._is_one(name, _NUMBERS[:-1])
        if is_number and (coding.kind(name) or NUMERIC).name == "numeric":
            coding.found(name, NUMERIC)
            return _float64(column)
        try:
            return coded_column(coding, name, column, row)
        except ValueError as error:
            raise ValueError(f"{self.name}: {error}") from error

    def _batches(self, columns: list[str]) -> Iterator[Any]:
        try:
            yield from self._file.iter_batches(READ_ROWS, columns=columns)
        except (OSError, self._arrow.ArrowException) as error:
            raise self._damaged() from error
        finally:
            self.close()

    def close(self) -> None:
        self._file.close()

    def _type(self, name: str) -> Any:
        return self._schema.field(name).type

    def _is_one(self, name: str, kinds: Sequence[str]) -> bool:
        checks = (getattr(self._arrow.types, f"is_{kind}") for kind in kinds)
        return any(check(self._type(name)) for check in checks)

    def _damaged(self) -> ValueError:
        return ValueError(f"{self.name} is a damaged Parquet file; write it anew.")


def _float64(column: Any) -> NDArray[np.float64]:
    # Integers beyond 2^53 are rounded, as numpy does, not refused.
    return np.asarray(column.cast("float64", safe=False).to_numpy(zero_copy_only=False))
