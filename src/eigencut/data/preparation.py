"""What is done to the rows of a table before they are clustered: learned once, kept with a model.

A row of a table becomes a row for the model in three steps: the columns are found by name, missing
values are filled (or the row is left out), and ``(value - shift) / scale`` brings columns to
comparable units.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigencut.data.column_statistics import ColumnStatistics
from eigencut.data.rows import Rows
from eigencut.data.sample import RowSample
from eigencut.data.table import Table, quoted
from eigencut.runtime.arrays import Array
from eigencut.runtime.progress import advance, stage
from eigencut.runtime.validation import check_choice

Mask = NDArray[np.bool_]

# What is subtracted from a column, and what it is divided by.
UNITS: dict[str, Callable[[ColumnStatistics], tuple[Array, Array]]] = {
    "standard": lambda of: (of.mean, of.deviation),
    "minmax": lambda of: (of.low, of.width),
    "none": lambda of: (np.zeros(len(of.mean)), np.ones(len(of.mean))),
}
# What a missing value becomes, given the columns.
FILLS: dict[str, Callable[..., Any]] = {"mean": np.nanmean, "median": np.nanmedian}
MISSING = ("refuse", "drop", *FILLS)

_SAMPLED_ROWS = 1 << 16  # of a stream, for medians
_LARGEST = float(np.finfo(np.float64).max)


@dataclass(frozen=True)
class Preparation:
    """Columns, units and what is done about missing values.

    Attributes
    ----------
    columns : list of str
    units : {"standard", "minmax", "none"}
    missing : {"refuse", "drop", "mean", "median"}
    shift, scale, fill : arrays, one number for each column

    Examples
    --------
    >>> table = Table.of([[0.0, 5.0], [2.0, np.nan]])
    >>> preparation = Preparation.learn(table, "minmax", "mean")
    >>> preparation.apply(table)[0]
    array([[0., 0.], [1., 0.]])
    """

    columns: list[str]
    units: str
    missing: str
    shift: Array
    scale: Array
    fill: Array

    @classmethod
    def nothing(cls, columns: Sequence[str]) -> Preparation:
        """Columns by name; nothing is scaled or filled."""
        zeros, ones = np.zeros(len(columns)), np.ones(len(columns))
        return cls(list(columns), "none", "refuse", zeros, ones, zeros)

    @classmethod
    def learn(cls, table: Table, units: str, missing: str) -> Preparation:
        """Of a table in memory."""
        _refuse_infinite(table)
        fill = np.zeros(len(table.names))
        if missing in FILLS:
            _refuse_empty(table.names, np.isnan(table.values).all(axis=0), missing)
            fill = np.asarray(FILLS[missing](table.values, axis=0))
            if table.weight is not None:
                fill = _weighted_fill(table, missing)
        complete = _complete_rows(table, missing)
        weight = None if table.weight is None else table.weight[complete]
        statistics = ColumnStatistics.of(_filled(table, missing, fill)[complete], weight)
        return cls._of(table.names, units, missing, fill, statistics)

    @classmethod
    def learn_stream(cls, rows: Rows, units: str, missing: str) -> Preparation:
        """In one pass over the blocks of a stream.

        Means, deviations and ranges are those of all rows, up to rounding; medians are those of a
        sample of 65536 different rows that depends on neither their order nor on blocks.
        """
        names: tuple[str, ...] = ()
        statistics: ColumnStatistics | None = None
        sample: RowSample | None = None
        n_seen = 0
        with stage("units"):
            for table in rows.tables():
                names = table.names
                _refuse_infinite(table)
                complete = _complete_rows(table, missing)
                values = table.values[complete]
                weight = None if table.weight is None else table.weight[complete]
                found = ColumnStatistics.of(values, weight)
                statistics = found if statistics is None else statistics.merged(found)
                if missing == "median":
                    drawn = RowSample.of(values, weight, size=_SAMPLED_ROWS, seed=0)
                    sample = drawn if sample is None else sample.merged(drawn)
                n_seen += len(table.values)
                advance(n_seen, None, "rows")
        assert statistics is not None  # a stream has one row at least
        fill = np.zeros(len(names))
        if missing in FILLS:
            _refuse_empty(names, statistics.count == 0, missing)
            fill = statistics.mean if sample is None else _medians(names, sample)
            statistics = statistics.filled(fill)
        return cls._of(names, units, missing, fill, statistics)

    @classmethod
    def _of(
        cls,
        names: Sequence[str],
        units: str,
        missing: str,
        fill: Array,
        statistics: ColumnStatistics,
    ) -> Preparation:
        if statistics.n_rows == 0:
            raise ValueError(
                "The table must have rows without missing values. Got none; "
                "fit with missing 'mean' or 'median'."
            )
        shift, width = UNITS[units](statistics)
        unscalable = [
            name
            for name, a, b in zip(names, shift, width, strict=True)
            if not (np.isfinite(a) and np.isfinite(b))
        ]
        if unscalable:
            raise ValueError(
                f"Columns must hold numbers whose squares are finite for scale={units!r}. "
                f"Got larger ones in {quoted(unscalable)}; divide them, or use scale 'none'."
            )
        is_constant = statistics.low == statistics.high  # where a deviation can be rounding
        return cls(list(names), units, missing, shift, np.where(is_constant, 1.0, width), fill)

    @property
    def fills(self) -> bool:
        """Whether missing values are filled in."""
        return self.missing in FILLS

    def apply(self, X: Any) -> tuple[Array, Mask]:
        """Rows as the model wants them, without incomplete ones; and which rows are complete."""
        table = Table.of(X, self.columns)
        _refuse_infinite(table)
        complete = _complete_rows(table, self.missing)
        return self._scaled(_filled(table, self.missing, self.fill)[complete]), complete

    def stream(self, rows: Rows) -> Rows:
        """The rows of a stream as the model wants them, without incomplete ones."""

        def prepared_block(table: Table) -> Any:
            values, complete = self.apply(table)
            return values if table.weight is None else (values, table.weight[complete])

        blocks, is_weighted = lambda: map(prepared_block, rows.tables()), rows.is_weighted
        prepared = Rows(blocks, weighted=is_weighted)
        prepared.n_features = len(self.columns)
        return prepared

    def _scaled(self, values: Array) -> Array:
        with np.errstate(over="ignore"):
            scaled = (values - self.shift) / self.scale
        return np.clip(scaled, -_LARGEST, _LARGEST)


def check_preparation(scale: object, missing: object) -> None:
    """Refuse words that are no units, or no way to treat missing values."""
    check_choice("scale", scale, tuple(UNITS))
    check_choice("missing", missing, MISSING)


def _filled(table: Table, missing: str, fill: Array) -> Array:
    if missing not in FILLS:
        return table.values
    return np.where(np.isnan(table.values), fill, table.values)


def _complete_rows(table: Table, missing: str) -> Mask:
    """Which rows take part: all where values are filled in, else those without missing ones."""
    is_missing = np.isnan(table.values)
    if missing in FILLS:
        return np.ones(len(is_missing), dtype=bool)
    if missing == "refuse" and is_missing.any():
        names = [table.names[i] for i in np.flatnonzero(is_missing.any(axis=0))]
        row = int(np.flatnonzero(is_missing.any(axis=1))[0])
        raise ValueError(
            f"The table must have no missing values. Got some in {quoted(names)}, first in row "
            f"{row + table.first_row}; fit with missing 'drop', 'mean' or 'median'."
        )
    return np.asarray(~is_missing.any(axis=1))


def _medians(names: Sequence[str], sample: RowSample) -> Array:
    """Of each column of a sample, rows counting as often as they were seen."""
    is_there = ~np.isnan(sample.rows)
    _refuse_empty(names, ~is_there.any(axis=0), "median")
    columns = zip(sample.rows.T, is_there.T, strict=True)
    return np.array(
        [
            np.quantile(column[there], 0.5, weights=sample.counts[there], method="inverted_cdf")
            for column, there in columns
        ]
    )


def _weighted_fill(table: Table, missing: str) -> Array:
    """The mean of each column, or its median, rows counting as often as their weights say."""
    assert table.weight is not None
    if missing == "mean":
        return ColumnStatistics.of(table.values, table.weight).mean
    drawn = RowSample.of(table.values, table.weight, size=len(table.values), seed=0)
    return _medians(table.names, drawn)


def _refuse_infinite(table: Table) -> None:
    row, column = np.nonzero(np.isinf(table.values))
    if len(row):
        raise ValueError(
            "The table must hold finite numbers. Got infinity in "
            f"{table.names[column[0]]!r}, row {row[0] + table.first_row}; correct or drop it."
        )


def _refuse_empty(names: Sequence[str], is_empty: Any, missing: str) -> None:
    empty = [name for name, found in zip(names, is_empty, strict=True) if found]
    if empty:
        raise ValueError(
            f"Columns must have some values to fill missing ones by their {missing}. "
            f"Got none in {quoted(empty)}; drop them."
        )
