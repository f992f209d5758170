"""Measure what chooses K and sigma without labels, and what margins of predictions are worth.

Random data sets of known K, by seed; no criterion was tuned on the seeds used here. The figures go
to ``benchmarks/results/selection.json``, into the tables of ``benchmarks/studies/selection.md`` and
to ``benchmarks/studies/images/selection.png``.

    OMP_NUM_THREADS=1 python -m benchmarks.selection            # everything, some 13 minutes
    OMP_NUM_THREADS=1 python -m benchmarks.selection --quick    # ten sets; pages are left alone
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from benchmarks.harness.study import Study
from benchmarks.selection.figure import draw
from benchmarks.selection.grid import grid_table
from benchmarks.selection.margins import margin_table
from benchmarks.selection.measure import full_size, measure_all, quick_size
from benchmarks.selection.number import criteria_table, family_table, miss_table
from benchmarks.selection.one_cluster import one_cluster_table
from benchmarks.selection.outliers import outlier_table
from benchmarks.selection.sigma import sigma_table

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


def measure(n_sets: int, quick: bool) -> dict[str, Any]:
    for category in (UserWarning, RuntimeWarning):  # of scikit-learn, on graphs in pieces
        warnings.filterwarnings("ignore", category=category, module="sklearn")
    return measure_all(quick_size(n_sets) if quick else full_size(n_sets))


STUDY = Study("selection", "sets", 100, measure, make_tables, draw)

if __name__ == "__main__":
    STUDY.run(__doc__)
