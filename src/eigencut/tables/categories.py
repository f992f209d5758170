"""Words of categorical columns as coordinates, so that they count in distances between rows.

The point of a word has two parts. The first is a corner (one-hot), equally far from those of all
other words. The second comes from a factor analysis of mixed data (Pages, 2004), which puts words
near each other if they occur with similar values of the other columns. With standardized numbers z,
indicators h and shares p of words,

    x = [z, (h - p) / sqrt(p)],    C = E[x x^T] = V diag(lambda) V^T
    w -> [corner e_w, factor sum of V over the entries of (h - p) / sqrt(p)]

for the factors with lambda above (1 + sqrt(D / n))^2, the largest eigenvalue of pure noise by
Marchenko and Pastur (1967). A row gets the sum of the points of its words
(``benchmarks/studies/mixed_tables.md``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import block_diag, eigh
from scipy.sparse import csr_array

from eigencut._utils.arrays import Array, Indices, rounded
from eigencut.io.table import Table


@dataclass(frozen=True)
class Policy:
    """Weights of words, and thresholds for words, long tails and missing values."""

    corner: float = 0.4  # the length of a corner, in standard deviations of a numeric column
    factor: float = 0.5  # the weight of the coordinates from factors, in the same unit
    most_factors: int = 32
    most_places: int = 64  # words of a column with a point of their own; the others share one
    frequent_rows: int = 10  # rows that a word needs for its own point, or 1% of rows if fewer
    most_words: int = 256  # of a column, unless the user gave its kind; with more, an error
    sampled_rows: int = 1 << 16  # rows of a stream from which quantiles are computed
    listed_words: int = 6  # words of a column that a summary shows
    order: float = 0.5  # the standard deviation of ordered words, whose ranks leave gaps
    skewed: float = 1.5  # columns without negative numbers get a logarithm above this skewness,
    mended: float = 0.5  # if their logarithm has less than this share of the skewness
    much_missing: float = 0.4  # the share of missing values from which users are warned


POLICY = Policy()


@dataclass(frozen=True)
class WordPlaces:
    """The words of a column with a place (index) of their own, and the share of each place."""

    column: str
    words: tuple[str, ...]
    n_rare: int  # words without a place of their own, which share the last place
    shares: Array

    @classmethod
    def from_counts(cls, column: str, counts: Mapping[str, float], n_rows: float) -> WordPlaces:
        """Give a place to each of the most frequent words, if it occurs in at least two rows."""
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
        """Return the place of each row's word; rare and unknown words share the last place."""
        place_of = {word: place for place, word in enumerate(self.words)}
        unseen = len(self.words)  # without rare words, the point after the last: the mean
        found = table.numbers_of_words(self.column, place_of, unknown=unseen, missing=missing)
        return found.astype(np.intp)


@dataclass(frozen=True)
class Categories:
    """The points of words: those of the places of each column, then the mean of the column."""

    columns: tuple[WordPlaces, ...]
    points: Array
    fills_middle: bool = False  # missing words get the mean point, not the most frequent word's

    def places(self, table: Table) -> Indices:
        """Return the row in ``points`` of the word in each column of words, for each row."""
        found, start = [], 0
        for column in self.columns:
            missing = column.n_places
            if column.n_places and not self.fills_middle:
                missing = int(np.argmax(column.shares))
            found.append(start + column.places(table, missing))
            start += column.n_places + 1
        return np.column_stack(found)

    def apply(self, table: Table) -> Array:
        """Return the point of each row: the sum of the points of its words."""
        found = np.zeros((len(table.values), self.points.shape[1]))
        for places in self.places(table).T:
            found += self.points[places]
        return found

    @classmethod
    def indicators(cls, columns: Sequence[WordPlaces], fills_middle: bool) -> Categories:
        """Return categories with the points ``(h - p) / sqrt(p)``, before a factor analysis."""
        blocks = []
        for column in columns:
            p = column.shares
            scaled = (np.eye(column.n_places) - p) / np.sqrt(p)
            blocks.append(np.vstack([scaled, np.zeros(column.n_places)]))
        return cls(tuple(columns), block_diag(*blocks), fills_middle)

    def with_factors(self, vectors: Array, unit: float) -> Categories:
        """Return the final points (corners and factors) from indicators and factor vectors."""
        corners = [np.vstack([np.eye(column.n_places), column.shares]) for column in self.columns]
        parts = [POLICY.corner * block_diag(*corners), POLICY.factor * (self.points @ vectors)]
        return Categories(self.columns, unit * np.hstack(parts), self.fills_middle)


@dataclass
class MixedProducts:
    """Sums over rows for the covariance C: products of numbers, and how often words co-occur."""

    n_rows: float = 0.0  # or the sum of their weights
    of_numbers: Array | float = 0.0
    of_both: Array | float = 0.0
    of_words: Array | float = 0.0

    def add(
        self, numbers: Array, places: Indices, n_places: int, weight: Array | None = None
    ) -> None:
        """Add rows: their standardized numbers, and the places of their words (``n_places``)."""
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
        """Return the eigenvectors of C whose eigenvalues exceed noise, at their rows of words."""
        P = indicators.points
        both: Any = self.of_both @ P
        blocks: Any = [[self.of_numbers, both], [both.T, P.T @ self.of_words @ P]]
        covariance = rounded(np.block(blocks) / self.n_rows, 1.0)
        size = len(covariance)
        values, vectors = eigh(
            covariance, subset_by_index=(max(0, size - POLICY.most_factors), size - 1)
        )
        rank = size - len(indicators.columns)  # the indicators of each column sum to 1
        edge = (1 + np.sqrt(rank / self.n_rows)) ** 2
        return np.asarray(vectors[size - P.shape[1] :, values > edge][:, ::-1])
