"""What the metric that suits rows is worth: ARI of the default graph with it, and without.

Families are generated; nothing was tuned on them. The figures go to
``benchmarks/results/metrics.json`` and into the table of ``benchmarks/studies/metrics.md``.

    OMP_NUM_THREADS=1 python -m benchmarks.metrics            # half a minute of one core
    OMP_NUM_THREADS=1 python -m benchmarks.metrics --quick    # one seed; pages left alone
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks import RESULTS, STUDIES
from benchmarks.harness.markdown import table
from benchmarks.harness.options import parser
from benchmarks.harness.page import update_page, write_text
from eigencut import GPOD

SEEDS = 3
STORED = RESULTS / "metrics.json"
_ROWS, _CLUSTERS = 2000, 5


def directions(rng: Any, cluster: Any) -> Any:
    """Directions in 50 dimensions; lengths are lognormal."""
    centres = rng.normal(size=(_CLUSTERS, 50))
    X = centres[cluster] + 1.5 * rng.normal(size=(len(cluster), 50))
    return X * rng.lognormal(0.0, 1.0, size=(len(cluster), 1))


def heavy_tails(rng: Any, cluster: Any) -> Any:
    """Differences that are small in most of 20 columns and huge in a few."""
    centres = rng.normal(size=(_CLUSTERS, 20))
    return 3 * centres[cluster] + rng.standard_t(1.5, size=(len(cluster), 20))


def boxes(rng: Any, cluster: Any) -> Any:
    """Cubes: within a tolerance in each of 6 columns, or not."""
    centres = rng.uniform(0, 4, size=(_CLUSTERS, 6))
    return centres[cluster] + rng.uniform(-1, 1, size=(len(cluster), 6))


def codes(rng: Any, cluster: Any) -> Any:
    """15 columns of 8 codes each, of which 45 % are any code."""
    X = rng.integers(0, 8, size=(_CLUSTERS, 15))[cluster]
    anything = rng.integers(0, 8, size=X.shape)
    return np.where(rng.random(X.shape) < 0.45, anything, X).astype(float)


def sets(rng: Any, cluster: Any) -> Any:
    """Sets of 3 to 30 of 60 elements, mostly from their cluster's own 20."""
    own = np.array([rng.permutation(60)[:20] for _ in range(_CLUSTERS)])
    X = np.zeros((len(cluster), 60))
    for row, group in zip(X, cluster, strict=True):
        size = rng.integers(3, 30)
        row[rng.choice(own[group], size)] = 1
        row[rng.integers(0, 60, size // 2)] = 1
    return X


def places(rng: Any, cluster: Any) -> Any:
    """Places within 300 km of five centres: two at the date line, one at the pole."""
    latitude = np.array([-17.0, 66.0, 89.0, 48.0, 40.0])[cluster] + 1.2 * rng.normal(
        size=len(cluster)
    )
    latitude = np.where(latitude > 90, 180 - latitude, latitude)
    longitude = np.array([179.0, -180.0, 0.0, 2.0, -4.0])[cluster]
    wide = 1.2 / np.maximum(np.cos(np.radians(latitude)), 0.01)
    longitude = longitude + wide * rng.normal(size=len(cluster))
    return np.column_stack([latitude, (longitude + 180) % 360 - 180])


FAMILIES: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    "directions of any length": (directions, "cosine"),
    "heavy tails": (heavy_tails, "manhattan"),
    "boxes": (boxes, "chebyshev"),
    "codes": (codes, "hamming"),
    "sets of any size": (sets, "jaccard"),
    "places": (places, "haversine"),
}


def measured(make: Callable[[Any, Any], Any], metric: str, seed: int) -> tuple[float, float]:
    """ARI and seconds of one fit."""
    cluster = np.arange(_ROWS) % _CLUSTERS
    X = make(np.random.default_rng(seed), cluster)
    start = time.process_time()
    labels = GPOD(_CLUSTERS, metric=metric, n_jobs=1).fit(X).labels_
    spent = time.process_time() - start
    return round(float(adjusted_rand_score(cluster, labels)), 4), round(spent, 3)


def metrics_table(results: dict[str, Any]) -> str:
    """Means over seeds."""
    lines = []
    for name, line in results.items():
        ari, seconds = np.mean(line["euclidean"], axis=0)
        of_metric = np.mean(line[line["metric"]], axis=0)
        figures = [f"{ari:.2f}", f"{seconds:.1f}", line["metric"]]
        lines.append([name, *figures, f"{of_metric[0]:.2f}", f"{of_metric[1]:.1f}"])
    return table(["rows", "euclidean", "s", "metric", "ARI", "s"], lines)


def main() -> None:
    """Measure, store and put on the page."""
    options = parser(
        __doc__,
        "benchmarks.metrics",
        quick="one seed; the page is left alone",
        out=f"where the JSON goes (benchmarks/results/{STORED.name}; nowhere if --quick)",
    )
    asked = options.parse_args()
    warnings.simplefilter("ignore")
    seeds = range(1 if asked.quick else SEEDS)
    results: dict[str, Any] = {}
    for name, (make, metric) in FAMILIES.items():
        results[name] = {"metric": metric}
        for used in ("euclidean", metric):
            results[name][used] = [measured(make, used, seed) for seed in seeds]
        print(name, results[name], flush=True)
    if asked.out or not asked.quick:
        write_text(asked.out or STORED, json.dumps(results) + "\n")
    if not asked.quick and asked.out is None:
        update_page(STUDIES / "metrics.md", {"metrics": metrics_table(results)})


if __name__ == "__main__":
    main()
