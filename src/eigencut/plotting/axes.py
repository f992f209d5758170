"""Axes that a display draws on: a new figure's or given ones, in one look."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eigencut._utils.validation import needed, shown

SIZE = (6.4, 4.8)  # of a new figure, in inches
INK = "#2b2f36"  # text and lines
PALE = "#d9dde3"  # lines behind
_MANY = 18  # entries of a column of a legend
_WIDTH = 1.75  # of such a column, in inches
_SMALL = 8  # points; of text in a legend


def axes_or_new(ax: Any, size: tuple[float, float] = SIZE) -> Any:
    """The axes given, or those of a new figure that makes room for all its text."""
    if ax is not None:
        if not isinstance(ax, needed("matplotlib.axes", "plot").Axes):
            raise ValueError(
                f"ax must be one Axes of matplotlib. Got {shown(ax)}; pass figure.add_subplot(), "
                "one of the axes of pyplot.subplots(), or leave it out for a new figure."
            )
        return ax
    pyplot = needed("matplotlib.pyplot", "plot")
    return pyplot.subplots(figsize=size, layout="constrained")[1]


def size_beside(n_entries: int, size: tuple[float, float] = SIZE) -> tuple[float, float]:
    """That of a figure whose legend of so many entries stands beside axes of usual size."""
    return size[0] - 1.2 + _WIDTH * _columns(n_entries), size[1]


def _columns(n_entries: int) -> int:
    return -(-n_entries // _MANY)


def tidy(ax: Any, grid: str | None = None) -> None:
    """Axes in the look of all displays: no box, thin lines, and a pale grid where it helps."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(INK)
    ax.tick_params(colors=INK, labelsize=9)
    ax.set_axisbelow(True)
    if grid is not None:
        ax.grid(axis=grid, color=PALE, linewidth=0.6)


def legend_above(ax: Any, n_columns: int, handles: Sequence[Any] | None = None) -> None:
    """A legend in a line above the axes, where it covers nothing."""
    if handles is None:
        handles = ax.get_legend_handles_labels()[0]
    look = dict(loc="lower left", bbox_to_anchor=(0.0, 1.0), borderaxespad=0.2, frameon=False)
    look |= dict(fontsize=_SMALL, labelcolor=INK, handletextpad=0.5, columnspacing=1.4)
    ax.legend(handles=handles, ncols=n_columns, **look)


def put_legend(ax: Any, handles: Sequence[Any] | None = None, title: str | None = None) -> None:
    """A legend beside the axes, where their figure makes room for it; otherwise on them."""
    if handles is None:
        handles = ax.get_legend_handles_labels()[0]
    look: dict[str, Any] = dict(title=title, fontsize=_SMALL, title_fontsize=_SMALL, labelcolor=INK)
    look |= dict(ncols=_columns(len(handles)), handletextpad=0.4, columnspacing=1.0)
    if ax.figure.get_layout_engine() is not None:
        look |= dict(loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0, frameon=False)
    else:
        look |= dict(loc="upper right", framealpha=0.85, edgecolor=PALE)
    ax.legend(handles=handles, **look)
