"""Memberships: how much of each row belongs to its nearest landmarks, and sums of them.

Z (n x p) has r positive entries per row that sum to 1. Only those entries are kept, and everything
the eigenproblem needs of them is ``Z^T Z``, a sum over rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigencut.affinity.tiles import Array
from eigencut.parallel import for_each

_QUANTUM = 2.0**-34
_EXACT_ROWS = 1 << 19  # sums of so many multiples of the quantum up to 1 are exact in float64
_PARTS = 2  # of the pairs of landmarks, for as many threads
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
    """

    units: NDArray[np.int64]
    n_rows: int

    @classmethod
    def of(cls, members: Memberships, n_landmarks: int, n_jobs: int | None = 1) -> MembershipSums:
        """Of one block of at most 2^19 rows.

        A histogram over pairs of landmarks is several times as fast as a sparse product.
        """
        assert len(members) <= _EXACT_ROWS
        nearest = members.nearest.astype(np.intp)
        r = nearest.shape[1]
        pairs = [(a, b) for a in range(r) for b in range(a)]
        parts = np.zeros((_PARTS, n_landmarks, n_landmarks), dtype=np.int64)

        def fill(part: int) -> None:
            mine = pairs[part::_PARTS]
            place = [nearest[:, a] * n_landmarks + nearest[:, b] for a, b in mine]
            products = [members.weights[:, a] * members.weights[:, b] for a, b in mine]
            parts[part] = _histogram(place, products, n_landmarks**2).reshape(parts[part].shape)

        for_each(fill, range(_PARTS), n_jobs)
        half = parts.sum(axis=0)
        units = half + half.T
        squares = _histogram(list(nearest.T), list(members.weights.T**2), n_landmarks)
        units[np.diag_indices(n_landmarks)] += squares
        return cls(units, len(members))

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
        return self.units.astype(np.float64) * _QUANTUM


def _histogram(places: list[Any], values: list[Array], size: int) -> NDArray[np.int64]:
    """Sums of values by place, in units of the quantum; exact, for they are integers below 2^53."""
    if not places:
        return np.zeros(size, dtype=np.int64)
    units = np.rint(np.concatenate(values) / _QUANTUM)
    return np.bincount(np.concatenate(places), units, minlength=size).astype(np.int64)
