"""What "auto" decides: the number of clusters and the cut, without labels."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone

from eigencut._utils.arrays import Array
from eigencut._utils.running import note, stage, warn_user, without_progress
from eigencut._utils.validation import check_n_clusters
from eigencut.affinities import Affinity, Landmarks, Neighbors, RankedNeighbors, named_affinity
from eigencut.auto.budget import Budget, landmarks_for
from eigencut.auto.graph import (
    CutOfGraph,
    Judges,
    better_relaxed_cut,
    compared_cuts,
    discrete_candidate,
)
from eigencut.auto.n_clusters import (
    Candidates,
    default_affinities,
    find_number,
    may_be_one_cluster,
    number_with_gaps,
    numbers_of_graph,
    some_rows,
)
from eigencut.auto.policy import POLICY
from eigencut.auto.spectrum import Choice
from eigencut.cut import Cut
from eigencut.exceptions import GraphWarning, invalid
from eigencut.graphs.base import Graph
from eigencut.io.rows import Rows, refuse_all_zero
from eigencut.io.sample import RowSample
from eigencut.neighbors.metrics import METRICS


@dataclass(frozen=True)
class Task:
    """What a fit asks for: the parameters of GPOD that a choice depends on.

    ``starts`` are options of POD, and a number of clusters that is chosen is not below ``least``.
    """

    n_clusters: Any
    affinity: Any
    cut: Cut
    starts: Mapping[str, Any]
    solver: str = "auto"
    metric: str | None = None
    memory_limit: Any = None
    least: int = 1

    @property
    def is_auto(self) -> bool:
        return isinstance(self.affinity, str) and self.affinity == "auto"

    def cut_of(self, affinity: Affinity, graph: Graph, n_clusters: int) -> CutOfGraph:
        """Return the cut of one graph, by the solver that was asked for."""
        check_n_clusters(n_clusters, graph.n_vertices, graph.vertices_are)
        is_much = graph.n_vertices * n_clusters**2 > POLICY.relaxed_work
        solver = affinity.solver or self.solver
        if solver == "auto":
            solver = "discrete" if affinity.streams and is_much else "relaxed"
        candidate = discrete_candidate if solver == "discrete" else better_relaxed_cut
        return candidate(affinity, graph, self.cut, n_clusters, self.starts)


@dataclass(frozen=True)
class Chosen:
    """What a fit goes on with: K, the cut, and what it was compared with.

    Of very many rows a sample has been cut: then ``is_sample``, and the other rows are labelled as
    new ones.
    """

    n_clusters: int
    cut: CutOfGraph
    compared: tuple[Choice, ...] = ()
    is_sample: bool = False


def choose(X: Any, task: Task, sample_weight: Array | None = None) -> Chosen:
    """Return the number of clusters and the cut: as given, or chosen where they are "auto".

    An affinity that takes more memory than it may is refused. What is decided depends on the
    different rows and what each counts.
    """
    K = int(task.n_clusters) if isinstance(task.n_clusters, Integral) else None
    if isinstance(X, Rows):
        return _choose_for_stream(X, task, K)
    given: Affinity = clone(named_affinity(task.affinity, task.metric))
    if K is None:
        with stage("number of clusters"):
            K = number_of_rows(X, task, sample_weight)
    if task.is_auto:
        return choose_cut(X, K, task, sample_weight)
    Budget.from_rows(X, K, task.memory_limit).refuse(given)
    with stage("graph"):
        graph = given.fit_graph(X, sample_weight)
    return Chosen(K, task.cut_of(given, graph, K))


def _choose_for_stream(X: Rows, task: Task, K: int | None) -> Chosen:
    """Choose landmarks, unless another affinity is given."""
    if task.is_auto:
        affinity: Affinity = Landmarks(landmarks_for(K or 1), metric=task.metric or "euclidean")
    else:
        affinity = clone(named_affinity(task.affinity, task.metric))
    if not affinity.streams:
        expected = "be one that can be fitted on a stream of rows"
        raise invalid("affinity", expected, repr(affinity), "use affinity='landmarks'")
    K = K or _number_of_stream(X, Candidates.parse(task.n_clusters), affinity)
    Budget.from_rows(X, K, task.memory_limit).refuse(affinity)
    with stage("graph"):
        graph = affinity.fit_graph(X)
    return Chosen(K, task.cut_of(affinity, graph, K))


# ------------------------------------------------------------------ the number of clusters


def number_of_rows(X: Any, task: Task, sample_weight: Array | None = None) -> int:
    """Return K for rows, or for a matrix of affinities."""
    given: Affinity = clone(named_affinity(task.affinity, task.metric))
    candidates = Candidates.parse(task.n_clusters).from_on(task.least)
    if task.least > 1 and candidates.numbers == ():
        return task.least
    if given.pairwise:
        # All of the matrix: a part of it would be another graph, and depend on its order.
        compared = find_number(X, [given], candidates, sample_weight=sample_weight)
        if compared.best.n_clusters >= task.least:
            compared.report(candidates, X.shape[0])
        return max(task.least, compared.best.n_clusters)
    metric = (task.metric or "euclidean") if task.is_auto else None
    of_gaps = metric or getattr(given, "metric", None)
    n_apart = 1
    if of_gaps is not None:
        n_apart = number_with_gaps(*some_rows(X, POLICY.some_rows, sample_weight), of_gaps)
    rows, weight = some_rows(X, POLICY.choice_rows, sample_weight)
    return choose_number(
        rows,
        [given] if metric is None else default_affinities(rows, metric),
        candidates,
        sample_weight=weight,
        least=task.least,
        metric=metric,
        n_apart=n_apart,
    )


def _number_of_stream(X: Rows, candidates: Candidates, affinity: Affinity) -> int:
    draw = partial(RowSample.draw, size=POLICY.choice_rows, seed=0)
    sample: RowSample = X.reduce(draw, RowSample.merged)
    refuse_all_zero(len(sample.counts))
    return choose_number(sample.rows, [affinity], candidates, sample_weight=sample.counts)


def choose_number(
    rows: Any,
    affinities: list[Affinity],
    candidates: Candidates,
    sample_weight: Array,
    least: int = 1,
    metric: str | None = None,
    n_apart: int = 1,
) -> int:
    """Return K for these different rows by the graphs of affinities, not below the least.

    The metric is that of the default affinity. ``n_apart`` clusters are known to be apart.
    """
    compared = find_number(rows, affinities, candidates, sample_weight=sample_weight, metric=metric)
    best, n_rows = compared.best, rows.shape[0]
    may_be_gaps = candidates.allow(n_apart) or n_apart > best.n_clusters
    are_apart = n_apart >= max(2, least) and may_be_gaps
    is_column = rows.shape[1] == 1  # in which chance makes narrow gaps
    is_shown = compared.is_clear(n_rows) and not is_column
    if are_apart and not (is_shown and best.n_clusters >= n_apart):
        return n_apart if candidates.allow(n_apart) else max(least, best.n_clusters)
    if best.n_clusters < least:
        return least
    # What rows are compared with has no directions, codes, sets or places of their kind.
    is_mapped = METRICS[getattr(best.affinity, "metric", "euclidean")].to_points is not None
    is_sure = are_apart or (compared.is_sure(n_rows) and not is_column)
    untested = is_sure or issparse(rows) or is_mapped
    if untested or not may_be_one_cluster(rows, best.affinity, best.n_clusters):
        finer = compared.split_further(rows, sample_weight, metric)
        finer = finer if candidates.allow(finer.best.n_clusters) else compared
        finer.report(candidates, n_rows)
        return finer.best.n_clusters
    if candidates.may_be_one and least > 1:  # it is known that they are several
        return least if candidates.numbers is None else candidates.numbers[0]
    answer = "look like" if candidates.may_be_one else "may be"
    warn_user(
        f"The rows {answer} one cluster: {best.n_clusters} clusters score best, but random rows "
        "without clusters score as well (p > 0.05). If you know the number, give n_clusters; "
        "eigencut.select(X) shows the scores."
    )
    return 1 if candidates.may_be_one else best.n_clusters


def choose_for_graph(graph: Graph, affinity: Affinity, task: Task, present: int) -> Chosen:
    """Return the cut of a graph that is there already.

    K so far, ``present``, stays unless another is clearly better.
    """
    K = int(task.n_clusters) if isinstance(task.n_clusters, Integral) else present
    if not isinstance(task.n_clusters, Integral):
        candidates = Candidates.parse(task.n_clusters)
        with warnings.catch_warnings(), without_progress():
            warnings.simplefilter("ignore", GraphWarning)
            compared = numbers_of_graph(graph, affinity, candidates)
            best = compared.best
            scores = {choice.n_clusters: choice.score for choice in compared.choices}
            if best.n_clusters < present < graph.n_vertices:  # whose parts may still be clear
                of_present = numbers_of_graph(graph, affinity, Candidates.parse([present]))
                scores[present] = of_present.best.score
        if present == 1 and candidates.may_be_one:  # rows to compare with are gone
            scores[1] = POLICY.sure - POLICY.better_number
        is_better = best.score >= scores.get(present, -np.inf) + POLICY.better_number
        if is_better and (best.n_clusters > present or scores.get(present, 0.0) <= 0):
            K = best.n_clusters
    return Chosen(K, task.cut_of(affinity, graph, K))


# ------------------------------------------------------------------ the cut of given K


def choose_cut(X: Any, n_clusters: int, task: Task, sample_weight: Array | None = None) -> Chosen:
    """Return what ``affinity="auto"`` is for a given K.

    Up to some tens of thousands of rows all of them decide. Of more a sample decides, and the
    cheapest graph of all rows that agrees with it is cut.
    """
    K, metric = n_clusters, task.metric or "euclidean"
    check_n_clusters(K, X.shape[0], "different rows")
    budget = Budget.from_rows(X, K, task.memory_limit, metric=metric)
    n_some = max(POLICY.some_rows, POLICY.some_rows_per_cluster * K)
    is_many = task.solver != "relaxed" and n_some * K**2 > POLICY.relaxed_work
    if is_many:  # a discrete cut, whose cost does not grow with K
        n_some = max(POLICY.most_ranked_rows, n_some)
        is_small = budget.n_distinct <= n_some
    else:
        name = budget.affinity_name()
        budget.report(name)
        budget.refuse(budget.named(name))
        if name == "landmarks":
            affinity = budget.named(name)
            return Chosen(K, task.cut_of(affinity, affinity.fit_graph(X, sample_weight), K))
        is_small = budget.n_distinct <= POLICY.whole_rows
    if K == 1 or budget.n_distinct <= K:  # nothing to compare
        symmetric: Affinity = Neighbors(15, density_contrast=1.0, metric=metric)
        return Chosen(K, task.cut_of(symmetric, symmetric.fit_graph(X, sample_weight), K))
    rows, weight = X, sample_weight
    if not is_small:
        rows, weight = some_rows(X, n_some, sample_weight)
    with stage("graphs and their cuts"):
        searched = RankedNeighbors(metric=metric).search(rows, weight, along_axes=is_many)
        judges = Judges(searched, K, metric)
        cuts = compared_cuts(judges, cut=task.cut, starts=task.starts, solver=task.solver)
    compared = tuple(Choice(K, one.name, one.score) for one in cuts if np.isfinite(one.score))
    for one in compared:
        note(f"score {one.score:.2f} of the {one.affinity}")
    if is_small:
        budget.refuse(cuts[0].affinity)
    chosen = Chosen(K, cuts[0], compared, is_sample=not is_small)
    if is_many or (is_small and not cuts[0].affinity.streams):
        return chosen
    with stage("cut of all rows"):
        return _cut_of_all_rows(X, chosen, judges, task, sample_weight)


def _cut_of_all_rows(
    X: Any, chosen: Chosen, judges: Judges, task: Task, sample_weight: Array | None
) -> Chosen:
    """Return the cut of all rows like the best one of a sample.

    It goes through landmarks where these agree with the sample. Otherwise a discrete cut stays that
    of the sample.
    """
    from sklearn.metrics import adjusted_rand_score

    best, K, metric = chosen.cut, chosen.n_clusters, judges.metric
    if best.has_wide_gaps and best.relaxed is None:  # some clusters may be too small for landmarks
        return chosen
    affinity: Affinity = clone(best.affinity)
    if not affinity.streams:
        affinity = Landmarks(landmarks_for(K), metric=metric)
    found = task.cut_of(affinity, affinity.fit_graph(X, sample_weight), K)
    labels = (judges.labels_at_rows(one, task.cut) for one in (best, found))
    if not best.affinity.streams and adjusted_rand_score(*labels) < POLICY.faithful:
        if best.relaxed is None:
            return chosen
        affinity = clone(best.affinity)
        found = task.cut_of(affinity, affinity.fit_graph(X, sample_weight), K)
    return replace(chosen, cut=replace(found, score=best.score), is_sample=False)


def graphs_for_labels(X: Any, chosen: Chosen, task: Task, sample_weight: Any) -> Iterator[Any]:
    """Yield cuts of graphs that known labels may prefer to the one that was taken without them.

    Without labels a graph is good that shows a clear cut: classes that overlap in a few columns are
    then lost to a column that falls in two. Labels can tell: the symmetric graph, which is in fewer
    pieces, and one of more neighbours are looked at too.
    """
    K, metric = chosen.n_clusters, task.metric or "euclidean"
    if not task.is_auto or chosen.is_sample or not isinstance(chosen.cut.affinity, Neighbors):
        return
    searched = Neighbors(metric=metric).search(X, sample_weight)
    n = len(searched.distinct.multiplicity)
    budget = Budget.from_rows(X, K, task.memory_limit)
    for k in sorted({min(k, max(n // (2 * K), 5)) for k in POLICY.labelled_neighbors}):
        affinity = Neighbors(k, density_contrast=1.0, metric=metric)
        if budget.allows(affinity):
            yield task.cut_of(affinity, affinity.graph_of(searched), K)
