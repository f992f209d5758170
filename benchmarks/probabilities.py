"""Whether probabilities are what they say: against models fitted on other rows of the same source.

A model labels held-out rows and says how probable each label is. Further models, each fitted on
other rows, label them too, their clusters numbered to agree most with the first one's. Where the
first model says 90 %, nine of ten of the others' labels should be the same. The figures go to
``benchmarks/results/probabilities.json`` and into the tables of ``studies/probabilities.md``.

    OMP_NUM_THREADS=1 python -m benchmarks.probabilities            # everything, a few minutes
    OMP_NUM_THREADS=1 python -m benchmarks.probabilities --quick    # one seed; pages are left alone

The constants of the temperature were chosen on generated sets of other seeds (below 10 000).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.datasets import make_circles, make_moons

from benchmarks.data import Array, Labels
from benchmarks.data.blobs import rows as gaussian_rows
from benchmarks.data.real import read_digits, read_paper_data
from benchmarks.harness.markdown import table
from benchmarks.harness.study import Study
from eigencut import GPOD, Gaussian

FIRST_SEED = 10_000
N_REFITS, N_TRAINING, N_HELD_OUT = 3, 1000, 2000
BINS = np.array([0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0])

Sampler = Callable[[int, int], Array]  # of the number of rows and the seed


def blobs(K: int, d: int, distance: float) -> Sampler:
    """Round clusters, whose centres are about so many standard deviations apart."""
    centers = np.random.default_rng(K * d).standard_normal((K, d)) * distance / np.sqrt(2 * d)

    def sample(n: int, seed: int) -> Array:
        rng = np.random.default_rng(seed)
        return centers[rng.integers(K, size=n)] + rng.standard_normal((n, d))

    return sample


GENERATED: dict[str, tuple[int, Sampler]] = {
    "5 blobs, d = 10, far apart": (5, blobs(5, 10, 9.0)),
    "5 blobs, d = 10, close": (5, blobs(5, 10, 5.0)),
    "4 blobs, d = 2, overlapping": (4, blobs(4, 2, 4.0)),
    "moons": (2, lambda n, seed: make_moons(n, noise=0.08, random_state=seed)[0]),
    "noisy moons": (2, lambda n, seed: make_moons(n, noise=0.2, random_state=seed)[0]),
    "circles": (2, lambda n, seed: make_circles(n, noise=0.05, factor=0.4, random_state=seed)[0]),
}
REAL = {"digits": 10, "PenDigits": 10, "banknote": 2}


def samples(name: str, seed: int) -> tuple[int, list[Array], Array]:
    """K, disjoint training sets, and held-out rows."""
    if name in GENERATED:
        K, sample = GENERATED[name]
        first = FIRST_SEED + 100 * seed
        training = [sample(N_TRAINING, first + i) for i in range(1 + N_REFITS)]
        return K, training, sample(N_HELD_OUT, first + 99)
    X = read_paper_data(name)[0] if name == "banknote" else read_digits(name)[0]
    X = X[np.random.default_rng(FIRST_SEED + seed).permutation(len(X))]
    n = min(N_TRAINING, len(X) // (2 + N_REFITS))
    *training, held_out = np.split(X, [n * (i + 1) for i in range(1 + N_REFITS)])
    return REAL[name], training, held_out[:N_HELD_OUT]


def renumbered(labels: Labels, reference: Labels, K: int) -> Labels:
    """The labels with the numbers that agree most with the reference."""
    shared = np.zeros((K, K))
    np.add.at(shared, (reference, labels), 1)
    rows, columns = linear_sum_assignment(-shared)
    number = np.empty(K, dtype=np.intp)
    number[columns] = rows
    return number[labels]


def measure_set(name: str, n_seeds: int) -> dict[str, Any]:
    """What was said of held-out rows, and how often refits agreed."""
    said, agreed = [], []
    for seed in range(n_seeds):
        K, (first, *others), held_out = samples(name, seed)
        model = GPOD(K, n_jobs=2).fit(first)
        labels, p = model.predict(held_out), model.predict_proba(held_out).max(axis=1)
        for rows in others:
            other = renumbered(GPOD(K, n_jobs=2).fit(rows).predict(held_out), labels, K)
            said.append(p)
            agreed.append(other == labels)
    p, same = np.concatenate(said), np.concatenate(agreed)
    bins = np.digitize(p, BINS[1:-1])
    counts = np.bincount(bins, minlength=len(BINS) - 1)
    sums = [np.bincount(bins, values, len(BINS) - 1) for values in (p, same)]
    return {
        "n_clusters": K,
        "n_training": len(first),
        "n_answers": len(p),
        "said": round(float(p.mean()), 4),
        "agreed": round(float(same.mean()), 4),
        "error": round(float(np.abs(sums[0] - sums[1]).sum() / len(p)), 4),
        "counts": counts.tolist(),
        "said_by_bin": np.round(sums[0] / np.maximum(counts, 1), 4).tolist(),
        "agreed_by_bin": np.round(sums[1] / np.maximum(counts, 1), 4).tolist(),
    }


def measure_speed(n_new: int) -> dict[str, Any]:
    """Seconds of ``predict`` and ``predict_proba`` in turn, the best of four each."""
    X = gaussian_rows(2000 + n_new, FIRST_SEED, d=16, K=10, spread=5.0)[0]
    model, X = GPOD(10, affinity=Gaussian(14.0)).fit(X[:2000]), X[2000:]
    found: dict[str, float] = {}
    for method in 4 * ("predict", "predict_proba"):
        start = time.perf_counter()
        getattr(model, method)(X)
        found[method] = min(time.perf_counter() - start, found.get(method, np.inf))
    ratio = found["predict_proba"] / found["predict"]
    seconds = {method: round(value, 3) for method, value in found.items()}
    return {"n_new": n_new, **seconds, "ratio": round(ratio, 3)}


def measure(n_seeds: int, quick: bool) -> dict[str, Any]:
    n_seeds = 1 if quick else n_seeds
    sets = {name: measure_set(name, n_seeds) for name in (*GENERATED, *REAL)}
    return {"sets": sets, "speed": measure_speed(100_000 if quick else 1_000_000)}


def calibration_table(results: dict[str, Any]) -> str:
    header = ["data", "K", "training rows", "mean probability", "refits agree", "calibration error"]
    return table(
        header,
        [
            [
                name,
                str(line["n_clusters"]),
                str(line["n_training"]),
                *(f"{line[column]:.3f}" for column in ("said", "agreed", "error")),
            ]
            for name, line in results["sets"].items()
        ],
    )


def reliability_table(results: dict[str, Any]) -> str:
    header = ["data", *(f"{a:g} to {b:g}" for a, b in pairwise(BINS))]

    def cell(line: dict[str, Any], b: int) -> str:
        count = line["counts"][b]
        if count < 0.002 * line["n_answers"]:
            return "–"
        share = 100 * count / line["n_answers"]
        said, agreed = line["said_by_bin"][b], line["agreed_by_bin"][b]
        return f"{said:.2f} → {agreed:.2f} ({share:.1f} %)"

    rows = [
        [name, *(cell(line, b) for b in range(len(BINS) - 1))]
        for name, line in results["sets"].items()
    ]
    return table(header, rows)


def speed_table(results: dict[str, Any]) -> str:
    speed = results["speed"]
    row = [str(speed["n_new"]), *(f"{speed[m]:.2f} s" for m in ("predict", "predict_proba"))]
    return table(
        ["new rows", "predict", "predict_proba", "ratio"], [[*row, f"{speed['ratio']:.2f}"]]
    )


TABLES = {
    "calibration": calibration_table,
    "reliability": reliability_table,
    "speed": speed_table,
}


def make_tables(results: dict[str, Any]) -> dict[str, str]:
    return {name: make(results) for name, make in TABLES.items()}


STUDY = Study("probabilities", "seeds", 5, measure, make_tables)

if __name__ == "__main__":
    STUDY.run(__doc__)
