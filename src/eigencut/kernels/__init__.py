"""The inner loops that are worth C, with one interface (``NumpyKernels``) for C and numpy.

``chosen`` has the kernels in C if the library ``kernels.so`` was compiled, unless the environment
has ``EIGENCUT_NATIVE=0``, and those in numpy otherwise. ``compiling`` compiles the sources in
``csrc``, and this module calls them by ctypes. Both give the same results, up to rounding.
"""

from __future__ import annotations

import ctypes
import math
import os
import re
import warnings
from collections.abc import Mapping
from ctypes import CDLL, c_double, c_int, c_long, c_void_p
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.ctypeslib import ndpointer
from numpy.typing import NDArray
from scipy import sparse

from eigencut._utils.arrays import Array, Indices
from eigencut.kernels.compiling import abi_of
from eigencut.kernels.numpy_kernels import (
    LAYOUT,
    SLACK,
    SOURCES,
    Edges,
    Floats,
    ForEach,
    Grid,
    NeighborGraph,
    NumpyKernels,
    Places,
    Sums,
    Visits,
    Width,
    padded,
    sum_of_parts,
)

LIBRARY = Path(__file__).with_name("kernels.so")


def load(path: Path) -> ctypes.CDLL | None:
    """Return the compiled kernels; None if they are missing, switched off, or out of date."""
    if os.environ.get("EIGENCUT_NATIVE") == "0" or not path.exists():
        return None
    try:
        library = ctypes.CDLL(str(path))
        if ctypes.c_uint.in_dll(library, "eigencut_abi").value == abi_of(SOURCES):
            return library
        reason = "was compiled from other sources than those beside it"
    except (OSError, ValueError) as error:  # for another machine, or not a library of kernels
        reason = f"cannot be loaded ({error})"
    warnings.warn(
        f"The library of kernels {path} {reason}, so the slower ones in numpy are used; reinstall "
        "eigencut (pip install --force-reinstall --no-deps eigencut, or in its source folder "
        "pip install --editable .) to compile it.",
        RuntimeWarning,
        stacklevel=2,
    )
    return None


class Function:
    """A function of the C library, whose arguments are given by name and checked.

    In C it takes the ``arrays``, then the sizes of the axes named in ``sizes``, then the
    ``scalars``, and returns 0, or 1 if memory is short. It runs without the GIL. An array is
    declared by name, type and axes as ``"V:float64[m,p]"``, or as ``"V=float64[m,p]"`` if it is
    written to; an axis is a number, or a name with the same size in all arrays.
    """

    def __init__(
        self, library: CDLL, name: str, arrays: str, sizes: str, scalars: Mapping[str, Any]
    ) -> None:
        self._name, self._sizes, self._scalars = name, sizes.split(), list(scalars)
        self._axes, self._types = {}, []
        for array, mark, dtype, axes in re.findall(r"(\w+)([:=])(\w+)\[(.*?)\]", arrays):
            flags: Any = ["C_CONTIGUOUS", "ALIGNED", *["WRITEABLE"] * (mark == "=")]
            self._axes[array] = axes.split(",")
            self._types.append(ndpointer(np.dtype(dtype), len(self._axes[array]), flags=flags))
        self._call = getattr(library, name)
        pointers, numbers = [c_void_p] * len(self._axes), [c_long] * len(self._sizes)
        self._call.argtypes = [*pointers, *numbers, *scalars.values()]
        self._call.restype = c_int

    def __call__(self, **given: Any) -> None:
        """Call the function with the arrays and the scalars."""
        sizes: dict[str, int] = {}
        # Not checked by ctypes, which turns a KeyboardInterrupt into an ArgumentError.
        for kind, (name, axes) in zip(self._types, self._axes.items(), strict=True):
            shape = given[name].shape
            if len(axes) != len(shape):
                raise ValueError(f"{name} must have {len(axes)} axes. Got shape {shape}.")
            for axis, size in zip(axes, shape, strict=True):
                expected = int(axis) if axis.isdigit() else sizes.setdefault(axis, size)
                if size != expected:
                    raise ValueError(
                        f"{name} must be of shape ({', '.join(axes)}) with {axis} = {expected}. "
                        f"Got {shape}."
                    )
            kind.from_param(given[name])
        values = [given[name].ctypes.data for name in self._axes]
        values += [sizes[axis] for axis in self._sizes]
        values += [given[name] for name in self._scalars]
        if self._call(*values):
            raise MemoryError(f"There is no memory for the buffers of {self._name}.")


def native_kernels(path: Path = LIBRARY) -> NativeKernels | None:
    """Return the compiled kernels that this processor can run, or None without a library."""
    library = load(path)
    if library is None:
        return None
    return WideKernels(library) if library.has_wide_vectors() else NativeKernels(library)


