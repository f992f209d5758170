"""What is clustered: embeddings of texts, kept in a folder, and mixtures that are generated."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np

from benchmarks.data import Labels
from benchmarks.embeddings.minilm import Floats, embed_texts
from benchmarks.embeddings.texts import LOADERS, drawn

Sample = tuple[Floats, Labels]

DIMENSIONS = 384


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
    separation: float = 5.0,
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
    axes = np.linalg.qr(rng.normal(size=(DIMENSIONS, span)))[0].T
    common = rng.normal(size=DIMENSIONS) * separation / np.sqrt(DIMENSIONS)
    X = within @ axes + common
    X += rng.normal(size=X.shape) * noise / np.sqrt(DIMENSIONS)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return X.astype(np.float32), y
