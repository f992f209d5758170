"""Weighted graphs whose vertices stand for rows, sparse graphs, and connected components."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from eigencut._utils.arrays import EPS, TIE, TINY, Array, Indices
from eigencut._utils.running import for_each, holding


@dataclass(frozen=True)
class OutlierThreshold:
    """The support below which a row is an outlier, and how many training rows are below it."""

    least: float
    n_outside: float
    n_rows: float
    one_row: float = 1.0  # the sample weight of an ordinary row

    @property
    def share(self) -> float:
        """The share of training rows below the threshold."""
        return self.n_outside / self.n_rows

    def outlier_threshold(self, share: float) -> OutlierThreshold:
        """Return this threshold: it is fixed, whatever the share."""
        return self

    def decayed(self, decay: float) -> OutlierThreshold:
        """Return the threshold with counts of rows multiplied by ``decay``."""
        return replace(self, n_outside=decay * self.n_outside, n_rows=decay * self.n_rows)

    def added(self, n_outside: float, n_rows: float) -> OutlierThreshold:
        """Return the threshold with more rows counted."""
        return replace(self, n_outside=self.n_outside + n_outside, n_rows=self.n_rows + n_rows)


EDGE = EPS  # in units of sqrt(d_i d_j); a smaller weight does not count as an edge


@dataclass(frozen=True)
class Graph(ABC):
    """A weighted graph on vertices, each standing for one or more rows."""

    vertices_are: ClassVar[str]

    weights: Any  # Symmetric weights ``W(x_i, x_j)``, without the factor 1/n
    multiplicity: Array  # (n_vertices,): the rows of each vertex, or the sum of their weights

    @property
    def n_vertices(self) -> int:
        return len(self.multiplicity)

    @cached_property
    def n_rows(self) -> float:
        """n, the number of training rows, or the sum of their sample weights."""
        return float(self.multiplicity.sum())

    @cached_property
    def one_row(self) -> float:
        """The median multiplicity: what an ordinary row counts in rules about numbers of rows."""
        return float(np.median(self.multiplicity))

    @property
    @abstractmethod
    def n_labels(self) -> int:
        """The number of rows that get labels."""

    @cached_property
    def degrees(self) -> Array:
        """``d_i = (1/n) sum_j W(x_i, x_j)``, the sum running over all rows."""
        return self.matmat(self.multiplicity[:, np.newaxis])[:, 0]

    @property
    def self_weights(self) -> Array:
        """Return ``W(x_i, x_i)``."""
        return np.asarray(self.weights.diagonal())

    @abstractmethod
    def matmat(self, V: Array) -> Array:
        """Return ``W @ V / n`` on vertices; the caller multiplies V by multiplicities."""

    def cuts(self, labels: Indices, n_clusters: int) -> Array:
        """Return the normalized cut of each cluster, ``1 - W(C, C) / vol(C)``; of no rows, 1."""
        member = np.eye(n_clusters)[labels] * self.multiplicity[:, np.newaxis]
        inside, volume = (member * self.matmat(member)).sum(axis=0), self.degrees @ member
        return np.clip(1 - inside / np.where(volume > 0, volume, np.inf), 0.0, 1.0)

    @abstractmethod
    def dense(self, vertices: Indices | None = None) -> Array:
        """Return the weights between all or some vertices as one array, for small graphs."""

    @abstractmethod
    def components(self) -> Indices:
        """Return the connected component of every vertex, numbered in any order.

        An edge is a weight ``W(x_i, x_j) > EDGE sqrt(d_i d_j)``: dropping all weaker ones moves the
        eigenvalues of the normalized graph by less than the rounding error of float64.
        """

    @property
    def has_rows(self) -> bool:
        """Whether the rows, or their memberships in landmarks, are in memory."""
        return True

    def keeps_embedding(self, n_columns: int) -> bool:
        """Return whether an embedding with this many columns is worth its memory."""
        return self.has_rows

    @abstractmethod
    def at_rows(self, values: Array, rule: Callable[[Array], Any]) -> Any:
        """Apply ``rule`` to the values at rows, which follow from those at vertices."""

    @abstractmethod
    def shares_at_rows(self, shares: Any, labels: Indices) -> Any:
        """Return the shares of clusters at rows, given shares and labels of the vertices."""

    @abstractmethod
    def outlier_threshold(self, share: float) -> OutlierThreshold:
        """Return the support that this share of the training rows stays below."""


@dataclass(frozen=True)
class RowGraph(Graph):
    """A graph whose vertices are rows, identical rows being one vertex."""

    vertices_are: ClassVar[str] = "different rows"

    vertex_of_row: Indices  # (n_labels,): the vertex of every row

    @property
    def n_labels(self) -> int:
        return len(self.vertex_of_row)

    def at_rows(self, values: Array, rule: Callable[[Array], Any]) -> Any:
        return rule(values)[self.vertex_of_row]

    def shares_at_rows(self, shares: Any, labels: Indices) -> Any:
        return shares[self.vertex_of_row]

    def outlier_threshold(self, share: float) -> OutlierThreshold:
        n, one = self.n_rows, self.one_row
        least = weighted_quantile(self._supports(), self.multiplicity, share, one)
        return OutlierThreshold(least, share * n, n, one)

    def _supports(self) -> Array:
        """Return log d(x) without the weight of a row to itself, which new rows do not have."""
        n, itself = self.n_rows, np.minimum(self.multiplicity, self.one_row)
        left = np.where(itself < n, n - itself, n)
        others = (n * self.degrees - itself * self.self_weights) / left
        return np.log(np.maximum(others, TINY))


def weighted_quantile(values: Array, weight: Array, share: float, one: float) -> float:
    """Return the quantile, as numpy's, of values that stand for ``weight / one`` rows each."""
    order = np.argsort(values, kind="stable")
    up_to = np.cumsum(weight[order])
    place = share * max(up_to[-1] / one - 1, 0.0)
    around = np.floor(place) + np.arange(2)
    found = np.searchsorted(up_to, one * around * (1 + 1e-9), side="right")
    low, high = values[order[np.minimum(found, len(values) - 1)]]
    return float(low + (high - low) * (place - around[0]))


