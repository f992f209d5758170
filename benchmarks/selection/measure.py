"""Everything the study measures, in one piece of plain data."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.harness.machine import versions
from benchmarks.selection.families import FIRST_SEED, make_set
from benchmarks.selection.grid import GRID_DATA, measure_grid
from benchmarks.selection.margins import CLASSIFIED, MOST_TRAINING_ROWS, measure_margins
from benchmarks.selection.number import measure_criteria
from benchmarks.selection.one_cluster import measure_one_cluster
from benchmarks.selection.outliers import OUTLIER_DATA, measure_outliers
from benchmarks.selection.sigma import measure_sigmas, noisy_moons


@dataclass(frozen=True)
class Size:
    """How much is measured."""

    sets: int
    slow_sets: int
    seeds: int
    training_rows: int


def full_size(n_sets: int) -> Size:
    """The first twenty sets are the smaller table, and the only ones for slow criteria."""
    return Size(n_sets, min(20, n_sets), seeds=10, training_rows=MOST_TRAINING_ROWS)


def quick_size(n_sets: int) -> Size:
    n_sets = min(10, n_sets)
    return Size(n_sets, min(2, n_sets), seeds=2, training_rows=500)


def measure_all(size: Size) -> dict[str, Any]:
    start = time.perf_counter()

    def done(part: str) -> None:
        print(f"{part}: {time.perf_counter() - start:.0f} s since the start", flush=True)

    runs = list(measure_criteria(size.sets, size.slow_sets))
    done("number of clusters")
    single = measure_one_cluster(max(1, size.seeds // 2))
    done("one cluster")
    sets = measure_sigmas([make_set(FIRST_SEED + i) for i in range(size.sets)])
    few = {name: scores[: size.slow_sets] for name, scores in sets.items()}
    moon_scores = measure_sigmas(noisy_moons(size.seeds))
    done("sigma")
    margins, skipped = {}, []
    for name in CLASSIFIED:
        try:
            margins[name] = measure_margins(name, size.training_rows)
        except FileNotFoundError:
            skipped.append(name)
            print(f"{name}: skipped, its file is not there")
    done("margins")
    outliers = {name: measure_outliers(name, size.seeds) for name in OUTLIER_DATA}
    done("outliers")
    grid = {name: measure_grid(name) for name in GRID_DATA}
    done("grid search")
    return {
        "versions": versions(),
        "first_seed": FIRST_SEED,
        "n_sets": size.sets,
        "n_slow": size.slow_sets,
        "runs": [asdict(run) for run in runs],
        "one_cluster": single,
        "sigma": {"few": few, "sets": sets, "noisy moons": moon_scores},
        "margins": margins,
        "skipped": skipped,
        "outliers": outliers,
        "grid": grid,
    }
