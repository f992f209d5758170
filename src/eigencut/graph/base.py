"""The graph that is cut: what components and eigenpairs ask of it, and how rows belong to it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from eigencut.runtime.arrays import Array, Indices

EDGE = float(np.finfo(np.float64).eps)  # of sqrt(d_i d_j): a smaller weight is no edge


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
    def matmat(self, V: Array) -> Array:
        """``W @ V`` on vertices, with the factor 1/n; multiplicities are the caller's."""

    @abstractmethod
    def dense(self, vertices: Indices | None = None) -> Array:
        """The weights as one array, among all vertices or some: for small graphs."""

    @abstractmethod
    def components(self) -> Indices:
        """The connected component of every vertex, in no particular order.

        An edge is a weight ``W(x_i, x_j) > EDGE sqrt(d_i d_j)``. Dropping all weaker ones moves the
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
    def at_rows(self, values: Array, rule: Callable[[Array], Any]) -> Any:
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

    def at_rows(self, values: Array, rule: Callable[[Array], Any]) -> Any:
        return rule(values)[self.vertex_of_row]

    def support_quantile(self, share: float) -> float:
        """Of log d(x), each row without itself: a new row has no affinity to itself either."""
        n = self.n_rows
        others = (n * self.degrees - self.self_weights) / max(1, n - 1)
        support = np.log(np.maximum(others, np.finfo(np.float64).tiny))
        return float(np.quantile(support[self.vertex_of_row], share))
