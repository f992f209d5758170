"""Tables whose columns have names: numbers, and numbers that stand for words and dates."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

from eigencut._utils.arrays import Array, as_numpy
from eigencut.io.coding import Coding, OtherText
from eigencut.io.column_kinds import (
    NUMERIC,
    Kind,
    Words,
    date_number,
    numbers_of_dates,
    places,
    plain_names,
    present,
    refuse_duplicates,
    shown_word,
    word_of,
)

# Where rows of a table stand: in which line of which file.


class Lines:
    """The lines of the rows of a text file, kept as the places where rows and lines part.

    Rows count from 1, as lines do.

    Examples
    --------
    >>> lines = Lines()
    >>> lines.add(1, [2, 3, 7, 8])  # the third row is in line 7
    >>> lines.place(2), lines.place(4)
    ('line 3', 'line 8')
    """

    def __init__(self) -> None:
        self._rows: list[int] = []
        self._lines: list[int] = []

    def add(self, row: int, lines: Sequence[int] | range) -> None:
        """The lines of rows from this one on, which come after all others."""
        if not lines:
            return
        starts = [0]
        if not isinstance(lines, range):
            starts += (np.flatnonzero(np.diff(lines) != 1) + 1).tolist()
        for start in starts:
            self._rows.append(row + start)
            self._lines.append(lines[start])

    def place(self, row: int) -> str:
        """Where a row is, in words."""
        at = bisect_right(self._rows, row) - 1
        return f"line {self._lines[at] + row - self._rows[at]}"


class LinesOfFiles:
    """The same of several files that are one table.

    Examples
    --------
    >>> lines = LinesOfFiles(several=True)
    >>> lines.begin("a.csv", Lines(), 0)
    >>> lines.begin("b.parquet", None, 10)
    >>> lines.place(12)
    'row 2 of b.parquet'
    """

    def __init__(self, several: bool) -> None:
        self._several = several
        self._starts: list[int] = []
        self._files: list[tuple[str, Lines | LinesOfFiles | None]] = []

    def begin(self, name: str, lines: Lines | LinesOfFiles | None, n_before: int) -> None:
        """Rows after the first so many are of this file."""
        self._starts.append(n_before)
        self._files.append((name, lines))

    def place(self, row: int) -> str:
        """Where a row is, in words."""
        at = bisect_right(self._starts, row - 1) - 1
        name, lines = self._files[at]
        row -= self._starts[at]
        found = f"row {row}" if lines is None else lines.place(row)
        return f"{found} of {name}" if self._several else found


# Rows that are not in memory, in containers that numpy would silently gather.

_INSTEAD = {
    "dask": "on the cluster write eigencut.integrations.dask.fit(model, X), or predict, transform; "
    "if it fits in memory, X.compute()",
    "pyspark": "on the cluster write eigencut.spark.fit(model, X, columns), and then "
    "eigencut.spark.predict(model, X); if it fits in memory, X.toPandas()",
    "polars": "call .collect() first",
}


def refuse_lazy(X: Any) -> None:
    """An error with the line to write instead, for containers of Dask, Spark and polars.

    Examples
    --------
    >>> import dask.array
    >>> refuse_lazy(dask.array.ones((10, 2)))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: X must be rows in memory. Got a dask Array; on the cluster write ...
    """
    package, name = type(X).__module__.partition(".")[0], type(X).__name__
    package = {"dask_expr": "dask"}.get(package, package)
    if package in _INSTEAD and not (package == "polars" and name != "LazyFrame"):
        raise ValueError(f"X must be rows in memory. Got a {package} {name}; {_INSTEAD[package]}.")


# Columns of data frames and arrays as numbers: kinds are told by dtypes, then by contents.

_KINDS = {"b": Kind("boolean"), "M": Kind("date")}


def coded_column(coding: Coding, name: str, column: Any, first_row: int = 1) -> Array:
    """A column of pandas, polars, pyarrow or numpy as float64; missing values are NaN.

    The coding knows the kind of the column, or learns it; errors count rows from ``first_row``.

    Examples
    --------
    >>> coding = Coding()
    >>> coded_column(coding, "day", np.array(["1970-01-02", "NaT"], dtype="datetime64[D]"))
    array([ 1., nan])
    >>> coding.kinds["day"].name
    'date'
    """
    if str(getattr(column, "dtype", "")) == "category" and hasattr(column, "cat"):
        return _of_categories(coding, name, column, first_row)
    return _of_cells(coding, name, _cells(column), first_row)


def _of_categories(coding: Coding, name: str, column: Any, first_row: int) -> Array:
    """A column of pandas whose dtype lists its words, and may order them."""
    listed = list(column.cat.categories)
    kind = coding.kind(name)
    if kind is None:
        order = tuple(word_of(word) or "" for word in listed) if column.cat.ordered else ()
        is_order = len(order) > 1 and "" not in order and len(set(order)) == len(order)
        kind = coding.found(name, Kind("ordered", order) if is_order else Kind("categorical"))
    if not kind.has_words:
        return _of_cells(coding, name, np.asarray(column, dtype=object), first_row)
    return coding.words_of(name).codes_of(listed, column.cat.codes)


def _cells(column: Any) -> NDArray[Any]:
    """The cells as numpy has them, or as objects."""
    zone = getattr(getattr(column, "dtype", None), "tz", None)
    if zone is not None and hasattr(column, "dt"):  # of pandas, which would give objects
        column = column.dt.tz_convert("UTC").dt.tz_localize(None)
    if str(getattr(column, "type", "")).startswith("dictionary"):  # of pyarrow
        column = column.to_pylist()
        return np.array([*column, None], dtype=object)[:-1]  # None keeps numpy from guessing
    found = np.asarray(column)
    return found.astype(object) if found.dtype.kind in "US" else found


def _of_cells(coding: Coding, name: str, cells: NDArray[Any], first_row: int) -> Array:
    """Cells of any dtype as numbers."""
    kind = coding.kind(name)
    if cells.dtype.kind == "O":
        if any(isinstance(cell, str) for cell in cells):
            return _of_text(coding, name, cells, first_row)
        kind = kind or coding.found(name, _kind_of_objects(cells))
    kind = kind or coding.found(name, _KINDS.get(cells.dtype.kind, NUMERIC))
    if kind.has_words:
        return coding.words_of(name).codes(cells.tolist())
    if cells.dtype.kind in "mM":
        if (kind.name == "date") == (cells.dtype.kind == "M"):
            return numbers_of_dates(cells, kind.unit)
        raise _not_a(kind, name, cells.dtype)
    if kind.name == "date":
        return _numbers(name, kind, cells, first_row, lambda cell: date_number(cell, kind.unit))
    if cells.dtype.kind in "fiub":
        return cells.astype(np.float64)
    return _numbers(name, kind, cells, first_row, _number)


def _of_text(coding: Coding, name: str, cells: NDArray[Any], first_row: int) -> Array:
    """Cells some of which are text."""
    words = [cell if isinstance(cell, str) else word_of(cell) for cell in cells]
    try:
        found = coding.text(name, words)
    except OtherText as error:
        row = words.index(error.cell) + first_row
        kind = coding.kinds[error.column]
        raise _not_a(kind, name, f"{shown_word(error.cell)} in row {row}") from error
    return found


def _kind_of_objects(cells: NDArray[Any]) -> Kind:
    """The kind of cells none of which is text."""
    there = [cell for cell in cells if not _is_missing(cell)]
    if there and all(isinstance(cell, (bool, np.bool_)) for cell in there):
        return Kind("boolean")
    if there and all(isinstance(cell, (date, np.datetime64)) for cell in there):
        return Kind("date")
    return NUMERIC


def _numbers(name: str, kind: Kind, cells: Any, first_row: int, number: Any) -> Array:
    """Cells one by one; the first that is none is named."""
    found = np.empty(len(cells))
    for i, cell in enumerate(cells.tolist()):
        value = np.nan if _is_missing(cell) else number(cell)
        if value is None:
            error = _not_a(kind, name, f"{shown_word(str(cell))} in row {i + first_row}")
            if isinstance(cell, (dict, list, set, tuple)):  # what numpy has another error for
                raise TypeError(f"{error} (argument must be a string or a real number)")
            raise error
        found[i] = value
    return found


def _number(cell: Any) -> float | None:
    return float(cell) if isinstance(cell, (Real, Decimal)) else None


def _is_missing(cell: Any) -> bool:
    """None, NaN, and pandas' NA and NaT."""
    is_nan = isinstance(cell, float) and cell != cell
    return cell is None or is_nan or type(cell).__name__ in ("NAType", "NaTType")


