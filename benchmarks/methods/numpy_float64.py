"""The formula in numpy and float64, in blocks and threads: what the labels are compared with."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.data import Array
from benchmarks.harness.method import Method, Work
from benchmarks.harness.problem import Problem, cores
from benchmarks.methods._extension import factors, labels_of

_BLOCK_ELEMENTS = 1 << 19


def predict(problem: Problem) -> Work:
    V, center = factors(problem), problem.X.mean(axis=0)
    Y = problem.X - center
    squares = np.einsum("ij,ij->i", Y, Y)
    step = max(1, _BLOCK_ELEMENTS // len(Y))
    starts = range(0, len(problem.X_new), step)

    def product(start: int) -> Array:
        X = problem.X_new[start : start + step] - center
        W = X @ (2 * Y.T)
        W -= np.einsum("ij,ij->i", X, X)[:, np.newaxis] + squares
        W *= problem.gamma
        return np.asarray(np.exp(W, out=W) @ V)

    def work() -> Array:
        # Two threads of BLAS and two of ours would get in each other's way.
        with threadpool_limits(1, "blas"), ThreadPoolExecutor(cores()) as pool:
            return np.vstack(list(pool.map(product, starts)))

    return work


METHOD = Method("numpy, float64", {"predict": predict}, labels_of)
