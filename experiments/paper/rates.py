"""Excess risk against n, which the paper bounds and does not measure."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from eigencut._utils.arrays import Array
from eigencut.affinities import Gaussian
from eigencut.gpod import GPOD
from eigencut.theory import learning_curve
from experiments.paper.plotting import COLORS, save, subplots
from experiments.paper.published import CUT_TITLES

SIGMA = 0.4
SIZES = (100, 160, 250, 400, 640)


def moons(n: int) -> Array:
    from sklearn.datasets import make_moons

    X, _ = make_moons(n, noise=0.1, random_state=0)
    return X


def rectangle(n: int) -> Array:
    return np.random.default_rng(0).uniform(size=(n, 2)) * [3.0, 1.0]


DISTRIBUTIONS = {"moons, noise 0.1": moons, "rectangle 3 x 1": rectangle}
TASKS = [(name, cut) for name in DISTRIBUTIONS for cut in CUT_TITLES]


def compute(task: tuple[str, str, int, int]) -> dict[str, Any]:
    """The learning curve of one cut on one distribution; all rows stand for the population."""
    from threadpoolctl import threadpool_limits

    name, cut, n_rows, n_repeats = task
    model = GPOD(2, cut=cut, affinity=Gaussian(sigma=SIGMA), n_jobs=1)
    with threadpool_limits(1):
        curve = learning_curve(
            model, DISTRIBUTIONS[name](n_rows), sizes=SIZES, n_repeats=n_repeats, random_state=0
        )
    return {
        "distribution": name,
        "cut": cut,
        "sigma": SIGMA,
        "population": n_rows,
        "repeats": n_repeats,
        "sizes": list(SIZES),
        "excess": [[float(f"{e:.4g}") for e in row] for row in curve.excess],
        "slope": round(curve.slope, 3),
        "interval": [round(end, 3) for end in curve.slope_interval],
        "intercept": round(curve.intercept, 4),
        "confidence": 0.95,
    }


def table(results: Mapping[str, Any]) -> str:
    lines = [
        "| distribution | cut | slope | 95 % interval | -1/2 is | population | samples |",
        "|---|---|---|---|---|---|---|",
    ]
    for r in results["rates"]:
        low, high = r["interval"]
        side = "in it" if low <= -0.5 <= high else ("above it" if high < -0.5 else "below it")
        lines.append(
            f"| {r['distribution']} | {CUT_TITLES[r['cut']]} | {r['slope']:.2f} "
            f"| {low:.2f} to {high:.2f} | {side} | {r['population']} rows "
            f"| {len(r['sizes'])} sizes x {r['repeats']} |"
        )
    return "\n".join(lines)


def draw(results: Mapping[str, Any], folder: Path) -> None:
    figure, axes = subplots(2, 2, figsize=(10, 7))
    for axis, r in zip(axes.flat, results["rates"], strict=True):
        sizes, excess = np.array(r["sizes"], dtype=float), np.array(r["excess"])
        axis.loglog(
            np.repeat(sizes, excess.shape[1]), excess.ravel(), ".", color=COLORS[0], alpha=0.4
        )
        line = np.exp(r["intercept"] + r["slope"] * np.log(sizes))
        low, high = r["interval"]
        label = f"slope {r['slope']:.2f} ({low:.2f} to {high:.2f})"
        axis.loglog(sizes, line, "-", color=COLORS[1], label=label)
        rate = line[0] * (sizes / sizes[0]) ** -0.5
        axis.loglog(sizes, rate, "--", color="#555555", label="slope -1/2 (bounds)")
        axis.set(
            title=f"{r['distribution']}, {CUT_TITLES[r['cut']]}", xlabel="n", ylabel="excess risk"
        )
        axis.legend()
    save(figure, folder, "rates")
