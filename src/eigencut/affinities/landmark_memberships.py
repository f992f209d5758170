"""Landmarks that are placed: which of them a row belongs to, and how much.

A row belongs to its r nearest landmarks y_j, with weights ``z_j(x)`` in proportion to
``exp(-|x - y_j|^2 / (2 sigma^2))`` that sum to 1. Landmarks are sparse where rows are.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import issparse

from eigencut._utils.arrays import Array, Indices, row_blocks
from eigencut._utils.threads import for_each
from eigencut.affinities.base import Affinity
from eigencut.affinities.gaussian import WIDTH_LIMITS
from eigencut.graphs.memberships import Memberships
from eigencut.io.sample import RowSample
from eigencut.neighbors.metrics import METRICS, Metric, in_form_of
from eigencut.neighbors.nearest_landmarks import NearestLandmarks

LEAST_WIDTH = 1e-6  # squared, relative to the squared distances: below there is rounding
_ROWS, _ENTRIES = 16384, 1 << 21  # that one thread works on at a time
_TINY = float(np.finfo(np.float64).tiny)


class PlacedLandmarks(Affinity):
    """What ``Landmarks`` says of rows once it has landmarks: memberships, masses and support."""

    n_nearest: int
    sigma: float | str
    metric: str

    landmarks_: Any
    masses_: Array | None
    local_scale: float
    from_nearest: bool  # whether local bandwidths are of b^2 - a^2, or as in older files of b^2

    @property
    def _metric(self) -> Metric:
        return METRICS[self.metric]

    @property
    def _n_placed(self) -> int:
        """p, as it is."""
        return int(self.landmarks_.shape[0])

    def _place(self, landmarks: Any, n_rows: int) -> None:
        self.landmarks_, metric = landmarks, self._metric
        r = min(self.n_nearest, self._n_placed)
        self._search = NearestLandmarks(landmarks, r, n_rows, metric)
        # What the distance to the farthest of the r landmarks is at a landmark itself.
        n_near = min(max(2, self.n_nearest), self._n_placed)
        _, squared = NearestLandmarks(landmarks, n_near, metric=metric).of_points(landmarks)
        self._spacing = np.maximum(squared.max(axis=1), _TINY)  # in units of the search

    def _memberships(self, X: Any) -> Memberships:
        """Rows of Z."""
        nearest, squared = self._nearest(X)
        return Memberships(nearest, self._weights(squared))

    def _nearest(self, X: Any) -> tuple[Indices, Array]:
        """Numbers of the r nearest landmarks of each row, and squared distances to them."""
        nearest = np.empty((X.shape[0], self._search.n_nearest), dtype=np.intp)
        squared = np.empty(nearest.shape)

        def fill(rows: slice) -> None:
            nearest[rows], squared[rows] = self._search_block(X[rows])

        for_each(fill, self._blocks_of(X))
        return nearest, squared

    def _search_block(self, block: Any) -> tuple[Indices, Array]:
        """The same of one block."""
        return self._search(in_form_of(self.landmarks_, block).astype(np.float64, copy=False))

    def _blocks_of(self, X: Any) -> Iterator[slice]:
        """Slices of rows; where both are sparse, the search divides them by what it needs."""
        width = 0 if issparse(X) and issparse(self.landmarks_) else X.shape[1]
        return row_blocks(X.shape[0], max(width, _ENTRIES // _ROWS), _ENTRIES)

    def _masses_of(self, members: Memberships) -> Array | None:
        """m(x) of rows with these memberships; None if it is 1."""
        if self.masses_ is None:
            return None
        masses, table = np.empty(len(members)), self.masses_[:, np.newaxis]

        def fill(start: int) -> None:
            rows = slice(start, start + _ROWS)
            masses[rows] = members[rows].average(table)[:, 0]

        for_each(fill, range(0, len(members), _ROWS))
        return masses

    def _weights(self, squared: Array) -> Array:
        """z(x), from squared distances to the r nearest landmarks."""
        # Relative to the nearest landmark, so that not all of them can underflow.
        excess = squared - squared.min(axis=1, keepdims=True)
        if self.sigma == "auto":
            farthest = squared.max(axis=1, keepdims=True)
            width = excess.max(axis=1, keepdims=True) if self.from_nearest else farthest
            width = self.local_scale**2 * np.maximum(width, LEAST_WIDTH * farthest)
        else:
            width = np.full((1, 1), self._sigma_in_units() ** 2)
        weights = np.exp(-0.5 * excess / np.maximum(width, _TINY))
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    def _sigma_in_units(self) -> float:
        """Of the search, in which distances are."""
        return float(np.clip(np.ldexp(float(self.sigma), -self._search.exponent), *WIDTH_LIMITS))

    def _support(self, nearest: Indices, squared: Array) -> Array:
        """``-1/2 (d_r(x) / d_r(y))^2``: d_r(x) is the distance to the r-th landmark, y the first.

        Degrees say nothing here, for all are 1. This says how much farther a row is from the
        landmarks than its nearest landmark is from the others.
        """
        return np.asarray(
            -0.5 * squared.max(axis=1) / self._spacing[first_landmarks(nearest, squared)]
        )

    def _support_without_own(self, sample: RowSample, nearest: Indices, squared: Array) -> Array:
        """Support of rows that landmarks were placed by: of a row that is a landmark, without it.

        No row that comes later is as near to it. Where landmarks are as many as rows, all rows but
        those of training would be without support.
        """
        support, first = self._support(nearest, squared), first_landmarks(nearest, squared)
        is_landmark = squared.min(axis=1) <= LEAST_WIDTH**2 * self._spacing[first]
        is_landmark &= sample.counts <= np.median(sample.counts)
        own = np.flatnonzero(is_landmark)
        if not len(own) or self._n_placed <= self._search.n_nearest:
            return support
        rows = in_form_of(self.landmarks_, sample.rows[own]).astype(np.float64, copy=False)
        n_near = self._search.n_nearest + 1
        near, squared = NearestLandmarks(self.landmarks_, n_near, metric=self._metric)(rows)
        is_own = near == first[own, np.newaxis]
        y = first_landmarks(near, np.where(is_own, np.inf, squared))
        farthest = np.where(is_own, 0.0, squared).max(axis=1)
        support[own] = -0.5 * farthest / self._spacing[y]
        return support

    @property
    def spacing_(self) -> Array:
        """Squared distance from each landmark to the farthest of its r nearest."""
        with np.errstate(over="ignore"):
            return np.asarray(np.ldexp(self._spacing, 2 * self._search.exponent))


def first_landmarks(nearest: Indices, squared: Array) -> Indices:
    """The nearest of the nearest landmarks of each row."""
    place = squared.argmin(axis=1)[:, np.newaxis]
    return np.take_along_axis(nearest, place, axis=1)[:, 0]
