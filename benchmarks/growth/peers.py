"""The default, and what else people would use, on one sample: labels and seconds."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.data import Array, Labels

Peer = Callable[
    [Array, int, Labels], Iterator[Labels]
]  # of rows, K and, for the best of several, y

_MOST_ROWS = {"Gaussian mixture": 200_000, "scikit-learn kNN": 20_000, "HDBSCAN, best": 20_000}


def _eigencut(X: Array, K: int, y: Labels) -> Iterator[Labels]:
    from eigencut import GPOD

    yield GPOD(K).fit_predict(X)


def _kmeans(X: Array, K: int, y: Labels) -> Iterator[Labels]:
    from sklearn.cluster import KMeans

    yield KMeans(K, n_init=4, random_state=0).fit_predict(X)


def _mixture(X: Array, K: int, y: Labels) -> Iterator[Labels]:
    from sklearn.mixture import GaussianMixture

    yield GaussianMixture(K, n_init=2, random_state=0).fit_predict(X)


def _sklearn(X: Array, K: int, y: Labels) -> Iterator[Labels]:
    from sklearn.cluster import SpectralClustering

    yield SpectralClustering(K, affinity="nearest_neighbors", random_state=0).fit_predict(X)


def _hdbscan(X: Array, K: int, y: Labels) -> Iterator[Labels]:
    """With several sizes of the smallest cluster; the one that scores best counts."""
    from sklearn.cluster import HDBSCAN

    for least in (5, 15, 50, max(5, len(X) // (10 * K))):
        yield HDBSCAN(min_cluster_size=least, copy=True).fit_predict(X)


PEERS: dict[str, Peer] = {
    "eigencut": _eigencut,
    "k-means": _kmeans,
    "Gaussian mixture": _mixture,
    "scikit-learn kNN": _sklearn,
    "HDBSCAN, best": _hdbscan,
}


def scores(X: Array, y: Labels, K: int) -> dict[str, dict[str, Any]]:
    """ARI on rows that are no noise, seconds, and the share of the smallest cluster, by peer."""
    from sklearn.metrics import adjusted_rand_score

    found = {}
    is_row = y >= 0
    for name, peer in PEERS.items():
        if len(X) > _MOST_ROWS.get(name, np.inf):
            continue
        best, start = {"ari": -1.0, "smallest": 0.0}, time.perf_counter()
        for labels in peer(X, K, y):
            ari = float(adjusted_rand_score(y[is_row], labels[is_row]))
            if ari > best["ari"]:
                sizes = np.bincount(labels[labels >= 0], minlength=K)
                best = {"ari": ari, "smallest": float(sizes.min() * K / len(X))}
        found[name] = {**best, "seconds": time.perf_counter() - start}
    return found
