"""A fit on a local Dask cluster. Workers read the rows from their file; the client sees none."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data import Array
from benchmarks.harness.method import Clocked, Method, Work, require
from benchmarks.harness.problem import Problem
from benchmarks.methods._stream import file_of, first_labels

_CHUNK = 1_000_000  # rows


def read_chunk(path: Path, start: int, end: int) -> Array:
    """What a worker does once per chunk, before the clock starts."""
    return np.array(np.load(path, mmap_mode="r")[start:end])


def array_of(problem: Problem) -> Any:
    """The rows as a lazy dask array."""
    dask, array = require("dask"), require("dask.array")
    n, d = problem.X.shape
    path, read = file_of(problem.X), dask.delayed(read_chunk)
    ends = [(start, min(start + _CHUNK, n)) for start in range(0, n, _CHUNK)]
    chunks = [
        array.from_delayed(read(path, start, end), (end - start, d), np.float64)
        for start, end in ends
    ]
    return array.concatenate(chunks)


def on_workers(n_workers: int) -> Method:
    """Workers are processes of one thread; they start and stop outside the time."""

    def fit(problem: Problem) -> Work:
        distributed = require("distributed")
        from eigencut.integrations.dask import fit

        def work() -> Clocked:
            options = dict(n_workers=n_workers, threads_per_worker=1, dashboard_address=None)
            with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster):
                X = array_of(problem).persist()
                distributed.wait(X)
                fit(problem.estimator(), X[:_CHUNK])  # imports on the workers
                start = time.perf_counter()
                model = fit(problem.estimator(), X)
                return Clocked(time.perf_counter() - start, model)

        return work

    title = "1 worker" if n_workers == 1 else f"{n_workers} workers"
    return Method(title, {"dask": fit}, first_labels)
