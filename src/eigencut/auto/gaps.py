"""Clusters with wide gaps between them: they need no judge.

Single linkage merges the parts of the minimum spanning tree by the length of its edges. A part has
a wide gap around it if the edge that joins it to another is ``POLICY.wide_gap`` times as long as
the longest edge inside (``sure_gap`` if K is not given), and it has the rows of a cluster. Where
all rows are in such parts, these are the clusters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

from eigencut._utils.arrays import TINY, Array, Indices
from eigencut.auto.policy import POLICY
from eigencut.neighbors.search import SearchedRows


@dataclass
class _Part:
    """A part of the tree: its rows, a wide gap around it, the edge that joins it, its halves."""

    rows: float
    wide: float
    joined: float = np.inf
    halves: tuple[int, int] | None = None

    @property
    def is_apart(self) -> bool:
        return self.joined >= self.wide and self.rows >= POLICY.least_cluster


def clusters_with_gaps(
    searched: SearchedRows, rows: Array, n_clusters: int | None = None
) -> Indices | None:
    """Return the clusters of the different rows if all have wide gaps between them, or None.

    ``rows`` says how many rows each different one counts for. With a number of clusters there are
    that many; else at least two, which are as small as they can be. A column of two or three
    values, as a word makes it, leaves gaps that say nothing.
    """
    points, n = searched.points.points, len(rows)
    if sparse.issparse(points) or has_steps(points):
        return None
    times = POLICY.sure_gap if n_clusters is None else POLICY.wide_gap
    origin, end, length = _spanning_edges(searched, most_parts=n_clusters or 1)
    order = np.argsort(-length, kind="stable")
    n_cut = int(rows.sum() / POLICY.least_cluster) if n_clusters is None else 2 * n_clusters + 50
    cut, left = order[:n_cut], order[n_cut:]
    small = _components(n, origin[left], end[left])
    parts = [_Part(float(count), 0.0) for count in np.bincount(small, rows)]
    # Equal rows alone have no step inside; a usual one is taken.
    longest = np.where(np.bincount(small) > 1, 0.0, np.median(length) if len(length) else 0.0)
    np.maximum.at(longest, small[origin[left]], length[left])
    for part, inside in zip(parts, longest, strict=True):
        part.wide = times * float(inside)
    roots = list(range(len(parts)))
    for edge in cut[::-1]:
        halves = _root(roots, small[origin[edge]]), _root(roots, small[end[edge]])
        for half in halves:
            parts[half].joined, roots[half] = float(length[edge]), len(parts)
        roots.append(len(parts))
        count = parts[halves[0]].rows + parts[halves[1]].rows
        parts.append(_Part(count, times * float(length[edge]), halves=halves))
    tops = [place for place, root in enumerate(roots) if place == root]
    chosen = _apart(parts, tops, n_clusters)
    if chosen is None or len(chosen) < 2 or n_clusters not in (None, len(chosen)):
        return None
    label = np.full(len(parts), -1)
    label[chosen] = np.arange(len(chosen))
    for place in range(len(parts) - 1, -1, -1):  # halves stand before the whole
        of_part = parts[place].halves
        if of_part is not None and label[place] >= 0:
            label[list(of_part)] = label[place]
    return np.asarray(label[small], dtype=np.intp)


def _apart(parts: list[_Part], tops: list[int], n_clusters: int | None) -> list[int] | None:
    """Return parts that are apart and hold all rows: the smallest, or so many, or None.

    Where smaller parts are apart too, all gaps around the parts must be wide beside all inside.
    """
    is_covered: list[bool] = []  # whether parts that are apart hold all rows of this one
    for part in parts:
        in_halves = part.halves is not None and all(is_covered[half] for half in part.halves)
        is_covered.append(in_halves or part.is_apart)
    chosen = list(tops)
    whole: list[int] = []
    while chosen and (n_clusters is None or len(chosen) + len(whole) < n_clusters):
        widest = max(chosen, key=lambda place: parts[place].wide)
        chosen.remove(widest)
        halves = parts[widest].halves
        if halves is not None and all(is_covered[half] for half in halves):
            chosen += halves
        else:
            whole.append(widest)
    found = [parts[place] for place in chosen + whole]
    can_be_halved = any(part.halves and all(is_covered[h] for h in part.halves) for part in found)
    shortest = min(part.joined for part in found)
    is_clear = shortest >= max(part.wide for part in found)
    are_apart = all(part.is_apart for part in found) and (is_clear or not can_be_halved)
    return chosen + whole if are_apart else None


def _spanning_edges(searched: SearchedRows, most_parts: int) -> tuple[Indices, Indices, Array]:
    """Return the edges of the minimum spanning tree of each component of the neighbours.

    Where components are more than ``most_parts``, the shortest edges between them join them, unless
    that would take long.
    """
    n = len(searched.distinct.multiplicity)
    k = min(POLICY.cut_scales[0], n)
    distances, numbers = searched.points.nearest(k)
    # Numbers of 32 bits, which the oldest scipy asks for.
    lengths, ends = np.maximum(distances[:, 1:], TINY), numbers[:, 1:].astype(np.int32)
    # Pairs that both rows have found are taken once.
    is_far = lengths * (1 + 1e-9) >= lengths[ends, -1]
    is_new = is_far | (ends > np.arange(n)[:, np.newaxis])
    starts = np.append(0, np.cumsum(is_new.sum(axis=1))).astype(np.int32)
    edges = sparse.csr_array((lengths[is_new], ends[is_new], starts), shape=(n, n))
    tree = minimum_spanning_tree(edges).tocoo()
    origin, end, length = tree.row, tree.col, tree.data
    part = _components(n, origin, end)
    points, metric = searched.points.points, searched.points.space.metric
    most = POLICY.some_rows if points.shape[1] == 1 else POLICY.choice_rows
    joins = part.max() >= most_parts and n <= most  # a column is in pieces by chance
    while joins and part.max() > 0:
        smallest = np.argmin(np.bincount(part))
        own, others = np.flatnonzero(part == smallest), np.flatnonzero(part != smallest)
        nearest = others[metric.nearest(points[own], points[others])]
        between = metric.between(points[own], points[nearest])
        best = int(np.argmin(between))
        origin, end = np.append(origin, own[best]), np.append(end, nearest[best])
        length = np.append(length, between[best])
        part = _components(n, origin, end)
    return origin, end, length


def has_steps(points: Array) -> bool:
    """Return whether a column that spreads as others do has two or three values only."""
    some = points[:: 1 + len(points) // 1000]
    spread = some.var(axis=0)
    columns = some.T[spread > 0.01 * spread.max(initial=0.0)]
    return len(some) > 3 and any(len(np.unique(column)) < 4 for column in columns)


def _root(roots: list[int], place: int) -> int:
    while roots[place] != place:
        roots[place] = roots[roots[place]]
        place = roots[place]
    return place


def _components(n: int, origin: Indices, end: Indices) -> Indices:
    """Return the component of each of n vertices."""
    edges = sparse.csr_array((np.ones(len(origin)), (origin, end)), shape=(n, n))
    return np.asarray(connected_components(edges, directed=False)[1], dtype=np.intp)
