"""Memberships: how much of each row belongs to its nearest landmarks, and sums of them.

Z (n x p) has r positive entries per row that sum to 1. Only those entries are kept, and everything
the eigenproblem needs of them is ``Z^T Z``, a sum over rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eigencut import kernels
from eigencut.runtime.arrays import Array, Indices
from eigencut.runtime.threads import for_each

_QUANTUM = 2.0**-34
_PARTS = 2  # of the rows, for as many threads
_LARGEST_UNITS = 1 << 62
_HISTOGRAM_ROWS = 1 << 16  # whose memberships are rounded at a time


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
    """What is left of the rows: ``E = Z^T Z``, their number, and that at each landmark.

    Rows can have masses: ``E = Z^T M Z`` then, M being their diagonal matrix.

    Products of two memberships are rounded to multiples of 2^-34 and summed as integers. So the sum
    is exact: it is the same to the last bit in whatever order rows come, and in whatever parts.

    Attributes
    ----------
    units : array of shape (n_landmarks, n_landmarks)
        One half of E: every pair of landmarks either above or below the diagonal.
    n_rows : int
    at_landmarks : array of shape (n_landmarks,), or None
        The column sums of Z; where rows have no masses E has them.
    """

    units: NDArray[np.int64]
    n_rows: int
    at_landmarks: NDArray[np.int64] | None = None

    @classmethod
    def of(
        cls, members: Memberships, n_landmarks: int, masses: Array | None = None
    ) -> MembershipSums:
        """Of one block of rows, which may have masses of at most 1."""
        parts = np.zeros((_PARTS, n_landmarks, n_landmarks), dtype=np.int64)
        at_landmarks = np.zeros((_PARTS, n_landmarks), dtype=np.int64)
        step = -(-len(members) // _PARTS)

        def fill(part: int) -> None:
            rows = slice(part * step, (part + 1) * step)
            nearest, weights = members.nearest[rows].astype(np.intp), members.weights[rows]
            if masses is not None:
                _add_columns(nearest, weights, at_landmarks[part])
                weights = weights * np.sqrt(masses[rows, np.newaxis])
            kernels.chosen.add_membership_sums(nearest, weights, _QUANTUM, parts[part])

        for_each(fill, range(_PARTS))
        of_columns = None if masses is None else at_landmarks.sum(axis=0)
        return cls(parts.sum(axis=0), len(members), of_columns)

    def added(self, other: MembershipSums) -> MembershipSums:
        units = self.units + other.units
        if units.max() > _LARGEST_UNITS:
            raise OverflowError(
                f"A landmark must not have more than {_LARGEST_UNITS * _QUANTUM:.0f} rows. Got "
                "more; fit on a part of the rows, and label the others."
            )
        at_landmarks = self.at_landmarks
        if at_landmarks is not None and other.at_landmarks is not None:
            at_landmarks = at_landmarks + other.at_landmarks
        return MembershipSums(units, self.n_rows + other.n_rows, at_landmarks)

    @property
    def gram(self) -> Array:
        """E."""
        half = self.units.astype(np.float64) * _QUANTUM
        return half + half.T - np.diag(half.diagonal())

    @property
    def rows_at_landmarks(self) -> Array:
        """Lambda, the column sums of Z."""
        if self.at_landmarks is None:
            return np.asarray(self.gram.sum(axis=1))  # rows of Z sum to 1
        return self.at_landmarks.astype(np.float64) * _QUANTUM


def _add_columns(nearest: Indices, weights: Array, units: NDArray[np.int64]) -> None:
    """Add the column sums of Z; sums of integers below 2^53 are exact."""
    for start in range(0, len(nearest), _HISTOGRAM_ROWS):
        rows = slice(start, start + _HISTOGRAM_ROWS)
        rounded = np.rint(weights[rows] / _QUANTUM).ravel()
        found = np.bincount(nearest[rows].ravel(), weights=rounded, minlength=len(units))
        units += found.astype(np.int64)
