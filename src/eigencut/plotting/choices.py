"""What ``select`` has compared: a score for each number of clusters and each graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from eigencut._utils.arrays import Array, Indices
from eigencut.plotting.axes import INK, SIZE, legend_above, tidy
from eigencut.plotting.colors import COLORS
from eigencut.plotting.display import DisplayMixin, check_drawable
from eigencut.plotting.text import plain

if TYPE_CHECKING:
    from eigencut.auto.select import Selection

_WRITTEN = 20  # columns up to which scores fit into their cells
_ONE_SCORE = "the only number with a score; select(X, range(2, 11)) compares more"
_BREAK = 28  # characters of a line of a graph's name


@dataclass
class ChoiceDisplay(DisplayMixin):
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
    criterion : str

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from eigencut import Gaussian, Neighbors, select
    >>> from eigencut.plotting import ChoiceDisplay
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
    criterion: str

    @classmethod
    def from_selection(cls, selection: Selection, *, ax: Any = None) -> ChoiceDisplay:
        """Draw what ``eigencut.select`` returns.

        Parameters
        ----------
        selection : Selection
        ax : matplotlib axes, optional

        Returns
        -------
        ChoiceDisplay
        """
        check_drawable("selection", selection, "Selection", "eigencut.select")
        numbers = sorted({choice.n_clusters for choice in selection.choices})
        graphs = sorted({repr(choice.affinity) for choice in selection.choices})
        scores = np.full((len(graphs), len(numbers)), np.nan)
        for choice in selection.choices:
            place = graphs.index(repr(choice.affinity)), numbers.index(choice.n_clusters)
            scores[place] = choice.score
        best = selection.best
        chosen = graphs.index(repr(best.affinity)), numbers.index(best.n_clusters)
        n_clusters = np.array(numbers, dtype=np.intp)
        return cls(scores, n_clusters, tuple(graphs), chosen, selection.criterion).plot(ax)

    def _size(self) -> tuple[float, float]:
        if len(self.graphs) == 1:
            return SIZE
        width = 3.2 + 0.42 * min(max(len(self.n_clusters), 6), 24)
        return width, float(np.clip(1.5 + 0.5 * len(self.graphs), 2.4, 10.0))

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
            ax.text(0.5, 0.08, _ONE_SCORE, **look)
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.set(xlabel="number of clusters", ylabel=f"{self.criterion} score")
        ax.margins(y=0.15)
        tidy(ax, "y")
        legend_above(ax, 1)

    def _draw_map(self, ax: Any) -> None:
        low, high = _range(self.scores)
        look = dict(cmap="Blues", aspect="auto", interpolation="nearest", vmin=low, vmax=high)
        image = ax.imshow(self.scores, **look)
        if len(self.n_clusters) <= _WRITTEN:
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
        ax.set_yticks(range(len(self.graphs)), [_broken(plain(g, 120)) for g in self.graphs])
        ax.set_xlabel("number of clusters; what was chosen is framed")
        tidy(ax)
        ax.spines[["left", "bottom"]].set_visible(False)
        ax.tick_params(length=0, labelsize=8)
        extend = "min" if np.nanmin(self.scores) < low else "neither"
        bar = ax.figure.colorbar(image, ax=ax, pad=0.02, shrink=0.9, extend=extend)
        bar.set_label(f"{self.criterion} score", color=INK)
        bar.outline.set_visible(False)


def _range(scores: Array) -> tuple[float, float]:
    """What colours tell apart: few scores that are far below all others do not count."""
    high, quarter = float(np.nanmax(scores)), float(np.nanquantile(scores, 0.25))
    low = max(float(np.nanmin(scores)), quarter - 0.2 * (high - quarter))
    return (low, high) if low < high else (high - 1, high)


def _broken(text: str) -> str:
    """On several lines, at its commas."""
    lines = [""]
    for part in text.replace(", ", ",\x00").split("\x00"):
        if lines[-1] and len(lines[-1]) + len(part) > _BREAK:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + part
    return "\n".join(lines)
