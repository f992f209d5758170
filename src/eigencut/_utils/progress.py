"""Telling a waiting user what is going on.

Loops that can take long say how far they are, by ``advance`` or ``approach``, and know nothing of
who listens; mostly nobody does. A ``Display`` listens while it is open, to what its own thread
runs. Threads are not heard: whoever waits for them reports (see ``parallel.for_each``).
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
from typing import Self, TypeVar

# Values that hold for everything that runs inside of a block.

Value = TypeVar("Value")


@contextmanager
def holding(variable: ContextVar[Value], value: Value) -> Iterator[None]:
    """Give a context variable a value for a while."""
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


# Changes of an object that happen as a whole, or not at all.

Kind = TypeVar("Kind")


@contextmanager
def all_or_nothing(item: Kind) -> Iterator[Kind]:
    """A copy to work on; what it has become, the object becomes too, if nothing was raised.

    So a fit that is refused or interrupted leaves the model that there was, and nobody ever sees
    half of the one and half of the other. Attributes are to be set, not changed in place.

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


# What shows how far a fit is, and whether anything does.


class Display(ABC):
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


listening: ContextVar[Display | None] = ContextVar("eigencut_display", default=None)


_EVERY = 2.0  # seconds from one line to the next
_DIGITS = 8.0  # by which residuals fall from the first step to the last, usually
_TINY = sys.float_info.min

Item = TypeVar("Item")


class Lines(Display):
    """Plain lines: one for the stage, and another one every two seconds."""

    def __enter__(self) -> Self:
        _say(f"eigencut: {self._stage} ...")
        self._last = self._start
        return super().__enter__()

    def show(self, share: float | None, text: str) -> None:
        now = time.perf_counter()
        if now - self._last >= _EVERY:
            self._last = now
            _say(f"\neigencut: {self._stage}, {text} ...")

    def __exit__(self, error: type[BaseException] | None, *details: object) -> None:
        super().__exit__(error, *details)
        _say("\n" if error else f" {self.elapsed:.2f} s\n")


def terminal_display(stage: str, leaves_time: bool = False) -> Display | None:
    """A line of the terminal that changes; None without a terminal, or without rich."""
    if sys.stderr is None or not sys.stderr.isatty():
        return None
    try:
        from eigencut._utils.terminal_line import TerminalLine
    except ImportError:
        return None
    return TerminalLine.on_this_terminal(stage, leaves_time)


_verbose: ContextVar[bool] = ContextVar("eigencut_verbose", default=False)


@contextmanager
def reporting(verbose: bool) -> Iterator[None]:
    """Show the stages that run inside on standard error, if ``verbose``.

    If not, they are heard by a display that is open around them, if any (the command line's).
    """
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
        times_too_large = max(1.0, float(residual) / max(float(tolerance), _TINY))
        share = max(0.0, 1 - math.log10(times_too_large) / _DIGITS)
        display.show(share, f"step {step}, residual {residual:.1e}, wanted {tolerance:.0e}")


def _say(text: str) -> None:
    print(text, end="", file=sys.stderr, flush=True)
