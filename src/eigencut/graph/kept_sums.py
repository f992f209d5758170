"""What is left of the rows that a graph on landmarks was made of, in a form that can be kept.

Most pairs of landmarks have no row in common, so of E only what is not zero is kept.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigencut.files.state_reader import StateReader
from eigencut.graph.memberships import LARGEST_UNITS, MembershipSums
from eigencut.runtime.arrays import Array, Indices

_UNIT_LIMITS = (1e-150, 1e150)  # of what a file may say


@dataclass(frozen=True)
class KeptSums:
    """``MembershipSums`` without their zeros.

    Attributes
    ----------
    n_landmarks : int
    places : array of shape (n_pairs,)
        ``i * n_landmarks + j`` of each pair of landmarks with rows in common, ascending.
    units : array of shape (n_pairs,)
        Their entries of E.
    unit : float
        What a unit is.
    at_landmarks : array of shape (n_landmarks,), or None
        As of ``MembershipSums``.

    Examples
    --------
    >>> units = np.array([[3, 0], [1, 5]])
    >>> kept = KeptSums.of(MembershipSums(units))
    >>> bool((kept.all_pairs().units == units).all())
    True
    """

    n_landmarks: int
    places: NDArray[np.int64]
    units: NDArray[np.int64]
    unit: float
    at_landmarks: NDArray[np.int64] | None

    @classmethod
    def of(cls, sums: MembershipSums) -> KeptSums:
        flat = sums.units.ravel()
        places = np.flatnonzero(flat).astype(np.int64)
        return cls(len(sums.units), places, flat[places], sums.unit, sums.at_landmarks)

    def all_pairs(self) -> MembershipSums:
        """With the zeros, to be added to."""
        flat = np.zeros(self.n_landmarks**2, dtype=np.int64)
        flat[self.places] = self.units
        units = flat.reshape(self.n_landmarks, self.n_landmarks)
        return MembershipSums(units, self.unit, self.at_landmarks)

    def decayed(self, decay: float) -> KeptSums:
        """As if every row counted only ``decay``; 1 changes nothing."""
        if decay == 1.0:
            return self
        units = np.rint(decay * self.units).astype(np.int64)
        is_left = units > 0
        at_landmarks = self.at_landmarks
        if at_landmarks is not None:
            at_landmarks = np.rint(decay * at_landmarks).astype(np.int64)
        return replace(
            self,
            places=self.places[is_left],
            units=units[is_left],
            at_landmarks=at_landmarks,
        )

    def moved(self, to: Indices, n_landmarks: int) -> KeptSums:
        """With landmark j at the place ``to[j]`` of others, or left out where that is -1.

        Places keep their order, so that every pair stays on its side of the diagonal.
        """
        first, second = (to[part] for part in np.divmod(self.places, self.n_landmarks))
        is_left = (first >= 0) & (second >= 0)
        at_landmarks = None
        if self.at_landmarks is not None:
            at_landmarks = np.zeros(n_landmarks, dtype=np.int64)
            at_landmarks[to[to >= 0]] = self.at_landmarks[to >= 0]
        places = (first * n_landmarks + second)[is_left]
        units = self.units[is_left]
        return KeptSums(n_landmarks, places, units, self.unit, at_landmarks)

    @property
    def rows_at_landmarks(self) -> Array:
        """Lambda, the rows that each landmark stands for."""
        if self.at_landmarks is not None:
            return self.at_landmarks.astype(np.float64) * self.unit
        first, second = np.divmod(self.places, self.n_landmarks)
        units = self.units.astype(np.float64) * self.unit
        n, is_pair = self.n_landmarks, first != second
        return np.asarray(
            np.bincount(first, units, n) + np.bincount(second[is_pair], units[is_pair], n)
        )

    # ----------------------------------------------------------------- saving

    def _state(self) -> dict[str, Any]:
        found: dict[str, Any] = {"places": self.places, "units": self.units, "unit": self.unit}
        if self.at_landmarks is not None:
            found["at_landmarks"] = self.at_landmarks
        return found

    @classmethod
    def _restored(cls, state: StateReader, n_landmarks: int) -> KeptSums:
        places = state.indices("places", (None,), below=n_landmarks**2)
        units = state.indices("units", places.shape, below=LARGEST_UNITS + 1, least=1)
        if (np.diff(places) <= 0).any():
            raise ValueError("sums must be of different pairs of landmarks, in order.")
        at_landmarks = None
        if "at_landmarks" in state:
            most = LARGEST_UNITS + 1
            at_landmarks = state.indices("at_landmarks", (n_landmarks,), below=most)
        unit = state.number("unit", *_UNIT_LIMITS)
        return cls(n_landmarks, places, units, unit, at_landmarks)
