"""Round Gaussians."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.datasets import make_blobs

from benchmarks.data import Array, Labels, Sample


def rows(n: int, seed: int, *, d: int, K: int, spread: float) -> Sample:
    """scikit-learn's blobs: centers uniform between -10 and 10 in each coordinate."""
    X, y = make_blobs(n, d, centers=K, cluster_std=spread, random_state=seed)
    return X, y, K


def gaussians(
    rng: np.random.Generator, centers: Array, sizes: Labels, spreads: Any = 1.0
) -> tuple[Array, Labels]:
    """So many rows around each center, with these standard deviations."""
    y = np.repeat(np.arange(len(centers)), sizes)
    spread = np.broadcast_to(spreads, len(centers))[y, np.newaxis]
    return centers[y] + spread * rng.standard_normal((len(y), centers.shape[1])), y
