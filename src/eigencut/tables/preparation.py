"""What is done to the rows of a table before they are clustered: learned once, kept with a model.

A row of a table becomes a row for the model in four steps: the columns are found by name, missing
values are filled (or the row is left out), ``(value - shift) / scale`` brings columns of numbers,
dates and ordered words to comparable units, and other words become points (``data.categories``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.validation import check_choice
from eigencut.exceptions import ModelFileError, invalid
from eigencut.io.column_kinds import KINDS, NUMERIC, UNITS_OF_DATES, Kind, quoted, shown_word
from eigencut.io.rows import Rows
from eigencut.io.state_reader import StateReader
from eigencut.io.table import Coding, Table
from eigencut.tables.categories import Categories, WordPlaces

# Mean, deviation and range of columns, of a table in memory or of blocks of a longer one.


@dataclass(frozen=True)
class ColumnStatistics:
    """What is known of each column, missing values apart.

    Attributes
    ----------
    n_rows : float
        Rows, or what they count together.
    count : array
        The same of values that are not missing.
    mean, squares : arrays
        Their mean, and the sum of the squares of their differences from it.
    low, high : arrays

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0], [2.0], [np.nan], [6.0]])
    >>> found = ColumnStatistics.of(X[:2]).merged(ColumnStatistics.of(X[2:]))
    >>> float(found.mean[0]), float(found.squares[0]), float(found.high[0])
    (3.0, 14.0, 6.0)
    """

    n_rows: float
    count: Array
    mean: Array
    squares: Array
    low: Array
    high: Array

    @classmethod
    def of(cls, values: Array, weight: Array | None = None) -> ColumnStatistics:
        """Of some rows. Without missing values it has the bits of numpy's mean and std."""
        is_there = ~np.isnan(values)
        if weight is not None:
            return cls._weighted(values, weight[:, np.newaxis], is_there)
        where = True if is_there.all() else is_there
        count = is_there.sum(axis=0).astype(np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            mean = np.sum(values, axis=0, where=where) / np.maximum(count, 1.0)
            squares = np.sum(np.square(values - mean), axis=0, where=where)
        low = np.min(values, axis=0, where=where, initial=np.inf)
        high = np.max(values, axis=0, where=where, initial=-np.inf)
        return cls(len(values), count, mean, squares, low, high)

    @classmethod
    def _weighted(cls, values: Array, weight: Array, is_there: Any) -> ColumnStatistics:
        values = np.where(is_there, values, 0.0)
        each = np.where(is_there, weight, 0.0)
        count = each.sum(axis=0)
        with np.errstate(over="ignore", invalid="ignore"):
            mean = (each * values).sum(axis=0) / np.where(count > 0, count, 1.0)
            squares = (each * np.square(values - mean)).sum(axis=0)
        low = np.min(values, axis=0, where=each > 0, initial=np.inf)
        high = np.max(values, axis=0, where=each > 0, initial=-np.inf)
        return cls(float(weight.sum()), count, mean, squares, low, high)

    def merged(self, other: ColumnStatistics) -> ColumnStatistics:
        """Of the rows of both, as Chan, Golub and LeVeque (1983) merge means and squares."""
        count = self.count + other.count
        share = other.count / np.where(count > 0, count, 1.0)
        with np.errstate(over="ignore", invalid="ignore"):
            lead = other.mean - self.mean
            mean = self.mean + lead * share
            squares = self.squares + other.squares + lead**2 * (self.count * share)
        low, high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        return ColumnStatistics(self.n_rows + other.n_rows, count, mean, squares, low, high)

    def filled(self, fill: Array) -> ColumnStatistics:
        """Of the same rows, once a number per column stands for its missing values."""
        missing = self.n_rows - self.count
        bounds = (np.where(missing > 0, fill, bound) for bound in (self.low, self.high))
        return self.merged(ColumnStatistics(0, missing, fill, np.zeros(len(fill)), *bounds))

    @property
    def deviation(self) -> Array:
        with np.errstate(invalid="ignore"):
            return np.sqrt(self.squares / self.count)

    @property
    def width(self) -> Array:
        with np.errstate(over="ignore"):
            return self.high - self.low


Mask = NDArray[np.bool_]

# What is subtracted from a column, and what it is divided by.
UNITS: dict[str, Callable[[ColumnStatistics], tuple[Array, Array]]] = {
    "standard": lambda of: (of.mean, of.deviation),
    "minmax": lambda of: (of.low, of.width),
    "none": lambda of: (np.zeros(len(of.mean)), np.ones(len(of.mean))),
}
FILLS = ("mean", "median")  # what a missing value becomes
MISSING = ("refuse", "drop", *FILLS)

_LARGEST = float(np.finfo(np.float64).max)


@dataclass(frozen=True)
class Preparation:
    """Columns, what they hold, units and what is done about missing values.

    Attributes
    ----------
    columns : list of str
    units : {"standard", "minmax", "none"}
    missing : {"refuse", "drop", "mean", "median"}
    shift, scale, fill : arrays, one number for each column
        0, 1 and 0 for columns whose words become points.
    kinds : tuple of Kind
        One for each column.
    categories : Categories or None
        The points of words, where there are such columns.

    Examples
    --------
    >>> from eigencut.tables.learning import learn_preparation
    >>> table = Table.of(np.array([[0.0, 5.0], [2.0, np.nan]]))
    >>> learn_preparation(table, "minmax", "mean").apply(table)[0]
    array([[0., 0.], [1., 0.]])
    """

    columns: list[str]
    units: str
    missing: str
    shift: Array
    scale: Array
    fill: Array
    kinds: tuple[Kind, ...]
    categories: Categories | None = None

    @classmethod
    def nothing(cls, columns: Sequence[str]) -> Preparation:
        """Columns by name; nothing is scaled or filled."""
        zeros, ones = np.zeros(len(columns)), np.ones(len(columns))
        kinds = (NUMERIC,) * len(columns)
        return cls(list(columns), "none", "refuse", zeros, ones, zeros, kinds)

    @property
    def fills(self) -> bool:
        """Whether missing values are filled in."""
        return self.missing in FILLS

    @property
    def is_scaled(self) -> Mask:
        """Which columns become one number, in units."""
        return np.array([kind.is_scaled for kind in self.kinds], dtype=bool)

    @property
    def is_numeric(self) -> bool:
        """Whether all columns hold numbers."""
        return all(kind.name == "numeric" for kind in self.kinds)

    @property
    def width(self) -> int:
        """Columns of the rows for the model."""
        of_words = 0 if self.categories is None else self.categories.width
        return int(self.is_scaled.sum()) + of_words

    def affinity_for(self, affinity: Any) -> Any:
        """What a model is asked for: "mixed" instead of "auto" where there are words."""
        is_auto = isinstance(affinity, str) and affinity == "auto"
        return "mixed" if is_auto and self.categories is not None else affinity

    def coding(self) -> Coding:
        """Which columns of another table are read, and what they must hold."""
        return Coding(dict(zip(self.columns, self.kinds, strict=True)), self.columns)

    def apply(self, X: Any) -> tuple[Array, Mask]:
        """Rows as the model wants them, without incomplete ones; and which rows are complete."""
        table = with_ranks(Table.of(X, self.columns, self.coding()), self.missing == "refuse")
        refuse_infinite(table)
        complete = complete_rows(table, self.missing)
        found = self._scaled(table.values)[complete]
        if self.categories is not None:
            found = np.hstack([found, self.categories.apply(table)[complete]])
        return found, complete

    def _scaled(self, values: Array) -> Array:
        chosen = self.is_scaled
        shift, scale, fill = self.shift[chosen], self.scale[chosen], self.fill[chosen]
        values = values if chosen.all() else values[:, chosen]
        if self.fills:
            values = np.where(np.isnan(values), fill, values)
        with np.errstate(over="ignore"):
            scaled = (values - shift) / scale
        return np.clip(scaled, -_LARGEST, _LARGEST)

    def stream(self, rows: Rows) -> Rows:
        """The rows of a stream as the model wants them, without incomplete ones."""

        def prepared_block(table: Table) -> Any:
            values, complete = self.apply(table)
            return values if table.weight is None else (values, table.weight[complete])

        blocks = lambda: map(prepared_block, rows.tables(self.coding()))  # noqa: E731
        prepared = Rows(blocks, weighted=rows.is_weighted)
        prepared.n_features = self.width
        return prepared


def check_preparation(scale: object, missing: object) -> None:
    """Refuse words that are no units, or no way to treat missing values."""
    check_choice("scale", scale, tuple(UNITS))
    check_choice("missing", missing, MISSING)


def with_ranks(table: Table, is_strict: bool) -> Table:
    """A table whose ordered words are their ranks, from 0 on.

    A word that is not in the order is refused, or counts as missing if ``is_strict`` is False.
    """
    ordered = [j for j, name in enumerate(table.names) if table.kind(name).name == "ordered"]
    if not ordered:
        return table
    values = table.values.copy()
    for j in ordered:
        name = table.names[j]
        order = table.kind(name).order
        rank_of = {word: float(rank) for rank, word in enumerate(order)}
        ranks = np.array([*(rank_of.get(word, np.nan) for word in table.words(name)), np.nan])
        codes = table.values[:, j]
        at = np.where(np.isnan(codes), len(ranks) - 1, codes).astype(np.intp)
        is_other = np.isnan(ranks[at]) & ~np.isnan(codes)
        if is_strict and is_other.any():
            row = int(np.argmax(is_other))
            word = shown_word(list(table.words(name))[at[row]])
            got = f"{word} in {table.place(row)}"
            remedy = "correct it, or give an order with it"
            raise invalid(f"Column {name!r}", f"hold {' < '.join(order)}", got, remedy)
        values[:, j] = ranks[at]
    return replace(table, values=values)


def complete_rows(table: Table, missing: str) -> Mask:
    """Which rows take part: all where values are filled in, else those without missing ones."""
    is_missing = np.isnan(table.values)
    if missing in FILLS:
        return np.ones(len(is_missing), dtype=bool)
    if missing == "refuse" and is_missing.any():
        names = [table.names[i] for i in np.flatnonzero(is_missing.any(axis=0))]
        row, column = (int(places[0]) for places in np.nonzero(is_missing))
        where = f", column {table.names[column]!r}" if len(names) > 1 else ""
        raise ValueError(
            f"The table must have no missing values (NaN). Got some in {quoted(names)}, first in "
            f"{table.place(row)}{where}; fit with missing 'drop', 'mean' or 'median' "
            "(on the command line: --missing median)."
        )
    return np.asarray(~is_missing.any(axis=1))


def refuse_infinite(table: Table) -> None:
    """An error that names the column and row of an infinite number."""
    row, column = np.nonzero(np.isinf(table.values))
    if len(row):
        raise ValueError(
            "The table must hold finite numbers. Got infinity in "
            f"{table.names[column[0]]!r}, {table.place(row[0])}; correct or drop it."
        )


# A preparation as plain values and arrays for a file, and back, with suspicion.


def preparation_state(preparation: Preparation) -> dict[str, Any]:
    """What a file keeps; where all columns are numeric, as before there were other kinds."""
    state: dict[str, Any] = {
        "columns": preparation.columns,
        "shift": preparation.shift,
        "scale": preparation.scale,
        "fill": preparation.fill,
    }
    if all(kind == NUMERIC for kind in preparation.kinds):
        return state
    points = preparation.categories
    of_words = () if points is None else points.columns
    state["kinds"] = [
        {"kind": kind.name, "order": list(kind.order), "unit": kind.unit, "given": kind.is_given}
        for kind in preparation.kinds
    ]
    state["words"] = [
        {"column": column.column, "words": list(column.words), "n_rare": column.n_rare}
        for column in of_words
    ]
    if points is not None:
        state["shares"] = np.concatenate([column.shares for column in of_words])
        state["points"] = points.points
    return state


def restored_preparation(
    state: StateReader, units: str, missing: str, n_features: int
) -> Preparation:
    """A preparation from its state, for a model of rows of so many numbers."""
    kinds = _kinds(state) if "kinds" in state else (NUMERIC,) * n_features
    columns = state.words("columns", len(kinds))
    shape = (len(kinds),)
    shift, scale, fill = (state.coordinates(name, shape) for name in ("shift", "scale", "fill"))
    if (scale <= 0).any():
        raise ValueError("scale must be positive.")
    with_words = [c for c, kind in zip(columns, kinds, strict=True) if not kind.is_scaled]
    points = _categories(state, with_words, missing) if with_words else None
    found = Preparation(columns, units, missing, shift, scale, fill, kinds, points)
    if found.width != n_features:
        raise ModelFileError("columns and words must make rows of the width of the model.")
    return found


def _kinds(state: StateReader) -> tuple[Kind, ...]:
    found = []
    for part in _parts(state, "kinds"):
        name, unit = part.word("kind", KINDS), part.word("unit", UNITS_OF_DATES)
        order = _words(part, "order")
        if (name == "ordered") != (len(order) > 1):
            raise ModelFileError("kinds.order must be two or more words of an ordered column.")
        found.append(Kind(name, order, unit, part.flag("given")))
    return tuple(found)


def _categories(state: StateReader, columns: list[str], missing: str) -> Categories:
    parts = _parts(state, "words")
    described = [
        (part.word("column", tuple(columns)), _words(part, "words"), part.integer("n_rare", 0))
        for part in parts
    ]
    if [column for column, _, _ in described] != columns:
        raise ModelFileError("words must be those of each column of words.")
    sizes = [len(words) + (n_rare > 0) for _, words, n_rare in described]
    shares = state.array("shares", (sum(sizes),), least=0.0, most=1.0)
    split = np.split(shares, np.cumsum(sizes)[:-1])
    points = state.array("points", (sum(sizes) + len(sizes), None))
    places = tuple(WordPlaces(*of, p) for of, p in zip(described, split, strict=True))
    return Categories(places, points, "usual" if missing == "median" else "middle")


def _parts(state: StateReader, name: str) -> list[StateReader]:
    value = state.raw(name)
    if not isinstance(value, list):
        raise ModelFileError(f"{name} must be a list.")
    return [StateReader(item, name) for item in value]


def _words(part: StateReader, name: str) -> tuple[str, ...]:
    value = part.raw(name)
    return tuple(part.words(name, len(value) if isinstance(value, list) else 0))


def refuse_width(X: Any, n_columns: int, n_used: int) -> None:
    """An error for an array that has neither the columns of the fit nor those that were used."""
    found = np.shape(X)[1] if isinstance(X, np.ndarray) else n_columns
    if found not in (n_columns, n_used):
        raise ValueError(
            f"X has {found} features, but TableModel is expecting {n_columns} features as input; "
            "give it the columns of the fit."
        )


def sparse_rows(preparation: Any, X: Any) -> tuple[Any, NDArray[np.bool_]]:
    """Sparse rows for a model that takes rows as they are, all of them complete."""
    if preparation.units != "none" or not preparation.is_numeric:
        raise ValueError(
            "X must be a table for a model that was fitted on one. Got a sparse X; use X.toarray() "
            "with the columns of the fit, or fit GPOD on sparse rows."
        )
    return X, np.ones(X.shape[0], dtype=bool)


# Rows that a model keeps, back as a table: columns, units and words as they were.

_NO_WORD = "\0"  # which no column has: so a word without a place of its own


def restored_table(preparation: Preparation, rows: Array) -> Table:
    """The table that a preparation would make these rows of.

    Where rows are means of others, as landmarks are, a word is the nearest one. Words that share a
    place, and missing ones, become a word that was never seen.

    Examples
    --------
    >>> from eigencut.tables.learning import learn_preparation
    >>> table = Table.of(np.array([["Rome", 1.0], ["Oslo", 5.0]] * 9, dtype=object))
    >>> preparation = learn_preparation(table, "standard", "refuse")
    >>> rows, _ = preparation.apply(table)
    >>> np.allclose(preparation.apply(restored_table(preparation, rows))[0], rows)
    True
    """
    coding = Coding(dict(zip(preparation.columns, preparation.kinds, strict=True)))
    values = np.empty((len(rows), len(preparation.columns)))
    is_scaled = preparation.is_scaled
    n_scaled = int(is_scaled.sum())
    units = preparation.scale[is_scaled], preparation.shift[is_scaled]
    values[:, is_scaled] = rows[:, :n_scaled] * units[0] + units[1]
    for j, (name, kind) in enumerate(zip(preparation.columns, preparation.kinds, strict=True)):
        if kind.name == "ordered":
            coding.words[name] = {word: rank for rank, word in enumerate(kind.order)}
            values[:, j] = np.clip(np.rint(values[:, j]), 0, len(kind.order) - 1)
    if preparation.categories is not None:
        of_words = _nearest_places(preparation.categories, rows[:, n_scaled:])
        for column, places in zip(preparation.categories.columns, of_words, strict=True):
            words = [*column.words, _NO_WORD]
            coding.words[column.column] = {word: place for place, word in enumerate(words)}
            at = preparation.columns.index(column.column)
            values[:, at] = np.minimum(places, len(column.words))
    return Table(tuple(preparation.columns), values, coding=coding)


def _nearest_places(categories: Categories, points: Array) -> list[Indices]:
    """For each column of words the place of each row, by the corners that places have."""
    found, first, corner = [], 0, 0
    for column in categories.columns:
        n = column.n_places
        own = categories.points[first : first + n + 1, corner : corner + n]
        apart = points[:, np.newaxis, corner : corner + n] - own
        found.append(np.asarray(np.square(apart).sum(axis=2).argmin(axis=1)))
        first, corner = first + n + 1, corner + n
    return found


def refuse_other_kinds(own: Preparation, other: Preparation) -> None:
    """Raise an error where a table that was read for one model is not what the other one takes."""
    kinds = dict(zip(other.columns, other.kinds, strict=True))
    for name, kind in zip(own.columns, own.kinds, strict=True):
        held = kinds[name]
        if (kind.name, kind.order, kind.unit) != (held.name, held.order, held.unit):
            raise invalid(
                "X",
                "be a data frame where columns hold different things",
                f"{name!r}, which is {_shown_kind(kind)} in the model and {_shown_kind(held)} in "
                "the reference",
                "pass rows to compare labels on: align_labels(model, reference, frame)",
            )


def _shown_kind(kind: Kind) -> str:
    if kind.name == "ordered":
        return " < ".join(kind.order)
    return f"{kind.name} ({kind.unit})" if kind.name == "date" else kind.name
