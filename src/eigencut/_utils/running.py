"""What surrounds a computation: progress displays, numbers of threads, warnings and locks."""

from __future__ import annotations

import math
import os
import sys
import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from contextvars import ContextVar
from copy import copy
from functools import cached_property
from itertools import pairwise
from threading import RLock
from typing import Any, Self, TypeVar
from weakref import WeakValueDictionary

import numpy as np
from threadpoolctl import ThreadpoolController

from eigencut._utils.arrays import TINY
from eigencut.exceptions import GraphWarning

Item = TypeVar("Item")
Value = TypeVar("Value")


@contextmanager
def ending_with(end: Callable[[], object]) -> Iterator[None]:
    """Call ``end`` after the block, and then again: Ctrl-C may have interrupted the first call."""
    try:
        try:
            yield
        finally:
            end()
    finally:
        end()


@contextmanager
def holding(variable: ContextVar[Value], value: Value) -> Iterator[None]:
    """Set a context variable inside of the block, and restore its value afterwards."""
    before = variable.get()
    with ending_with(lambda: variable.set(before)):
        variable.set(value)
        yield


_lock = RLock()
_locks: WeakValueDictionary[int, Any] = WeakValueDictionary()  # locks by the id of their object


@contextmanager
def one_at_a_time(item: object) -> Iterator[None]:
    """Let only one thread at a time run blocks that are given the same object."""
    with _lock:
        its_lock = _locks.setdefault(id(item), RLock())  # deleted when the last thread leaves
    with its_lock:
        yield


@contextmanager
def all_or_nothing(item: Item) -> Iterator[Item]:
    """Give a shallow copy to set attributes on; the object takes them if nothing is raised."""
    with one_at_a_time(item):
        fresh = copy(item)
        yield fresh
        item.__dict__ = fresh.__dict__  # in one step, which Ctrl-C cannot interrupt


class ProgressDisplay(ABC):
    """A context that shows which stage of a computation is running, and its progress."""

    def __init__(self, stage: str) -> None:
        self.begin(stage)

    def begin(self, stage: str) -> None:
        """Start a new stage."""
        self._stage = stage
        self._start = self._last = time.perf_counter()

    @abstractmethod
    def show(self, share: float | None, text: str) -> None:
        """Show the progress of the stage: a share from 0 to 1 if it is known, and a text."""

    def __enter__(self) -> Self:
        self._before = listening.get()
        listening.set(self)
        return self

    def close(self) -> None:
        """Stop showing progress; may be called repeatedly."""
        if listening.get() is self:
            listening.set(self._before)

    def __exit__(self, error: type[BaseException] | None, *details: object) -> None:
        self.close()


listening: ContextVar[ProgressDisplay | None] = ContextVar("eigencut_display", default=None)


class Lines(ProgressDisplay):
    """A display for log files: a line for each stage, and another line every two seconds."""

    seconds = 2.0  # from one line to the next
    again = "\n"  # printed before each further line of the stage

    def __enter__(self) -> Self:
        _say(f"eigencut: {self._stage} ...")
        return super().__enter__()

    def show(self, share: float | None, text: str) -> None:
        now = time.perf_counter()
        if now - self._last >= self.seconds:
            self._last = now
            _say(f"{self.again}eigencut: {self._stage}, {text} ...")

    def __exit__(self, error: type[BaseException] | None, *details: object) -> None:
        super().__exit__(error, *details)
        _say("\n" if error else f" {time.perf_counter() - self._start:.2f} s\n")


class TerminalLine(Lines):
    """A display that rewrites one line of a terminal, and may leave the stage's duration there."""

    seconds = 0.1
    again = "\r\x1b[2K"  # moves the cursor to the beginning of the line, and clears it

    def __init__(self, stage: str, leaves_time: bool) -> None:
        super().__init__(stage)
        self._leaves_time = leaves_time

    def begin(self, stage: str) -> None:
        super().begin(stage)
        if listening.get() is self:
            _say(f"{self.again}eigencut: {stage} ...")

    def __exit__(self, error: type[BaseException] | None, *details: object) -> None:
        self.close()
        _say(f"{self.again}eigencut: {self._stage} ..." if self._leaves_time else self.again)
        if self._leaves_time:
            super().__exit__(error, *details)


