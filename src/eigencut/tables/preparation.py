"""Scale columns, fill gaps and turn words into coordinates: ``learn_preparation``, ``apply``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigencut._utils.arrays import Array, rounded
from eigencut._utils.json_ready import Printed
from eigencut._utils.running import advance, stage, warn_user
from eigencut._utils.validation import needed
from eigencut.affinities import Landmarks
from eigencut.auto.policy import POLICY as AUTO_POLICY
from eigencut.exceptions import ModelFileError, invalid, printable, shortened
from eigencut.io.column_kinds import KINDS, NUMERIC, Kind, quoted, shown_word
from eigencut.io.rows import Rows
from eigencut.io.sample import RowSample, summed_weights
from eigencut.io.state_reader import StateReader
from eigencut.io.table import Coding, Table
from eigencut.tables.categories import POLICY, Categories, MixedProducts, WordPlaces

Mask = NDArray[np.bool_]
ARRAYS = ("shift", "scale", "fill", "floor", "means", "missing_shares", "constant")
UNITS = ("auto", "standard", "robust", "minmax", "none")
NORMAL_RANGE = 1.349  # between the quartiles of the standard normal distribution
FILLS = ("mean", "median")  # values of ``missing`` that fill gaps
MISSING = ("refuse", "drop", *FILLS)


@dataclass(frozen=True)
class Preparation:
    """What a fit learned about the columns: kinds, shift and scale, and values for gaps."""

    columns: list[str]
    units: str
    missing: str
    shift: Array
    scale: Array
    fill: Array
    kinds: tuple[Kind, ...]
    floor: Array
    means: Array
    missing_shares: Array
    constant: Array
    categories: Categories | None = None

    @classmethod
    def nothing(cls, columns: Sequence[str]) -> Preparation:
        """Return a preparation that leaves numeric columns unchanged."""
        zeros, ones = np.zeros(len(columns)), np.ones(len(columns))
        kinds, more = (NUMERIC,) * len(columns), (zeros,) * 4
        return cls(list(columns), "none", "refuse", zeros, ones, zeros, kinds, *more)

    @property
    def is_scaled(self) -> Mask:
        """Return which columns become one scaled number; words become coordinates instead."""
        return np.array([kind.is_scaled for kind in self.kinds], dtype=bool)

    @property
    def is_numeric(self) -> bool:
        """Return whether all columns hold numbers."""
        return all(kind.name == "numeric" for kind in self.kinds)

    @property
    def width(self) -> int:
        """Return the number of columns of prepared rows."""
        of_words = 0 if self.categories is None else self.categories.points.shape[1]
        return int(self.is_scaled.sum()) + of_words

    def affinity_for_stream(self, model: Any) -> Any:
        """Return the affinity for a fit on a stream: with words, landmarks instead of "auto"."""
        is_auto = isinstance(model.affinity, str) and model.affinity == "auto"
        if self.categories is None or not (is_auto and model.solver == "auto"):
            return model.affinity
        K = model.n_clusters if isinstance(model.n_clusters, Integral) else 1
        return Landmarks(AUTO_POLICY.wide_landmarks_for(int(K)), metric=model.metric or "euclidean")

    def coding(self) -> Coding:
        """Return a coding that reads other tables with the columns and kinds of the fit."""
        return Coding(dict(zip(self.columns, self.kinds, strict=True)), self.columns)

    def apply(self, X: Any) -> tuple[Array, Mask]:
        """Return the complete rows of a table, prepared, and a mask of the complete rows."""
        table = Table.from_data(X, self.columns, self.coding())
        table = with_ranks(table, is_strict=self.missing == "refuse")
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
        if self.missing in FILLS:
            values = np.where(np.isnan(values), fill, values)
        with np.errstate(over="ignore"):
            scaled = (logged(values, self.floor[chosen]) - shift) / scale
        largest = np.finfo(np.float64).max
        return np.clip(scaled, -largest, largest)

    def in_units(self, scaled: Array) -> Array:
        """Return scaled numbers in the original units of their columns."""
        chosen = self.is_scaled
        return unlogged(scaled * self.scale[chosen] + self.shift[chosen], self.floor[chosen])

    def stream(self, rows: Rows) -> Rows:
        """Return a stream of the complete rows of a stream, prepared."""

        def prepared_block(table: Table) -> Any:
            values, complete = self.apply(table)
            return values if table.weight is None else (values, table.weight[complete])

        blocks = lambda: map(prepared_block, rows.tables(self.coding()))  # noqa: E731
        prepared = Rows(blocks, weighted=rows.is_weighted)
        prepared.n_features = self.width
        return prepared


def with_ranks(table: Table, is_strict: bool) -> Table:
    """Return a table with ranks of ordered words; unknown words become NaN, or raise an error."""
    ordered = [j for j, name in enumerate(table.names) if table.kind(name).name == "ordered"]
    values = table.values.copy() if ordered else table.values
    for j in ordered:
        name, order = table.names[j], table.kind(table.names[j]).order
        rank_of = {word: float(rank) for rank, word in enumerate(order)}
        values[:, j] = table.numbers_of_words(name, rank_of, unknown=np.nan)
        is_other = np.isnan(values[:, j]) & ~np.isnan(table.values[:, j])
        if is_strict and is_other.any():
            row = int(np.argmax(is_other))
            word = list(table.words(name))[int(table.values[row, j])]
            got = f"{shown_word(word)} in {table.place(row)}"
            remedy = "correct it, or give an order with it"
            raise invalid(f"Column {name!r}", f"hold {' < '.join(order)}", got, remedy)
    return replace(table, values=values)


def complete_rows(table: Table, missing: str) -> Mask:
    """Return a mask of the rows to use: all if gaps are filled in, else those without gaps."""
    is_missing = np.isnan(table.values)
    if missing in FILLS:
        return np.ones(len(is_missing), dtype=bool)
    if missing == "refuse" and is_missing.any():
        names = [table.names[i] for i in np.flatnonzero(is_missing.any(axis=0))]
        row, column = (int(places[0]) for places in np.nonzero(is_missing))
        where = f", column {table.names[column]!r}" if len(names) > 1 else ""
        got = f"some in {quoted(names)}, first in {table.place(row)}{where}"
        remedy = (
            "fit with missing 'drop', 'mean' or 'median' (on the command line: --missing median)"
        )
        raise invalid("The table", "have no missing values (NaN)", got, remedy)
    return np.asarray(~is_missing.any(axis=1))


def refuse_infinite(table: Table) -> None:
    """Raise an error that names the column and row of an infinite number."""
    row, column = np.nonzero(np.isinf(table.values))
    if len(row):
        got = f"infinity in {table.names[column[0]]!r}, {table.place(row[0])}"
        raise invalid("The table", "hold finite numbers", got, "correct or drop it")


def preparation_state(preparation: Preparation) -> dict[str, Any]:
    """Return the state for a model file; without kinds if all are numeric, as in old files."""
    state: dict[str, Any] = {name: getattr(preparation, name) for name in ("columns", *ARRAYS)}
    if all(kind == NUMERIC for kind in preparation.kinds):
        return state
    state["kinds"] = [
        {"kind": kind.name, "order": list(kind.order), "given": kind.is_given}
        for kind in preparation.kinds
    ]
    points = preparation.categories
    of_words = () if points is None else points.columns
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
    """Return a preparation from its state, for a model of rows of ``n_features`` numbers."""
    kinds = (NUMERIC,) * n_features
    if "kinds" in state:
        kinds = tuple(_kind(part) for part in state.parts("kinds"))
    columns = state.words("columns", len(kinds))
    shape = (len(kinds),)
    arrays = {  # old files lack the last four
        name: np.zeros(shape)
        if name in ARRAYS[3:] and name not in state
        else state.coordinates(name, shape)
        for name in ARRAYS
    }
    arrays["floor"] = np.maximum(arrays["floor"], 0.0)
    if (arrays["scale"] <= 0).any():
        raise ValueError("scale must be positive.")
    with_words = [c for c, kind in zip(columns, kinds, strict=True) if not kind.is_scaled]
    points = _categories(state, with_words, missing) if with_words else None
    found = Preparation(
        columns=columns, units=units, missing=missing, kinds=kinds, categories=points, **arrays
    )
    if found.width != n_features:
        raise ModelFileError("columns and words must make rows of the width of the model.")
    return found


def _kind(part: StateReader) -> Kind:
    name, order = part.word("kind", KINDS), tuple(part.words("order"))
    if "unit" in part:  # in older files, for dates
        part.word("unit", ("days",))
    if (name == "ordered") != (len(order) > 1):
        raise ModelFileError("kinds.order must be two or more words of an ordered column.")
    return Kind(name, order, part.flag("given"))


def _categories(state: StateReader, columns: list[str], missing: str) -> Categories:
    described = [
        (part.word("column", tuple(columns)), tuple(part.words("words")), part.integer("n_rare", 0))
        for part in state.parts("words")
    ]
    if [column for column, _, _ in described] != columns:
        raise ModelFileError("words must be those of each column of words.")
    sizes = [len(words) + (n_rare > 0) for _, words, n_rare in described]
    shares = state.array("shares", (sum(sizes),), least=0.0, most=1.0)
    split = np.split(shares, np.cumsum(sizes)[:-1])
    points = state.array("points", (sum(sizes) + len(sizes), None))
    places = tuple(WordPlaces(*of, p) for of, p in zip(described, split, strict=True))
    return Categories(places, points, missing == "mean")


def restored_table(preparation: Preparation, rows: Array) -> Table:
    """Return a table from prepared rows: the inverse of ``apply``, as far as possible."""
    coding = Coding(dict(zip(preparation.columns, preparation.kinds, strict=True)))
    values = np.empty((len(rows), len(preparation.columns)))
    is_scaled = preparation.is_scaled
    n_scaled = int(is_scaled.sum())
    values[:, is_scaled] = preparation.in_units(rows[:, :n_scaled])
    for j, (name, kind) in enumerate(zip(preparation.columns, preparation.kinds, strict=True)):
        if kind.name == "ordered":
            coding.words[name] = {word: rank for rank, word in enumerate(kind.order)}
            values[:, j] = np.clip(np.rint(values[:, j]), 0, len(kind.order) - 1)
    if preparation.categories is not None:
        points, first, corner = rows[:, n_scaled:], 0, 0
        for column in preparation.categories.columns:
            n = column.n_places  # the nearest corner tells the word of a row
            own = preparation.categories.points[first : first + n + 1, corner : corner + n]
            apart = points[:, np.newaxis, corner : corner + n] - own
            places = np.square(apart).sum(axis=2).argmin(axis=1)
            first, corner = first + n + 1, corner + n
            words = [*column.words, "\0"]  # stands for all words without a place of their own
            coding.words[column.column] = {word: place for place, word in enumerate(words)}
            at = preparation.columns.index(column.column)
            values[:, at] = np.minimum(places, len(column.words))
    return Table(tuple(preparation.columns), values, coding=coding)


@dataclass(frozen=True)
class ColumnStatistics:
    """Moments and extremes of each column, without its missing values."""

    n_rows: float
    count: Array
    mean: Array
    squares: Array  # the sum of squared deviations from the mean
    cubes: Array
    low: Array
    high: Array

    @classmethod
    def measure(cls, values: Array, weight: Array | None = None) -> ColumnStatistics:
        """Compute the statistics; without missing values, mean and std equal numpy's exactly."""
        is_there = ~np.isnan(values)
        total: Callable[[Array], Array]
        if weight is None:
            where: Any = True if is_there.all() else is_there
            n_rows, count = float(len(values)), is_there.sum(axis=0).astype(np.float64)
            total = lambda each: np.sum(each, axis=0, where=where)  # noqa: E731
        else:
            values = np.where(is_there, values, 0.0)
            times = np.where(is_there, weight[:, np.newaxis], 0.0)
            where, n_rows, count = times > 0, float(weight.sum()), times.sum(axis=0)
            total = lambda each: (times * each).sum(axis=0)  # noqa: E731
        with np.errstate(over="ignore", invalid="ignore"):
            mean = total(values) / np.where(count > 0, count, 1.0)
            squares, cubes = total(np.square(values - mean)), total((values - mean) ** 3)
        low = np.min(values, axis=0, where=where, initial=np.inf)
        high = np.max(values, axis=0, where=where, initial=-np.inf)
        return cls(n_rows, count, mean, squares, cubes, low, high)

    def merged(self, other: ColumnStatistics) -> ColumnStatistics:
        """Return the statistics of two sets of rows together (Chan, Golub and LeVeque, 1983)."""
        count = self.count + other.count
        share = other.count / np.where(count > 0, count, 1.0)
        own_share = np.where(count > 0, 1 - share, 0.0)
        with np.errstate(over="ignore", invalid="ignore"):
            lead = other.mean - self.mean
            mean = self.mean + lead * share
            squares = self.squares + other.squares + lead**2 * (self.count * share)
            cubes = self.cubes + other.cubes + lead**3 * self.count * share * (own_share - share)
            cubes = cubes + 3 * lead * (own_share * other.squares - share * self.squares)
        low, high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        return ColumnStatistics(self.n_rows + other.n_rows, count, mean, squares, cubes, low, high)

    def with_values(self, value: Array, times: Array) -> ColumnStatistics:
        """Return the statistics with a further value in each column, repeated ``times`` times."""
        low, high = (np.where(times > 0, value, none) for none in (np.inf, -np.inf))
        zeros = np.zeros(len(value))
        return self.merged(ColumnStatistics(0, times, value, zeros, zeros, low, high))

    @property
    def deviation(self) -> Array:
        with np.errstate(invalid="ignore"):
            return np.sqrt(self.squares / self.count)

    @property
    def skewness(self) -> Array:
        """The skewness of each column; NaN for constant columns."""
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            return np.asarray(self.cubes / self.count / self.deviation**3)


