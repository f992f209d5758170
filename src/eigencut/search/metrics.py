"""Metrics: rows, dense or sparse, as points of a space, and how far apart they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from eigencut.runtime.arrays import Array, Indices
from eigencut.runtime.blocks import row_blocks
from eigencut.search.distances import FARTHEST, nearest_rows
from eigencut.search.points import (
    codes_as_rows,
    degrees_of_places,
    places_on_earth,
    sets_as_rows,
    unit_rows,
    with_data,
)

_SOME = 256  # rows by which it is told how small they can be
_MOST_SPREAD = 400  # powers of two between the largest and a small one whose square is a number
_MOST_EXPONENT = 450  # below FARTHEST
_ELEMENTS = 1 << 19  # distances held at a time


@dataclass(frozen=True)
class Metric:
    """A distance between rows: that of the points which stand for them.

    Attributes
    ----------
    name : str
        What scipy calls the distance between points.
    p : float or None
        Minkowski's order of it; None between sets and codes, which have no mean, and no place in a
        tree.
    to_points : function or None
        From rows to points; None where they are the same, in any unit.
    n_columns : int or None
        That rows must have.
    n_coordinates : int or None
        Of points, where it is not the number of columns.
    takes_sparse : bool
    of_numbers : bool
        Whether rows of any numbers have a distance, so that columns may be brought to other units.
    """

    name: str
    p: float | None
    to_points: Callable[[Any], Any] | None = None
    n_columns: int | None = None
    n_coordinates: int | None = None
    takes_sparse: bool = False
    of_numbers: bool = True

    @property
    def is_flat(self) -> bool:
        """Whether the distance between points is the Euclidean one."""
        return self.p == 2

    @property
    def has_means(self) -> bool:
        """Whether a mean of points is a point."""
        return self.p is not None

    @property
    def of_points(self) -> Metric:
        """The distance between points, if these are the rows."""
        return METRICS["euclidean"] if self.is_flat else self

    def points(self, X: Any) -> Any:
        """The points that stand for rows."""
        if self.to_points is None:
            return X
        return self.to_points(X if sparse.issparse(X) else np.asarray(X, dtype=np.float64))

    def rows(self, points: Array) -> Array:
        """Rows that have the points, or the same direction as they."""
        return points if self.n_coordinates is None else degrees_of_places(points)

    def between(self, A: Any, B: Any) -> Array:
        """Distances from each point of A to the one of B in the same place."""
        if self.name == "jaccard":
            return _jaccard((A * B).sum(axis=-1), A.sum(axis=-1), B.sum(axis=-1))
        if self.name == "hamming":
            return np.asarray((A != B).mean(axis=-1))
        difference = A - B
        if sparse.issparse(difference):
            return np.sqrt(np.asarray(difference.multiply(difference).sum(axis=1)).ravel())
        if self.is_flat:
            return np.sqrt(np.einsum("...j,...j->...", difference, difference))
        return np.asarray(np.linalg.norm(difference, self.p, axis=-1))

    def all_pairs(self, A: Any, B: Any) -> Array:
        """Distances from every point of A to every point of B."""
        if sparse.issparse(A):
            from sklearn.metrics.pairwise import euclidean_distances

            return np.asarray(euclidean_distances(A, B))
        if self.name == "jaccard":  # sums of zeros and ones have no rounding
            return _jaccard(A @ B.T, A.sum(axis=1)[:, np.newaxis], B.sum(axis=1))
        from scipy.spatial.distance import cdist

        return np.asarray(cdist(A, B, self.name))

    def diameter(self, points: Array) -> float:
        """What no two points are farther apart than."""
        if self.p is None:
            return 1.0
        return float(np.linalg.norm(np.ptp(points, axis=0), self.p))

    def nearest(self, queries: Array, points: Array) -> Indices:
        """Index of the point nearest to each query, both being points."""
        if self.is_flat:
            return nearest_rows(queries, points)
        space = Space(points, self)
        queries, points = space.in_units(queries), space.in_units(points)
        found = np.empty(len(queries), dtype=np.intp)
        for block in row_blocks(len(queries), len(points), _ELEMENTS):
            found[block] = np.argmin(self.all_pairs(queries[block], points), axis=1)
        return found


def _jaccard(common: Array, in_one: Array, in_other: Array) -> Array:
    """The share of elements of two sets that only one has; 0 where both are empty."""
    together = in_one + in_other - common
    return np.asarray((together - common) / np.maximum(together, 1.0))


METRICS = {
    "euclidean": Metric("euclidean", 2, takes_sparse=True),
    # On the sphere |x - y|^2 = 2 - 2 cos(x, y): the same neighbours.
    "cosine": Metric("euclidean", 2, unit_rows, takes_sparse=True),
    "manhattan": Metric("cityblock", 1),
    "chebyshev": Metric("chebyshev", np.inf),
    "hamming": Metric("hamming", None, codes_as_rows, of_numbers=False),
    "jaccard": Metric("jaccard", None, sets_as_rows, of_numbers=False),
    "haversine": Metric(
        "euclidean", 2, places_on_earth, n_columns=2, n_coordinates=3, of_numbers=False
    ),
}


def refuse_units(metric: Any, scale: str) -> None:
    """An error where columns would be scaled that a metric compares as they are."""
    if metric in METRICS and not METRICS[metric].of_numbers and scale != "none":
        raise ValueError(
            f"scale must be 'none' with metric={metric!r}, which compares values as they are. "
            f"Got {scale!r}; use scale='none'."
        )


class Space:
    """Turns rows into points between which distances neither over- nor underflow.

    The unit is a power of two, which is exact: about the extent of all rows, or less where some
    rows would else be too small to be squared. Rows are not moved: next to an outlier, or far from
    zero, the last digits of the others would be lost. Where points are no rows, or codes, they are
    of ordinary size already.
    """

    def __init__(self, rows: Any, metric: Metric) -> None:
        self.metric = metric
        self.exponent = 0 if metric.to_points is not None else _exponent(rows)

    def points(self, X: Any) -> Any:
        """The rows of X as points."""
        return self.in_units(self.metric.points(X))

    def rows(self, points: Array) -> Array:
        """The rows that points stand for, where they differ by the unit only."""
        return np.asarray(np.ldexp(points, self.exponent))

    def in_units(self, points: Any) -> Any:
        """Points in the unit."""
        if self.metric.to_points is not None:
            return points
        if sparse.issparse(points):
            return with_data(points, self._values_in_units(points.data))
        return self._values_in_units(points)

    def _values_in_units(self, values: Array) -> Array:
        with np.errstate(over="ignore"):
            scaled = np.ldexp(values, -self.exponent)
        return np.clip(scaled, -FARTHEST, FARTHEST, out=scaled)

    def between(self, A: Any, B: Any) -> Array:
        """Distances from each point of A to the one of B in the same place."""
        return self.metric.between(A, B)

    def all_pairs(self, A: Any, B: Any) -> Array:
        """Distances from every point of A to every point of B."""
        return self.metric.all_pairs(A, B)


def _exponent(rows: Any) -> int:
    """Of the unit."""
    if sparse.issparse(rows):
        extent = np.abs(rows.data).max(initial=0.0)
        values = rows.data[:: 1 + rows.nnz // _SOME]
    else:
        low, high = rows.min(axis=0), rows.max(axis=0)
        middle = low / 2 + high / 2
        extent = np.maximum(high - middle, middle - low).max() or np.abs(middle).max()
        values = rows[:: 1 + len(rows) // _SOME]
    exponent = int(np.frexp(extent)[1])
    smallest = np.abs(values[values != 0]).min(initial=extent)
    if exponent - int(np.frexp(smallest)[1]) > _MOST_SPREAD:
        exponent -= _MOST_EXPONENT
    return exponent
