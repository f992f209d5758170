"""One look for all displays: colours and markers of clusters, axes, legends and text of users.

Eight colours differ under normal vision and without either kind of cone (``tests/plotting``
simulates that): no two of them are closer than 11 in CIEDE2000, those of neighbouring numbers than
20. From the ninth cluster on they come again with another marker.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from eigencut._utils.arrays import Array, Indices
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
OUTSIDE_COLOR = "#8d939b"  # of rows without a cluster
# Shapes and what matplotlib calls them; the last is of rows without a cluster.
MARKERS = {
    "circle": "o",
    "square": "s",
    "triangle": "^",
    "diamond": "D",
    "triangle-down": "v",
    "cross": "x",
}
SIZE = (6.4, 4.8)  # of a new figure, in inches
INK = "#2b2f36"  # text and lines
PALE = "#d9dde3"  # lines behind


class Style(NamedTuple):
    """How the rows of a cluster are drawn: "#rrggbb", and a word of ``MARKERS``."""

    color: str
    marker: str


def cluster_style(number: int) -> Style:
    """Return the colour and the marker of a cluster; below 0, of rows that have none."""
    *shapes, cross = MARKERS
    if number < 0:
        return Style(OUTSIDE_COLOR, cross)
    turn, place = divmod(int(number), len(COLORS))
    return Style(COLORS[place], shapes[turn % len(shapes)])


class Display(ABC):
    """Plain arrays that are drawn on axes of matplotlib.

    Attributes
    ----------
    ax_ : matplotlib axes
        What it was drawn on last.
    figure_ : matplotlib figure
        Of these axes.
    """

    ax_: Any
    figure_: Any

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Default: those of a new figure.

        Returns
        -------
        display
            Itself, with ``ax_`` and ``figure_``.
        """
        if ax is None:
            pyplot = needed("matplotlib.pyplot", "plot")
            ax = pyplot.subplots(figsize=self._size(), layout="constrained")[1]
        elif not isinstance(ax, needed("matplotlib.axes", "plot").Axes):
            raise invalid(
                "ax",
                "be one Axes of matplotlib",
                shown(ax),
                "pass figure.add_subplot(), one of the axes of pyplot.subplots(), or leave it out "
                "for a new figure",
            )
        self._draw(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _size(self) -> tuple[float, float]:
        """Of a new figure, in inches."""
        return SIZE

    @abstractmethod
    def _draw(self, ax: Any) -> None: ...


def check_drawable(name: str, value: Any, expected: str, source: str) -> None:
    """Refuse what is not of a class of eigencut, by its name: that class may stand above this."""
    own = [kind.__name__ for kind in type(value).__mro__ if kind.__module__.startswith("eigencut.")]
    if expected not in own:
        raise invalid(name, f"be a {expected}, which {source} returns", shown(value), "pass that")


def height_for(n_lines: int, each: float, around: float = 1.6, least: float = 3.2) -> float:
    """Return the height of a figure with a line for each cluster, in inches."""
    return min(max(around + each * n_lines, least), 10.0)


def size_beside(n_entries: int) -> tuple[float, float]:
    """Return the size of a figure whose legend stands beside axes of usual size."""
    return SIZE[0] - 1.2 + 1.75 * _columns(n_entries), SIZE[1]


def _columns(n_entries: int) -> int:
    return -(-n_entries // 18)


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


def legend_beside(ax: Any, handles: Sequence[Any] | None = None, title: str | None = None) -> None:
    """Put a legend beside the axes, where their figure makes room for it; otherwise on them."""
    if handles is None:
        handles = ax.get_legend_handles_labels()[0]
    look: dict[str, Any] = dict(title=title, fontsize=8, title_fontsize=8, labelcolor=INK)
    look |= dict(ncols=_columns(len(handles)), handletextpad=0.4, columnspacing=1.0)
    if ax.figure.get_layout_engine() is not None:
        look |= dict(loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0, frameon=False)
    else:
        look |= dict(loc="upper right", framealpha=0.85, edgecolor=PALE)
    ax.legend(handles=handles, **look)


def colorbar(ax: Any, label: str, shrink: float, extend: str) -> Any:
    """Put the colours of the last image of axes beside them."""
    bar = ax.figure.colorbar(ax.images[-1], ax=ax, pad=0.02, shrink=shrink, extend=extend)
    bar.set_label(label, color=INK)
    bar.outline.set_visible(False)
    return bar


def plain(text: object, longest: int = 40) -> str:
    r"""Return text as matplotlib shows it letter by letter, on one line and not too long.

    Examples
    --------
    >>> print(plain("price_$ and cost_$"), plain("two\nlines"), plain("x" * 50, longest=6))
    price_\$ and cost_\$ two\nlines xxxxx…
    """
    letters = printable(str(text))
    letters = letters if len(letters) <= longest else letters[: longest - 1] + "…"
    return letters.replace("$", r"\$")  # between two of them, it would be a formula


def spaced(number: float) -> str:
    """Return a rounded number with a space between thousands, from five digits on."""
    whole = round(number)
    return str(whole) if abs(whole) < 10_000 else f"{whole:,}".replace(",", " ")


def point_area(n_points: int) -> float:
    """Return the area of a point where there are so many, in square points."""
    return float(np.clip(16_000 / max(n_points, 1), 2.5, 26.0))


def scatter_clusters(
    ax: Any, points: Array, labels: Indices, marker: str | None = None, **look: Any
) -> None:
    """Draw points in the styles of their clusters, in a random order: none covers another."""
    order = np.random.default_rng(0).permutation(len(labels))
    styles = {int(number): cluster_style(int(number)) for number in np.unique(labels)}
    for kind in dict.fromkeys(style.marker for style in styles.values()):
        numbers = [number for number, style in styles.items() if style.marker == kind]
        some = order[np.isin(labels[order], numbers)]
        colors = [styles[int(number)].color for number in labels[some]]
        name = marker or MARKERS[kind]
        own = {"linewidths": 0.9, "edgecolors": None} if name == "x" else {}  # it has no inside
        ax.scatter(*points[some].T, c=colors, marker=name, **{**look, **own})


def write_number(ax: Any, number: int, at: Array, **look: Any) -> None:
    """Write the number of a cluster at a place, with a halo."""
    effects = needed("matplotlib.patheffects", "plot")
    look |= dict(ha="center", va="center", fontsize=9, fontweight="bold", color=INK)
    halo = [effects.withStroke(linewidth=2.5, foreground="white")]
    ax.annotate(str(number), at, path_effects=halo, **look)


def write_numbers(ax: Any, points: Array, labels: Indices, numbers: Indices) -> None:
    """Write each number at the row nearest to the middle of its cluster, if colours come again."""
    if max(len(numbers), *(numbers + 1), 1) <= len(COLORS):
        return
    for number in np.unique(labels[labels >= 0]):
        own = points[labels == number]
        own = own[np.isfinite(own).all(axis=1)]
        if len(own):
            middle = own[np.abs(own - np.median(own, axis=0)).sum(axis=1).argmin()]
            write_number(ax, number, middle, zorder=6)


def cluster_handles(numbers: Sequence[int] | Indices, sizes: Any) -> list[Any]:
    """Return entries of a legend: the style, the number and the size of each cluster."""
    handles = []
    for number, size in zip(numbers, sizes, strict=True):
        color, marker = cluster_style(int(number))
        handles.append(dot(f"cluster {number} ({spaced(size)})", color, MARKERS[marker]))
    return handles


def dot(label: str, color: str, marker: str = "o", **look: Any) -> Any:
    """Return an entry of a legend that is a point."""
    lines = needed("matplotlib.lines", "plot")
    return lines.Line2D(
        [], [], linestyle="none", marker=marker, markersize=6, color=color, label=label, **look
    )


def sizes_of(labels: Indices, numbers: Indices) -> NDArray[np.intp]:
    """Return how many rows each cluster has."""
    return np.array([(labels == number).sum() for number in numbers], dtype=np.intp)
