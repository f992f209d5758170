"""Nearest points from all distances, and the order of those that are equally far.

Points at equal distance always come in the order of their numbers.
"""

from __future__ import annotations

import numpy as np

from eigencut.runtime.arrays import Array, Indices
from eigencut.runtime.blocks import row_blocks

Found = tuple[Array, Indices]  # distances and numbers of the neighbours, nearest first

FARTHEST = 1e140  # coordinates are clipped here, so that their squares stay finite
_ELEMENTS = 1 << 19  # distances held at a time


def nearest_of(distances: Array, k: int) -> Found:
    """The k smallest distances of each row, and the columns they are in."""
    numbers = np.argsort(distances, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(distances, numbers, axis=1), numbers


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
