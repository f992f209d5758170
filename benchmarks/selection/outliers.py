"""How many new rows, and rows far away, ``outliers="label"`` gives -1."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.datasets import make_blobs

from benchmarks.data import Array
from benchmarks.data.moons import moons
from benchmarks.harness.markdown import table
from benchmarks.selection import JOBS
from benchmarks.selection.families import spread_centers
from eigencut import GPOD

QUANTILES = (0.01, 0.05)
FAR = 3.0  # times the largest distance of a training row from the mean
OUTLIER_DATA = ("moons", "4 blobs, d = 2", "4 blobs, d = 10")


def outlier_data(name: str, seed: int) -> tuple[Array, Array, int]:
    """1000 training rows, 1000 new ones, K."""
    rng = np.random.default_rng(seed)
    if name == "moons":
        X, _, K = moons(2000, seed, noise=0.05)
    else:
        K, d = 4, int(name.split()[-1])
        centers = spread_centers(rng, K, d, 8.0)
        X = make_blobs(2000, centers=centers, random_state=seed)[0]
    training, new = np.split(rng.permutation(X), 2)
    return training, new, K


def measure_outliers(name: str, n_seeds: int) -> dict[str, Any]:
    """Shares of new rows, and of rows far away, that ``outliers="label"`` gives -1."""
    shares: dict[str, list[float]] = {}
    for seed in range(n_seeds):
        X, new, K = outlier_data(name, seed)
        direction = np.random.default_rng([1, seed]).standard_normal((200, X.shape[1]))
        direction /= np.linalg.norm(direction, axis=1, keepdims=True)
        center = X.mean(axis=0)
        far = center + FAR * np.linalg.norm(X - center, axis=1).max() * direction
        for quantile in QUANTILES:
            model = GPOD(K, outliers="label", outlier_quantile=quantile, n_jobs=JOBS).fit(X)
            for kind, rows in (("new", new), ("far", far)):
                share = float((model.predict(rows) == -1).mean())
                shares.setdefault(f"{kind} {quantile}", []).append(share)
    return {
        key: {"mean": round(float(np.mean(values)), 4), "max": round(max(values), 4)}
        for key, values in shares.items()
    }


def outlier_table(results: dict[str, Any]) -> str:
    kinds = [f"{kind} {quantile}" for quantile in QUANTILES for kind in ("new", "far")]
    header = [
        f"{'new' if kind == 'new' else 'far'} rows, quantile {quantile}"
        for quantile in QUANTILES
        for kind in ("new", "far")
    ]
    rows = [
        [
            name,
            *(f"{100 * line[k]['mean']:.1f} % (up to {100 * line[k]['max']:.1f} %)" for k in kinds),
        ]
        for name, line in results["outliers"].items()
    ]
    return table(["data", *header], rows)
