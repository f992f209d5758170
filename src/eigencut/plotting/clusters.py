"""Clusters in the plane: of the columns, with decision regions, and of the spectral embedding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.threads import threads
from eigencut._utils.validation import check_count, is_integer, needed, shown
from eigencut.discretization import normalize_rows
from eigencut.exceptions import invalid
from eigencut.model import Mask, Model, check_model
from eigencut.plotting.rows import PreparedRows, Shown, prepared_rows, project, varying_functions
from eigencut.plotting.style import (
    INK,
    OUTSIDE_COLOR,
    PALE,
    Display,
    cluster_handles,
    cluster_style,
    dot,
    legend_beside,
    plain,
    point_area,
    scatter_clusters,
    size_beside,
    sizes_of,
    spaced,
    tidy,
    write_number,
    write_numbers,
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
        has_points = X_new is not None and not isinstance(projection, str)
        if has_points != (projection_new is not None):
            expected = "be left out unless X_new is given and projection is an array"
            if has_points:
                expected = "hold the points of X_new where projection is an array"
            remedy = "pass X_new and the points of both, or leave all points out"
            raise invalid("projection_new", expected, shown(projection_new), remedy)
        with prepared_rows(model, X) as taken:
            how = project(taken.model, taken.some, projection)
            rows = PlottedRows.compute(taken, how.points(taken, projection, "projection"))
            support = taken.model.gpod.fitted_cut_.support(taken.some)
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


@dataclass
class EmbeddingDisplay(Display):
    """Rows of the embedding at unit length, and the direction of each cluster.

    A row belongs to the cluster whose direction is nearest; POD has rotated the directions, at
    right angles to each other, to where the rows are. In a plane they are shadows. Up to three
    clusters it is that of two eigenfunctions. Of more clusters most would lie at its origin, so it
    is the one in which all directions are alike: as long as each other, evenly around a circle.

    Attributes
    ----------
    points : array of shape (n_shown, 2)
        Rows of the embedding, of unit length, in the plane.
    directions : array of shape (K, 2)
        Those of the clusters, in the plane.
    labels : array of shape (n_shown,)
    numbers : array of shape (K,)
        Of the clusters.
    sizes : array of shape (K,)
        Rows of each cluster, those that are not shown included.
    dimensions : tuple of int, or None
        The two eigenfunctions of the plane, from 0; None for directions evenly around a circle.
    shown : Shown
        Which rows these are.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from eigencut import GPOD
    >>> from eigencut.plotting import EmbeddingDisplay
    >>> X, _ = make_moons(200, noise=0.05, random_state=0)
    >>> EmbeddingDisplay.from_estimator(GPOD(2).fit(X), X).directions.shape
    (2, 2)
    """

    points: Array
    directions: Array
    labels: Indices
    numbers: Indices
    sizes: Any
    dimensions: tuple[int, int] | None
    shown: Shown

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any, *, dimensions: tuple[int, int] | None = None, ax: Any = None
    ) -> EmbeddingDisplay:
        """Embed rows by a fitted model, and draw them.

        Parameters
        ----------
        model : fitted GPOD or TableModel
            Of a ``Reclustered``, its base.
        X : array-like of shape (n_samples, n_features)
        dimensions : tuple of two int, optional
            Which eigenfunctions, from 0. Default, up to three clusters: the first two whose
            eigenvalues are not zero, for the others only tell connected components apart; or else
            the last two. Of more clusters: no two of them, but the plane in which all directions
            lie evenly around a circle, clusters that share rows beside each other.
        ax : matplotlib axes, optional

        Returns
        -------
        EmbeddingDisplay
        """
        model = check_model(model).unsplit
        K, fitted = model.gpod.n_clusters_, model.gpod.fitted_cut_
        if K < 2:
            raise invalid(
                "model",
                "have two clusters at least, for each is a dimension of the embedding",
                "one of 1 cluster",
                "draw ClusterDisplay or SupportDisplay of it instead",
            )
        two: tuple[int, int] | None = None
        if dimensions is not None or K <= 3:
            given = varying_functions(model) if dimensions is None else dimensions
            two = _check_dimensions(given, K)
        with prepared_rows(model, X) as taken:
            labels = model.labels_of(taken.rows)
            unit = normalize_rows(fitted.embedding(taken.some))
        plane = np.eye(K)[:, list(two or ())]
        if two is None:
            plane = fitted.rotation @ evenly_around(unit @ fitted.rotation)
        return cls(
            points=unit @ plane,
            directions=fitted.rotation.T @ plane,
            labels=labels[taken.shown.rows],
            numbers=model.cluster_numbers_,
            sizes=sizes_of(labels, model.cluster_numbers_),
            dimensions=two,
            shown=taken.shown,
        ).plot(ax)

    def _size(self) -> tuple[float, float]:
        return size_beside(len(self.numbers) + 1)

    def _draw(self, ax: Any) -> None:
        patches = needed("matplotlib.patches", "plot")
        ax.add_patch(patches.Circle((0, 0), 1, fill=False, color=PALE, linewidth=1, zorder=0))
        look: dict[str, Any] = dict(
            s=point_area(len(self.labels)), linewidths=0, alpha=0.6, zorder=2
        )
        scatter_clusters(ax, self.points, self.labels, **look)
        lengths = np.hypot(*self.directions.T)
        is_long = lengths >= 0.3 * lengths.max()  # numbers of others would lie on each other
        for number, at, is_named in zip(self.numbers, self.directions, is_long, strict=True):
            arrow = dict(arrowstyle="-|>", color=cluster_style(int(number)).color, linewidth=1.8)
            ax.annotate("", at, (0, 0), arrowprops={**arrow, "shrinkA": 0, "shrinkB": 0}, zorder=4)
            if is_named:
                beyond = 11 * at / np.hypot(*at)
                write_number(ax, number, at, xytext=beyond, textcoords="offset points", zorder=5)
        reach = 1.2 * max(np.abs(self.points).max(), np.abs(self.directions).max())
        ax.set(xlim=(-reach, reach), ylim=(-reach, reach))
        ax.set_aspect("equal", adjustable="box")
        tidy(ax)
        K = len(self.numbers)
        ax.set_xlabel(f"the plane in which the {K} directions\nare equally long (unit rows)")
        if self.dimensions is not None:
            first, second = (k + 1 for k in self.dimensions)
            of_all = "" if K == 2 else f" of {K}"
            xlabel, ylabel = f"dimension {first}{of_all} (unit rows)", f"dimension {second}{of_all}"
            ax.set(xlabel=xlabel, ylabel=ylabel)
        handles = cluster_handles(self.numbers, self.sizes)
        legend_beside(ax, handles, self.shown.title)


def evenly_around(turned: Array) -> Array:
    """Return a K x 2 matrix of K axes evenly on a circle, those that share rows beside another."""
    # Its columns are at right angles and equally long: it shows a shadow that is not bent.
    K = turned.shape[1]
    share = np.abs(turned)
    together = share.T @ share
    order = [0]
    while len(order) < K:
        left = [k for k in range(K) if k not in order]
        order.append(left[int(np.argmax(together[order[-1], left]))])
    angles = np.empty(K)
    angles[order] = np.pi / 2 - 2 * np.pi * np.arange(K) / K
    return np.column_stack([np.cos(angles), np.sin(angles)])


def _check_dimensions(dimensions: Any, n_clusters: int) -> tuple[int, int]:
    found = dimensions.tolist() if isinstance(dimensions, np.ndarray) else dimensions
    are_two = isinstance(found, Sequence) and len(found) == 2 and all(map(is_integer, found))
    if not (are_two and all(0 <= k < n_clusters for k in found) and found[0] != found[1]):
        raise invalid(
            "dimensions",
            f"be two different integers from 0 to {n_clusters - 1}, below the number of clusters",
            repr(dimensions),
            "use (0, 1)",
        )
    return int(found[0]), int(found[1])
