"""Time of clustering m new rows by GPOD, against the eigendecomposition of all n + m rows."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from eigencut.affinities import Gaussian
from eigencut.gpod import GPOD
from experiments.paper.datasets import paper_moons
from experiments.paper.plotting import COLORS, save, subplots
from experiments.paper.published import CUT_TITLES

_REPEATS = 3


def compute(n: int, sizes: tuple[int, ...]) -> list[dict[str, Any]]:
    """Seconds, the best of three, on moons, with the local bandwidth."""
    records = []
    X, _ = paper_moons(n, 0)
    for cut in CUT_TITLES:
        model = GPOD(2, cut=cut, affinity=Gaussian()).fit(X)
        for m in sizes:
            new, _ = paper_moons(m, 1)
            both = np.vstack([X, new])
            records.append(
                {
                    "cut": cut,
                    "n": n,
                    "m": m,
                    "predict": _seconds(model.predict, new),
                    "batch": _seconds(model.predict_batch, new),
                    "refit": _seconds(GPOD(2, cut=cut, affinity=Gaussian()).fit, both),
                }
            )
    return records


def _seconds(work: Callable[[Any], Any], rows: Any) -> float:
    times = []
    for _ in range(_REPEATS):
        start = time.perf_counter()
        work(rows)
        times.append(time.perf_counter() - start)
    return float(f"{min(times):.3g}")


def table(results: Mapping[str, Any]) -> str:
    lines = [
        "| cut | n | m | `predict` | `predict_batch` | fit on n + m | times faster |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {CUT_TITLES[r['cut']]} | {r['n']} | {r['m']} | {1000 * r['predict']:.0f} ms "
        f"| {1000 * r['batch']:.0f} ms | {1000 * r['refit']:.0f} ms "
        f"| {r['refit'] / r['predict']:.0f} |"
        for r in results["timing"]
    ]
    return "\n".join(lines)


def draw(results: Mapping[str, Any], folder: Path) -> None:
    figure, axes = subplots(1, 2, figsize=(10, 4))
    kinds = {"refit": "eigendecomposition of n + m", "batch": "predict_batch", "predict": "predict"}
    for axis, (cut, title) in zip(axes.flat, CUT_TITLES.items(), strict=True):
        records = [r for r in results["timing"] if r["cut"] == cut]
        for color, (kind, label) in zip(COLORS, kinds.items(), strict=True):
            m = [r["m"] for r in records]
            axis.loglog(m, [r[kind] for r in records], "o-", color=color, label=label)
        axis.set(title=f"{title}, n = {records[0]['n']}", xlabel="m new rows", ylabel="seconds")
        axis.legend()
    save(figure, folder, "timing")
