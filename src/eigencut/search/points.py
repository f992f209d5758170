"""Rows as points: the maps that metrics begin with, and what rows they refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from eigencut.data.refused_rows import RefusedRow
from eigencut.runtime.arrays import Array
from eigencut.runtime.warn import warn_user

EARTH_RADIUS = 6371.0088  # km, the mean one
_SOME = 256  # rows by which it is told whether all have unit length
_UNIT = 1e-3  # by how much lengths may differ from 1: rows may come from half precision
_FEWEST_COLUMNS = 3  # of unit vectors; a column of signs is none


def unit_rows(X: Any) -> Any:
    """Rows of Euclidean length 1; a row of zeros has no direction and is refused."""
    if sparse.issparse(X):
        largest = abs(X).max(axis=1).toarray().ravel()
    else:
        X = np.ascontiguousarray(X)  # sums have the same bits in one order of memory only
        largest = np.abs(X).max(axis=1)
    if not largest.all():
        raise RefusedRow(
            "X must have no row of zeros with metric='cosine': it has no direction.",
            "zeros",
            "drop such rows or use metric='euclidean'",
            int(np.argmin(largest)),
            None,
            unit_rows,
        )
    scaled = _divided(X, largest)  # first to ordinary size, lest squares overflow
    squares = scaled.multiply(scaled) if sparse.issparse(X) else scaled * scaled
    return _divided(scaled, np.sqrt(np.asarray(squares.sum(axis=1)).ravel()))


def _divided(X: Any, by: Array) -> Any:
    if sparse.issparse(X):
        return with_data(X, X.data / np.repeat(by, np.diff(X.indptr)))
    return X / by[:, np.newaxis]


def with_data(X: Any, data: Array) -> Any:
    """The sparse rows with other values."""
    return sparse.csr_array((data, X.indices, X.indptr), shape=X.shape)


def in_form_of(others: Any, X: Any) -> Any:
    """Rows as sparse, or dense, as others are."""
    if sparse.issparse(others):
        return X if sparse.issparse(X) else sparse.csr_array(X)
    return X.toarray() if sparse.issparse(X) else X


def places_on_earth(X: Array) -> Array:
    """Latitudes and longitudes in degrees as points on a sphere, in kilometres.

    The chord between two points grows with the great-circle distance a: it is ``2 R sin(a / 2R)``,
    1 % less than a at 3000 km. So nothing happens at the date line, or at the poles.

    Examples
    --------
    >>> north, greenwich = places_on_earth(np.array([[90.0, 17.0], [0.0, 0.0]]))
    >>> north.round(3), greenwich.round(3)
    (array([   0.   ,    0.   , 6371.009]), array([6371.009,    0.   ,    0.   ]))
    """
    if X.shape[1] != 2:
        raise ValueError(
            "X must have two columns with metric='haversine', latitude and longitude in degrees. "
            f"Got {X.shape[1]}; choose these two columns, or use metric='euclidean'."
        )
    latitude, longitude = (np.ascontiguousarray(column) for column in X.T)
    _refuse_degrees("latitude", 0, latitude, -90.0, 90.0)
    _refuse_degrees("longitude", 1, longitude, -180.0, 360.0)
    phi, lam = np.radians(latitude), np.radians(longitude)
    on_sphere = np.cos(phi) * np.cos(lam), np.cos(phi) * np.sin(lam), np.sin(phi)
    return EARTH_RADIUS * np.column_stack(on_sphere)


def degrees_of_places(points: Array) -> Array:
    """Latitude and longitude of points around the middle of the globe: the way back."""
    x, y, z = points.T
    return np.degrees(np.column_stack([np.arctan2(z, np.hypot(x, y)), np.arctan2(y, x)]))


def _refuse_degrees(name: str, column: int, values: Array, least: float, most: float) -> None:
    is_wrong = (values < least) | (values > most)
    if is_wrong.any():
        row = int(np.argmax(is_wrong))
        raise RefusedRow(
            f"X must have a {name} from {least:g} to {most:g} degrees in its "
            f"{('first', 'second')[column]} column with metric='haversine'.",
            f"{values[row]:g}",
            "give latitude and longitude, in this order and not scaled",
            row,
            column,
            places_on_earth,
        )


def warn_about_radians(X: Array) -> None:
    """A warning where latitudes and longitudes are all so small that they can be radians."""
    if X.shape[1] == 2 and (np.abs(X) <= (np.pi / 2, np.pi)).all():
        warn_user(
            "metric='haversine' takes degrees, and all rows are within 3.2 degrees of the place "
            "where the equator meets Greenwich. If these are radians (as scikit-learn takes), "
            "pass numpy.degrees(X)."
        )


def sets_as_rows(X: Array) -> Array:
    """Rows of zeros and ones, as they are: which elements each set has."""
    is_wrong = (X != 0) & (X != 1)
    if is_wrong.any():
        row, column = (int(places[0]) for places in np.nonzero(is_wrong))
        raise RefusedRow(
            "X must hold 0 and 1 with metric='jaccard': whether a set has an element.",
            f"{X[row, column]:g}",
            "pass X > 0, not scaled, or use metric='hamming' for codes",
            row,
            column,
            sets_as_rows,
        )
    return X


def codes_as_rows(X: Array) -> Array:
    """Any numbers, as they are: all that counts is which are equal."""
    return X


def are_unit_vectors(X: Any) -> bool:
    """Whether rows have length 1, as far as some of them show: embeddings often do.

    Examples
    --------
    >>> are_unit_vectors(np.eye(3)), are_unit_vectors(np.ones((3, 3)))
    (True, False)
    """
    if X.shape[1] < _FEWEST_COLUMNS or not X.shape[0]:
        return False
    some = X[:: 1 + X.shape[0] // _SOME].astype(np.float64)  # rows may be narrower
    with np.errstate(over="ignore"):
        squares = some.multiply(some) if sparse.issparse(some) else np.square(some)
        lengths = np.sqrt(np.asarray(squares.sum(axis=1)).ravel())
    return bool((np.abs(lengths - 1) < _UNIT).all())
