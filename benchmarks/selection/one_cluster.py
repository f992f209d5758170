"""What is returned for rows that no one would cut."""

from __future__ import annotations

import numpy as np

from benchmarks.data import Array

ONE_CLUSTER = (
    "Gaussian, d = 2",
    "Gaussian, d = 10",
    "uniform square",
    "uniform strip, 8 : 1",
    "ring",
)


def one_cluster(kind: str, seed: int, n: int = 500) -> Array:
    """Rows that no one would cut."""
    rng = np.random.default_rng(seed)
    if kind == "ring":
        angle = rng.uniform(0, 2 * np.pi, n)
        ring = np.column_stack([np.cos(angle), np.sin(angle)])
        return ring + 0.05 * rng.standard_normal((n, 2))
    if kind == "uniform square":
        return rng.random((n, 2))
    if kind == "uniform strip, 8 : 1":
        return rng.random((n, 2)) * [8, 1]
    return rng.standard_normal((n, int(kind.split()[-1])))
