"""Components of a graph that are too small to be clusters: set aside, and attached afterwards.

Graphs of real data fall into one or a few large components and many small ones: outliers, or a
handful of rows that are each other's neighbours. Every component has an eigenvector of eigenvalue
zero, so each of them would be a cluster before any large component is cut. Therefore small
components do not take part in the eigenproblem. Afterwards each takes the value of the eigenvectors
at one vertex nearby, and so gets the label that a new row there would get.

A component is small if it has fewer rows than

    max(2, min(n / K, largest component) / 16),

so a sixteenth of an average cluster is enough to be one: 2 % of the rows from K = 4 on, and two
rows among fifty; where rows have weights, two of the median weight. If more than K components reach
this size, the K largest take part. As many as hold K different rows always do.
"""

from __future__ import annotations

import numpy as np

from eigencut.graph.base import Graph
from eigencut.runtime.arrays import Array, Indices

_SHARE = 1 / 16  # of the rows of an average cluster
_LEAST_ROWS = 2  # a row alone is no cluster


def set_aside(component: Indices, graph: Graph, n_clusters: int) -> Indices:
    """The component of every vertex that takes part in the eigenproblem, and -1 for small ones.

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
    n_rows = np.bincount(component, weights=graph.multiplicity)
    enough = _SHARE * min(graph.n_rows / n_clusters, n_rows[0])
    least = max(_LEAST_ROWS * graph.one_row, enough)
    n_large = min(int((n_rows >= least).sum()), n_clusters)
    n_needed = int(np.searchsorted(np.cumsum(np.bincount(component)), n_clusters)) + 1
    return np.where(component < max(n_large, n_needed), component, -1)


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
