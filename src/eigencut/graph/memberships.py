"""Memberships: how much of each row belongs to its nearest landmarks, and sums of them.

Z (n x p) has r positive entries per row that sum to 1. Only those entries are kept, and everything
the eigenproblem needs of them is ``Z^T Z``, a sum over rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import eigencut.kernels.native as native
from eigencut.runtime.arrays import Array, Indices
from eigencut.runtime.threads import for_each

_QUANTUM = 2.0**-34
HISTOGRAM_ROWS = 1 << 16  # at a time, without the kernel in C
_PARTS = 2  # of the rows, for as many threads
_LARGEST_UNITS = 1 << 62


@dataclass(frozen=True)
class Memberships:
    """Rows of Z.

    Attributes
    ----------
    nearest : integer array of shape (n_rows, r)
        The landmarks with positive entries.
    weights : array of shape (n_rows, r)
        The entries.
    """

    nearest: NDArray[np.integer]
    weights: Array

    def __len__(self) -> int:
        return len(self.nearest)

    def __getitem__(self, rows: slice) -> Memberships:
        return Memberships(self.nearest[rows], self.weights[rows])

    def average(self, V: Array) -> Array:
        """``Z V``: averages of values at landmarks."""
        columns = np.ascontiguousarray(V.T)  # long ones are faster than many short rows
        values = np.zeros((V.shape[1], len(self)))
        for nearest, weights in zip(self.nearest.T, self.weights.T, strict=True):
            values += weights * columns.take(nearest, axis=1)
        return values.T

    def gather(self, V: Array, n_landmarks: int) -> Array:
        """``Z^T V``: sums over rows."""
        place = self.nearest.ravel()
        columns = [
            np.bincount(
                place, weights=(self.weights * v[:, np.newaxis]).ravel(), minlength=n_landmarks
            )
            for v in V.T
        ]
        return np.column_stack(columns) if columns else np.empty((n_landmarks, 0))

    def compact(self, n_landmarks: int) -> Memberships:
        """The same with the smallest integers that can number the landmarks."""
        smallest = np.min_scalar_type(max(n_landmarks - 1, 0))
        return Memberships(self.nearest.astype(smallest), self.weights)


@dataclass(frozen=True)
class MembershipSums:
    """What is left of the rows: ``E = Z^T Z`` and their number.

    Products of two memberships are rounded to multiples of 2^-34 and summed as integers. So the sum
    is exact: it is the same to the last bit in whatever order rows come, and in whatever parts.

    Attributes
    ----------
    units : array of shape (n_landmarks, n_landmarks)
        One half of E: every pair of landmarks either above or below the diagonal.
    n_rows : int
    """

    units: NDArray[np.int64]
    n_rows: int

    @classmethod
    def of(cls, members: Memberships, n_landmarks: int) -> MembershipSums:
        """Of one block of rows."""
        parts = np.zeros((_PARTS, n_landmarks, n_landmarks), dtype=np.int64)
        step = -(-len(members) // _PARTS)

        def fill(part: int) -> None:
            _add_half(members[part * step : (part + 1) * step], parts[part])

        for_each(fill, range(_PARTS))
        return cls(parts.sum(axis=0), len(members))

    def added(self, other: MembershipSums) -> MembershipSums:
        units = self.units + other.units
        if units.max() > _LARGEST_UNITS:
            raise OverflowError(
                f"A landmark must not have more than {_LARGEST_UNITS * _QUANTUM:.0f} rows. Got "
                "more; fit on a part of the rows, and label the others."
            )
        return MembershipSums(units, self.n_rows + other.n_rows)

    @property
    def gram(self) -> Array:
        """E."""
        half = self.units.astype(np.float64) * _QUANTUM
        return half + half.T - np.diag(half.diagonal())


def _add_half(members: Memberships, units: NDArray[np.int64]) -> None:
    """Add one half of ``Z^T Z`` to units.

    A histogram over pairs of landmarks is several times as fast as a sparse product, and its sums
    of integers below 2^53 are exact; the kernel in C is faster still, and gives the same.
    """
    kernel = native.library()
    nearest = members.nearest.astype(np.intp)
    if kernel is not None:
        native.membership_sums(kernel, nearest, members.weights, 1 / _QUANTUM, units)
        return
    for start in range(0, len(members), HISTOGRAM_ROWS):
        rows = slice(start, start + HISTOGRAM_ROWS)
        units += _histogram(nearest[rows], members.weights[rows], len(units))


def _histogram(nearest: Indices, weights: Array, n_landmarks: int) -> NDArray[np.int64]:
    r = nearest.shape[1]
    pairs = [(a, b) for a in range(r) for b in range(a + 1)]
    place = np.concatenate([nearest[:, a] * n_landmarks + nearest[:, b] for a, b in pairs])
    products = np.concatenate([weights[:, a] * weights[:, b] for a, b in pairs])
    sums = np.bincount(place, np.rint(products / _QUANTUM), n_landmarks**2)
    return sums.astype(np.int64).reshape(n_landmarks, n_landmarks)
