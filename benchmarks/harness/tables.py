"""What the page shows, made of results."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from benchmarks.harness import scaling
from benchmarks.harness.bars import bars_of_studies
from benchmarks.harness.markdown import table
from benchmarks.harness.targets import Judged, judged
from benchmarks.harness.workload import workload_names

Results = list[dict[str, Any]]

HEADLINE = "fit-blobs-10k"
HEADLINE_METHODS = ("eigencut", "sklearn_arpack", "sklearn_lobpcg")


def tables(results: Results) -> dict[str, str]:
    """Every generated part of the page, by the name of its marker."""
    flat = [result for result in results if "rows" in result]
    varied = [result for result in results if "points" in result]
    return {
        "machine": machine_text(results),
        "targets": targets_table(flat, bars_of_studies()),
        "workloads": "\n\n".join([*map(workload_text, flat), *missing_text(results)]),
        "scaling": scaling.exponent_table(varied),
    }


def headline(results: Results) -> dict[str, str]:
    """The few rows that the README shows."""
    found = [r for r in results if r["workload"]["name"] == HEADLINE]
    if not found:
        return {"speed": "Not measured yet."}
    rows = [found[0]["rows"][name] for name in HEADLINE_METHODS]
    lines = [
        [row["title"], duration(row["seconds"]), f"{row['memory_mb']:.0f} MB", f"{row['ari']:.2f}"]
        for row in rows
    ]
    return {"speed": table(["method", "time", "memory beside the data", "ARI"], lines)}


def missing_text(results: Results) -> list[str]:
    """Names of workloads without a result, such as new ones."""
    measured = {result["workload"]["name"] for result in results}
    missing = [f"`{name}`" for name in workload_names() if name not in measured]
    return [f"Not measured yet: {', '.join(missing)}."] if missing else []


def machine_text(results: Results) -> str:
    """The facts; more than one line if the workloads were measured at different times."""
    lines: dict[str, list[str]] = {}
    for result in results:
        facts = json.dumps(result["machine"], sort_keys=True)
        lines.setdefault(facts, []).append(result["workload"]["name"])
    texts = []
    for facts, names in lines.items():
        of = f" ({', '.join(names)})" if len(lines) > 1 else ""
        texts.append(facts_text(json.loads(facts)) + of)
    return "\n\n".join([*texts, load_text(results)])


def load_text(results: Results) -> str:
    loads = [result["load"] for result in results if result["load"] is not None]
    if not loads:
        return "How busy the machine was besides is not known."
    return (
        f"Load average when a workload began: {min(loads):g} to {max(loads):g}. The more of it "
        "belongs to others, the less the figures are worth."
    )


def facts_text(facts: dict[str, Any]) -> str:
    used = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
    memory = f", {facts['memory_gb']:g} GB" if facts["memory_gb"] else ""
    return (
        f"Measured on {facts['date']}: {facts['cpu']}, {facts['cores']} cores{memory}, "
        f"{facts['system']}; {used}."
    )


def targets_table(results: Results, more: Sequence[Judged] = ()) -> str:
    found = [*(target for result in results for target in judged(result)), *more]
    rows = [
        [f"`{j.workload}`", j.asked, "-" if j.value is None else number(j.value), j.verdict]
        for j in found
    ]
    met = sum(j.verdict == "met" for j in found)
    caption = f"{met} of {len(found)} targets are met."
    return f"{caption}\n\n{table(['workload', 'target', 'measured', 'verdict'], rows)}"


def workload_text(result: dict[str, Any]) -> str:
    workload = result["workload"]
    parts = [f"### `{workload['name']}`: {workload['title']}"]
    if workload["note"]:
        parts.append(workload["note"])
    return "\n\n".join([*parts, rows_table(result)])


COLUMNS = {
    "points_per_second": "points/s",
    "memory_mb": "peak extra MB",
    "process_mb": "peak MB of the process",
    "ari": "ARI",
    "nmi": "NMI",
    "nmi_deviation": "deviation of NMI",
    "differing": "labels that differ",
}


def shown_columns(result: dict[str, Any]) -> dict[str, str]:
    """Those that some method has; the memory of the process only where a target is about it."""
    known = {key for row in result["rows"].values() for key in row}
    if all(target["column"] != "process_mb" for target in result["workload"]["targets"]):
        known.discard("process_mb")
    return {key: title for key, title in COLUMNS.items() if key in known}


def rows_table(result: dict[str, Any]) -> str:
    """A row per method."""
    rows, workload = result["rows"], result["workload"]
    shown = shown_columns(result)
    reference = rows[workload["reference"]]["title"]
    header = ["method", "time", f"ratio to {reference}", *shown.values(), "runs"]
    lines = []
    for row in rows.values():
        if "missing" in row:
            lines.append([row["title"], row["missing"], *["-"] * (len(header) - 2)])
            continue
        cells = [cell(key, row.get(key)) for key in shown]
        ratio = cell("ratio", row.get("ratio"))
        lines.append([row["title"], duration(row["seconds"]), ratio, *cells, str(row["runs"])])
    return table(header, lines)


def cell(key: str, value: float | None) -> str:
    if value is None:
        return "-"
    if key in ("ari", "nmi", "nmi_deviation"):
        return f"{value:.3f}"
    if key in ("memory_mb", "process_mb"):
        return f"{value:.0f}"
    return number(value)


def number(value: float) -> str:
    """Three digits, and thousands set apart."""
    if value == 0 or 0.001 <= abs(value) < 1000:
        return f"{value:.3g}"
    return f"{float(f'{value:.3g}'):,.0f}" if abs(value) >= 1000 else f"{value:.2e}"


def duration(seconds: float) -> str:
    if seconds >= 1:
        return f"{seconds:.2f} s"
    return f"{1e3 * seconds:.3g} ms" if seconds >= 1e-3 else f"{1e6 * seconds:.3g} µs"
