"""Rows that belong to no cluster."""

from __future__ import annotations

import numpy as np

from benchmarks.data import Sample


def in_noise(rng: np.random.Generator, sample: Sample, m: int, beyond: float = 0.0) -> Sample:
    """The sample and m uniform rows over its bounding box, and a share of its sides beyond."""
    X, y, K = sample
    low, high = X.min(axis=0), X.max(axis=0)
    margin = (high - low) * beyond
    noise = rng.uniform(low - margin, high + margin, (m, X.shape[1]))
    return np.vstack([X, noise]), np.append(y, np.full(m, -1)), K
