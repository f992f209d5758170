"""What ``select`` has compared, and the excess risk against the number of rows."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from eigencut._utils.arrays import Array, Indices
from eigencut.plotting.style import (
    COLORS,
    INK,
    OUTSIDE_COLOR,
    SIZE,
    Display,
    check_drawable,
    colorbar,
    height_for,
    legend_above,
    plain,
    tidy,
)

if TYPE_CHECKING:
    from eigencut.auto.select import Selection
    from eigencut.theory.curves import LearningCurve


@dataclass
class ChoiceDisplay(Display):
    """Scores as a heat map, a row for each graph; of a single graph as a line.

    ``Selection.plot`` draws it. What was chosen is framed; what was not compared stays empty.

    Attributes
    ----------
    scores : array of shape (n_graphs, n_numbers)
        NaN where there is none; larger is better.
    n_clusters : array of shape (n_numbers,)
        The numbers of clusters, ascending.
    graphs : tuple of str
    chosen : tuple of int
        Place of what was chosen: its graph and its number.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from eigencut import Gaussian, Neighbors, select
    >>> X, _ = make_blobs(150, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    >>> found = select(X, n_clusters=range(2, 6), affinity=[Gaussian(), Neighbors()])
    >>> display = ChoiceDisplay.from_selection(found)
    >>> display.scores.shape, int(display.n_clusters[display.chosen[1]])
    ((2, 4), 3)
    """

    scores: Array
    n_clusters: Indices
    graphs: tuple[str, ...]
    chosen: tuple[int, int]

    @classmethod
    def from_selection(cls, selection: Selection, *, ax: Any = None) -> ChoiceDisplay:
        """Draw what ``eigencut.select`` returns.

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
        return cls(
            scores=scores,
            n_clusters=np.array(numbers, dtype=np.intp),
            graphs=tuple(graphs),
            chosen=place(selection.best),
        ).plot(ax)

    def _size(self) -> tuple[float, float]:
        if len(self.graphs) == 1:
            return SIZE
        width = 3.2 + 0.42 * min(max(len(self.n_clusters), 6), 24)
        return width, height_for(len(self.graphs), 0.5, around=1.5, least=2.4)

    def _draw(self, ax: Any) -> None:
        if len(self.graphs) == 1:
            self._draw_line(ax)
        else:
            self._draw_map(ax)

    def _draw_line(self, ax: Any) -> None:
        scores, (_, best) = self.scores[0], self.chosen
        there = np.isfinite(scores)
        label = plain(self.graphs[0], longest=60)
        look = dict(color=COLORS[0], markersize=5, linewidth=1.8, label=label)
        ax.plot(self.n_clusters[there], scores[there], "o-", **look)
        at = (self.n_clusters[best], scores[best])
        look = dict(markerfacecolor="none", markeredgecolor=COLORS[1], markersize=14)
        ax.plot(*at, "o", markeredgewidth=2, label=f"chosen: {at[0]} clusters", **look)
        if there.sum() == 1:
            ax.set_xlim(at[0] - 1.5, at[0] + 1.5)
            look = dict(ha="center", fontsize=9, color=INK, transform=ax.transAxes)
            text = "the only number with a score; select(X, range(2, 11)) compares more"
            ax.text(0.5, 0.08, text, **look)
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.set(xlabel="number of clusters", ylabel="score")
        ax.margins(y=0.15)
        tidy(ax, "y")
        legend_above(ax, 1)

    def _draw_map(self, ax: Any) -> None:
        low, high = _range(self.scores)
        look = dict(cmap="Blues", aspect="auto", interpolation="nearest", vmin=low, vmax=high)
        ax.imshow(self.scores, **look)
        if len(self.n_clusters) <= 20:  # scores fit into their cells
            for (row, column), score in np.ndenumerate(self.scores):
                if np.isfinite(score):
                    is_dark = high > low and (score - low) / (high - low) > 0.6
                    color = "white" if is_dark else INK
                    look = dict(ha="center", va="center", fontsize=8, color=color)
                    ax.text(column, row, f"{score:.2f}", **look)
        row, column = self.chosen
        x, y = column + 0.5 * np.array([-1, 1, 1, -1, -1]), row + 0.5 * np.array([-1, -1, 1, 1, -1])
        ax.plot(x, y, color=COLORS[1], linewidth=2.4, clip_on=False, zorder=3)
        step = -(-len(self.n_clusters) // 24)
        ax.set_xticks(range(0, len(self.n_clusters), step), self.n_clusters[::step])
        names = [
            fill(plain(graph, 120), 29, break_long_words=False, break_on_hyphens=False)
            for graph in self.graphs
        ]
        ax.set_yticks(range(len(self.graphs)), names)
        ax.set_xlabel("number of clusters; what was chosen is framed")
        tidy(ax)
        ax.spines[["left", "bottom"]].set_visible(False)
        ax.tick_params(length=0, labelsize=8)
        extend = "min" if np.nanmin(self.scores) < low else "neither"
        colorbar(ax, "score", shrink=0.9, extend=extend)


def _range(scores: Array) -> tuple[float, float]:
    """What colours tell apart: few scores that are far below all others do not count."""
    high, quarter = float(np.nanmax(scores)), float(np.nanquantile(scores, 0.25))
    low = max(float(np.nanmin(scores)), quarter - 0.2 * (high - quarter))
    return (low, high) if low < high else (high - 1, high)


@dataclass
class LearningCurveDisplay(Display):
    """The excess risk of fits on samples, on logarithmic axes. ``LearningCurve.plot`` draws it.

    Attributes
    ----------
    curve : LearningCurve
        What is drawn.
    line : array of shape (2,) or None
        The fitted line at the smallest and at the largest size; None where there is none.

    Examples
    --------
    >>> import numpy as np
    >>> from eigencut import GPOD, Gaussian
    >>> from eigencut.theory import learning_curve
    >>> X = np.random.default_rng(0).normal(size=(400, 1))
    >>> model = GPOD(n_clusters=2, affinity=Gaussian(sigma=1.0))
    >>> curve = learning_curve(model, X, sizes=[25, 50, 100], n_repeats=6)
    >>> LearningCurveDisplay.from_curve(curve).ax_.get_xscale()
    'log'
    """

    curve: LearningCurve
    line: Array | None

    @classmethod
    def from_curve(cls, curve: LearningCurve, *, ax: Any = None) -> LearningCurveDisplay:
        """Draw what ``eigencut.theory.learning_curve`` has measured.

        Parameters
        ----------
        curve : LearningCurve
        """
        check_drawable("curve", curve, "LearningCurve", "eigencut.theory.learning_curve")
        line = None
        if np.isfinite(curve.slope):
            ends = (curve.sizes.min(), curve.sizes.max())
            line = np.array([curve.excess_at(float(end)) for end in ends])
        return cls(curve, line).plot(ax)

    def _draw(self, ax: Any) -> None:
        curve, sizes = self.curve, self.curve.sizes
        n, excess = np.repeat(sizes, curve.excess.shape[1]), curve.excess.ravel()
        has_excess = bool(curve.is_measurable.any())  # zeros have no logarithm
        ax.set(xscale="log", yscale="log" if has_excess else "linear")
        some = curve.is_measurable.ravel() | (not has_excess)
        look = dict(ms=5, alpha=0.45, markeredgewidth=0)
        ax.plot(n[some], excess[some], "o", color=COLORS[0], label="fits on samples", **look)
        if self.line is not None:
            ends = np.array([sizes.min(), sizes.max()], dtype=np.float64)
            low, high = curve.slope_interval
            label = f"measured slope {curve.slope:.2f} ({low:.2f} to {high:.2f})"
            ax.plot(ends, self.line, "-", color=COLORS[0], linewidth=1.8, label=label)
            rate = self.line[0] * (ends / ends[0]) ** curve.theory_slope
            bounds = dict(color=OUTSIDE_COLOR, linewidth=1.4, label="slope -1/2 (bounds)")
            ax.plot(ends, rate, "--", **bounds)
        ax.set(xlabel="rows n", ylabel="excess risk")
        ax.set_xticks(sizes, [str(size) for size in sizes])
        ax.minorticks_off()
        tidy(ax, "y")
        ax.legend(framealpha=0.8, edgecolor="none", fontsize=9, labelcolor=INK)
