"""Threads over independent pieces of work, with BLAS kept to one thread inside them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from threadpoolctl import threadpool_limits

Item = TypeVar("Item")


def n_threads(n_jobs: int | None) -> int:
    """Threads to use: all cores for None, ``n_jobs`` otherwise; negative counts from the end."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    cores = cores or 1
    if n_jobs is None:
        return cores
    return n_jobs if n_jobs > 0 else max(1, cores + 1 + n_jobs)


def for_each(work: Callable[[Item], None], items: Iterable[Item], n_jobs: int | None) -> None:
    """Call ``work`` on every item. The items must be independent: order is not promised.

    A result therefore never depends on ``n_jobs``. BLAS is limited to one thread inside the
    pool, because two levels of threads on small products slow each other down.
    """
    items = list(items)
    threads = min(n_threads(n_jobs), len(items))
    with threadpool_limits(limits=1, user_api="blas"):
        if threads <= 1:
            for item in items:
                work(item)
            return
        with ThreadPoolExecutor(threads) as pool:
            # list() re-raises the first error of a worker here.
            list(pool.map(work, items))
