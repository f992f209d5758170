"""Fit through landmarks against k-means in the same run: time, memory, agreement with the truth.

    python benchmarks/scale_fit.py [--rows 10000000] [--repeats 3] [--out FILE]

Each fit runs in a process of its own that reads the data from a file, so that its peak memory is
its own; methods alternate, and the best time of each counts. Times are of ``fit`` alone, without
imports and data. ``exact`` is GPOD with its defaults on the first 20 000 rows, for its agreement
with the truth.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

DATA = ("moons", "blobs16")
METHODS = ("landmarks", "kmeans")
EXACT_ROWS = 20_000


def make(data: str, n_rows: int) -> tuple[Any, Any, int]:
    import numpy as np
    from sklearn.datasets import make_blobs, make_moons

    if data == "moons":
        X, y = make_moons(n_rows, noise=0.06, random_state=0)
        return np.ascontiguousarray(X), y, 2
    X, y = make_blobs(n_rows, 16, centers=10, cluster_std=5.0, random_state=0)
    return np.ascontiguousarray(X), y, 10


def peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def fit_once(folder: Path, method: str, n_clusters: int) -> dict[str, Any]:
    import numpy as np
    from sklearn.cluster import KMeans
    from sklearn.metrics import adjusted_rand_score

    from eigencut import GPOD

    warnings.simplefilter("ignore")
    X, y = np.load(folder / "X.npy"), np.load(folder / "y.npy")
    if method == "exact":
        X, y = X[:EXACT_ROWS], y[:EXACT_ROWS]
    models = {
        "landmarks": GPOD(n_clusters, affinity="landmarks"),
        "kmeans": KMeans(n_clusters, n_init=1, random_state=0),
        "exact": GPOD(n_clusters),
    }
    for name in ("landmarks", "kmeans"):  # imports and first calls are not part of a fit
        models[name].fit(X[:3000])
    start, before = time.perf_counter(), time.process_time()
    labels = models[method].fit(X).labels_
    return {
        "seconds": round(time.perf_counter() - start, 2),
        "CPU seconds": round(time.process_time() - before, 2),
        "data MB": round(X.nbytes / 2**20),
        "peak MB": round(peak_megabytes()),
        "ARI": round(float(adjusted_rand_score(y, labels)), 4),
    }


def in_a_process(folder: str, method: str, n_clusters: int) -> dict[str, Any]:
    command = [sys.executable, __file__, "--one", folder, method, str(n_clusters)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return dict(json.loads(done.stdout))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--data", nargs="+", default=DATA, choices=DATA)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        folder, method, n_clusters = args.one
        print(json.dumps(fit_once(Path(folder), method, int(n_clusters))))
        return
    found = {}
    for data in args.data:
        found[data] = compare(data, args.rows, args.repeats)
        print(data, json.dumps(found[data]), flush=True)
    if args.out:
        args.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def compare(data: str, n_rows: int, repeats: int) -> dict[str, Any]:
    """Both methods on the same rows, in turn."""
    import numpy as np

    with tempfile.TemporaryDirectory() as folder:
        X, y, n_clusters = make(data, n_rows)
        np.save(Path(folder) / "X.npy", X)
        np.save(Path(folder) / "y.npy", y)
        del X, y
        runs: dict[str, list[dict[str, Any]]] = {method: [] for method in METHODS}
        for _ in range(repeats):
            for method in METHODS:
                runs[method].append(in_a_process(folder, method, n_clusters))
        exact = in_a_process(folder, "exact", n_clusters)
    best = {method: min(runs[method], key=lambda run: run["seconds"]) for method in METHODS}
    ratio = best["landmarks"]["seconds"] / best["kmeans"]["seconds"]
    return best | {"exact": exact, "rows": n_rows, "landmarks / kmeans": round(ratio, 2)}


if __name__ == "__main__":
    main()
