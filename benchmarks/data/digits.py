"""Handwritten digits and letters, for workloads."""

from __future__ import annotations

from benchmarks.data import Sample
from benchmarks.data.real import read_digits


def rows(n: int, seed: int, *, d: int, K: int, name: str) -> Sample:
    """The first n rows of the set of that name."""
    X, y = read_digits(name)
    if n > len(X) or d != X.shape[1]:
        raise ValueError(f"{name} must be asked for at most {X.shape} rows and d. Got {n}, {d}.")
    return X[:n], y[:n], K
