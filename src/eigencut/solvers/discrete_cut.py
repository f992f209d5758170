"""The discrete cut: labels of the vertices found directly, at a cost that does not grow with K.

Relaxed cuts compute K eigenvectors and rotate them to indicators (Eqs. 6 and 7, Algorithm 3), which
costs n K^2. Here vertices are moved between clusters. The objective is the information about its
cluster that a random walk on the graph keeps in one step:

    sum_k A_k log(A_k / M_k^2) + B log(B / Q),

with A_k the weight inside cluster k, M_k its mass, B the weight between clusters and
``Q = (sum_k M_k)^2 - sum_k M_k^2``. As NCut (Eq. 5) it is large where little weight leaves
clusters; unlike NCut it does not favour clusters of equal mass.

The search merges vertices, then clusters, in pairs until K clusters are left, and moves single
vertices after each round of merges. At the end it halves clusters where that gains more than
merging two others loses.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from eigencut import kernels
from eigencut._utils.arrays import Array, Indices
from eigencut._utils.running import advance
from eigencut.affinities.base import Affinity
from eigencut.cut import Cut
from eigencut.graphs.base import Graph
from eigencut.kernels.numpy_kernels import Edges, between_term, inside_term


@dataclass(frozen=True)
class SearchSettings:
    """Limits of the search for a discrete cut."""

    starts: int = 4  # At most this many random orders of moves are tried, until two agree,
    started_vertices: int = 50_000  # and fewer if they would move more vertices than this.
    merged_rows: int = 15  # Groups of up to this many rows are merged in the graph of fewer edges.
    sweeps: int = 2  # Passes that move vertices after a round of merges,
    last_sweeps: int = 10  # and most passes after the last round.
    swaps: int = 5  # Most rounds of halving some clusters and merging others.
    power_steps: int = 20  # Power steps for the vector that halves a cluster.


SETTINGS = SearchSettings()


@dataclass(frozen=True)
class Labelled:
    """Labels of the vertices from 0 to ``n_clusters`` - 1, and the information they keep."""

    labels: Indices
    n_clusters: int
    information: float = -np.inf


def discrete_cut(
    graph: Graph,
    affinity: Affinity,
    cut: Cut,
    n_clusters: int,
    *,
    few: Graph | None = None,
    n_init: int = 10,
    random_state: Any = None,
) -> Indices:
    """Return the labels of vertices; small groups are merged in ``few``, which has fewer edges."""
    edges = edges_of(graph, cut)
    search = _Search(
        edges,
        edges if few is None else edges_of(few, cut),
        check_random_state(0 if random_state is None else random_state),
    )
    best = search.best_start(n_clusters, n_init)
    if best.n_clusters > n_clusters:
        labels = _attach_components(best, n_clusters, affinity, graph.multiplicity)
        best = search.moved(Labelled(labels, n_clusters), SETTINGS.last_sweeps, keeps=True)
    return search.swapped(best).labels


def information_by_number(
    graph: Graph, cut: Cut, most: int, few: Graph | None = None
) -> dict[int, float]:
    """Return the information, in nats, that K clusters keep in a step, by K from ``most`` down."""
    edges = edges_of(graph, cut)
    few_edges = edges if few is None else edges_of(few, cut)
    search = _Search(edges, few_edges, check_random_state(0))
    found = search.swapped(search.best_start(most, SETTINGS.starts))
    weight = float(edges.weights.sum(dtype=np.float64))
    of_one = weight * np.log(weight / edges.mass.sum() ** 2)
    kept = {found.n_clusters: (found.information - of_one) / weight}
    while found.n_clusters > 2:
        merged = search.merged(found, found.n_clusters - 1)
        if merged.n_clusters == found.n_clusters:
            break
        found = search.moved(merged, 2 * SETTINGS.sweeps, keeps=True)
        kept[found.n_clusters] = (found.information - of_one) / weight
    return kept


def edges_of(graph: Graph, cut: Cut) -> Edges:
    """Return the edges of a graph, weighted by the multiplicities of their vertices."""
    weights = graph.weights if sparse.issparse(graph.weights) else graph.dense()
    weights = sparse.csr_array(weights, dtype=np.float64, copy=True)
    count = graph.multiplicity
    weights.data *= np.repeat(count, np.diff(weights.indptr)) * count[weights.indices]
    weights.setdiag(0.0)
    weights.eliminate_zeros()
    degrees = weights.sum(axis=1)
    scale = len(count) / max(float(degrees.sum()), np.finfo(float).tiny)
    return Edges(
        weights.indptr.astype(np.intp),
        weights.indices.astype(np.int32),
        (scale * weights.data).astype(np.float32),
        scale * degrees if cut.mass_is_degree else count / count.mean(),
    )


def _compact(labels: Indices) -> Labelled:
    """Renumber the clusters that have vertices, from 0 on."""
    there = np.zeros(int(labels.max()) + 1, dtype=bool)
    there[labels] = True
    numbers = np.cumsum(there) - 1
    return Labelled(numbers[labels].astype(np.intp), int(there.sum()))


def _pairs_to_merge(partners: Indices, changes: Array, n_merges: int) -> Indices:
    """Return the new number of each cluster when the best disjoint pairs are merged."""
    numbers, is_free = np.arange(len(partners)), np.ones(len(partners), dtype=bool)
    for cluster in np.argsort(-changes, kind="stable").tolist():
        partner = int(partners[cluster])
        if n_merges == 0 or partner < 0:
            break
        if is_free[cluster] and is_free[partner]:
            is_free[cluster] = is_free[partner] = False
            numbers[max(cluster, partner)] = min(cluster, partner)
            n_merges -= 1
    return numbers


def _attach_components(
    found: Labelled, n_clusters: int, affinity: Affinity, multiplicity: Array
) -> Indices:
    """Merge each of the smallest clusters with that of its most similar vertices, down to K."""
    labels, C = found.labels.copy(), found.n_clusters
    sizes = np.bincount(labels, multiplicity, C)
    for smallest in np.argsort(sizes, kind="stable")[: C - n_clusters]:
        own, others = np.flatnonzero(labels == smallest), np.flatnonzero(labels != smallest)
        votes = np.bincount(
            labels[affinity.most_similar_vertices(own, others)], multiplicity[own], C
        )
        labels[own] = np.argmax(votes)
    return _compact(labels).labels


class _Search:
    """A search in a graph: its edges, those of one with fewer edges, and the order of moves."""

    def __init__(self, edges: Edges, few: Edges, random: np.random.RandomState) -> None:
        self.edges, self.few, self.random = edges, few, random
        self.n = len(edges.mass)
        self.order = random.permutation(self.n)
        self.first_vector = random.normal(size=self.n)

    @cached_property
    def origins(self) -> Indices:
        """The vertex that each edge starts from."""
        return np.repeat(np.arange(self.n), np.diff(self.edges.starts))

    def moved(
        self, found: Labelled, sweeps: int, *, keeps: bool = False, edges: Edges | None = None
    ) -> Labelled:
        """Move vertices to better clusters by all or some edges; ``keeps``: no cluster vanishes."""
        labels, edges = found.labels.copy(), edges or self.edges
        information = kernels.chosen.move_vertices(
            edges, labels, found.n_clusters, order=self.order, sweeps=sweeps, keeps=keeps
        )
        return replace(_compact(labels), information=information)

    def merged(self, found: Labelled, target: int, edges: Edges | None = None) -> Labelled:
        """Merge disjoint pairs of adjacent clusters, the best first, down to ``target`` at most."""
        edges = edges or self.edges
        partners, changes = kernels.chosen.best_merges(edges, found.labels, found.n_clusters)
        return _compact(_pairs_to_merge(partners, changes, found.n_clusters - target)[found.labels])

    def best_start(self, n_clusters: int, n_init: int) -> Labelled:
        """Return the best partition from several random orders of the vertices."""
        n_starts = max(1, min(n_init, SETTINGS.starts, SETTINGS.started_vertices // self.n))
        first, best = Labelled(np.arange(self.n), self.n), None
        for _ in range(2):  # vertices are merged twice
            if first.n_clusters > n_clusters:
                first = self.merged(first, n_clusters, self.few)
        for start in range(n_starts):
            found = self._start(first, n_clusters)
            if best is not None and np.isclose(found.information, best.information, rtol=1e-6):
                break  # it is the same partition, which more starts would find again
            best = found if best is None else max(best, found, key=lambda each: each.information)
            self.order = self.random.permutation(self.n)
            advance(start + 1, n_starts, "start(s)")
        assert best is not None
        return best

    def _start(self, found: Labelled, n_clusters: int) -> Labelled:
        """Merge clusters and move vertices in turn, until there are K clusters."""
        few = max(2 * n_clusters, self.n // SETTINGS.merged_rows)
        while found.n_clusters > few:
            found = self.moved(found, SETTINGS.sweeps, edges=self.few)
            before = found.n_clusters
            if before > few:
                found = self.merged(found, max(few, before // 2), self.few)
            if found.n_clusters == before:
                break
        found = self.moved(found, SETTINGS.sweeps, keeps=found.n_clusters <= n_clusters)
        while found.n_clusters > n_clusters:
            before = found.n_clusters
            found = self.merged(found, max(n_clusters, before // 2))
            if found.n_clusters == before:
                break
            is_last = found.n_clusters <= n_clusters
            sweeps = SETTINGS.last_sweeps if is_last else SETTINGS.sweeps
            found = self.moved(found, sweeps, keeps=is_last)
        return self._split_up_to(found, n_clusters)

    def _split_up_to(self, found: Labelled, n_clusters: int) -> Labelled:
        """Halve clusters, those that gain most first, until there are K."""
        while found.n_clusters < n_clusters:
            C = found.n_clusters
            second, gains = self._halves(found)
            halved = np.argsort(-gains, kind="stable")[: n_clusters - C]
            halved = halved[np.isfinite(gains[halved])]
            if not len(halved):
                break
            numbers = np.full(C, -1)
            numbers[halved] = C + np.arange(len(halved))
            of_second = numbers[found.labels]
            labels = np.where(second & (of_second >= 0), of_second, found.labels)
            found = self.moved(_compact(labels), SETTINGS.last_sweeps, keeps=True)
        return found

    def _halves(self, found: Labelled) -> tuple[Any, Array]:
        """Halve each cluster; return which vertices are in second halves, and the gains."""
        edges, labels, C = self.edges, found.labels, found.n_clusters
        is_inside = labels[self.origins] == labels[edges.ends]
        counts = np.bincount(self.origins[is_inside], minlength=self.n)
        starts = np.append(0, np.cumsum(counts))
        inside = Edges(starts, edges.ends[is_inside], edges.weights[is_inside], edges.mass)
        second = self._power_steps(inside, labels, C) > 0
        halves = 2 * labels + second
        outside = float(edges.weights[~is_inside].sum(dtype=np.float64))
        kernels.chosen.move_vertices(
            inside,
            halves,
            2 * C,
            order=self.order,
            sweeps=SETTINGS.last_sweeps // 2,
            outside=outside,
        )
        origin = halves[self.origins[is_inside]]
        is_same = origin == halves[inside.ends]
        own = np.bincount(origin[is_same], inside.weights[is_same], 2 * C).reshape(C, 2)
        crossing = np.bincount(origin[~is_same] // 2, inside.weights[~is_same], C)
        mass = np.bincount(halves, edges.mass, 2 * C).reshape(C, 2)
        whole = mass.sum(axis=1)
        pairs = whole.sum() ** 2 - (whole**2).sum()
        gains = inside_term(own, mass).sum(axis=1)
        gains -= inside_term(own.sum(axis=1) + crossing, whole)
        gains += between_term(outside + crossing, pairs + 2 * mass.prod(axis=1))
        gains -= between_term(outside, pairs)
        is_split = np.bincount(halves, minlength=2 * C).reshape(C, 2).all(axis=1)
        return halves % 2 == 1, np.where(is_split, gains, -np.inf)

    def _power_steps(self, inside: Edges, labels: Indices, n_clusters: int) -> Array:
        """Return roughly the slowest eigenvector of the random walk within each cluster."""
        shape = (self.n, self.n)
        weights = sparse.csr_array((inside.weights, inside.ends, inside.starts), shape=shape)
        degrees = weights @ np.ones(self.n)
        per_degree = np.where(degrees > 0, 1 / np.where(degrees > 0, degrees, 1.0), 0.0)
        volume = np.maximum(np.bincount(labels, degrees, n_clusters), 1e-300)
        x = self.first_vector
        for _ in range(SETTINGS.power_steps):
            x = 0.5 * (per_degree * (weights @ x) + x)
            x = x - (np.bincount(labels, degrees * x, n_clusters) / volume)[labels]
            length = np.sqrt(np.bincount(labels, degrees * x * x, n_clusters) / volume)
            x = np.clip(x / np.where(length > 0, length, 1.0)[labels], -1e9, 1e9)  # lone rows grow
        return x

    def swapped(self, found: Labelled) -> Labelled:
        """Halve clusters where that gains more than merging two others loses."""
        for _ in range(SETTINGS.swaps):
            labels, C, better = found.labels, found.n_clusters, None
            second, gains = self._halves(found)
            partners, changes = kernels.chosen.best_merges(self.edges, labels, C)
            swaps = _best_swaps(gains, partners, changes, 1e-9 * abs(found.information))
            while swaps and better is None:
                numbers, half = np.arange(C), np.full(C, -1)
                for halved, first, other in swaps:
                    numbers[other], half[halved] = first, other
                is_new = second & (half[labels] >= 0)
                tried = Labelled(np.where(is_new, half[labels], numbers[labels]), C)
                tried = self.moved(tried, SETTINGS.last_sweeps, keeps=True)
                if tried.information > found.information:
                    better = tried
                swaps = swaps[: len(swaps) // 2]
            if better is None:
                break
            gain = better.information - found.information
            found = better
            if gain <= 1e-4 * abs(found.information):
                break
        return found


def _best_swaps(
    gains: Array, partners: Indices, changes: Array, least: float
) -> list[tuple[int, int, int]]:
    """Return disjoint triples (cluster to halve, two to merge) that gain together, best first."""
    swaps, used = [], np.zeros(len(gains), dtype=bool)
    merges = [c for c in np.argsort(-changes, kind="stable").tolist() if partners[c] >= 0]
    for cluster in np.argsort(-gains, kind="stable").tolist():
        if not np.isfinite(gains[cluster]):
            break
        if used[cluster]:
            continue
        for first in merges:
            other = int(partners[first])
            if not (used[first] or used[other] or cluster in (first, other)):
                break
        else:
            break
        if gains[cluster] + changes[first] <= least:
            break
        used[[cluster, first, other]] = True
        swaps.append((cluster, first, other))
        merges = merges[merges.index(first) + 1 :]
    return swaps
