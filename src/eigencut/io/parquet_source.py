"""Parquet files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigencut._utils.arrays import Array
from eigencut._utils.validation import needed
from eigencut.io.coding import Coding
from eigencut.io.column_kinds import NUMERIC, refuse_duplicates
from eigencut.io.source import READ_ROWS, Block, Source, text_columns
from eigencut.io.table import Table, coded_column

# Columns of lists in Parquet files: an embedding in each cell is so many columns of numbers.

_LOOKED_AT = 1024  # rows, the first of which that has a list tells its length
_LISTS = ("list", "large_list", "fixed_size_list")
_LISTED_NUMBERS = ("integer", "floating", "decimal", "boolean")


def is_list_of_numbers(arrow: Any, kind: Any) -> bool:
    """Whether a type of pyarrow is lists of numbers."""
    if not any(getattr(arrow.types, f"is_{name}")(kind) for name in _LISTS):
        return False
    return any(getattr(arrow.types, f"is_{name}")(kind.value_type) for name in _LISTED_NUMBERS)


def names_of_elements(column: str, length: int) -> tuple[str, ...]:
    """name[0], name[1], ..."""
    return tuple(f"{column}[{i}]" for i in range(length))


def length_of_lists(file: Any, column: str, kind: Any) -> int | None:
    """How many numbers each list of a column has, as far as its beginning shows."""
    if hasattr(kind, "list_size"):
        return int(kind.list_size)
    for batch in file.iter_batches(_LOOKED_AT, columns=[column]):
        there = batch.column(0).drop_null()
        return len(there[0]) or None if len(there) else None
    return None


def numbers_of_lists(source: str, name: str, column: Any, length: int, first_row: int) -> Array:
    """Lists as rows; a cell without a list is a row of missing values.

    Another number of elements is refused by its row.
    """
    is_there = np.asarray(column.is_valid())
    lists = column.drop_null()
    if not hasattr(column.type, "list_size"):
        sizes = np.asarray(lists.value_lengths())
        if (sizes != length).any():
            at = int(np.argmax(sizes != length))
            row = int(np.flatnonzero(is_there)[at]) + first_row
            raise ValueError(
                f"{source}: the lists of column {name!r} must all have {length} numbers, as the "
                f"first one has. Got {sizes[at]} in row {row}; make them of one length, or fit "
                f"without the column (drop {name!r})."
            )
    flat = lists.flatten().cast("float64", safe=False).to_numpy(zero_copy_only=False)
    found = np.full((len(is_there), length), np.nan)
    found[is_there] = flat.reshape(-1, length)
    return found


_BUFFER_BYTES = 1 << 20  # of a column
_NUMBERS = ("integer", "floating", "decimal", "null", "boolean")
_NESTED = ("nested",)
_MOST_ENTRIES = 1 << 24  # of a block of rows
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
        self._place_of = self._elements()
        self.names = tuple(self._place_of)
        self.size = self._file.metadata.num_rows

    def _elements(self) -> dict[str, tuple[str, int | None]]:
        """For each name its column of the file and, if that has lists, the place in these."""
        found: list[tuple[str, tuple[str, int | None]]] = []
        for column in self._schema.names:
            kind = self._schema.field(column).type
            length = None
            if is_list_of_numbers(self._arrow, kind):
                length = length_of_lists(self._file, column, kind)
            if length is None:
                found.append((column, (column, None)))
                continue
            names = names_of_elements(column, length)
            self.groups = {**self.groups, column: names}
            found += [(name, (column, i)) for i, name in enumerate(names)]
        refuse_duplicates([name for name, _ in found])
        return dict(found)

    def blocks(
        self, columns: Sequence[str], id_column: str | None = None, coding: Coding | None = None
    ) -> Iterator[Block]:
        self._refuse_types(columns, _NUMBERS if coding is None else (*_NUMBERS, *_CODED))
        wanted = [self._place_of[name][0] for name in columns]
        wanted += [id_column] if id_column is not None else []
        done = 0
        for batch in self._batches(list(dict.fromkeys(wanted)), len(columns)):
            values = self._numbers(columns, batch, coding, done + 1)
            ids = None
            if id_column is not None:
                ids = ["" if c is None else str(c) for c in batch.column(id_column).to_pylist()]
            done += len(values)
            table = Table(tuple(columns), values, done - len(values) + 1, coding=coding)
            yield Block(table, ids, done)

    def _refuse_types(self, columns: Sequence[str], kinds: Sequence[str]) -> None:
        """An error for columns that hold something else, with what can be done about it."""
        plain = [name for name in columns if self._place_of[name][1] is None]
        text = {name: str(self._type(name)) for name in plain if not self._is_one(name, kinds)}
        nested = {name: kind for name, kind in text.items() if self._is_one(name, _NESTED)}
        if nested:
            shown = ", ".join(f"{name!r} ({kind})" for name, kind in list(nested.items())[:8])
            raise ValueError(
                f"{self.name}: cells must hold a number, a word, a date, or a list of numbers, but "
                f"not so {shown}. Fit without these columns (drop {','.join(nested)!r}), or write "
                "one value to a cell."
            )
        if text:
            raise text_columns(self.name, text)

    def _numbers(
        self, columns: Sequence[str], batch: Any, coding: Coding | None, row: int
    ) -> NDArray[np.float64]:
        """The columns of a batch; lists are taken apart once."""
        lists: dict[str, Any] = {}
        found = []
        for name in columns:
            column, place = self._place_of[name]
            if place is None:
                found.append(self._values(name, batch.column(name), coding, row))
                continue
            if column not in lists:
                length, cells = len(self.groups[column]), batch.column(column)
                lists[column] = numbers_of_lists(self.name, column, cells, length, row)
            values = lists[column][:, place]
            kind = NUMERIC if coding is None else coding.found(name, NUMERIC)
            if coding is not None and kind.name != "numeric":
                values = coded_column(coding, name, values, row)
            found.append(values)
        return np.column_stack(found)

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

    def _batches(self, columns: list[str], n_columns: int) -> Iterator[Any]:
        n_rows = int(np.clip(_MOST_ENTRIES // max(1, n_columns), 1024, READ_ROWS))
        try:
            yield from self._file.iter_batches(n_rows, columns=columns)
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
