"""Metrics: rows, dense or sparse, as points of a space, and how far apart they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from eigencut.runtime.arrays import Array
from eigencut.search.distances import FARTHEST

_SOME = 256  # rows by which it is told how small they can be
_MOST_SPREAD = 400  # powers of two between the largest and a small one whose square is a number
_MOST_EXPONENT = 450  # below FARTHEST


@dataclass(frozen=True)
class Metric:
    """A distance: of Minkowski's order p, between rows as they are or scaled to unit length."""

    name: str  # as scipy and scikit-learn call it
    p: float
    on_sphere: bool = False


METRICS = {
    "euclidean": Metric("euclidean", 2),
    # On the sphere |x - y|^2 = 2 - 2 cos(x, y): the same neighbours.
    "cosine": Metric("euclidean", 2, on_sphere=True),
    "manhattan": Metric("cityblock", 1),
    "chebyshev": Metric("chebyshev", np.inf),
}


class Space:
    """Turns rows into points between which distances neither over- nor underflow.

    The unit is a power of two, which is exact: about the extent of all rows, or less where some
    rows would else be too small to be squared. Rows are not moved: next to an outlier, or far from
    zero, the last digits of the others would be lost.
    """

    def __init__(self, rows: Any, metric: Metric) -> None:
        self.metric = metric
        if sparse.issparse(rows):
            extent = np.abs(rows.data).max(initial=0.0)
            values = rows.data[:: 1 + rows.nnz // _SOME]
        else:
            low, high = rows.min(axis=0), rows.max(axis=0)
            middle = low / 2 + high / 2
            extent = np.maximum(high - middle, middle - low).max() or np.abs(middle).max()
            values = rows[:: 1 + len(rows) // _SOME]
        self.exponent = int(np.frexp(extent)[1])
        smallest = np.abs(values[values != 0]).min(initial=extent)
        if self.exponent - int(np.frexp(smallest)[1]) > _MOST_SPREAD:
            self.exponent -= _MOST_EXPONENT

    def points(self, X: Any) -> Any:
        """The rows of X as points."""
        if self.metric.on_sphere:
            return _unit_rows(X)
        if sparse.issparse(X):
            return _with_data(X, self._in_units(X.data))
        return self._in_units(X)

    def rows(self, points: Array) -> Array:
        """The rows that points stand for; not with "cosine", where lengths are lost."""
        return np.asarray(np.ldexp(points, self.exponent))

    def _in_units(self, values: Array) -> Array:
        with np.errstate(over="ignore"):
            scaled = np.ldexp(values, -self.exponent)
        return np.clip(scaled, -FARTHEST, FARTHEST, out=scaled)

    def between(self, A: Any, B: Any) -> Array:
        """Distances from each point of A to the one of B in the same place."""
        difference = A - B
        if sparse.issparse(difference):  # of order 2: Neighbors allows no other
            return np.sqrt(np.asarray(difference.multiply(difference).sum(axis=1)).ravel())
        if self.metric.p == 2:
            return np.sqrt(np.einsum("...j,...j->...", difference, difference))
        return np.asarray(np.linalg.norm(difference, self.metric.p, axis=-1))

    def all_pairs(self, A: Any, B: Any) -> Array:
        """Distances from every point of A to every point of B."""
        if sparse.issparse(A):
            from sklearn.metrics.pairwise import euclidean_distances

            return np.asarray(euclidean_distances(A, B))
        from scipy.spatial.distance import cdist

        return np.asarray(cdist(A, B, self.metric.name))


def _unit_rows(X: Any) -> Any:
    """Rows of Euclidean length 1; a row of zeros has no direction and is refused."""
    if sparse.issparse(X):
        largest = abs(X).max(axis=1).toarray().ravel()
    else:
        largest = np.abs(X).max(axis=1)
    if not largest.all():
        raise ValueError(
            "X must have no row of zeros with metric='cosine': it has no direction. "
            f"Got zeros in row {int(np.argmin(largest))}; drop such rows or use metric='euclidean'."
        )
    scaled = _divided(X, largest)  # first to ordinary size, lest squares overflow
    squares = scaled.multiply(scaled) if sparse.issparse(X) else scaled * scaled
    return _divided(scaled, np.sqrt(np.asarray(squares.sum(axis=1)).ravel()))


def _divided(X: Any, by: Array) -> Any:
    if sparse.issparse(X):
        return _with_data(X, X.data / np.repeat(by, np.diff(X.indptr)))
    return X / by[:, np.newaxis]


def _with_data(X: Any, data: Array) -> Any:
    return sparse.csr_array((data, X.indices, X.indptr), shape=X.shape)