def log_of_positive(values: Array) -> Array:
    """Return the logarithms of positive values, and NaN for others."""
    return np.log(values, where=values > 0, out=np.full(values.shape, np.nan))


def logged(values: Array, floor: Array) -> Array:
    """Return the logarithm of columns with a floor above 0; below the floor, its tangent there."""
    if not floor.any():
        return values
    safe = np.where(floor > 0, floor, 1.0)
    with np.errstate(over="ignore"):
        tangent = np.log(safe) + (values - safe) / safe
    found = np.where(values < safe, tangent, np.log(np.maximum(values, safe)))
    return np.where(floor > 0, found, values)


def unlogged(values: Array, floor: Array) -> Array:
    """Return the inverse of ``logged``."""
    if not floor.any():
        return values
    safe = np.where(floor > 0, floor, 1.0)
    start, largest = np.log(safe), float(np.log(np.finfo(np.float64).max))
    above = np.exp(np.clip(values, start, largest))
    found = np.where(values < start, safe * (1 + values - start), above)
    return np.where(floor > 0, found, values)


def heavy_tails(
    statistics: ColumnStatistics, logs: ColumnStatistics, is_number: Mask
) -> tuple[Array, ColumnStatistics]:
    """Find columns with a long tail; return floors for ``logged`` (0: none), and new statistics."""
    n_zeros = statistics.count - logs.count  # in columns without negative numbers
    least = np.where(logs.count > 0, logs.low, 0.0)
    logs = logs.with_values(least - 1, n_zeros)  # the tangent at the floor gives this for 0
    with np.errstate(invalid="ignore"):
        is_heavy = (statistics.skewness > POLICY.skewed) & (statistics.low >= 0) & is_number
        is_heavy &= np.abs(logs.skewness) < POLICY.mended * statistics.skewness
    both = {
        part.name: np.where(is_heavy, getattr(logs, part.name), getattr(statistics, part.name))
        for part in fields(statistics)
        if part.name != "n_rows"
    }
    return np.where(is_heavy, np.exp(least), 0.0), replace(statistics, **both)


