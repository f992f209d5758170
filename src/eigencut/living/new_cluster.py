"""Whether rows without support are a cluster of their own, or just odd rows here and there."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse.csgraph import connected_components

from eigencut.living.drift_report import NewCluster
from eigencut.runtime.arrays import Indices
from eigencut.search.metrics import METRICS

_MOST_ROWS = 10_000  # that are looked at
_NEIGHBORS = 4
_USUAL = 0.9  # quantile of the distance to so many neighbours that links rows
_LEAST_ROWS = 10
_LEAST_SHARE = 1 / 16  # of the new rows of an average cluster, as of components of a graph


def find_new_cluster(model: Any, X: Any) -> NewCluster | None:
    """The largest group of rows without support, if it is large enough for a cluster.

    Rows are linked that are no farther apart than rows with support are from their fourth
    neighbour among the new rows (nine tenths of them).
    """
    some = np.arange(0, X.shape[0], -(-X.shape[0] // _MOST_ROWS))
    rows = X[some]
    is_outside = model.fitted_cut_.is_outlier(rows)
    least = max(_LEAST_ROWS, _LEAST_SHARE * len(some) / model.n_clusters_)
    if is_outside.sum() < least or len(some) <= _NEIGHBORS:
        return None
    outside = some[is_outside]
    group = _largest_group(model, X, some, outside)
    if len(group) < least:
        return None
    members = outside[group]
    return NewCluster(len(members), np.asarray(X[members].mean(axis=0)).ravel(), members)


def _largest_group(model: Any, X: Any, some: Indices, outside: Indices) -> Indices:
    """Places of the rows of the largest connected group."""
    from sklearn.neighbors import NearestNeighbors

    used = METRICS[getattr(model.affinity_, "metric", "euclidean")]
    X, metric = used.points(X), used.of_points.name
    if metric == "jaccard":
        X = X > 0  # as scikit-learn wants sets
    search = NearestNeighbors(n_neighbors=_NEIGHBORS + 1, metric=metric).fit(X[some])
    supported = np.setdiff1d(some, outside)
    usual = X[supported] if len(supported) > _NEIGHBORS else X[outside]
    reach = float(np.quantile(search.kneighbors(usual)[0][:, -1], _USUAL))
    links = NearestNeighbors(metric=metric).fit(X[outside]).radius_neighbors_graph(radius=reach)
    _, group = connected_components(links, directed=False)
    return np.flatnonzero(group == np.argmax(np.bincount(group)))
