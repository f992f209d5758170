"""Decision regions and support over a rectangle of the plane, and how they are drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from eigencut._utils.arrays import Array, Indices
from eigencut.plotting.asked_model import AskedModel
from eigencut.plotting.axes import INK
from eigencut.plotting.colors import cluster_style

_MARGIN = 0.07  # of the width of the points, around them
_WHITE_OUTSIDE, _WHITE_LEAST, _WHITE_MOST = 0.93, 0.80, 0.62  # in the colour of a region
_DEPTH = 4.0  # how far below the least support is told apart, in logarithms
LEVELS = (0.25, 0.5, 0.75)  # of training rows that have less support than on a line


@dataclass(frozen=True)
class Regions:
    """Labels and support of a grid.

    Attributes
    ----------
    x, y : arrays of shape (n_x,) and (n_y,)
        Middles of the cells.
    labels : array of shape (n_y, n_x)
        The cluster of each cell, without support too.
    support : array of shape (n_y, n_x)
    least_support : float
        What rows without support stay below.
    levels : array of shape (3,)
        Quantiles of the support of the rows that are shown.
    """

    x: Array
    y: Array
    labels: Indices
    support: Array
    least_support: float
    levels: Array


def regions_around(
    asked: AskedModel, points: Array, support: Array, resolution: int
) -> Regions | None:
    """The regions of a model of the plane around points, whose support says the levels.

    None where the points have no finite extent, so that there is nothing to draw on.
    """
    low, high = np.nanmin(points, axis=0), np.nanmax(points, axis=0)
    width = np.where(high > low, high - low, np.maximum(np.abs(high), 1.0))
    sides = [
        np.linspace(a - _MARGIN * w, b + _MARGIN * w, resolution)
        for a, b, w in zip(low, high, width, strict=True)
    ]
    if not np.isfinite(sides).all():
        return None
    x, y = sides
    grid = asked.from_units(np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2))
    shape = (resolution, resolution)
    least = asked.fitted.least_support
    return Regions(
        x,
        y,
        asked.clusters(grid).reshape(shape),
        asked.support(grid).reshape(shape),
        least,
        np.quantile(np.maximum(support, least), LEVELS),
    )


def draw_regions(ax: Any, regions: Regions) -> None:
    """Colours of clusters, paler where there is less support; lines of equal support."""
    x, y, support = regions.x, regions.y, np.maximum(regions.support, _floor(regions))
    half = np.array([-0.5, 0.5])
    extent = [*(x[[0, -1]] + half * (x[1] - x[0])), *(y[[0, -1]] + half * (y[1] - y[0]))]
    ax.imshow(
        region_image(regions),
        extent=extent,
        origin="lower",
        aspect="auto",
        interpolation="bilinear",
        zorder=0,
    )
    # Equal levels would be one line twice, which contour refuses.
    inner = np.unique(regions.levels[regions.levels > regions.least_support])
    for levels, look in (
        (inner, dict(colors="white", linewidths=0.8, alpha=0.9)),
        ([regions.least_support], dict(colors=INK, linewidths=1.1, linestyles="dashed")),
    ):
        if len(levels) and support.min() < levels[0] and levels[-1] < support.max():
            ax.contour(x, y, support, levels=levels, zorder=1, **look)
    ax.set(xlim=extent[:2], ylim=extent[2:])


def region_image(regions: Regions) -> Array:
    """Red, green and blue of each cell, with a white line between clusters."""
    labels, support = regions.labels, np.maximum(regions.support, _floor(regions))
    numbers, place = np.unique(labels, return_inverse=True)
    colors = np.array([_rgb(cluster_style(int(number)).color) for number in numbers])
    top = max(float(regions.levels[-1]), regions.least_support + 1e-9)
    depth = np.clip((support - regions.least_support) / (top - regions.least_support), 0, 1)
    white = _WHITE_LEAST + depth * (_WHITE_MOST - _WHITE_LEAST)
    white = np.where(support < regions.least_support, _WHITE_OUTSIDE, white)[..., np.newaxis]
    image = colors[place.reshape(labels.shape)] * (1 - white) + white
    is_border = np.zeros(labels.shape, dtype=bool)
    is_border[:, 1:] |= labels[:, 1:] != labels[:, :-1]
    is_border[1:] |= labels[1:] != labels[:-1]
    image[is_border] = 1.0
    return np.asarray(image)


def _floor(regions: Regions) -> float:
    """Far enough below the least support; rows without any affinity have minus infinity."""
    return regions.least_support - _DEPTH


def _rgb(color: str) -> list[float]:
    return [int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)]
