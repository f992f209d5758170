"""Rules for the bandwidth sigma of a Gaussian weight: median, neighbours, local, or a number."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np

from eigencut.runtime.arrays import Array, Indices
from eigencut.search.build import exact_index
from eigencut.search.index import Index
from eigencut.search.metrics import METRICS, Metric, Space

Bandwidth = float | str | Callable[[Array], Array]

# Widths are kept within these, in units of the data, so that their squares stay finite.
WIDTH_LIMITS = (1e-140, 1e140)

RULES = ("auto", "median", "neighbors", "local")

_FEW_DISTANCES = 1 << 15  # so many are measured sooner than a search begins
_LEAST_WIDTH = 0.1
_MEDIAN_ROWS = 2000  # rows whose pairwise distances are enough to know the median


def check_bandwidth(sigma: object) -> Bandwidth:
    """Return sigma as a float, a function or the name of a rule, or say what is wrong with it."""
    if (isinstance(sigma, str) and sigma in RULES) or callable(sigma):
        return sigma
    is_number = isinstance(sigma, Real) and not isinstance(sigma, bool)
    if is_number and 0 < sigma <= sys.float_info.max:  # type: ignore[operator]
        return float(sigma)  # type: ignore[arg-type]
    rules = ", ".join(repr(rule) for rule in RULES)
    raise ValueError(
        f"sigma must be a positive number or one of {rules}. Got {sigma!r}; "
        "use sigma='auto' if unsure."
    )


def median_distance(points: Array, metric: Metric = METRICS["euclidean"]) -> float:
    """Median distance between two different rows (of at most 2000 evenly spaced ones)."""
    from scipy.spatial.distance import pdist

    if len(points) < 2:
        return 1.0
    some = points[:: -(-len(points) // _MEDIAN_ROWS)]
    if metric.is_flat:
        return float(np.median(pdist(some)))
    return float(np.median(metric.all_pairs(some, some)[np.triu_indices(len(some), 1)]))


class NeighborDistances:
    """Distance from any row to the k-th nearest of the given points.

    A row that is itself one of the points counts itself as the first. So one function holds for
    training rows and for new rows, without a jump where a new row meets a training row.
    """

    def __init__(self, points: Array, k: int, metric: Metric = METRICS["euclidean"]) -> None:
        self._points = points
        self._k = min(k, len(points))
        self._metric = metric

    @cached_property
    def _index(self) -> Index:
        return exact_index(self._points, Space(self._points, self._metric))

    def __getstate__(self) -> dict[str, Any]:
        # The index is quickly built anew, and has parts that skops cannot keep.
        return {"_points": self._points, "_k": self._k, "_metric": self._metric}

    def __call__(self, queries: Array) -> Array:
        if len(self._points) == 1:  # no distance to learn a scale from
            return np.ones(len(queries))
        if len(queries) * len(self._points) < _FEW_DISTANCES:
            distances = self._metric.all_pairs(queries, self._points)
            return np.partition(distances, self._k - 1, axis=1)[:, self._k - 1]
        _, nearest = self._index.query(queries, self._k)
        kth = np.zeros(len(queries))
        for column in nearest.T:
            np.maximum(kth, _lengths(queries, self._points[column], self._metric), out=kth)
        return kth

    def nearest(self, queries: Array) -> Indices:
        """Numbers of the k nearest points of each row."""
        return self._index.query(queries, self._k)[1]


def _lengths(A: Array, B: Array, metric: Metric) -> Array:
    """Distances from each point of A to the one of B in the same place, or to the only one."""
    return np.linalg.norm(A - B, axis=1) if metric.is_flat else metric.between(A, B)


class LocalWidth:
    """sigma(x) of the local rule: ``scale`` times the distance to the k-th nearest point.

    It is at least a tenth of the median over the points, lest a few rows that nearly coincide see
    nothing but each other; and at most the largest over the points, so that rows far from all of
    them do not see everything.
    """

    at_points: Array  # known after ``of``

    def __init__(
        self, neighbors: NeighborDistances, scale: float, least: float, most: float
    ) -> None:
        self._neighbors = neighbors
        self._scale = scale
        self.least = least
        self.most = most

    @classmethod
    def of(
        cls, points: Array, k: int, scale: float, metric: Metric = METRICS["euclidean"]
    ) -> LocalWidth:
        """With the limits that the points give."""
        neighbors = NeighborDistances(points, k, metric)
        distances = neighbors(points)
        least = _LEAST_WIDTH * float(np.median(distances))
        found = cls(neighbors, scale, least, float(distances.max()))
        found.at_points = found._width(distances)
        return found

    def __call__(self, queries: Array) -> Array:
        return self._width(self._neighbors(queries))

    def _width(self, distances: Array) -> Array:
        return np.clip(self._scale * np.clip(distances, self.least, self.most), *WIDTH_LIMITS)


def longest_spanning_edge(points: Array, metric: Metric = METRICS["euclidean"]) -> float:
    """Longest edge of the minimum spanning tree (Prim): the gap that must be bridged."""
    to_tree = _lengths(points, points[0], metric)
    in_tree = np.zeros(len(points), dtype=bool)
    in_tree[0] = True
    longest = 0.0
    for _ in range(len(points) - 1):
        closest = int(np.argmin(np.where(in_tree, np.inf, to_tree)))
        longest = max(longest, float(to_tree[closest]))
        in_tree[closest] = True
        np.minimum(to_tree, _lengths(points, points[closest], metric), out=to_tree)
    return longest
