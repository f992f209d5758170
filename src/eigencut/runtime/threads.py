"""Threads over independent pieces of work, with BLAS kept to one thread inside them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import cache
from typing import TypeVar

from threadpoolctl import ThreadpoolController

from eigencut.runtime.progress import advance

Item = TypeVar("Item")


def n_threads(n_jobs: int | None) -> int:
    """Threads to use: all cores for None, ``n_jobs`` otherwise; negative counts from the end."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    cores = cores or 1
    if n_jobs is None:
        return cores
    return n_jobs if n_jobs > 0 else max(1, cores + 1 + n_jobs)


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()  # finding the loaded libraries takes longer than limiting them


def blas_threads(limit: int) -> AbstractContextManager[object]:
    """Limit the threads of BLAS and LAPACK for a while.

    They are kept to one wherever eigencut runs its own threads, and around many small products,
    which two threads of BLAS slow down as soon as the machine has anything else to do.
    """
    context: AbstractContextManager[object] = _controller().limit(limits=limit, user_api="blas")
    return context


def for_each(
    work: Callable[[Item], None],
    items: Iterable[Item],
    n_jobs: int | None,
    things: str | None = None,
) -> None:
    """Call ``work`` on every item, in threads. The items must be independent of each other.

    A result therefore never depends on ``n_jobs``. ``things`` is what the items are called when
    users are told how many are done; nothing is told without.
    """
    items = list(items)
    threads = min(n_threads(n_jobs), len(items))
    with blas_threads(1):
        if threads <= 1:
            _wait_for(map(work, items), len(items), things)
            return
        with ThreadPoolExecutor(threads) as pool:
            _wait_for(pool.map(work, items), len(items), things)


def _wait_for(results: Iterable[None], n_results: int, things: str | None) -> None:
    """Take all results, which re-raises the first error of a worker here."""
    for done, _ in enumerate(results, 1):
        if things is not None:
            advance(done, n_results, things)
