"""One workload against its methods: times, memory, scores."""

from __future__ import annotations

import sys
import warnings
from dataclasses import asdict
from typing import Any

import numpy as np
from sklearn.metrics import normalized_mutual_info_score

from benchmarks.data import ari
from benchmarks.harness.clock import Timing, take_turns
from benchmarks.harness.machine import facts, load
from benchmarks.harness.memory import peak_mb
from benchmarks.harness.method import Clocked, Method, NotInstalled, Work, load_method
from benchmarks.harness.problem import Problem
from benchmarks.harness.workload import Workload

Row = dict[str, Any]  # one method: seconds, ratio, ...; or why it is missing
Result = dict[str, Any]


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def measure(workload: Workload) -> Result:
    """Everything about one workload, as plain data."""
    say(f"{workload.name}: {workload.title}")
    result: Result = {"workload": asdict(workload), "machine": facts(), "load": load()}
    if not workload.vary:
        return {**result, "rows": measure_rows(workload)}
    points = []
    for value in workload.values:
        say(f"  {workload.vary} = {value}")
        rows = measure_rows(workload.at(**{workload.vary: value}))
        points.append({"value": value, "rows": rows})
    return {**result, "points": points}


def measure_rows(workload: Workload) -> dict[str, Row]:
    """A row for every method, in the workload's order."""
    problem = Problem.of(workload)
    methods = {name: load_method(name) for name in workload.methods}
    works: dict[str, Work] = {}
    rows: dict[str, Row] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, method in methods.items():
            try:
                works[name] = method.prepare(workload.task, problem)
                rows[name] = {"title": method.title}
            except NotInstalled as missing:
                rows[name] = {"title": method.title, "missing": f"{missing} is not installed"}
        timings = take_turns(works, workload.repeats, workload.budget)
    for name in [name for name, timing in timings.items() if timing.failure]:
        rows[name]["missing"] = timings.pop(name).failure
    scored = scores(workload, problem, methods, timings)
    for name, timing in timings.items():
        rows[name] |= timed(workload, timing) | scored[name]
        if workload.memory:
            peak = peak_mb(workload, name)
            rows[name]["memory_mb"] = None if peak is None else round(peak, 1)
        say(f"    {rows[name]['title']}: {rows[name]['seconds']:.4g} s")
    add_ratios(rows, workload.reference)
    return rows


def timed(workload: Workload, timing: Timing) -> Row:
    seconds = timing.best
    points = {"fit": workload.n, "predict": workload.m}.get(workload.task, 0)
    row: Row = {"seconds": _digits(seconds, 4), "runs": len(timing.seconds)}
    if points:
        row["points_per_second"] = _digits(points / seconds, 4)
    return row


def scores(
    workload: Workload,
    problem: Problem,
    methods: dict[str, Method],
    timings: dict[str, Timing],
) -> dict[str, Row]:
    """ARI and NMI against the classes, and the share of rows labelled as the exact method does."""
    truth = {"fit": problem.y, "predict": problem.y_new}.get(workload.task)
    labels = {
        name: np.asarray(methods[name].labels(problem, timing.result))
        for name, timing in timings.items()
        if not isinstance(timing.result, Clocked)
    }
    right = labels.get(workload.agree_with)
    found: dict[str, Row] = {name: {} for name in timings}
    for name, mine in labels.items():
        if truth is not None and len(truth) > 1:
            nmi = float(normalized_mutual_info_score(truth, mine))
            found[name] = {"ari": round(ari(truth, mine), 4), "nmi": round(nmi, 4)}
        if right is not None and methods[name].numbers_clusters_alike:
            found[name]["differing"] = int((mine != right).sum())
            found[name]["agreement"] = float((mine == right).mean())
    return found


def add_ratios(rows: dict[str, Row], reference: str) -> None:
    """The time of each method over that of the reference."""
    unit = rows.get(reference, {}).get("seconds")
    for row in rows.values():
        if unit and "seconds" in row:
            row["ratio"] = _digits(row["seconds"] / unit, 3)


def _digits(value: float, digits: int) -> float:
    return float(f"{value:.{digits}g}")
