"""One eigendecomposition, every number of clusters: what choosing K needs of a graph."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.linalg import qr
from sklearn.base import clone

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.progress import without_progress
from eigencut._utils.threads import blas_threads
from eigencut.affinities.base import Affinity
from eigencut.cut import CUTS, Cut
from eigencut.discretization import Partition, assign, normalize_rows, pod
from eigencut.exceptions import GraphWarning
from eigencut.extension.eigenfunctions import Eigenfunctions, extend
from eigencut.graphs.base import Graph
from eigencut.graphs.components import Pieces
from eigencut.neighbors.distinct_rows import distinct_rows
from eigencut.solvers.relaxed_cut import EigenPairs, RelaxedCut, cut_of_pieces, pieces_of

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
        return self._of(n_clusters).with_small_clusters(self.pieces, n_clusters, values)

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


# Criteria that tell, without labels, how many clusters a graph holds.
#
# A criterion gives every number of clusters K a score; larger is better. The measurements that made
# the conductance criterion the default are in ``benchmarks/studies/selection.md``.

_CUT = CUTS["ncut"]  # eigenvalues of NCut have no unit, so they compare across graphs
_GAP_FLOOR = 1e-4  # eigenvalues below are as good as zero to the eigengap
_LEAST_ROWS, _LEAST_SHARE = 10, 0.03  # a cluster smaller than both is an outlier, not a cluster
NO_CLUSTER = -9.0  # score of a K that makes such clusters
CLEAR = 0.45  # conductance score from which clusters are believed
_STABLE = 0.95  # agreement from which a clustering counts as stable
_REPEATS = 8  # pairs of halves, null samples


@dataclass(frozen=True)
class Choice:
    """A number of clusters, the affinity it was found with, and its score."""

    n_clusters: int
    affinity: Affinity
    score: float


@dataclass(frozen=True)
class Task:
    """What a criterion works on."""

    X: Array
    affinity: Affinity
    n_clusters: Sequence[int]
    seed: int
    sample_weight: Array | None = None

    def spectrum(self) -> Spectrum:
        """Of all rows, with one pair more than the largest K."""
        return self.spectrum_of(self.X, self.sample_weight)

    def spectrum_of(self, X: Array, sample_weight: Array | None) -> Spectrum:
        """Of other rows."""
        n_pairs = max(self.n_clusters) + 1
        return Spectrum.of(X, clone(self.affinity), _CUT, n_pairs, sample_weight)


def conductance(task: Task) -> Array:
    """How much worse the next split is than the worst of K clusters, times the relative eigengap.

        log((lambda_{K+1} + e) / (phi_K + e)) + log((lambda_{K+1} + e) / (lambda_K + e)),  e = 1/n,

    with phi_K the largest normalized cut ``1 - W(C, C) / vol(C)`` among the K clusters.
    lambda_{K+1} / phi_K is large only if the graph holds K clusters and not more: no cluster is cut
    badly, and every further cut would be bad.
    """
    return conductance_of(task.spectrum(), task.n_clusters)


def conductance_of(spectrum: Spectrum, n_clusters: Sequence[int]) -> Array:
    """The same for a spectrum that has one pair more than the largest K."""
    graph = spectrum.graph
    partitions = [spectrum.partition(K) for K in n_clusters]
    one_hot = np.column_stack(
        [np.eye(K)[p.labels] for K, p in zip(n_clusters, partitions, strict=True)]
    )
    one_hot *= graph.multiplicity[:, np.newaxis]
    inside = (one_hot * graph.matmat(one_hot)).sum(axis=0)
    volume = graph.degrees @ one_hot
    cut_off = 1 - inside / np.where(volume > 0, volume, 1.0)
    size = one_hot.sum(axis=0)
    least, floor = least_rows(graph), graph.one_row / graph.n_rows
    scores, start = [], 0
    for K in n_clusters:
        mine = slice(start, start + K)
        start += K
        values = spectrum.values_of(K)
        following = values[K] + floor
        score = np.log(following / (cut_off[mine].max() + floor))
        score += np.log(following / (values[K - 1] + floor))
        scores.append(score if size[mine].min() >= least else NO_CLUSTER)
    return np.array(scores)


def least_rows(graph: Graph) -> float:
    """Of a cluster; what has fewer is an outlier."""
    n = graph.n_rows / graph.one_row
    return graph.one_row * min(_LEAST_ROWS, max(2.0, _LEAST_SHARE * n))


def eigengap(task: Task) -> Array:
    """The relative eigengap ``log((lambda_{K+1} + e) / (lambda_K + e))``, e = 1e-4."""
    values = task.spectrum().pairs.values + _GAP_FLOOR
    K = np.array(task.n_clusters)
    return np.log(values[K] / values[K - 1])


def stability(task: Task) -> Array:
    """Agreement of clusterings fitted on disjoint parts, on rows that neither has seen.

    Two models are fitted on two fifths of the rows each and predict the last fifth; their agreement
    is the adjusted Rand index, which is 0 on average for unrelated labels. Mean over 8 splits.
    """
    rng = np.random.default_rng(task.seed)
    distinct = distinct_rows(task.X, task.sample_weight)
    X, weight = distinct.rows, distinct.multiplicity
    agreement = np.zeros(len(task.n_clusters))
    for _ in range(_REPEATS):
        order = rng.permutation(len(weight))
        first, second, rest = np.split(order, [2 * len(order) // 5, 4 * len(order) // 5])
        spectra = [task.spectrum_of(X[part], weight[part]) for part in (first, second)]
        for i, K in enumerate(task.n_clusters):
            one, other = (s.predict(X[rest], K) for s in spectra)
            agreement[i] += weighted_rand_index(one, other, weight[rest]) / _REPEATS
    return agreement


def weighted_rand_index(first: Indices, second: Indices, weight: Array) -> float:
    """The adjusted Rand index of two labellings, pairs of rows counting the product of weights."""
    table = np.zeros((first.max() + 1, second.max() + 1))
    np.add.at(table, (first, second), weight)
    itself = float(weight @ weight)
    together = float((table**2).sum()) - itself
    in_first, in_second = (float((table.sum(axis=i) ** 2).sum()) - itself for i in (1, 0))
    by_chance = in_first * in_second / (float(table.sum()) ** 2 - itself)
    most = (in_first + in_second) / 2
    return 1.0 if most == by_chance else (together - by_chance) / (most - by_chance)


def risk(task: Task) -> Array:
    """The jump of the held-out error after the K-th eigenfunction, compared with no clusters.

    The error F_k of the k-th eigenfunction on held-out rows estimates its population error. The sum
    over k always rises with K, and the mean does too; so the score is the jump
    ``log((F_{K+1} + e) / (F_K + e))`` minus its mean on Gaussian samples of the same covariance,
    which hold one cluster.
    """
    rng = np.random.default_rng(task.seed)
    distinct = distinct_rows(task.X, task.sample_weight)
    X, weight = distinct.rows, distinct.multiplicity
    data = np.mean([_held_out_jumps(task, X, weight, rng) for _ in range(_REPEATS)], axis=0)
    mean, covariance = np.average(X, axis=0, weights=weight), np.cov(X.T, aweights=weight)
    null = np.zeros_like(data)
    for _ in range(_REPEATS):
        sample = rng.multivariate_normal(mean, np.atleast_2d(covariance), len(X))
        null += _held_out_jumps(task, sample, weight, rng) / _REPEATS
    return np.asarray(data - null)


def _held_out_jumps(task: Task, X: Array, weight: Array, rng: np.random.Generator) -> Array:
    """``log((F_{K+1} + e) / (F_K + e))`` on a random fifth of the rows, e = 1e-4."""
    from eigencut.theory.errors import dirichlet_error

    order = rng.permutation(len(X))
    training, rest = np.split(order, [4 * len(order) // 5])
    spectrum = task.spectrum_of(X[training], weight[training])
    functions = spectrum.functions(len(spectrum.pairs.values))
    values = functions.unit(functions(X[rest]))
    errors = dirichlet_error(spectrum.affinity, X[rest], values, weight[rest]) + _GAP_FLOOR
    K = np.array(task.n_clusters)
    return np.log(errors[K] / errors[K - 1])


def _best(scores: Array) -> int:
    return int(np.argmax(scores))


def _last_stable(scores: Array) -> int:
    """The largest K that is stable: every coarser cut of clear clusters is stable too."""
    stable = np.flatnonzero(scores >= _STABLE)
    return int(stable[-1]) if len(stable) else int(np.argmax(scores))


@dataclass(frozen=True)
class Criterion:
    """A score of every K, and which K to take given the scores."""

    scores: Callable[[Task], Array]
    pick: Callable[[Array], int] = _best
    least_rows: int = 3  # rows that the criterion can work on, beyond the largest K
    needs_rows: bool = False  # whether it splits rows of features, so that a matrix will not do
    takes_sparse: bool = True  # whether rows may be a scipy.sparse array
    needs_numbers: bool = False  # whether it compares with normal rows


CRITERIA: dict[str, Criterion] = {
    "conductance": Criterion(conductance),
    "stability": Criterion(stability, _last_stable, least_rows=40, needs_rows=True),
    "risk": Criterion(risk, least_rows=40, needs_rows=True, takes_sparse=False, needs_numbers=True),
    "eigengap": Criterion(eigengap),
}


def evaluate(criterion: str, task: Task) -> tuple[list[Choice], Choice]:
    """All candidates of one affinity, and the one to take."""
    with warnings.catch_warnings(), without_progress():
        warnings.simplefilter("ignore", GraphWarning)
        scores = CRITERIA[criterion].scores(task)
    choices = [
        Choice(K, task.affinity, float(score))
        for K, score in zip(task.n_clusters, scores, strict=True)
    ]
    return choices, choices[CRITERIA[criterion].pick(scores)]
