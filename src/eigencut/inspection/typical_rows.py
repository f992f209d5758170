"""Typical rows of clusters: medoids, the rows with the least mean distance to their cluster.

Up to 1024 rows all distances are computed, in blocks. Beyond, every row is compared with 512 rows
drawn at random, and only the best 64 with all rows of the cluster: mostly the same rows, in time
that grows with the rows and not with their square.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.metrics.pairwise import pairwise_distances

from eigencut._utils.arrays import Array, Indices, row_blocks

_EXACT = 1024  # rows of a cluster up to which all distances are computed
_DRAWN = 512
_FINALISTS = 64
_ENTRIES = 1 << 21  # distances at a time
_MOST = 200_000  # rows of a cluster that may be typical: of more, so many are drawn
_METRICS = ("euclidean", "cosine", "manhattan", "chebyshev")


def typical_rows(
    points: Any, labels: Indices, n_clusters: int, n_typical: int, metric: str = "euclidean"
) -> list[Indices]:
    """For each cluster its most typical rows, different ones, the most typical first.

    Parameters
    ----------
    points : array or sparse array of shape (n_rows, n_features), or None
        Without any, no row is typical.
    labels : array of shape (n_rows,)
        Rows with -1 belong to no cluster.
    n_clusters, n_typical : int
    metric : str, default="euclidean"

    Returns
    -------
    list of arrays
        Places of rows. Fewer than ``n_typical`` where there are fewer different ones.
    """
    if points is None:
        return [np.empty(0, dtype=np.intp)] * n_clusters
    name = metric if metric in _METRICS else "euclidean"
    found = []
    for k in range(n_clusters):
        rows = np.flatnonzero(labels == k)
        found.append(_of_cluster(points, rows, n_typical, name))
    return found


def _of_cluster(points: Any, rows: Indices, n_typical: int, metric: str) -> Indices:
    if not len(rows) or not n_typical:
        return rows[:0]
    own = points[rows]
    if not issparse(own) and metric == "euclidean":
        own = _moderate(own)
    draw = np.random.default_rng(0)
    candidates = np.arange(len(rows))
    if len(rows) > _MOST:
        candidates = np.sort(draw.choice(len(rows), _MOST, replace=False))
    if len(rows) > _EXACT:
        drawn = np.sort(draw.choice(len(rows), _DRAWN, replace=False))
        sums = _sums(own[candidates], own[drawn], metric)
        n_finalists = max(_FINALISTS, 8 * n_typical)
        candidates = np.sort(candidates[np.argsort(sums, kind="stable")[:n_finalists]])
    sums = _sums(own[candidates], own, metric)
    return rows[_different(own, candidates[np.argsort(sums, kind="stable")], n_typical)]


def _moderate(own: Array) -> Array:
    """Moved to their middle, where squares do not cancel, and scaled so that none is infinite."""
    with np.errstate(over="ignore", invalid="ignore"):
        largest = np.abs(own).max()
        own = own / (largest if largest > 0 else 1.0)
        return np.asarray(own - own.mean(axis=0))


def _sums(own: Any, others: Any, metric: str) -> Array:
    """The sum of the distances of each row to the others; never an array of all of them."""
    total = np.zeros(own.shape[0])
    for rows in row_blocks(own.shape[0], others.shape[0], _ENTRIES):
        total[rows] = pairwise_distances(own[rows], others, metric=metric).sum(axis=1)
    return total


def _different(own: Any, order: Indices, n_wanted: int) -> Indices:
    """The first of the rows in this order that differ from those before them."""
    kept: list[int] = []
    for place in order:
        row = own[[place]]
        if not any(_is_same(row, own[[other]]) for other in kept):
            kept.append(int(place))
        if len(kept) == n_wanted:
            break
    return np.array(kept, dtype=np.intp)


def _is_same(row: Any, other: Any) -> bool:
    return bool((row != other).nnz == 0) if issparse(row) else bool(np.array_equal(row, other))