def learn_preparation(
    source: Table | Rows, units: str, missing: str, columns: Any = None
) -> Preparation:
    """Learn the preparation in one pass over a table or stream, and a second one for words."""
    is_stream = isinstance(source, Rows)
    tables: Any = source.tables if isinstance(source, Rows) else (lambda coding: [source])
    parts: list[Any] = []  # statistics of values and their logarithms, and a sample for quantiles
    counts, last = _Counts(), None
    with stage("units"):
        for table in tables(Coding(columns=columns)):
            refuse_infinite(table)
            last = with_ranks(table, is_strict=True)
            complete = complete_rows(last, missing)
            values, weight = last.values[complete], _weight_of(table, complete)
            found: list[Any] = [
                ColumnStatistics.measure(values, weight),
                ColumnStatistics.measure(log_of_positive(values), weight),
            ]
            if units == "robust" or (missing == "median" and (is_stream or weight is not None)):
                size = POLICY.sampled_rows if is_stream else max(len(values), 1)
                found.append(RowSample.draw(values, weight, size=size, seed=0))
            parts = [a.merged(b) for a, b in zip(parts, found, strict=True)] if parts else found
            counts.add(last, complete)
            advance(counts.n_seen, None, "rows")
    assert last is not None  # a stream has at least one row
    statistics, logs, *samples = parts
    means, fill = statistics.mean, np.zeros(len(last.names))
    if missing in FILLS:
        _refuse_empty(last.names, statistics.count == 0, missing)
        fill = means
        if missing == "median":
            is_whole = not is_stream and last.weight is None
            fill = np.nanmedian(last.values, 0) if is_whole else _quantiles(last, samples[0], 0.5)
        n_missing, log = statistics.n_rows - statistics.count, log_of_positive(fill)
        statistics = statistics.with_values(fill, n_missing)
        logs = logs.with_values(np.nan_to_num(log), np.where(np.isnan(log), 0.0, n_missing))
    if statistics.n_rows == 0:
        remedy = "fit with missing 'mean' or 'median'"
        raise invalid("The table", "have rows without missing values", "none", remedy)
    kinds = tuple(last.kind(name) for name in last.names)
    shift, width, floor = np.zeros(len(kinds)), np.ones(len(kinds)), np.zeros(len(kinds))
    if units == "auto":
        is_number = np.array([kind.name == "numeric" for kind in kinds], dtype=bool)
        floor, statistics = heavy_tails(statistics, logs, is_number)
    if units in ("auto", "standard"):
        shift, width = statistics.mean, statistics.deviation / _weights(units, kinds)
    elif units == "robust":
        low, shift, high = (_quantiles(last, samples[0], share) for share in (0.25, 0.5, 0.75))
        width = np.where(high > low, (high - low) / NORMAL_RANGE, statistics.deviation)
    elif units == "minmax":
        with np.errstate(over="ignore"):
            shift, width = statistics.low, statistics.high - statistics.low
    is_scaled = np.array([kind.is_scaled for kind in kinds], dtype=bool)
    is_finite = np.isfinite(shift) & np.isfinite(width)
    unscalable = [last.names[j] for j in np.flatnonzero(is_scaled & ~is_finite)]
    if unscalable:
        expected = f"hold numbers whose squares are finite for scale={units!r}"
        got, remedy = f"larger ones in {quoted(unscalable)}", "divide them, or use scale 'none'"
        raise invalid("Columns", expected, got, remedy)
    # The deviation of a constant column can be a rounding error, and that of tiny numbers 0.
    is_constant = (statistics.low == statistics.high) | (width <= 0)
    width = np.where(is_constant | ~is_scaled, 1.0, width)
    shares = np.asarray(counts.missing / max(counts.n_rows, 1.0))
    for name, share in zip(last.names, shares, strict=True):
        if share >= POLICY.much_missing:
            filled = f"the {missing} was filled in, and these rows may become a cluster"
            done = filled if missing in FILLS else "rows without it were left out"
            warn_user(
                f"{share:.0%} of column {name!r} is missing; {done}. Drop the column, or fill in "
                "better values."
            )
    preparation = Preparation(
        columns=list(last.names),
        units=units,
        missing=missing,
        shift=rounded(np.where(is_scaled, shift, 0.0), width),
        scale=rounded(width, width),
        fill=np.where(is_scaled, rounded(fill, width) if missing == "mean" else fill, 0.0),
        kinds=kinds,
        floor=floor,
        means=np.where(is_scaled & np.isfinite(means), means, 0.0),
        missing_shares=shares,
        constant=(is_constant & is_scaled).astype(np.float64),
    )
    with stage("words"):
        return _with_words(preparation, statistics, counts, tables)


