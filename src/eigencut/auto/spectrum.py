"""One eigendecomposition, every number of clusters: what choosing K needs of a graph."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.linalg import qr

from eigencut._utils.arrays import TINY, Array, Indices
from eigencut._utils.running import blas_threads
from eigencut.affinities.base import Affinity
from eigencut.auto.policy import POLICY
from eigencut.cut import Cut
from eigencut.discretization import Partition, assign, normalize_rows, pod
from eigencut.exceptions import invalid
from eigencut.extension.eigenfunctions import Eigenfunctions, extend
from eigencut.graphs.base import Graph, Pieces
from eigencut.solvers.relaxed_cut import EigenPairs, cut_of_pieces, pieces_of


@dataclass(frozen=True)
class Choice:
    """A number of clusters, the affinity that it was found with, and the score of both.

    The affinity is its text where a model keeps the choice.
    """

    n_clusters: int
    affinity: Any
    score: float


@dataclass(frozen=True)
class Spectrum:
    """The smallest eigenpairs of a graph, cut into any number of clusters up to ``n_pairs``.

    Components with the rows of a cluster take part.
    """

    affinity: Affinity
    cut: Cut
    graph: Graph
    n_pieces: int
    pairs: EigenPairs
    _partitions: dict[int, Partition] = field(default_factory=dict)

    @classmethod
    def from_rows(
        cls,
        X: Array,
        affinity: Affinity,
        cut: Cut,
        n_pairs: int,
        sample_weight: Array | None = None,
    ) -> Spectrum:
        """Fit the affinity on the rows of X and solve the relaxed cut."""
        graph = affinity.fit_graph(X, sample_weight)
        return cls.from_pieces(pieces_of(graph, affinity), affinity, cut, n_pairs)

    @classmethod
    def from_pieces(
        cls,
        pieces: Pieces,
        affinity: Affinity,
        cut: Cut,
        n_pairs: int,
        n_rough: int = 0,
        least: float = 0.0,
    ) -> Spectrum:
        """Solve the relaxed cut on the components of a graph.

        Of the last ``n_rough`` pairs only the eigenvalues are of use, and roughly. Pairs that fewer
        than ``least`` rows share are left out: a far row is tied to the others so weakly that it
        has an eigenvalue next to zero, as a cluster has, and another cluster would be halved.
        """
        graph = pieces.graph
        if n_pairs > graph.n_vertices:
            limit = (
                f"be below the number of different rows, {graph.n_vertices} in a part of the data"
            )
            raise invalid("n_clusters", limit, n_pairs - 1, "lower it or add data")
        n_pieces = min(n_whole(pieces), n_pairs)
        n_vertices = np.cumsum(np.bincount(pieces.component))
        n_pieces = max(n_pieces, int(np.searchsorted(n_vertices, n_pairs)) + 1)
        pairs = cut_of_pieces(pieces, affinity, cut, n_pairs, n_pieces, n_rough).pairs
        rows = graph.multiplicity * pairs.takes_part
        held = (rows * cut.mass(graph.degrees))[:, np.newaxis] * pairs.vectors**2
        squares = (held**2 / np.maximum(rows, TINY)[:, np.newaxis]).sum(axis=0)
        shared_by = held.sum(axis=0) ** 2 / np.maximum(squares, TINY)  # m rows share alike: m
        return cls(affinity, cut, graph, n_pieces, pairs.only(shared_by > least - graph.one_row))

    def pairs_of(self, n_clusters: int) -> EigenPairs:
        """The eigenpairs of K clusters."""
        return self.pairs.first(n_clusters)

    def partition(self, n_clusters: int) -> Partition:
        """Return the clusters of the vertices, by a rotation that some of the vertices decide.

        It starts from rows as different as a pivoted QR decomposition finds them [1]_.

        References
        ----------
        .. [1] A. Damle, V. Minden, L. Ying, "Simple, direct and efficient multi-way spectral
           clustering", Information and Inference 8(1), 181-203, 2019.
        """
        if n_clusters not in self._partitions:
            U, weight = self.pairs_of(n_clusters).vectors, self.graph.multiplicity
            some = slice(None, None, -(-len(U) // POLICY.few_rows))
            rows = normalize_rows(U[some])
            with blas_threads(1):
                # Of orthonormal vectors: an odd row, which has little mass, is short there.
                mass = weight[some] * self.cut.mass(self.graph.degrees)[some]
                of_mass = U[some].T * np.sqrt(mass)
                first = qr(of_mass, mode="r", pivoting=True)[1][:n_clusters]
                tol, of_some = POLICY.rough_growth, weight[some]
                rough = pod(rows, init=rows[first].T, tol=tol, sample_weight=of_some)
                found = pod(U, init=rough.rotation, max_iter=1, sample_weight=weight)
            self._partitions[n_clusters] = found
        return self._partitions[n_clusters]

    def predict(self, X: Array, n_clusters: int) -> Indices:
        """The clusters of new rows."""
        functions = self.functions(n_clusters)
        rows = normalize_rows(functions(X))
        return assign(rows @ self.partition(n_clusters).rotation)

    def functions(self, n_clusters: int) -> Eigenfunctions:
        """Return the first K eigenfunctions."""
        pairs = self.pairs_of(n_clusters)
        return extend("consistent", self.affinity, self.cut, pairs, self.graph.degrees)


def conductance(spectrum: Spectrum, n_clusters: int) -> float:
    """Score a number K of clusters: how much worse the next split is than the worst cluster.

        log((lambda_{K+1} + e) / (phi_K + e)) + log((lambda_{K+1} + e) / (lambda_K + e)),  e = 1/n,

    with phi_K the largest normalized cut ``1 - W(C, C) / vol(C)`` among the K clusters.
    lambda_{K+1} / phi_K is large only if the graph holds K clusters and not more: no cluster is cut
    badly, and every further cut would be bad. The spectrum has more than K pairs. The score is 0
    below the number of components: the next split costs nothing either.
    """
    graph, K = spectrum.graph, n_clusters
    if spectrum.n_pieces > K:
        return 0.0
    labels = spectrum.partition(K).labels
    if np.bincount(labels, graph.multiplicity, K).min() < least_rows(graph):
        return POLICY.no_cluster
    worst = graph.cuts(labels, K).max()
    values, floor = spectrum.pairs.values, graph.one_row / graph.n_rows
    following = values[K] + floor
    score = np.log(following / (worst + floor))
    return float(score + np.log(following / (values[K - 1] + floor)))


def least_rows(graph: Graph) -> float:
    """Return how many rows a cluster has at least; what has fewer is an outlier."""
    share = max(2 * graph.one_row, POLICY.least_share * graph.n_rows)
    return min(graph.one_row * POLICY.least_cluster, share)


def n_whole(pieces: Pieces) -> int:
    """Return how many components have the rows of a cluster, at least one."""
    return max(1, int((pieces.n_rows >= least_rows(pieces.graph)).sum()))
