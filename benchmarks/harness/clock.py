"""Times: methods take turns, and the best of several counts."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from benchmarks.harness.method import Clocked, Work

_SHORT = 0.05  # seconds; shorter work is repeated until a measurement takes this long
_MOST_CALLS = 1000


@dataclass
class Timing:
    """The times of one method, and its last result."""

    seconds: list[float] = field(default_factory=list)
    spent: float = 0.0
    result: Any = None
    failure: str = ""

    @property
    def best(self) -> float:
        return min(self.seconds)

    @property
    def outcome(self) -> Any:
        """The last result, without the time it may have brought."""
        return self.result.result if isinstance(self.result, Clocked) else self.result


def time_once(work: Work, timing: Timing) -> None:
    """One measurement: the mean of as many calls as make it long enough to trust."""
    first = _call(work, timing)
    calls = min(_MOST_CALLS, int(_SHORT / max(first, 1e-9)))
    if calls > 1 and not isinstance(timing.result, Clocked):
        start = time.perf_counter()
        for _ in range(calls):
            work()
        total = time.perf_counter() - start
        timing.spent += total
        first = total / calls
    timing.seconds.append(first)


def _call(work: Work, timing: Timing) -> float:
    start = time.perf_counter()
    timing.result = work()
    seconds = time.perf_counter() - start
    timing.spent += seconds
    return timing.result.seconds if isinstance(timing.result, Clocked) else seconds


def take_turns(works: Mapping[str, Work], repeats: int, budget: float) -> dict[str, Timing]:
    """Times of every work. One that fails, or has used up its seconds, is not repeated."""
    timings = {name: Timing() for name in works}
    for _ in range(repeats):
        for name, work in works.items():
            timing = timings[name]
            if timing.failure or (timing.seconds and timing.spent >= budget):
                continue
            try:
                time_once(work, timing)
            except Exception as error:  # a peer's failure is a result, not the end of the run
                timing.failure = f"failed: {type(error).__name__}: {error}"
    return timings
