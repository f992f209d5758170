"""A circle within a circle."""

from __future__ import annotations

from sklearn.datasets import make_circles

from benchmarks.data import Sample


def circles(n: int, seed: int, *, factor: float, noise: float) -> Sample:
    return *make_circles(n, factor=factor, noise=noise, random_state=seed), 2
