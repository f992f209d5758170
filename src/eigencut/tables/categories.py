"""Words as coordinates, so that distances between rows know of them.

A word w of a column gets a point. One part of it is a corner of its own: words of a column are all
as far from each other. The other part is where a factor analysis of mixed data puts w: words that
come with similar values of the other columns are near each other. With standardized numbers z,
indicators h and shares p of words,

    x = [z, (h - p) / sqrt(p)],    C = E[x x^T] = V diag(lambda) V^T
    w -> [CORNER e_w, FACTOR sum of V over the entries of (h - p) / sqrt(p)]

of the factors that stand out: lambda above (1 + sqrt(D / n))^2, the edge of Marchenko and Pastur,
below which are the eigenvalues of D columns that have nothing to do with each other. A row's point
is the sum of its words' points. ``benchmarks/studies/mixed_tables.md`` is how both weights were
chosen.

References
----------
.. [1] J. Pages, "Analyse factorielle de donnees mixtes", Revue de statistique appliquee 52(4),
   93-111, 2004.
.. [2] V. A. Marchenko, L. A. Pastur, "Distribution of eigenvalues for some sets of random
   matrices", Mathematics of the USSR-Sbornik 1(4), 457-483, 1967.
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

CORNER = 0.4  # in standard deviations of a numeric column
FACTOR = 0.5

_MOST_KEPT = 64  # words of a column that have a place of their own
_MOST = 32  # factors


@dataclass(frozen=True)
class WordPlaces:
    """The words of a column that have places of their own.

    Attributes
    ----------
    column : str
    words : tuple of str
        Sorted.
    n_rare : int
        Different words that share the last place, and that unseen words go to.
    shares : array
        Of the rows, for each place.
    """

    column: str
    words: tuple[str, ...]
    n_rare: int
    shares: Array

    @classmethod
    def of(cls, column: str, counts: Mapping[str, float], n_rows: float) -> WordPlaces:
        """Of words that were seen so often.

        A word is rare if fewer than one row in a hundred has it, though ten rows are always enough
        and one never is; also if 64 others are more frequent.
        """
        least = float(np.clip(n_rows / 100, 2, 10))
        by_count = sorted(counts, key=lambda word: (-counts[word], word))
        kept = sorted(word for word in by_count[:_MOST_KEPT] if counts[word] >= least)
        n_rare = len(counts) - len(kept)
        times = [counts[word] for word in kept]
        if n_rare:
            times.append(sum(counts.values()) - sum(times))
        return cls(column, tuple(kept), n_rare, np.array(times) / max(sum(times), 1.0))

    @property
    def n_places(self) -> int:
        return len(self.words) + (self.n_rare > 0)

    @property
    def usual(self) -> int:
        """The place of the most frequent words."""
        return int(np.argmax(self.shares)) if self.n_places else 0

    def places(self, table: Table, missing: int) -> Indices:
        """The place of the word of each row; ``n_places``, in the middle, for unknown words."""
        codes = table.values[:, table.names.index(self.column)]
        known = {word: place for place, word in enumerate(self.words)}
        unseen = len(self.words)  # the rare ones, or the middle where there are none
        place_of = [known.get(word, unseen) for word in table.words(self.column)]
        is_missing = np.isnan(codes)
        at = np.array([*place_of, missing], dtype=np.intp)
        return at[np.where(is_missing, len(place_of), codes).astype(np.intp)]


@dataclass(frozen=True)
class Categories:
    """Points for the words of all columns that have words.

    Attributes
    ----------
    columns : tuple of WordPlaces
    points : array of shape (n_places, n_coordinates)
        Of the places of the first column, then its middle, then those of the second, and so on.
    fills : {"middle", "usual"}
        What a missing word becomes: the middle of its column, or its most frequent words.
    """

    columns: tuple[WordPlaces, ...]
    points: Array
    fills: str = "middle"

    @property
    def width(self) -> int:
        return int(self.points.shape[1])

    def places(self, table: Table) -> Indices:
        """The place of the word in each column of words, for each row."""
        found, start = [], 0
        for column in self.columns:
            missing = column.usual if self.fills == "usual" else column.n_places
            found.append(start + column.places(table, missing))
            start += column.n_places + 1
        return np.column_stack(found)

    def apply(self, table: Table) -> Array:
        """The point of each row."""
        found = np.zeros((len(table.values), self.width))
        for places in self.places(table).T:
            found += self.points[places]
        return found

    @classmethod
    def indicators(cls, columns: Sequence[WordPlaces], fills: str) -> Categories:
        """Words as ``(h - p) / sqrt(p)``."""
        blocks = []
        for column in columns:
            p = column.shares
            scaled = (np.eye(column.n_places) - p) / np.sqrt(p)
            blocks.append(np.vstack([scaled, np.zeros(column.n_places)]))
        return cls(tuple(columns), block_diag(*blocks), fills)

    def with_factors(self, vectors: Array, unit: float) -> Categories:
        """Of ``indicators``: corners, and coordinates by these vectors, in this unit."""
        corners = [np.vstack([np.eye(column.n_places), column.shares]) for column in self.columns]
        parts = [CORNER * block_diag(*corners), FACTOR * (self.points @ vectors)]
        return Categories(self.columns, unit * np.hstack(parts), self.fills)


@dataclass
class MixedProducts:
    """Sums over rows of the products of numbers z, and of how often words come together.

    Examples
    --------
    >>> words = WordPlaces.of("w", {"a": 20, "b": 20}, 40)
    >>> is_b = np.arange(40)[:, None] % 2
    >>> products = MixedProducts()
    >>> products.add(2.0 * is_b - 1, is_b, 3)
    >>> abs(products.factors(Categories.indicators([words], "middle")))
    array([[0.5], [0.5]])
    """

    n_rows: float = 0.0  # or what they count together
    of_numbers: Array | float = 0.0
    of_both: Array | float = 0.0
    of_words: Array | float = 0.0

    def add(
        self, numbers: Array, places: Indices, n_places: int, weight: Array | None = None
    ) -> None:
        """More rows: standardized numbers, and places of words among so many."""
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
        """The directions that stand out, as far as indicators take part in them."""
        P = indicators.points
        both: Any = self.of_both @ P
        blocks: Any = [[self.of_numbers, both], [both.T, P.T @ self.of_words @ P]]
        covariance = np.block(blocks) / self.n_rows
        size = len(covariance)
        values, vectors = eigh(covariance, subset_by_index=(max(0, size - _MOST), size - 1))
        rank = size - len(indicators.columns)  # for the shares of a column sum to 1
        edge = (1 + np.sqrt(rank / self.n_rows)) ** 2
        return np.asarray(vectors[size - P.shape[1] :, values > edge][:, ::-1])
