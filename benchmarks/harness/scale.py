"""What benchmarks/studies/scale.md shows of the workloads of landmarks."""

from __future__ import annotations

from typing import Any

from benchmarks.harness.markdown import table
from benchmarks.harness.tables import (
    Results,
    cell,
    duration,
    machine_text,
    number,
    rows_table,
    targets_table,
)

_FITS = ("landmarks-moons-10m", "landmarks-blobs-10m")
_STREAM = "landmarks-stream-100m"
_DASK = "landmarks-dask-20m"
_U_SPEC = {  # NMI, from the paper of Huang et al. (2020)
    "landmarks-quality-pendigits": 0.803,
    "landmarks-quality-usps": 0.635,
    "landmarks-quality-letters": 0.425,
    "landmarks-quality-mnist": 0.674,
}


def tables(results: Results) -> dict[str, str]:
    """Every generated part of the page, by the name of its marker."""
    found = {result["workload"]["name"]: result for result in results}
    mine = [found[name] for name in (*_FITS, _STREAM, _DASK, *_U_SPEC) if name in found]
    nothing = "Not measured yet."
    return {
        "machine": machine_text(mine) if mine else nothing,
        "targets": targets_table(mine) if mine else nothing,
        "quality": quality_table(found),
        "fit": "\n\n".join(titled_rows(found, name) for name in _FITS),
        "stream": titled_rows(found, _STREAM),
        "dask": f"{titled_rows(found, _DASK)}{speed_up(found)}",
    }


def titled_rows(found: dict[str, Any], name: str) -> str:
    if name not in found:
        return not_measured(name)
    return f"`{name}`, {found[name]['workload']['title']}:\n\n{rows_table(found[name])}"


def speed_up(found: dict[str, Any]) -> str:
    """How many times as fast two workers are as one."""
    rows = found[_DASK]["rows"] if _DASK in found else {}
    if not rows or any("seconds" not in row for row in rows.values()):
        return ""
    one, two = (rows[name]["seconds"] for name in ("dask_1_worker", "dask_2_workers"))
    return f"\n\nTwo workers are {number(one / two)} times as fast as one."


def quality_table(found: dict[str, Any]) -> str:
    """NMI of landmarks, of KMeans, and as published for U-SPEC, a line per data set."""
    lines = []
    for name, published in _U_SPEC.items():
        if name in found:
            workload, rows = found[name]["workload"], found[name]["rows"]
            landmarks, kmeans = rows["landmarks"], rows["kmeans"]
            size = f"{workload['n']}, {workload['d']}, {workload['K']}"
            scores = [mean_and_deviation(row) for row in (landmarks, kmeans)]
            seconds = duration(landmarks["seconds"])
            lines.append([f"`{name}`", size, *scores, cell("nmi", published), seconds])
    header = ["workload", "rows, features, K", "eigencut", "KMeans", "U-SPEC, published", "one fit"]
    missing = [name for name in _U_SPEC if name not in found]
    parts = [table(header, lines)] if lines else []
    return "\n\n".join([*parts, *([not_measured(*missing)] if missing else [])])


def mean_and_deviation(row: dict[str, Any]) -> str:
    return f"{cell('nmi', row['nmi'])} ± {cell('nmi', row['nmi_deviation'])}"


def not_measured(*names: str) -> str:
    return f"Not measured yet: {', '.join(f'`{name}`' for name in names)}."
