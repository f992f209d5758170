"""Handwritten digits and letters, for workloads."""

from __future__ import annotations

from benchmarks.data import Sample
from benchmarks.data.real import read_digits


def rows(n: int, seed: int, *, d: int, K: int, name: str) -> Sample:
    """All rows of the set of that name, which has this shape."""
    X, y = read_digits(name)
    if X.shape != (n, d):
        raise ValueError(f"{name} must be asked for with n, d = {X.shape}. Got {n}, {d}.")
    return X, y, K
