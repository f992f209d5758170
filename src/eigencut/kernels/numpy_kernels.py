"""``NumpyKernels``: all kernels in numpy, and the types and layouts that the C kernels share."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from eigencut._utils.arrays import SQUARABLE, TINY, Array, Indices

SOURCES = Path(__file__).with_name("csrc")


class Layout(NamedTuple):
    """The constants of ``csrc/kernels.h``, which describe the layout of arrays."""

    rows_multiple: int
    most_panel_rows: int
    columns_multiple: int
    strip: int
    strip_bytes: int
    candidates: int
    coordinates: int


_HEADER = (SOURCES / "kernels.h").read_text(encoding="utf-8")
_DEFINED = dict(re.findall(r"#define (\w+) (\d+)", _HEADER))
LAYOUT = Layout(**{name: int(_DEFINED[name.upper()]) for name in Layout._fields})


def padded(array: NDArray[Any], rows: int = 1, columns: int = 1) -> NDArray[Any]:
    """Return a contiguous copy, padded with zeros to multiples of ``rows`` and ``columns``."""
    n, p = array.shape
    copy = np.zeros((n + -n % rows, p + -p % columns), dtype=array.dtype)
    copy[:n, :p] = array
    return copy


def aligned_empty(shape: tuple[int, ...]) -> NDArray[np.float32]:
    """Return an empty array whose memory begins at a multiple of ``LAYOUT.strip_bytes``."""
    n_bytes = 4 * math.prod(shape)
    room = np.empty(n_bytes + LAYOUT.strip_bytes, dtype=np.uint8)
    start = -room.ctypes.data % LAYOUT.strip_bytes
    return room[start : start + n_bytes].view(np.float32).reshape(shape)


SLACK = 1 + 1e-9  # factor on radii, so that rounding cannot exclude the k-th neighbour


@dataclass(frozen=True)
class Width:
    """The bandwidth sigma(x) = ``scale`` r(x), with r(x) clipped to [``least``, ``most``]."""

    scale: float
    least: float
    most: float

    @classmethod
    def limited(cls, scale: float, least: float, most: float) -> Width:
        """Make a width whose products with other widths neither over- nor underflow."""
        with np.errstate(over="ignore"):
            limits = np.maximum(np.divide(SQUARABLE, scale), TINY)
        return cls(scale, float(np.clip(least, *limits)), float(np.clip(most, *limits)))

    def __call__(self, radii: Array) -> Array:
        return self.scale * np.clip(radii, self.least, self.most)


@dataclass(frozen=True)
class EdgeWeight:
    """The weight of an edge: a share (0, 1/2 or 1) times the exponential of an exponent."""

    is_mutual: bool  # True: share 1 if each is in the other's radius; False: 1/2 for each
    width: Width | None  # None: all exponents are 0

    def __call__(self, distances: Array, r_x: Array, r_y: Array) -> tuple[Array, Array]:
        """Return shares and exponents of pairs of rows with these distances and radii."""
        in_x, in_y = distances <= r_x * SLACK, distances <= r_y * SLACK
        share = (in_x & in_y).astype(float) if self.is_mutual else (in_x + in_y.astype(float)) / 2
        if self.width is None:
            return share, np.zeros_like(share)
        with np.errstate(over="ignore"):
            return share, -(distances**2) / (2 * self.width(r_x) * self.width(r_y))


@dataclass(frozen=True)
class NeighborGraph:
    """The vertices of a graph of nearest neighbours, and how to connect new rows to them."""

    vertices: Any  # (n, n_features)
    radii: Array  # (n,): the distance of each vertex to its k-th neighbour
    reverse: Any  # (n, n), sparse: row i has the vertices that have i among their neighbours
    weight: EdgeWeight
    distances: Callable[[Any, Any], Array]  # from the rows of A to the same rows of B
    is_euclidean: bool  # whether distances are Euclidean


ForEach = Callable[[Callable[[int], None], Iterable[int]], None]
Floats = NDArray[np.float32]
Sums = Callable[[Array], Array]
Visits = NDArray[np.int32]  # indices of strips or points
Places = tuple[NDArray[np.signedinteger[Any]], NDArray[np.signedinteger[Any]]]


@dataclass(frozen=True)
class Grid:
    """A grid; each cell lists the points that can be nearest to a row in the cell."""

    # (n_features,): the lowest corner, cells per unit, and number of cells along each axis.
    low: Array
    scale: Array
    shape: Indices
    candidates: NDArray[np.int32]  # (n_cells, n_candidates): indices of points, ascending
    is_known: NDArray[np.bool_]  # (n_cells,): whether this list is complete
    points: Array  # (n_points, n_features)


@dataclass(frozen=True)
class Edges:
    """A symmetric graph without a diagonal in CSR form, and the mass of each vertex."""

    starts: Indices  # (n + 1,): where the edges of each vertex start
    ends: NDArray[np.int32]  # (n_edges,): the other vertex of each edge
    weights: Floats  # (n_edges,)
    mass: Array  # (n,)

    def check_labels(self, labels: Indices, n_clusters: int) -> None:
        """Raise an error for labels or edges out of range, which would crash the C kernels."""
        n = len(self.mass)
        if len(self.starts) != n + 1 or self.starts[0] or self.starts[-1] != len(self.ends):
            raise ValueError(f"starts must go from 0 to {len(self.ends)}, for n vertices.")
        for name, numbers, below in (("labels", labels, n_clusters), ("ends", self.ends, n)):
            if len(numbers) and not (numbers.min() >= 0 and numbers.max() < below):
                raise ValueError(f"{name} must be from 0 to {below - 1}. Got {numbers.max()}.")


class NumpyKernels:
    """The interface of all kernels, implemented in numpy."""

    name = "numpy"
    search_bytes = 20e6  # memory of ``near_points``, per thread
    _histogram_rows = 1 << 16  # rows whose memberships are summed at a time

    def weighted_sums_of(self, right: Array, columns: Array) -> Sums:
        """Return a function of ``left``: ``sum_j exp(left_i . right_j) columns[j]``, in float32."""
        panels = [
            (right[rows].astype(np.float32), columns[rows].T.astype(np.float32, order="C"))
            for start in range(0, len(right), LAYOUT.most_panel_rows)
            for rows in [slice(start, start + LAYOUT.most_panel_rows)]
        ]
        new_rows = 128  # a tile of these and a panel of training rows fits into a core's cache

        def sums(left: Array) -> Array:
            found = np.zeros((columns.shape[1], len(left)))
            for start in range(0, len(left), new_rows):
                new = left[start : start + new_rows].T.astype(np.float32, order="C")
                part = found[:, start : start + new_rows]
                for of_right, of_columns in panels:
                    weights = of_right @ new
                    np.exp(weights, out=weights)
                    part += of_columns @ weights
            return found.T

        return sums

    def symmetric_product(
        self, tiles: Array, places: NDArray[np.int64], V: Array, for_each: ForEach
    ) -> Array:
        """Return the product of a symmetric matrix and V, which does not depend on the threads.

        ``tiles`` are squares of the matrix's upper half; ``places`` has the indices of their rows
        and columns among the strips into which the matrix is divided.
        """
        corners = (places * tiles.shape[1]).tolist()

        def add(part: slice, sums: Array) -> None:
            for (top, left), tile in zip(corners[part], tiles[part], strict=True):
                _add_products(sums, tile[: len(V) - top, : len(V) - left], V, top, left)

        return sum_of_parts(len(tiles), V.shape, add, for_each)

    def near_points(
        self, left: Floats, strips: Floats, visits: Visits, slack: Floats, k: int, most: int
    ) -> Places:
        """Return the points with scores up to the k-th smallest plus the slack of each query.

        The score of a query and a point is ``left @ strips[strip, :, lane]``, for the strips in
        ``visits``. Points are the numbers ``LAYOUT.strip * strip + lane``, without an order. The
        second array counts them for each query; the count is 0 if it would exceed ``most``.
        """
        visited = strips[visits].transpose(1, 0, 2).reshape(left.shape[1], -1)
        scores = left @ visited
        limit = kth_smallest_bound(scores, k) + slack
        pairs = np.flatnonzero(scores <= limit[:, np.newaxis])
        origin, place = np.divmod(pairs, scores.shape[1])
        count = np.bincount(origin, minlength=len(left))
        first = np.cumsum(count) - count
        strip, lane = np.divmod(place, LAYOUT.strip)
        places = np.empty((len(left), max(k, count.max(initial=0))), dtype=np.intp)
        places[origin, np.arange(len(pairs)) - first[origin]] = LAYOUT.strip * visits[strip] + lane
        return places, np.where(count <= most, count, 0)

    def queries_at_a_time(self, n_points: int, most: int) -> int:
        """Return the number of queries for ``near_points`` whose data fit into the cache."""
        return max(1, (1 << 20) // n_points)

    def near_in_graph(
        self,
        rows: Floats,
        points: Floats,
        graph: Visits,
        starts: Visits,
        k: int,
        *,
        expanded: int,
        rounds: int,
    ) -> Visits:
        """Search nearest points along a graph; return the k nearest found, filled up with -1.

        A query looks at its ``starts``. In each round it looks at the neighbours, in the graph, of
        the ``expanded`` nearest points found so far. Indices out of range are ignored. Points are
        sorted by distance, then by index.
        """
        found = _nearest_in_lists(rows, points, starts, k)
        for _ in range(rounds):
            first = found[:, :expanded]
            further = np.where(first[:, :, np.newaxis] >= 0, graph[first], -1)
            met = np.concatenate([found, further.reshape(len(rows), -1)], axis=1)
            before, found = found, _nearest_in_lists(rows, points, met, k)
            if (before == found).all():
                break
        return found

    def neighbor_sums(
        self, graph: NeighborGraph, rows: Any, distances: Array, near: Indices, weighted: Array
    ) -> tuple[Array, Array]:
        """Return sums over the neighbours of rows, divided by factors, and the factors' logarithms.

        ``distances`` and ``near`` belong to the k nearest vertices of each row; indices out of
        range in ``near`` are unknown neighbours. ``weighted`` has a row of values for each vertex.
        A row without edges gets the values of its nearest vertex, and a logarithm of -infinity.
        """
        radii, is_known = distances[:, -1], _is_below(near, len(weighted))
        near = np.where(is_known, near, 0)
        share, exponent = graph.weight(distances, radii[:, np.newaxis], graph.radii[near])
        share[~is_known] = 0.0
        origin, vertex, of_vertex, power = _reverse_edges(graph, rows, radii, near, is_known)
        exponent[share == 0] = -np.inf
        largest = exponent.max(axis=1)
        np.maximum.at(largest, origin, power)
        isolated = np.flatnonzero(largest == -np.inf)
        largest[isolated] = 0.0
        share *= np.exp(exponent - largest[:, np.newaxis])
        starts = np.arange(0, share.size + 1, share.shape[1])
        shape = (len(share), len(weighted))
        product = sparse.csr_array((share.ravel(), near.ravel(), starts), shape=shape) @ weighted
        of_vertex *= np.exp(power - largest[origin])
        starts = np.searchsorted(origin, np.arange(len(share) + 1))
        product += sparse.csr_array((of_vertex, vertex, starts), shape=shape) @ weighted
        product[isolated], largest[isolated] = weighted[near[isolated, 0]], -np.inf
        product[isolated[~is_known[isolated, 0]]] = 0.0
        return product, largest

    def near_in_cells(
        self, rows: Array, grid: Grid, n_nearest: int
    ) -> tuple[Indices, NDArray[np.bool_]]:
        """Return the nearest points of each row, by index, and for which rows they are certain."""
        place = np.floor(np.clip((rows - grid.low) * grid.scale, -1, grid.shape)).astype(np.intp)
        inside = np.all((place >= 0) & (place < grid.shape), axis=1)
        place = np.where(inside[:, np.newaxis], place, 0)
        cell: Indices = np.asarray(np.ravel_multi_index(place.T, grid.shape))
        candidates = grid.candidates[cell].T  # a column for each row
        is_point, unknown = _is_below(candidates, len(grid.points)), 1e300
        candidates = np.where(is_point, candidates, 0)
        squared = np.where(is_point, 0.0, unknown)
        for x, y in zip(rows.T, grid.points.T, strict=True):
            squared += (y[candidates] - x) ** 2
        order = np.argsort(squared, axis=0, kind="stable")
        squared = np.take_along_axis(squared, order, axis=0)
        last = squared[n_nearest - 1]
        following = squared[n_nearest:].min(axis=0, initial=2 * unknown)
        # If rounding could decide which points are nearest, the result is not certain.
        is_clear = (last < unknown / 2) & (following > last * (1 + 1e-12))
        found = np.take_along_axis(candidates, order[:n_nearest], axis=0).T.astype(np.intp)
        found.sort(axis=1)
        return found, inside & grid.is_known[cell] & is_clear

    def add_membership_sums(
        self, nearest: Indices, weights: Array, quantum: float, units: NDArray[np.int64]
    ) -> None:
        """Add ``Z^T Z`` to ``units``, each pair once, and rounded to multiples of ``quantum``."""
        is_known = _is_below(nearest, len(units))
        if not is_known.all():
            nearest, weights = np.where(is_known, nearest, 0), np.where(is_known, weights, 0.0)
        for start in range(0, len(nearest), self._histogram_rows):
            rows = slice(start, start + self._histogram_rows)
            units += _histogram(nearest[rows], weights[rows], quantum, len(units))

    def membership_sums_bytes(self, n_rows: float, n_nearest: int) -> float:
        """Return the bytes that ``add_membership_sums`` takes."""
        return min(n_rows, self._histogram_rows) * 40 * n_nearest * n_nearest

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
        """Move vertices between clusters while the information rises; return the information.

        It changes ``labels`` in place; ``solvers/discrete_cut.py`` explains the information. With
        ``keeps``, vertices of clusters of one or two stay. ``outside`` is the weight of edges
        between clusters that ``edges`` does not contain.
        """
        edges.check_labels(labels, n_clusters)
        return _Moves(edges, labels, n_clusters, outside).sweep(order, sweeps, keeps)

    def best_merges(self, edges: Edges, labels: Indices, n_clusters: int) -> tuple[Indices, Array]:
        """Return the best cluster to merge each cluster with (or -1), and the gain."""
        edges.check_labels(labels, n_clusters)
        origin = np.repeat(labels, np.diff(edges.starts))
        between = sparse.coo_array(
            (edges.weights.astype(float), (origin, labels[edges.ends])), (n_clusters, n_clusters)
        ).tocsr()
        between.sort_indices()
        between.eliminate_zeros()
        inside, total = between.diagonal(), float(between.sum())
        mass = np.bincount(labels, edges.mass, n_clusters)
        crossing, pairs = total - inside.sum(), mass.sum() ** 2 - (mass**2).sum()
        own, partners = inside_term(inside, mass), np.full(n_clusters, -1, dtype=np.intp)
        changes = np.full(n_clusters, -np.inf)
        before = between_term(crossing, pairs)
        for cluster in range(n_clusters):
            part = slice(*between.indptr[cluster : cluster + 2])
            others, link = between.indices[part], 2 * between.data[part]
            others, link = others[others != cluster], link[others != cluster]
            if not len(others):
                continue
            weight = inside[cluster] + inside[others] + link
            joined = inside_term(weight, mass[cluster] + mass[others])
            left = between_term(crossing - link, pairs - 2 * mass[cluster] * mass[others])
            change = joined - own[cluster] - own[others] + left - before
            best = int(np.argmax(change))
            partners[cluster], changes[cluster] = others[best], change[best]
        return partners, changes


def sum_of_parts(
    n_tiles: int, shape: tuple[int, ...], add: Callable[[slice, Array], None], for_each: ForEach
) -> Array:
    """Return the sum of what ``add`` adds for parts of the tiles, computed in threads."""
    parts = min(8, n_tiles)  # not the number of threads, on which results must not depend
    sums = np.empty((parts, *shape))

    def fill(part: int) -> None:
        sums[part] = 0.0
        add(slice(part, None, parts), sums[part])

    for_each(fill, range(parts))
    return np.asarray(sums.sum(axis=0))


def _add_products(sums: Array, tile: Array, V: Array, top: int, left: int) -> None:
    """Add the products with a tile and, off the diagonal, with its mirror image."""
    (n_rows, n_columns), side = tile.shape, 192  # BLAS multiplies such blocks without a copy
    for start in range(0, n_rows, side):
        rows = slice(top + start, top + min(start + side, n_rows))
        for across in range(0, n_columns, side):
            columns = slice(left + across, left + min(across + side, n_columns))
            block = tile[start : start + side, across : across + side]
            sums[rows] += block @ V[columns]
            if top != left:
                sums[columns] += block.T @ V[rows]


def kth_smallest_bound(scores: NDArray[Any], k: int) -> Any:
    """Return an upper bound on the k-th smallest score of each row."""
    n_queries, n_points = scores.shape
    # Small groups, so that the k smallest scores mostly are in different ones; at least 4 k groups.
    size = max(1, min(64, n_points // (4 * k)))
    n_groups = n_points // size
    # A group has every n-th point, since points that follow each other are often neighbours.
    groups = scores[:, : n_groups * size].reshape(n_queries, size, n_groups)
    return np.partition(groups.min(axis=1), k - 1, axis=1)[:, k - 1]


def _nearest_in_lists(rows: Floats, points: Floats, numbers: Visits, k: int) -> Visits:
    """Return the k points of each row's list that are nearest to it, by distance and index."""
    found = np.full((len(rows), k), -1, dtype=np.intc)
    for i, (row, own) in enumerate(zip(rows, numbers, strict=True)):
        own = np.unique(own[_is_below(own, len(points))])
        difference = points[own] - row
        squared = np.einsum("ij,ij->i", difference, difference)
        nearest = own[np.argsort(squared, kind="stable")[:k]]
        found[i, : len(nearest)] = nearest
    return found


