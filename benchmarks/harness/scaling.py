"""Time and memory against n, m, d and K: fitted exponents and plots."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness.markdown import table

QUANTITIES = {"seconds": "seconds", "memory_mb": "peak extra MB"}
_LARGEST = 3  # an exponent is fitted to the curve's largest values, where overheads are small


@dataclass(frozen=True)
class Curve:
    """A quantity of one method against the sizes."""

    method: str
    quantity: str
    sizes: list[float]
    values: list[float]

    @property
    def exponent(self) -> float | None:
        """p of ``value ~ size^p``, by least squares on the logarithms of the largest sizes."""
        pairs = [(s, v) for s, v in zip(self.sizes, self.values, strict=True) if v > 0]
        if len(pairs) < 2:
            return None
        sizes, values = np.log(np.array(pairs[-_LARGEST:])).T
        return float(np.polyfit(sizes, values, 1)[0])


def curves(result: dict[str, Any], quantity: str) -> Iterator[Curve]:
    points = result["points"]
    for method in result["workload"]["methods"]:
        found = [(p["value"], p["rows"][method]) for p in points]
        known = [(size, row) for size, row in found if row.get(quantity) is not None]
        if known:
            sizes, rows = zip(*known, strict=True)
            values = [float(row[quantity]) for row in rows]
            yield Curve(rows[0]["title"], quantity, [float(s) for s in sizes], values)


def exponent_table(results: list[dict[str, Any]]) -> str:
    """``time ~ size^p``: p for every curve, and the largest size it was measured at."""
    lines = []
    for result in results:
        workload = result["workload"]
        for time in curves(result, "seconds"):
            memory = [c for c in curves(result, "memory_mb") if c.method == time.method]
            cells = [_exponent(time), _exponent(memory[0]) if memory else "-"]
            spread = f"{workload['vary']} = {time.sizes[0]:.0f} to {time.sizes[-1]:.0f}"
            last = [f"{time.values[-1]:.3g} s", f"{memory[0].values[-1]:.0f} MB" if memory else "-"]
            lines.append([workload["title"], time.method, spread, *cells, *last])
    header = ["sweep", "method", "from, to", "time exponent", "memory exponent"]
    return table([*header, "time at the end", "memory at the end"], lines)


def _exponent(curve: Curve) -> str:
    return "-" if curve.exponent is None else f"{curve.exponent:.2f}"


def draw(results: list[dict[str, Any]], folder: Path) -> None:
    """``scaling.png`` and ``.svg``: a column per sweep, times above, memory below."""
    from experiments.paper.plotting import save, subplots

    figure, axes = subplots(2, len(results), figsize=(3.4 * len(results), 6.2))
    for column, result in enumerate(results):
        workload = result["workload"]
        for axis, (quantity, label) in zip(axes[:, column], QUANTITIES.items(), strict=True):
            for curve in curves(result, quantity):
                name = f"{curve.method}, exponent {_exponent(curve)}"
                axis.loglog(curve.sizes, curve.values, "o-", ms=4, label=name)
            sizes = workload["values"]
            axis.set_xticks(sizes, labels=[f"{size:g}" for size in sizes], fontsize=8)
            axis.set_xticks([], minor=True)
            axis.set(xlabel=workload["vary"], ylabel=label if column == 0 else "")
            if axis.lines:
                axis.legend(fontsize=7, frameon=False)
            axis.grid(alpha=0.3)
        axes[0, column].set_title(workload["title"], fontsize=8)
    save(figure, folder, "scaling")
