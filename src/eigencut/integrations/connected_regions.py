"""Regions of a map in one piece each, and as many as were asked for."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from eigencut._utils.arrays import Array, Indices


def connect_regions(labels: Indices, touching: Any, X: Array, n_regions: int) -> Indices:
    """Labels such that every region is connected and all ``n_regions`` are there.

    Pieces of a region beside its largest join the neighbour they are most similar to. Where regions
    are too many even so, for parts of the map that nothing touches are regions by themselves, the
    smallest join a neighbour; where they are too few, those that vary most are divided.

    Parameters
    ----------
    labels : array of shape (n,)
    touching : scipy.sparse array of shape (n, n)
        Symmetric: which rows are neighbours. Of at most ``n_regions`` connected parts.
    X : array of shape (n, d)
        What similarity is measured by: the distance between means.
    n_regions : int
        At most n.

    Returns
    -------
    labels : array of shape (n,)
        By decreasing size.
    """
    edges = sparse.triu(touching).tocoo()
    i, j = edges.row, edges.col
    inside = labels[i] == labels[j]
    same = sparse.coo_array((np.ones(inside.sum()), (i[inside], j[inside])), shape=touching.shape)
    n_pieces, piece = csgraph.connected_components(same, directed=False)
    piece = piece.astype(np.intp)
    if n_pieces > n_regions:
        between = np.unique(np.column_stack([piece[i], piece[j]])[~inside], axis=0)
        piece = _join(piece, _is_largest(piece, labels), between, X, n_regions)[piece]
    for number in range(n_pieces, n_regions):
        piece = _divide(piece, number, touching, X)
    return _by_size(piece)


def _is_largest(piece: Indices, labels: Indices) -> Array:
    """Whether a piece is the largest of its label."""
    sizes = np.bincount(piece)
    label_of = np.empty(len(sizes), dtype=np.intp)
    label_of[piece] = labels
    in_order = np.lexsort([-sizes, label_of])
    _, first = np.unique(label_of[in_order], return_index=True)
    found = np.zeros(len(sizes), dtype=bool)
    found[in_order[first]] = True
    return found


def _join(piece: Indices, keeps: Array, between: Indices, X: Array, n_regions: int) -> Indices:
    """The piece that each piece is part of in the end: the smallest that need not stay go first."""
    n_left = len(keeps)
    sizes = np.bincount(piece).astype(float)
    sums = np.zeros((n_left, X.shape[1]))
    np.add.at(sums, piece, X)
    neighbours: list[set[int]] = [set() for _ in range(n_left)]
    for a, b in between.tolist():
        neighbours[a].add(b)
        neighbours[b].add(a)
    joined = np.arange(n_left)
    waiting = [(bool(keeps[a]), sizes[a], a) for a in range(n_left)]
    heapify(waiting)
    while n_left > n_regions:
        kept, size, a = heappop(waiting)
        # Others have joined it since, and it waits a second time; or there is nothing beside it.
        if joined[a] != a or (kept, size) != (keeps[a], sizes[a]) or not neighbours[a]:
            continue
        beside = np.array(sorted(neighbours[a]))
        apart = sums[beside] / sizes[beside, np.newaxis] - sums[a] / size
        b = int(beside[(apart**2).sum(axis=1).argmin()])
        joined[a], n_left = b, n_left - 1
        sizes[b], sums[b], keeps[b] = sizes[b] + size, sums[b] + sums[a], keeps[b] or kept
        for c in neighbours[a]:
            neighbours[c].discard(a)
        for c in neighbours[a] - {b}:
            neighbours[c].add(b)
            neighbours[b].add(c)
        heappush(waiting, (bool(keeps[b]), sizes[b], b))
    while (joined != joined[joined]).any():
        joined = joined[joined]
    return joined


def _divide(piece: Indices, number: int, touching: Any, X: Array) -> Indices:
    """Cut one branch off a tree in the region that varies most: the one that explains most."""
    _, place, sizes = np.unique(piece, return_inverse=True, return_counts=True)
    sums = np.zeros((len(sizes), X.shape[1]))
    np.add.at(sums, place, X)
    varies = np.bincount(place, ((X - (sums / sizes[:, np.newaxis])[place]) ** 2).sum(axis=1))
    varies[sizes == 1] = -1.0
    rows = np.flatnonzero(place == varies.argmax())
    order, parents = csgraph.breadth_first_order(touching[rows][:, rows], 0, directed=False)
    values = X[rows] - X[rows].mean(axis=0)
    count = np.ones(len(rows))
    for row in order[:0:-1]:  # leaves first: sums over the branch above each
        values[parents[row]] += values[row]
        count[parents[row]] += 1
    branches = order[1:]
    # The mean of all is zero, so that a branch and the rest have the same sum but for its sign.
    rest = len(rows) - count[branches]
    explained = (values[branches] ** 2).sum(axis=1) * (1 / count[branches] + 1 / rest)
    is_cut = np.zeros(len(rows), dtype=bool)
    is_cut[branches[explained.argmax()]] = True
    for row in branches:
        is_cut[row] |= is_cut[parents[row]]
    divided = piece.copy()
    divided[rows[is_cut]] = number
    return divided


def _by_size(piece: Indices) -> Indices:
    _, place, sizes = np.unique(piece, return_inverse=True, return_counts=True)
    rank = np.empty(len(sizes), dtype=np.intp)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes))
    return rank[place]
