"""GPOD and what else people cluster embeddings with, each as a function of rows and K.

Where a method has something else to be set instead of K, it yields the labels for several settings,
and those that score best count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.data import Labels, NoData
from benchmarks.embeddings.minilm import Floats

Peer = Callable[[Floats, int], Iterator[Labels]]

_SMALLEST = 5, 15, 50  # sizes of the smallest cluster that are tried
_MOST_NUMBERS = 5_000_000  # in the rows of HDBSCAN, which computes all distances between them
_NOISE_LEVELS = 0.5, 0.0  # EVoC's default, and as many rows as possible in clusters


def _default(X: Floats, K: int) -> Iterator[Labels]:
    from eigencut import GPOD

    yield GPOD(K).fit_predict(X)


def _cosine(X: Floats, K: int) -> Iterator[Labels]:
    from eigencut import GPOD, Neighbors

    yield GPOD(K, affinity=Neighbors(metric="cosine")).fit_predict(X)


def _kmeans(X: Floats, K: int) -> Iterator[Labels]:
    from sklearn.cluster import KMeans

    yield KMeans(K, n_init=4, random_state=0).fit_predict(X)


def _minibatch(X: Floats, K: int) -> Iterator[Labels]:
    from sklearn.cluster import MiniBatchKMeans

    yield MiniBatchKMeans(K, n_init=4, random_state=0).fit_predict(X)


def _evoc(X: Floats, K: int) -> Iterator[Labels]:
    """It finds K itself, and several sets of clusters; all of them are tried."""
    yield from _installed("evoc").EVoC(random_state=0).fit(X).cluster_layers_


def _evoc_given_k(X: Floats, K: int) -> Iterator[Labels]:
    for noise in _NOISE_LEVELS:
        method = _installed("evoc").EVoC(approx_n_clusters=K, noise_level=noise, random_state=0)
        yield method.fit_predict(X)


def _hdbscan(X: Floats, K: int) -> Iterator[Labels]:
    from sklearn.cluster import HDBSCAN

    if X.size > _MOST_NUMBERS:
        raise NoData(f"not run on {len(X):,} x {X.shape[1]}: all distances take too long")
    for smallest in _SMALLEST:
        yield HDBSCAN(min_cluster_size=smallest, copy=True).fit_predict(X)


def _umap(X: Floats, K: int) -> Iterator[Labels]:
    """In five dimensions, and there with KMeans and HDBSCAN."""
    umap = _installed("umap", "umap-learn")
    reducer = umap.UMAP(n_components=5, min_dist=0.0, metric="cosine", random_state=0, n_jobs=1)
    reduced = reducer.fit_transform(X)
    yield from _kmeans(reduced, K)
    yield from _hdbscan(reduced, K)


def _installed(module: str, package: str = "") -> Any:
    from importlib import import_module

    try:
        return import_module(module)
    except ImportError as error:
        raise NoData(f"{module} must be installed: pip install {package or module}") from error


PEERS: dict[str, Peer] = {
    "GPOD": _default,
    "GPOD, Neighbors(metric='cosine')": _cosine,
    "KMeans": _kmeans,
    "MiniBatchKMeans": _minibatch,
    "EVoC, best layer": _evoc,
    "EVoC, K given, best of 2": _evoc_given_k,
    "HDBSCAN, best of 3": _hdbscan,
    "UMAP + HDBSCAN or KMeans, best of 4": _umap,
}
