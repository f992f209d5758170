"""What ``affinity="auto"`` decides: which cut of which graph, by one yardstick.

Candidates are cuts of graphs at several scales, all from one search for neighbours. Every
candidate is judged on every one of some graphs, not only on the graph it was found on:

    J(c) = mean over graphs g of log( mean over clusters k of phi_g(k) + 1 / n_k ),

with ``phi_g(k)`` the normalized cut of cluster k in g, and ``n_k`` its rows. The smallest J wins. A
cut that is good only at the scale that suggested it is not believed, nor is a cluster of very few
rows. The comparison ends as soon as the first cut is clear at all scales, or two cuts find the same
clusters. Where words make steps, few landmarks are a candidate and a judge too. Clusters with wide
gaps between them need no judge (``gaps``).

``docs/defaults.md`` explains the rule, and ``python -m benchmarks.suites`` measures it.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from eigencut._utils.arrays import TINY, Array, Indices
from eigencut._utils.running import advance, blas_threads, without_progress
from eigencut.affinities import Affinity, Landmarks, Neighbors, RankedNeighbors
from eigencut.affinities.neighbors import local_dimension
from eigencut.auto.gaps import clusters_with_gaps, has_steps
from eigencut.auto.policy import POLICY
from eigencut.cut import Cut
from eigencut.discretization import Partition, assign, normalize_rows, pod
from eigencut.exceptions import GraphWarning
from eigencut.extension.eigenfunctions import extend
from eigencut.graphs.base import Graph, Pieces
from eigencut.neighbors.metrics import METRICS
from eigencut.neighbors.search import (
    NearestLandmarks,
    SearchedRows,
    kmeans_centres,
    nearest_centres,
)
from eigencut.solvers.relaxed_cut import RelaxedCut, cut_of_pieces, pieces_of


@dataclass(frozen=True)
class CutOfGraph:
    """A graph, and the clusters of its vertices.

    A relaxed cut has eigenpairs, and the rotation that gives its clusters; a discrete one has
    labels only. ``score`` is -J.
    """

    name: str
    affinity: Affinity
    graph: Graph
    labels: Indices
    relaxed: RelaxedCut | None = None
    partition: Partition | None = None
    score: float = -np.inf
    is_clear: bool = False  # whether it is clear at all scales
    has_wide_gaps: bool = False  # whether clusters are surely apart


def relaxed_candidate(
    pieces: Pieces,
    affinity: Affinity,
    cut: Cut,
    n_clusters: int,
    starts: Mapping[str, Any],
    n_pieces: int,
) -> CutOfGraph:
    """Return the relaxed cut of a graph; so many of its components take part."""
    graph = pieces.graph
    relaxed = cut_of_pieces(pieces, affinity, cut, n_clusters, n_pieces)
    with blas_threads(1):
        partition = pod(relaxed.pairs.vectors, sample_weight=graph.multiplicity, **starts)
    name = f"relaxed cut of {affinity!r}"
    return CutOfGraph(name, affinity, graph, partition.labels, relaxed, partition)


def better_relaxed_cut(
    affinity: Affinity, graph: Graph, cut: Cut, n_clusters: int, starts: Mapping[str, Any]
) -> CutOfGraph:
    """Return the relaxed cut of a graph in which small components are clusters, or are not.

    The smaller J decides, with the graph itself as the judge.
    """
    pieces, unit = pieces_of(graph, affinity), graph.one_row
    n_large = pieces.n_large(n_clusters)
    n_all = min(int((pieces.n_rows >= 2 * POLICY.least_cluster * unit).sum()), n_clusters)
    best = relaxed_candidate(pieces, affinity, cut, n_clusters, starts, n_large)
    if n_all <= n_large:
        return best
    other = relaxed_candidate(pieces, affinity, cut, n_clusters, starts, n_all)

    def own_cost(one: CutOfGraph) -> float:
        rows = np.bincount(one.labels, graph.multiplicity, n_clusters) / unit
        return float((graph.cuts(one.labels, n_clusters) + 1 / np.maximum(rows, 1.0)).mean())

    return min((best, other), key=own_cost)


def discrete_candidate(
    affinity: Affinity, graph: Graph, cut: Cut, n_clusters: int, starts: Mapping[str, Any]
) -> CutOfGraph:
    """Return the discrete cut of a graph."""
    from eigencut.solvers.discrete_cut import discrete_cut

    few = affinity.with_few_neighbors(graph) if isinstance(affinity, RankedNeighbors) else None
    labels = discrete_cut(graph, affinity, cut, n_clusters, few=few, **starts)
    return CutOfGraph(f"discrete cut of {affinity!r}", affinity, graph, labels)


class Judges:
    """The rows that are cut, searched once, and the graphs that every cut is judged on.

    In few dimensions these are the mutual graphs of few neighbours, which show gaps that are
    narrow. In many dimensions few neighbours are mutual: there they are symmetric graphs of more
    neighbours. Where words make steps, few landmarks judge too.
    """

    def __init__(self, searched: SearchedRows, n_clusters: int, metric: str) -> None:
        self.searched, self.n_clusters, self.metric = searched, n_clusters, metric
        self.count = np.asarray(searched.distinct.multiplicity, dtype=np.float64)
        self.n = len(self.count)
        # In rules about few rows the smallest count is a row, unless it is out of proportion.
        one_row = max(float(self.count.min()), float(np.median(self.count)) / 100)
        self.rows = np.maximum(self.count / one_row, 1.0)
        self._mutual: dict[int, tuple[Neighbors, Graph]] = {}
        self._ranked: dict[int, tuple[RankedNeighbors, Graph]] = {}
        # One search: a tree takes longer for more neighbours, all pairs do not.
        is_tree = searched.points.index_name == "kdtree"
        most = max(POLICY.scales) if is_tree else RankedNeighbors.most_neighbors + 1
        searched.points.nearest(min(most, self.n))

    def _limited(self, scales: tuple[int, ...]) -> list[int]:
        """Numbers of neighbours, as far as there are rows for them."""
        return sorted({min(k, max(self.n // 2, 2)) for k in scales})

    @property
    def may_be_relaxed(self) -> bool:
        """Whether rows and clusters are so few that relaxed cuts take moments."""
        return self.n * self.n_clusters**2 <= POLICY.relaxed_work

    @cached_property
    def dimension(self) -> float:
        """The dimension that rows spread in around a row."""
        k = self._limited(POLICY.scales)[-1]
        return local_dimension(self.searched.points.nearest(k)[0], max(2, k // 2))

    @cached_property
    def has_steps(self) -> bool:
        """Whether words make steps: the nearest rows have the same words, and say little."""
        points = self.searched.points.points
        return not sparse.issparse(points) and has_steps(points)

    @property
    def cut_scales(self) -> list[int]:
        """Numbers of neighbours of mutual graphs that are cut: in many dimensions only one."""
        scales = self._limited(POLICY.cut_scales)[::-1]
        return scales if self.dimension < POLICY.many_dimensions else scales[:1]

    def mutual(self, k: int) -> tuple[Neighbors, Graph]:
        """Return the mutual graph of so many neighbours, made once."""
        if k not in self._mutual:
            affinity = Neighbors(k, graph="mutual", density_contrast=1.0, metric=self.metric)
            self._mutual[k] = affinity, affinity.graph_of(self.searched)
        return self._mutual[k]

    @cached_property
    def graphs(self) -> list[Graph]:
        """Return the graphs that judge."""
        if self.dimension < POLICY.wide_dimensions:
            return [self.mutual(k)[1] for k in self._limited(POLICY.scales)]
        return [
            Neighbors(k, density_contrast=1.0, metric=self.metric).graph_of(self.searched)
            for k in self._limited(POLICY.wide_scales)
        ]

    @cached_property
    def wide(self) -> tuple[Affinity, Graph] | None:
        """Return the graph of few landmarks, which have rows of many words each, or None."""
        if not self.has_steps or self.n < 40 * self.n_clusters:
            return None
        p = min(POLICY.wide_landmarks_for(self.n_clusters), self.n // 10)
        affinity = Landmarks(p, metric=self.metric)
        return affinity, affinity.fit_graph(self.searched.distinct.rows, self.count)

    def cuts(self, labels: Indices) -> Array:
        """Return the normalized cut of each cluster in each graph; that of no rows is 1."""
        shares = [_inside_shares(graph, labels, self.n_clusters) for graph in self.graphs]
        if self.wide is not None:
            member = np.eye(self.n_clusters)[labels] * self.count[:, np.newaxis]
            products = self.wide[0].within(self.searched.distinct.rows, member)
            volume = (member * products.sum(axis=1, keepdims=True)).sum(axis=0)
            inside = (member * products).sum(axis=0)
            shares.append(inside / np.where(volume > 0, volume, np.inf))
        return np.clip(1 - np.array(shares), 0.0, 1.0)

    def judge(self, labels: Indices) -> tuple[float, bool]:
        """Return -J, and whether no cluster is cut much, at any scale, nor has very few rows."""
        cuts, rows = self.cuts(labels), np.bincount(labels, self.rows, self.n_clusters)
        score = -float(np.log((cuts + 1 / np.maximum(rows, 1.0)).mean(axis=1)).mean())
        worst = np.log(np.maximum(cuts.max(axis=1), TINY)).mean()
        return score, np.exp(worst) <= POLICY.clear and rows.min() >= POLICY.least_cluster

    def with_round_clusters(self, found: CutOfGraph) -> CutOfGraph:
        """Return a discrete cut with round clusters, where these are hardly cut more.

        In many dimensions the neighbours of a row in an overlap are of several clusters, and tell
        less about its own than the means of these do.
        """
        points, nearest = self.searched.points.points, min(POLICY.cut_scales[0], self.n)
        if sparse.issparse(points) or not METRICS[self.metric].has_means:
            return found
        neighbors = self.searched.points.nearest(nearest)[1]
        labels = _with_nearest_means(found.labels, points, self.count, neighbors)
        before, after = (
            1 - _inside_shares(found.graph, one, self.n_clusters).mean()
            for one in (found.labels, labels)
        )
        is_round = after <= (1 + POLICY.round_cost) * before
        return replace(found, labels=labels) if is_round else found

    def n_components_of_rows(self, component: Indices) -> int:
        """Count the components that have as many rows as a cluster."""
        return int((np.bincount(component, self.rows) >= POLICY.least_cluster).sum())

    def ranked(self, smallest: int | None = None) -> tuple[RankedNeighbors, Graph]:
        """Return the graph of discrete cuts: half an average cluster as neighbours, at most.

        Given the vertices of the smallest cluster it has no more neighbours, for they would outvote
        it.
        """
        least, most = RankedNeighbors.few_neighbors, RankedNeighbors.most_neighbors
        k = min(int(np.clip(self.n // (2 * self.n_clusters), least, most)) + 1, self.n)
        if k * self.dimension > least * RankedNeighbors.many_dimensions:
            k = RankedNeighbors(k, metric=self.metric).local_neighbors(self.searched, k)
        else:
            k = min(k, least)
        k = min(k, smallest or k)
        if max(k, 2) not in self._ranked:
            affinity = RankedNeighbors(max(k, 2), metric=self.metric)
            self._ranked[max(k, 2)] = affinity, affinity.graph_of(self.searched)
        return self._ranked[max(k, 2)]

    def labels_at_rows(self, found: CutOfGraph, cut: Cut) -> Indices:
        """Return the clusters of these rows, to which a relaxed cut of landmarks is extended."""
        if found.relaxed is None or found.partition is None or not found.affinity.streams:
            return found.labels
        functions = extend(
            "consistent", found.affinity, cut, found.relaxed.pairs, found.graph.degrees
        )
        values = normalize_rows(functions(self.searched.distinct.rows))
        return assign(values @ found.partition.rotation)


def _inside_shares(graph: Graph, labels: Indices, n_clusters: int) -> Array:
    """Return, to judge a candidate, the share of each cluster's weight that stays inside it."""
    weights, count = graph.weights, graph.multiplicity
    origin = np.repeat(labels, np.diff(weights.indptr))
    is_inside = np.flatnonzero(origin == labels[weights.indices])
    data = weights.data[is_inside]
    if count.min() != count.max():
        rows = np.repeat(count, np.diff(weights.indptr))
        data = data * rows[is_inside] * count[weights.indices[is_inside]]
    inside = np.bincount(origin[is_inside], data, n_clusters)
    volume = graph.n_rows * np.bincount(labels, count * graph.degrees, n_clusters)
    return inside / np.where(volume > 0, volume, np.inf)


