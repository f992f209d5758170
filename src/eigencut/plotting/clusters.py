"""The clusters of rows in the plane, with decision regions and similarity to the training rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.threads import threads
from eigencut._utils.validation import check_count, needed, shown
from eigencut.exceptions import invalid
from eigencut.model import Mask, Model
from eigencut.plotting.points import (
    cluster_handles,
    dot,
    point_area,
    scatter_clusters,
    sizes_of,
    write_numbers,
)
from eigencut.plotting.rows import PreparedRows, Shown, prepared_rows, project
from eigencut.plotting.style import (
    INK,
    OUTSIDE_COLOR,
    Display,
    cluster_style,
    legend_beside,
    plain,
    size_beside,
    spaced,
    tidy,
)


@dataclass(frozen=True)
class PlottedRows:
    """Rows as points; counts are of all rows, those that are not shown included."""

    points: Array  # (n_shown, 2)
    labels: Indices  # as of predict
    is_outside: Mask  # which are less similar to the training rows than these are
    sizes: NDArray[np.intp]  # rows of each cluster
    n_outside: int  # rows that the model labels -1
    n_unlike: int  # rows outside
    n_incomplete: int  # rows with missing values, which have no place
    shown: Shown  # which of all complete rows these are

    @classmethod
    def compute(cls, taken: PreparedRows, points: Array) -> PlottedRows:
        """Label all rows, and say which lie outside."""
        labels, some = taken.model.labels_of(taken.rows), taken.shown.rows
        is_outside = taken.model.gpod.fitted_cut_.is_outlier(taken.rows)
        return cls(
            points=points,
            labels=labels[some],
            is_outside=is_outside[some],
            sizes=sizes_of(labels, taken.model.cluster_numbers_),
            n_outside=int((labels < 0).sum()),
            n_unlike=int(is_outside.sum()),
            n_incomplete=int((~taken.complete).sum()),
            shown=taken.shown,
        )


@dataclass(frozen=True)
class Regions:
    """Labels of a grid, and similarity to the training rows."""

    x: Array  # middles of the cells
    y: Array
    labels: Indices  # (n_y, n_x), also of cells unlike the training rows
    support: Array  # (n_y, n_x), similarity to the training rows
    least_support: float  # what rows outside stay below
    levels: Array  # quartiles of the similarity of the rows that are shown

    @property
    def bounded(self) -> Array:
        """The similarity, not too far below the least; rows without any have minus infinity."""
        return np.maximum(self.support, self.least_support - 4.0)


def regions_around(model: Model, points: Array, support: Array, resolution: int) -> Regions | None:
    """Return the regions of a model around points; None where these have no finite extent."""
    low, high = np.nanmin(points, axis=0), np.nanmax(points, axis=0)
    width = np.where(high > low, high - low, np.maximum(np.abs(high), 1.0))
    sides = [
        np.linspace(a - 0.07 * w, b + 0.07 * w, resolution)
        for a, b, w in zip(low, high, width, strict=True)
    ]
    if not np.isfinite(sides).all():
        return None
    x, y = sides
    grid = model.from_units(np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2))
    shape, answers = (resolution, resolution), model.answers_of(grid)
    least = model.gpod.fitted_cut_.least_support
    return Regions(
        x=x,
        y=y,
        labels=answers.probabilities.argmax(axis=1).reshape(shape),
        support=answers.support.reshape(shape),
        least_support=least,
        levels=np.quantile(np.maximum(support, least), (0.25, 0.5, 0.75)),
    )


def draw_regions(ax: Any, regions: Regions) -> None:
    """Draw colours of clusters, paler where rows are less similar; lines of equal similarity."""
    x, y, support = regions.x, regions.y, regions.bounded
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
    """Return red, green and blue of each cell, with a white line between clusters."""
    labels, support = regions.labels, regions.bounded
    numbers, place = np.unique(labels, return_inverse=True)
    styles = [cluster_style(int(number)) for number in numbers]
    colors = np.array([[*bytes.fromhex(style.color[1:])] for style in styles]) / 255
    top = max(float(regions.levels[-1]), regions.least_support + 1e-9)
    depth = np.clip((support - regions.least_support) / (top - regions.least_support), 0, 1)
    # The share of white in the colour of a region.
    white = np.where(support < regions.least_support, 0.93, 0.80 - 0.18 * depth)[..., np.newaxis]
    image = colors[place.reshape(labels.shape)] * (1 - white) + white
    is_border = np.zeros(labels.shape, dtype=bool)
    is_border[:, 1:] |= labels[:, 1:] != labels[:, :-1]
    is_border[1:] |= labels[1:] != labels[:-1]
    image[is_border] = 1.0
    return np.asarray(image)


@dataclass
class ClusterDisplay(Display):
    """Rows coloured by cluster; in the plane, with decision regions and lines of equal similarity.

    Regions are paler where rows are less similar to the training rows; beyond the dashed line, and
    in rings, are rows outside: less similar than training rows are. Above 50 000 rows some are
    shown, and the legend says how many; what it counts besides, it counts in all rows.

    Attributes
    ----------
    rows : PlottedRows
    new_rows : PlottedRows or None
        Drawn with another marker.
    numbers : array of shape (K,)
        Of the clusters.
    kind : {"columns", "eigenfunctions", "pca", "given"}
        How rows became points.
    axis_labels : tuple of str
    regions : Regions or None
        For rows of two numbers.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from eigencut import GPOD
    >>> from eigencut.plotting import ClusterDisplay
    >>> X, _ = make_moons(300, noise=0.05, random_state=0)
    >>> display = ClusterDisplay.from_estimator(GPOD(2).fit(X), X, X_new=[[0.5, 0.0], [9.0, 9.0]])
    >>> display.new_rows.is_outside
    array([ True,  True])
    >>> display.figure_.savefig("moons.png")  # doctest: +SKIP
    """

    rows: PlottedRows
    new_rows: PlottedRows | None
    numbers: Indices
    kind: str
    axis_labels: tuple[str, str]
    regions: Regions | None

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        *,
        X_new: Any = None,
        projection: Any = "auto",
        projection_new: Any = None,
        grid_resolution: int = 300,
        ax: Any = None,
    ) -> ClusterDisplay:
        """Ask a fitted model about rows, and draw them.

        Parameters
        ----------
        model : fitted GPOD, TableModel or Reclustered
        X : array-like of shape (n_samples, n_features)
            Rows as ``model.predict`` takes them.
        X_new : array-like of shape (m, n_features), optional
            Other rows, drawn with another marker.
        projection : {"auto", "columns", "eigenfunctions", "pca"} or array of shape (n_samples, 2)
            How rows become points; said on the axes. Rows of two numbers are points. Of others
            "auto" takes principal components; of affinities and sparse rows, eigenfunctions.
        projection_new : array of shape (m, 2), optional
            The points of X_new, where ``projection`` is an array.
        grid_resolution : int, default=300
            Cells of the decision regions along an axis, at least 2.
        ax : matplotlib axes, optional
            Default: those of a new figure.

        Returns
        -------
        ClusterDisplay
        """
        check_count("grid_resolution", grid_resolution, "use the default of 300", least=2)
        if projection_new is not None and (X_new is None or isinstance(projection, str)):
            raise invalid(
                "projection_new",
                "be left out unless X_new is given and projection is an array",
                f"projection={shown(projection)} and X_new "
                f"{'left out' if X_new is None else 'given'}",
                "leave projection_new out, or pass X_new and the points of X as projection",
            )
        with prepared_rows(model, X) as taken:
            how = project(taken.model, taken.some, projection)
            rows = PlottedRows.compute(taken, how.points(taken, projection, "projection"))
            support = taken.model.gpod.fitted_cut_.support(taken.some)
        if how.kind == "given" and X_new is not None and projection_new is None:
            raise invalid(
                "projection_new",
                "hold the points of X_new where projection is an array",
                "None",
                "pass them, or use projection='pca'",
            )
        new_rows = None
        if X_new is not None:
            with prepared_rows(model, X_new) as new:
                points = how.points(new, projection_new, "projection_new")
                new_rows = PlottedRows.compute(new, points)
        regions = None
        if how.kind == "columns":
            points = rows.points
            if new_rows is not None:
                points = np.concatenate([points, new_rows.points])
            with threads(model.gpod.n_jobs):
                regions = regions_around(model, points, support, grid_resolution)
        return cls(
            rows=rows,
            new_rows=new_rows,
            numbers=model.cluster_numbers_,
            kind=how.kind,
            axis_labels=how.axis_labels,
            regions=regions,
        ).plot(ax)

    def _size(self) -> tuple[float, float]:
        return size_beside(len(self._handles()))

    def _draw(self, ax: Any) -> None:
        if self.regions is not None:
            draw_regions(ax, self.regions)
        area, is_over_regions = point_area(len(self.rows.labels)), self.regions is not None
        edge = "white" if is_over_regions and area > 5 else "none"
        alpha = 0.9 if self.new_rows is None else 0.55
        look: dict[str, Any] = dict(s=area, linewidths=0.3, edgecolors=edge, alpha=alpha, zorder=3)
        scatter_clusters(ax, self.rows.points, self.rows.labels, **look)
        _ring(ax, self.rows, area)
        if self.new_rows is not None:
            area = 2.2 * point_area(len(self.new_rows.labels))
            new: dict[str, Any] = dict(s=area, linewidths=0.7, edgecolors=INK, zorder=4)
            scatter_clusters(ax, self.new_rows.points, self.new_rows.labels, marker="P", **new)
            _ring(ax, self.new_rows, area)
        write_numbers(ax, self.rows.points, self.rows.labels, self.numbers)
        first, second = (plain(label) for label in self.axis_labels)
        ax.set(xlabel=first, ylabel=second)
        tidy(ax)
        title = self.rows.shown.title
        if self.rows.n_incomplete:
            title += f",\n{spaced(self.rows.n_incomplete)} with missing values not"
        legend_beside(ax, self._handles(), title)

    def _handles(self) -> list[Any]:
        rows, new = self.rows, self.new_rows
        found = cluster_handles(self.numbers, rows.sizes)
        if rows.n_outside:
            found.append(dot(f"no cluster ({spaced(rows.n_outside)})", OUTSIDE_COLOR, "x"))
        if new is not None:
            count = spaced(new.shown.n_rows) if new.shown.is_all else new.shown.sentence
            found.append(dot(f"new rows ({count})", "white", "P", markeredgecolor=INK))
        outside = [each.n_unlike for each in (rows, new) if each is not None]
        if any(outside):
            text = " + ".join(spaced(count) for count in outside)
            text = f"outside ({text}{' new' if new is not None else ''})"
            found.append(dot(text, "none", "o", markeredgecolor=INK))
        if self.regions is not None:
            lines = needed("matplotlib.lines", "plot")
            look = dict(color=INK, linestyle="dashed", linewidth=1.1)
            found.append(lines.Line2D([], [], label="least similarity", **look))
        return found


def _ring(ax: Any, rows: PlottedRows, area: float) -> None:
    """Draw a ring around each row that is less similar than training rows are."""
    if rows.is_outside.any():
        look = dict(facecolors="none", edgecolors=INK, linewidths=0.7, zorder=5)
        ax.scatter(*rows.points[rows.is_outside].T, s=3.0 * area + 12, marker="o", **look)
