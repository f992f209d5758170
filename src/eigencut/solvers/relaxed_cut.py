"""The relaxed cut of a graph, whatever pieces it is in.

Connected components are found, those too small to be clusters are set aside, the eigenproblem is
solved on the others, and the small ones take the value of what is nearest to them. Which are too
small can depend on the eigenvalues of the others (``eigencut.graphs.components``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.progress import stage
from eigencut.affinities.base import Affinity
from eigencut.cut import CUTS, Cut
from eigencut.graphs.base import Graph
from eigencut.graphs.components import (
    Pieces,
    attach,
    connected_components,
    refuse_without_edges,
    report_apart,
    report_components,
)
from eigencut.solvers.eigenpairs import EigenPairs, eigenpairs

NCUT = CUTS["ncut"]  # its eigenvalues have no unit: by them it is told which components take part


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
    n_clear : int
        Of those, the smallest so many are clusters by what the eigenvalues of the others show.
    n_apart : int
        Components that do not take part, but would if there were so many more clusters: those that
        there are are clearly whole.
    """

    pairs: EigenPairs
    components: Indices
    groups: Indices
    n_clear: int = 0
    n_apart: int = 0

    def judged(self, pieces: Pieces, n_clusters: int, values: Array) -> RelaxedCut:
        """With what K + 1 eigenvalues of NCut on the large components say of small ones."""
        n_clear = pieces.n_clear(n_clusters, values)
        is_whole = not n_clear and pieces.are_whole(n_clusters, values)
        n_apart = pieces.n_apart(n_clusters) if is_whole else 0
        pairs = self.pairs.first(n_clusters)
        return replace(self, pairs=pairs, n_clear=n_clear, n_apart=n_apart)

    @property
    def n_components(self) -> int:
        return int(self.components.max()) + 1

    def report(self, graph: Graph, affinity: Affinity) -> None:
        """Warn about a graph in pieces; refuse one without any edge."""
        n_clusters = len(self.pairs.values)
        report_components(self.components, self.groups, graph, n_clusters, affinity.connection_hint)

    def report_apart(self, graph: Graph) -> None:
        """Warn about components that joined others, and would be clusters if there were more."""
        n_part = int(self.groups.max()) + 1
        report_apart(self.components, n_part, self.n_apart, graph, len(self.pairs.values))


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
    pieces = pieces_of(graph, affinity, components)
    n_large = pieces.n_large(n_clusters)
    if not pieces.n_apart(n_clusters):
        return cut_of_pieces(pieces, affinity, cut, n_clusters, n_large, n_rough)
    n_pairs = min(n_clusters + 1, int((pieces.component < n_large).sum()))
    rough = max(n_pairs - n_clusters, n_pairs if cut is not NCUT else n_rough)
    found = cut_of_pieces(pieces, affinity, NCUT, n_pairs, n_large, rough)
    values = found.pairs.values
    n_clear = pieces.n_clear(n_clusters, values)
    if n_clear or cut is not NCUT:
        n_pieces = n_large + n_clear
        found = cut_of_pieces(pieces, affinity, cut, n_clusters, n_pieces, n_rough)
    return found.judged(pieces, n_clusters, values)


def pieces_of(graph: Graph, affinity: Affinity, components: Indices | None = None) -> Pieces:
    """The components of a graph, which are found unless they are known."""
    with stage("connected components"):
        if components is None:
            components = connected_components(graph)
        if not graph.degrees.any():  # not even a row to itself: nothing could be divided by
            refuse_without_edges(components, graph, 0, affinity.connection_hint)
        return Pieces(components, graph)


def cut_of_pieces(
    pieces: Pieces, affinity: Affinity, cut: Cut, n_pairs: int, n_pieces: int, n_rough: int = 0
) -> RelaxedCut:
    """The smallest pairs on the largest so many components, and what they are on the others."""
    graph, groups = pieces.graph, pieces.first(n_pieces)
    with stage(f"{n_pairs} eigenpairs"):
        pairs = eigenpairs(graph, cut.mass(graph.degrees), n_pairs, groups, n_rough=n_rough)
        pairs = _with_small_components(pairs, graph, pieces.component, affinity)
    return RelaxedCut(pairs, pieces.component, groups)


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
