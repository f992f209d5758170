"""The few loops that are worth C: one interface (``NumpyKernels``), two builds.

``chosen`` is the build in C (over ``csrc/``) where the library was compiled when eigencut was
installed, and the one in numpy otherwise, or where ``EIGENCUT_NATIVE=0`` is in the environment.
Both give the same results, up to rounding. What the library has no form of for this processor is
numpy's.
"""

from __future__ import annotations

import ctypes
import math
import os
import warnings
from collections.abc import Mapping
from ctypes import CDLL, c_double, c_int, c_long, c_void_p
from pathlib import Path
from types import MappingProxyType
from typing import Any

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
    """The compiled kernels, or None: not compiled, switched off, or not to be trusted."""
    if os.environ.get("EIGENCUT_NATIVE") == "0" or not path.exists():
        return None
    try:
        library = ctypes.CDLL(str(path))
        if ctypes.c_uint.in_dll(library, "eigencut_abi").value == abi_of(SOURCES):
            return library
        reason = "was compiled from other sources than those beside it"
    except (OSError, ValueError) as error:  # of another machine, or no library of kernels
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
    """A function of the library that checks its arguments, given by name, before it is called.

    In C it takes the ``arrays``, then the sizes of the axes in ``sizes``, then the ``scalars``, and
    returns 0, or 1 if there is no memory. The GIL is free meanwhile. An array is declared by its
    type and axes, ``"float64 m p"``; an axis is a name, which stands for one size in all arrays, or
    a number. What is written to begins with ``"out"``.
    """

    def __init__(
        self,
        library: ctypes.CDLL,
        name: str,
        sizes: str,
        scalars: Mapping[str, Any] = MappingProxyType({}),
        **arrays: str,
    ) -> None:
        self._name, self._sizes, self._scalars = name, sizes.split(), list(scalars)
        self._axes, self._types = {}, []
        for array, declared in arrays.items():
            is_written = declared.startswith("out ")
            flags: Any = ["C_CONTIGUOUS", "ALIGNED", *["WRITEABLE"] * is_written]
            dtype, *self._axes[array] = declared.removeprefix("out ").split()
            self._types.append(ndpointer(np.dtype(dtype), len(self._axes[array]), flags=flags))
        self._call = getattr(library, name)
        pointers, numbers = [c_void_p] * len(arrays), [c_long] * len(self._sizes)
        self._call.argtypes = [*pointers, *numbers, *scalars.values()]
        self._call.restype = c_int

    def __call__(self, **given: Any) -> None:
        """Call it with the arrays and the scalars."""
        sizes = self._checked_sizes(given)
        # Arrays are checked here and not by ctypes, which makes an ArgumentError of an interrupt.
        for kind, name in zip(self._types, self._axes, strict=True):
            kind.from_param(given[name])
        values = [given[name].ctypes.data for name in self._axes]
        values += [sizes[axis] for axis in self._sizes]
        values += [given[name] for name in self._scalars]
        if self._call(*values):
            raise MemoryError(f"There is no memory for the buffers of {self._name}.")

    def _checked_sizes(self, arrays: Mapping[str, Any]) -> dict[str, int]:
        sizes: dict[str, int] = {}
        for name, axes in self._axes.items():
            shape = arrays[name].shape
            if len(axes) != len(shape):
                raise ValueError(f"{name} must have {len(axes)} axes. Got shape {shape}.")
            for axis, size in zip(axes, shape, strict=True):
                expected = int(axis) if axis.isdigit() else sizes.setdefault(axis, size)
                if size != expected:
                    raise ValueError(
                        f"{name} must be of shape ({', '.join(axes)}) with {axis} = {expected}. "
                        f"Got {shape}."
                    )
        return sizes


def native_kernels(path: Path = LIBRARY) -> NativeKernels | None:
    """The build that this processor can run, or None where there is no library."""
    library = load(path)
    if library is None:
        return None
    return WideKernels(library) if library.has_wide_vectors() else NativeKernels(library)


class WeightedSums:
    """``sum_j 2^(left_i . right_j) V[j]`` for each row i, from arrays of one precision."""

    def __init__(self, library: CDLL, dtype: str = "float32") -> None:
        self._function = Function(
            library,
            "weighted_sums",
            "m p n columns",
            left=f"{dtype} m p",
            right=f"{dtype} n p",
            V=f"{dtype} n columns",
            sums="out float64 m columns",
        )

    def __call__(self, left: NDArray[Any], right: NDArray[Any], V: NDArray[Any]) -> Array:
        _check_multiple("right", "rows", len(right), LAYOUT.rows_multiple)
        sums = np.empty((len(left), V.shape[1]))
        self._function(left=left, right=right, V=V, sums=sums)
        return sums


