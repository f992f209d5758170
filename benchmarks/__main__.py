"""Measure speed, memory and labels against named peers, in one run."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks import RESULTS, ROOT, STUDIES
from benchmarks.data import NoData
from benchmarks.harness import scale, scaling
from benchmarks.harness.method import load_method, method_names
from benchmarks.harness.options import parser, positive
from benchmarks.harness.page import update_page, write_text
from benchmarks.harness.run import measure, say
from benchmarks.harness.tables import headline, rows_table, tables, targets_table
from benchmarks.harness.workload import load_workload, workload_names

SPEED = RESULTS / "speed"
PAGE = STUDIES / "speed.md"
README = ROOT / "README.md"
SCALE = STUDIES / "scale.md"
IMAGES = STUDIES / "images"


def stored(folder: Path) -> list[dict[str, Any]]:
    """All results in a folder, in the order of their names."""
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]


def publish() -> None:
    """The pages, the README's table and the plots, from the stored results."""
    results = stored(SPEED)
    update_page(PAGE, tables(results))
    update_page(SCALE, scale.tables(results))
    update_page(README, headline(results))
    varied = [result for result in results if "points" in result]
    if varied:
        scaling.draw(varied, IMAGES)


def show(result: dict[str, Any]) -> None:
    """The result of one workload on the terminal."""
    if "points" in result:
        print(f"{result['workload']['name']}\n\n{scaling.exponent_table([result])}\n")
        return
    print(f"{result['workload']['name']}\n\n{rows_table(result)}\n", flush=True)
    if result["workload"]["targets"] and not result["workload"]["is_quick"]:
        print(targets_table([result]) + "\n", flush=True)


def list_names() -> None:
    print("workloads (benchmarks/workloads):")
    for name in workload_names():
        print(f"  {name:20} {load_workload(name).title}")
    print("methods (benchmarks/methods):")
    for name in method_names():
        print(f"  {name:20} {load_method(name).title}")
    print("studies, commands of their own:")
    print("  python -m benchmarks.bandwidth")


def main(arguments: list[str] | None = None) -> int:
    options = parser(
        __doc__,
        "benchmarks",
        quick="small sizes, some three minutes; results and page are left alone",
        out="folder for the JSON (benchmarks/results/speed, and the page; nowhere if --quick)",
    )
    options.add_argument("--only", action="append", metavar="NAME", help="a workload; repeatable")
    options.add_argument("--repeats", type=positive, metavar="N", help="rounds, at most")
    options.add_argument("--list", action="store_true", help="names of workloads and methods")
    options.add_argument("--page", action="store_true", help="measure nothing; make the page anew")
    asked = options.parse_args(arguments)
    if asked.list:
        list_names()
        return 0
    if asked.page:
        publish()
        return 0
    try:
        workloads = [load_workload(n, asked.quick) for n in asked.only or workload_names()]
    except ValueError as error:
        options.error(str(error))
    if asked.repeats:
        workloads = [w.at(repeats=min(w.repeats, asked.repeats)) for w in workloads]
    start, folder = time.perf_counter(), asked.out or (None if asked.quick else SPEED)
    for workload in workloads:
        try:
            result = measure(workload)
        except NoData as missing:
            say(f"  left out: {missing}")
            continue
        show(result)
        if folder:
            write_text(folder / f"{workload.name}.json", json.dumps(result, indent=1) + "\n")
    if folder == SPEED:
        publish()
    print(f"{len(workloads)} workloads in {time.perf_counter() - start:.0f} s", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
