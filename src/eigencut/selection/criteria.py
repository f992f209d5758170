"""Criteria that tell, without labels, how many clusters a graph holds.

A criterion gives every number of clusters K a score; larger is better. ``docs/selection.md`` has
the measurements that made the conductance criterion the default.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone

from eigencut.affinity import Affinity, Gaussian, Landmarks, Neighbors
from eigencut.affinity.neighbors import default_neighbors
from eigencut.cut import CUTS
from eigencut.data.rows import as_rows
from eigencut.data.sample import RowSample
from eigencut.exceptions import GraphWarning
from eigencut.risk.errors import dirichlet_error
from eigencut.runtime.arrays import Array
from eigencut.runtime.progress import advance, counted, unheard
from eigencut.runtime.validation import check_count
from eigencut.runtime.warn import warn_user
from eigencut.search.distinct_rows import distinct_rows
from eigencut.selection.budget import Budget
from eigencut.selection.spectrum import Spectrum

_CUT = CUTS["ncut"]  # eigenvalues of NCut have no unit, so they compare across graphs
_GAP_FLOOR = 1e-4  # eigenvalues below are as good as zero to the eigengap
_LEAST_ROWS, _LEAST_SHARE = 10, 0.03  # a cluster smaller than both is an outlier, not a cluster
_NO_CLUSTER = -9.0  # score of a K that makes such clusters
_CLEAR = 0.45  # conductance score from which the default affinity is believed
_BETTER = 0.3  # by which another affinity must beat the default one
_AFFINITY_ROWS = 2000  # rows on which that is decided, at most
_SORTED_ROWS = 100_000  # of which some are chosen by their order; more take long to sort
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
    n_jobs: int | None

    def spectrum(self, X: Array | None = None) -> Spectrum:
        """Of all rows or of the given ones, with one pair more than the largest K."""
        rows = self.X if X is None else X
        return Spectrum.of(
            rows, clone(self.affinity), _CUT, max(self.n_clusters) + 1, n_jobs=self.n_jobs
        )


def conductance(task: Task) -> Array:
    """How much worse the next split is than the worst of K clusters, times the relative eigengap.

        log((lambda_{K+1} + e) / (phi_K + e)) + log((lambda_{K+1} + e) / (lambda_K + e)),  e = 1/n,

    with phi_K the largest normalized cut ``1 - W(C, C) / vol(C)`` among the K clusters.
    lambda_{K+1} / phi_K is large only if the graph holds K clusters and not more: no cluster is cut
    badly, and every further cut would be bad.
    """
    spectrum = task.spectrum()
    graph, values = spectrum.graph, spectrum.pairs.values
    partitions = [spectrum.partition(K) for K in task.n_clusters]
    one_hot = np.column_stack(
        [np.eye(K)[p.labels] for K, p in zip(task.n_clusters, partitions, strict=True)]
    )
    one_hot *= graph.multiplicity[:, np.newaxis]
    inside = (one_hot * graph.matmat(one_hot, task.n_jobs)).sum(axis=0)
    volume = graph.degrees @ one_hot
    cut_off = 1 - inside / np.where(volume > 0, volume, 1.0)
    size = one_hot.sum(axis=0)
    least = min(_LEAST_ROWS, max(2.0, _LEAST_SHARE * graph.n_rows))
    floor = 1 / graph.n_rows
    scores, start = [], 0
    for K in task.n_clusters:
        mine = slice(start, start + K)
        start += K
        following = values[K] + floor
        score = np.log(following / (cut_off[mine].max() + floor))
        score += np.log(following / (values[K - 1] + floor))
        scores.append(score if size[mine].min() >= least else _NO_CLUSTER)
    return np.array(scores)


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
    from sklearn.metrics import adjusted_rand_score

    rng = np.random.default_rng(task.seed)
    agreement = np.zeros(len(task.n_clusters))
    for _ in range(_REPEATS):
        order = rng.permutation(len(task.X))
        first, second, rest = np.split(order, [2 * len(order) // 5, 4 * len(order) // 5])
        spectra = [task.spectrum(task.X[part]) for part in (first, second)]
        for i, K in enumerate(task.n_clusters):
            labels = [s.predict(task.X[rest], K, task.n_jobs) for s in spectra]
            agreement[i] += adjusted_rand_score(*labels) / _REPEATS
    return agreement


def risk(task: Task) -> Array:
    """The jump of the held-out error after the K-th eigenfunction, compared with no clusters.

    The error F_k of the k-th eigenfunction on held-out rows estimates its population error. The sum
    over k always rises with K, and the mean does too; so the score is the jump
    ``log((F_{K+1} + e) / (F_K + e))`` minus its mean on Gaussian samples of the same covariance,
    which hold one cluster.
    """
    rng = np.random.default_rng(task.seed)
    data = np.mean([_held_out_jumps(task, task.X, rng) for _ in range(_REPEATS)], axis=0)
    covariance = np.atleast_2d(np.cov(task.X.T))
    null = np.zeros_like(data)
    for _ in range(_REPEATS):
        sample = rng.multivariate_normal(task.X.mean(axis=0), covariance, len(task.X))
        null += _held_out_jumps(task, sample, rng) / _REPEATS
    return np.asarray(data - null)


def _held_out_jumps(task: Task, X: Array, rng: np.random.Generator) -> Array:
    """``log((F_{K+1} + e) / (F_K + e))`` on a random fifth of the rows, e = 1e-4."""
    order = rng.permutation(len(X))
    training, rest = np.split(order, [4 * len(order) // 5])
    spectrum = task.spectrum(X[training])
    functions = spectrum.functions(len(spectrum.pairs.values))
    values = np.sqrt(len(training)) * functions(X[rest], task.n_jobs)
    errors = dirichlet_error(spectrum.affinity, X[rest], values, task.n_jobs) + _GAP_FLOOR
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


CRITERIA: dict[str, Criterion] = {
    "conductance": Criterion(conductance),
    "stability": Criterion(stability, _last_stable, least_rows=40, needs_rows=True),
    "risk": Criterion(risk, least_rows=40, needs_rows=True),
    "eigengap": Criterion(eigengap),
}


def check_candidates(n_clusters: int | Iterable[int], n_distinct: int) -> Sequence[int]:
    """Candidates for K that n_distinct different rows allow (an eigenvalue beyond is needed)."""
    asked: list[Any] = []
    if isinstance(n_clusters, Integral):
        asked = [int(n_clusters)]
    elif isinstance(n_clusters, Iterable) and not isinstance(n_clusters, str):
        asked = list(n_clusters)
    for K in asked:
        check_count("n_clusters", K, "give candidates such as range(2, 11)")
    possible = sorted({int(K) for K in asked if 2 <= K < n_distinct})
    if not possible:
        raise ValueError(
            "n_clusters must hold a candidate of at least 2 and below the number of different "
            f"rows, {n_distinct}. Got {n_clusters!r}; add data, or give candidates such as [2, 3]."
        )
    return possible


def default_affinities() -> list[Affinity]:
    """The default, and two with one sigma for all rows to turn to where it finds nothing clear."""
    return [
        Gaussian(),
        Gaussian(sigma="neighbors", scale=0.5),
        Gaussian(sigma="neighbors", scale=0.7),
    ]


def evaluate(criterion: str, task: Task) -> tuple[list[Choice], Choice]:
    """All candidates of one affinity, and the one to take."""
    with warnings.catch_warnings(), unheard():
        warnings.simplefilter("ignore", GraphWarning)
        scores = CRITERIA[criterion].scores(task)
    choices = [
        Choice(K, task.affinity, float(score))
        for K, score in zip(task.n_clusters, scores, strict=True)
    ]
    return choices, choices[CRITERIA[criterion].pick(scores)]


def some_rows(X: Array, n_rows: int) -> Array:
    """At most ``n_rows`` of the different rows; the order of the rows of X does not matter.

    They are evenly spaced in lexicographic order, or, where sorting all rows would take long, those
    of the smallest random keys.
    """
    if X.shape[0] > _SORTED_ROWS and not issparse(X):
        draw = partial(RowSample.of, size=n_rows, seed=0)
        sample: RowSample = as_rows(X).reduce(draw, RowSample.merged)
        return sample.rows
    rows = distinct_rows(X).rows
    return rows[:: -(-rows.shape[0] // n_rows)]


def choose_affinity(
    X: Any, n_clusters: int, n_jobs: int | None = None, memory_limit: Any = None
) -> Affinity:
    """What ``affinity="auto"`` is for a given K.

    The number of rows and the memory decide between the complete graph, that of neighbours and
    that through landmarks (``eigencut.selection.budget``); what the rows show, on its variant.
    """
    budget = Budget.of(X, n_clusters, memory_limit, n_jobs)
    rung = budget.rung()
    budget.report(rung)
    return _VARIANTS[rung](X, budget)


def _choose_bandwidth(X: Array, budget: Budget) -> Affinity:
    """The default affinity, unless another one shows K clusters more clearly.

    Decided by conductance on at most 2000 rows. The others are tried only where the default does
    not show K clear clusters, and must be better by 0.3: global bandwidths, and the graph of mutual
    neighbours.
    """
    n_clusters, n_jobs = budget.n_clusters, budget.n_jobs
    rows = some_rows(X, _AFFINITY_ROWS)
    default, *others = [*default_affinities(), Neighbors(graph="mutual")]
    if not 2 <= n_clusters < len(rows):
        return default
    scores = []
    for affinity in counted((default, *others), "graphs compared"):
        try:
            _, chosen = evaluate("conductance", Task(rows, affinity, [n_clusters], 0, n_jobs))
        except ValueError:  # a global bandwidth that leaves a graph without edges
            scores.append(-np.inf)
        else:
            scores.append(chosen.score - (0.0 if affinity is default else _BETTER))
        if scores[0] >= _CLEAR:
            return default
    return (default, *others)[int(np.argmax(scores))]


def _choose_neighbors(X: Any, budget: Budget) -> Affinity:
    """The symmetric graph if it shows clear clusters, else the mutual one if it can be used.

    The mutual graph does not bridge gaps, but of overlapping clusters it cuts off handfuls of rows:
    then the symmetric graph is taken after all, with twice as many neighbours, which average over
    more of what is not clear (see ``docs/neighbors.md``), if there is memory for them.
    """
    n_clusters, n_jobs = budget.n_clusters, budget.n_jobs
    rows = some_rows(X, _AFFINITY_ROWS)
    symmetric, mutual = Neighbors(), Neighbors(graph="mutual")
    if not 2 <= n_clusters < rows.shape[0]:
        return symmetric

    def score(affinity: Affinity) -> float:
        return evaluate("conductance", Task(rows, affinity, [n_clusters], 0, n_jobs))[1].score

    if score(symmetric) >= _CLEAR:
        return symmetric
    advance(1, 2, "graphs compared")
    if score(mutual) > _NO_CLUSTER:
        return mutual
    wider = Neighbors(n_neighbors=2 * default_neighbors(X.shape[0]))
    return wider if budget.allows(wider) else symmetric


# How the variant of a graph is chosen.
_VARIANTS: dict[str, Callable[[Any, Budget], Affinity]] = {
    "gaussian": _choose_bandwidth,
    "neighbors": _choose_neighbors,
    "landmarks": lambda X, budget: Landmarks(),
}


def choose_by_default(
    X: Array, n_clusters: Sequence[int], seed: int = 0, n_jobs: int | None = None
) -> tuple[list[Choice], Choice]:
    """K and the affinity by conductance: the default affinity, unless it shows nothing clear."""
    everything: list[Choice] = []
    best: Choice | None = None
    for affinity in counted(default_affinities(), "graphs compared"):
        choices, chosen = evaluate("conductance", Task(X, affinity, n_clusters, seed, n_jobs))
        everything += choices
        if best is None or chosen.score > best.score:
            best = chosen
        if everything[0].affinity is affinity and chosen.score >= _CLEAR:
            break
    assert best is not None
    if best.score < _CLEAR:
        warn_user(
            f"No number of clusters stands out: the best is {best.n_clusters}, with a score of "
            f"{best.score:.2f} (clear ones are above {_CLEAR:g}). The rows may be one cluster; "
            "look at eigencut.select(X) before trusting it."
        )
    return everything, best
