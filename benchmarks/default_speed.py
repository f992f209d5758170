"""Time of the default beside scikit-learn's spectral clustering of neighbours, in one run.

python -m benchmarks.default_speed                                         all threads
OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python -m benchmarks.default_speed --jobs 1   one thread

Each data set is fitted by both in turns, and the best time of each counts.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import SpectralClustering
from sklearn.datasets import load_digits, make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score

from benchmarks.data import Sample
from benchmarks.harness.markdown import table
from eigencut import GPOD

_SEED = 7
_REPEATS = 5


def moons(n: int) -> Sample:
    return *make_moons(n, noise=0.08, random_state=_SEED), 2


def overlapping_blobs(n: int) -> Sample:
    return *make_blobs(n, centers=[[0, 0], [3, 0], [0, 3]], random_state=_SEED), 3


def blobs(n: int) -> Sample:
    return *make_blobs(n, 16, centers=10, cluster_std=5, random_state=_SEED), 10


def digits(_: int) -> Sample:
    return *load_digits(return_X_y=True), 10


SETS: dict[str, Callable[[int], Sample]] = {
    "moons .08": moons,
    "overlapping blobs": overlapping_blobs,
    "blobs d = 16": blobs,
}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rows", type=int, nargs="+", default=[300, 500, 2000, 5000, 10_000])
    options.add_argument("--jobs", type=int)
    options.add_argument("--out", type=Path)
    asked = options.parse_args()
    warnings.simplefilter("ignore")
    cells = [(name, draw(n)) for name, draw in SETS.items() for n in asked.rows]
    results = [
        measured(name, sample, asked.jobs) for name, sample in [*cells, ("digits", digits(0))]
    ]
    print(speed_table(results))
    if asked.out:
        asked.out.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


def measured(name: str, sample: Sample, jobs: int | None) -> dict[str, Any]:
    """Best times in milliseconds, and ARI, of both."""
    X, truth, K = sample
    ours = GPOD(K, n_jobs=jobs)
    theirs = SpectralClustering(K, affinity="nearest_neighbors", random_state=0, n_jobs=jobs)
    best = {ours: np.inf, theirs: np.inf}
    for _ in range(_REPEATS):
        for method in best:
            start = time.perf_counter()
            method.fit(X)
            best[method] = min(best[method], 1e3 * (time.perf_counter() - start))
    return {
        "set": name,
        "rows": len(X),
        "eigencut ms": round(best[ours], 1),
        "scikit-learn ms": round(best[theirs], 1),
        "eigencut ARI": round(adjusted_rand_score(truth, ours.labels_), 3),
        "scikit-learn ARI": round(adjusted_rand_score(truth, theirs.labels_), 3),
    }


def speed_table(results: list[dict[str, Any]]) -> str:
    rows = [
        [
            r["set"],
            f"{r['rows']:,}",
            f"{r['eigencut ms']:.0f}",
            f"{r['scikit-learn ms']:.0f}",
            f"{r['scikit-learn ms'] / r['eigencut ms']:.2f}",
            f"{r['eigencut ARI']:.2f}",
            f"{r['scikit-learn ARI']:.2f}",
        ]
        for r in results
    ]
    head = ["set", "n", "ms", "scikit-learn ms", "times as fast", "ARI", "scikit-learn ARI"]
    return table(head, rows)


if __name__ == "__main__":
    main()
