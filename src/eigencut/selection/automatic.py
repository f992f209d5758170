"""What "auto" decides: the number of clusters and the affinity, without labels."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone

from eigencut.affinity import Affinity, Gaussian, Landmarks, Neighbors, named_affinity
from eigencut.cut import CUTS
from eigencut.data.row_weights import refuse_all_zero
from eigencut.data.rows import Rows
from eigencut.data.sample import RowSample
from eigencut.exceptions import GraphWarning
from eigencut.graph.base import Graph
from eigencut.runtime.arrays import Array
from eigencut.runtime.progress import counted, without_progress
from eigencut.runtime.validation import check_n_clusters
from eigencut.runtime.warn import warn_user
from eigencut.search.distinct_rows import distinct_rows
from eigencut.selection.budget import Budget, are_many_clusters, landmarks_for
from eigencut.selection.chosen import Chosen
from eigencut.selection.criteria import (
    CLEAR,
    Choice,
    Task,
    check_candidates,
    conductance_of,
    evaluate,
)
from eigencut.selection.default_graph import choose_graph, symmetric_graph
from eigencut.selection.some_rows import some_rows
from eigencut.selection.spectrum import Spectrum

_CHOICE_ROWS = 4000  # rows on which n_clusters="auto" is decided, at most
_CANDIDATES = range(2, 11)
_CLEARLY = 0.25  # better than K so far must another be


def choose(
    X: Any,
    n_clusters: Any,
    affinity: Any,
    memory_limit: Any,
    starts: Mapping[str, Any],
    sample_weight: Array | None = None,
) -> Chosen:
    """The number of clusters and the affinity: as given, or chosen where "auto" is asked.

    Parameters
    ----------
    X : array, sparse array or Rows
    n_clusters : int or "auto"
    affinity : str, Affinity or callable
        As of ``GPOD``.
    memory_limit : None, number or str
    starts : mapping
        Options of POD.
    sample_weight : array, optional
        Of rows in memory; what is decided depends on the different rows and what each counts.
    """
    is_auto = isinstance(affinity, str) and affinity == "auto"
    if isinstance(X, Rows):
        if is_auto:
            affinity = Landmarks() if n_clusters == "auto" else Landmarks(landmarks_for(n_clusters))
        return _choose_for_stream(X, n_clusters, affinity)
    given: Affinity = clone(named_affinity(affinity))
    if n_clusters != "auto":
        K = int(n_clusters)
        if not is_auto:
            return Chosen(K, (given,))
        return choose_affinity(X, K, memory_limit, starts, sample_weight)
    weight = sample_weight
    if given.pairwise:
        rows = X[:_CHOICE_ROWS, :_CHOICE_ROWS]
        weight = None if weight is None else weight[:_CHOICE_ROWS]
    else:
        rows, weight = some_rows(X, _CHOICE_ROWS, weight)
    candidates = check_candidates(_CANDIDATES, distinct_rows(rows).rows.shape[0])
    if is_auto and not issparse(rows):
        _, best = choose_number_of_clusters(rows, candidates, sample_weight=weight)
    else:
        compared = Neighbors() if is_auto else given
        task = Task(rows, compared, candidates, seed=0, sample_weight=weight)
        _, best = evaluate("conductance", task)
    K = best.n_clusters
    if is_auto:
        return choose_affinity(X, K, memory_limit, starts, sample_weight)
    return Chosen(K, (clone(best.affinity),))


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
    n_clusters : int or "auto"
    present : int
        K so far, which "auto" stays with unless another is clearly better.
    """
    if n_clusters != "auto":
        return Chosen(int(n_clusters), (affinity,), graph=graph)
    candidates = check_candidates(_CANDIDATES, graph.n_vertices)
    with warnings.catch_warnings(), without_progress():
        warnings.simplefilter("ignore", GraphWarning)
        spectrum = Spectrum.of_graph(graph, affinity, CUTS["ncut"], max(candidates) + 1)
        scores = conductance_of(spectrum, candidates)
    best = int(np.argmax(scores))
    if present in candidates and scores[best] < scores[candidates.index(present)] + _CLEARLY:
        best = candidates.index(present)
    return Chosen(candidates[best], (affinity,), spectra={0: spectrum})


def _choose_for_stream(X: Rows, n_clusters: Any, affinity: Any) -> Chosen:
    given: Affinity = clone(named_affinity(affinity))
    if not given.streams:
        raise ValueError(
            f"affinity must be one that can be fitted on a stream of rows. Got {affinity!r}; use "
            "affinity='landmarks'."
        )
    if n_clusters != "auto":
        return Chosen(int(n_clusters), (given,))
    draw = partial(RowSample.of, size=_CHOICE_ROWS, seed=0)
    K = X.reduce(draw, RowSample.merged, partial(_number_of_clusters, affinity=given))
    return Chosen(K, (given,))


def _number_of_clusters(sample: RowSample, affinity: Affinity) -> int:
    """K of a stream, by a sample of its rows."""
    refuse_all_zero(len(sample.rows))
    candidates = check_candidates(_CANDIDATES, len(sample.rows))
    task = Task(sample.rows, affinity, candidates, seed=0, sample_weight=sample.counts)
    return evaluate("conductance", task)[1].n_clusters


def default_affinities() -> list[Affinity]:
    """The default, and two with one sigma for all rows to turn to where it finds nothing clear."""
    return [
        Gaussian(),
        Gaussian(sigma="neighbors", scale=0.5),
        Gaussian(sigma="neighbors", scale=0.7),
    ]


def choose_affinity(
    X: Any,
    n_clusters: int,
    memory_limit: Any = None,
    starts: Mapping[str, Any] = MappingProxyType({}),
    sample_weight: Array | None = None,
) -> Chosen:
    """What ``affinity="auto"`` is for a given K.

    The number of rows and the memory decide between the graph of neighbours and that through
    landmarks (``eigencut.selection.budget``); what the rows show, on its variant.
    """
    check_n_clusters(n_clusters, X.shape[0], "different rows")
    budget = Budget.of(X, n_clusters, memory_limit)
    name = budget.affinity_name()
    budget.report(name)
    budget.refuse(budget.named(name))
    if name == "landmarks":
        return Chosen(n_clusters, (budget.named(name),))
    n_distinct = budget.n_distinct
    if are_many_clusters(n_distinct, n_clusters):  # with too few rows each for landmarks
        return Chosen(n_clusters, (symmetric_graph(n_distinct, n_clusters),))
    return choose_graph(X, n_clusters, starts, sample_weight, n_distinct)


def choose_number_of_clusters(
    X: Array, n_clusters: Sequence[int], seed: int = 0, sample_weight: Array | None = None
) -> tuple[list[Choice], Choice]:
    """K and the affinity by conductance: the default affinity, unless it shows nothing clear."""
    everything: list[Choice] = []
    best: Choice | None = None
    for affinity in counted(default_affinities(), "graphs compared"):
        task = Task(X, affinity, n_clusters, seed, sample_weight)
        choices, chosen = evaluate("conductance", task)
        everything += choices
        if best is None or chosen.score > best.score:
            best = chosen
        if everything[0].affinity is affinity and chosen.score >= CLEAR:
            break
    assert best is not None
    if best.score < CLEAR:
        warn_user(
            f"No number of clusters stands out: the best is {best.n_clusters}, with a score of "
            f"{best.score:.2f} (clear ones are above {CLEAR:g}). The rows may be one cluster; "
            "look at eigencut.select(X) before trusting it."
        )
    return everything, best
