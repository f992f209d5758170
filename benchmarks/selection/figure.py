"""The figure of benchmarks/studies/selection.md: a clustering, and the scores it was chosen by."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.selection import JOBS
from benchmarks.selection.criteria import CANDIDATES
from benchmarks.selection.families import FIRST_SEED, make_set
from eigencut import Gaussian, select

FIGURE_SEED = FIRST_SEED + 9  # two moons and two blobs  # two moons and two blobs


def draw(folder: Path) -> None:
    """Left the chosen clustering; right the scores it was chosen by."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    X, _, K = make_set(FIGURE_SEED)
    found = select(X, CANDIDATES, affinity=Gaussian(), n_jobs=JOBS)
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    colors = np.array(["#1f4e79", "#e07b39", "#4c9a6a", "#a23b72", "#777777", "#c9a227"])
    left.scatter(*X.T, s=5, c=colors[found.model.labels_ % len(colors)])
    left.set(xticks=[], yticks=[], aspect="equal")
    left.set_title(f"{found.best.n_clusters} clusters chosen, {K} put in", fontsize=11)
    scores = {c.n_clusters: c.score for c in found.choices}
    right.plot(CANDIDATES, [scores[k] for k in CANDIDATES], "o-", color="#1f4e79", markersize=4)
    best = found.best
    right.plot(best.n_clusters, best.score, "o", mfc="none", mec="#e07b39", ms=14, mew=2)
    right.annotate("chosen", (best.n_clusters, best.score), (14, -4), textcoords="offset points")
    right.set(xlabel="number of clusters K", ylabel="score")
    right.spines[["top", "right"]].set_visible(False)
    figure.savefig(folder / "selection.png", dpi=110)