def _weights(units: str, kinds: Sequence[Kind]) -> Array:
    """Return the standard deviation that each column is scaled to: less for ordered words."""
    is_less = [units == "auto" and kind.name == "ordered" for kind in kinds]
    return np.where(is_less, POLICY.order, 1.0)


@dataclass
class _Counts:
    """How often the words of each column occur in complete rows, and the missing values."""

    n_seen: int = 0
    n_rows: float = 0.0  # or the sum of their weights
    of: dict[str, dict[str, float]] = field(default_factory=dict)
    missing: Array | float = 0.0  # the number of missing values in each column, in all rows

    def add(self, table: Table, complete: Any) -> None:
        for j, name in enumerate(table.names):
            if table.kind(name).is_scaled:
                continue
            there = complete & ~np.isnan(table.values[:, j])
            times = summed_weights(table.values[there, j].astype(np.intp), _weight_of(table, there))
            counts = self.of.setdefault(name, {})
            for word, count in zip(table.words(name), times.tolist(), strict=False):
                counts[word] = counts.get(word, 0.0) + count
        each = np.ones(len(table.values)) if table.weight is None else table.weight
        self.missing = self.missing + each @ np.isnan(table.values)
        self.n_seen += len(table.values)
        self.n_rows += float(each.sum())


def _with_words(
    preparation: Preparation,
    statistics: ColumnStatistics,
    counts: _Counts,
    tables: Callable[[Coding], Iterable[Table]],
) -> Preparation:
    """Return the preparation with points for words, for which the tables are read again."""
    if not counts.of:
        return preparation
    indicators = Categories.indicators(_places(preparation, counts), preparation.missing == "mean")
    chosen = preparation.is_scaled
    spread = np.where(statistics.low == statistics.high, 0.0, statistics.deviation)
    width = np.where(chosen & (spread > 0), spread, 1.0)
    standard = replace(
        preparation,
        shift=rounded(np.where(chosen, statistics.mean, 0.0), width),
        scale=rounded(width, width),
    )
    products = MixedProducts()
    for table in tables(preparation.coding()):
        numbers, complete = standard.apply(table)
        places = indicators.places(table)[complete]
        products.add(numbers, places, len(indicators.points), _weight_of(table, complete))
    vectors = products.factors(indicators)
    varies = chosen & (spread > 0)
    width = preparation.scale * _weights(preparation.units, preparation.kinds)
    unit = np.mean((spread / width)[varies]) if varies.any() else np.float64(1.0)
    return replace(
        preparation, categories=indicators.with_factors(vectors, float(rounded(unit, unit)))
    )


