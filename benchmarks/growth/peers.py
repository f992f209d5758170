"""The default, and what else people would use, on one sample: labels and seconds."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks.data import Array, Labels

Peer = Callable[
    [Array, int, Labels], Iterator[Labels]
]  # of rows, K and, for the best of several, y

_CHUNK_ROWS = 60_000  # of a dask array
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


def _by_hand(package: str, name: str) -> Peer:
    """A peer whose licence keeps it out of our dependencies: run where it was installed by hand."""

    def peer(X: Array, K: int, y: Labels) -> Iterator[Labels]:
        method = getattr(import_module(package), name)
        yield method(n_clusters=K).fit_predict(X)

    return peer


def _landmarks(X: Array, K: int, y: Labels) -> Iterator[Labels]:
    from eigencut import GPOD

    yield GPOD(K, affinity="landmarks").fit_predict(X)


def _stream(X: Array, K: int, y: Labels) -> Iterator[Labels]:
    from eigencut import GPOD, Rows

    yield GPOD(K).fit(Rows.from_array(X)).predict(X)


def _dask(X: Array, K: int, y: Labels) -> Iterator[Labels]:
    import dask.array

    from eigencut import GPOD
    from eigencut.integrations import dask as on_dask

    rows = dask.array.from_array(X, chunks=(_CHUNK_ROWS, X.shape[1]))
    yield on_dask.predict(on_dask.fit(GPOD(K), rows), rows).compute()


# What GPOD(K) is in other ways to go: through landmarks in memory, as a stream, and on Dask.
ROUTES: dict[str, Peer] = {
    "default": _eigencut,
    "landmarks": _landmarks,
    "stream": _stream,
    "dask": _dask,
}

PEERS: dict[str, Peer] = {
    "eigencut": _eigencut,
    "k-means": _kmeans,
    "Gaussian mixture": _mixture,
    "scikit-learn kNN": _sklearn,
    "HDBSCAN, best": _hdbscan,
}
for _package, _name in (("genieclust", "Genie"), ("lumbermark", "Lumbermark")):
    if find_spec(_package):
        PEERS[_name] = _by_hand(_package, _name)


def scores(
    X: Array, y: Labels, K: int, peers: Mapping[str, Peer] = PEERS
) -> dict[str, dict[str, Any]]:
    """ARI on rows that are no noise, seconds, and the share of the smallest cluster, by peer."""
    from sklearn.metrics import adjusted_rand_score

    found = {}
    is_row = y >= 0
    for name, peer in peers.items():
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
