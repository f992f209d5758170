"""What is returned for rows that no one would cut."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.data import Array
from benchmarks.harness.markdown import table
from benchmarks.selection.criteria import auto

ONE_CLUSTER = (
    "Gaussian, d = 2",
    "Gaussian, d = 10",
    "uniform square",
    "uniform strip, 8 : 1",
    "ring",
)


def one_cluster(kind: str, seed: int, n: int = 500) -> Array:
    """Rows that no one would cut."""
    rng = np.random.default_rng(seed)
    if kind == "ring":
        angle = rng.uniform(0, 2 * np.pi, n)
        ring = np.column_stack([np.cos(angle), np.sin(angle)])
        return ring + 0.05 * rng.standard_normal((n, 2))
    if kind == "uniform square":
        return rng.random((n, 2))
    if kind == "uniform strip, 8 : 1":
        return rng.random((n, 2)) * [8, 1]
    return rng.standard_normal((n, int(kind.split()[-1])))


def measure_one_cluster(n_seeds: int) -> dict[str, dict[str, Any]]:
    """How often "auto" says that nothing stands out, and what it returns."""
    lines = {}
    for kind in ONE_CLUSTER:
        found = [auto(one_cluster(kind, seed)) for seed in range(n_seeds)]
        lines[kind] = {
            "warned": sum(f.warned for f in found),
            "of": n_seeds,
            "found": sorted(f.n_clusters for f in found),
        }
    return lines


def one_cluster_table(results: dict[str, Any]) -> str:
    rows = [
        [kind, f"{line['warned']} of {line['of']}", ", ".join(map(str, line["found"]))]
        for kind, line in results["one_cluster"].items()
    ]
    return table(["one cluster of 500 rows", "warned", "K returned"], rows)