class WeightedSums:
    """The kernel ``sum_j 2^(left_i . right_j) V[j]`` for each row i, in one precision."""

    def __init__(self, library: CDLL, dtype: str = "float32") -> None:
        arrays = f"left:{dtype}[m,p] right:{dtype}[n,p] V:{dtype}[n,c] sums=float64[m,c]"
        self._function = Function(library, "weighted_sums", arrays, "m p n c", {})

    def __call__(self, left: NDArray[Any], right: NDArray[Any], V: NDArray[Any]) -> Array:
        _check_multiple("right", "rows", len(right), LAYOUT.rows_multiple)
        sums = np.empty((len(left), V.shape[1]))
        self._function(left=left, right=right, V=V, sums=sums)
        return sums


_EDGES = "starts:long[starts] ends:intc[edges] weights:float32[edges] mass:float64[n] "


class NativeKernels(NumpyKernels):
    """The kernels in plain C, which any processor can run."""

    name = "native"
    _functions: ClassVar[dict[str, tuple[str, str, dict[str, Any]]]] = {
        "neighbor_sums": (
            "rows:float64[m,d] distances:float64[m,k] numbers:long[m,k] vertices:float64[n,d] "
            "radii:float64[n] starts:intc[n] ends:intc[n] reverse:intc[edges] "
            "weighted:float64[n,columns] product=float64[m,columns] largest=float64[m]",
            "m d k columns n edges",
            dict.fromkeys(("slack", "scale", "least", "most"), c_double)
            | {"is_mutual": c_int, "most_edges": c_long},
        ),
        "near_in_cells": (
            "rows:float64[m,d] low:float64[d] scale:float64[d] shape:long[d] "
            f"candidates:intc[cells,{LAYOUT.candidates}] is_known:bool[cells] points:float64[n,d] "
            "nearest=long[m,r] told=bool[m]",
            "m d r n",
            {},
        ),
        "near_in_graph": (
            "rows:float32[m,d] points:float32[n,d] graph:intc[n,g] starts:intc[m,s] "
            "found=intc[m,k]",
            "m d n g s k",
            {"expanded": c_long, "rounds": c_long},
        ),
        "membership_sums": (
            "nearest:long[m,r] weights:float64[m,r] units=int64[p,p]",
            "m r p",
            {"per_quantum": c_double},
        ),
        "move_vertices": (
            _EDGES + "order:long[n] labels=long[n] score=float64[1]",
            "n starts edges",
            {"k": c_long, "sweeps": c_long, "keeps": c_int, "outside": c_double},
        ),
        "best_merges": (
            _EDGES + "labels:long[n] members:long[n] partners=long[k] changes=float64[k]",
            "n starts edges k",
            {},
        ),
    }

    def __init__(self, library: CDLL) -> None:
        self._weighted_sums = WeightedSums(library)
        self._call = {name: Function(library, name, *of) for name, of in self._functions.items()}

    def weighted_sums_of(self, right: Array, columns: Array) -> Sums:
        """Use the fused kernel, which computes powers of 2 instead of e."""
        right = padded(right.astype(np.float32), LAYOUT.rows_multiple)
        columns = padded(columns.astype(np.float32), LAYOUT.rows_multiple)

        def sums(left: Array) -> Array:
            scaled = (math.log2(math.e) * left).astype(np.float32, order="C")
            return self._weighted_sums(scaled, right, columns)

        return sums

    def neighbor_sums(
        self, graph: NeighborGraph, rows: Any, distances: Array, near: Indices, weighted: Array
    ) -> tuple[Array, Array]:
        """Sum in one pass over the edges; use numpy for sparse rows and non-Euclidean metrics."""
        starts, numbers = graph.reverse.indptr, graph.reverse.indices
        is_plain = graph.is_euclidean and not sparse.issparse(graph.vertices) and near.shape[1]
        if not is_plain or numbers.dtype != np.intc:
            return super().neighbor_sums(graph, rows, distances, near, weighted)
        width = graph.weight.width or Width(scale=0.0, least=0.0, most=0.0)
        product, largest = np.empty((len(rows), weighted.shape[1])), np.empty(len(rows))
        self._call["neighbor_sums"](
            rows=np.ascontiguousarray(rows),
            distances=np.ascontiguousarray(distances),
            numbers=np.ascontiguousarray(near),
            vertices=np.ascontiguousarray(graph.vertices),
            radii=np.ascontiguousarray(graph.radii),
            starts=starts[:-1],
            ends=starts[1:],
            reverse=numbers,
            weighted=np.ascontiguousarray(weighted),
            product=product,
            largest=largest,
            slack=SLACK,
            scale=width.scale,
            least=width.least,
            most=width.most,
            is_mutual=graph.weight.is_mutual,
            most_edges=near.shape[1] + int(np.diff(starts).max(initial=0)),
        )
        return product, largest

    def near_in_cells(
        self, rows: Array, grid: Grid, n_nearest: int
    ) -> tuple[Indices, NDArray[np.bool_]]:
        """Search row by row, without arrays of all candidates."""
        if n_nearest > LAYOUT.candidates:
            raise ValueError(f"n_nearest must be at most {LAYOUT.candidates}. Got {n_nearest}.")
        if math.prod(grid.shape.tolist()) != len(grid.candidates) or grid.shape.min() < 1:
            n_cells = len(grid.candidates)
            raise ValueError(f"shape must be that of {n_cells} cells. Got {grid.shape}.")
        nearest, told = np.empty((len(rows), n_nearest), dtype=np.intp), np.empty(len(rows), bool)
        rows, points = np.ascontiguousarray(rows), np.ascontiguousarray(grid.points)
        of_grid = vars(grid) | {"points": points}
        self._call["near_in_cells"](rows=rows, **of_grid, nearest=nearest, told=told)
        return nearest, told

    def near_in_graph(
        self, rows: Floats, points: Floats, graph: Visits, starts: Visits, k: int, **given: int
    ) -> Visits:
        _check_multiple("points", "columns", points.shape[1], LAYOUT.coordinates)
        found = np.empty((len(rows), k), dtype=np.intc)
        arrays = {"rows": rows, "points": points, "graph": graph, "starts": starts}
        self._call["near_in_graph"](**arrays, found=found, **given)
        return found

    def add_membership_sums(
        self, nearest: Indices, weights: Array, quantum: float, units: NDArray[np.int64]
    ) -> None:
        """Add row by row, without arrays of all pairs."""
        nearest, weights = np.ascontiguousarray(nearest), np.ascontiguousarray(weights)
        self._call["membership_sums"](
            nearest=nearest, weights=weights, units=units, per_quantum=1 / quantum
        )

    def membership_sums_bytes(self, n_rows: float, n_nearest: int) -> float:
        return 0.0

    def move_vertices(self, edges: Edges, labels: Indices, n_clusters: int, **given: Any) -> float:
        edges.check_labels(labels, n_clusters)
        score, given = np.empty(1), {"keeps": False, "outside": 0.0} | given
        self._call["move_vertices"](
            **vars(edges), labels=labels, k=n_clusters, **given, score=score
        )
        return float(score[0])

    def best_merges(self, edges: Edges, labels: Indices, n_clusters: int) -> tuple[Indices, Array]:
        edges.check_labels(labels, n_clusters)
        partners, changes = np.empty(n_clusters, dtype=np.intp), np.empty(n_clusters)
        given = {"labels": labels, "members": np.argsort(labels, kind="stable")}
        self._call["best_merges"](**vars(edges), **given, partners=partners, changes=changes)
        return partners, changes