def _places(preparation: Preparation, counts: _Counts) -> list[WordPlaces]:
    """Return the places of words by column; raise an error for too many different words."""
    found, most = [], min(POLICY.most_words, max(10, int(counts.n_rows / 3)))
    for name, times in counts.of.items():
        seen = {word: count for word, count in times.items() if count}
        kind = preparation.kinds[preparation.columns.index(name)]
        if len(seen) > most and not kind.is_given:
            expected = f"hold numbers, or at most {most} different words "
            expected += f"in {counts.n_rows:.10g} rows"
            got = f"{len(seen)} ({next(iter(times))!r})"
            remedy = "drop it, or say that it is categorical"
            inside = [mark for mark in (",", ";", "\t", "|") if mark in name]
            if inside and len(preparation.columns) == 1:  # a header that was not split
                remedy = f"read the table with delimiter {inside[0]!r}, {remedy}"
            raise invalid(f"Column {name!r}", expected, got, remedy)
        found.append(WordPlaces.from_counts(name, seen, counts.n_rows))
    return found


def _weight_of(table: Table, chosen: Any) -> Array | None:
    return None if table.weight is None else table.weight[chosen]


def _quantiles(table: Table, sample: RowSample, share: float) -> Array:
    """Return a quantile of each column of a sample, in which identical rows are counted."""
    is_there = ~np.isnan(sample.rows)
    _refuse_empty(table.names, ~is_there.any(axis=0), "median")
    columns = zip(sample.rows.T, is_there.T, strict=True)
    how: dict[str, Any] = {"method": "inverted_cdf"}
    return np.array(
        [np.quantile(c[there], share, weights=sample.counts[there], **how) for c, there in columns]
    )