_NEIGHBOR_SCALARS = {
    "slack": c_double,
    "scale": c_double,
    "least": c_double,
    "most": c_double,
    "is_mutual": c_int,
    "most_edges": c_long,
}


class NativeKernels(NumpyKernels):
    """The kernels that are plain C: any processor runs them."""

    name = "native"

    def __init__(self, library: CDLL) -> None:
        self._weighted_sums = WeightedSums(library)
        self._neighbor_sums = Function(
            library,
            "neighbor_sums",
            "m d k columns n edges",
            _NEIGHBOR_SCALARS,
            rows="float64 m d",
            distances="float64 m k",
            numbers="long m k",
            vertices="float64 n d",
            radii="float64 n",
            starts="intc n",
            ends="intc n",
            reverse="intc edges",
            weighted="float64 n columns",
            product="out float64 m columns",
            largest="out float64 m",
        )
        self._near_in_cells = Function(
            library,
            "near_in_cells",
            "m d r n",
            rows="float64 m d",
            low="float64 d",
            scale="float64 d",
            shape="long d",
            candidates=f"intc cells {LAYOUT.candidates}",
            is_known="bool cells",
            points="float64 n d",
            nearest="out long m r",
            told="out bool m",
        )
        self._membership_sums = Function(
            library,
            "membership_sums",
            "m r p",
            {"per_quantum": c_double},
            nearest="long m r",
            weights="float64 m r",
            units="out int64 p p",
        )
        self._move_vertices = Function(
            library,
            "move_vertices",
            "n starts edges",
            {"k": c_long, "sweeps": c_long, "keeps": c_int, "outside": c_double},
            starts="long starts",
            ends="intc edges",
            weights="float32 edges",
            mass="float64 n",
            order="long n",
            labels="out long n",
            score="out float64 1",
        )
        self._best_merges = Function(
            library,
            "best_merges",
            "n starts edges k",
            starts="long starts",
            ends="intc edges",
            weights="float32 edges",
            mass="float64 n",
            labels="long n",
            members="long n",
            partners="out long k",
            changes="out float64 k",
        )

    def weighted_sums_of(self, right: Array, columns: Array) -> Sums:
        """The fused kernel; powers of two instead of e."""
        right = padded(right.astype(np.float32), LAYOUT.rows_multiple)
        columns = padded(columns.astype(np.float32), LAYOUT.rows_multiple)

        def sums(left: Array) -> Array:
            scaled = (math.log2(math.e) * left).astype(np.float32, order="C")
            return self._weighted_sums(scaled, right, columns)

        return sums

    def neighbor_sums(
        self, graph: NeighborGraph, rows: Any, distances: Array, near: Indices, weighted: Array
    ) -> tuple[Array, Array]:
        """In one pass over the edges; by numpy where distances are not those of dense rows."""
        starts, numbers = graph.reverse.indptr, graph.reverse.indices
        is_plain = graph.is_euclidean and not sparse.issparse(graph.vertices) and near.shape[1]
        if not is_plain or numbers.dtype != np.intc:
            return super().neighbor_sums(graph, rows, distances, near, weighted)
        width = graph.weight.width or Width(scale=0.0, least=0.0, most=0.0)
        product, largest = np.empty((len(rows), weighted.shape[1])), np.empty(len(rows))
        self._neighbor_sums(
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
        """Row by row, without arrays of all candidates."""
        if n_nearest > LAYOUT.candidates:
            raise ValueError(f"n_nearest must be at most {LAYOUT.candidates}. Got {n_nearest}.")
        if math.prod(grid.shape.tolist()) != len(grid.candidates) or grid.shape.min() < 1:
            raise ValueError(
                f"shape must be that of {len(grid.candidates)} cells. Got {grid.shape}."
            )
        nearest, told = np.empty((len(rows), n_nearest), dtype=np.intp), np.empty(len(rows), bool)
        self._near_in_cells(
            rows=np.ascontiguousarray(rows),
            low=grid.low,
            scale=grid.scale,
            shape=grid.shape,
            candidates=grid.candidates,
            is_known=grid.is_known,
            points=np.ascontiguousarray(grid.points),
            nearest=nearest,
            told=told,
        )
        return nearest, told

    def add_membership_sums(
        self, nearest: Indices, weights: Array, quantum: float, units: NDArray[np.int64]
    ) -> None:
        """Row by row, without arrays of all pairs."""
        self._membership_sums(
            nearest=np.ascontiguousarray(nearest),
            weights=np.ascontiguousarray(weights),
            units=units,
            per_quantum=1 / quantum,
        )

    def membership_sums_bytes(self, n_rows: float, n_nearest: int) -> float:
        return 0.0

    def move_vertices(
        self,
        edges: Edges,
        labels: Indices,
        n_clusters: int,
        *,
        order: Indices,
        sweeps: int,
        keeps: bool = False,
        outside: float = 0.0,
    ) -> float:
        """Vertex by vertex, in C."""
        edges.check_labels(labels, n_clusters)
        score = np.empty(1)
        self._move_vertices(
            starts=edges.starts,
            ends=edges.ends,
            weights=edges.weights,
            mass=edges.mass,
            order=order,
            labels=labels,
            score=score,
            k=n_clusters,
            sweeps=sweeps,
            keeps=keeps,
            outside=outside,
        )
        return float(score[0])

    def best_merges(self, edges: Edges, labels: Indices, n_clusters: int) -> tuple[Indices, Array]:
        """Cluster by cluster, in C."""
        edges.check_labels(labels, n_clusters)
        partners, changes = np.empty(n_clusters, dtype=np.intp), np.empty(n_clusters)
        self._best_merges(
            starts=edges.starts,
            ends=edges.ends,
            weights=edges.weights,
            mass=edges.mass,
            labels=labels,
            members=np.argsort(labels, kind="stable"),
            partners=partners,
            changes=changes,
        )
        return partners, changes


class WideKernels(NativeKernels):
    """Also those that are written for AVX-512 and AVX2; without these, BLAS is as good."""

    search_bytes = 1e6

    def __init__(self, library: CDLL) -> None:
        super().__init__(library)
        self._symmetric_product = Function(
            library,
            "symmetric_product",
            "tiles side size width",
            {"first": c_long, "step": c_long},
            tiles="float64 tiles side side",
            places="long tiles 2",
            V="float64 size width",
            sums="out float64 size width",
        )
        self._near_points = Function(
            library,
            "near_points",
            "m p visits room",
            {"k": c_long},
            left="float32 m p",
            strips=f"float32 strips p {LAYOUT.strip}",
            visits="intc visits",
            slack="float32 m",
            numbers="out intc m room",
            counts="out intc m",
        )

    def symmetric_product(
        self, tiles: Array, places: NDArray[np.int64], V: Array, for_each: ForEach
    ) -> Array:
        """Both halves while a block of a tile is in the cache."""
        n_strips = -(-len(V) // tiles.shape[1])
        if not (places.min() >= 0 and places.max() < n_strips):
            raise ValueError(f"places must be of {n_strips} strips, as V. Got {places.max()}.")
        given = padded(V, columns=LAYOUT.columns_multiple)

        def add(part: slice, sums: Array) -> None:
            self._symmetric_product(
                tiles=tiles, places=places, V=given, sums=sums, first=part.start, step=part.step
            )

        return sum_of_parts(len(tiles), given.shape, add, for_each)[:, : V.shape[1]]

    def near_points(
        self, left: Floats, strips: Floats, visits: Visits, slack: Floats, k: int, most: int
    ) -> Places:
        """Queries keep what they have met so far: of points in random order, few are ever kept."""
        _check_multiple("strips", "bytes before them", strips.ctypes.data, LAYOUT.strip_bytes)
        if not 1 <= k <= most:
            raise ValueError(f"k must be from 1 to most = {most}. Got {k}.")
        if len(visits) and not (visits.min() >= 0 and visits.max() < len(strips)):
            raise ValueError(f"visits must be of {len(strips)} strips. Got {visits.max()}.")
        m = len(left)
        numbers, count = np.empty((m, most + 1), dtype=np.intc), np.empty(m, dtype=np.intc)
        self._near_points(
            left=np.ascontiguousarray(left),
            strips=strips,
            visits=visits,
            slack=slack,
            numbers=numbers,
            counts=count,
            k=k,
        )
        return numbers, count

    def queries_at_a_time(self, n_points: int, most: int) -> int:
        return max(1, min(256, (1 << 21) // most))  # so many candidates are kept


def _check_multiple(name: str, of: str, size: int, multiple: int) -> None:
    if size % multiple:
        raise ValueError(f"{name} must have a multiple of {multiple} {of}. Got {size}; pad them.")


chosen: NumpyKernels = native_kernels() or NumpyKernels()
