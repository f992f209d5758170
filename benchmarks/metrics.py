"""What the metric that suits rows is worth: ARI of the default graph with it, and without.

    python -m benchmarks.metrics [--seeds 3]

Prints the table of docs/studies/metrics.md. Families are generated; nothing was tuned on them.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from eigencut import GPOD

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
    return adjusted_rand_score(cluster, labels), time.process_time() - start


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--seeds", type=int, default=3)
    n_seeds = parser.parse_args().seeds
    warnings.simplefilter("ignore")
    print("| rows | euclidean | s | metric | ARI | s |\n|---|---|---|---|---|---|")
    for name, (make, metric) in FAMILIES.items():
        cells = [
            np.mean([measured(make, used, seed) for seed in range(n_seeds)], axis=0)
            for used in ("euclidean", metric)
        ]
        (plain, plain_time), (ari, seconds) = cells
        print(f"| {name} | {plain:.2f} | {plain_time:.1f} | {metric} | {ari:.2f} | {seconds:.1f} |")


if __name__ == "__main__":
    main()
