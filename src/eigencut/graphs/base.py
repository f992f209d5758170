"""The graph that is cut: what components and eigenpairs ask of it, and how rows belong to it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from eigencut._utils.arrays import EPS, TINY, Array, Indices


@dataclass(frozen=True)
class OutlierThreshold:
    """The similarity to the training rows below which a row is an outlier, and how many rows are.

    Examples
    --------
    >>> OutlierThreshold(-2.0, n_outside=3, n_rows=100).decayed(0.5).added(1, 50).share
    0.025
    """

    least: float
    n_outside: float
    n_rows: float
    one_row: float = 1.0  # what an ordinary row counts

    @property
    def share(self) -> float:
        """Of rows with less."""
        return self.n_outside / self.n_rows

    def quantile(self, share: float) -> float:
        """What is decided, whatever the share was."""
        return self.least

    def outlier_threshold(self, share: float) -> OutlierThreshold:
        return self

    def decayed(self, decay: float) -> OutlierThreshold:
        """As if every row counted only ``decay``."""
        outside, n_rows = decay * self.n_outside, decay * self.n_rows
        return replace(self, n_outside=outside, n_rows=n_rows)

    def added(self, n_outside: float, n_rows: float) -> OutlierThreshold:
        """With more rows."""
        outside = self.n_outside + n_outside
        return replace(self, n_outside=outside, n_rows=self.n_rows + n_rows)


EDGE = EPS  # of sqrt(d_i d_j): a smaller weight is no edge


@dataclass(frozen=True)
class Graph(ABC):
    """A weighted graph on vertices, each standing for one or more rows."""

    vertices_are: ClassVar[str]

    weights: Any  # Symmetric weights ``W(x_i, x_j)``, without the factor 1/n
    # (n_vertices,): how many rows each vertex stands for; where rows have weights, the sum of
    # these.
    multiplicity: Array

    @property
    def n_vertices(self) -> int:
        return len(self.multiplicity)

    @cached_property
    def n_rows(self) -> float:
        """n, the number of training rows; where they have weights, the sum of these."""
        return float(self.multiplicity.sum())

    @cached_property
    def one_row(self) -> float:
        """What an ordinary row counts: the median over the different rows, the unit of rules."""
        return float(np.median(self.multiplicity))

    @property
    @abstractmethod
    def n_labels(self) -> int:
        """For how many rows there will be labels."""

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

    @abstractmethod
    def at_rows(self, values: Array, rule: Callable[[Array], Any]) -> Any:
        """``rule`` of the values at rows, given the values at vertices."""

    @abstractmethod
    def support_quantile(self, share: float) -> float:
        """What this share of the training rows stays below in support."""

    def outlier_threshold(self, share: float) -> OutlierThreshold:
        """The same, with how many of how many rows stay below."""
        least = self.support_quantile(share)
        return OutlierThreshold(least, share * self.n_rows, self.n_rows, self.one_row)


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

    def support_quantile(self, share: float) -> float:
        """Of log d(x), each row without itself: a new row has no affinity to itself either."""
        n, itself = self.n_rows, np.minimum(self.multiplicity, self.one_row)
        left = np.where(itself < n, n - itself, n)
        others = (n * self.degrees - itself * self.self_weights) / left
        support = np.log(np.maximum(others, TINY))
        return weighted_quantile(support, self.multiplicity, share, self.one_row)


def weighted_quantile(values: Array, weight: Array, share: float, one: float) -> float:
    """The quantile of rows that count ``one`` each, so many at each of the values.

    It is numpy's, between two rows by a straight line, if weights are numbers of rows and one is 1.
    """
    order = np.argsort(values, kind="stable")
    up_to = np.cumsum(weight[order])
    place = share * max(up_to[-1] / one - 1, 0.0)
    around = np.floor(place) + np.arange(2)
    found = np.searchsorted(up_to, one * around * (1 + 1e-9), side="right")
    low, high = values[order[np.minimum(found, len(values) - 1)]]
    return float(low + (high - low) * (place - around[0]))
