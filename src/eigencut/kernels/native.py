"""Kernels in C: used where a compiler was there when eigencut was installed.

Without them everything works the same, by numpy: ``predict`` takes two to three times as long, a
fit of the complete graph a quarter longer, and an exact search for neighbours twice as long.
``EIGENCUT_NATIVE=0`` in the environment switches them off.
"""

from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

_NO_MEMORY = 1  # what a kernel returns
LIBRARY = Path(__file__).with_name("kernels.so")
ROWS_MULTIPLE = 60  # training rows are padded to a multiple of this
COLUMNS_MULTIPLE = 8  # columns of a block of vectors are padded to a multiple of this
STRIP = 32  # points that a query meets at a time
PANEL_ROWS = 480  # training rows summed in single precision before they are added in double


@cache
def library() -> ctypes.CDLL | None:
    """The compiled kernels, or None."""
    if os.environ.get("EIGENCUT_NATIVE") == "0" or not LIBRARY.exists():
        return None
    try:
        return ctypes.CDLL(str(LIBRARY))
    except OSError:  # of another machine
        return None


def weighted_sums(
    kernel: ctypes.CDLL, left: NDArray[Any], right: NDArray[Any], V: NDArray[Any]
) -> NDArray[np.float64]:
    """``sum_j 2^(left_i . right_j) V[j]`` for each row i; the GIL is free meanwhile.

    All arrays are of the kernel's precision; ``right`` and V have a multiple of ``ROWS_MULTIPLE``
    rows.
    """
    (m, p), (n, columns) = left.shape, V.shape
    left, right, V = (np.ascontiguousarray(array) for array in (left, right, V))
    sums = np.empty((m, columns))
    sizes = map(ctypes.c_long, (m, n, p, columns))
    if kernel.weighted_sums(*map(_address, (left, right, V, sums)), *sizes) == _NO_MEMORY:
        raise MemoryError("There is no memory for the buffers of weighted sums.")
    return sums


def add_symmetric_product(
    kernel: ctypes.CDLL,
    tiles: NDArray[np.float64],
    places: NDArray[np.int64],
    part: slice,
    V: NDArray[np.float64],
    sums: NDArray[np.float64],
) -> bool:
    """Add the product of some tiles of a symmetric matrix and V; the GIL is free meanwhile.

    All arrays are contiguous, and V has a multiple of ``COLUMNS_MULTIPLE`` columns. Returns whether
    there is a form of the kernel for this processor; if not, nothing was added.
    """
    numbers = (len(tiles), part.start, part.step, tiles.shape[1], len(V))
    status = kernel.symmetric_product(
        *map(_address, (tiles, places)),
        *map(ctypes.c_long, numbers),
        *map(_address, (V, sums)),
        ctypes.c_long(V.shape[1]),
    )
    return status == 0


def near_points(
    kernel: ctypes.CDLL,
    left: NDArray[np.float32],
    strips: NDArray[np.float32],
    visits: NDArray[np.int32],
    slack: NDArray[np.float32],
    k: int,
    room: int,
) -> tuple[NDArray[np.int32], NDArray[np.int32]] | None:
    """Points whose score is not above the k-th smallest by more than the slack of a query.

    The score of a query and a point is ``left @ strips[strip, :, lane]``; only the strips to visit
    are met, in that order. The GIL is free meanwhile. Returns numbers ``STRIP * strip + lane`` in
    ``room`` columns, and how many of these are filled: none where ``room`` is not enough. Or None:
    there is no form of the kernel for this processor.
    """
    m, p = left.shape
    numbers, count = np.empty((m, room), dtype=np.int32), np.empty(m, dtype=np.int32)
    status = kernel.near_points(
        *map(_address, (left, strips, visits, slack)),
        *map(ctypes.c_long, (m, len(visits), p, k, room)),
        *map(_address, (numbers, count)),
    )
    if status == _NO_MEMORY:
        raise MemoryError("There is no memory for the candidates of a search for neighbours.")
    return (numbers, count) if status == 0 else None


