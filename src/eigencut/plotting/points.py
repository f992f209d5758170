"""Rows as points of matplotlib: colours, markers, numbers and legends of clusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.validation import needed
from eigencut.plotting.style import COLORS, INK, MARKERS, cluster_style, spaced


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
