"""What "auto" decides: the number of clusters and the affinity, without labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone

from eigencut.affinity import Affinity, Gaussian, Landmarks, Neighbors, named_affinity
from eigencut.affinity.neighbors import default_n_neighbors
from eigencut.data.rows import Rows, as_rows
from eigencut.data.sample import RowSample
from eigencut.runtime.arrays import Array
from eigencut.runtime.progress import advance, counted
from eigencut.runtime.warn import warn_user
from eigencut.search.distinct_rows import distinct_rows
from eigencut.selection.budget import Budget
from eigencut.selection.criteria import (
    CLEAR,
    NO_CLUSTER,
    Choice,
    Task,
    check_candidates,
    evaluate,
)

_BETTER = 0.3  # by which another affinity must beat the default one
_AFFINITY_ROWS = 2000  # rows on which that is decided, at most
_CHOICE_ROWS = 4000  # rows on which n_clusters="auto" is decided, at most
_SORTED_ROWS = 100_000  # of which some are chosen by their order; more take long to sort
_CANDIDATES = range(2, 11)


def choose(X: Any, n_clusters: Any, affinity: Any, memory_limit: Any) -> tuple[int, Affinity]:
    """The number of clusters and an unfitted affinity: as given, or chosen where "auto" is asked.

    Parameters
    ----------
    X : array, sparse array or Rows
    n_clusters : int or "auto"
    affinity : str, Affinity or callable
        As of ``GPOD``.
    memory_limit : None, number or str
    """
    is_auto = isinstance(affinity, str) and affinity == "auto"
    if isinstance(X, Rows):
        return _choose_for_stream(X, n_clusters, "landmarks" if is_auto else affinity)
    given: Affinity = clone(named_affinity(affinity))
    if n_clusters != "auto":
        K = int(n_clusters)
        return K, choose_affinity(X, K, memory_limit) if is_auto else given
    if given.pairwise:
        rows = X[:_CHOICE_ROWS, :_CHOICE_ROWS]
    else:
        rows = some_rows(X, _CHOICE_ROWS)
    candidates = check_candidates(_CANDIDATES, distinct_rows(rows).rows.shape[0])
    name = Budget.of(rows, max(candidates), memory_limit).affinity_name()
    if is_auto and name == "gaussian":
        _, best = choose_number_of_clusters(rows, candidates)
    else:
        compared = named_affinity(name) if is_auto else given
        _, best = evaluate("conductance", Task(rows, compared, candidates, seed=0))
    K = best.n_clusters
    if is_auto and Budget.of(X, K, memory_limit).affinity_name() != "gaussian":
        return K, choose_affinity(X, K, memory_limit)
    return K, clone(best.affinity)


def _choose_for_stream(X: Rows, n_clusters: Any, affinity: Any) -> tuple[int, Affinity]:
    given: Affinity = clone(named_affinity(affinity))
    if not given.streams:
        raise ValueError(
            f"affinity must be one that can be fitted on a stream of rows. Got {affinity!r}; use "
            "affinity='landmarks'."
        )
    if n_clusters != "auto":
        return int(n_clusters), given
    draw = partial(RowSample.of, size=_CHOICE_ROWS, seed=0)
    return X.reduce(draw, RowSample.merged, partial(_number_of_clusters, affinity=given)), given


def _number_of_clusters(sample: RowSample, affinity: Affinity) -> int:
    """K of a stream, by a sample of its rows."""
    candidates = check_candidates(_CANDIDATES, len(sample.rows))
    _, best = evaluate("conductance", Task(sample.rows, affinity, candidates, seed=0))
    return best.n_clusters


def default_affinities() -> list[Affinity]:
    """The default, and two with one sigma for all rows to turn to where it finds nothing clear."""
    return [
        Gaussian(),
        Gaussian(sigma="neighbors", scale=0.5),
        Gaussian(sigma="neighbors", scale=0.7),
    ]


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


def choose_affinity(X: Any, n_clusters: int, memory_limit: Any = None) -> Affinity:
    """What ``affinity="auto"`` is for a given K.

    The number of rows and the memory decide between the complete graph, that of neighbours and
    that through landmarks (``eigencut.selection.budget``); what the rows show, on its variant.
    """
    budget = Budget.of(X, n_clusters, memory_limit)
    name = budget.affinity_name()
    budget.report(name)
    return _VARIANTS[name](X, budget)


def _choose_bandwidth(X: Array, budget: Budget) -> Affinity:
    """The default affinity, unless another one shows K clusters more clearly.

    Decided by conductance on at most 2000 rows. The others are tried only where the default does
    not show K clear clusters, and must be better by 0.3: global bandwidths, and the graph of mutual
    neighbours.
    """
    n_clusters = budget.sizes.n_clusters
    rows = some_rows(X, _AFFINITY_ROWS)
    default, *others = [*default_affinities(), Neighbors(graph="mutual")]
    if not 2 <= n_clusters < len(rows):
        return default
    scores = []
    for affinity in counted((default, *others), "graphs compared"):
        try:
            _, chosen = evaluate("conductance", Task(rows, affinity, [n_clusters], seed=0))
        except ValueError:  # a global bandwidth that leaves a graph without edges
            scores.append(-np.inf)
        else:
            scores.append(chosen.score - (0.0 if affinity is default else _BETTER))
        if scores[0] >= CLEAR:
            return default
    return (default, *others)[int(np.argmax(scores))]


def _choose_neighbors(X: Any, budget: Budget) -> Affinity:
    """The symmetric graph if it shows clear clusters, else the mutual one if it can be used.

    The mutual graph does not bridge gaps, but of overlapping clusters it cuts off handfuls of rows:
    then the symmetric graph is taken after all, with twice as many neighbours, which average over
    more of what is not clear (see ``docs/neighbors.md``), if there is memory for them.
    """
    n_clusters = budget.sizes.n_clusters
    rows = some_rows(X, _AFFINITY_ROWS)
    symmetric, mutual = Neighbors(), Neighbors(graph="mutual")
    if not 2 <= n_clusters < rows.shape[0]:
        return symmetric

    def score(affinity: Affinity) -> float:
        return evaluate("conductance", Task(rows, affinity, [n_clusters], seed=0))[1].score

    if score(symmetric) >= CLEAR:
        return symmetric
    advance(1, 2, "graphs compared")
    if score(mutual) > NO_CLUSTER:
        return mutual
    wider = Neighbors(n_neighbors=2 * default_n_neighbors(X.shape[0]))
    return wider if budget.allows(wider) else symmetric


# How the variant of a graph is chosen.
_VARIANTS: dict[str, Callable[[Any, Budget], Affinity]] = {
    "gaussian": _choose_bandwidth,
    "neighbors": _choose_neighbors,
    "landmarks": lambda X, budget: Landmarks(),
}


def choose_number_of_clusters(
    X: Array, n_clusters: Sequence[int], seed: int = 0
) -> tuple[list[Choice], Choice]:
    """K and the affinity by conductance: the default affinity, unless it shows nothing clear."""
    everything: list[Choice] = []
    best: Choice | None = None
    for affinity in counted(default_affinities(), "graphs compared"):
        choices, chosen = evaluate("conductance", Task(X, affinity, n_clusters, seed))
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
