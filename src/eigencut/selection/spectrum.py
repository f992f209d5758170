"""One eigendecomposition, every number of clusters: what choosing K needs of a graph."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.linalg import qr

from eigencut.affinity.base import Affinity
from eigencut.cut import Cut
from eigencut.discretization import Partition, assign, normalize_rows, pod
from eigencut.extension.eigenfunctions import Eigenfunctions, extend
from eigencut.graph.base import Graph
from eigencut.graph.small_components import Pieces
from eigencut.runtime.arrays import Array, Indices
from eigencut.runtime.threads import blas_threads
from eigencut.solvers.eigenpairs import EigenPairs
from eigencut.solvers.relaxed_cut import RelaxedCut, cut_of_pieces, pieces_of

_STARTS = 6  # of POD, for each K
_HELD = 0.9  # of an eigenvector, by the rows that it is said to be of
_ROUGH = 1e-3  # relative growth of the objective, at which a rough discretization ends


@dataclass(frozen=True)
class Spectrum:
    """The smallest eigenpairs of a graph, cut into any number of clusters up to ``n_pairs``."""

    affinity: Affinity
    cut: Cut
    pieces: Pieces
    n_pairs: int
    n_rough: int = 0
    least_rows: float = 0.0  # pairs that fewer rows hold are left out: outliers have them
    _solved: dict[int, RelaxedCut] = field(default_factory=dict)
    _partitions: dict[int, Partition] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        X: Array,
        affinity: Affinity,
        cut: Cut,
        n_pairs: int,
        sample_weight: Array | None = None,
    ) -> Spectrum:
        """Fit the affinity on the rows of X and solve the relaxed cut."""
        return cls.of_graph(affinity.fit_graph(X, sample_weight), affinity, cut, n_pairs)

    @classmethod
    def of_graph(
        cls,
        graph: Graph,
        affinity: Affinity,
        cut: Cut,
        n_pairs: int,
        n_rough: int = 0,
        least_rows: float = 0.0,
    ) -> Spectrum:
        """Solve the relaxed cut on a graph that the affinity has made.

        Of the last ``n_rough`` pairs only the eigenvalues are of use, and roughly. Those that fewer
        than ``least_rows`` rows hold are left out.
        """
        if n_pairs > graph.n_vertices:
            raise ValueError(
                f"n_clusters must be below the number of different rows, {graph.n_vertices} in a "
                f"part of the data. Got {n_pairs - 1}; lower it or add data."
            )
        pieces = pieces_of(graph, affinity)
        return cls(affinity, cut, pieces, n_pairs, n_rough, least_rows)

    @property
    def graph(self) -> Graph:
        return self.pieces.graph

    @property
    def pairs(self) -> EigenPairs:
        """The smallest ``n_pairs``, on the components that take part in so many clusters."""
        return self._on(self.pieces.n_large(self.n_pairs)).pairs

    def _on(self, n_pieces: int) -> RelaxedCut:
        """The pairs on the largest so many components, as far as these have vertices."""
        if n_pieces not in self._solved:
            pieces, n_vertices = self.pieces, int((self.pieces.component < n_pieces).sum())
            n_pairs = min(self.n_pairs, n_vertices)
            n_rough = max(self.n_rough - (self.n_pairs - n_pairs), 0)
            given = (pieces, self.affinity, self.cut, n_pairs, n_pieces, n_rough)
            found = cut_of_pieces(*given)
            if self.least_rows:
                found = replace(found, pairs=found.pairs.only(self._are_of_many(found.pairs)))
            self._solved[n_pieces] = found
        return self._solved[n_pieces]

    def _are_of_many(self, pairs: EigenPairs) -> Any:
        """Which eigenvectors are not those of a handful of rows.

        One far row is tied to the others so weakly that it has an eigenvalue next to zero, as a
        cluster has. But no cluster is there to be cut off: another would be halved instead.
        """
        graph = self.graph
        rows = graph.multiplicity * pairs.takes_part
        held = (rows * self.cut.mass(graph.degrees))[:, np.newaxis] * pairs.vectors**2
        order = np.argsort(-held, axis=0, kind="stable")
        share = np.cumsum(np.take_along_axis(held, order, axis=0), axis=0) / held.sum(axis=0)
        n_rows = np.cumsum(rows[order], axis=0)
        n_vertices = (share < _HELD).sum(axis=0)  # and one more
        return n_rows[n_vertices, np.arange(len(n_vertices))] >= self.least_rows

    def n_clear(self, n_clusters: int) -> int:
        """How many components that are small for K are clusters, for others are clearly whole."""
        if self.pieces.n_large(n_clusters) >= n_clusters or not self.pieces.n_apart(n_clusters):
            return 0
        values = self._on(self.pieces.n_large(n_clusters)).pairs.values
        return self.pieces.n_clear(n_clusters, values)

    def values_of(self, n_clusters: int) -> Array:
        """The K smallest eigenvalues as they are cut, and if it is known what would follow."""
        if self.n_pairs > n_clusters and self.pieces.n_large(n_clusters + 1) > n_clusters:
            return np.zeros(n_clusters + 1)  # of so many components
        values = self._of(n_clusters).pairs.values[: n_clusters + 1]
        if self.n_pairs <= n_clusters:
            return values
        # On the same components, or on those that would take part in one cluster more.
        larger = self._on(self.pieces.n_large(n_clusters + 1)).pairs.values
        following = [*values[n_clusters:], *larger[n_clusters : n_clusters + 1]]
        return np.append(values[:n_clusters], following and min(following))

    def reaches(self, n_clusters: int) -> bool:
        """Whether it has the eigenvalues of K clusters, and the one that follows."""
        return len(self.values_of(n_clusters)) > n_clusters

    def relaxed_of(self, n_clusters: int) -> RelaxedCut:
        """The first K pairs, on the components that take part in K clusters."""
        values = self._on(self.pieces.n_large(n_clusters)).pairs.values
        return self._of(n_clusters).judged(self.pieces, n_clusters, values)

    def _of(self, n_clusters: int) -> RelaxedCut:
        return self._on(self.pieces.n_large(n_clusters) + self.n_clear(n_clusters))

    def pairs_of(self, n_clusters: int) -> EigenPairs:
        """The eigenpairs of K clusters."""
        return self.relaxed_of(n_clusters).pairs

    def partition(self, n_clusters: int, n_init: int = _STARTS, **starts: Any) -> Partition:
        """The clusters of the vertices; options are of POD, when they are first asked for."""
        if n_clusters not in self._partitions:
            U = self.pairs_of(n_clusters).vectors
            weight = self.graph.multiplicity
            with blas_threads(1):
                found = pod(U, n_init=n_init, sample_weight=weight, **starts)
            self._partitions[n_clusters] = found
        return self._partitions[n_clusters]

    def partition_roughly(self, n_clusters: int, n_rows: int) -> Partition:
        """The same from one start, and by a rotation that about so many vertices decide.

        It starts from rows as different as a pivoted QR decomposition finds them [1]_.

        References
        ----------
        .. [1] A. Damle, V. Minden, L. Ying, "Simple, direct and efficient multi-way spectral
           clustering", Information and Inference 8(1), 181-203, 2019.
        """
        if n_clusters not in self._partitions:
            U, weight = self.pairs_of(n_clusters).vectors, self.graph.multiplicity
            some = slice(None, None, -(-len(U) // n_rows))
            rows = normalize_rows(U[some])
            with blas_threads(1):
                # Of orthonormal vectors: an odd row, which has little mass, is short there.
                mass = weight[some] * self.cut.mass(self.graph.degrees)[some]
                of_mass = U[some].T * np.sqrt(mass)
                first = qr(of_mass, mode="r", pivoting=True)[1][:n_clusters]
                of_some = pod(rows, init=rows[first].T, tol=_ROUGH, sample_weight=weight[some])
                found = pod(U, init=of_some.rotation, max_iter=1, sample_weight=weight)
            self._partitions[n_clusters] = found
        return self._partitions[n_clusters]

    def predict(self, X: Array, n_clusters: int) -> Indices:
        """The clusters of new rows."""
        functions = self.functions(n_clusters)
        rows = normalize_rows(functions(X))
        return assign(rows @ self.partition(n_clusters).rotation)

    def functions(self, n_clusters: int) -> Eigenfunctions:
        """The first K eigenfunctions."""
        pairs = self.pairs_of(n_clusters)
        return extend("consistent", self.affinity, self.cut, pairs, self.graph.degrees)