def _with_nearest_means(
    labels: Indices, points: Array, count: Array, nearest: Indices, steps: int = 5
) -> Indices:
    """Give rows to the nearest mean among the clusters of their neighbours, some times.

    No cluster loses all of its rows.
    """
    n, K = len(labels), int(labels.max()) + 1
    for _ in range(steps):
        share = count / np.bincount(labels, count, K)[labels]
        means = sparse.csr_array((share, (labels, np.arange(n))), (K, n)) @ points
        moved, least = labels, np.full(n, np.inf)
        for clusters in labels[nearest].T:
            difference = points - means[clusters]
            squared = np.einsum("ij,ij->i", difference, difference)
            moved = np.where(squared < least, clusters, moved)
            least = np.minimum(least, squared)
        if (moved == labels).all() or not np.bincount(moved, minlength=K).all():
            break
        labels = moved
    return labels


def compared_cuts(
    judges: Judges, *, cut: Cut, starts: Mapping[str, Any], solver: str = "auto"
) -> list[CutOfGraph]:
    """Return the cuts that were compared, the best first.

    ``starts`` are options of POD. ``solver`` says whether cuts are relaxed, discrete or either.
    """
    found: list[CutOfGraph] = []
    if solver == "discrete" or (solver == "auto" and not judges.may_be_relaxed):
        with without_progress():
            found = [discrete_candidate(*judges.ranked(), cut, judges.n_clusters, starts)]
            return found if solver == "discrete" else [judges.with_round_clusters(found[0])]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphWarning)
        apart = clusters_with_gaps(judges.searched, judges.rows, judges.n_clusters)
        for one in _counted(_candidates(judges, cut, starts, solver)):
            if apart is not None and solver == "auto" and not _are_same(one.labels, apart):
                affinity, graph = judges.ranked(int(np.bincount(apart).min()))
                one = CutOfGraph(f"gaps in {affinity!r}", affinity, graph, apart)
            score, is_clear = judges.judge(judges.labels_at_rows(one, cut))
            if apart is not None and _are_same(one.labels, apart):
                return [replace(one, score=score, has_wide_gaps=True)]
            found.append(replace(one, score=score, is_clear=is_clear))
            if apart is None and not judges.has_steps and _is_settled(found):
                break
    best, *others = sorted(found, key=lambda one: -round(one.score, 6))
    if best.relaxed is None:  # k-means too is extended on the graph of discrete cuts
        affinity, graph = judges.ranked(int(np.bincount(best.labels).min()))
        return [replace(best, affinity=affinity, graph=graph), *others]
    if not best.affinity.streams and best.is_clear:
        sizes = np.bincount(best.relaxed.components, judges.rows)
        n_apart = int((sizes >= 2 * POLICY.least_cluster).sum()) - best.relaxed.groups.max() - 1
        best = replace(best, relaxed=replace(best.relaxed, n_apart=max(0, n_apart)))
    return [best, *others]


