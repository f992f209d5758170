"""Displays of ``Selection`` (scores of candidates) and of ``LearningCurve`` (excess risk)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from eigencut._utils.arrays import Array, Indices
from eigencut.plotting.style import (
    COLORS,
    INK,
    MARKERS,
    OUTSIDE_COLOR,
    Display,
    check_drawable,
    cluster_style,
    legend_above,
    plain,
    tidy,
)

if TYPE_CHECKING:
    from eigencut.auto.select import Selection
    from eigencut.theory.curves import LearningCurve


@dataclass
class ChoiceDisplay(Display):
    """Scores against the number of clusters, a line for each graph; a ring marks the best one.

    ``Selection.plot`` draws it.

    Attributes
    ----------
    scores : array of shape (n_graphs, n_numbers)
        Larger is better; NaN for pairs that were not compared.
    n_clusters : array of shape (n_numbers,)
        The numbers of clusters, ascending.
    graphs : tuple of str
    chosen : tuple of int
        The indices of the best score in ``scores``.
    """

    scores: Array
    n_clusters: Indices
    graphs: tuple[str, ...]
    chosen: tuple[int, int]

    @classmethod
    def from_selection(cls, selection: Selection, *, ax: Any = None) -> ChoiceDisplay:
        """Draw the result of ``eigencut.select``.

        Parameters
        ----------
        selection : Selection
        """
        check_drawable("selection", selection, "Selection", "eigencut.select")
        numbers = sorted({choice.n_clusters for choice in selection.choices})
        graphs = sorted({repr(choice.affinity) for choice in selection.choices})

        def place(choice: Any) -> tuple[int, int]:
            return graphs.index(repr(choice.affinity)), numbers.index(choice.n_clusters)

        scores = np.full((len(graphs), len(numbers)), np.nan)
        for choice in selection.choices:
            scores[place(choice)] = choice.score
        n_clusters, chosen = np.array(numbers, dtype=np.intp), place(selection.best)
        return cls(scores, n_clusters, tuple(graphs), chosen).plot(ax)

    def _draw(self, ax: Any) -> None:
        for place, (graph, scores) in enumerate(zip(self.graphs, self.scores, strict=True)):
            there = np.isfinite(scores)
            style = cluster_style(place)
            look = dict(color=style.color, marker=MARKERS[style.marker], markersize=5)
            label = plain(graph, longest=60)
            ax.plot(self.n_clusters[there], scores[there], linewidth=1.8, label=label, **look)
        best = self.chosen
        at = (self.n_clusters[best[1]], self.scores[best])
        look = dict(color=INK, markerfacecolor="none", markersize=14, markeredgewidth=2)
        ax.plot(*at, "o", label=f"chosen: {at[0]} clusters", **look)
        if len(self.n_clusters) == 1:
            ax.set_xlim(at[0] - 1.5, at[0] + 1.5)
            look = dict(ha="center", fontsize=9, color=INK, transform=ax.transAxes)
            text = "the only number with a score; select(X, range(2, 11)) compares more"
            ax.text(0.5, 0.08, text, **look)
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.set(xlabel="number of clusters", ylabel="score")
        ax.margins(y=0.15)
        tidy(ax, "y")
        legend_above(ax, 1)


@dataclass
class LearningCurveDisplay(Display):
    """The excess risk of fits on samples, on logarithmic axes.

    Attributes
    ----------
    curve : LearningCurve
    """

    curve: LearningCurve

    @classmethod
    def from_curve(cls, curve: LearningCurve, *, ax: Any = None) -> LearningCurveDisplay:
        """Draw the result of ``eigencut.theory.learning_curve``.

        Parameters
        ----------
        curve : LearningCurve
        """
        check_drawable("curve", curve, "LearningCurve", "eigencut.theory.learning_curve")
        return cls(curve).plot(ax)

    def _draw(self, ax: Any) -> None:
        curve, sizes = self.curve, self.curve.sizes
        n, excess = np.repeat(sizes, curve.excess.shape[1]), curve.excess.ravel()
        has_excess = bool(curve.is_measurable.any())  # zeros have no logarithm
        ax.set(xscale="log", yscale="log" if has_excess else "linear")
        some = curve.is_measurable.ravel() | (not has_excess)
        look = dict(ms=5, alpha=0.45, markeredgewidth=0)
        ax.plot(n[some], excess[some], "o", color=COLORS[0], label="fits on samples", **look)
        if np.isfinite(curve.slope):
            ends = np.array([sizes.min(), sizes.max()], dtype=np.float64)
            line = np.array([curve._excess_at(float(end)) for end in ends])
            low, high = curve.slope_interval
            label = f"measured slope {curve.slope:.2f} ({low:.2f} to {high:.2f})"
            ax.plot(ends, line, "-", color=COLORS[0], linewidth=1.8, label=label)
            rate = line[0] * (ends / ends[0]) ** curve.theory_slope
            label = "slope -1/2 (bounds)"
            ax.plot(ends, rate, "--", color=OUTSIDE_COLOR, linewidth=1.4, label=label)
        ax.set(xlabel="rows n", ylabel="excess risk")
        ax.set_xticks(sizes, [str(size) for size in sizes])
        ax.minorticks_off()
        tidy(ax, "y")
        ax.legend(framealpha=0.8, edgecolor="none", fontsize=9, labelcolor=INK)
