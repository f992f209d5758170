"""The picture of clusters: a frame that far rows do not widen, and marks within it.

A few rows far away would leave a corner to all others. The frame is that of the clusters; what lies
beyond is drawn at its edge, and keeps its place for those who zoom out (``page.js``).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eigencut._utils.arrays import Array
from eigencut.plotting.colors import cluster_style
from eigencut.report.drawings import drawing, marker, short_number
from eigencut.report.html import Html, clipped, element, joined
from eigencut.report.summary import Picture

_WIDTH, _HEIGHT = 720.0, 470.0
_MARGIN = 26.0  # around the frame: where what lies beyond is drawn, apart from what does not
_EDGE = 9.0
_RADIUS = 4.0
_FRAMED = (5.0, 95.0)  # percentiles of the rows of a cluster
_AROUND = 0.5  # times the width between them, on both sides
_COUNTS = 0.01  # share of rows from which a cluster has a say, if there are not very many
_FARTHEST = 1e6  # from which coordinates beyond the frame are all alike
_NUMBERED = 60  # clusters whose numbers are written among their points


@dataclass(frozen=True)
class Scatter:
    """The drawing, and how many rows and new rows lie beyond its frame."""

    drawn: Html
    n_beyond: int
    n_new_beyond: int


def scatter(picture: Picture, names: dict[int, str]) -> Scatter:
    """Rows as points, a group for each cluster."""
    labels, is_new = np.asarray(picture.labels), np.asarray(picture.is_new)
    (x, drawn_x), (y, drawn_y) = (
        _placed(np.asarray(values), labels, is_new, length)
        for values, length in ((picture.x, _WIDTH), (-np.asarray(picture.y), _HEIGHT))
    )
    beyond = (x != drawn_x) | (y != drawn_y)
    groups = []
    for cluster in (-1, *names):
        style = cluster_style(cluster)
        name = clipped(names.get(cluster, "in no cluster"), 60)
        points = []
        for i in np.flatnonzero(labels == cluster):
            which = "new row" if is_new[i] else "row"
            tip = f"{which} {picture.rows[i]} · {name} · margin {picture.margins[i]:.2f}"
            kind = "mark new" if is_new[i] else "mark"
            far: dict[str, object] = {}
            if beyond[i]:
                tip += " · beyond the frame"
                far = {"data_x": short_number(x[i]), "data_y": short_number(y[i])}
            points.append(
                marker(
                    style.marker, drawn_x[i], drawn_y[i], _RADIUS, class_=kind, data_tip=tip, **far
                )
            )
        if points:
            groups.append(
                element("g", *points, data_cluster=cluster, style=f"--c:{style.color}", class_="k")
            )
    numbers = _numbers(labels, drawn_x, drawn_y, list(names))
    return Scatter(
        drawing(_WIDTH, _HEIGHT, *groups, numbers),
        int((beyond & ~is_new).sum()),
        int((beyond & is_new).sum()),
    )


def _numbers(labels: NDArray[np.intp], x: Array, y: Array, clusters: list[int]) -> Html:
    """The number of each cluster at its middle, where there are not too many."""
    found = []
    for cluster in clusters if len(clusters) <= _NUMBERED else ():
        mine = labels == cluster
        if mine.any():
            place = {
                "x": short_number(float(np.median(x[mine]))),
                "y": short_number(float(np.median(y[mine])) + 7),
            }
            found.append(element("text", cluster, **place, data_cluster=cluster, class_="number"))
    return joined(found)


def _placed(
    values: Array, labels: NDArray[np.intp], is_new: NDArray[np.bool_], length: float
) -> tuple[Array, Array]:
    """Where values lie in a drawing of this length, and where they are drawn."""
    low, high = frame(values, labels, is_new)
    scale = (length - 2 * _MARGIN) / ((high - low) or 1.0)
    with np.errstate(over="ignore"):
        places = np.clip(_MARGIN + (values - low) * scale, -_FARTHEST, _FARTHEST)
    inside = (values >= low) & (values <= high)
    return places, np.where(inside, places, np.clip(places, _EDGE, length - _EDGE))


def frame(
    values: Array, labels: NDArray[np.intp], is_new: NDArray[np.bool_]
) -> tuple[float, float]:
    """From where to where the clusters lie: nine tenths of each, and half of that around them.

    The rows of the fit decide it, where there are any; not new ones, however far away. Neither do
    clusters of very few rows: a hundredth of all, or a fifth of what each would have.
    """
    asked = ~is_new if (~is_new).any() else np.ones(len(values), dtype=bool)
    found, counts = np.unique(labels[asked & (labels >= 0)], return_counts=True)
    least = min(_COUNTS, 0.2 / max(len(found), 1)) * asked.sum()
    ends = []
    for cluster in found[counts >= least]:
        low, high = np.percentile(values[asked & (labels == cluster)], _FRAMED)
        around = _AROUND * (high - low)
        ends.append((low - around, high + around))
    if not ends:
        return float(values.min()), float(values.max())
    return (
        float(max(min(low for low, _ in ends), values.min())),
        float(min(max(high for _, high in ends), values.max())),
    )
