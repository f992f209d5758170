"""Which sigma, with K given. To add a way to choose it, add a line to SIGMAS."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.cluster import SpectralClustering

from benchmarks.data import Array, Labels, Sample, ari
from benchmarks.data.moons import moons
from benchmarks.harness.markdown import table
from benchmarks.selection import JOBS
from eigencut import GPOD, Gaussian

MULTIPLES = (0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5, 1.0)
NEIGHBORS = (Gaussian("neighbors", scale=0.5), Gaussian("neighbors", scale=0.7))


def gpod_labels(X: Array, K: int, *, affinity: Any = "auto") -> Labels:
    return np.asarray(GPOD(K, affinity=affinity, n_jobs=JOBS).fit(X).labels_)


def sklearn_labels(X: Array, K: int, **options: Any) -> Labels:
    return np.asarray(SpectralClustering(K, random_state=0, **options).fit_predict(X))


def multiple_name(scale: float) -> str:
    return f"{scale:g} x median distance"


SIGMAS: dict[str, Callable[[Array, int], Labels]] = {
    '`GPOD(K)`, affinity="auto"': gpod_labels,
    'affinity="gaussian": local': partial(gpod_labels, affinity="gaussian"),
    "neighbors, scale 0.5": partial(gpod_labels, affinity=NEIGHBORS[0]),
    "neighbors, scale 0.7": partial(gpod_labels, affinity=NEIGHBORS[1]),
    **{
        multiple_name(scale): partial(gpod_labels, affinity=Gaussian("median", scale=scale))
        for scale in MULTIPLES
    },
    "scikit-learn, defaults (gamma = 1)": sklearn_labels,
    "scikit-learn, nearest neighbours": partial(sklearn_labels, affinity="nearest_neighbors"),
}


def measure_sigmas(samples: list[Sample]) -> dict[str, list[float]]:
    """The ARI of every way on every sample, K given; 0 where a fit raises an error."""
    scores: dict[str, list[float]] = {name: [] for name in SIGMAS}
    for X, y, K in samples:
        for name, labels_of in SIGMAS.items():
            try:
                score = ari(y, labels_of(X, K))
            except (ValueError, ArithmeticError) as error:
                print(f"{name}: {error}")
                score = 0.0
            scores[name].append(round(score, 4))
    return scores


def noisy_moons(n_seeds: int) -> list[Sample]:
    return [moons(600, seed, noise=0.1) for seed in range(n_seeds)]


def sigma_table(results: dict[str, Any]) -> str:
    scores = results["sigma"]
    columns = ("few", "sets", "noisy moons")
    best = {
        column: max(map(multiple_name, MULTIPLES), key=lambda name: np.mean(scores[column][name]))
        for column in columns
    }
    rows = []
    for name in SIGMAS:
        cells = []
        for column in columns:
            cell = f"{np.mean(scores[column][name]):.3f}"
            cells.append(f"**{cell}**" if name == best[column] else cell)
        rows.append([name, *cells])
    oracle = [
        np.max([scores[column][multiple_name(c)] for c in MULTIPLES], axis=0).mean()
        for column in columns
    ]
    rows.append(["best multiple of each set, by its classes", *(f"{v:.3f}" for v in oracle)])
    n = [len(scores[column][next(iter(SIGMAS))]) for column in columns]
    header = ["sigma", f"{n[0]} sets", f"{n[1]} sets", f"{n[2]} noisy moons"]
    caption = "Mean ARI with the true K. Bold: the best multiple in hindsight."
    return f"{caption}\n\n{table(header, rows)}"
