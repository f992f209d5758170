"""Connected components of a graph, as far as float64 can see its edges."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from contextvars import ContextVar

import numpy as np

from eigencut.graph.base import Graph
from eigencut.runtime.arrays import Indices
from eigencut.runtime.context import holding
from eigencut.runtime.warn import warn_user

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
