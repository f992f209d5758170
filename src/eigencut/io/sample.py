"""Samples of distinct rows: those with the smallest hashes, whatever the order of the rows."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_random_state

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.running import for_each, row_blocks

Keys = NDArray[np.uint64]
_ELEMENTS = 1 << 18  # numbers of which a thread makes keys at a time
_EXPONENT = np.uint64(0x7FF0000000000000)  # the bits of the exponent in a float64


@dataclass(frozen=True)
class RowSample:
    """A sample of at most ``size`` distinct rows, sorted by their keys (``random_keys``)."""

    size: int
    keys: Keys
    rows: Any
    counts: Array  # the number (or weight) of the rows that are identical to each sampled row
    n_rows: int  # the number of all rows that the sample was drawn from,
    total: Fraction  # and their weight

    @classmethod
    def draw(cls, X: Any, sample_weight: Array | None = None, *, size: int, seed: int) -> RowSample:
        """Draw a sample from one block of rows; rows of weight 0 are left out."""
        if sample_weight is not None and not sample_weight.all():
            X, sample_weight = X[sample_weight > 0], sample_weight[sample_weight > 0]
        if not sparse.issparse(X):
            X = X + 0.0  # -0.0 becomes 0.0, which has another key
        keys, n_rows = random_keys(X, seed), X.shape[0]
        small = np.arange(n_rows)
        if size < n_rows:
            small = np.flatnonzero(keys <= np.partition(keys, size - 1)[size - 1])
        found, first, place = np.unique(keys[small], return_index=True, return_inverse=True)
        if len(found) < size and len(small) < n_rows:  # too few of these rows were distinct
            small = np.arange(n_rows)
            found, first, place = np.unique(keys, return_index=True, return_inverse=True)
        weight = None if sample_weight is None else sample_weight[small]
        counts = summed_weights(place, weight)[:size]
        total = Fraction(n_rows) if sample_weight is None else exact_sum(sample_weight)
        return cls(size, found[:size], X[small[first[:size]]], counts, n_rows, total)

    def merged(self, other: RowSample) -> RowSample:
        """Return the sample that ``draw`` would give for the rows behind both samples."""
        keys = np.concatenate([self.keys, other.keys])
        found, first, place = np.unique(keys, return_index=True, return_inverse=True)
        both = np.concatenate([self.counts, other.counts])
        counts: Array = np.bincount(place, weights=both).astype(np.float64)
        rows = _taken(self.rows, other.rows, first[: self.size])
        n_rows, total = self.n_rows + other.n_rows, self.total + other.total
        return RowSample(self.size, found[: self.size], rows, counts[: self.size], n_rows, total)


def _taken(A: Any, B: Any, places: Indices) -> Any:
    """Return the rows at some places of A followed by B, without stacking dense A and B."""
    if sparse.issparse(A):
        return sparse.vstack([A, B], format="csr")[places]
    rows = np.empty((len(places), A.shape[1]))
    for some in row_blocks(len(places), A.shape[1], 1 << 20):
        place = places[some]
        in_first = place < len(A)
        rows[some][in_first] = A[place[in_first]]
        rows[some][~in_first] = B[place[~in_first] - len(A)]
    return rows


def summed_weights(place: Indices, sample_weight: Array | None) -> Array:
    """Return the total weight of the rows at each place, the same for any order of the rows."""
    if sample_weight is None:
        return np.bincount(place).astype(np.float64)
    order = np.lexsort((sample_weight, place))  # rounding depends on the order
    return np.asarray(np.bincount(place[order], sample_weight[order]), dtype=np.float64)


def exact_sum(numbers: Array) -> Fraction:
    """Return the sum of float64 numbers without rounding, so that their order does not matter."""
    mantissa, exponent = np.frexp(numbers)
    whole = np.ldexp(mantissa, 53).astype(np.int64)
    high, low = whole >> 26, whole & ((1 << 26) - 1)  # halves, whose sums fit into int64
    total = Fraction(0)
    for power in np.unique(exponent):
        some = exponent == power
        units = (int(high[some].sum()) << 26) + int(low[some].sum())
        total += units * Fraction(2) ** (int(power) - 53)
    return total


def as_number(total: Fraction) -> int | float:
    """Return a fraction as an int if it is whole, otherwise as a float."""
    return int(total) if total.denominator == 1 else float(total)


def random_keys(X: Any, seed: int = 0) -> Keys:
    """Return a random 64-bit number per row, the same for identical rows; X must not hold -0.0.

    Sparse rows have the same keys as dense ones. Keys do not change their order if all rows are
    multiplied by a power of 2: they are hashed from mantissas, and exponents relative to the
    row's largest one.
    """
    rng = np.random.default_rng(seed)
    salt, factors = rng.integers(1 << 63, size=(2, X.shape[1]), dtype=np.uint64)
    factors = np.uint64(2) * factors + np.uint64(1)
    if not sparse.issparse(X):
        keys, largest = np.empty((2, len(X)), dtype=np.uint64)

        def fill(rows: slice) -> None:
            bits = np.ascontiguousarray(X[rows]).view(np.uint64)
            np.maximum.reduce(bits.T & _EXPONENT, axis=0, initial=np.uint64(0), out=largest[rows])
            bits = bits - (largest[rows] - _EXPONENT)[:, np.newaxis] * (bits != 0) + salt
            keys[rows] = _mixed(_mixed(bits) @ factors)

        for_each(fill, row_blocks(len(X), X.shape[1], _ELEMENTS))
    else:
        bits = (X.data + 0.0).view(np.uint64)
        row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        largest = np.zeros(X.shape[0], dtype=np.uint64)
        np.maximum.at(largest, row, bits & _EXPONENT)
        bits = bits - (largest - _EXPONENT)[row] * (bits != 0) + salt[X.indices]
        of_zeros = _mixed(salt)  # the hashes of zeros, which sparse rows do not store
        more = sparse.csr_array((_mixed(bits) - of_zeros[X.indices], X.indices, X.indptr), X.shape)
        keys = _mixed(more @ factors + of_zeros @ factors)
    return (keys & ~np.uint64(0xFFF)) | (largest >> np.uint64(52))


def seeded_by(rows: Any, random_state: Any = None) -> np.random.RandomState:
    """Return a generator seeded by the set of rows and by ``random_state`` (None means 0)."""
    if isinstance(random_state, np.random.RandomState):
        return random_state
    own = check_random_state(0 if random_state is None else random_state).randint(1 << 31)
    rows = rows.astype(np.float64, copy=False)
    digest = random_keys(rows if sparse.issparse(rows) else rows + 0.0, int(own)).sum()
    return np.random.RandomState([int(digest) & 0xFFFFFFFF, int(digest) >> 32, int(own)])


def _mixed(bits: Keys) -> Keys:
    """Return a hash of each number, by the mixing function of splitmix64."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits ^= bits >> np.uint64(27)
    bits *= np.uint64(0x94D049BB133111EB)
    bits ^= bits >> np.uint64(31)
    return bits
