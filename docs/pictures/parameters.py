"""The pictures of docs/parameters.md: one parameter changes in each."""

from __future__ import annotations

import warnings
from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
from _style import bare, colors, save
from sklearn.datasets import make_moons

from eigencut import GPOD, Neighbors


def panels(name: str, X: np.ndarray, models: Mapping[str, GPOD]) -> None:
    """One panel for each model, with its title."""
    figure, axes = plt.subplots(1, len(models), figsize=(9.5, 3.2), layout="constrained")
    for ax, (title, model) in zip(axes, models.items(), strict=True):
        bare(ax, title).scatter(*X.T, s=9, c=colors(model.fit(X).labels_))
    save(figure, name)


def near_rows() -> np.ndarray:
    return make_moons(400, noise=0.1, random_state=2)[0]


def noisy_moons() -> np.ndarray:
    return make_moons(500, noise=0.13, random_state=0)[0]


def directions() -> np.ndarray:
    """Three directions, of rows of any length."""
    rng = np.random.default_rng(1)
    angle = np.repeat([0.25, 0.8, 1.35], 120) + 0.12 * rng.normal(size=360)
    return rng.uniform(0.1, 3, 360)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    counts = {f"n_neighbors={k}": GPOD(2, affinity=Neighbors(k)) for k in (5, 15, 100)}
    panels("parameter-neighbors", near_rows(), counts)
    contrasts = {
        f"density_contrast={c:g}": GPOD(2, affinity=Neighbors(15, density_contrast=c))
        for c in (0.0, 0.5, 1.0)
    }
    panels("parameter-contrast", noisy_moons(), contrasts)
    metrics = {f'metric="{m}"': GPOD(3, metric=m) for m in ("euclidean", "cosine")}
    panels("parameter-metric", directions(), metrics)
