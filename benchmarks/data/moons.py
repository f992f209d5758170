"""Two half circles that reach into each other."""

from __future__ import annotations

from sklearn.datasets import make_moons

from benchmarks.data import Sample


def moons(n: int, seed: int, *, noise: float) -> Sample:
    return *make_moons(n, noise=noise, random_state=seed), 2


def rows(n: int, seed: int, *, d: int, K: int, noise: float) -> Sample:
    """For workloads; there are two moons in the plane, whatever is asked."""
    if (d, K) != (2, 2):
        raise ValueError(f"Moons must have d = 2 and K = 2. Got d = {d}, K = {K}.")
    return moons(n, seed, noise=noise)
