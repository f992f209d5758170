"""Columns as they were given: numbers, dates or categories, each with a name."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from eigencut._utils.arrays import Array, Indices
from eigencut.inspection.policy import POLICY
from eigencut.io.column_kinds import UNITS_OF_DATES, plain_names, refuse_duplicates
from eigencut.io.table import Table, refuse_lazy

_DAY = np.timedelta64(1, "D") / np.timedelta64(1, "us")


@dataclass(frozen=True)
class Column:
    """A column: numbers, dates (days since 1970), or codes of categories; missing: NaN, -1."""

    name: str
    kind: str  # "number", "date" or "category"
    values: NDArray[Any]
    categories: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, rows: Any) -> Column:
        return Column(self.name, self.kind, self.values[rows], self.categories)

    @property
    def is_missing(self) -> NDArray[np.bool_]:
        """Which rows have no value."""
        if self.kind == "category":
            return np.asarray(self.values < 0)
        return np.asarray(np.isnan(self.values))

    @property
    def names_rows(self) -> bool:
        """Whether it names rows instead of describing them."""
        n = len(self.categories)
        return n > POLICY.most_categories and 2 * n > len(self)

    def plain(self, value: Any) -> float | str | None:
        """Return a value as people write it: a number, the text of a date, or a category."""
        if self.kind == "category":
            return self.categories[int(value)] if value >= 0 else None
        if not np.isfinite(value):
            return None
        if self.kind == "number":
            return float(value)
        moment = np.datetime64(round(float(value) * _DAY), "us")
        is_day = moment == moment.astype("datetime64[D]")
        return str(moment.astype("datetime64[D]" if is_day else "datetime64[s]"))


def columns_of(
    X: Any, names: Sequence[str] | None = None, labels: Indices | None = None
) -> list[Column]:
    """Return the columns of a table or an array; of very many those that differ most by label."""
    refuse_lazy(X)
    if hasattr(X, "columns"):
        given = {str(name): name for name in X.columns}
        refuse_duplicates([str(name) for name in X.columns])
        return [_column(name, X[given[name]]) for name in (given if names is None else names)]
    if isinstance(X, Table) and X.coding is not None:
        return [_of_table(X, name) for name in (X.names if names is None else names)]
    if isinstance(X, Table):
        X, names = X.choose(names).values, X.names if names is None else names
    values: Any = X.tocsc() if issparse(X) else np.asarray(X)
    known = plain_names(values.shape[1]) if names is None else names
    chosen: Any = range(values.shape[1])
    if labels is not None and values.shape[1] > POLICY.most_columns:
        chosen = _telling(X if issparse(X) else values, labels)
    cells = (values[:, [j]].toarray()[:, 0] if issparse(X) else values[:, j] for j in chosen)
    return [_column(known[j], column) for j, column in zip(chosen, cells, strict=True)]


def _of_table(table: Table, name: str) -> Column:
    """Return a column of a table, whose numbers may stand for words and dates."""
    values, kind = table.values[:, table.names.index(name)], table.kind(name)
    if kind.has_words:
        words = tuple(table.words(name))
        order = sorted(range(len(words)), key=words.__getitem__)
        place = np.empty(len(words) + 1, dtype=np.intp)
        place[order], place[-1] = range(len(words)), -1
        codes = np.where(np.isnan(values), len(words), values).astype(np.intp)
        return Column(name, "category", place[codes], tuple(words[i] for i in order))
    if kind.name == "date":
        in_days = UNITS_OF_DATES[kind.unit] / UNITS_OF_DATES["days"]
        return Column(name, "date", values * in_days)
    return Column(name, "number", _finite(values))


def _column(name: str, given: Any) -> Column:
    values = np.asarray(given)
    if values.dtype.kind == "M":
        days = values.astype("datetime64[us]").astype(np.float64) / _DAY
        return Column(name, "date", np.where(np.isnat(values), np.nan, days))
    is_category = str(getattr(given, "dtype", "")).lower().startswith(("categor", "enum"))
    if values.dtype.kind in "fiu" and not is_category:
        return Column(name, "number", _finite(values.astype(np.float64)))
    if values.dtype == object and not is_category:
        with suppress(TypeError, ValueError):
            return Column(name, "number", _finite(np.array([_number(cell) for cell in values])))
    words = [None if _is_missing(cell) else str(cell) for cell in values.tolist()]
    categories = sorted({word for word in words if word is not None})
    place = {word: number for number, word in enumerate(categories)}
    codes = np.array([-1 if word is None else place[word] for word in words], dtype=np.intp)
    return Column(name, "category", codes, tuple(categories))


def _finite(values: Array) -> Array:
    """Infinities count as missing: they have no middle."""
    return np.where(np.isfinite(values), values, np.nan)


def _number(cell: Any) -> float:
    if isinstance(cell, (str, bytes, bool, np.bool_)):
        raise TypeError("a category")
    return np.nan if _is_missing(cell) else float(cell)


def _is_missing(cell: Any) -> bool:
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(cell, (float, np.floating)) and bool(np.isnan(cell))


def _telling(values: Any, labels: Indices) -> Indices:
    """Return the columns whose means differ most between clusters, relative to their spread."""
    inside = labels >= 0
    is_in = (labels[inside, np.newaxis] == np.arange(labels.max() + 1)).astype(np.float64)
    rows, count = values[np.flatnonzero(inside)], np.maximum(is_in.sum(axis=0), 1.0)
    n = max(1.0, float(inside.sum()))
    with np.errstate(over="ignore", invalid="ignore"):
        sums = np.asarray(rows.T @ is_in, dtype=np.float64)
        squares = rows.multiply(rows) if issparse(rows) else np.square(rows)
        total = np.asarray(squares.sum(axis=0), dtype=np.float64).reshape(-1)
        total = total - sums.sum(axis=1) ** 2 / n
        between = (sums**2 / count).sum(axis=1) - sums.sum(axis=1) ** 2 / n
        share = np.where(total > 0, between / np.where(total > 0, total, 1.0), 0.0)
    order = np.argsort(-np.nan_to_num(share), kind="stable")
    return np.sort(order[: POLICY.most_columns])
