"""Targets: what a workload must show, and whether it did."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from benchmarks.harness.workload import Target, from_dict

_WORDS = {
    "seconds": "time",
    "points_per_second": "speed",
    "memory_mb": "peak extra memory (MB)",
    "process_mb": "peak memory of the process (MB)",
    "ari": "ARI",
    "nmi": "NMI",
    "differing": "rows labelled otherwise",
}


@dataclass(frozen=True)
class Judged:
    """A target and what was measured; ``value`` is None where something was missing."""

    workload: str
    target: Target
    asked: str
    value: float | None

    @property
    def verdict(self) -> str:
        if self.value is None:
            return "not measured"
        return "met" if holds(self.target, self.value) else "**not met**"


def holds(target: Target, value: float) -> bool:
    return (
        (target.at_most is None or value <= target.at_most)
        and (target.at_least is None or value >= target.at_least)
        and (target.below is None or value < target.below)
    )


def judged(result: dict[str, Any]) -> Iterator[Judged]:
    """The targets of one workload with what came out. At quick sizes there are none."""
    workload = from_dict(result["workload"])
    if workload.is_quick:
        return
    rows = result["rows"] if workload.targets else {}
    for target in workload.targets:
        asked = in_words(target, rows)
        yield Judged(workload.name, target, asked, value_of(target, rows))


def value_of(target: Target, rows: dict[str, Any]) -> float | None:
    value = rows[target.method].get(target.column)
    other = rows[target.times or target.minus or target.method].get(target.column)
    if value is None or other is None:
        return None
    if target.minus:
        return float(value) - float(other)
    if target.times:
        return float(value) / float(other) if other else None
    return float(value)


def in_words(target: Target, rows: dict[str, Any]) -> str:
    """Such as "time at most 1.7 times C limit, float32"."""
    bounds = {"at most": target.at_most, "at least": target.at_least, "below": target.below}
    bound = " and ".join(f"{word} {value:g}" for word, value in bounds.items() if value is not None)
    subject = rows[target.method]["title"]
    unit = " s" if target.column == "seconds" else ""
    of = f" times {rows[target.times]['title']}" if target.times else unit
    minus = f" minus that of {rows[target.minus]['title']}" if target.minus else ""
    return f"{subject}: {_WORDS[target.column]}{minus} {bound}{of}"
