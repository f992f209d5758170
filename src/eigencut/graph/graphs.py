"""The graph that is cut: what components and eigenpairs ask of it, and how rows belong to it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from eigencut.graph.sparse_product import RowBlocks
from eigencut.graph.tiles import SymmetricTiles
from eigencut.runtime.arrays import Array, Indices

_EPS = float(np.finfo(np.float64).eps)
_ROWS = 128  # rows of a dense graph searched for edges at a time


@dataclass(frozen=True)
class Graph(ABC):
    """A weighted graph on vertices, each standing for one or more rows.

    Attributes
    ----------
    weights : SymmetricTiles or sparse array
        Symmetric weights ``W(x_i, x_j)``, without the factor 1/n.
    multiplicity : array of shape (n_vertices,)
        How many rows each vertex stands for. Sums to ``n_rows``.
    """

    vertices_are: ClassVar[str]

    weights: Any
    multiplicity: Array

    @property
    def n_vertices(self) -> int:
        return len(self.multiplicity)

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """n, the number of training rows."""

    @cached_property
    def degrees(self) -> Array:
        """``d_i = (1/n) sum_j W(x_i, x_j)``, the sum running over all rows."""
        return self.matmat(self.multiplicity[:, np.newaxis])[:, 0]

    @property
    def self_weights(self) -> Array:
        """``W(x_i, x_i)``."""
        return np.asarray(self.weights.diagonal())

    @abstractmethod
    def matmat(self, V: Array, n_jobs: int | None = None) -> Array:
        """``W @ V`` on vertices, with the factor 1/n; multiplicities are the caller's."""

    @abstractmethod
    def dense(self, vertices: Indices | None = None) -> Array:
        """The weights as one array, among all vertices or some: for small graphs."""

    @abstractmethod
    def components(self) -> Indices:
        """The connected component of every vertex, in no particular order.

        An edge is a weight ``W(x_i, x_j) > eps sqrt(d_i d_j)``. Dropping all weaker ones moves the
        eigenvalues of the normalized graph by less than the rounding error eps of float64, so no
        eigensolver can tell them from zero.
        """

    @property
    def has_rows(self) -> bool:
        """Whether the rows, or what is left of them, are in memory."""
        return True

    def keeps_embedding(self, n_columns: int) -> bool:
        """Whether so many numbers per row are worth their memory."""
        return self.has_rows

    @property
    @abstractmethod
    def first_row(self) -> Indices:
        """What decides which of two clusters of equal size comes first: a number per vertex."""

    @abstractmethod
    def at_rows(
        self, values: Array, rule: Callable[[Array], Any], n_jobs: int | None = None
    ) -> Any:
        """``rule`` of the values at rows, given the values at vertices."""

    @abstractmethod
    def support_quantile(self, share: float) -> float:
        """What this share of the training rows stays below in support."""


@dataclass(frozen=True)
class RowGraph(Graph):
    """A graph whose vertices are rows, identical rows being one vertex.

    Attributes
    ----------
    vertex_of_row : array of shape (n_rows,)
        The vertex of every row.
    """

    vertices_are: ClassVar[str] = "different rows"

    vertex_of_row: Indices

    @property
    def n_rows(self) -> int:
        return len(self.vertex_of_row)

    @property
    def first_row(self) -> Indices:
        first = np.full(self.n_vertices, self.n_rows)
        np.minimum.at(first, self.vertex_of_row, np.arange(self.n_rows))
        return first

    def at_rows(
        self, values: Array, rule: Callable[[Array], Any], n_jobs: int | None = None
    ) -> Any:
        return rule(values)[self.vertex_of_row]

    def support_quantile(self, share: float) -> float:
        """Of log d(x), each row without itself: a new row has no affinity to itself either."""
        n = self.n_rows
        others = (n * self.degrees - self.self_weights) / max(1, n - 1)
        support = np.log(np.maximum(others, np.finfo(np.float64).tiny))
        return float(np.quantile(support[self.vertex_of_row], share))


@dataclass(frozen=True)
class CompleteGraph(Graph):
    """Edges between all vertices, their weights in tiles."""

    weights: SymmetricTiles

    def matmat(self, V: Array, n_jobs: int | None = None) -> Array:
        return self.weights.matmat(V / self.n_rows, n_jobs)

    def dense(self, vertices: Indices | None = None) -> Array:
        if vertices is None:
            return self.weights.dense()
        return self.weights.rows(vertices)[:, vertices]

    def components(self) -> Indices:
        root_degree = np.sqrt(self.degrees)
        label = np.full(self.n_vertices, -1, dtype=np.intp)
        unseen = np.arange(self.n_vertices)
        n_found = 0
        while len(unseen):
            frontier, unseen = unseen[:1], unseen[1:]
            label[frontier] = n_found
            while len(frontier) and len(unseen):
                some, frontier = frontier[:_ROWS], frontier[_ROWS:]
                threshold = _EPS * root_degree[some, np.newaxis] * root_degree[unseen]
                reached = (self.weights.rows(some)[:, unseen] > threshold).any(axis=0)
                label[unseen[reached]] = n_found
                frontier = np.concatenate([frontier, unseen[reached]])
                unseen = unseen[~reached]
            n_found += 1
        return label


@dataclass(frozen=True)
class DenseGraph(CompleteGraph, RowGraph):
    """The complete graph on rows."""


@dataclass(frozen=True)
class SparseGraph(RowGraph):
    """A graph of few edges: weights as a symmetric ``scipy.sparse.csr_array``."""

    weights: Any

    def matmat(self, V: Array, n_jobs: int | None = None) -> Array:
        return np.asarray(RowBlocks(self.weights, n_jobs) @ (V / self.n_rows))

    def dense(self, vertices: Indices | None = None) -> Array:
        return np.asarray(self.among(vertices).toarray())

    def among(self, vertices: Indices | None) -> Any:
        """The sparse weights among some vertices; among all for None."""
        return self.weights if vertices is None else self.weights[vertices][:, vertices]

    def components(self) -> Indices:
        from scipy.sparse.csgraph import connected_components

        edges = self.weights
        if edges.nnz and edges.data.min() <= _EPS * self.degrees.max():  # else all edges count
            edges, root_degree = edges.tocoo(), np.sqrt(self.degrees)
            threshold = _EPS * root_degree[edges.row] * root_degree[edges.col]
            edges.data = np.where(edges.data > threshold, edges.data, 0.0)
            edges.eliminate_zeros()
        return np.asarray(connected_components(edges, directed=False)[1], dtype=np.intp)
