"""Words as coordinates, so that distances between rows know of them.

One part of a word's point is a corner of its own, as far from those of other words. The other part
is where a factor analysis of mixed data (Pages, 2004) puts it: words that come with similar values
of the other columns are near each other. With standardized numbers z, indicators h and shares p of
words,

    x = [z, (h - p) / sqrt(p)],    C = E[x x^T] = V diag(lambda) V^T
    w -> [corner e_w, factor sum of V over the entries of (h - p) / sqrt(p)]

of the factors that stand out: lambda above (1 + sqrt(D / n))^2, the edge of Marchenko and Pastur
(1967). A row's point is the sum of its words' points (``benchmarks/studies/mixed_tables.md``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import block_diag, eigh
from scipy.sparse import csr_array

from eigencut._utils.arrays import Array, Indices
from eigencut.io.table import Table


@dataclass(frozen=True)
class Policy:
    """How words become points, and how many words a column may have."""

    corner: float = 0.4  # the weight of a word's own corner, in deviations of a numeric column
    factor: float = 0.5  # the weight of its place among the factors
    most_factors: int = 32
    most_places: int = 64  # words of a column that have a place of their own
    frequent_rows: int = 10  # rows that make a word frequent; one in a hundred, if these are fewer
    most_words: int = 256  # of a column of which nobody said that it is categorical
    sampled_rows: int = 1 << 16  # of a stream, for quantiles
    listed_words: int = 6  # of a column, in a summary
    order: float = 0.5  # the weight of an ordered column, whose values leave gaps as words do
    skewed: float = 1.5  # a column of no negative number is logged above this skewness
    mended: float = 0.5  # if the logarithm has less than this share of it
    much_missing: float = 0.4  # from which share of missing values on a user is warned


POLICY = Policy()


@dataclass(frozen=True)
class WordPlaces:
    """The words of a column that have places of their own, sorted, and the share of each place."""

    column: str
    words: tuple[str, ...]
    n_rare: int
    shares: Array

    @classmethod
    def from_counts(cls, column: str, counts: Mapping[str, float], n_rows: float) -> WordPlaces:
        """Give places to words that are frequent enough; one row is never enough."""
        least = float(np.clip(n_rows / 100, 2, POLICY.frequent_rows))
        by_count = sorted(counts, key=lambda word: (-counts[word], word))
        frequent = by_count[: POLICY.most_places]
        words = sorted(word for word in frequent if counts[word] >= least)
        times = [counts[word] for word in words]
        n_rare = len(counts) - len(words)
        if n_rare:
            times.append(sum(counts.values()) - sum(times))
        return cls(column, tuple(words), n_rare, np.array(times) / max(sum(times), 1.0))

    @property
    def n_places(self) -> int:
        return len(self.words) + (self.n_rare > 0)

    def places(self, table: Table, missing: int) -> Indices:
        """Return the place of the word of each row; unknown words go to the rare ones."""
        place_of = {word: place for place, word in enumerate(self.words)}
        unseen = len(self.words)  # the rare ones, or the middle where there are none
        found = table.numbers_of_words(self.column, place_of, unknown=unseen, missing=missing)
        return found.astype(np.intp)


@dataclass(frozen=True)
class Categories:
    """Points for the words of all columns that have words."""

    columns: tuple[WordPlaces, ...]
    points: Array
    fills_middle: bool = False  # for missing words, else the most frequent one

    def places(self, table: Table) -> Indices:
        """Return the place of the word in each column of words, for each row."""
        found, start = [], 0
        for column in self.columns:
            missing = column.n_places
            if column.n_places and not self.fills_middle:
                missing = int(np.argmax(column.shares))
            found.append(start + column.places(table, missing))
            start += column.n_places + 1
        return np.column_stack(found)

    def apply(self, table: Table) -> Array:
        """Return the point of each row."""
        found = np.zeros((len(table.values), self.points.shape[1]))
        for places in self.places(table).T:
            found += self.points[places]
        return found

    @classmethod
    def indicators(cls, columns: Sequence[WordPlaces], fills_middle: bool) -> Categories:
        """Return words as ``(h - p) / sqrt(p)``."""
        blocks = []
        for column in columns:
            p = column.shares
            scaled = (np.eye(column.n_places) - p) / np.sqrt(p)
            blocks.append(np.vstack([scaled, np.zeros(column.n_places)]))
        return cls(tuple(columns), block_diag(*blocks), fills_middle)

    def with_factors(self, vectors: Array, unit: float) -> Categories:
        """Return, of ``indicators``, corners and coordinates by these vectors, in this unit."""
        corners = [np.vstack([np.eye(column.n_places), column.shares]) for column in self.columns]
        parts = [POLICY.corner * block_diag(*corners), POLICY.factor * (self.points @ vectors)]
        return Categories(self.columns, unit * np.hstack(parts), self.fills_middle)


@dataclass
class MixedProducts:
    """Sums over rows of the products of numbers z, and of how often words come together."""

    n_rows: float = 0.0  # or what they count together
    of_numbers: Array | float = 0.0
    of_both: Array | float = 0.0
    of_words: Array | float = 0.0

    def add(
        self, numbers: Array, places: Indices, n_places: int, weight: Array | None = None
    ) -> None:
        """Add rows: standardized numbers, and places of words among so many."""
        n, n_columns = places.shape
        starts = np.arange(0, n * n_columns + 1, n_columns)
        each = np.ones(n) if weight is None else weight
        is_at = csr_array((np.ones(places.size), places.ravel(), starts), shape=(n, n_places))
        counted = csr_array((np.repeat(each, n_columns), places.ravel(), starts), shape=is_at.shape)
        self.n_rows += float(each.sum())
        self.of_numbers = self.of_numbers + (each[:, np.newaxis] * numbers).T @ numbers
        self.of_both = self.of_both + (counted.T @ numbers).T
        self.of_words = self.of_words + (counted.T @ is_at).toarray()

    def factors(self, indicators: Categories) -> Array:
        """Return the directions that stand out, as far as indicators take part in them."""
        P = indicators.points
        both: Any = self.of_both @ P
        blocks: Any = [[self.of_numbers, both], [both.T, P.T @ self.of_words @ P]]
        covariance = np.block(blocks) / self.n_rows
        size = len(covariance)
        values, vectors = eigh(
            covariance, subset_by_index=(max(0, size - POLICY.most_factors), size - 1)
        )
        rank = size - len(indicators.columns)  # for the shares of a column sum to 1
        edge = (1 + np.sqrt(rank / self.n_rows)) ** 2
        return np.asarray(vectors[size - P.shape[1] :, values > edge][:, ::-1])
