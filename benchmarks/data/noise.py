"""Rows that belong to no cluster."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.data import Sample


def in_noise(rng: np.random.Generator, sample: Sample, m: int, margin: Any = 0.0) -> Sample:
    """The sample and m uniform rows over its bounding box, and a margin around it."""
    X, y, K = sample
    low, high = X.min(axis=0), X.max(axis=0)
    noise = rng.uniform(low - margin, high + margin, (m, X.shape[1]))
    return np.vstack([X, noise]), np.append(y, np.full(m, -1)), K