def _not_a(kind: Kind, name: str, what: Any) -> ValueError:
    expected = "dates" if kind.name == "date" else "numbers"
    return ValueError(
        f"Column {name!r} must hold {expected}. Got {what}; correct it, drop the column, or say "
        "that it is categorical."
    )


@dataclass(frozen=True)
class Table:
    """Columns of numbers; NaN stands for a missing value.

    Examples
    --------
    >>> Table.of([[1.0, 2.0]]).names
    ('x1', 'x2')
    >>> table = Table.of(np.array([["Rome", 1.0], ["Oslo", 2.0]], dtype=object))
    >>> table.kind("x1").name, list(table.words("x1")), table.values[:, 0].tolist()
    ('categorical', ['Rome', 'Oslo'], [0.0, 1.0])
    """

    names: tuple[str, ...]
    values: NDArray[np.float64]
    first_row: int = 1  # its number, for errors: a table can be a piece of a longer one
    weight: NDArray[np.float64] | None = None  # what each row counts, if not 1
    coding: Coding | None = None  # what values mean that are not numbers of their own
    lines: Lines | LinesOfFiles | None = None  # where rows stand, in files of text

    @classmethod
    def of(
        cls,
        X: Any,
        needed: Sequence[str] | None = None,
        coding: Coding | None = None,
        first_row: int = 1,
    ) -> Table:
        """A table of a data frame, an array or a table.

        Parameters
        ----------
        X : data frame, array or Table
        needed : sequence of str, optional
            The columns of a model, which must be there. Default: all.
        coding : Coding, optional
            What columns hold, and which take part. Default: found out, and all.
        first_row : int
            The number of its first row, for errors.
        """
        if isinstance(X, Table):
            return X.choose(needed)
        refuse_lazy(X)
        coding = Coding() if coding is None else coding
        columns = _columns(X, needed)
        there = list(columns)
        names = coding.chosen(there) if needed is None else present(there, needed)
        is_plain = isinstance(X, np.ndarray) and X.dtype.kind in "fiu"
        if is_plain and not any(coding.kinds.get(name, NUMERIC) != NUMERIC for name in names):
            values = X.astype(np.float64)[:, places(names, there)]
            coding.kinds |= dict.fromkeys(names, NUMERIC)
        else:
            found = [coded_column(coding, name, columns[name], first_row) for name in names]
            values = np.column_stack(found) if found else np.empty((len(X), 0))
        return cls(tuple(names), values, first_row, coding=coding)

    def choose(self, needed: Sequence[str] | None) -> Table:
        """The needed columns in their order."""
        if needed is None or tuple(needed) == self.names:
            return self
        columns = places(present(self.names, needed), self.names)
        return replace(self, names=tuple(needed), values=self.values[:, columns])

    def place(self, row: int) -> str:
        """Where a row is, counted from 0: its line of a file of text, or its number from 1 on."""
        number = row + self.first_row
        return f"row {number}" if self.lines is None else self.lines.place(number)

    def kind(self, name: str) -> Kind:
        """What a column holds."""
        return NUMERIC if self.coding is None else self.coding.kinds.get(name, NUMERIC)

    def words(self, name: str) -> Words:
        """The words that the numbers of a column stand for."""
        assert self.coding is not None  # a kind with words comes from a coding
        return self.coding.words[name]


