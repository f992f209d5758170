"""Parquet files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigencut.data.source import READ_ROWS, Block, Source, text_columns
from eigencut.data.table import Table, refuse_duplicates
from eigencut.runtime.optional import needed

_BUFFER_BYTES = 1 << 20  # of a column
_NUMBERS = ("integer", "floating", "boolean", "decimal", "null")


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

    def blocks(self, columns: Sequence[str], id_column: str | None = None) -> Iterator[Block]:
        text = {name: str(self._type(name)) for name in columns if not self._is_number(name)}
        if text:
            raise text_columns(self.name, text)
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

    def _is_number(self, name: str) -> bool:
        checks = (getattr(self._arrow.types, f"is_{kind}") for kind in _NUMBERS)
        return any(check(self._type(name)) for check in checks)

    def _damaged(self) -> ValueError:
        return ValueError(f"{self.name} is a damaged Parquet file; write it anew.")


def _float64(column: Any) -> NDArray[np.float64]:
    # Integers beyond 2^53 are rounded, as numpy does, not refused.
    return np.asarray(column.cast("float64", safe=False).to_numpy(zero_copy_only=False))
