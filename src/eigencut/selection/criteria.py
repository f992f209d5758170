"""Criteria that tell, without labels, how many clusters a graph holds.

A criterion gives every number of clusters K a score; larger is better. The measurements that made
the conductance criterion the default are in ``benchmarks/studies/selection.md``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.base import clone

from eigencut.affinity import Affinity
from eigencut.cut import CUTS
from eigencut.exceptions import GraphWarning
from eigencut.graph.base import Graph
from eigencut.runtime.arrays import Array, Indices
from eigencut.runtime.progress import without_progress
from eigencut.search.distinct_rows import distinct_rows
from eigencut.selection.spectrum import Spectrum

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
    from eigencut.risk.errors import dirichlet_error

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
