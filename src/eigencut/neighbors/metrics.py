"""Metrics: distances between rows, dense or sparse, units that avoid overflow, and equal rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.running import row_blocks, warn_user
from eigencut.exceptions import RefusedRow
from eigencut.io.sample import Keys, random_keys, summed_weights
from eigencut.kernels.numpy_kernels import kth_smallest_bound

# Distances and numbers of neighbours, the nearest first, and equally near ones by number.
Found = tuple[Array, Indices]

FARTHEST = 1e140  # coordinates are clipped here, so that their squares stay finite
_ELEMENTS = 1 << 19  # numbers processed at a time, to bound memory
_MANY = 16  # columns per neighbour, above which a preselection is faster than a full sort


def middle(points: Array) -> Array:
    """Return the median of each column of at most 1000 points: outliers hardly move it."""
    some = points[:: -(-len(points) // 1000)]
    return np.asarray(np.partition(some, len(some) // 2, axis=0)[len(some) // 2])


def nearest_of(distances: Array, k: int) -> Found:
    """Return the k smallest distances of each row, ascending, and their columns."""
    if _MANY * k > distances.shape[1]:
        numbers = np.argsort(distances, axis=1, kind="stable")[:, :k]
        return np.take_along_axis(distances, numbers, axis=1), numbers
    limit = kth_smallest_bound(distances, k)
    is_near = distances <= limit[:, np.newaxis]
    if np.count_nonzero(is_near) > is_near.size // _MANY:
        numbers = _smallest(distances, k)
        return in_order(np.take_along_axis(distances, numbers, axis=1), numbers)
    origin, numbers = np.nonzero(is_near)
    return nearest_of_pairs(origin, numbers, distances[origin, numbers], len(distances), k)


def nearest_of_pairs(
    origin: Indices, numbers: Indices, distances: Array, n_rows: int, k: int
) -> Found:
    """Return the k nearest of each row from sorted pairs of a row (origin) and a neighbour."""
    count = np.bincount(origin, minlength=n_rows)
    place = np.arange(len(origin)) - np.repeat(np.cumsum(count) - count, count)
    shape = (n_rows, int(count.max(initial=k)))
    of_row, near = np.zeros(shape, dtype=np.intp), np.full(shape, np.inf)
    of_row[origin, place], near[origin, place] = numbers, distances
    if shape[1] > _MANY * k:
        first = _smallest(near, k)
        of_row, near = (np.take_along_axis(all_of, first, axis=1) for all_of in (of_row, near))
    order = np.argsort(near, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(near, order, axis=1), np.take_along_axis(of_row, order, axis=1)


def _smallest(distances: Array, k: int) -> Indices:
    """Return the columns of the k smallest values of each row, ascending; ties take the first."""
    limit = np.partition(distances, k - 1, axis=1)[:, k - 1 : k]
    is_nearer, is_last = distances < limit, distances == limit
    left = k - np.count_nonzero(is_nearer, axis=1)
    is_last &= np.cumsum(is_last, axis=1, dtype=np.int32) <= left[:, np.newaxis]
    return np.nonzero(is_nearer | is_last)[1].reshape(len(distances), k)


def in_order(distances: Array, numbers: Indices) -> Found:
    """Sort the neighbours of each row by distance, and equally near ones by number."""
    order = np.lexsort((numbers, distances), axis=1)
    return np.take_along_axis(distances, order, 1), np.take_along_axis(numbers, order, 1)


EARTH_RADIUS = 6371.0088  # km, the mean one
_SOME = 256  # rows, or entries of sparse rows, in a sample that stands for all
_UNIT = 1e-3  # largest difference of a unit length from 1, which rows in half precision can have
_FEWEST_COLUMNS = 3  # of unit vectors: a single column of 1 and -1 does not count


def unit_rows(X: Any) -> Any:
    """Scale rows to Euclidean length 1; refuse rows of zeros, which have no direction."""
    if sparse.issparse(X):
        scaled = _divided(X, _refuse_zeros(abs(X).max(axis=1).toarray().ravel()))
        return _divided(scaled, np.sqrt(_sums_of_squares(scaled)))
    # In C order, sums have the same bits whatever the memory order of X.
    points = np.array(X, dtype=np.float64, order="C")
    for rows in row_blocks(len(points), points.shape[1], _ELEMENTS):
        some = points[rows]  # first divided by their largest entries, so that no square overflows
        some /= _refuse_zeros(np.abs(some).max(axis=1), rows.start)[:, np.newaxis]
        some /= np.sqrt(_sums_of_squares(some))[:, np.newaxis]
    return points


def _refuse_zeros(largest: Array, first: int = 0) -> Array:
    """Return the largest entries of the rows from ``first`` on; refuse a row whose entry is 0."""
    if not largest.all():
        expected = "X must have no row of zeros with metric='cosine': it has no direction."
        row, remedy = first + int(np.argmin(largest)), "drop such rows or use metric='euclidean'"
        raise RefusedRow(expected, "zeros", remedy, row, column=None, check=unit_rows)
    return largest


def _sums_of_squares(X: Any) -> Array:
    squares = X.multiply(X) if sparse.issparse(X) else X * X
    return np.asarray(squares.sum(axis=1)).ravel()


def _divided(X: Any, by: Array) -> Any:
    return with_data(X, X.data / np.repeat(by, np.diff(X.indptr)))


def with_data(X: Any, data: Array) -> Any:
    """Return a sparse array with the nonzero places of X and other values."""
    return sparse.csr_array((data, X.indices, X.indptr), shape=X.shape)


def in_form_of(others: Any, X: Any) -> Any:
    """Convert X to a sparse or dense array, whichever ``others`` is."""
    if sparse.issparse(others):
        return X if sparse.issparse(X) else sparse.csr_array(X)
    return X.toarray() if sparse.issparse(X) else X


def places_on_earth(X: Array) -> Array:
    """Convert latitudes and longitudes in degrees to points on a sphere, in kilometres."""
    if X.shape[1] != 2:
        raise ValueError(
            "X must have two columns with metric='haversine', latitude and longitude in degrees. "
            f"Got {X.shape[1]}; choose these two columns, or use metric='euclidean'."
        )
    parts = ("latitude", "first", -90.0, 90.0), ("longitude", "second", -180.0, 360.0)
    for column, (name, which, least, most) in enumerate(parts):
        is_wrong = (X[:, column] < least) | (X[:, column] > most)
        if is_wrong.any():
            row = int(np.argmax(is_wrong))
            expected = f"X must have a {name} from {least:g} to {most:g} degrees in its {which} "
            expected += "column with metric='haversine'."
            got = f"{X[row, column]:g}"
            remedy = "give latitude and longitude, in this order and not scaled"
            raise RefusedRow(expected, got, remedy, row, column, check=places_on_earth)
    phi, lam = np.radians(np.array(X.T, dtype=np.float64))
    on_sphere = np.cos(phi) * np.cos(lam), np.cos(phi) * np.sin(lam), np.sin(phi)
    return EARTH_RADIUS * np.column_stack(on_sphere)


def warn_about_radians(metric: str, X: Any) -> None:
    """Warn if all latitudes and longitudes are so small that they may be radians."""
    is_globe = metric == "haversine" and X.shape[1] == 2
    if is_globe and (np.abs(X) <= (np.pi / 2, np.pi)).all():
        warn_user(
            "metric='haversine' takes degrees, and all rows are within 3.2 degrees of latitude 0, "
            "longitude 0. If these are radians (as scikit-learn takes), pass numpy.degrees(X)."
        )


def sets_as_rows(X: Array) -> Array:
    """Return rows of 0 and 1 (the elements of sets) as floats; refuse other numbers."""
    is_wrong = (X != 0) & (X != 1)
    if is_wrong.any():
        row, column = (int(places[0]) for places in np.nonzero(is_wrong))
        expected = "X must hold 0 and 1 with metric='jaccard': whether a set has an element."
        got, remedy = f"{X[row, column]:g}", "pass X > 0, or use metric='hamming' for codes"
        raise RefusedRow(expected, got, remedy, row, column, check=sets_as_rows)
    return np.asarray(X, dtype=np.float64)


def are_unit_vectors(X: Any) -> bool:
    """Return whether all rows of a sample have length 1, as embeddings often do."""
    if X.shape[1] < _FEWEST_COLUMNS or not X.shape[0]:
        return False
    some = X[:: 1 + X.shape[0] // _SOME].astype(np.float64)  # X may be float32 or float16
    with np.errstate(over="ignore"):
        lengths = np.sqrt(_sums_of_squares(some))
    return bool((np.abs(lengths - 1) < _UNIT).all())


_MOST_SPREAD = 400  # powers of two between the largest number and one whose square underflows
_MOST_EXPONENT = 450  # powers of two by which numbers then become larger; below FARTHEST
_WIDE, _AXES = 128, 64  # unit vectors of more columns are projected on this many directions
_SAMPLE, _TILE = 20_000, 256  # rows that the directions are computed from, and rows per product


@dataclass(frozen=True)
class Metric:
    """A distance between rows: rows are converted to points, which have a distance."""

    name: str  # scipy's name of the distance between points
    p: float | None  # Order of the Minkowski distance; None for sets and codes, which have no mean
    to_points: Callable[[Any], Any] | None = None  # None if rows are points
    n_columns: int | None = None  # Required number, if there is one
    n_coordinates: int | None = None  # Of a point, if different from columns
    takes_sparse: bool = False
    # Whether all real numbers are valid, so that columns may be rescaled.
    of_numbers: bool = True
    # Points this close in each coordinate count as equal, because of rounding; None: exact points.
    grain: float | None = None

    @property
    def is_flat(self) -> bool:
        """Whether points have the Euclidean distance."""
        return self.p == 2

    @property
    def has_means(self) -> bool:
        """Whether points can be averaged, unlike sets and codes."""
        return self.p is not None

    @property
    def of_points(self) -> Metric:
        """Return the metric for rows that are points of this metric already."""
        return replace(METRICS["euclidean"], grain=self.grain) if self.is_flat else self

    def points(self, X: Any) -> Any:
        """Convert rows to points."""
        return X if self.to_points is None else self.to_points(X)

    def places(self, X: Any) -> Any:
        """Return numbers that agree for rows at the same point (for cosine: parallel rows)."""
        if self.grain is None:
            return X
        points = self.points(X)
        if sparse.issparse(points):
            return with_data(points, np.round(points.data / self.grain))
        return np.round(points / self.grain)

    def rows(self, points: Array) -> Array:
        """Return rows at these points, or for cosine in these directions."""
        if self.n_coordinates is None:
            return points
        x, y, z = points.T  # measured from the centre of the globe
        return np.degrees(np.column_stack([np.arctan2(z, np.hypot(x, y)), np.arctan2(y, x)]))

    def between(self, A: Any, B: Any) -> Array:
        """Return the distance from point i of A to point i of B for every i."""
        if self.name == "jaccard":
            return _jaccard((A * B).sum(axis=-1), A.sum(axis=-1), B.sum(axis=-1))
        if self.name == "hamming":
            return np.asarray((A != B).mean(axis=-1))
        difference = A - B
        if sparse.issparse(difference):
            return np.sqrt(_sums_of_squares(difference))
        if self.is_flat:
            return np.sqrt(np.einsum("...j,...j->...", difference, difference))
        return np.asarray(np.linalg.norm(difference, self.p, axis=-1))

    def all_pairs(self, A: Any, B: Any) -> Array:
        """Return the distances from every point of A to every point of B."""
        if sparse.issparse(A):
            from sklearn.metrics.pairwise import euclidean_distances

            return np.asarray(euclidean_distances(A, B))
        if self.name == "jaccard":  # sums of zeros and ones have no rounding
            return _jaccard(A @ B.T, A.sum(axis=1)[:, np.newaxis], B.sum(axis=1))
        from scipy.spatial.distance import cdist

        return np.asarray(cdist(A, B, self.name))

    def diameter(self, points: Array) -> float:
        """Return an upper bound of the distance between two of the points."""
        if self.p is None:
            return 1.0
        return float(np.linalg.norm(np.ptp(points, axis=0), self.p))

    def nearest(self, queries: Array, points: Array) -> Indices:
        """Return the index of the point nearest to each query, which is a point too."""
        space = Space(points, self)
        queries, points = space.in_units(queries), space.in_units(points)
        found = np.empty(len(queries), dtype=np.intp)
        for block in row_blocks(len(queries), len(points), _ELEMENTS):
            found[block] = np.argmin(self.all_pairs(queries[block], points), axis=1)
        return found


def _jaccard(common: Array, in_one: Array, in_other: Array) -> Array:
    """Return the share of the elements of two sets that only one has; 0 if both are empty."""
    together = in_one + in_other - common
    return np.asarray((together - common) / np.maximum(together, 1.0))


METRICS = {
    "euclidean": Metric("euclidean", 2, takes_sparse=True),
    # On the sphere |x - y|^2 = 2 - 2 cos(x, y): the same neighbours.
    "cosine": Metric("euclidean", 2, unit_rows, takes_sparse=True, grain=1e-11),
    "manhattan": Metric("cityblock", 1),
    "chebyshev": Metric("chebyshev", np.inf),
    "hamming": Metric("hamming", None, partial(np.asarray, dtype=np.float64), of_numbers=False),
    "jaccard": Metric("jaccard", None, sets_as_rows, of_numbers=False),
    "haversine": Metric(
        "euclidean",
        2,
        places_on_earth,
        n_columns=2,
        n_coordinates=3,
        of_numbers=False,
        grain=1e-11 * EARTH_RADIUS,
    ),
}


def refuse_units(metric: Any, scale: str) -> None:
    """Raise an error if columns would be scaled although the metric needs raw values."""
    if metric in METRICS and not METRICS[metric].of_numbers and scale != "none":
        raise ValueError(
            f"scale must be 'none' with metric={metric!r}, which compares values as they are. "
            f"Got {scale!r}; use scale='none'."
        )


class Space:
    """Converts rows to points, divided by a power of two so that distances do not overflow."""

    def __init__(self, rows: Any, metric: Metric, axes: Array | None = None) -> None:
        self.metric, self.axes = metric, axes  # with axes, points are projections on them
        self.exponent = 0 if metric.to_points is not None else _exponent(rows)

    def points(self, X: Any) -> Any:
        """Convert the rows of X to points."""
        if self.axes is None:
            return self.in_units(self.metric.points(X))
        points = np.empty((len(X), self.axes.shape[1]))
        tile = np.zeros((_TILE, len(self.axes)))  # a fixed shape gives the same bits
        try:
            for start in range(0, len(X), _TILE):
                rows = slice(start, min(start + _TILE, len(X)))
                tile[: rows.stop - start] = self.in_units(self.metric.points(X[rows]))
                points[rows] = (tile @ self.axes)[: rows.stop - start]
        except RefusedRow:  # raise it for all of X, so that it has the number of the row there
            self.metric.points(X)
            raise
        return points

    def rows(self, points: Array) -> Array:
        """Convert points back to rows, where they differ only by the unit."""
        return np.asarray(np.ldexp(points, self.exponent))

    def in_units(self, points: Any) -> Any:
        """Divide points by the unit."""
        if self.metric.to_points is not None:
            return points
        is_sparse = sparse.issparse(points)
        with np.errstate(over="ignore"):
            values = points.data if is_sparse else points
            scaled = np.ldexp(values, -self.exponent, dtype=np.float64)
        np.clip(scaled, -FARTHEST, FARTHEST, out=scaled)
        return with_data(points, scaled) if is_sparse else scaled


def principal_axes(rows: Any, metric: Metric) -> Array | None:
    """Return the principal axes of unit vectors of many columns; None for other rows."""
    is_wide = not sparse.issparse(rows) and metric.is_flat and rows.shape[1] > _WIDE
    if not is_wide or len(rows) <= _AXES or not (metric.to_points or are_unit_vectors(rows)):
        return None
    from sklearn.utils.extmath import randomized_svd

    order = np.random.default_rng(0).permutation(len(rows))
    sample = Space(rows, metric).points(rows[np.sort(order[:_SAMPLE])])
    found = randomized_svd(sample - sample.mean(axis=0), _AXES, n_iter=4, random_state=0)
    return np.ascontiguousarray(found[2].T)


def _exponent(rows: Any) -> int:
    """Return e such that distances between rows divided by ``2^e`` neither over- nor underflow."""
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


@dataclass(frozen=True)
class DistinctRows:
    """The distinct rows of X in lexicographic order, their counts, and where X has them."""

    rows: Array  # (n_vertices, n_features)
    multiplicity: Array  # (n_vertices,): how often each occurs, or the sum of its sample weights
    vertex_of_row: Indices  # (n_rows,): the index in ``rows`` of each row of X


def distinct_rows(
    X: Any, sample_weight: Array | None = None, metric: Metric | None = None
) -> DistinctRows:
    """Return the rows of X that are different points of a metric, whatever their order in X."""
    if sparse.issparse(X):
        keys = np.array(row_keys(X), dtype=object)
        _, first_of, vertex_of_row = np.unique(keys, return_index=True, return_inverse=True)
    else:
        X = X + 0.0  # turns -0.0 into 0.0, which is equal
        order = np.argsort(X[:, 0], kind="stable")
        is_same = np.diff(X[order, 0]) == 0
        tied = np.flatnonzero(np.append(is_same, False) | np.append(False, is_same))
        if len(tied):  # rows that differ in the first column are sorted already
            order[tied] = order[tied][np.lexsort(X[order[tied]].T[::-1])]
        is_new = np.ones(len(X), dtype=bool)
        for rows in row_blocks(len(X) - 1, X.shape[1], _ELEMENTS):
            after = slice(rows.start + 1, rows.stop + 1)
            is_new[after] = (X[order[after]] != X[order[rows]]).any(axis=1)
        vertex_of_row = np.empty(len(X), dtype=np.intp)
        first_of, vertex_of_row[order] = order[is_new], np.cumsum(is_new) - 1
    rows = X[first_of]
    if metric is not None and metric.grain is not None:
        kept, vertex_of_kept = np.unique(_first_of_place(rows, metric), return_inverse=True)
        if len(kept) < rows.shape[0]:
            rows, vertex_of_row = rows[kept], vertex_of_kept[vertex_of_row]
    return DistinctRows(rows, summed_weights(vertex_of_row, sample_weight), vertex_of_row)


def _first_of_place(rows: Any, metric: Metric) -> Indices:
    """Return the index of the first row at the same point as each row; for most rows, their own."""
    first = np.arange(rows.shape[0])
    if sparse.issparse(rows):
        some = first
    else:  # compare only rows with equal keys, which different rows can have by chance
        _, group, size = np.unique(_keys(rows, metric), return_inverse=True, return_counts=True)
        some = np.flatnonzero(size[group] > 1)
    place = distinct_rows(metric.places(rows[some])).vertex_of_row
    _, first_of_place = np.unique(place, return_index=True)
    first[some] = some[first_of_place[place]]
    return first


def count_distinct_rows(X: Any, metric: str = "euclidean") -> int:
    """Return how many different points the rows are (by random keys, if they are dense)."""
    if sparse.issparse(X):
        return len(set(row_keys(METRICS[metric].places(X))))
    keys = _keys(X, METRICS[metric])
    keys.sort()
    return int(np.count_nonzero(keys[1:] != keys[:-1])) + min(1, len(X))


def _keys(X: Array, metric: Metric) -> Keys:
    """Return random keys of rows, equal for rows at the same point."""
    keys = np.empty(len(X), dtype=np.uint64)
    for rows in row_blocks(len(X), X.shape[1], 8 * _ELEMENTS):
        keys[rows] = random_keys(metric.places(X[rows]).astype(np.float64) + 0.0)
    return keys


def row_keys(X: Any) -> list[bytes]:
    """Return bytes for each row, which are equal if and only if the rows are."""
    if not sparse.issparse(X):
        return [row.tobytes() for row in X + 0.0]  # -0.0 and 0.0 are the same place
    X = X.astype(np.float64, copy=True)
    X.sum_duplicates()
    X.eliminate_zeros()
    columns, limits = X.indices.astype(np.int64), X.indptr
    pieces = (slice(*limits[i : i + 2]) for i in range(X.shape[0]))
    return [columns[piece].tobytes() + X.data[piece].tobytes() for piece in pieces]
