"""Rows that a model keeps, back as a table: columns, units and words as they were."""

from __future__ import annotations

import numpy as np

from eigencut._utils.arrays import Array, Indices
from eigencut.io.categories import Categories
from eigencut.io.table import Coding, Table
from eigencut.tables.preparation import Preparation

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
