"""Rows as points of matplotlib: colours, markers, numbers and legends of clusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.validation import needed
from eigencut.plotting.axes import INK
from eigencut.plotting.colors import FEW_CLUSTERS, cluster_style
from eigencut.plotting.sampling import spaced

# What matplotlib calls the markers of colors.py.
NAMES = {
    "circle": "o",
    "square": "s",
    "triangle": "^",
    "diamond": "D",
    "triangle-down": "v",
    "cross": "x",
}
NEW_MARKER = "P"  # of new rows
_LARGEST, _SMALLEST, _AREA = 26.0, 2.5, 16_000.0


def point_area(n_points: int) -> float:
    """The area of a point where there are so many, in square points."""
    return float(np.clip(_AREA / max(n_points, 1), _SMALLEST, _LARGEST))


def scatter_clusters(
    ax: Any, points: Array, labels: Indices, marker: str | None = None, **look: Any
) -> None:
    """Points in the styles of their clusters, or all with one marker.

    They are drawn in a random order, so that of two clusters that overlap none covers the other.
    """
    order = np.random.default_rng(0).permutation(len(labels))
    styles = {int(number): cluster_style(int(number)) for number in np.unique(labels)}
    for kind in dict.fromkeys(style.marker for style in styles.values()):
        numbers = [number for number, style in styles.items() if style.marker == kind]
        some = order[np.isin(labels[order], numbers)]
        colors = [styles[int(number)].color for number in labels[some]]
        name = marker or NAMES[kind]
        own = {"linewidths": 0.9, "edgecolors": None} if name == "x" else {}  # it has no inside
        ax.scatter(*points[some].T, c=colors, marker=name, **{**look, **own})


def write_numbers(ax: Any, points: Array, labels: Indices) -> None:
    """The number of each cluster at the row nearest to its middle: where colours come again."""
    effects = needed("matplotlib.patheffects", "plot")
    halo = [effects.withStroke(linewidth=2.5, foreground="white")]
    for number in np.unique(labels[labels >= 0]):
        own = points[labels == number]
        own = own[np.isfinite(own).all(axis=1)]
        if not len(own):
            continue
        middle = own[np.abs(own - np.median(own, axis=0)).sum(axis=1).argmin()]
        ax.annotate(
            str(number),
            middle,
            ha="center",
            va="center",
            fontsize=9,
            fontweight="bold",
            color=INK,
            path_effects=halo,
            zorder=6,
        )


def has_many(numbers: Sequence[int] | Indices) -> bool:
    """Whether colours come again, so that numbers must be written beside them."""
    return len(numbers) > FEW_CLUSTERS or max(numbers, default=0) >= FEW_CLUSTERS


def cluster_handles(numbers: Sequence[int] | Indices, sizes: Any) -> list[Any]:
    """Entries of a legend: the style, the number and the size of each cluster."""
    return [
        dot(f"cluster {number} ({spaced(size)})", *_of(int(number)))
        for number, size in zip(numbers, sizes, strict=True)
    ]


def _of(number: int) -> tuple[str, str]:
    style = cluster_style(number)
    return style.color, NAMES[style.marker]


def dot(label: str, color: str, marker: str = "o", **look: Any) -> Any:
    """An entry of a legend that is a point."""
    lines = needed("matplotlib.lines", "plot")
    return lines.Line2D(
        [], [], linestyle="none", marker=marker, markersize=6, color=color, label=label, **look
    )


def sizes_of(labels: Indices, numbers: Indices) -> NDArray[np.intp]:
    """How many rows each cluster has."""
    return np.array([(labels == number).sum() for number in numbers], dtype=np.intp)
