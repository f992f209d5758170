"""What is clustered: embeddings of texts, kept in a folder, and mixtures that are generated."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data import Labels
from benchmarks.embeddings.minilm import Floats, embed_texts
from benchmarks.embeddings.texts import LOADERS, drawn

Sample = tuple[Floats, Labels]

DIMENSIONS = 384
_TOPIC_SPREAD, _TOPIC_COMMON = 0.7, 0.5


def embedded(name: str, seed: int, folder: Path) -> Sample:
    """Embeddings of one of the text sets, and its labels; computed once."""
    texts, labels = drawn(LOADERS[name](folder), seed)
    numbers = np.unique(labels, return_inverse=True)[1]
    content = hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]
    path = folder / f"minilm-{content}.npy"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        np.save(path, embed_texts(texts))
    return np.load(path, allow_pickle=False), numbers


def mixture(
    n_rows: int,
    n_clusters: int,
    seed: int,
    *,
    span: int = 32,
    inner: int = 16,
    separation: float = 1.0,
    noise: float = 1.0,
    unequal: float = 4.0,
) -> Sample:
    """Directions around centers, as embeddings have them.

    Centers lie in a space of ``span`` dimensions. Every cluster spreads in ``inner`` directions of
    it, unequally, and all rows a little in all ``DIMENSIONS``; clusters differ in size by up to
    ``unequal`` times. Rows are of unit length, around a common direction.

    Parameters
    ----------
    n_rows, n_clusters, seed : int
    span, inner : int
    separation : float
        Typical distance of centers, in units of the typical distance of a row from its center.
    noise : float
        Typical length of what all dimensions add, in the same unit.
    unequal : float
    """
    rng = np.random.default_rng([seed, n_clusters, span])
    shares = rng.uniform(1.0, unequal, n_clusters)
    y = rng.choice(n_clusters, size=n_rows, p=shares / shares.sum())
    centers = rng.normal(size=(n_clusters, span)) * separation / np.sqrt(2 * span)
    within = np.empty((n_rows, span))
    for k in range(n_clusters):
        mine = np.flatnonzero(y == k)
        directions = np.linalg.qr(rng.normal(size=(span, inner)))[0].T
        spread = np.sqrt(rng.dirichlet(np.ones(inner)))  # squares sum to 1
        within[mine] = centers[k] + (rng.normal(size=(len(mine), inner)) * spread) @ directions
    common = separation * rng.normal(size=DIMENSIONS)
    return _unit_rows(within, common, noise, rng), y


def clusters_of_topics(
    n_rows: int,
    n_clusters: int,
    seed: int,
    *,
    n_topics: int = 12,
    span: int = 100,
    separation: float = 0.7,
    topic_separation: float = 1.0,
    noise: float = 1.0,
) -> Sample:
    """Clusters that consist of topics, as classes of texts do, and stand hardly farther apart.

    Parameters
    ----------
    n_rows, n_clusters, seed : int
    n_topics : int
        Of each cluster, of very unequal sizes.
    span : int
        Dimensions in which clusters and topics differ; rows spread in them less and less.
    separation, topic_separation, noise : float
        Typical distances of clusters, of topics in one, and of rows from where they would be.
    """
    rng = np.random.default_rng([seed, n_clusters, 5])
    clusters = rng.normal(size=(n_clusters, 1, span)) * separation
    topics = clusters + rng.normal(size=(n_clusters, n_topics, span)) * topic_separation
    y = rng.integers(n_clusters, size=n_rows)
    shares = rng.dirichlet(np.ones(n_topics), size=n_clusters)
    topic = np.array([rng.choice(n_topics, p=shares[k]) for k in y])
    spread = 1 / np.sqrt(1 + np.arange(span))
    within = topics[y, topic] / np.sqrt(2 * span)
    within += _TOPIC_SPREAD * rng.normal(size=within.shape) * spread / np.linalg.norm(spread)
    common = _TOPIC_COMMON * rng.normal(size=DIMENSIONS)
    return _unit_rows(within, common, noise, rng), y


def _unit_rows(within: Any, common: Any, noise: float, rng: np.random.Generator) -> Floats:
    """Rows of a few dimensions turned into all, with noise, around a common direction."""
    axes = np.linalg.qr(rng.normal(size=(DIMENSIONS, within.shape[1])))[0].T
    X = within @ axes + common / np.sqrt(DIMENSIONS)
    X += rng.normal(size=X.shape) * noise / np.sqrt(DIMENSIONS)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return np.asarray(X, dtype=np.float32)
