"""Measure what chooses K and sigma without labels, and what margins of predictions are worth.

Random data sets of known K, by seed; no criterion was tuned on the seeds used here. The figures go
to ``benchmarks/results/selection.json``, into the tables of ``docs/selection.md`` and to
``docs/images/selection.png``.

    OMP_NUM_THREADS=1 python -m benchmarks.selection            # everything, some 13 minutes
    OMP_NUM_THREADS=1 python -m benchmarks.selection --quick    # ten sets; docs are left alone
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable
from typing import Any

from benchmarks import DOCS, RESULTS
from benchmarks.harness.options import parser, positive
from benchmarks.harness.page import update_page, write_text
from benchmarks.selection.figure import draw
from benchmarks.selection.grid import grid_table
from benchmarks.selection.margins import margin_table
from benchmarks.selection.measure import full_size, measure_all, quick_size
from benchmarks.selection.number import criteria_table, family_table, miss_table
from benchmarks.selection.one_cluster import one_cluster_table
from benchmarks.selection.outliers import outlier_table
from benchmarks.selection.sigma import sigma_table
from eigencut import GraphWarning

STORED = RESULTS / "selection.json"
PAGE = DOCS / "selection.md"
IMAGE = DOCS / "images" / "selection.png"
SETS = 100

TABLES: dict[str, Callable[[dict[str, Any]], str]] = {
    "criteria": criteria_table,
    "families": family_table,
    "misses": miss_table,
    "one cluster": one_cluster_table,
    "sigma": sigma_table,
    "margins": margin_table,
    "outliers": outlier_table,
    "grid": grid_table,
}


def make_tables(results: dict[str, Any]) -> dict[str, str]:
    return {name: make(results) for name, make in TABLES.items()}


def main() -> None:
    options = parser(
        __doc__,
        "benchmarks.selection",
        quick="ten sets; page and figure in docs are left alone",
        out="where the JSON goes (benchmarks/results/selection.json; nowhere if --quick)",
    )
    options.add_argument(
        "--sets", type=positive, default=SETS, metavar="N", help=f"random data sets ({SETS})"
    )
    asked = options.parse_args()
    out = asked.out or (None if asked.quick else STORED)
    warnings.simplefilter("ignore", GraphWarning)
    for category in (UserWarning, RuntimeWarning):  # of scikit-learn, on graphs in pieces
        warnings.filterwarnings("ignore", category=category, module="sklearn")
    start = time.perf_counter()
    results = measure_all(quick_size(asked.sets) if asked.quick else full_size(asked.sets))
    tables = make_tables(results)
    print(*tables.values(), sep="\n\n")
    if out:
        write_text(out, json.dumps(results, indent=1) + "\n")
    if not asked.quick:
        update_page(PAGE, tables)
        draw(IMAGE)
    print(f"{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
