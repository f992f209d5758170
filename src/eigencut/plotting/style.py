"""The common look of all displays: colours and markers of clusters, axes, legends and text.

People with any colour vision can tell the eight colours apart (``tests/plotting`` simulates this).
From the ninth cluster on, the colours are used again with another marker.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from inspect import cleandoc, signature
from typing import Any, NamedTuple, Self

from eigencut._utils.validation import needed, shown
from eigencut.exceptions import invalid, printable

COLORS = (
    "#3277f0",  # blue
    "#e07b00",  # orange
    "#03775b",  # green
    "#513087",  # violet
    "#7ebde7",  # sky
    "#7d2e14",  # brown
    "#e2c21e",  # yellow
    "#d6336c",  # pink
)
OUTSIDE_COLOR = "#8d939b"  # for rows without a cluster
# From shapes to matplotlib's markers; the last one is for rows without a cluster.
MARKERS = {
    "circle": "o",
    "square": "s",
    "triangle": "^",
    "diamond": "D",
    "triangle-down": "v",
    "cross": "x",
}
SIZE = (6.4, 4.8)  # width and height of a new figure, in inches
INK = "#2b2f36"  # for text and lines
PALE = "#d9dde3"  # for lines in the background


class Style(NamedTuple):
    """The colour ("#rrggbb") and the marker (a key of ``MARKERS``) of a cluster."""

    color: str
    marker: str


def cluster_style(number: int) -> Style:
    """Return the style of a cluster, or of rows without a cluster if the number is negative."""
    *shapes, cross = MARKERS
    if number < 0:
        return Style(OUTSIDE_COLOR, cross)
    turn, place = divmod(int(number), len(COLORS))
    return Style(COLORS[place], shapes[turn % len(shapes)])


_PARAMETERS = "\n\nParameters\n----------\n"
_COMMON = {  # parameters of the methods ``from_...`` that their own docstrings do not describe
    "model": "model : fitted GPOD, TableModel or Reclustered",
    "X": "X : array-like of shape (n_samples, n_features)",
    "X_new": "X_new : array-like of shape (m, n_features)",
    "ax": "ax : matplotlib axes, optional\n    Default: those of a new figure.",
}


class Display(ABC):
    """The base class of displays: plain arrays that are drawn on axes of matplotlib.

    Attributes
    ----------
    ax_ : matplotlib axes
        The axes of the last drawing.
    figure_ : matplotlib figure
        The figure of these axes.
    """

    ax_: Any
    figure_: Any
    cluster_names: Sequence[str] = ()

    def __init_subclass__(cls) -> None:
        """Add common parameters and the result to the docstrings of the methods ``from_...``."""
        for name, method in vars(cls).items():
            if name.startswith("from_"):
                text, _, own = cleandoc(method.__doc__ or "").partition(_PARAMETERS)
                entries = _COMMON | {one.split(" :")[0]: one for one in re.split(r"\n(?=\w)", own)}
                _, *names = signature(method.__func__).parameters
                text += _PARAMETERS + "\n".join(entries.get(one, one) for one in names)
                method.__func__.__doc__ = f"{text}\n\nReturns\n-------\n{cls.__name__}\n"

    def _drawn(self, ax: Any, cluster_names: Sequence[str]) -> Self:
        """Draw with these names of clusters 0, 1, ...; clusters with the name "" have none."""
        self.cluster_names = cluster_names
        return self.plot(ax)

    def _name(self, number: int, size: float | None = None) -> str:
        """Return the name of a cluster with its size, for labels."""
        name = self.cluster_names[number] if 0 <= number < len(self.cluster_names) else ""
        text = plain(name, 24) if name else f"cluster {number}"
        return text if size is None else f"{text} ({spaced(size)})"

    def plot(self, ax: Any = None) -> Self:
        """Draw on axes of matplotlib, or on those of a new figure; return the display."""
        if ax is None:
            pyplot = needed("matplotlib.pyplot", "plot")
            ax = pyplot.subplots(figsize=self._size(), layout="constrained")[1]
        elif not isinstance(ax, needed("matplotlib.axes", "plot").Axes):
            remedy = "pass one of the axes of pyplot.subplots(), or leave it out for a new figure"
            raise invalid("ax", "be one Axes of matplotlib", shown(ax), remedy)
        self._draw(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _size(self) -> tuple[float, float]:
        """Return the size of a new figure, in inches."""
        return SIZE

    @abstractmethod
    def _draw(self, ax: Any) -> None: ...


def check_drawable(name: str, value: Any, expected: str, source: str) -> None:
    """Raise an error unless the value's class has this name; its folder may be above this one."""
    own = [kind.__name__ for kind in type(value).__mro__ if kind.__module__.startswith("eigencut.")]
    if expected not in own:
        raise invalid(name, f"be a {expected}, which {source} returns", shown(value), "pass that")


def height_for(n_lines: int, each: float, around: float = 1.6, least: float = 3.2) -> float:
    """Return the height of a figure with a line for each cluster, in inches."""
    return min(max(around + each * n_lines, least), 10.0)


def tidy(ax: Any, grid: str | None = None) -> None:
    """Give axes the look of all displays: no box, thin lines, a pale grid where it helps."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(INK)
    ax.tick_params(colors=INK, labelsize=9)
    ax.set_axisbelow(True)
    if grid is not None:
        ax.grid(axis=grid, color=PALE, linewidth=0.6)


def legend_above(ax: Any, n_columns: int) -> None:
    """Put a legend in a line above the axes, where it covers nothing."""
    look = dict(loc="lower left", bbox_to_anchor=(0.0, 1.0), borderaxespad=0.2, frameon=False)
    look |= dict(fontsize=8, labelcolor=INK, handletextpad=0.5, columnspacing=1.4)
    ax.legend(ncols=n_columns, **look)


def plain(text: object, longest: int = 40) -> str:
    """Return text for matplotlib on one line, without formulas, cut off if it is long."""
    letters = printable(str(text))
    letters = letters if len(letters) <= longest else letters[: longest - 1] + "…"
    return letters.replace("$", r"\$")  # matplotlib draws text between two $ as a formula


def spaced(number: float) -> str:
    """Return a rounded number as text, such as "9876" or "98 765"."""
    whole = round(number)
    return str(whole) if abs(whole) < 10_000 else f"{whole:,}".replace(",", " ")
