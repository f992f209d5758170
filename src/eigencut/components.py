"""Connected components of a graph, as far as float64 can see its edges."""

from __future__ import annotations

import numpy as np

from eigencut.affinity.base import Affinity, Indices
from eigencut.affinity.graph import Graph
from eigencut.notices import warn_user

_LISTED = 8  # sizes named in a warning


def connected_components(graph: Graph) -> Indices:
    """The component of every vertex, numbered by decreasing number of rows."""
    label = graph.components()
    n_found = int(label.max()) + 1
    sizes = np.bincount(label, weights=graph.multiplicity, minlength=n_found)
    rank = np.empty(n_found, dtype=np.intp)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(n_found)
    return rank[label]


def attach_crumbs(component: Indices, affinity: Affinity, n_clusters: int) -> Indices:
    """At most ``n_clusters`` groups of components: the largest, and the others attached to them.

    With more components than clusters every union of components is a cut of value zero, and the
    relaxed problem has no unique solution. The largest ``n_clusters`` components become the groups;
    each smaller one joins the group it is nearest to, as a new row there would.
    """
    if component.max() < n_clusters:
        return component
    group = component.copy()
    seeds = np.flatnonzero(component < n_clusters)
    crumbs = np.flatnonzero(component >= n_clusters)
    closest = affinity.nearest(crumbs, seeds)
    for label in np.unique(component[crumbs]):
        members = component[crumbs] == label
        votes = np.bincount(component[closest[members]], minlength=n_clusters)
        group[crumbs[members]] = np.argmax(votes)
    return group


def report_components(
    component: Indices, graph: Graph, affinity: Affinity, n_clusters: int
) -> None:
    """Warn about a graph in pieces; refuse one without any edge."""
    n_components = int(component.max()) + 1
    if n_components == 1:
        return
    if n_components == graph.n_vertices and n_components > n_clusters:
        raise ValueError(
            f"affinity must connect the rows. Got a graph of {n_components} different rows without "
            f"a single edge. {affinity.connection_hint()}"
        )
    sizes = np.bincount(component, weights=graph.multiplicity).astype(int)
    listed = ", ".join(str(size) for size in sizes[:_LISTED])
    if n_components > _LISTED:
        listed += ", ..."
    message = f"The graph has {n_components} connected components, of {listed} rows."
    n_isolated = int((np.bincount(component) == 1).sum())
    if n_isolated:
        message += f" {n_isolated} distinct row(s) have no affinity to any other."
    if n_components > n_clusters:
        message += (
            f" The largest {n_clusters} became the clusters, and each other one joined the nearest "
            "of them. A larger n_clusters, or a graph that reaches farther, would tell more."
        )
    else:
        message += " Each is cut on its own: no cluster reaches from one into another."
    warn_user(message)