def _is_settled(cuts: list[CutOfGraph]) -> bool:
    """Whether the first cut is clear, or the last one has the clusters of another."""
    from sklearn.metrics import adjusted_rand_score

    *others, last = cuts
    scores = (adjusted_rand_score(one.labels, last.labels) for one in others)
    return any(score >= POLICY.same for score in scores) if others else last.is_clear


def _counted(cuts: Iterator[Any]) -> Iterator[Any]:
    """Yield cuts, saying how many there are, and nothing of how each was found."""
    for number in count(1):
        with without_progress():
            one = next(cuts, None)
        if one is None:
            return
        advance(number, None, "cut(s) compared")
        yield one


def _are_same(first: Indices, second: Indices) -> bool:
    """Whether two labellings have the same clusters."""
    pairs = np.unique(first.astype(np.int64) * (int(second.max()) + 1) + second)
    return len(pairs) == len(np.unique(first)) == len(np.unique(second))


def _candidates(judges: Judges, cut: Cut, starts: Mapping[str, Any], solver: str) -> Iterator[Any]:
    """Yield the cuts that are compared, the one that is mostly right first."""
    K, has_means = judges.n_clusters, METRICS[judges.metric].has_means
    for number, k in enumerate(judges.cut_scales):
        affinity, graph = judges.mutual(k)
        pieces = pieces_of(graph, affinity)
        numbers = [pieces.n_large(K)]
        if solver == "relaxed":  # gaps are not looked for: small components may be clusters
            n_components = judges.n_components_of_rows(pieces.component)
            numbers.append(max(numbers[0], min(n_components, K)))
        for n_pieces in sorted(set(numbers)):
            yield relaxed_candidate(pieces, affinity, cut, K, starts, n_pieces)
        if number == 0 and has_means and solver != "relaxed":
            yield CutOfGraph("k-means", affinity, graph, kmeans_labels(judges, starts))
    if judges.wide is not None:
        pieces = pieces_of(judges.wide[1], judges.wide[0])
        yield relaxed_candidate(pieces, judges.wide[0], cut, K, starts, pieces.n_large(K))
    if solver != "relaxed":
        yield discrete_candidate(*judges.ranked(), cut, K, starts)


