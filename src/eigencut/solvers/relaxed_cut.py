"""The relaxed cut of a graph, whatever pieces it is in.

Connected components are found, those too small to be clusters are set aside, the eigenproblem is
solved on the others, and the small ones take the value of what is nearest to them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from eigencut.affinity.base import Affinity
from eigencut.cut import Cut
from eigencut.graph.base import Graph
from eigencut.graph.components import (
    connected_components,
    refuse_without_edges,
    report_components,
)
from eigencut.graph.small_components import attach, set_aside
from eigencut.runtime.arrays import Indices
from eigencut.runtime.progress import stage
from eigencut.solvers.eigenpairs import EigenPairs, eigenpairs


@dataclass(frozen=True)
class RelaxedCut:
    """The solution, and the pieces of the graph that it was found on.

    Attributes
    ----------
    pairs : EigenPairs
    components : array of shape (n_vertices,)
        The connected component of every vertex, numbered by decreasing number of rows.
    groups : array of shape (n_vertices,)
        The same where a component takes part in the eigenproblem, and -1 elsewhere.
    """

    pairs: EigenPairs
    components: Indices
    groups: Indices

    @property
    def n_components(self) -> int:
        return int(self.components.max()) + 1

    def report(self, graph: Graph, affinity: Affinity) -> None:
        """Warn about a graph in pieces; refuse one without any edge."""
        n_clusters = len(self.pairs.values)
        report_components(self.components, self.groups, graph, n_clusters, affinity.connection_hint)


def relaxed_cut(
    graph: Graph,
    affinity: Affinity,
    cut: Cut,
    n_clusters: int,
    components: Indices | None = None,
    n_rough: int = 0,
) -> RelaxedCut:
    """The K smallest eigenpairs of ``L u = lambda M u`` (Eqs. 6 and 7).

    Parameters
    ----------
    graph : Graph
    affinity : Affinity
        That made the graph; it knows which vertices are near.
    cut : Cut
    n_clusters : int
        K.
    components : array of shape (n_vertices,), optional
        As ``connected_components`` finds them, where they are known.
    n_rough : int
        Of the last so many pairs only the eigenvalues matter, and only to about a hundredth.
    """
    with stage("connected components"):
        if components is None:
            components = connected_components(graph)
        if not graph.degrees.any():  # not even a row to itself: nothing could be divided by
            refuse_without_edges(components, graph, 0, affinity.connection_hint)
        groups = set_aside(components, graph, n_clusters)
    with stage(f"{n_clusters} eigenpairs"):
        pairs = eigenpairs(graph, cut.mass(graph.degrees), n_clusters, groups, n_rough=n_rough)
        pairs = _with_small_components(pairs, graph, components, affinity)
    return RelaxedCut(pairs, components, groups)


def further_pairs(
    relaxed: RelaxedCut, graph: Graph, affinity: Affinity, cut: Cut, n_pairs: int
) -> EigenPairs:
    """More eigenpairs of a relaxed cut: the smallest so many, on the vertices that take part."""
    with stage(f"{n_pairs} eigenpairs"):
        pairs = eigenpairs(graph, cut.mass(graph.degrees), n_pairs, relaxed.groups)
        return _with_small_components(pairs, graph, relaxed.components, affinity)


def _with_small_components(
    pairs: EigenPairs, graph: Graph, components: Indices, affinity: Affinity
) -> EigenPairs:
    """The pairs, their vectors known on the components that were set aside too."""
    aside = np.flatnonzero(~pairs.takes_part)
    if not len(aside):
        return pairs
    nearest = affinity.most_similar_vertices(aside, np.flatnonzero(pairs.takes_part))
    vectors = attach(pairs.vectors, aside, components[aside], nearest)
    products = graph.matmat(graph.multiplicity[:, np.newaxis] * vectors)
    return replace(pairs, vectors=vectors, products=products)
