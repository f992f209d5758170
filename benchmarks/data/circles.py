"""A circle within a circle."""

from __future__ import annotations

from sklearn.datasets import make_circles

from benchmarks.data import Sample


def circles(n: int, seed: int, *, factor: float, noise: float) -> Sample:
    return *make_circles(n, factor=factor, noise=noise, random_state=seed), 2


def rows(n: int, seed: int, *, d: int, K: int, noise: float) -> Sample:
    """For workloads; there are two circles in the plane, whatever is asked."""
    if (d, K) != (2, 2):
        raise ValueError(f"Circles must have d = 2 and K = 2. Got d = {d}, K = {K}.")
    return circles(n, seed, factor=0.5, noise=noise)
