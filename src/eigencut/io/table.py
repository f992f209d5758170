"""``Table``: columns of numbers, with codes for words; ``Coding`` makes them, ``Source`` reads."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from numbers import Real
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

from eigencut._utils.arrays import Array
from eigencut._utils.running import tell
from eigencut._utils.validation import as_numpy
from eigencut.exceptions import EmptyTableError, invalid
from eigencut.io.column_kinds import (
    MISSING,
    NUMERIC,
    Kind,
    absent,
    date_number,
    given_kinds,
    kind_of_cells,
    kind_of_text,
    labels_of,
    number_of_text,
    numbers_of_dates,
    other_notation,
    places,
    plain_names,
    quoted,
    refuse_absent,
    refuse_duplicates,
    shown_word,
    word_of,
)

Place = Callable[[int], str]  # from the number of a row to its place in words, such as "line 7"

MOST_WORDS = 1 << 16  # different words of a column; with more, it cannot be categorical


class Coding:
    """Turns columns into numbers; remembers their ``kinds``, and the codes of ``words``."""

    decimal: str | None = None  # the decimal mark of a CSV file; None for other sources
    place: Place = "row {}".format  # names rows of the present table in errors

    def __init__(self, kinds: Mapping[str, Kind] | None = None, columns: Any = None) -> None:
        self._columns = columns
        self.kinds = dict(kinds or {}) | given_kinds(columns)
        self.words: dict[str, dict[str, int]] = {}

    def chosen(self, names: Sequence[str]) -> list[str]:
        """Return the columns to use: those that the user listed, or all but ignored ones."""
        columns = names if self._columns is None else self._columns
        unknown = absent([str(name) for name in columns], names)
        if unknown:
            expected = f"name columns of the table, {quoted(names)}"
            raise invalid("columns", expected, quoted(unknown), "correct it")
        if isinstance(columns, Mapping):
            columns = [name for name in names if self.kinds.get(name, NUMERIC).name != "ignore"]
        if not len(columns) and len(names):
            expected, got = "leave at least one column to cluster", "'ignore' for all"
            raise invalid("columns", expected, got, "leave one of them out")
        return [str(name) for name in columns]

    def numbers(self, name: str, column: Any) -> Array:
        """Return a column of numpy, pandas, polars or pyarrow as float64, missing values as NaN."""
        kind = self.kinds.get(name)
        if hasattr(column, "cat") and str(column.dtype) == "category":  # pandas
            if kind is None or kind.has_words:
                different = list(column.cat.categories)
                order = Kind.ordered(different) if column.cat.ordered else None
                self.kinds.setdefault(name, order or Kind("categorical"))
                return self._of_text(name, different, np.asarray(column.cat.codes))
            column = np.asarray(column, dtype=object)
        if hasattr(column, "dictionary_encode"):  # pyarrow
            is_dictionary = hasattr(column.type, "index_type")
            of_values = column.type.value_type if is_dictionary else column.type
            if str(of_values) in ("string", "large_string", "string_view"):
                is_number = kind is None or kind.name == "numeric"
                numbers = numbers_of_arrow_text(column, self.decimal) if is_number else None
                if numbers is None:
                    return self._of_text(name, *_dictionary(column))
                if not np.isnan(numbers).all():
                    self.kinds.setdefault(name, NUMERIC)
                return numbers
            column = column.cast(of_values) if is_dictionary else column
            if hasattr(column.type, "precision"):  # decimals, which would become objects in numpy
                column = column.cast("float64", safe=False)
        return self._of_cells(name, _cells(column))

    def _of_cells(self, name: str, cells: NDArray[Any]) -> Array:
        """Return an array of cells of any dtype as numbers."""
        if cells.dtype.kind == "O" and any(isinstance(cell, str) for cell in cells):
            words = [cell if isinstance(cell, str) else word_of(cell) for cell in cells]
            return self._of_text(name, *_different(words))
        kind = self.kinds.setdefault(name, kind_of_cells(cells))
        if kind.has_words:
            return self._of_text(name, *_different(cells.tolist()))
        if cells.dtype.kind in "mM":
            if (kind.name == "date") == (cells.dtype.kind == "M"):
                return numbers_of_dates(cells)
            raise _other_kind(kind, name, str(cells.dtype))
        if kind.name == "numeric" and cells.dtype.kind in "fiub":
            return cells.astype(np.float64)
        return self._of_text(name, cells.tolist(), np.arange(len(cells)))

    def _of_text(self, name: str, different: Sequence[Any], at: Any) -> Array:
        """Return cells as numbers; ``at`` has their indices in ``different``, -1 if missing."""
        cells = {i: different[i] for i in np.unique(at).tolist() if i >= 0}
        if self.decimal is not None:
            cells = {i: cell for i, cell in cells.items() if cell.strip().lower() not in MISSING}
        words = {i: word for i, cell in cells.items() if (word := word_of(cell)) is not None}
        kind = self.kinds.get(name)
        if kind is None:
            kind = kind_of_text([cells[i] for i in words], self.decimal or ".")
            if words:  # while all cells are missing, the kind stays open
                self.kinds[name] = kind
        codes = np.full(len(different) + 1, np.nan)  # index -1, of missing cells, is the last
        for i, word in words.items():
            number: float | None
            if kind.has_words:
                known = self.words.setdefault(name, {})
                if word not in known and len(known) >= MOST_WORDS:
                    expected = f"have at most {MOST_WORDS} different words"
                    remedy = "drop it, or put words together"
                    raise invalid(f"Column {name!r}", expected, "more", remedy)
                number = known.setdefault(word, len(known))  # new words get the next number
            elif kind.name == "date":
                number = date_number(cells[i])
            else:
                number = self._number(cells[i])
            if number is None:
                where = self.place(int(np.argmax(at == i)))
                raise self._other_cell(name, cells[i], where, list(cells.values()))
            codes[i] = number
        return codes[at]

    def _number(self, cell: Any) -> float | None:
        if isinstance(cell, str):
            return number_of_text(cell, self.decimal or ".")
        try:
            return float(cell) if isinstance(cell, (Real, Decimal)) else None
        except OverflowError:
            return None

    def _other_cell(self, name: str, cell: Any, where: str, cells: Sequence[Any]) -> Exception:
        """Return the error for a cell that does not fit the kind of its column."""
        if isinstance(cell, int) and self.kinds[name].name == "numeric":  # too long to be shown
            got, remedy = f"a larger one in {where}", "correct it, or drop the row"
            return invalid(f"Column {name!r}", "hold numbers below 1.8e308", got, remedy)
        got = f"{shown_word(str(cell))} in {where}"
        if self.kinds[name].name == "numeric" and isinstance(cell, str):
            others = [other for other in cells if self._number(other) is None]
            hint = other_notation(others, self.decimal or ".")
            got += f": {hint}" if hint else ""
        error = _other_kind(self.kinds[name], name, got)
        if isinstance(cell, (dict, list, set, tuple)):  # the error that scikit-learn expects
            return TypeError(f"{error} (argument must be a string or a real number)")
        return error


def numbers_of_arrow_text(column: Any, decimal: str | None) -> Array | None:
    """Return a pyarrow column of text as numbers; None if other code must look at its cells."""
    import pyarrow as pa
    from pyarrow import compute

    column = column.cast(pa.string())
    shortest = compute.min(compute.binary_length(column)).as_py() or 0
    if decimal is not None and shortest <= max(map(len, MISSING)):
        gaps = {change(word) for word in MISSING for change in (str.lower, str.upper)}
        is_gap = compute.is_in(column, value_set=pa.array([*gaps, "NaN", "None"], pa.string()))
        column = compute.if_else(is_gap, pa.scalar(None, pa.string()), column)
    if decimal == ",":
        if compute.any(compute.match_substring(column, ".")).as_py():
            return None
        column = compute.replace_substring(column, ",", ".")
    for is_trimmed in (False, True):
        column = compute.utf8_trim_whitespace(column) if is_trimmed else column
        try:
            column.drop_null()[:100].cast(pa.float64())  # fails sooner than the whole column
            numbers = column.cast(pa.float64())
        except pa.ArrowInvalid:
            continue
        values: Array = numbers.to_numpy(zero_copy_only=False)
        # pyarrow spells infinity and NaN in more ways than Python
        is_plain = np.isfinite(values).sum() + numbers.null_count == len(values)
        return values if is_plain else None
    return None


def _dictionary(column: Any) -> tuple[list[Any], NDArray[Any]]:
    """Return the different cells of a pyarrow column, and the index of each cell among them."""
    encoded = column.dictionary_encode()
    if hasattr(encoded, "chunks"):
        encoded = encoded.unify_dictionaries().combine_chunks()
    at = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return encoded.dictionary.to_pylist(), at


def _different(cells: Sequence[Any]) -> tuple[list[Any], NDArray[Any]]:
    """Return the different cells of a list, and the index of each cell among them."""
    at = {cell: i for i, cell in enumerate(dict.fromkeys(cells))}
    return list(at), np.fromiter(map(at.__getitem__, cells), dtype=np.intp, count=len(cells))


def _cells(column: Any) -> NDArray[Any]:
    """Return a column as a numpy array: of its own dtype, or of objects for text and structs."""
    zone = getattr(getattr(column, "dtype", None), "tz", None)
    if zone is not None and hasattr(column, "dt"):  # pandas would give objects
        column = column.dt.tz_convert("UTC").dt.tz_localize(None)
    cells = np.asarray(column)
    if cells.ndim != 1:  # structs of polars
        given = column.to_list() if hasattr(column, "to_list") else list(cells)
        cells = np.empty(len(given), dtype=object)
        cells[:] = given
    return cells.astype(object) if cells.dtype.kind in "US" else cells


def _other_kind(kind: Kind, name: str, got: str) -> Exception:
    expected = "hold dates" if kind.name == "date" else "hold numbers"
    remedy = "correct it, drop the column, or say that it is categorical"
    return invalid(f"Column {name!r}", expected, got, remedy)


@dataclass(frozen=True)
class Table:
    """Columns as float64, with NaN for missing values; ``coding`` tells what the numbers mean."""

    names: tuple[str, ...]
    values: Array
    first_row: int = 0  # the number of its first row, if it is a block of a longer table
    weight: Array | None = None  # weights of rows; None: all are 1
    coding: Coding | None = None  # None: all columns hold numbers
    row_place: Place = "row {}".format  # names rows of the longer table in errors
    ids: list[str] | None = None  # identifiers of rows, from a column of a file

    @classmethod
    def from_data(
        cls,
        X: Any,
        needed: Sequence[str] | None = None,
        coding: Coding | None = None,
        first_row: int = 0,
        row_place: Place | None = None,
    ) -> Table:
        """Make a table from a data frame, an array, a mapping of columns, or a table.

        ``needed`` lists the columns of a fitted model; if it is None, ``coding`` chooses them.
        """
        if isinstance(X, Table):
            return X.choose(needed)
        refuse_lazy(X)
        coding = Coding() if coding is None else coding
        row_place = row_place or partial(place_of, X)
        columns = _columns(X, needed)
        there = list(columns)
        if needed is not None:
            refuse_absent(needed, there)
        names = coding.chosen(there) if needed is None else needed
        is_plain = isinstance(X, np.ndarray) and X.dtype.kind in "fiu"
        if is_plain and all(coding.kinds.get(name, NUMERIC) == NUMERIC for name in names):
            values = X.astype(np.float64)[:, places(names, there)]
            coding.kinds |= dict.fromkeys(names, NUMERIC)
        else:
            coding.place = lambda row: row_place(row + first_row)
            coded = [coding.numbers(name, columns[name]) for name in names]
            values = np.column_stack(coded) if coded else np.empty((len(X), 0))
        return cls(tuple(names), values, first_row, coding=coding, row_place=row_place)

    def choose(self, needed: Sequence[str] | None) -> Table:
        """Return a table with the needed columns, in this order; None keeps the table."""
        if needed is None or tuple(needed) == self.names:
            return self
        refuse_absent(needed, self.names)
        columns = places(needed, self.names)
        return replace(self, names=tuple(needed), values=self.values[:, columns])

    def place(self, row: int) -> str:
        """Return the place of a row in words: its line in a file, its index label or its number."""
        return self.row_place(row + self.first_row)

    def kind(self, name: str) -> Kind:
        """Return the kind of a column."""
        return NUMERIC if self.coding is None else self.coding.kinds.get(name, NUMERIC)

    def words(self, name: str) -> Mapping[str, int]:
        """Return the words of a column, in the order of the numbers that stand for them."""
        assert self.coding is not None  # a kind with words comes from a coding
        return self.coding.words.get(name, {})

    def numbers_of_words(
        self, name: str, numbers: Mapping[str, float], unknown: float, missing: float = math.nan
    ) -> Array:
        """Return for each row the number that ``numbers`` assigns to its word in a column."""
        codes = self.values[:, self.names.index(name)]
        found = np.array([*(numbers.get(word, unknown) for word in self.words(name)), missing])
        return found.astype(np.float64)[np.where(np.isnan(codes), -1, codes).astype(np.intp)]


def place_of(X: Any, row: int) -> str:
    """Return the place of a row of X in words: its line in a file, its index label or number."""
    if isinstance(X, Table):
        return X.place(row)
    return f"row {X.index[row] if hasattr(X, 'iloc') else row}"


def as_table(X: Any, at_least: int = 1) -> Any:
    """Return tables and data frames unchanged, and anything else as a two-dimensional array."""
    if isinstance(X, Table) or hasattr(X, "columns"):
        return X
    refuse_lazy(X)
    return check_array(
        as_numpy(X),
        estimator="TableModel",
        input_name="X",
        dtype=None,
        ensure_all_finite=False,
        ensure_min_samples=at_least,
    )


def _columns(X: Any, needed: Sequence[str] | None) -> Mapping[str, Any]:
    """Return the columns of X by name; without names, they are x1, x2, ..., or as ``needed``."""
    if isinstance(X, dict):
        return X
    if hasattr(X, "columns"):
        given = labels_of(X)
        names = [str(name) for name in given]
        refuse_duplicates(names)
        return {name: X[label] for name, label in zip(names, given, strict=True)}
    values = np.asarray(X)
    if values.ndim != 2 or values.dtype.kind not in "fiubOUM":
        expected = "be a data frame or a two-dimensional array of numbers and words"
        raise invalid("X", expected, f"shape {values.shape} of {values.dtype}", "convert it")
    names_of_array = plain_names(values.shape[1])
    if needed is not None and len(needed) == values.shape[1]:
        names_of_array = tuple(needed)  # an array has the columns of the fit, in their order
    return dict(zip(names_of_array, values.T, strict=True))


def refuse_lazy(X: Any) -> None:
    """Raise an error for data of dask, pyspark or lazy polars, with the line to write instead."""
    package, name = type(X).__module__.partition(".")[0], type(X).__name__
    package = {"dask_expr": "dask"}.get(package, package)
    remedies = {
        "dask": "on the cluster write eigencut.integrations.dask.fit(model, X), or predict; if it "
        "fits in memory, X.compute()",
        "pyspark": "on the cluster write eigencut.spark.fit(model, X, columns), and then "
        "eigencut.spark.predict(model, X); if it fits in memory, X.toPandas()",
        "polars": "call .collect() first",
    }
    if package in remedies and not (package == "polars" and name != "LazyFrame"):
        raise invalid("X", "be rows in memory", f"a {package} {name}", remedies[package])


class Source(ABC):
    """A table in a file that is read in blocks, once.

    ``names`` are x1, x2, ... if the file has none (``has_names``), also for columns in ``unnamed``.
    ``groups`` maps a column of lists to the columns made of it. ``size`` and ``n_read`` count rows
    or bytes.
    """

    name: str
    names: tuple[str, ...]
    has_names: bool
    unnamed: frozenset[str] = frozenset()
    groups: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    size: int | None = None
    n_read: int = 0
    decimal: str | None = None  # the decimal mark of a CSV file

    @abstractmethod
    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        """Yield blocks of rows: a dict of columns by name, or an array with these columns."""

    def place(self, row: int) -> str:
        """Return the place of a row in words, from its number (0 is the first)."""
        return f"row {row}"

    def close(self) -> None:
        """Close the file, if it stays open after the last block."""
        return

    def share(self) -> float | None:
        """Return the share of the table that has been read; None if the size is unknown."""
        return self.n_read / self.size if self.size else None

    def blocks(
        self, columns: Sequence[str], id_column: str | None = None, coding: Coding | None = None
    ) -> Iterator[Table]:
        """Yield tables of the chosen columns, a block of rows at a time."""
        coding = Coding(dict.fromkeys(columns, NUMERIC)) if coding is None else coding
        coding.decimal = self.decimal
        read = [*columns, *([] if id_column in (None, *columns) else [id_column])]
        done = 0
        for batch in self.batches([name for name in read if name is not None]):
            ids = None
            if id_column is not None:
                at = id_column if isinstance(batch, dict) else (slice(None), read.index(id_column))
                ids = ["" if cell is None else str(cell) for cell in batch[at].tolist()]
            if isinstance(batch, np.ndarray):
                batch = batch[:, : len(columns)]
            with self.named_errors():
                table = Table.from_data(batch, columns, coding, done, self.place)
            done += len(table.values)
            yield replace(table, ids=ids)

    def read(
        self, columns: Sequence[str], id_column: str | None = None, coding: Coding | None = None
    ) -> Table:
        """Return all rows as one table."""
        blocks, n_rows = [], 0
        for block in self.blocks(columns, id_column, coding):
            blocks.append(block)
            n_rows += len(block.values)
            tell(self.share(), f"{n_rows:,} rows")
        if not blocks:
            raise EmptyTableError(f"{self.name} has no rows.")
        values = np.concatenate([block.values for block in blocks])
        ids = [cell for block in blocks for cell in block.ids or []] if id_column else None
        return replace(blocks[0], values=values, ids=ids)

    @contextmanager
    def named_errors(self) -> Iterator[None]:
        """Put the name of the file in front of errors about columns."""
        try:
            yield
        except ValueError as error:
            raise ValueError(f"{self.name}: {error}") from error
