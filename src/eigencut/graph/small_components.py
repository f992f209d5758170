"""Crumbs: components of a graph that are too small to be clusters.

Graphs of real data fall into one or a few large components and many crumbs: outliers, or a handful
of rows that are each other's neighbours. Every component has an eigenvector of eigenvalue zero, so
each crumb would be a cluster before any large component is cut. Therefore crumbs do not take part
in the eigenproblem. Afterwards each takes the value of the eigenvectors at one vertex nearby, and
so gets the label that a new row there would get.

A component is a crumb if it has fewer rows than

    max(2, min(n / K, largest component) / 16),

so a sixteenth of an average cluster is enough to be one: 2 % of the rows from K = 4 on, and two
rows among fifty. If more than K components reach this size, the K largest take part. As many as
hold K different rows always do.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from eigencut.affinity.base import Affinity
from eigencut.graph.graphs import Graph
from eigencut.runtime.arrays import Indices
from eigencut.solvers.eigenpairs import EigenPairs

_SHARE = 1 / 16  # of the rows of an average cluster
_LEAST_ROWS = 2  # a row alone is no cluster


def without_crumbs(component: Indices, graph: Graph, n_clusters: int) -> Indices:
    """The component of every vertex that takes part in the eigenproblem, and -1 for crumbs.

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
    >>> without_crumbs(np.array([0, 0, 1, 1, 2]), graph, n_clusters=2)
    array([ 0,  0,  1,  1, -1])
    """
    n_rows = np.bincount(component, weights=graph.multiplicity)
    least = max(_LEAST_ROWS, _SHARE * min(graph.n_rows / n_clusters, n_rows[0]))
    n_large = min(int((n_rows >= least).sum()), n_clusters)
    n_needed = int(np.searchsorted(np.cumsum(np.bincount(component)), n_clusters)) + 1
    return np.where(component < max(n_large, n_needed), component, -1)


def attach_crumbs(
    pairs: EigenPairs, graph: Graph, component: Indices, affinity: Affinity
) -> EigenPairs:
    """Give each crumb the eigenvectors' value at one vertex: of those nearest, the most typical.

    On a crumb the eigenvectors are then constant, hence harmonic: ``L u = 0``, as if crumbs had no
    mass. The extension treats them so (see ``Eigenfunctions``), and reproduces the value there.
    """
    crumbs = np.flatnonzero(~pairs.takes_part)
    if not len(crumbs):
        return pairs
    nearest = affinity.nearest(crumbs, np.flatnonzero(pairs.takes_part))
    order = np.argsort(component[crumbs], kind="stable")
    starts = np.flatnonzero(np.diff(component[crumbs][order])) + 1
    vectors = pairs.vectors.copy()
    for members in np.split(order, starts):
        vectors[crumbs[members]] = pairs.vectors[_most_typical(nearest[members], pairs)]
    products = graph.matmat(graph.multiplicity[:, np.newaxis] * vectors)
    return replace(pairs, vectors=vectors, products=products)


def _most_typical(vertices: Indices, pairs: EigenPairs) -> int:
    """The vertex whose row of the eigenvectors points most in the direction of all of them."""
    rows = pairs.vectors[vertices]
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    rows = rows / np.where(length > 0, length, 1.0)
    return int(vertices[np.argmax(rows @ rows.sum(axis=0))])