def _is_below(numbers: NDArray[np.integer], n: int) -> NDArray[np.bool_]:
    """Return which numbers are indices below n."""
    return (numbers >= 0) & (numbers < n)


def _reverse_edges(
    graph: NeighborGraph, rows: Any, radii: Array, near: Indices, is_known: NDArray[np.bool_]
) -> tuple[Indices, Indices, Array, Array]:
    """Return the edges to reverse neighbours of each row's nearest vertex, except those in near."""
    edges = graph.reverse[near[:, 0]]
    origin = np.repeat(np.arange(len(near)), np.diff(edges.indptr))
    is_other = is_known[origin, 0] & _is_below(edges.indices, len(graph.radii))
    origin, vertex = origin[is_other], edges.indices[is_other]
    distances = graph.distances(rows[origin], graph.vertices[vertex])
    within = np.flatnonzero(distances <= radii[origin] * SLACK)  # only these can be in ``near``
    same = (near[origin[within]] == vertex[within, np.newaxis]) & is_known[origin[within]]
    is_other = np.ones(len(origin), dtype=bool)
    is_other[within] = ~same.any(axis=1)
    origin, vertex, distances = origin[is_other], vertex[is_other], distances[is_other]
    share, exponent = graph.weight(distances, radii[origin], graph.radii[vertex])
    kept = share > 0
    return origin[kept], vertex[kept], share[kept], exponent[kept]


