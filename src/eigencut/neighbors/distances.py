"""Nearest points from all distances, and the order of those that are equally far.

Points at equal distance always come in the order of their numbers.
"""

from __future__ import annotations

import numpy as np

from eigencut._utils.arrays import Array, Indices, row_blocks
from eigencut.kernels.numpy_kernels import kth_smallest_bound

Found = tuple[Array, Indices]  # distances and numbers of the neighbours, nearest first

FARTHEST = 1e140  # coordinates are clipped here, so that their squares stay finite
_ELEMENTS = 1 << 19  # distances held at a time
_MANY = 16  # numbers per neighbour, beyond which sorting all of them takes longer
_MIDDLE_POINTS = 1000  # of which the middle is taken


def middle(points: Array) -> Array:
    """The median of each column, of some of the points: what a few outliers do not move."""
    some = points[:: -(-len(points) // _MIDDLE_POINTS)]
    return np.asarray(np.partition(some, len(some) // 2, axis=0)[len(some) // 2])


def nearest_of(distances: Array, k: int) -> Found:
    """The k smallest distances of each row, and the columns they are in."""
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
    """The k nearest of each row, among pairs of a row and a number in this order."""
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
    """Columns of the k smallest of each row, ascending; of equal ones the first."""
    limit = np.partition(distances, k - 1, axis=1)[:, k - 1 : k]
    is_nearer, is_last = distances < limit, distances == limit
    left = k - np.count_nonzero(is_nearer, axis=1)
    is_last &= np.cumsum(is_last, axis=1, dtype=np.int32) <= left[:, np.newaxis]
    return np.nonzero(is_nearer | is_last)[1].reshape(len(distances), k)


def in_order(distances: Array, numbers: Indices) -> Found:
    """Neighbours sorted by distance, those at equal distance by number."""
    order = np.lexsort((numbers, distances), axis=1)
    return np.take_along_axis(distances, order, 1), np.take_along_axis(numbers, order, 1)


def nearest_rows(queries: Array, rows: Array) -> Indices:
    """Index of the Euclidean nearest row, from direct differences."""
    from scipy.spatial.distance import cdist

    # Around their middle, in a power of two as unit, squares neither over- nor underflow.
    center = rows.min(axis=0) / 2 + rows.max(axis=0) / 2
    rows = rows - center
    unit = -int(np.frexp(np.abs(rows).max())[1])
    with np.errstate(over="ignore"):
        queries = np.clip(np.ldexp(queries - center, unit), -FARTHEST, FARTHEST)
    rows = np.ldexp(rows, unit)
    found = np.empty(len(queries), dtype=np.intp)
    for block in row_blocks(len(queries), len(rows), _ELEMENTS):
        found[block] = np.argmin(cdist(queries[block], rows), axis=1)
    return found
