"""The same fit with many seeds, for scores that are means."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.harness.method import Clocked, Work
from benchmarks.harness.problem import Problem


def for_each_seed(problem: Problem, labels_of: Callable[[int], Any]) -> Work:
    """A line of labels for every seed; the time is that of one."""

    def work() -> Clocked:
        start = time.perf_counter()
        labels = np.stack([labels_of(seed) for seed in range(problem.seeds)])
        return Clocked((time.perf_counter() - start) / problem.seeds, labels)

    return work