def as_table(X: Any, at_least: int = 1) -> Any:
    """What has columns as it is, and other things as a two-dimensional array, or an error."""
    if isinstance(X, Table) or hasattr(X, "columns"):
        return X
    refuse_lazy(X)
    how = {"dtype": None, "ensure_all_finite": False, "ensure_min_samples": at_least}
    return check_array(as_numpy(X), estimator="TableModel", input_name="X", **how)


def _columns(X: Any, needed: Sequence[str] | None) -> dict[str, Any]:
    """Columns by name, as they are; x1, x2, ... where they have none."""
    if hasattr(X, "columns"):
        of_arrow = getattr(X, "column_names", None)  # whose columns are not names
        given = of_arrow if isinstance(of_arrow, list) else list(X.columns)
        names = [str(name) for name in given]
        refuse_duplicates(names)
        return {name: X[label] for name, label in zip(names, given, strict=True)}
    values = np.asarray(X)
    if values.ndim != 2 or values.dtype.kind not in "fiubOUM":
        raise ValueError(
            "X must be a data frame or a two-dimensional array of numbers and words. "
            f"Got shape {values.shape} of {values.dtype}; convert it."
        )
    names_of_array = plain_names(values.shape[1])
    if needed is not None and len(needed) == values.shape[1]:
        names_of_array = tuple(needed)  # an array has no names: columns are known by place
    return dict(zip(names_of_array, values.T, strict=True))
