"""A reproducible sample of rows, whatever their order and however they are chunked.

Every row gets a random number made of nothing but its own values and a seed, and the rows of the
smallest numbers are the sample. So it does not matter where a row stands, or on which machine.
Identical rows have the same number: they are in the sample once, with a count that is exact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eigencut.runtime.arrays import Array

Keys = NDArray[np.uint64]

_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)  # the multipliers of the generator splitmix64
_MIX_2 = np.uint64(0x94D049BB133111EB)


@dataclass(frozen=True)
class RowSample:
    """Different rows in the order of their random keys.

    Attributes
    ----------
    size : int
        How many rows the sample may have.
    keys : array of shape (n_sampled,)
        Ascending.
    rows : array of shape (n_sampled, n_features)
    counts : array of shape (n_sampled,)
        How many times each row was seen.
    n_rows : int
        Rows that the sample was drawn from.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.arange(12.0).reshape(6, 2)
    >>> whole = RowSample.of(X, size=3, seed=0)
    >>> parts = RowSample.of(X[4:], 3, 0).merged(RowSample.of(X[:4], 3, 0))
    >>> bool((whole.rows == parts.rows).all())
    True
    """

    size: int
    keys: Keys
    rows: Array
    counts: Array
    n_rows: int

    @classmethod
    def of(cls, X: Array, size: int, seed: int) -> RowSample:
        """The sample of one block of rows."""
        X = X + 0.0  # -0.0 and 0.0 are the same place
        keys = _keys(X, seed)
        small = np.arange(len(X))
        if size < len(X):
            small = np.flatnonzero(keys <= np.partition(keys, size - 1)[size - 1])
        found, first, counts = np.unique(keys[small], return_index=True, return_counts=True)
        if len(found) < size and len(small) < len(X):  # identical rows left places free
            small = np.arange(len(X))
            found, first, counts = np.unique(keys, return_index=True, return_counts=True)
        first = small[first[:size]]
        return cls(size, found[:size], X[first], counts[:size].astype(np.float64), len(X))

    def merged(self, other: RowSample) -> RowSample:
        """The sample of the rows of both.

        Counts stay exact: a row that is in the sample of all rows is in that of every part.
        """
        keys = np.concatenate([self.keys, other.keys])
        found, first, place = np.unique(keys, return_index=True, return_inverse=True)
        both = np.concatenate([self.counts, other.counts])
        counts: Array = np.bincount(place, weights=both).astype(np.float64)
        rows = np.concatenate([self.rows, other.rows])[first[: self.size]]
        n_rows = self.n_rows + other.n_rows
        return RowSample(self.size, found[: self.size], rows, counts[: self.size], n_rows)


def _keys(X: Array, seed: int) -> Keys:
    """A random 64-bit number per row, the same for identical rows."""
    rng = np.random.default_rng(seed)
    salt, factors = rng.integers(1 << 63, size=(2, X.shape[1]), dtype=np.uint64)
    bits = np.ascontiguousarray(X).view(np.uint64) + salt
    return _mixed(_mixed(bits) @ (np.uint64(2) * factors + np.uint64(1)))


def _mixed(bits: Keys) -> Keys:
    """Spread every bit over all others, as splitmix64 does; for each number on its own."""
    bits = (bits ^ (bits >> np.uint64(30))) * _MIX_1
    bits ^= bits >> np.uint64(27)
    bits *= _MIX_2
    bits ^= bits >> np.uint64(31)
    return bits
