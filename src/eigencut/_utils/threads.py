"""Threads over independent pieces of work, with BLAS kept to one thread inside them.

How many there are is a context, not a parameter: ``with threads(n_jobs):`` holds for everything
that runs inside of it, and functions below the estimator know nothing of it.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

from eigencut._utils.progress import advance, holding

Item = TypeVar("Item")

_limit: ContextVar[int | None] = ContextVar("eigencut_threads", default=None)


@contextmanager
def threads(n_jobs: int | None) -> Iterator[None]:
    """Use so many threads inside: eigencut's own and BLAS's.

    Negative numbers count from all cores: -1 is all of them. None leaves things as they are: what
    an outer context says, or else all cores.

    Examples
    --------
    >>> with threads(3):
    ...     n_threads()
    3
    """
    if n_jobs is None:
        yield
        return
    number = n_jobs if n_jobs > 0 else max(1, _cores() + 1 + n_jobs)
    with holding(_limit, number), blas_threads(number):
        yield


def n_threads() -> int:
    """How many threads may be used here."""
    return _limit.get() or _cores()


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _BlasLimit:
    """The number of threads of BLAS, which the whole process has in common.

    The smallest limit asked for holds, and the last asker gives back what the first one found: were
    each to give back what it found, one thread would give back the limit of another, for good.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._asked: Counter[int] = Counter()
        self._found: Any = None  # what threadpoolctl can restore
        self._controller: ThreadpoolController | None = None

    @contextmanager
    def __call__(self, limit: int) -> Iterator[None]:
        self._count(limit, 1)
        try:
            yield
        finally:
            self._count(limit, -1)

    def _count(self, limit: int, change: int) -> None:
        with self._lock:
            before = min(self._asked, default=None)
            self._asked[limit] += change
            self._asked += Counter()  # drops what nobody asks for any more
            smallest = min(self._asked, default=None)
            if smallest is None:
                self._found.restore_original_limits()
            elif smallest != before:
                held = self._limited(smallest)
                if before is None:
                    self._found = held

    def _limited(self, limit: int) -> Any:
        if self._controller is None:  # finding the loaded libraries takes longer than limiting them
            self._controller = ThreadpoolController()
        return self._controller.limit(limits=limit, user_api="blas")


_blas_limit = _BlasLimit()


def blas_threads(limit: int) -> AbstractContextManager[None]:
    """Limit the threads of BLAS and LAPACK for a while; the smallest limit asked for holds.

    They are kept to one wherever eigencut runs its own threads, and around many small products,
    which two threads of BLAS slow down as soon as the machine has anything else to do.
    """
    return _blas_limit(limit)


def for_each(
    work: Callable[[Item], None], items: Iterable[Item], things: str | None = None
) -> None:
    """Call ``work`` on every item, in threads. The items must be independent of each other.

    A result therefore never depends on how many threads there are. ``things`` is what the items are
    called when users are told how many are done; nothing is told without.
    """
    items = list(items)
    number = min(n_threads(), len(items))
    with blas_threads(1):
        if number <= 1:
            _wait_for(map(work, items), len(items), things)
            return
        # Work that has threads of its own to start does without: all are taken.
        with ThreadPoolExecutor(number, initializer=_limit.set, initargs=(1,)) as pool:
            _wait_for(pool.map(work, items), len(items), things)


def _wait_for(results: Iterable[None], n_results: int, things: str | None) -> None:
    """Take all results, which re-raises the first error of a worker here."""
    for done, _ in enumerate(results, 1):
        if things is not None:
            advance(done, n_results, things)