def kmeans_labels(judges: Judges, starts: Mapping[str, Any]) -> Indices:
    """Return the clusters of k-means."""
    points, K = judges.searched.points.points, judges.n_clusters
    random = check_random_state(starts["random_state"] or 0)
    with blas_threads(1):
        first = _spread_rows(points, judges.count, K, random)
    order = np.append(first, np.setdiff1d(np.arange(judges.n), first))
    centres = kmeans_centres(points[order], judges.count[order], K, steps=10)
    return nearest_centres(points, NearestLandmarks(centres, 1))


def _spread_rows(points: Any, count: Array, n: int, random: np.random.RandomState) -> Indices:
    """Return n rows far from each other: k-means++ with the best of a few rows at each step."""
    is_sparse = sparse.issparse(points)
    squares = np.asarray((points.multiply(points) if is_sparse else points**2).sum(axis=1)).ravel()

    def squared_distances(rows: Indices) -> Array:
        products = points[rows] @ points.T
        products = products.toarray() if sparse.issparse(products) else products
        return np.maximum(squares[rows, np.newaxis] + squares - 2 * products, 0.0)

    chosen = random.choice(len(count), 1, p=count / count.sum())
    nearest = squared_distances(chosen)[0]
    for _ in range(n - 1):
        share = np.cumsum(nearest * count)
        tried = np.searchsorted(share, random.random_sample(2 + int(np.log(n))) * share[-1])
        tried = np.minimum(tried, len(count) - 1)
        left = np.minimum(nearest, squared_distances(tried))
        best = int(np.argmin(left @ count))
        chosen, nearest = np.append(chosen, tried[best]), left[best]
    return np.unique(chosen)
