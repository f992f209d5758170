"""Connected components of a graph, as far as float64 can see its edges."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.progress import holding
from eigencut._utils.warn import warn_user
from eigencut.graphs.base import Graph

_LISTED = 8  # sizes named in a warning
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
    listed = ", ".join(str(size) for size in sizes[:_LISTED])
    if n_components > _LISTED:
        listed += ", ..."
    message = f"The graph has {n_components} connected components, of {listed} rows."
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
    listed = ", ".join(str(size) for size in sizes[n_part : n_part + min(n_apart, _LISTED)])
    listed += ", ..." if n_apart > _LISTED else ""
    lies, makes = (
        ("lies a group", "it a cluster")
        if n_apart == 1
        else (
            f"lie {n_apart} groups",
            "them clusters",
        )
    )
    warn_user(
        f"Apart from the {n_clusters} clusters {lies} of {listed} rows, which joined the nearest. "
        f"n_clusters={n_clusters + n_apart} would make {makes}."
    )


# Components of a graph that are too small to be clusters: set aside, and attached afterwards.
#
# Graphs of real data fall into one or a few large components and many small ones: outliers, or a
# handful of rows that are each other's neighbours. Every component has an eigenvector of
# eigenvalue zero, so each of them would be a cluster before any large component is cut. Therefore
# small components do not take part in the eigenproblem. Afterwards each takes the value of the
# eigenvectors at one vertex nearby, and so gets the label that a new row there would get.
#
# A component is small if it has fewer rows than
#
#     max(2, min(n / K, largest component) / 16),
#
# so a sixteenth of an average cluster is enough to be one: 2 % of the rows from K = 4 on, and two
# rows among fifty; where rows have weights, two of the median weight. If more than K components
# reach this size, the K largest take part. As many as hold K different rows always do.
#
# What is smaller than that, but has ten rows and a sixty-fourth of an average cluster, is a cluster
# if the alternative is to cut one in two that is clearly whole: if the large components show K - j
# clusters clearly, by the eigenvalues, and K not at all, the next j components take part.

_SHARE = 1 / 16  # of the rows of an average cluster
_LEAST_ROWS = 2  # a row alone is no cluster
_SHARE_APART = 1 / 64  # of the rows of an average cluster, if others are clearly whole,
_LEAST_ROWS_APART = 10  # and so many rows: fewer are outliers
_CLEARLY_WHOLE = 2.0  # log of the ratio of eigenvalues from which a number of clusters is clear,
_NOT_AT_ALL = 0.45  # and below which it is not


@dataclass(frozen=True)
class Pieces:
    """The components of a graph, by size: which of them may be clusters."""

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
        enough = _SHARE * min(self.graph.n_rows / n_clusters, self.n_rows[0])
        least = max(_LEAST_ROWS * self.graph.one_row, enough)
        n_large = min(int((self.n_rows >= least).sum()), n_clusters)
        return max(n_large, int(np.searchsorted(self._n_vertices, n_clusters)) + 1)

    def n_apart(self, n_clusters: int) -> int:
        """How many of those that follow may be clusters, if the large ones show fewer than K."""
        enough = _SHARE_APART * self.graph.n_rows / n_clusters
        least = max(_LEAST_ROWS_APART * self.graph.one_row, enough)
        return max(int((self.n_rows >= least).sum()) - self.n_large(n_clusters), 0)

    def n_clear(self, n_clusters: int, values: Array) -> int:
        """How many of them are, given K + 1 eigenvalues of NCut on the large components.

        It is j if these show K - j clusters clearly, and K not at all.
        """
        K = n_clusters
        most = min(self.n_apart(K), K - self.n_large(K))
        gaps = self._gaps(values[: K + 1])
        if most < 1 or len(gaps) < K or gaps[K - 1] >= _NOT_AT_ALL:
            return 0
        before = gaps[K - 1 - most : K - 1][::-1]  # of K - 1, K - 2, ...
        j = int(np.argmax(before)) + 1
        return j if before[j - 1] >= _CLEARLY_WHOLE else 0

    def are_whole(self, n_clusters: int, values: Array) -> bool:
        """Whether the components that take part show K clusters clearly."""
        gaps = self._gaps(values[: n_clusters + 1])
        return len(gaps) == n_clusters and bool(gaps[-1] >= _CLEARLY_WHOLE)

    def _gaps(self, values: Array) -> Array:
        floor = self.graph.one_row / self.graph.n_rows
        return np.diff(np.log(np.maximum(values, 0.0) + floor))

    def first(self, n_pieces: int) -> Indices:
        """The component of every vertex of the largest so many, and -1 for others."""
        return np.where(self.component < n_pieces, self.component, -1)


def set_aside(component: Indices, graph: Graph, n_clusters: int) -> Indices:
    """The component of every vertex that takes part by its size, and -1 for small ones.

    Parameters
    ----------
    component : array of shape (n_vertices,)
        Numbered by decreasing number of rows, as ``connected_components`` does.
    graph : Graph
    n_clusters : int
        K.

    Examples
    --------
    >>> import numpy as np
    >>> from eigencut import Precomputed
    >>> graph = Precomputed().fit_graph(np.diag(np.ones(5)))  # only its multiplicities matter
    >>> set_aside(np.array([0, 0, 1, 1, 2]), graph, n_clusters=2)
    array([ 0,  0,  1,  1, -1])
    """
    pieces = Pieces(component, graph)
    return pieces.first(pieces.n_large(n_clusters))


def attach(vectors: Array, aside: Indices, component: Indices, nearest: Indices) -> Array:
    """Give each small component the eigenvectors' value at one vertex: of those nearest to it, the
    most typical.

    On a small component the eigenvectors are then constant, hence harmonic: ``L u = 0``, as if it
    had no mass. The extension treats it so (see ``Eigenfunctions``), and reproduces the value.

    Parameters
    ----------
    vectors : array of shape (n_vertices, K)
        The eigenvectors; zero on the vertices that were set aside.
    aside : array of indices
        Those vertices.
    component : array
        The component of each of them.
    nearest : array of indices
        The vertex most similar to each, among those that take part.
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