class WideKernels(NativeKernels):
    """All kernels in C, with those for AVX-512 and AVX2; without these, BLAS is as fast."""

    search_bytes = 1e6
    _functions: ClassVar[dict[str, tuple[str, str, dict[str, Any]]]] = {
        **NativeKernels._functions,
        "symmetric_product": (
            "tiles:float64[tiles,side,side] places:long[tiles,2] V:float64[size,width] "
            "sums=float64[size,width]",
            "tiles side size width",
            {"first": c_long, "step": c_long},
        ),
        "near_points": (
            f"left:float32[m,p] strips:float32[strips,p,{LAYOUT.strip}] visits:intc[visits] "
            "slack:float32[m] numbers=intc[m,room] counts=intc[m]",
            "m p visits room",
            {"k": c_long},
        ),
    }

    def symmetric_product(
        self, tiles: Array, places: NDArray[np.int64], V: Array, for_each: ForEach
    ) -> Array:
        """Multiply by each block of a tile and by its mirror image while it is in the cache."""
        n_strips = -(-len(V) // tiles.shape[1])
        if not (places.min() >= 0 and places.max() < n_strips):
            raise ValueError(f"places must be of {n_strips} strips, as V. Got {places.max()}.")
        given = padded(V, columns=LAYOUT.columns_multiple)

        def add(part: slice, sums: Array) -> None:
            self._call["symmetric_product"](
                tiles=tiles, places=places, V=given, sums=sums, first=part.start, step=part.step
            )

        return sum_of_parts(len(tiles), given.shape, add, for_each)[:, : V.shape[1]]

    def near_points(
        self, left: Floats, strips: Floats, visits: Visits, slack: Floats, k: int, most: int
    ) -> Places:
        """Keep the best points met so far; with points in random order, few are ever kept."""
        _check_multiple("strips", "bytes before them", strips.ctypes.data, LAYOUT.strip_bytes)
        if not 1 <= k <= most:
            raise ValueError(f"k must be from 1 to most = {most}. Got {k}.")
        if len(visits) and not (visits.min() >= 0 and visits.max() < len(strips)):
            raise ValueError(f"visits must be of {len(strips)} strips. Got {visits.max()}.")
        left, m = np.ascontiguousarray(left), len(left)
        numbers, counts = np.empty((m, most + 1), dtype=np.intc), np.empty(m, dtype=np.intc)
        given = {"left": left, "strips": strips, "visits": visits, "slack": slack}
        self._call["near_points"](**given, numbers=numbers, counts=counts, k=k)
        return numbers, counts

    def queries_at_a_time(self, n_points: int, most: int) -> int:
        return max(1, min(256, (1 << 21) // most))  # each keeps up to ``most`` candidates


def _check_multiple(name: str, of: str, size: int, multiple: int) -> None:
    if size % multiple:
        raise ValueError(f"{name} must have a multiple of {multiple} {of}. Got {size}; pad them.")


chosen: NumpyKernels = native_kernels() or NumpyKernels()
