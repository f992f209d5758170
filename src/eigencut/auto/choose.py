"""What "auto" decides: the number of clusters and the affinity, without labels."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone

from eigencut._utils.arrays import Array
from eigencut._utils.progress import note, without_progress
from eigencut._utils.validation import check_n_clusters
from eigencut._utils.warn import warn_user
from eigencut.affinities import Affinity, Landmarks, named_affinity
from eigencut.auto.budget import Budget, are_many_clusters, landmarks_for
from eigencut.auto.candidates import Candidates, is_number
from eigencut.auto.chosen import Chosen
from eigencut.auto.graph import (
    choose_graph,
    choose_landmarks,
    is_mixed,
    mixed_landmarks,
    some_rows,
    symmetric_graph,
    unless_few,
)
from eigencut.auto.n_clusters import (
    CHOICE_ROWS,
    SURE,
    default_affinities,
    find_number,
    is_sure,
    may_be_one_cluster,
    numbers_of_graph,
)
from eigencut.exceptions import GraphWarning
from eigencut.graphs.base import Graph
from eigencut.io.rows import Rows, refuse_all_zero
from eigencut.io.sample import RowSample
from eigencut.neighbors.metrics import METRICS, are_unit_vectors

_CLEARLY = 0.25  # better than K so far must another be


def choose(
    X: Any,
    n_clusters: Any,
    affinity: Any,
    memory_limit: Any,
    starts: Mapping[str, Any],
    sample_weight: Array | None = None,
    metric: str | None = None,
    least: int = 1,
) -> Chosen:
    """The number of clusters and the affinity: as given, or chosen where "auto" is asked.

    An affinity that takes more memory than it may is refused.

    Parameters
    ----------
    X : array, sparse array or Rows
    n_clusters : int, "auto" or candidates
    affinity : str, Affinity or callable
        As of ``GPOD``.
    memory_limit : None, number or str
    starts : mapping
        Options of POD.
    sample_weight : array, optional
        Of rows in memory; what is decided depends on the different rows and what each counts.
    metric : str, optional
        Of every affinity that is looked at.
    least : int
        What a number that is chosen must not be below, as far as it is known beforehand.
    """
    used = metric or "euclidean"
    is_given = is_number(n_clusters)
    if isinstance(X, Rows):
        streamed = _affinity_of_stream(n_clusters if is_given else 1, affinity, metric)
        return _afforded(X, _number_of_stream(X, n_clusters, streamed), streamed, memory_limit)
    affinity = unless_few(affinity, X)
    is_auto = isinstance(affinity, str) and affinity == "auto"
    given: Affinity = clone(named_affinity(affinity, metric))
    if is_mixed(affinity):
        given = mixed_landmarks(int(n_clusters) if is_given else 1, used)
    if metric is None and not given.pairwise and are_unit_vectors(X):
        note("all rows have length 1: metric='cosine' would see the same neighbours")

    def graph_for(K: int) -> Chosen:
        if is_auto:
            return choose_affinity(X, K, memory_limit, starts, sample_weight, used)
        if is_mixed(affinity):
            Budget.of(X, K, memory_limit).refuse(given)
            return choose_landmarks(X, K, starts, sample_weight, used)
        return _afforded(X, K, given, memory_limit)

    if is_given:
        return graph_for(int(n_clusters))
    candidates = Candidates.of(n_clusters).from_on(least)
    if least > 1 and candidates.numbers == ():
        return graph_for(least)
    if given.pairwise:
        # All of the matrix: a part of it would be another graph, and depend on its order.
        found = find_number(X, [given], candidates, sample_weight)
        if found.best.n_clusters >= least:
            found.report(candidates, X.shape[0])
        return graph_for(max(least, found.best.n_clusters))
    rows, weight = some_rows(X, CHOICE_ROWS, sample_weight)
    affinities = default_affinities(rows.shape[0], used) if is_auto else [given]
    return graph_for(choose_number(rows, affinities, candidates, weight, least))


def _affinity_of_stream(n_clusters: int, affinity: Any, metric: str | None) -> Affinity:
    """What a stream is fitted with: landmarks, unless another affinity is given."""
    if is_mixed(affinity):
        return mixed_landmarks(n_clusters, metric or "euclidean")
    if isinstance(affinity, str) and affinity == "auto":
        return Landmarks(landmarks_for(n_clusters), metric=metric or "euclidean")
    found: Affinity = clone(named_affinity(affinity, metric))
    return found


def _afforded(X: Any, n_clusters: int, affinity: Affinity, memory_limit: Any) -> Chosen:
    """A given affinity, if there is memory for it."""
    Budget.of(X, n_clusters, memory_limit).refuse(affinity)
    return Chosen(n_clusters, (affinity,))


def choose_number(
    rows: Any,
    affinities: list[Affinity],
    candidates: Candidates,
    sample_weight: Array,
    least: int = 1,
) -> int:
    """K on these different rows, by the graphs of affinities; not below the least."""
    found = find_number(rows, affinities, candidates, sample_weight)
    best = found.best
    if best.n_clusters < least:
        return least
    # What rows are compared with has no directions, codes, sets or places of their kind.
    is_mapped = METRICS[getattr(best.affinity, "metric", "euclidean")].to_points is not None
    untested = is_sure(best.score, rows.shape[0]) or issparse(rows) or is_mapped
    if untested or not may_be_one_cluster(rows, best.affinity, best.n_clusters):
        found.report(candidates, rows.shape[0])
        return best.n_clusters
    if candidates.may_be_one and least > 1:  # it is known that they are several
        return least if candidates.numbers is None else candidates.numbers[0]
    answer = "are taken for" if candidates.may_be_one else "may be"
    warn_user(
        f"The rows {answer} one cluster: {best.n_clusters} would be the best number of several, "
        "but a sample of one cluster is cut as easily (p > 0.05). If you know better, give "
        "n_clusters; eigencut.select(X) shows the scores."
    )
    return 1 if candidates.may_be_one else best.n_clusters


def choose_for_graph(
    graph: Graph,
    affinity: Affinity,
    n_clusters: Any,
    present: int,
) -> Chosen:
    """What a graph that is there already is cut into.

    Parameters
    ----------
    graph : Graph
    affinity : Affinity
        That made it.
    n_clusters : int, "auto" or candidates
    present : int
        K so far, which stays unless another is clearly better.
    """
    if is_number(n_clusters):
        return Chosen(int(n_clusters), (affinity,), graph=graph)
    candidates = Candidates.of(n_clusters)
    with warnings.catch_warnings(), without_progress():
        warnings.simplefilter("ignore", GraphWarning)
        found = numbers_of_graph(graph, affinity, candidates)
    scores = {choice.n_clusters: choice.score for choice in found.choices}
    if present == 1 and candidates.may_be_one:
        scores[1] = SURE - _CLEARLY  # what several must show; rows to compare with are gone
    is_better = found.best.score >= scores.get(present, -np.inf) + _CLEARLY
    return Chosen(found.best.n_clusters if is_better else present, (affinity,), graph=graph)


def _number_of_stream(X: Rows, n_clusters: Any, affinity: Affinity) -> int:
    if not affinity.streams:
        raise ValueError(
            f"affinity must be one that can be fitted on a stream of rows. Got {affinity!r}; use "
            "affinity='landmarks'."
        )
    if is_number(n_clusters):
        return int(n_clusters)
    candidates = Candidates.of(n_clusters)
    draw = partial(RowSample.of, size=CHOICE_ROWS, seed=0)
    number = partial(_number_of_sample, affinity=affinity, candidates=candidates)
    return int(X.reduce(draw, RowSample.merged, number))


def _number_of_sample(sample: RowSample, affinity: Affinity, candidates: Candidates) -> int:
    """K of a stream, by a sample of its rows."""
    refuse_all_zero(len(sample.counts))
    return choose_number(sample.rows, [affinity], candidates, sample.counts)


def choose_affinity(
    X: Any,
    n_clusters: int,
    memory_limit: Any = None,
    starts: Mapping[str, Any] = MappingProxyType({}),
    sample_weight: Array | None = None,
    metric: str = "euclidean",
) -> Chosen:
    """What ``affinity="auto"`` is for a given K.

    The number of rows and the memory decide between the graph of neighbours and that through
    landmarks (``eigencut.auto.budget``); what the rows show, on its variant.
    """
    check_n_clusters(n_clusters, X.shape[0], "different rows")
    budget = Budget.of(X, n_clusters, memory_limit, metric)
    name = budget.affinity_name()
    budget.report(name)
    budget.refuse(budget.named(name))
    if name == "landmarks":
        return Chosen(n_clusters, (budget.named(name),))
    n_distinct = budget.n_distinct
    if are_many_clusters(n_distinct, n_clusters):  # with too few rows each for landmarks
        chosen = Chosen(n_clusters, (symmetric_graph(n_distinct, n_clusters, metric),))
    else:
        given = (starts, sample_weight, n_distinct, budget.allows, metric)
        chosen = choose_graph(X, n_clusters, *given)
    budget.refuse(chosen.affinities[0])
    return chosen
