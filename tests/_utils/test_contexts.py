"""An exception at any line of a context leaves the process as it was."""

import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from eigencut import GPOD
from eigencut._utils import running
from eigencut._utils.running import (
    TerminalLine,
    all_or_nothing,
    blas_threads,
    for_each,
    hearing_warnings,
    reporting,
    stage,
    threads,
    without_progress,
)

FOUND = 3  # threads of BLAS before anything is limited


def state():
    """What contexts change: of BLAS, of context variables, of threads."""
    blas = {one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"}
    values = (running._limit, running._verbose, running._heard, running.listening)
    held = (dict(blas_threads._asked), blas_threads._found, blas_threads._held)
    at_work = dict(running._locks)
    end = time.monotonic() + 5
    while threading.active_count() > 1 and time.monotonic() < end:
        time.sleep(0.001)  # a pool that was dropped ends its threads by itself
    return blas, [value.get() for value in values], held, at_work, threading.active_count()


LINES = Path(running.__file__).read_text(encoding="utf-8").splitlines()
OF_LOCKS = {n for n, line in enumerate(LINES, 1) if line.strip().endswith("_lock:")}


class Stop(BaseException):
    """As an interrupt: no Exception."""


@contextmanager
def stopping_at(number):
    """Raise before the line of ``running.py`` with this number, counted as lines are run.

    But where a lock is taken or given back, which is C: no interrupt comes between a block and it.
    """
    left = number

    def trace(frame, event, _):
        nonlocal left
        if frame.f_code.co_filename != running.__file__:
            return None
        if event == "line" and frame.f_lineno not in OF_LOCKS:
            if left == 0:
                left = -1
                raise Stop
            left -= 1
        return trace

    before = sys.gettrace()  # that of the measurement of coverage
    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)


class Item:
    """Anything with attributes."""

    size = 1


@contextmanager
def a_line_that_changes():
    """A stage on a terminal."""
    usual, running.terminal_display = running.terminal_display, TerminalLine
    try:
        with reporting(True), stage("graph"):
            yield
    finally:
        running.terminal_display = usual


@contextmanager
def plain_lines():
    with reporting(True), stage("graph"):
        yield


@contextmanager
def items():
    for_each(lambda item: None, range(3), "items")
    yield


CONTEXTS = {
    "threads": lambda: threads(2),
    "blas_threads": lambda: blas_threads(1),
    "reporting": lambda: reporting(True),
    "stage with lines": plain_lines,
    "stage on a terminal": a_line_that_changes,
    "without_progress": without_progress,
    "hearing_warnings": hearing_warnings,
    "all_or_nothing": lambda: all_or_nothing(Item()),
    "for_each": items,
}


@pytest.mark.parametrize("name", CONTEXTS)
@pytest.mark.parametrize("outer", ["nothing", "threads"])
def test_an_exception_at_any_line_leaves_the_process_as_it_was(name, outer):
    with CONTEXTS[name]():
        pass  # imports and finds libraries
    with threadpool_limits(FOUND, "blas"), threads(2 if outer == "threads" else None):
        assert stopped_everywhere(CONTEXTS[name]) > 3


def stopped_everywhere(context):
    before = state()
    for number in range(1000):
        was_stopped = False
        try:
            with stopping_at(number), context():
                pass
        except Stop:
            was_stopped = True
        assert state() == before, f"after line {number}"
        if not was_stopped:
            return number
    raise AssertionError("it never ends")


@pytest.mark.parametrize("n_jobs", [np.int64(2), np.uint8(1), np.int16(-1)])
def test_n_jobs_may_be_an_integer_of_numpy(n_jobs, moons):
    assert (GPOD(2, n_jobs=n_jobs).fit(moons[0]).labels_ == GPOD(2).fit(moons[0]).labels_).all()


@pytest.mark.parametrize("n_jobs", [2**64, 10**400, 1025, 0, True, 1.5, "2"])
def test_a_wrong_n_jobs_is_refused_and_spoils_nothing(n_jobs, moons):
    model = GPOD(2, n_jobs=1).fit(moons[0])
    with pytest.raises(ValueError, match="n_jobs must be a number of threads up to 1024"):
        model.set_params(n_jobs=n_jobs).predict(moons[0])
    assert blas_threads._asked == {}
    assert len(model.set_params(n_jobs=1).predict(moons[0])) == len(moons[0])


def test_a_limit_that_a_library_does_not_take_is_dropped(monkeypatch):
    class Library:
        threads = 4

        def get_num_threads(self):
            return self.threads

        def set_num_threads(self, number):
            if number == self.broken:
                raise TypeError(number)
            self.threads = number

    library = Library()
    monkeypatch.setattr(blas_threads, "_libraries", [library])
    library.broken = 2
    with pytest.raises(TypeError), blas_threads(2):
        pass
    assert library.threads == 4
    library.broken = 4
    with blas_threads(1):
        assert library.threads == 1
    library.broken = None
    with blas_threads(1):
        pass
    assert library.threads == 1  # what it had when it was asked, and not 4 once more
