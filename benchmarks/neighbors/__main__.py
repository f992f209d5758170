"""Measure graphs of nearest neighbours against the complete graph, on small and on large data.

Every graph is used through the public API, ``GPOD(n_clusters=K, affinity=Neighbors(...))``. The
collection of ``benchmarks.bandwidth`` is split into training and new rows; digits, letters, and
moons and circles of growing size are fitted whole. Results go to
``benchmarks/results/neighbors.json`` and into the tables of ``benchmarks/studies/neighbors.md``.

    OMP_NUM_THREADS=1 python -m benchmarks.neighbors            # everything, half an hour
    OMP_NUM_THREADS=1 python -m benchmarks.neighbors --quick    # one seed; pages are left alone
"""

from __future__ import annotations

from typing import Any

from benchmarks.harness.study import Study
from benchmarks.neighbors.measure import measure_large, measure_small
from benchmarks.neighbors.rules import LARGE, SIZES
from benchmarks.neighbors.tables import make_tables


def measure(n_seeds: int, quick: bool) -> dict[str, Any]:
    n_seeds = 1 if quick else n_seeds
    small, skipped = measure_small(n_seeds)
    names = [name for name in LARGE if not quick or name in ("PenDigits", *SIZES[:1])]
    return {"seeds": n_seeds, "small": small, "large": measure_large(names), "skipped": skipped}


STUDY = Study("neighbors", "seeds", 5, measure, make_tables)

if __name__ == "__main__":
    STUDY.run(__doc__)
