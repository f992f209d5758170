"""One workload against its methods: times, memory, scores."""

from __future__ import annotations

import sys
import warnings
from dataclasses import asdict
from typing import Any

import numpy as np
from sklearn.metrics import normalized_mutual_info_score

from benchmarks.data import Labels, ari
from benchmarks.harness.clock import Timing, take_turns
from benchmarks.harness.machine import facts, load
from benchmarks.harness.memory import peaks_mb
from benchmarks.harness.method import Method, NotInstalled, Work, load_method
from benchmarks.harness.problem import Problem
from benchmarks.harness.workload import Workload

Row = dict[str, Any]  # one method: seconds, ratio, ...; or why it is missing
Result = dict[str, Any]

_SCORED_ROWS = 10_000_000  # the first ones; scoring more would take gigabytes


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
        rows[name] |= timed(timing, points(workload, methods[name])) | scored[name]
        if workload.memory:
            rows[name] |= peaks_mb(workload, name)
        say(f"    {rows[name]['title']}: {rows[name]['seconds']:.4g} s")
    add_ratios(rows, workload.reference)
    return rows


def points(workload: Workload, method: Method) -> int:
    """Rows that one piece of work is about."""
    asked = {"predict": workload.m, "start": 0}.get(workload.task, workload.n)
    return min(asked, method.most_rows or asked)


def timed(timing: Timing, n_points: int) -> Row:
    seconds = timing.best
    row: Row = {"seconds": _digits(seconds, 4), "runs": len(timing.seconds)}
    if n_points:
        row["points_per_second"] = _digits(n_points / seconds, 4)
    return row


def scores(
    workload: Workload,
    problem: Problem,
    methods: dict[str, Method],
    timings: dict[str, Timing],
) -> dict[str, Row]:
    """ARI and NMI against the classes, and the share of rows labelled as the exact method does."""
    truth = problem.y_new if workload.task == "predict" else problem.y
    labels = {
        name: np.asarray(methods[name].labels(problem, timing.outcome))
        for name, timing in timings.items()
        if timing.outcome is not None
    }
    right = labels.get(workload.agree_with)
    found: dict[str, Row] = {name: {} for name in timings}
    for name, mine in labels.items():
        if len(truth) > 1:
            found[name] = agreement(truth, mine)
        if right is not None and methods[name].numbers_clusters_alike:
            found[name]["differing"] = int((mine != right).sum())
            found[name]["agreement"] = float((mine == right).mean())
    return found


def agreement(truth: Labels, labels: Labels) -> Row:
    """With the classes of the first rows: the mean over lines of labels, one for every seed."""
    runs = np.atleast_2d(labels)[:, :_SCORED_ROWS]
    truth = truth[: runs.shape[1]]
    aris = [ari(truth, mine) for mine in runs]
    nmis = [float(normalized_mutual_info_score(truth, mine)) for mine in runs]
    found = {"ari": round(float(np.mean(aris)), 4), "nmi": round(float(np.mean(nmis)), 4)}
    if len(runs) > 1:
        found["nmi_deviation"] = round(float(np.std(nmis)), 4)
    return found


def add_ratios(rows: dict[str, Row], reference: str) -> None:
    """The time of each method over that of the reference."""
    unit = rows.get(reference, {}).get("seconds")
    for row in rows.values():
        if unit and "seconds" in row:
            row["ratio"] = _digits(row["seconds"] / unit, 3)


def _digits(value: float, digits: int) -> float:
    return float(f"{value:.{digits}g}")
