"""Widths of what is guaranteed, against the number of rows, beside the paper's Theorems 3 and 4.

Moons with noise 0.15, fitted on n rows and measured on n others; means over draws. Figures go to
``benchmarks/results/widths.json`` and into the picture ``docs/images/widths.png``.

    OMP_NUM_THREADS=1 python -m benchmarks.widths
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import make_moons

from benchmarks import RESULTS, ROOT
from benchmarks.excess_bound import excess_bound
from benchmarks.harness.page import write_text
from eigencut import GPOD, Gaussian
from eigencut.inspection import assess

SIZES, DRAWS, SIGMA = (60, 150, 400, 1000), 5, 0.4
STORED = RESULTS / "widths.json"


def widths(n: int, seed: int) -> dict[str, float]:
    """Of one draw: two clusters, so that shares, cuts and risks lie between 0 and about 2."""
    X = make_moons(3 * n, noise=0.15, random_state=seed)[0]
    found: Any = assess(GPOD(2, affinity=Gaussian(SIGMA), n_jobs=1).fit(X[:n]), X[n : 2 * n])
    bound = excess_bound(X[:n], X[n : 2 * n], X[2 * n :], n_clusters=2, sigma=SIGMA)
    return {
        "A: leaving shares": float((found.leaving.high - found.leaving.low).sum()),
        "B: excess_bound": bound.bound,
        "Theorem 3": found.bounds_paper.continuous,
        "Theorem 4": found.bounds_paper.discrete,
    }


def draw(results: dict[str, dict[str, float]], path: Path) -> None:
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(6, 3.6))
    sizes = [int(n) for n in results]
    for name in results[str(sizes[0])]:
        ax.plot(sizes, [line[name] for line in results.values()], "o-", label=name)
    ax.axhline(2, color="#888888", lw=0.8)
    ax.set(xscale="log", yscale="log", xlabel="rows n", ylabel="width, or bound")
    ax.legend(fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
    figure.savefig(path, bbox_inches="tight", dpi=110)


if __name__ == "__main__":
    results = {}
    for n in SIZES:
        runs = [widths(n, seed) for seed in range(DRAWS)]
        results[str(n)] = {name: float(np.mean([run[name] for run in runs])) for name in runs[0]}
    print(json.dumps(results, indent=1))
    write_text(STORED, json.dumps(results, indent=1) + "\n")
    draw(results, ROOT / "docs" / "images" / "widths.png")
