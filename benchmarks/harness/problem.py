"""A problem: the rows, the number of clusters and the bandwidth that all methods get."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.data import Array, Labels

if TYPE_CHECKING:
    from benchmarks.harness.workload import Workload
    from eigencut import GPOD, Gaussian

_MEDIAN_ROWS = 1000


@dataclass(frozen=True)
class Problem:
    """Training rows, new rows, and their true classes."""

    X: Array
    y: Labels
    X_new: Array
    y_new: Labels
    n_clusters: int
    sigma: float | str  # a number, or a rule of eigencut's that no peer has
    named_affinity: str = ""
    seeds: int = 1

    @classmethod
    def of(cls, workload: Workload) -> Problem:
        rows = import_module(f"benchmarks.data.{workload.data}").rows
        n, m = workload.n, workload.m
        X, y, _ = rows(n + m, workload.seed, d=workload.d, K=workload.K, **workload.options)
        sigma = workload.sigma
        if sigma == "median":
            from scipy.spatial.distance import pdist

            sigma = workload.scale * float(np.median(pdist(X[: min(n, _MEDIAN_ROWS)])))
        parts = X[:n], y[:n], X[n:], y[n:]
        return cls(*parts, workload.K, sigma, workload.affinity, workload.seeds)

    def first(self, n: int | None) -> Problem:
        """With the first n training rows only."""
        return self if n is None else replace(self, X=self.X[:n], y=self.y[:n])

    @property
    def gamma(self) -> float:
        """scikit-learn's word for the bandwidth."""
        return 1 / (2 * float(self.sigma) ** 2)

    @property
    def affinity(self) -> Gaussian | str:
        from eigencut import Gaussian

        return self.named_affinity or Gaussian(sigma=self.sigma)

    def estimator(self) -> GPOD:
        from eigencut import GPOD

        return GPOD(self.n_clusters, affinity=self.affinity)

    @cached_property
    def model(self) -> GPOD:
        """eigencut, fitted: what every way to label new rows starts from."""
        return self.estimator().fit(self.X)


def cores() -> int:
    """Threads for methods that take a number of them."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
