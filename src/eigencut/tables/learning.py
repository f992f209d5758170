"""How the preparation of a table is learned: from rows in memory, or in passes over a stream."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from eigencut._utils.arrays import Array
from eigencut._utils.progress import advance, stage
from eigencut.io.column_kinds import quoted
from eigencut.io.rows import Rows
from eigencut.io.sample import RowSample, summed_weights
from eigencut.io.table import Coding, Table
from eigencut.tables.categories import Categories, MixedProducts, WordPlaces
from eigencut.tables.preparation import (
    FILLS,
    UNITS,
    ColumnStatistics,
    Preparation,
    complete_rows,
    refuse_infinite,
    with_ranks,
)

_SAMPLED_ROWS = 1 << 16  # of a stream, for medians
_MOST_FOUND = 256  # different words of a column of which nobody said that it is categorical


def learn_preparation(table: Table, units: str, missing: str) -> Preparation:
    """The preparation of a table in memory."""
    ranked = _checked(table)
    values = ranked.values
    fill = np.zeros(len(table.names))
    if missing in FILLS:
        _refuse_empty(table.names, np.isnan(values).all(axis=0), missing)
        usual: Callable[..., Any] = np.nanmean if missing == "mean" else np.nanmedian
        fill = np.asarray(usual(values, axis=0))
        if table.weight is not None:
            fill = _weighted_fill(ranked, missing)
        values = np.where(np.isnan(values), fill, values)
    complete = complete_rows(ranked, missing)
    counts = _Counts()
    counts.add(ranked, complete)
    statistics = ColumnStatistics.of(values[complete], _weight_of(table, complete))
    return _with_words(
        _of_numbers(ranked, units, missing, fill, statistics), counts, statistics, lambda: [table]
    )


def learn_preparation_from_stream(
    rows: Rows, units: str, missing: str, columns: Any = None
) -> Preparation:
    """The preparation of the rows of a stream: one pass over it, and a second if it has words.

    Means, deviations and ranges are those of all rows, up to rounding; medians are those of a
    sample of 65536 different rows that depends on neither their order nor on blocks.
    """
    statistics: ColumnStatistics | None = None
    sample: RowSample | None = None
    counts, last = _Counts(), None
    with stage("units"):
        for table in rows.tables(Coding(columns=columns)):
            last = _checked(table)
            complete = complete_rows(last, missing)
            values = last.values[complete]
            weight = _weight_of(table, complete)
            found = ColumnStatistics.of(values, weight)
            statistics = found if statistics is None else statistics.merged(found)
            if missing == "median":
                drawn = RowSample.of(values, weight, size=_SAMPLED_ROWS, seed=0)
                sample = drawn if sample is None else sample.merged(drawn)
            counts.add(last, complete)
            advance(counts.n_seen, None, "rows")
    assert statistics is not None and last is not None  # a stream has one row at least
    fill = np.zeros(len(last.names))
    if missing in FILLS:
        _refuse_empty(last.names, statistics.count == 0, missing)
        fill = statistics.mean if sample is None else _medians(last.names, sample)
        statistics = statistics.filled(fill)
    preparation = _of_numbers(last, units, missing, fill, statistics)
    with stage("words"):
        return _with_words(
            preparation, counts, statistics, lambda: rows.tables(preparation.coding())
        )


def _checked(table: Table) -> Table:
    refuse_infinite(table)
    return with_ranks(table, is_strict=True)


def _of_numbers(
    table: Table, units: str, missing: str, fill: Array, statistics: ColumnStatistics
) -> Preparation:
    """Everything but the points of words."""
    if statistics.n_rows == 0:
        raise ValueError(
            "The table must have rows without missing values. Got none; "
            "fit with missing 'mean' or 'median'."
        )
    kinds = tuple(table.kind(name) for name in table.names)
    shift, width = UNITS[units](statistics)
    is_scaled = np.array([kind.is_scaled for kind in kinds], dtype=bool)
    is_finite = np.isfinite(shift) & np.isfinite(width)
    unscalable = [table.names[j] for j in np.flatnonzero(is_scaled & ~is_finite)]
    if unscalable:
        raise ValueError(
            f"Columns must hold numbers whose squares are finite for scale={units!r}. "
            f"Got larger ones in {quoted(unscalable)}; divide them, or use scale 'none'."
        )
    is_constant = statistics.low == statistics.high  # where a deviation can be rounding
    return Preparation(
        list(table.names),
        units,
        missing,
        np.where(is_scaled, shift, 0.0),
        np.where(is_constant | ~is_scaled, 1.0, width),
        np.where(is_scaled, fill, 0.0),
        kinds,
    )


# ------------------------------------------------------------------------------------------- words


@dataclass
class _Counts:
    """How often the words of each column were seen, in complete rows; and by which table last."""

    n_seen: int = 0
    n_rows: float = 0.0  # or what they count together
    of: dict[str, Array] = field(default_factory=dict)
    table: Table | None = None

    def add(self, table: Table, complete: Any) -> None:
        self.table = table
        for j, name in enumerate(table.names):
            if not table.kind(name).is_scaled:
                there = complete & ~np.isnan(table.values[:, j])
                codes = table.values[there, j].astype(np.intp)
                times = summed_weights(codes, _weight_of(table, there))
                before = self.of.get(name, np.zeros(0))
                more = np.zeros(max(len(before), len(table.words(name))))
                more[: len(times)] += times
                more[: len(before)] += before
                self.of[name] = more
        self.n_seen += len(table.values)
        self.n_rows += len(table.values) if table.weight is None else float(table.weight.sum())

    def places(self) -> list[WordPlaces]:
        """Of each column of words; too many different words are refused by name."""
        found = []
        for name, times in self.of.items():
            assert self.table is not None
            seen = zip(self.table.words(name), times.tolist(), strict=False)
            counts = {word: count for word, count in seen if count}
            self._refuse_many(name, len(counts), self.table)
            found.append(WordPlaces.of(name, counts, self.n_rows))
        return found

    def _refuse_many(self, name: str, n_words: int, table: Table) -> None:
        most = min(_MOST_FOUND, max(10, int(self.n_rows / 3)))
        if table.kind(name).is_given or n_words <= most:
            return
        seen = repr(next(iter(table.words(name))))
        raise ValueError(
            f"Column {name!r} must hold numbers, or words of which there are at most {most} "
            f"different ones in {self.n_rows:.10g} rows. Got {n_words} ({seen}); drop it, or say "
            "that it is categorical."
        )


def _with_words(
    preparation: Preparation,
    counts: _Counts,
    statistics: ColumnStatistics,
    tables: Callable[[], Iterable[Table]],
) -> Preparation:
    """The preparation with points for words, if there are any; tables are read once more."""
    if not counts.of:
        return preparation
    fills = "usual" if preparation.missing == "median" else "middle"
    indicators = Categories.indicators(counts.places(), fills)
    chosen = preparation.is_scaled
    spread = np.where(statistics.low == statistics.high, 0.0, statistics.deviation)
    standard = replace(
        preparation,
        shift=np.where(chosen, statistics.mean, 0.0),
        scale=np.where(chosen & (spread > 0), spread, 1.0),
    )
    products = MixedProducts()
    for table in tables():
        numbers, complete = standard.apply(table)
        places = indicators.places(table)[complete]
        products.add(numbers, places, len(indicators.points), _weight_of(table, complete))
    vectors = products.factors(indicators)
    varies = chosen & (spread > 0)
    unit = float(np.mean((spread / preparation.scale)[varies])) if varies.any() else 1.0
    return replace(preparation, categories=indicators.with_factors(vectors, unit))


def _weight_of(table: Table, chosen: Any) -> Array | None:
    return None if table.weight is None else table.weight[chosen]


def _weighted_fill(table: Table, missing: str) -> Array:
    """The mean of each column, or its median, rows counting as often as their weights say."""
    assert table.weight is not None
    if missing == "mean":
        return ColumnStatistics.of(table.values, table.weight).mean
    drawn = RowSample.of(table.values, table.weight, size=len(table.values), seed=0)
    return _medians(table.names, drawn)


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


def _refuse_empty(names: Sequence[str], is_empty: Any, missing: str) -> None:
    empty = [name for name, found in zip(names, is_empty, strict=True) if found]
    if empty:
        raise ValueError(
            f"Columns must have some values to fill missing ones by their {missing}. "
            f"Got none in {quoted(empty)}; drop them."
        )
