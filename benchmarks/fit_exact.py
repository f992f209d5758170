"""Fit on the exact graph against scikit-learn at the same sigma: time, memory, agreement.

    python benchmarks/fit_exact.py [--rows 10000] [--repeats 4] [--out FILE]

Each fit runs in a process of its own, so that its peak memory is its own; the two methods alternate
and the best time of each counts. Times are of ``fit`` alone, without imports and data.
"""

from __future__ import annotations

import argparse
import json
import platform
import resource
import subprocess
import sys
import time
import warnings
from pathlib import Path

METHODS = ("eigencut", "scikit-learn")
SIGMA = 14.0  # half the median distance
N_FEATURES, N_CLUSTERS = 16, 10


def fit_once(method: str, n_rows: int) -> dict[str, float]:
    """Time, peak memory and ARI of one fit, in this process."""
    import numpy as np
    from sklearn.cluster import SpectralClustering
    from sklearn.datasets import make_blobs
    from sklearn.metrics import adjusted_rand_score

    from eigencut import GPOD, Gaussian

    warnings.simplefilter("ignore")
    X, y = make_blobs(n_rows, N_FEATURES, centers=N_CLUSTERS, cluster_std=5.0, random_state=0)
    if method == "eigencut":
        model = GPOD(N_CLUSTERS, affinity=Gaussian(sigma=SIGMA))
    else:
        gamma = 1 / (2 * SIGMA**2)
        model = SpectralClustering(
            N_CLUSTERS, affinity="rbf", gamma=gamma, eigen_solver="arpack", random_state=0
        )
    GPOD(2).fit(np.random.default_rng(0).normal(size=(50, 2)))  # imports are not part of a fit
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    labels = model.fit(X).labels_
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "seconds": seconds,
        "peak_mb": peak / 1024,
        "before_mb": before / 1024,
        "ari": adjusted_rand_score(y, labels),
    }


def measure(n_rows: int, repeats: int) -> dict[str, dict[str, float]]:
    """Alternate the methods in processes of their own; keep the fastest run of each."""
    best: dict[str, dict[str, float]] = {}
    for _ in range(repeats):
        for method in METHODS:
            command = [sys.executable, __file__, "--one", method, "--rows", str(n_rows)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            result = json.loads(done.stdout)
            print(f"{method:>12}: {result['seconds']:6.2f} s", file=sys.stderr, flush=True)
            if method not in best or result["seconds"] < best[method]["seconds"]:
                best[method] = result
    return best


def machine() -> dict[str, str]:
    import numpy
    import scipy
    import sklearn

    return {
        "python": platform.python_version(),
        "numpy": numpy.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "processor": platform.machine(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=4)
    parser.add_argument("--out", type=Path, help="write the figures as JSON")
    parser.add_argument("--one", choices=METHODS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(fit_once(arguments.one, arguments.rows)))
        return
    best = measure(arguments.rows, arguments.repeats)
    ours, theirs = (best[method] for method in METHODS)
    print(f"fit of {arguments.rows} x {N_FEATURES} blobs, K = {N_CLUSTERS}, sigma = {SIGMA}")
    print(f"{'':14}{'seconds':>9}{'peak MB':>9}{'ARI':>8}")
    for method in METHODS:
        row = best[method]
        print(f"{method:14}{row['seconds']:9.2f}{row['peak_mb']:9.0f}{row['ari']:8.4f}")
    ratios = {
        "time": theirs["seconds"] / ours["seconds"],
        "memory": ours["peak_mb"] / theirs["peak_mb"],
    }
    print(
        f"eigencut is {ratios['time']:.1f} times as fast, on {ratios['memory']:.2f} of the memory"
    )
    if arguments.out:
        settings = {"rows": arguments.rows, "features": N_FEATURES, "clusters": N_CLUSTERS}
        settings["sigma"] = SIGMA
        report = {"settings": settings, "machine": machine(), "best": best, "ratios": ratios}
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        arguments.out.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
