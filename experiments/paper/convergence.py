"""The convergence figure: POD's objective against iteration, on the unseen rows of each set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments.paper.choice import CHOSEN
from experiments.paper.fits import ANY
from experiments.paper.plotting import COLORS, save, subplots
from experiments.paper.published import CUT_TITLES, SETS
from experiments.paper.results import Key, Task

SPLITS = 5


def compute(tasks: Sequence[Task], found: Sequence[Mapping[Key, Any]]) -> list[dict[str, Any]]:
    """Gaps between discrete and continuous solution after each step, under the chosen sigma."""
    return [
        {"set": name, "cut": cut, "split": order, "gap": scores[name, ANY, cut, CHOSEN, "gaps"]}
        for name in SETS
        for order, scores in enumerate(_of_set(name, tasks, found))
        for cut in CUT_TITLES
    ]


def _of_set(
    name: str, tasks: Sequence[Task], found: Sequence[Mapping[Key, Any]]
) -> list[Mapping[Key, Any]]:
    """What the first splits of a set gave."""
    return [of for task, of in zip(tasks, found, strict=True) if task[0] == name][:SPLITS]


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
            for cut in CUT_TITLES
        ]
        lines.append(f"| {name} | {' | '.join(steps)} |")
    return "\n".join(lines)


def draw(results: Mapping[str, Any], folder: Path) -> None:
    figure, axes = subplots(2, 3, figsize=(11, 6))
    for axis, name in zip(axes.flat, SETS, strict=True):
        for color, (cut, title) in zip(COLORS, CUT_TITLES.items(), strict=False):
            for r in results["convergence"]:
                if r["set"] == name and r["cut"] == cut:
                    label = title if r["split"] == 0 else None
                    steps = range(1, len(r["gap"]) + 1)
                    axis.plot(steps, r["gap"], "o-", ms=3, lw=1, color=color, label=label)
        axis.set(title=name, xlabel="iteration", ylabel="gap")
        axis.xaxis.get_major_locator().set_params(integer=True)
    axes[0, 0].legend()
    save(figure, folder, "convergence")