def _histogram(nearest: Indices, weights: Array, quantum: float, n: int) -> NDArray[np.int64]:
    r = nearest.shape[1]
    pairs = [(a, b) for a in range(r) for b in range(a + 1)]
    place = np.concatenate([nearest[:, a] * n + nearest[:, b] for a, b in pairs])
    products = np.concatenate([weights[:, a] * weights[:, b] for a, b in pairs])
    sums = np.bincount(place, np.rint(products / quantum), n**2)
    return sums.astype(np.int64).reshape(n, n)


def inside_term(inside: Any, mass: Any) -> Any:
    """Return ``a log(a / m^2)``, or 0 for clusters without weight a or mass m."""
    there = (np.asarray(inside) > 1e-12) & (np.asarray(mass) > 1e-12)
    a, m = np.where(there, inside, 1.0), np.where(there, mass, 1.0)
    return np.where(there, a * (np.log(a) - 2 * np.log(m)), 0.0)


def between_term(between: Any, pairs: Any) -> Any:
    """Return ``b log(b / q)``."""
    return between * np.log(np.maximum(between, 1e-300) / np.maximum(pairs, 1e-300))


class _Moves:
    """The sums over clusters that moves of single vertices change."""

    def __init__(self, edges: Edges, labels: Indices, n_clusters: int, outside: float) -> None:
        self.edges, self.labels = edges, labels
        origin = np.repeat(labels, np.diff(edges.starts))
        same = origin == labels[edges.ends]
        self.inside = np.bincount(origin[same], edges.weights[same], n_clusters)
        self.mass = np.bincount(labels, edges.mass, n_clusters)
        self.size = np.bincount(labels, minlength=n_clusters)
        self.between = float(edges.weights[~same].sum(dtype=float)) + outside
        self.pairs = float(self.mass.sum() ** 2 - (self.mass**2).sum())

    def sweep(self, order: Indices, sweeps: int, keeps: bool) -> float:
        """Move vertices until a sweep moves fewer than a thousandth of them; return the score."""
        active = np.ones(len(order), dtype=bool)
        for _ in range(sweeps):
            self.log_rate = float(np.log(self._rate()))
            self.per_link, self.per_mass = self._rates(np.arange(len(self.mass)))
            moved = 0
            for i in order:
                if active[i]:
                    active[i] = False
                    moved += self._move(i, active, keeps)
            if moved * 1000 < len(order):
                break
        own = inside_term(self.inside, self.mass).sum()
        return float(own + between_term(self.between, self.pairs))

    def _rate(self) -> float:
        return max(self.between, 1e-300) / max(self.pairs, 1e-300)

    def _rates(self, clusters: Indices) -> tuple[Array, Array]:
        """Return the first-order gain of moves to clusters, per weight of links and per mass."""
        a, m = self.inside[clusters], np.maximum(self.mass[clusters], 1e-300)
        there = (self.size[clusters] > 0) & (a > 1e-12)
        per_link = np.where(there, np.log(np.where(there, a, 1.0)) - 2 * np.log(m), -np.log(m))
        return per_link - self.log_rate, np.where(there, a / m - self._rate() * m, 0.0)

    def _move(self, i: int, active: NDArray[np.bool_], keeps: bool) -> bool:
        labels, origin, m = self.labels, self.labels[i], self.edges.mass[i]
        if keeps and self.size[origin] <= 2:
            return False
        part = slice(*self.edges.starts[i : i + 2])
        is_edge = self.edges.weights[part] > 0
        ends, weights = self.edges.ends[part][is_edge], self.edges.weights[part][is_edge]
        touched, place = np.unique(labels[ends], return_inverse=True)
        link = np.bincount(place, weights, len(touched))
        others = touched != origin
        if not others.any():
            return False
        rough = self.per_link[touched] * link - m * self.per_mass[touched]
        best = int(np.argmax(np.where(others, rough, -np.inf)))
        to, new, old = touched[best], link[best], float(link[~others].sum())
        pair = np.array([origin, to])
        inside = self.inside[pair] + [-2 * old, 2 * new]
        mass = self.mass[pair] + [-m, m]
        between = self.between + 2 * old - 2 * new
        pairs = self.pairs + float((self.mass[pair] ** 2).sum() - (mass**2).sum())
        before = inside_term(self.inside[pair], self.mass[pair])
        gain = inside_term(inside, mass).sum() - before.sum()
        gain += between_term(between, pairs) - between_term(self.between, self.pairs)
        if not gain > 1e-9 * m:
            return False
        self.size[pair] += [-1, 1]
        self.inside[pair], self.mass[pair] = (
            np.where(self.size[pair] > 0, values, 0.0) for values in (inside, mass)
        )
        self.between, self.pairs, labels[i] = between, pairs, to
        self.per_link[pair], self.per_mass[pair] = self._rates(pair)
        active[ends[labels[ends] != to]] = True
        return True