def near_in_cells(
    kernel: ctypes.CDLL,
    rows: NDArray[np.float64],
    grid: tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.intp]],
    candidates: NDArray[np.int32],
    is_known: NDArray[np.bool_],
    points: NDArray[np.float64],
    n_nearest: int,
) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """The nearest of 12 candidates of the cell of each row, and for which rows these are enough.

    The grid is its lowest corner, cells per unit, and number of cells along each axis. The GIL is
    free meanwhile.
    """
    rows, points = np.ascontiguousarray(rows), np.ascontiguousarray(points)
    m, d = rows.shape
    nearest, told = np.empty((m, n_nearest), dtype=np.intp), np.empty(m, dtype=bool)
    kernel.near_in_cells(
        _address(rows),
        *map(ctypes.c_long, (m, d)),
        *map(_address, grid),
        *map(_address, (candidates, is_known, points)),
        ctypes.c_long(n_nearest),
        *map(_address, (nearest, told)),
    )
    return nearest, told


def membership_sums(
    kernel: ctypes.CDLL,
    nearest: NDArray[np.intp],
    weights: NDArray[np.float64],
    per_unit: float,
    units: NDArray[np.int64],
) -> None:
    """Add one half of ``Z^T Z`` to units; the GIL is free meanwhile."""
    nearest, weights = np.ascontiguousarray(nearest), np.ascontiguousarray(weights)
    kernel.membership_sums(
        *map(_address, (nearest, weights)),
        *map(ctypes.c_long, (*nearest.shape, len(units))),
        ctypes.c_double(per_unit),
        _address(units),
    )


@dataclass(frozen=True)
class NeighborGraph:
    """What ``neighbor_averages`` needs of a graph of nearest neighbours."""

    vertices: NDArray[np.float64]
    radii: NDArray[np.float64]
    starts: NDArray[np.int32]  # of the vertices in ``reverse`` that have a vertex near
    reverse: NDArray[np.int32]
    slack: float
    width: tuple[float, float, float]  # scale, least and most; a scale of 0 for no width
    is_mutual: bool


def neighbor_averages(
    kernel: ctypes.CDLL,
    graph: NeighborGraph,
    rows: NDArray[np.float64],
    distances: NDArray[np.float64],
    numbers: NDArray[np.intp],
    weighted: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sums over the neighbours of rows, and the largest exponent of each, to which they relate.

    The GIL is free meanwhile.
    """
    given: list[NDArray[Any]] = [
        np.ascontiguousarray(array) for array in (rows, distances, numbers)
    ]
    weighted = np.ascontiguousarray(weighted)
    (m, k), columns = numbers.shape, weighted.shape[1]
    product, largest = np.empty((m, columns)), np.empty(m)
    most_edges = k + int(np.diff(graph.starts).max(initial=0))
    status = kernel.neighbor_averages(
        *map(_address, given),
        *map(ctypes.c_long, (m, rows.shape[1], k)),
        *map(_address, (graph.vertices, graph.radii)),
        *map(_address, (graph.starts, graph.reverse)),
        _address(weighted),
        ctypes.c_long(columns),
        *map(ctypes.c_double, (graph.slack, *graph.width)),
        ctypes.c_int(graph.is_mutual),
        ctypes.c_long(most_edges),
        *map(_address, (product, largest)),
    )
    if status == _NO_MEMORY:
        raise MemoryError("There is no memory for the neighbours of a row.")
    return product, largest


def aligned(array: NDArray[Any]) -> NDArray[Any]:
    """A contiguous copy that begins at a multiple of 64 bytes, as wide vectors want it."""
    room = np.empty(array.nbytes + 64, dtype=np.uint8)
    start = -room.ctypes.data % 64
    copy = room[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def _address(array: NDArray[Any]) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)
