"""One eigendecomposition, every number of clusters: what choosing K needs of a graph."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from eigencut.affinity.base import Affinity
from eigencut.cut import Cut
from eigencut.discretization import Partition, assign, normalize_rows, pod
from eigencut.extension.eigenfunctions import Eigenfunctions, extend
from eigencut.graph.components import connected_components
from eigencut.graph.graphs import Graph
from eigencut.graph.small_components import attach_crumbs, without_crumbs
from eigencut.runtime.arrays import Array, Indices
from eigencut.runtime.threads import blas_threads
from eigencut.solvers.eigenpairs import EigenPairs, eigenpairs

_STARTS = 6  # of POD, for each K


@dataclass(frozen=True)
class Spectrum:
    """The smallest eigenpairs of a graph, cut into any number of clusters up to ``n_pairs``."""

    affinity: Affinity
    cut: Cut
    graph: Graph
    components: Indices
    pairs: EigenPairs
    _partitions: dict[int, Partition] = field(default_factory=dict)

    @classmethod
    def of(
        cls, X: Array, affinity: Affinity, cut: Cut, n_pairs: int, n_jobs: int | None = None
    ) -> Spectrum:
        """Fit the affinity on the rows of X and solve the relaxed cut."""
        graph = affinity.fit_graph(X, n_jobs)
        if n_pairs > graph.n_vertices:
            raise ValueError(
                f"n_clusters must be below the number of different rows, {graph.n_vertices} in a "
                f"part of the data. Got {n_pairs - 1}; lower it or add data."
            )
        components = connected_components(graph)
        groups = without_crumbs(components, graph, n_pairs)
        pairs = eigenpairs(graph, cut.mass(graph.degrees), n_pairs, groups, n_jobs=n_jobs)
        pairs = attach_crumbs(pairs, graph, components, affinity)
        return cls(affinity, cut, graph, components, pairs)

    def pairs_of(self, n_clusters: int) -> EigenPairs:
        """The first K pairs; if other components are crumbs for this K, those of the others."""
        groups = without_crumbs(self.components, self.graph, n_clusters)
        if ((groups >= 0) != self.pairs.takes_part).any():
            mass = self.cut.mass(self.graph.degrees)
            pairs = eigenpairs(self.graph, mass, n_clusters, groups)
            return attach_crumbs(pairs, self.graph, self.components, self.affinity)
        first = slice(None, n_clusters)
        return replace(
            self.pairs,
            values=self.pairs.values[first],
            vectors=self.pairs.vectors[:, first],
            products=self.pairs.products[:, first],
        )

    def partition(self, n_clusters: int) -> Partition:
        """The clusters of the vertices."""
        if n_clusters not in self._partitions:
            U = self.pairs_of(n_clusters).vectors
            with blas_threads(1):
                found = pod(U, n_init=_STARTS, sample_weight=self.graph.multiplicity)
            self._partitions[n_clusters] = found
        return self._partitions[n_clusters]

    def predict(self, X: Array, n_clusters: int, n_jobs: int | None = None) -> Indices:
        """The clusters of new rows."""
        functions = self.functions(n_clusters)
        rows = normalize_rows(functions(X, n_jobs))
        return assign(rows @ self.partition(n_clusters).rotation)

    def functions(self, n_clusters: int) -> Eigenfunctions:
        """The first K eigenfunctions."""
        pairs = self.pairs_of(n_clusters)
        return extend("consistent", self.affinity, self.cut, pairs, self.graph.degrees, 1)
