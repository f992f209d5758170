"""Memberships: how much of each row belongs to its nearest landmarks, and sums of them.

Z (n x p) has r positive entries per row that sum to 1. Only those entries are kept, and everything
the eigenproblem needs of them is ``Z^T Z``, a sum over rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eigencut import kernels
from eigencut.runtime.arrays import Array
from eigencut.runtime.threads import for_each

_QUANTUM = 2.0**-34
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
            some = members[part * step : (part + 1) * step]
            nearest = some.nearest.astype(np.intp)
            kernels.chosen.add_membership_sums(nearest, some.weights, _QUANTUM, parts[part])

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
