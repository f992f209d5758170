"""Connected components of a graph, as far as float64 can see its edges."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.progress import holding
from eigencut._utils.warn import warn_user
from eigencut.graphs.base import Graph

_are_known: ContextVar[bool] = ContextVar("eigencut_known_pieces", default=False)


def knowing_pieces(are_known: bool) -> AbstractContextManager[None]:
    """Whether it was said of a model before that its graph is in pieces: then not once more."""
    return holding(_are_known, are_known)


def connected_components(graph: Graph) -> Indices:
    """The component of every vertex, numbered by decreasing number of rows."""
    label = graph.components()
    n_found = int(label.max()) + 1
    sizes = np.bincount(label, weights=graph.multiplicity, minlength=n_found)
    rank = np.empty(n_found, dtype=np.intp)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(n_found)
    return rank[label]


def refuse_without_edges(
    component: Indices, graph: Graph, n_clusters: int, connection_hint: Callable[[], str]
) -> None:
    """An error for a graph in which no two different rows are connected."""
    n_components = int(component.max()) + 1
    if n_components == graph.n_vertices and n_components > n_clusters:
        raise ValueError(
            f"affinity must connect the rows. Got a graph of {n_components} different rows without "
            f"a single edge. {connection_hint()}"
        )


def report_components(
    component: Indices,
    groups: Indices,
    graph: Graph,
    n_clusters: int,
    connection_hint: Callable[[], str],
) -> None:
    """Warn about a graph in pieces; refuse one without any edge.

    ``groups`` are the components that take part in the eigenproblem, -1 for small ones.
    """
    n_components = int(component.max()) + 1
    if n_components == 1:
        return
    refuse_without_edges(component, graph, n_clusters, connection_hint)
    if _are_known.get():
        return
    sizes = np.rint(np.bincount(component, weights=graph.multiplicity)).astype(int)
    message = f"The graph has {n_components} connected components, of {_listed(sizes)} rows."
    n_isolated = int((np.bincount(component) == 1).sum())
    if n_isolated:
        message += f" {n_isolated} distinct row(s) have no affinity to any other."
    n_kept = int(groups.max()) + 1
    if n_kept < n_components:
        n_attached = int(sizes[n_kept:].sum())
        message += (
            f" The largest {n_kept} of them {'are' if n_kept > 1 else 'is'} cut into "
            f"{n_clusters} clusters; the other {n_attached} row(s) are in components too small, or "
            "too many, to be clusters, and joined the nearest. A larger n_clusters, or a graph "
            "that reaches farther, would tell more."
        )
    else:
        message += " Each is cut on its own: no cluster reaches from one into another."
    warn_user(message)


def report_apart(
    component: Indices, n_part: int, n_apart: int, graph: Graph, n_clusters: int
) -> None:
    """Warn about components apart from the clusters, which joined them all the same.

    They are those behind the first ``n_part``.
    """
    if not n_apart:
        return
    sizes = np.rint(np.bincount(component, weights=graph.multiplicity)).astype(int)
    listed = _listed(sizes[n_part : n_part + n_apart])
    lies, makes = f"lie {n_apart} groups", "them clusters"
    if n_apart == 1:
        lies, makes = "lies a group", "it a cluster"
    warn_user(
        f"Apart from the {n_clusters} clusters {lies} of {listed} rows, which joined the nearest. "
        f"n_clusters={n_clusters + n_apart} would make {makes}."
    )


def _listed(sizes: NDArray[np.int_], most: int = 8) -> str:
    """The first sizes in words."""
    return ", ".join(map(str, sizes[:most])) + (", ..." if len(sizes) > most else "")


@dataclass(frozen=True)
class Policy:
    """Which components of a graph are too small to be clusters."""

    share: float = 1 / 16  # A component of this share of an average cluster is large enough,
    least_rows: int = 2  # and has so many rows: a row alone is no cluster.
    share_apart: float = 1 / 64  # If other clusters are clearly whole, this share is enough,
    least_rows_apart: int = 10  # with so many rows: fewer are outliers.
    clearly_whole: float = 2.0  # Log of the ratio of eigenvalues that shows a number of clusters,
    not_at_all: float = 0.45  # and below which it is not shown.


POLICY = Policy()


@dataclass(frozen=True)
class Pieces:
    """The components of a graph, by size: which of them may be clusters.

    Graphs of real data fall into one or a few large components and many small ones: outliers, or a
    handful of rows that are each other's neighbours. Every component has an eigenvector of
    eigenvalue zero, so each of them would be a cluster before any large component is cut. Therefore
    small components do not take part in the eigenproblem. Afterwards each takes the value of the
    eigenvectors at one vertex nearby, and so gets the label that a new row there would get.

    A component is small if it has fewer rows than ``max(2, min(n / K, largest component) / 16)``;
    where rows have weights, two of the median weight. If more than K components reach this size,
    the K largest take part. As many as hold K different rows always do. What is smaller, but has
    ten rows and a sixty-fourth of an average cluster, is a cluster if the alternative is to cut one
    in two that is clearly whole: if the large components show K - j clusters clearly, by the
    eigenvalues, and K not at all, the next j components take part.
    """

    # (n_vertices,): numbered by decreasing number of rows, as ``connected_components`` does.
    component: Indices
    graph: Graph

    @cached_property
    def n_rows(self) -> Array:
        """Of each component."""
        rows = np.bincount(self.component, weights=self.graph.multiplicity)
        return np.asarray(rows, dtype=np.float64)

    @cached_property
    def _n_vertices(self) -> Indices:
        """Of the first component, the first two, and so on."""
        return np.cumsum(np.bincount(self.component))

    def n_large(self, n_clusters: int) -> int:
        """How many components, the largest, take part by their size."""
        enough = POLICY.share * min(self.graph.n_rows / n_clusters, self.n_rows[0])
        least = max(POLICY.least_rows * self.graph.one_row, enough)
        n_large = min(int((self.n_rows >= least).sum()), n_clusters)
        return max(n_large, int(np.searchsorted(self._n_vertices, n_clusters)) + 1)

    def n_apart(self, n_clusters: int) -> int:
        """How many of those that follow may be clusters, if the large ones show fewer than K."""
        enough = POLICY.share_apart * self.graph.n_rows / n_clusters
        least = max(POLICY.least_rows_apart * self.graph.one_row, enough)
        return max(int((self.n_rows >= least).sum()) - self.n_large(n_clusters), 0)

    def n_clear(self, n_clusters: int, values: Array) -> int:
        """How many of them are, given K + 1 eigenvalues of NCut on the large components.

        It is j if these show K - j clusters clearly, and K not at all.
        """
        K = n_clusters
        most = min(self.n_apart(K), K - self.n_large(K))
        gaps = self._gaps(values[: K + 1])
        if most < 1 or len(gaps) < K or gaps[K - 1] >= POLICY.not_at_all:
            return 0
        before = gaps[K - 1 - most : K - 1][::-1]  # of K - 1, K - 2, ...
        j = int(np.argmax(before)) + 1
        return j if before[j - 1] >= POLICY.clearly_whole else 0

    def are_whole(self, n_clusters: int, values: Array) -> bool:
        """Whether the components that take part show K clusters clearly."""
        gaps = self._gaps(values[: n_clusters + 1])
        return len(gaps) == n_clusters and bool(gaps[-1] >= POLICY.clearly_whole)

    def _gaps(self, values: Array) -> Array:
        floor = self.graph.one_row / self.graph.n_rows
        return np.diff(np.log(np.maximum(values, 0.0) + floor))

    def first(self, n_pieces: int) -> Indices:
        """The component of every vertex of the largest so many, and -1 for others."""
        return np.where(self.component < n_pieces, self.component, -1)


def attach(vectors: Array, aside: Indices, component: Indices, nearest: Indices) -> Array:
    """Give each small component the eigenvectors' value at the most typical vertex next to it.

    On a small component the eigenvectors are then constant, hence harmonic: ``L u = 0``, as if it
    had no mass. The extension treats it so (see ``Eigenfunctions``), and reproduces the value.
    ``component`` and ``nearest`` are of the vertices ``aside``, on which the vectors are zero.
    """
    attached = vectors.copy()
    order = np.argsort(component, kind="stable")
    starts = np.flatnonzero(np.diff(component[order])) + 1
    for members in np.split(order, starts):
        attached[aside[members]] = vectors[_most_typical(nearest[members], vectors)]
    return attached


def _most_typical(vertices: Indices, vectors: Array) -> int:
    """The vertex whose row of the eigenvectors points most in the direction of all of them."""
    rows = vectors[vertices]
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    rows = rows / np.where(length > 0, length, 1.0)
    return int(vertices[np.argmax(rows @ rows.sum(axis=0))])
