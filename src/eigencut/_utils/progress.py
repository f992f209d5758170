"""Telling a waiting user what is going on.

Loops that can take long say how far they are, by ``advance`` or ``approach``, and know nothing of
who listens; mostly nobody does. A ``ProgressDisplay`` listens while it is open, to what its own
thread runs. Threads are not heard: whoever waits for them reports (see ``threads.for_each``).
"""

from __future__ import annotations

import math
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from copy import copy
from typing import Any, Self, TypeVar

from eigencut._utils.arrays import TINY

Item = TypeVar("Item")
Value = TypeVar("Value")


@contextmanager
def holding(variable: ContextVar[Value], value: Value) -> Iterator[None]:
    """Give a context variable a value for a while."""
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


@contextmanager
def all_or_nothing(item: Item) -> Iterator[Item]:
    """A copy to work on; what it has become, the object becomes too, if nothing was raised.

    Attributes are to be set, not changed in place.

    Examples
    --------
    >>> from argparse import Namespace
    >>> model = Namespace(n_rows=3)
    >>> with all_or_nothing(model) as fresh:
    ...     fresh.n_rows = 4
    >>> model
    Namespace(n_rows=4)
    """
    fresh = copy(item)
    yield fresh
    item.__dict__ = fresh.__dict__  # in one step, between two of which a signal may come


class ProgressDisplay(ABC):
    """Shows the stage that is running and how far it is."""

    def __init__(self, stage: str) -> None:
        self.begin(stage)

    def begin(self, stage: str) -> None:
        """Another stage is running now."""
        self._stage, self._start = stage, time.perf_counter()

    @property
    def elapsed(self) -> float:
        """Seconds since the stage began."""
        return time.perf_counter() - self._start

    @abstractmethod
    def show(self, share: float | None, text: str) -> None:
        """How far the stage is, in words, and as a share of the whole if that is known."""

    def __enter__(self) -> Self:
        self._token = listening.set(self)
        return self

    def __exit__(self, error: type[BaseException] | None, *details: object) -> None:
        listening.reset(self._token)


listening: ContextVar[ProgressDisplay | None] = ContextVar("eigencut_display", default=None)


class Lines(ProgressDisplay):
    """Plain lines: one for the stage, and another one every two seconds."""

    seconds = 2.0  # from one line to the next

    def __enter__(self) -> Self:
        _say(f"eigencut: {self._stage} ...")
        self._last = self._start
        return super().__enter__()

    def show(self, share: float | None, text: str) -> None:
        now = time.perf_counter()
        if now - self._last >= self.seconds:
            self._last = now
            _say(f"\neigencut: {self._stage}, {text} ...")

    def __exit__(self, error: type[BaseException] | None, *details: object) -> None:
        super().__exit__(error, *details)
        _say("\n" if error else f" {self.elapsed:.2f} s\n")


class TerminalLine(ProgressDisplay):
    """A line that vanishes when it is closed, and leaves the stage with its time if asked to."""

    def __init__(self, stage: str, console: Any, leaves_time: bool) -> None:
        from rich.live import Live
        from rich.spinner import Spinner

        super().__init__(stage)
        self._leaves_time = leaves_time
        self._spinner = Spinner("dots")
        # What others write to standard error, warnings above all, comes above the line. Standard
        # output may be a file of results, and is not touched.
        self._live = Live(
            get_renderable=self._line,
            console=console,
            refresh_per_second=8,
            transient=True,
            redirect_stdout=False,
        )

    def begin(self, stage: str) -> None:
        super().begin(stage)
        self._shown: tuple[float | None, str] = (None, "")

    def show(self, share: float | None, text: str) -> None:
        self._shown = (share, text)

    def __enter__(self) -> Self:
        self._live.start(refresh=True)
        return super().__enter__()

    def __exit__(self, error: type[BaseException] | None, *details: object) -> None:
        try:
            super().__exit__(error, *details)
        finally:
            self._live.stop()
        if self._leaves_time and not error:
            _say(f"eigencut: {self._stage} ... {self.elapsed:.2f} s\n")

    def _line(self) -> Any:
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        share, text = self._shown
        bar = ProgressBar(None if share is None else 1.0, share or 0.0, width=16)
        line = Table.grid(padding=(0, 1))
        for _ in range(5):
            line.add_column(no_wrap=True)
        seconds = Text(f"{self.elapsed:.0f} s")
        line.add_row(self._spinner, Text(self._stage), bar, seconds, Text(text))
        return line


def terminal_display(stage: str, leaves_time: bool = False) -> ProgressDisplay | None:
    """A line of standard error that changes; None where it cannot, or without rich."""
    if sys.stderr is None or not sys.stderr.isatty():
        return None
    try:
        from rich.console import Console
    except ImportError:
        return None
    console = Console(stderr=True)
    return TerminalLine(stage, console, leaves_time) if console.is_interactive else None


_verbose: ContextVar[bool] = ContextVar("eigencut_verbose", default=False)


@contextmanager
def reporting(verbose: bool) -> Iterator[None]:
    """Show the stages that run inside on standard error, or else on a display around them."""
    with holding(_verbose, verbose):
        yield


@contextmanager
def stage(name: str) -> Iterator[None]:
    """A part of a fit that users may want to know of."""
    if _verbose.get():
        with terminal_display(name, leaves_time=True) or Lines(name):
            yield
        return
    display = listening.get()
    if display is not None:
        display.begin(name)
    yield


def note(text: str) -> None:
    """A line between stages, for those who asked for them."""
    if _verbose.get():
        _say(f"eigencut: {text}\n")


@contextmanager
def without_progress() -> Iterator[None]:
    """For work whose parts do not matter to those who wait for many such works."""
    with holding(listening, None), reporting(False):
        yield


def tell(share: float | None, text: str) -> None:
    """Say how far the stage is: a share of the whole if it is known, and words."""
    display = listening.get()
    if display is not None:
        display.show(share, text)


def advance(done: int, total: int | None, things: str) -> None:
    """Say how many things of how many are done.

    Examples
    --------
    >>> advance(3, 10, "starts")  # nobody listens
    """
    display = listening.get()
    if display is not None:
        of_all = f" of {total:,}" if total else ""
        display.show(done / total if total else None, f"{done:,}{of_all} {things}")


def counted(items: Sequence[Item], things: str) -> Iterator[Item]:
    """The items one by one, saying how many are done.

    Examples
    --------
    >>> list(counted(range(3), "steps"))
    [0, 1, 2]
    """
    for done, item in enumerate(items):
        advance(done, len(items), things)
        yield item


def approach(step: int, residual: float, tolerance: float) -> None:
    """Say how far an iteration is whose residual must fall to the tolerance."""
    display = listening.get()
    if display is not None:
        times_too_large = max(1.0, float(residual) / max(float(tolerance), TINY))
        # Residuals mostly fall by eight digits from the first step to the last.
        share = max(0.0, 1 - math.log10(times_too_large) / 8.0)
        display.show(share, f"step {step}, residual {residual:.1e}, wanted {tolerance:.0e}")


def _say(text: str) -> None:
    print(text, end="", file=sys.stderr, flush=True)