def _refuse_empty(names: Sequence[str], is_empty: Any, missing: str) -> None:
    empty = [name for name, found in zip(names, is_empty, strict=True) if found]
    if empty:
        expected = f"have some values to fill missing ones by their {missing}"
        raise invalid("Columns", expected, f"none in {quoted(empty)}", "drop them")


@dataclass(frozen=True)
class ColumnSummary:
    """What a preparation learned about a column; ``is_given``: the user gave its kind."""

    name: str
    kind: str
    is_given: bool
    detail: str
    is_logged: bool = False
    missing: float = 0.0
    mean: float | None = None


@dataclass(frozen=True, repr=False)
class TableSummary(Printed):
    """What a ``TableModel`` learned about its columns; prints as a table."""

    columns: tuple[ColumnSummary, ...]

    def to_dict(self) -> list[dict[str, Any]]:
        """Return a list of dicts for JSON, one for each column."""
        return [asdict(column) for column in self.columns]

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with a row for each column."""
        return needed("pandas", "pandas").DataFrame(self.to_dict())

    def __str__(self) -> str:
        lines = [("column", "kind", "found")]
        for column in self.columns:
            said = f"{column.detail} (the kind is given)" if column.is_given else column.detail
            name, said = printable(shortened(column.name)), printable(shortened(said, 300))
            lines.append((name, column.kind, said))
        first, second = (max(len(line[i]) for line in lines) for i in (0, 1))
        return "\n".join(f"{a:<{first}}  {b:<{second}}  {c}".rstrip() for a, b, c in lines)


def summarize_preparation(preparation: Preparation) -> TableSummary:
    """Return a summary of what a preparation learned about each column."""
    points = preparation.categories
    words = {} if points is None else {column.column: column for column in points.columns}
    found = []
    for j, (name, kind) in enumerate(zip(preparation.columns, preparation.kinds, strict=True)):
        detail = _of_words(words[name]) if name in words else _of_units(preparation, j)
        share = float(preparation.missing_shares[j])
        if share:
            detail += f"; {share:.1%} missing"
        found.append(
            ColumnSummary(
                name=name,
                kind=kind.name,
                is_given=kind.is_given,
                detail=detail,
                is_logged=bool(preparation.floor[j] > 0),
                missing=share,
                mean=float(preparation.means[j]) if kind.is_scaled else None,
            )
        )
    return TableSummary(tuple(found))


def _of_words(column: WordPlaces) -> str:
    n_words, most = len(column.words), POLICY.listed_words
    found = ", ".join(column.words[:most])
    if n_words > most:
        found += f", ... ({n_words} in all)"
    if column.n_rare:
        rare = "1 rare word" if column.n_rare == 1 else f"{column.n_rare} rare words as one"
        found += f"; {rare}"
    return found.removeprefix("; ")


def _of_units(preparation: Preparation, j: int) -> str:
    """Return mean, deviation or range of a column of numbers or dates, as a text."""
    kind, shift, scale = preparation.kinds[j], preparation.shift[j], preparation.scale[j]
    mean, unit = _shown(preparation.means[j], kind), " days" if kind.name == "date" else ""
    if preparation.floor[j] > 0:
        usual = float(np.exp(shift))
        return f"mean {mean}; long tail, so the logarithm is used: around {usual:.4g}"
    if preparation.constant[j]:
        return f"always {mean}"
    if preparation.units == "minmax":
        found = f"from {_shown(shift, kind)} to {_shown(shift + scale, kind)}"
    elif preparation.units == "robust":
        spread = f"{NORMAL_RANGE * scale:.4g}{unit}"
        found = f"median {_shown(shift, kind)}, from quartile to quartile {spread}"
    elif preparation.units == "none":
        found = f"as it is, in{unit}" if unit else "as it is"
    else:
        weight = POLICY.order if kind.name == "ordered" and preparation.units == "auto" else 1.0
        found = f"mean {mean}, deviation {scale * weight:.4g}{unit}"
    return f"{' < '.join(kind.order)}; ranks: {found}" if kind.order else found


def _shown(number: float, kind: Kind) -> str:
    if kind.name != "date":
        return f"{number:.4g}"
    seconds = int(np.clip(number * 86_400.0, -6e10, 2.5e11))
    return str(np.datetime64(seconds, "s").astype("datetime64[D]"))
