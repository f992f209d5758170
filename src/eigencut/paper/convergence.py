"""The convergence figure: POD's objective against iteration, on the unseen rows of each set."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from eigencut.affinity.base import Array, Indices
from eigencut.estimator import GPOD
from eigencut.notices import GraphWarning
from eigencut.paper.fits import RULES, SELECTED, select_affinity
from eigencut.paper.plotting import COLORS, save, subplots
from eigencut.paper.preprocessing import prepare
from eigencut.paper.published import CUTS, SETS
from eigencut.paper.results import split_rows

SPLITS = 5


def compute(
    data: Mapping[str, tuple[Array, Indices]], configurations: Mapping[str, tuple[str, str]]
) -> list[dict[str, Any]]:
    """Gaps between discrete and continuous solution after each step, per row of the batch."""
    records = []
    for name, (X, truth) in data.items():
        for cut in CUTS:
            preprocessing, rule = configurations[cut]
            for seed in range(SPLITS):
                train, test = split_rows(len(X), seed)
                A, B = prepare(preprocessing, X[train], X[test])
                K = len(np.unique(truth[train]))
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", GraphWarning)
                    affinity = (
                        select_affinity(A, K) if rule == SELECTED else RULES[preprocessing][rule]
                    )
                    model = GPOD(K, cut=cut, affinity=clone(affinity)).fit(A)
                    found = model.predict_batch(B, init="random")
                records.append(
                    {
                        "set": name,
                        "cut": cut,
                        "seed": seed,
                        "gap": [round(float(g), 4) for g in found.gap_history],
                    }
                )
    return records


def table(results: Mapping[str, Any]) -> str:
    """Steps until the labels stay."""
    lines = ["| set | steps of NCut | steps of RatioCut |", "|---|---|---|"]
    for name in SETS:
        steps = [
            ", ".join(
                str(len(r["gap"]))
                for r in results["convergence"]
                if r["set"] == name and r["cut"] == cut
            )
            for cut in CUTS
        ]
        lines.append(f"| {name} | {' | '.join(steps)} |")
    return "\n".join(lines)


def draw(results: Mapping[str, Any], folder: Path) -> None:
    figure, axes = subplots(2, 3, figsize=(11, 6))
    for axis, name in zip(axes.flat, SETS, strict=True):
        for color, (cut, title) in zip(COLORS, CUTS.items(), strict=False):
            for r in results["convergence"]:
                if r["set"] == name and r["cut"] == cut:
                    label = title if r["seed"] == 0 else None
                    steps = range(1, len(r["gap"]) + 1)
                    axis.plot(steps, r["gap"], "o-", ms=3, lw=1, color=color, label=label)
        axis.set(title=name, xlabel="iteration", ylabel="gap")
        axis.xaxis.get_major_locator().set_params(integer=True)
    axes[0, 0].legend()
    save(figure, folder, "convergence")