class SparseProduct:
    """Multiplies a ``csr_array`` with columns; the bits do not depend on the number of threads."""

    block_entries = 1 << 19  # nonzeros per block; fewer are not worth a thread

    def __init__(self, matrix: Any) -> None:
        self._n_rows, n_columns = matrix.shape
        n_blocks = max(1, matrix.nnz // self.block_entries)
        bounds = np.linspace(0, self._n_rows, n_blocks + 1).astype(np.intp)
        self._blocks = []
        for start, stop in pairwise(bounds):
            first, last = matrix.indptr[start], matrix.indptr[stop]
            parts = (matrix.data[first:last], matrix.indices[first:last])
            pointers = matrix.indptr[start : stop + 1] - first
            block = csr_array((*parts, pointers), shape=(stop - start, n_columns))
            self._blocks.append((slice(start, stop), block))

    def __matmul__(self, V: NDArray[np.floating]) -> Any:
        V = np.ascontiguousarray(V)
        if len(self._blocks) == 1:
            return self._blocks[0][1] @ V
        product = np.empty((self._n_rows, V.shape[1]), dtype=V.dtype)

        def fill(item: tuple[slice, Any]) -> None:
            rows, block = item
            product[rows] = block @ V

        for_each(fill, self._blocks)
        return product


@dataclass(frozen=True)
class SparseGraph(RowGraph):
    """A graph of few edges: weights as a symmetric ``scipy.sparse.csr_array``."""

    def matmat(self, V: Array) -> Array:
        return np.asarray(SparseProduct(self.weights) @ (V / self.n_rows))

    def dense(self, vertices: Indices | None = None) -> Array:
        return np.asarray(self.among(vertices).toarray())

    def among(self, vertices: Indices | None) -> Any:
        """Return the sparse weights among some vertices, or among all for None."""
        return self.weights if vertices is None else self.weights[vertices][:, vertices]

    def components(self) -> Indices:
        from scipy.sparse.csgraph import connected_components

        edges = self.weights
        if edges.nnz and edges.data.min() <= EDGE * self.degrees.max():  # else all edges count
            edges, root_degree = edges.tocoo(), np.sqrt(self.degrees)
            threshold = EDGE * root_degree[edges.row] * root_degree[edges.col]
            edges.data = np.where(edges.data > threshold, edges.data, 0.0)
            edges.eliminate_zeros()
        return np.asarray(connected_components(edges, directed=False)[1], dtype=np.intp)


@dataclass(frozen=True)
class RankedGraph(SparseGraph):
    """A graph whose weights depend on the ranks of neighbours, not on their distances."""

    numbers: Indices  # (n_vertices, k): the nearest of each vertex, itself the first
    support: Array  # (n_vertices,): the support of each vertex by others

    def _supports(self) -> Array:
        return self.support


def shares_of_votes(votes: Array, labels: Indices, n_clusters: int) -> Any:
    """Return the share of each cluster in the votes (n_rows, k) of each row, as a sparse array."""
    m, k = votes.shape
    shares = csr_array((votes.ravel(), labels.ravel(), np.arange(0, m * k + 1, k)), (m, n_clusters))
    shares.sum_duplicates()
    sums = shares.sum(axis=1)
    shares.data /= np.repeat(sums, np.diff(shares.indptr))
    return shares


def index_type(n_edges: int) -> type[np.signedinteger[Any]]:
    """Return the type of indices for this many edges: 32 bits, if they suffice, save memory."""
    return np.int32 if n_edges < 2**31 else np.int64


def edges_to(numbers: Indices, n: int) -> Any:
    """Return a sparse matrix whose row i has ones in the columns ``numbers[i]``."""
    m, k = numbers.shape
    kind = index_type(n * k)
    columns = np.sort(numbers, axis=1).astype(kind).ravel()
    starts = np.arange(0, m * k + 1, k, dtype=kind)
    return csr_array((np.ones(m * k, dtype=np.int8), columns, starts), shape=(m, n))


pieces_are_known: ContextVar[bool] = ContextVar("eigencut_known_pieces", default=False)


def knowing_pieces(are_known: bool) -> AbstractContextManager[None]:
    """Set whether the user knows already that the graph is in pieces, so as not to warn again."""
    return holding(pieces_are_known, are_known)


def connected_components(graph: Graph) -> Indices:
    """Return the component of every vertex, numbered by decreasing number of rows."""
    label = graph.components()
    n_found = int(label.max()) + 1
    sizes = np.bincount(label, weights=graph.multiplicity, minlength=n_found)
    rank = np.empty(n_found, dtype=np.intp)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(n_found)
    return rank[label]


def refuse_without_edges(
    component: Indices, graph: Graph, n_clusters: int, connection_hint: Callable[[], str]
) -> None:
    """Raise an error if no two different rows are connected, and they exceed ``n_clusters``."""
    n_components = int(component.max()) + 1
    if n_components == graph.n_vertices and n_components > n_clusters:
        raise ValueError(
            f"affinity must connect the rows. Got a graph of {n_components} different rows without "
            f"a single edge. {connection_hint()}"
        )


def listed(sizes: NDArray[np.int_]) -> str:
    """Return the first eight sizes as text."""
    return ", ".join(map(str, sizes[:8])) + (", ..." if len(sizes) > 8 else "")


@dataclass(frozen=True)
class Policy:
    """Which components of a graph are too small to be clusters."""

    share: float = 1 / 16  # A component is large with this share of an average cluster,
    least_rows: int = 2  # and at least this many rows.


POLICY = Policy()


@dataclass(frozen=True)
class Pieces:
    """The components of a graph by size, and which of them take part in the cut.

    A component is small if it has fewer rows than ``max(2, min(n / K, largest) / 16)``. At most the
    K largest of the others take part, and small ones only until there are K different rows.
    """

    component: Indices  # (n_vertices,): numbered by decreasing number of rows
    graph: Graph

    @cached_property
    def n_rows(self) -> Array:
        """The number of rows of each component."""
        rows = np.bincount(self.component, weights=self.graph.multiplicity)
        return np.asarray(rows, dtype=np.float64)

    def n_large(self, n_clusters: int) -> int:
        """Return how many of the largest components take part in a cut into K clusters."""
        enough = POLICY.share * min(self.graph.n_rows / n_clusters, self.n_rows[0])
        least = max(POLICY.least_rows * self.graph.one_row, enough)
        n_large = min(int((self.n_rows >= least).sum()), n_clusters)
        n_vertices = np.cumsum(np.bincount(self.component))
        return max(n_large, int(np.searchsorted(n_vertices, n_clusters)) + 1)

    def first(self, n_pieces: int) -> Indices:
        """Return the component of every vertex; -1 outside the largest ``n_pieces``."""
        return np.where(self.component < n_pieces, self.component, -1)


def attach(vectors: Array, aside: Indices, component: Indices, nearest: Indices) -> Array:
    """Set vectors on each small component to their value at the most typical vertex next to it."""
    attached = vectors.copy()
    order = np.argsort(component, kind="stable")
    starts = np.flatnonzero(np.diff(component[order])) + 1
    for members in np.split(order, starts):
        rows = vectors[nearest[members]]
        length = np.linalg.norm(rows, axis=1, keepdims=True)
        rows = rows / np.where(length > 0, length, 1.0)
        typical = first_of_largest(rows @ rows.sum(axis=0))  # nearest to the mean direction
        attached[aside[members]] = vectors[nearest[members[typical]]]
    return attached


def first_of_largest(scores: Array) -> int:
    """Return the place of the largest score; the first of those that are equal up to rounding."""
    return int(np.argmax(scores >= scores.max() - TIE))