def terminal_display(stage: str, leaves_time: bool = False) -> ProgressDisplay | None:
    """Return a display that rewrites a line of standard error; None if it is not a terminal."""
    is_terminal = sys.stderr is not None and sys.stderr.isatty()
    is_plain = os.environ.get("TERM", "dumb") == "dumb" and os.name != "nt"
    return TerminalLine(stage, leaves_time) if is_terminal and not is_plain else None


_verbose: ContextVar[bool] = ContextVar("eigencut_verbose", default=False)


def reporting(verbose: bool) -> AbstractContextManager[None]:
    """Print the stages that run inside to standard error, if ``verbose``."""
    return holding(_verbose, verbose)


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Name the part of a fit that runs inside, for the progress display."""
    if _verbose.get():
        shown = terminal_display(name, leaves_time=True) or Lines(name)
        with ending_with(shown.close), shown:
            yield
    else:
        if (display := listening.get()) is not None:
            display.begin(name)
        yield


def note(text: str) -> None:
    """Print a line between stages, if ``reporting`` was asked to."""
    if _verbose.get():
        _say(f"eigencut: {text}\n")


@contextmanager
def without_progress() -> Iterator[None]:
    """Hide the progress of work that is one of many equal steps, such as a refit."""
    with holding(listening, None), reporting(False):
        yield


def tell(share: float | None, text: str) -> None:
    """Show on the display, if any, how far the stage is: a share from 0 to 1, and a text."""
    display = listening.get()
    if display is not None:
        display.show(share, text)


def advance(done: int, total: int | None, things: str) -> None:
    """Show progress as a number of things, such as "200 of 1,000 rows"."""
    of_all = f" of {total:,}" if total else ""
    tell(done / total if total else None, f"{done:,}{of_all} {things}")


def counted(items: Sequence[Item], things: str) -> Iterator[Item]:
    """Yield the items, and show how many are done."""
    for done, item in enumerate(items):
        advance(done, len(items), things)
        yield item


def approach(step: int, residual: float, tolerance: float) -> None:
    """Show the progress of an iteration that ends when its residual falls to the tolerance."""
    times_too_large = max(1.0, float(residual) / max(float(tolerance), TINY))
    # Residuals mostly fall by eight digits from the first step to the last.
    share = max(0.0, 1 - math.log10(times_too_large) / 8.0)
    tell(share, f"step {step}, residual {residual:.1e}, wanted {tolerance:.0e}")


def _say(text: str) -> None:
    print(text, end="", file=sys.stderr, flush=True)


_limit: ContextVar[int | None] = ContextVar("eigencut_threads", default=None)


@contextmanager
def threads(n_jobs: int | None) -> Iterator[None]:
    """Limit the threads of eigencut and BLAS inside of the block, as ``n_jobs`` of scikit-learn."""
    from eigencut._utils.validation import check_n_jobs

    if n_jobs is None:
        yield
        return
    check_n_jobs(n_jobs)
    number = int(n_jobs) if n_jobs > 0 else max(1, _cores() + 1 + int(n_jobs))
    with holding(_limit, number), blas_threads(number):
        yield


def n_threads() -> int:
    """Return the number of threads that the current context allows."""
    return _limit.get() or _cores()


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _BlasThreads:
    """Limits the threads of BLAS and LAPACK; of contexts that overlap, the lowest limit holds."""

    def __init__(self) -> None:
        self._lock = RLock()  # reentrant: a generator may be finalized inside of ``_settle``
        self._asked: dict[object, int] = {}  # the limit of each context
        self._found: dict[Any, int] = {}  # threads of each library before the first limit
        self._held: int | None = None  # the present limit of all libraries

    @cached_property
    def _libraries(self) -> list[Any]:
        """The libraries with BLAS; cached, since finding them takes longer than limiting them."""
        found = ThreadpoolController().lib_controllers
        return [library for library in found if library.user_api == "blas"]

    @contextmanager
    def __call__(self, limit: int) -> Iterator[None]:
        asker = object()
        with ending_with(lambda: self._settle(asker, None)):
            self._settle(asker, limit)
            yield

    def _settle(self, asker: object, limit: int | None) -> None:
        with self._lock:
            if limit is None:
                self._asked.pop(asker, None)
            else:
                self._asked[asker] = limit
            smallest = min(self._asked.values(), default=None)
            if smallest is None:
                for library, number in self._found.items():
                    with suppress(Exception):  # a library may refuse its former number
                        self._set(library, number)
                self._found, self._held = {}, None
            elif smallest != self._held:
                self._held = None
                for library in self._libraries:
                    if library not in self._found:
                        self._found[library] = library.get_num_threads()
                    self._set(library, smallest)
                self._held = smallest

    @staticmethod
    def _set(library: Any, number: int) -> None:
        """Set the number of threads of a library, from any thread."""
        clear = getattr(library, "clear_controlling_thread", lambda force: None)
        clear(force=True)
        library.set_num_threads(number)
        clear(force=True)


blas_threads = _BlasThreads()


def row_blocks(n_rows: int, elements_per_row: int, most_elements: int) -> Iterator[slice]:
    """Yield slices of rows of at most ``most_elements`` elements each, but of at least one row."""
    step = max(1, most_elements // max(1, elements_per_row))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def blocks_of_cost(costs: Any, most: int) -> list[slice]:
    """Return slices of items whose costs add up to at most ``most``, but of at least one item."""
    total = np.cumsum(costs)
    starts = [0]
    while starts[-1] < len(total):
        before = total[starts[-1] - 1] if starts[-1] else 0
        end = int(np.searchsorted(total, before + most, side="right"))
        starts.append(max(end, starts[-1] + 1))
    return [slice(*ends) for ends in pairwise(starts)]


def for_each(
    work: Callable[[Item], None], items: Iterable[Item], things: str | None = None
) -> None:
    """Call ``work`` on independent items, in threads; ``things`` names them to show progress."""
    items, pool = list(items), None
    number = min(n_threads(), len(items))
    if number > 1:  # inside, ``n_threads()`` is 1: work starts no further threads
        pool = ThreadPoolExecutor(number, initializer=_limit.set, initargs=(1,))
    with blas_threads(1), pool or nullcontext():
        results = (map if pool is None else pool.map)(work, items)
        for done, _ in enumerate(results, 1):  # re-raises the first error of a worker
            if things is not None:
                advance(done, len(items), things)


_heard: ContextVar[list[str] | None] = ContextVar("eigencut_heard", default=None)


@contextmanager
def hearing_warnings() -> Iterator[list[str]]:
    """Give a list that collects the texts of ``warn_user``, except of silenced warnings."""
    heard: list[str] = []
    with holding(_heard, heard):
        yield heard


def _are_silenced() -> bool:
    """Return whether parts of a fit silenced warnings: the first filter for ours ignores them."""
    for action, message, category, module, _ in warnings.filters:
        if message is None and module is None and issubclass(GraphWarning, category):
            return action == "ignore"
    return False


def warn_user(message: str) -> None:
    """Warn with a ``GraphWarning`` at the line of the user's code that called the library."""
    heard = _heard.get()
    if heard is not None and message not in heard and not _are_silenced():
        heard.append(message)
    level, frame = 1, sys._getframe(0)
    while frame.f_back is not None:
        frame, level = frame.f_back, level + 1
        module = frame.f_globals.get("__name__", "")
        if module.split(".")[0] not in ("eigencut", "sklearn", "contextlib"):
            break
    warnings.warn(message, GraphWarning, stacklevel=level)
