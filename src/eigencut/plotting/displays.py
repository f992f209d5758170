"""Displays of fitted models: clusters, margins, similarities, eigenvalues, trees and drift.

To draw rows as points, the model prepares a sample of them (``prepared_rows``), and a projection
places them in the plane (``project``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.running import threads
from eigencut._utils.validation import needed, real_array
from eigencut.auto.spectrum import Spectrum
from eigencut.discretization import normalize_rows
from eigencut.exceptions import invalid
from eigencut.hierarchy.hierarchy import Hierarchy
from eigencut.inspection.assessment import CutValue, cut_value
from eigencut.inspection.describe import short
from eigencut.model import Mask, Model, check_model
from eigencut.plotting.style import (
    COLORS,
    INK,
    MARKERS,
    OUTSIDE_COLOR,
    PALE,
    SIZE,
    Display,
    cluster_style,
    height_for,
    legend_above,
    plain,
    spaced,
    tidy,
)
from eigencut.updating.drift import Drift

MOST_SHOWN = 50_000  # points in a picture; more would only cover each other
GRID = 300  # cells of decision regions along each axis
LEGEND_ROWS = 18  # entries in a column of a legend


@dataclass(frozen=True)
class Shown:
    """The rows that a picture shows: all, or a random sample."""

    rows: Indices  # indices of the shown rows, ascending
    n_rows: int  # the number of all rows

    @classmethod
    def draw(cls, n_rows: int, most: int = MOST_SHOWN, random_state: int = 0) -> Shown:
        """Take all rows, or a sample of ``most`` rows, which is reproducible."""
        if n_rows <= most:
            return cls(np.arange(n_rows), n_rows)
        rng = np.random.default_rng(random_state)
        return cls(np.sort(rng.choice(n_rows, most, replace=False, shuffle=False)), n_rows)

    @property
    def is_all(self) -> bool:
        """Whether all rows are shown."""
        return len(self.rows) == self.n_rows

    @property
    def sentence(self) -> str:
        """The number of rows as text, such as "300 rows" or "50 000 of 98 765 rows"."""
        some = "" if self.is_all else f"{spaced(len(self.rows))} of "
        return f"{some}{spaced(self.n_rows)} rows"


class PreparedRows(NamedTuple):
    """The complete rows, prepared, a mask of them among all rows, and the shown ones."""

    rows: Any
    complete: Mask
    shown: Shown

    @property
    def some(self) -> Any:
        """The shown rows, prepared."""
        return self.rows if self.shown.is_all else self.rows[self.shown.rows]


@contextmanager
def prepared_rows(
    model: Any, X: Any, most: int = MOST_SHOWN, random_state: int = 0, name: str = "X"
) -> Iterator[PreparedRows]:
    """Prepare rows for a model, checked, and use the model's number of threads inside."""
    with check_model(model).preparing(X) as (rows, complete):
        if not rows.shape[0]:
            got = f"{len(complete)} rows, none of them complete"
            remedy = "fill in what is missing, or fit with missing='median'"
            raise invalid(name, "have a row without missing values", got, remedy)
        yield PreparedRows(rows, complete, Shown.draw(rows.shape[0], most, random_state))


class Projection(NamedTuple):
    """A function from prepared rows to points in the plane, and the labels of its axes."""

    kind: str  # "columns", "eigenfunctions", "pca" or "given"
    axis_labels: tuple[str, str]  # may be names of columns, not yet escaped for matplotlib
    apply: Callable[[Any], Array]


def project(model: Model, rows: Any, how: str = "auto") -> Projection:
    """Return the projection of prepared rows by columns, principal components or eigenfunctions."""
    gpod, K, is_dense = model.gpod, model.gpod.n_clusters_, not issparse(rows)
    is_plane = is_dense and model.is_plane
    has_pca = is_dense and not gpod.affinity_.pairwise and rows.shape[1] > 1
    if how == "auto":
        how = "columns" if is_plane else "pca" if has_pca else "eigenfunctions"
    of_pca = "affinities" if gpod.affinity_.pairwise else "sparse rows, or of one column"
    needs = {
        "columns": (is_plane, "rows of two numbers", f"{len(model.columns_)} columns"),
        "pca": (has_pca, "rows of two numbers or more", of_pca),
        "eigenfunctions": (K > 1, "a model of at least two clusters", f"one of {K}"),
    }
    if how not in needs:
        expected = "be 'auto', 'columns', 'eigenfunctions', 'pca', or points of shape (n_rows, 2)"
        raise invalid("projection", expected, repr(how), "leave it out for 'auto'")
    is_there, expected, got = needs[how]
    if not is_there:
        raise invalid(f"projection={how!r}", f"have {expected}", got, "pass points of your own")
    if how == "columns":
        first, second = model.columns_
        return Projection(how, (first, second), model.in_units)
    if how == "pca":
        return _principal_components(np.asarray(rows, dtype=np.float64))
    # Skip eigenfunctions of eigenvalue 0, which only tell connected components apart.
    values = getattr(gpod, "eigenvalues_", np.ones(2))
    start = max(min(int((values <= 1e-10).sum()), len(values) - 2), 0)
    both = [start, start + 1]
    first, second = (f"eigenfunction {place + 1} (unit rows)" for place in both)
    if not hasattr(gpod, "eigenvalues_"):
        first, second = (f"share of cluster {place} (unit rows)" for place in both)
    return Projection(how, (first, second), lambda some: unit_rows(model, some)[:, both])


def unit_rows(model: Model, rows: Any) -> Array:
    """Return the embedding of prepared rows, scaled to unit length."""
    embedding = model.gpod.fitted_cut_.embedding(rows)
    return normalize_rows(embedding.toarray() if issparse(embedding) else embedding)


def _principal_components(values: Array) -> Projection:
    largest = np.abs(values).max(initial=0.0) or 1.0  # so that squares are finite
    mean = (values / largest).mean(axis=0)
    centred = values / largest - mean
    variances, directions = np.linalg.eigh(centred.T @ centred)
    # The sign of a direction is arbitrary: make its largest entry positive.
    chosen = directions[:, :-3:-1]
    chosen = chosen * np.sign(chosen[np.abs(chosen).argmax(axis=0), [0, 1]])
    shares = variances[:-3:-1] / max(float(variances.sum()), np.finfo(np.float64).tiny)
    first, second = (f"principal component {k + 1} ({shares[k]:.0%} of variance)" for k in (0, 1))
    return Projection(
        "pca",
        (first, second),
        lambda some: (np.asarray(some, dtype=np.float64) / largest - mean) @ chosen * largest,
    )


def given_points(points: Any, n_rows: int) -> Array:
    """Return the points that a user passes as ``projection``, checked."""
    given, remedy = real_array("projection", points), "pass two numbers for each row"
    if given.shape != (n_rows, 2):
        expected = f"be points of shape ({n_rows}, 2), one for each row"
        raise invalid("projection", expected, f"shape {given.shape}", remedy)
    is_bad = ~np.isfinite(given).all(axis=1)
    if is_bad.any():
        row = int(is_bad.argmax())
        got = f"{given[row, 0]} and {given[row, 1]} in row {row}"
        expected = "be finite real numbers, two for each row"
        raise invalid("projection", expected, got, "correct it, or leave such rows out")
    return given


@dataclass(frozen=True)
class PlottedRows:
    """The shown rows as points, and counts of all rows."""

    points: Array  # (n_shown, 2)
    labels: Indices  # (n_shown,), as ``predict`` returns them
    is_outside: Mask  # (n_shown,): rows that are unlike all training rows
    sizes: NDArray[np.intp]  # number of rows in each cluster
    n_outside: int  # number of rows with the label -1
    n_unlike: int  # number of rows that are unlike all training rows
    n_incomplete: int  # number of rows with missing values, which are not drawn
    shown: Shown  # the shown rows among the complete rows

    @classmethod
    def compute(cls, model: Model, taken: PreparedRows, points: Array) -> PlottedRows:
        """Label all rows, and find those that are unlike the training rows."""
        labels, some = model.labels_of(taken.rows), taken.shown.rows
        is_outside = model.gpod.fitted_cut_.is_outlier(taken.rows)
        return cls(
            points=points,
            labels=labels[some],
            is_outside=is_outside[some],
            sizes=sizes_of(labels, model.cluster_numbers_),
            n_outside=int((labels < 0).sum()),
            n_unlike=int(is_outside.sum()),
            n_incomplete=int((~taken.complete).sum()),
            shown=taken.shown,
        )


@dataclass(frozen=True)
class Regions:
    """Labels of the cells of a grid, and their similarity to the training rows."""

    x: Array  # middles of the cells
    y: Array
    labels: Indices  # (n_y, n_x), also in cells that are unlike the training rows
    support: Array  # (n_y, n_x): similarity to the training rows
    least_support: float  # the similarity below which rows are outside
    levels: Array  # quartiles of the similarity of the shown rows


def regions_around(model: Model, points: Array, support: Array, resolution: int) -> Regions | None:
    """Return the regions of a model around points, or None if their extent is not finite."""
    low, high = np.nanmin(points, axis=0), np.nanmax(points, axis=0)
    width = np.where(high > low, high - low, np.maximum(np.abs(high), 1.0))
    x, y = np.linspace(low - 0.07 * width, high + 0.07 * width, resolution, axis=1)
    if not np.isfinite([x, y]).all():
        return None
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
    """Draw regions in the colours of clusters, paler where less similar, and contour lines."""
    x, y, labels, least = regions.x, regions.y, regions.labels, regions.least_support
    support = np.maximum(regions.support, least - 4.0)  # contour lines need finite values
    numbers, place = np.unique(labels, return_inverse=True)
    colors = np.array([_rgb(cluster_style(int(number)).color) for number in numbers])
    depth = (support - least) / max(float(regions.levels[-1]) - least, 1e-9)
    # The share of white in the colour of a region.
    white = np.where(support < least, 0.93, 0.80 - 0.18 * np.clip(depth, 0, 1))[..., np.newaxis]
    image = colors[place.reshape(labels.shape)] * (1 - white) + white
    is_border = np.zeros(labels.shape, dtype=bool)
    is_border[:, 1:] |= labels[:, 1:] != labels[:, :-1]
    is_border[1:] |= labels[1:] != labels[:-1]
    image[is_border] = 1.0
    half = np.array([-0.5, 0.5])
    extent = [*(x[[0, -1]] + half * (x[1] - x[0])), *(y[[0, -1]] + half * (y[1] - y[0]))]
    look: dict[str, Any] = dict(origin="lower", aspect="auto", interpolation="bilinear", zorder=0)
    ax.imshow(image, extent=extent, **look)
    # Distinct levels: ``contour`` refuses equal ones.
    inner = np.unique(regions.levels[regions.levels > least])
    for levels, look in (
        (inner, dict(colors="white", linewidths=0.8, alpha=0.9)),
        ([least], dict(colors=INK, linewidths=1.1, linestyles="dashed")),
    ):
        if len(levels) and support.min() < levels[0] and levels[-1] < support.max():
            ax.contour(x, y, support, levels=levels, zorder=1, **look)
    ax.set(xlim=extent[:2], ylim=extent[2:])


def size_beside(n_entries: int) -> tuple[float, float]:
    """Return the size of a figure with a legend beside the axes."""
    return SIZE[0] - 1.2 + 1.75 * -(-n_entries // LEGEND_ROWS), SIZE[1]


def legend_beside(ax: Any, handles: Sequence[Any] | None = None, title: str | None = None) -> None:
    """Put a legend beside the axes if the figure's layout makes room for it, otherwise on them."""
    if handles is None:
        handles = ax.get_legend_handles_labels()[0]
    look: dict[str, Any] = dict(title=title, fontsize=8, title_fontsize=8, labelcolor=INK)
    look |= dict(ncols=-(-len(handles) // LEGEND_ROWS), handletextpad=0.4, columnspacing=1.0)
    if ax.figure.get_layout_engine() is not None:
        look |= dict(loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0, frameon=False)
    else:
        look |= dict(loc="upper right", framealpha=0.85, edgecolor=PALE)
    ax.legend(handles=handles, **look)


def cluster_handles(display: Display, numbers: Indices, sizes: Any) -> list[Any]:
    """Return entries of a legend: the style, the name and the size of each cluster."""
    return [
        dot(display._name(number, size), *cluster_style(number))
        for number, size in zip(numbers.tolist(), sizes, strict=True)
    ]


def dot(label: str, color: str, marker: str, **look: Any) -> Any:
    """Return an entry of a legend that is a point."""
    look |= dict(linestyle="none", marker=MARKERS.get(marker, marker), markersize=6)
    return needed("matplotlib.lines", "plot").Line2D([], [], color=color, label=label, **look)


def sizes_of(labels: Indices, numbers: Indices) -> NDArray[np.intp]:
    """Return the number of rows of each cluster."""
    return np.array([(labels == number).sum() for number in numbers], dtype=np.intp)


def point_area(n_points: int) -> float:
    """Return the area of each of ``n_points`` markers, in square points."""
    return float(np.clip(16_000 / max(n_points, 1), 2.5, 26.0))


def scatter_clusters(
    ax: Any, points: Array, labels: Indices, marker: str | None = None, **look: Any
) -> None:
    """Draw points in the styles of their clusters, in random order, so that none hides another."""
    order = np.random.default_rng(0).permutation(len(labels))
    styles = {int(number): cluster_style(int(number)) for number in np.unique(labels)}
    for kind in dict.fromkeys(style.marker for style in styles.values()):
        numbers = [number for number, style in styles.items() if style.marker == kind]
        some = order[np.isin(labels[order], numbers)]
        colors = [styles[int(number)].color for number in labels[some]]
        name = marker or MARKERS[kind]
        own = {"linewidths": 0.9, "edgecolors": None} if name == "x" else {}  # "x" has no fill
        ax.scatter(*points[some].T, c=colors, marker=name, **{**look, **own})


def write_number(ax: Any, number: int, at: Array, **look: Any) -> None:
    """Write the number of a cluster at a place, with a white outline."""
    effects = needed("matplotlib.patheffects", "plot")
    look |= dict(ha="center", va="center", fontsize=9, fontweight="bold", color=INK)
    halo = [effects.withStroke(linewidth=2.5, foreground="white")]
    ax.annotate(str(number), at, path_effects=halo, **look)


def write_numbers(ax: Any, points: Array, labels: Indices, numbers: Indices) -> None:
    """Write the number of each cluster on its most central row, if colours are used twice."""
    if max(len(numbers), *(numbers + 1), 1) <= len(COLORS):
        return
    for number in np.unique(labels[labels >= 0]):
        own = points[labels == number]
        own = own[np.isfinite(own).all(axis=1)]
        if len(own):
            middle = own[np.abs(own - np.median(own, axis=0)).sum(axis=1).argmin()]
            write_number(ax, number, middle, zorder=6)


@dataclass
class ClusterDisplay(Display):
    """Rows as points coloured by cluster; if they have two columns, also the regions of clusters.

    Regions are paler where rows are less similar to the training rows. Rows beyond the dashed line
    and in rings are outside: less similar than training rows are. Above 50 000 rows, a sample is
    shown, whose size is in the legend; other counts in the legend are of all rows.

    Attributes
    ----------
    rows, new_rows : PlottedRows, PlottedRows or None
    numbers : array of shape (K,)
        The numbers of the clusters.
    kind, axis_labels : str and tuple of str
        How rows became points: "columns", "eigenfunctions", "pca" or "given".
    regions : Regions or None
        The regions of clusters, for rows of two columns.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from eigencut import GPOD
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
        cls, model: Any, X: Any, *, X_new: Any = None, projection: Any = "auto", ax: Any = None
    ) -> ClusterDisplay:
        """Label rows by a fitted model, and draw them.

        Parameters
        ----------
        X_new : array-like of shape (m, n_features), optional
            Other rows, drawn with another marker.
        projection : {"auto", "columns", "eigenfunctions", "pca"} or array of shape (n_samples, 2)
            How rows become points. "auto" takes the columns of rows with two columns, principal
            components of other rows, and eigenfunctions (or shares of a discrete cut) of sparse
            rows and affinities. An array gives the points of X, and excludes ``X_new``.
        """
        is_given = not isinstance(projection, str)
        if is_given and X_new is not None:
            remedy = "draw the rows of both as X, with the points of both"
            raise invalid("X_new", "be left out where projection is an array", "both", remedy)
        with prepared_rows(model, X) as taken:
            if is_given:
                points = given_points(projection, len(taken.complete))
                points = points[taken.complete][taken.shown.rows]
                axes = ("given coordinate 1", "given coordinate 2")
                how = Projection("given", axes, lambda _: points)
            else:
                how = project(model, taken.some, projection)
            rows = PlottedRows.compute(model, taken, how.apply(taken.some))
            support = model.gpod.fitted_cut_.support(taken.some)
        new_rows = regions = None
        if X_new is not None:
            with prepared_rows(model, X_new) as new:
                new_rows = PlottedRows.compute(model, new, how.apply(new.some))
        if how.kind == "columns":
            both = [some.points for some in (rows, new_rows) if some is not None]
            with threads(model.gpod.n_jobs):
                regions = regions_around(model, np.concatenate(both), support, GRID)
        return cls(
            rows=rows,
            new_rows=new_rows,
            numbers=model.cluster_numbers_,
            kind=how.kind,
            axis_labels=how.axis_labels,
            regions=regions,
        )._drawn(ax, model.class_names_)

    def _size(self) -> tuple[float, float]:
        return size_beside(len(self._handles()))

    def _draw(self, ax: Any) -> None:
        area, edge = point_area(len(self.rows.labels)), "none"
        if self.regions is not None:
            draw_regions(ax, self.regions)
            edge = "white" if area > 5 else edge
        alpha = 0.9 if self.new_rows is None else 0.55
        look: dict[str, Any] = dict(s=area, linewidths=0.3, edgecolors=edge, alpha=alpha, zorder=3)
        scatter_clusters(ax, self.rows.points, self.rows.labels, **look)
        _ring(ax, self.rows, area)
        if self.new_rows is not None:
            area = 2.2 * point_area(len(self.new_rows.labels))
            look = dict(s=area, linewidths=0.7, edgecolors=INK, zorder=4)
            scatter_clusters(ax, self.new_rows.points, self.new_rows.labels, marker="P", **look)
            _ring(ax, self.new_rows, area)
        write_numbers(ax, self.rows.points, self.rows.labels, self.numbers)
        ax.set(xlabel=plain(self.axis_labels[0]), ylabel=plain(self.axis_labels[1]))
        tidy(ax)
        title = self.rows.shown.sentence
        if self.rows.n_incomplete:
            title += f",\n{spaced(self.rows.n_incomplete)} with missing values not"
        legend_beside(ax, self._handles(), title)

    def _handles(self) -> list[Any]:
        rows, new = self.rows, self.new_rows
        handles = cluster_handles(self, self.numbers, rows.sizes)
        if rows.n_outside:
            handles.append(dot(f"no cluster ({spaced(rows.n_outside)})", OUTSIDE_COLOR, "x"))
        if new is not None:
            count = spaced(new.shown.n_rows) if new.shown.is_all else new.shown.sentence
            handles.append(dot(f"new rows ({count})", "white", "P", markeredgecolor=INK))
        outside = [each.n_unlike for each in (rows, new) if each is not None]
        if any(outside):
            text = " + ".join(spaced(count) for count in outside)
            text = f"outside ({text}{' new' if new is not None else ''})"
            handles.append(dot(text, "none", "o", markeredgecolor=INK))
        if self.regions is not None:
            lines = needed("matplotlib.lines", "plot")
            look = dict(color=INK, linestyle="dashed", linewidth=1.1)
            handles.append(lines.Line2D([], [], label="least similarity", **look))
        return handles


def _ring(ax: Any, rows: PlottedRows, area: float) -> None:
    """Draw a ring around each row that is unlike all training rows."""
    if rows.is_outside.any():
        look = dict(facecolors="none", edgecolors=INK, linewidths=0.7, zorder=5)
        ax.scatter(*rows.points[rows.is_outside].T, s=3.0 * area + 12, marker="o", **look)


@dataclass
class EmbeddingDisplay(Display):
    """Rows of the embedding, scaled to unit length, and the direction of each cluster.

    A row belongs to the cluster with the nearest direction. Directions are orthogonal; more than
    two are projected onto a plane in which they are equally long and evenly spread.

    Attributes
    ----------
    points, labels : arrays of shape (n_shown, 2) and (n_shown,)
        The shown rows of the embedding in the plane, and their clusters.
    directions, numbers : arrays of shape (K, 2) and (K,)
        The directions of the clusters in the plane, and their numbers.
    sizes, shown : array of shape (K,), Shown
        The number of rows of each cluster, and the shown rows among the complete rows.
    """

    points: Array
    directions: Array
    labels: Indices
    numbers: Indices
    sizes: Any
    shown: Shown

    @classmethod
    def from_estimator(cls, model: Any, X: Any, *, ax: Any = None) -> EmbeddingDisplay:
        """Embed rows by a fitted model, and draw them.

        Parameters
        ----------
        model : fitted GPOD or TableModel
            For a ``Reclustered``, the model before the split is drawn.
        """
        model = check_model(model).unsplit
        K, fitted = model.gpod.n_clusters_, model.gpod.fitted_cut_
        if K < 2:
            expected = "have at least two clusters, since each is a dimension of the embedding"
            remedy = "draw ClusterDisplay or SupportDisplay of it instead"
            raise invalid("model", expected, "one of 1 cluster", remedy)
        with prepared_rows(model, X) as taken:
            labels = model.labels_of(taken.rows)
            unit = unit_rows(model, taken.some)
        plane = np.eye(2)
        if K > 2:
            plane = fitted.directions @ evenly_around(unit @ fitted.directions)
        return cls(
            points=unit @ plane,
            directions=fitted.directions.T @ plane,
            labels=labels[taken.shown.rows],
            numbers=model.cluster_numbers_,
            sizes=sizes_of(labels, model.cluster_numbers_),
            shown=taken.shown,
        )._drawn(ax, model.class_names_)

    def _size(self) -> tuple[float, float]:
        return size_beside(len(self.numbers) + 1)

    def _draw(self, ax: Any) -> None:
        patches = needed("matplotlib.patches", "plot")
        ax.add_patch(patches.Circle((0, 0), 1, fill=False, color=PALE, linewidth=1, zorder=0))
        area = point_area(len(self.labels))
        scatter_clusters(ax, self.points, self.labels, s=area, linewidths=0, alpha=0.6, zorder=2)
        for number, at in zip(self.numbers, self.directions, strict=True):
            arrow = dict(arrowstyle="-|>", color=cluster_style(int(number)).color, linewidth=1.8)
            ax.annotate("", at, (0, 0), arrowprops={**arrow, "shrinkA": 0, "shrinkB": 0}, zorder=4)
            beyond = 11 * at / np.hypot(*at)
            write_number(ax, number, at, xytext=beyond, textcoords="offset points", zorder=5)
        reach = 1.2 * max(np.abs(self.points).max(), np.abs(self.directions).max())
        ax.set(xlim=(-reach, reach), ylim=(-reach, reach))
        ax.set_aspect("equal", adjustable="box")
        tidy(ax)
        K = len(self.numbers)
        ax.set_xlabel(f"the plane in which the {K} directions\nare equally long (unit rows)")
        if K == 2:
            ax.set(xlabel="dimension 1 (unit rows)", ylabel="dimension 2")
        legend_beside(ax, cluster_handles(self, self.numbers, self.sizes), self.shown.sentence)


def evenly_around(turned: Array) -> Array:
    """Return a K x 2 matrix of K axes evenly on a circle, with similar clusters side by side."""
    # Its columns are orthogonal and equally long: it is an orthogonal projection, up to scale.
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


@dataclass
class MarginDisplay(Display):
    """The margins of the rows of each cluster.

    Rows at the right end clearly belong to their cluster; those at the left end are ambiguous. The
    bar spans the middle half of a cluster's rows, and the dot is the median.

    Attributes
    ----------
    values, labels : arrays of shape (n_shown,)
        The margin and cluster of each shown row.
    numbers, shown : array of shape (K,), Shown
        The numbers of the clusters, and the shown rows among the complete rows.
    """

    values: Array
    labels: Indices
    numbers: Indices
    shown: Shown

    @classmethod
    def from_estimator(cls, model: Any, X: Any, *, ax: Any = None) -> MarginDisplay:
        """Compute the margins of rows by a fitted model, and draw them."""
        with prepared_rows(model, X) as taken:
            answers, numbers = model.answers_of(taken.some), model.cluster_numbers_
        display = cls(answers.margins, answers.labels, numbers, taken.shown)
        return display._drawn(ax, model.class_names_)

    def _size(self) -> tuple[float, float]:
        return SIZE[0], height_for(len(self.numbers), 0.3)

    def _draw(self, ax: Any) -> None:
        n, rng = len(self.numbers), np.random.default_rng(0)
        area, names = 2.0 * point_area(len(self.values)) ** 0.5, []
        for height, number in zip(range(n - 1, -1, -1), self.numbers, strict=True):
            own, color = self.values[self.labels == number], cluster_style(int(number)).color
            names.append(self._name(int(number), len(own)))
            ax.axhline(height, color=PALE, linewidth=0.6, zorder=0)
            if not len(own):
                continue
            at = height + rng.uniform(-0.34, 0.34, len(own))
            ax.scatter(own, at, s=area, color=color, linewidths=0, alpha=0.5, zorder=2)
            low, middle, high = np.quantile(own, (0.25, 0.5, 0.75))
            ax.plot([low, high], [height] * 2, color=INK, linewidth=3, zorder=3)
            ax.plot(middle, height, "o", color="white", markeredgecolor=INK, ms=5, zorder=4)
        ax.set_yticks(range(n - 1, -1, -1), names)
        ax.set(xlim=(-0.01, 1.01), ylim=(-0.6, n - 0.4))
        tidy(ax)
        ax.spines["left"].set_visible(False)
        ax.tick_params(axis="y", length=0)
        ax.set_xlabel(f"margin (0 is ambiguous, 1 is certain), {self.shown.sentence}", color=INK)


@dataclass
class SupportDisplay(Display):
    """Histograms of the similarity of training and of new rows to the training rows.

    Rows to the left of the dashed line are outside: less similar than training rows are. The first
    bar includes all rows further to the left.

    Attributes
    ----------
    support, new_support : array of shape (n_shown,), array or None
        ``score_samples`` of the training rows, and of the new rows.
    least_support : float
    shown, new_shown : Shown, Shown or None
        The shown rows among the complete rows.
    """

    support: Array
    new_support: Array | None
    least_support: float
    shown: Shown
    new_shown: Shown | None

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any, *, X_new: Any = None, ax: Any = None
    ) -> SupportDisplay:
        """Compute the similarity of rows to the training rows, and draw it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The training rows, or some of them.
        X_new : array-like of shape (m, n_features), optional
            Rows to compare with them.
        """
        support, shown = _support(model, X)
        new_support, new_shown = (None, None) if X_new is None else _support(model, X_new)
        least_support = model.gpod.fitted_cut_.least_support
        return cls(support, new_support, least_support, shown, new_shown).plot(ax)

    def _draw(self, ax: Any) -> None:
        groups = [(self.support, self.shown, "training", COLORS[0])]
        if self.new_support is not None and self.new_shown is not None:
            groups.append((self.new_support, self.new_shown, "new", COLORS[1]))
        together = np.concatenate([values for values, *_ in groups])
        finite, least = together[np.isfinite(together)], self.least_support
        most = float(finite.max(initial=least))
        width = max(most - least, 1e-6 * max(abs(most), 1.0))
        low = np.clip(finite.min(initial=least), least - width, least - 0.25 * width)
        edges = np.linspace(low, most, 46)
        for values, some, kind, color in groups:
            sentence = some.sentence.replace(" rows", f" {kind} rows")
            label = f"{sentence}, {(values < least).mean():.1%} outside"
            weights = np.full(len(values), 100 / max(len(values), 1))
            look = dict(histtype="stepfilled", facecolor=(color, 0.35), edgecolor=color, zorder=2)
            look |= dict(weights=weights, linewidth=1.4, label=label)
            ax.hist(np.maximum(values, edges[0]), edges, **look)
        label = "least similarity of training rows"
        ax.axvline(least, color=INK, linestyle="dashed", linewidth=1.1, label=label)
        below = "; first bar: and below" if (together < edges[0]).any() else ""
        ax.set_xlabel(f"similarity to the training rows (log of the mean affinity){below}")
        ax.set_ylabel("rows in %")
        tidy(ax, "y")
        legend_above(ax, 1)


def _support(model: Any, X: Any) -> tuple[Array, Shown]:
    with prepared_rows(model, X) as taken:
        return model.gpod.fitted_cut_.support(taken.some), taken.shown


@dataclass
class SimilarityDisplay(Display):
    """The matrix of similarities between rows, sorted by cluster.

    Clear clusters are dark squares on the diagonal; dark areas off the diagonal connect two
    clusters. Colours show the square root of the similarity. Above 2000 rows, a sample is shown.

    Attributes
    ----------
    similarities : array of shape (n_shown, n_shown)
        The similarities of the sorted rows; NaN on the diagonal.
    labels, rows : arrays of shape (n_shown,)
        The clusters of the sorted rows, and their indices among the complete rows.
    shown : Shown
        The shown rows among the complete rows.
    """

    similarities: Array
    labels: Indices
    rows: Indices
    shown: Shown

    @classmethod
    def from_estimator(cls, model: Any, X: Any, *, ax: Any = None) -> SimilarityDisplay:
        """Compute the weights between rows by a fitted model, and draw them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            For precomputed affinities, the square matrix of the fit.
        """
        with prepared_rows(model, X, most=2000) as taken:
            labels, W = model.labels_of(taken.some), _similarities(model, taken)
        order, shown = np.argsort(labels, kind="stable"), taken.shown
        np.fill_diagonal(W, np.nan)  # the largest similarity, that of a row to itself
        W = W[np.ix_(order, order)]
        return cls(W, labels[order], shown.rows[order], shown).plot(ax)

    def _draw(self, ax: Any) -> None:
        n, cells = len(self.labels), np.nan_to_num(self.similarities)
        # Cut off the colour scale, so that a few large values do not make all others pale.
        largest = float(np.quantile(cells[cells > 0], 0.98)) if (cells > 0).any() else 1.0
        extend, cells = "max" if cells.max() > largest else "neither", np.sqrt(cells / largest)
        ax.imshow(cells, cmap="Blues", vmin=0, vmax=1, origin="upper", extent=(0, n, n, 0))
        numbers, first = np.unique(self.labels, return_index=True)
        bounds = np.append(first, n)
        for lines in (ax.hlines, ax.vlines):
            lines(bounds[1:-1], 0, n, color=INK, linewidth=0.4, alpha=0.4)
        width = 0.025 * n
        for number, start, end in zip(numbers, bounds[:-1], bounds[1:], strict=True):
            color = cluster_style(int(number)).color
            ax.fill_betweenx([start, end], -width, 0, color=color, linewidth=0)
            ax.fill_between([start, end], n, n + width, color=color, linewidth=0)
        middles = (bounds[:-1] + bounds[1:]) / 2
        names = ["none" if number < 0 else str(number) for number in numbers]
        ax.set_yticks(middles, names)
        ax.set_xticks(middles, names if len(names) <= 12 else [""] * len(names))
        ax.set(xlim=(-width, n), ylim=(n + width, 0))
        tidy(ax)
        ax.spines[["left", "bottom"]].set_visible(False)
        ax.tick_params(length=0, labelsize=8 if len(names) <= 20 else 6)
        ax.set(xlabel=f"{self.shown.sentence}, by cluster", ylabel="cluster")
        bar = ax.figure.colorbar(ax.images[-1], ax=ax, pad=0.02, shrink=0.8, extend=extend)
        bar.set_label("similarity", color=INK)
        bar.outline.set_visible(False)
        ticks = np.linspace(0, 1, 5)
        bar.set_ticks(ticks, labels=[f"{largest * tick**2:.2g}" for tick in ticks])


def _similarities(model: Model, taken: PreparedRows) -> Array:
    """Return the weights between the shown rows."""
    rows, n = taken.some, taken.shown.n_rows
    if not model.gpod.affinity_.pairwise:
        return model.gpod.fitted_cut_.affinity.within(rows, np.eye(rows.shape[0]))
    if rows.shape[1] != n:
        expected = "be the square matrix of affinities among the training rows"
        got = f"shape ({n}, {rows.shape[1]}), which does not tell affinities among new rows"
        raise invalid("X", expected, got, "pass what the model was fitted on")
    W = rows[:, taken.shown.rows]
    return np.array(W.toarray() if issparse(W) else W, dtype=np.float64)


@dataclass
class DriftDisplay(Display):
    """The share of each cluster, and of rows outside, in the training rows and in new rows.

    Attributes
    ----------
    drift : Drift
        The result of ``GPOD.drift``, with its p-values.
    """

    drift: Drift

    @classmethod
    def from_estimator(cls, model: Any, X_new: Any, *, ax: Any = None) -> DriftDisplay:
        """Compare new rows with the training rows of a fitted model, and draw the result."""
        return cls(check_model(model).drift(X_new))._drawn(ax, model.class_names_)

    def _size(self) -> tuple[float, float]:
        return SIZE[0], height_for(len(self.drift.shares) + 1, 0.26, around=1.9)

    def _draw(self, ax: Any) -> None:
        drift, outside = self.drift, self.drift.without_support
        place = np.arange(len(drift.shares) + 1)[::-1].astype(float)
        place[-1] -= 0.4  # set the last line, rows outside, apart from the clusters
        shares = [*drift.shares.values(), (outside.before, outside.now)]
        before, now = 100 * np.transpose(shares)
        ax.hlines(place, before, now, color=PALE, linewidth=4, zorder=1)
        label = f"before ({spaced(drift.n_compared)} rows)"
        ax.plot(before, place, "o", color=OUTSIDE_COLOR, markersize=7, label=label)
        label = f"now ({spaced(drift.n_rows)} rows)"
        ax.plot(now, place, "D", color=COLORS[1], markersize=7, label=label)
        ax.axhline(0.3, color=PALE, linewidth=0.8, zorder=0)
        ax.set_yticks(place, [*map(self._name, drift.shares), "outside"])
        ax.set_ylim(-1.0, len(place) - 0.4)
        ax.set_xlim(left=-0.03 * max(*before, *now))
        tidy(ax, "x")
        ax.set_xlabel("share of rows in %")
        title = drift.verdict
        if drift.new_cluster is not None:
            title += f"; a new cluster of {spaced(drift.new_cluster.n_rows)} rows"
        title += f"\np: shares {drift.p_shares:.2g}, outside {outside.p_value:.2g}, "
        title += f"cut value {drift.cut_value.p_value:.2g}"
        changed = [one.column for one in drift.columns if one.p_value < 0.01][:3]
        if changed:
            title += f"\ncolumns that changed most: {', '.join(map(short, changed))}"
        ax.set_title(title, loc="left", fontsize=10, color=INK)
        legend_beside(ax)


@dataclass
class CutValueDisplay(Display):
    """The cut value of each cluster, on the training rows and on held-out rows.

    Low is good. A cluster with a much higher value on held-out rows is less clear than it seems.
    Both are means over pairs of different rows, so that they can be compared.

    Attributes
    ----------
    training, held_out : CutValue or None
        None for models that have not stored their rows, and without held-out rows.
    numbers : array of shape (K,)
        The numbers of the clusters.
    """

    training: CutValue | None
    held_out: CutValue | None
    numbers: Indices

    @classmethod
    def from_estimator(
        cls, model: Any, X_held_out: Any = None, *, ax: Any = None
    ) -> CutValueDisplay:
        """Compute the cut values of a fitted model, and draw them.

        Parameters
        ----------
        model : fitted GPOD or TableModel
        X_held_out : array-like of shape (m, n_features), optional
            Rows that played no part in the fit. Needed for landmarks, which store no rows.
        """
        gpod = check_model(model).one_cut()
        held_out = None if X_held_out is None else cut_value(model, X_held_out)
        training = None
        # Without any rows, ``cut_value`` raises an error that tells what to pass.
        if held_out is None or getattr(gpod.affinity_, "rows_", None) is not None:
            training = cut_value(gpod, self_weights=False)
        return cls(training, held_out, model.cluster_numbers_)._drawn(ax, model.class_names_)

    def _size(self) -> tuple[float, float]:
        return SIZE[0], height_for(len(self.numbers), 0.24)

    def _draw(self, ax: Any) -> None:
        place, values = np.arange(len(self.numbers))[::-1], []
        for value, which, marker, color in (
            (self.training, "training rows", "o", COLORS[0]),
            (self.held_out, "held-out rows", "D", COLORS[1]),
        ):
            if value is not None:
                error = "" if value.is_near_zero else f" ± {value.standard_error:.1g}"
                label = f"{spaced(value.n_rows)} {which}\n(in all {value.value:.3g}{error})"
                ax.plot(value.per_cluster, place, marker, color=color, markersize=7, label=label)
                values.append(value)
        if len(values) == 2:
            ends = np.column_stack([value.per_cluster for value in values])
            there = np.isfinite(ends).all(axis=1)
            ax.hlines(place[there], *ends[there].T, color=PALE, linewidth=3, zorder=1)
        ax.set_yticks(place, list(map(self._name, self.numbers.tolist(), values[0].sizes)))
        ax.set_ylim(-0.7, len(place) - 0.3)
        ax.set_xlim(left=min(0.0, ax.get_xlim()[0]))
        tidy(ax, "both")
        ax.set_xlabel(f"share of a cluster's weight that leaves it ({values[0].cut})")
        legend_beside(ax)


@dataclass
class SpectrumDisplay(Display):
    """The smallest eigenvalues, and the gap between the K-th and the next one.

    A large gap means that the number of clusters is clear.

    Attributes
    ----------
    eigenvalues : array
        The K eigenvalues of the model, and some more if they are known, ascending.
    n_clusters, cut : int and str
        K, and the cut of the model.
    """

    eigenvalues: Array
    n_clusters: int
    cut: str

    @classmethod
    def from_estimator(cls, model: Any, X: Any = None, *, ax: Any = None) -> SpectrumDisplay:
        """Draw the eigenvalues of a fitted model, and six more of its graph.

        Parameters
        ----------
        model : fitted GPOD, TableModel or Reclustered
            For a ``Reclustered``, the model before the split is drawn.
        X : array-like of shape (n_samples, n_features), optional
            The training rows, if the model has not stored them (landmarks, precomputed). Without
            them, only the K eigenvalues of the model are drawn.
        """
        gpod, functions = check_model(model).gpod, model.gpod.fitted_cut_.functions
        affinity, rows, weight = functions.affinity, None, None
        if X is not None:
            rows = model.prepare(X)[0]
        elif affinity.keeps == "rows":
            rows, weight = affinity.rows_, affinity.multiplicity_
        values = gpod.eigenvalues_
        if rows is not None:
            most = min(len(functions.pairs.values) + 6, functions.degrees.size)
            with threads(gpod.n_jobs):
                spectrum = Spectrum.from_rows(rows, affinity.frozen(), functions.cut, most, weight)
            values = spectrum.pairs.values
        return cls(np.asarray(values), gpod.n_clusters_, functions.cut.name).plot(ax)

    def _draw(self, ax: Any) -> None:
        K, values = self.n_clusters, self.eigenvalues
        place = np.arange(1, len(values) + 1)
        is_own = place <= K
        for some, color, label in (
            (is_own, COLORS[0], f"of the {K} clusters"),
            (~is_own, OUTSIDE_COLOR, "beyond"),
        ):
            if some.any():
                ax.vlines(place[some], 0, values[some], color=color, linewidth=2, alpha=0.45)
                ax.plot(place[some], values[some], "o", color=color, ms=6, label=label, zorder=3)
        if len(values) > K:
            label = f"gap of {values[K] - values[K - 1]:.3g} after {K}"
            look = dict(color=COLORS[1], alpha=0.15, linewidth=0, zorder=0, label=label)
            ax.axhspan(values[K - 1], values[K], **look)
            ax.axvline(K + 0.5, color=COLORS[1], linestyle="dashed", linewidth=1.1, zorder=1)
        tidy(ax, "y")
        ax.axhline(0, color=PALE, linewidth=0.8, zorder=0)
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.set(xlabel="number of the eigenvalue", ylabel=f"eigenvalue ({self.cut})")
        ax.set(xlim=(0.4, len(values) + 0.6))
        legend_above(ax, 3)


@dataclass
class HierarchyDisplay(Display):
    """The tree of clusters, which are at its right end; a fork splits a group into two.

    The horizontal place of a fork is the number of groups. Each number has the cost of that cut.

    Attributes
    ----------
    forks, ends : arrays of shape (K - 1, 4) and (K - 1, 2)
        For each fork, from the root on: the number of groups after the split, the fork's height,
        and the heights of its two branches; and the numbers of groups at which these end.
    leaves : array of shape (K,)
        The numbers of the clusters, from the bottom to the top.
    hierarchy : Hierarchy
    """

    forks: Array
    ends: Array
    leaves: Indices
    hierarchy: Hierarchy

    @classmethod
    def from_estimator(cls, model: Any, *, ax: Any = None) -> HierarchyDisplay:
        """Draw the tree of a fitted model."""
        return cls._of(check_model(model).hierarchy())._drawn(ax, model.class_names_)

    @classmethod
    def _of(cls, hierarchy: Hierarchy) -> HierarchyDisplay:
        """Place the forks and the leaves of a tree."""
        K = len(hierarchy.sizes)
        members = {int(number): [int(number)] for number in hierarchy.numbers}
        for joining in hierarchy.joinings:  # the clusters of a group become neighbours
            members[joining.kept] += members.pop(joining.joined)
        leaves = next(iter(members.values()))[::-1]
        height = {number: float(place) for place, number in enumerate(leaves)}
        begins = dict.fromkeys(leaves, K + 0.5)
        forks, ends = [], []
        for joining in hierarchy.joinings:
            pair = joining.kept, joining.joined
            low, high = (height[number] for number in pair)
            forks.append([joining.n_groups, (low + high) / 2, low, high])
            ends.append([begins[number] for number in pair])
            height[joining.kept], begins[joining.kept] = (low + high) / 2, float(joining.n_groups)
        return cls(
            forks=np.reshape(forks, (-1, 4))[::-1],
            ends=np.reshape(ends, (-1, 2))[::-1],
            leaves=np.array(leaves, dtype=np.intp),
            hierarchy=hierarchy,
        )

    def _size(self) -> tuple[float, float]:
        return SIZE[0] + 0.4, height_for(len(self.leaves), 0.24, least=3.0)

    def _draw(self, ax: Any) -> None:
        K, tree = len(self.leaves), self.hierarchy
        lines = dict(color=OUTSIDE_COLOR, linewidth=1.6, solid_capstyle="round", zorder=2)
        root = self.forks[0] if len(self.forks) else np.array([1.0, 0.0, 0.0, 0.0])
        ax.plot([1, root[0]], [root[1]] * 2, **lines)
        for (at, _, low, high), (end, other) in zip(self.forks, self.ends, strict=True):
            ax.plot([end, at, at, other], [low, low, high, high], **lines)
        for height, number in enumerate(self.leaves):
            color, marker = cluster_style(int(number))
            look = dict(color=color, markersize=7, clip_on=False, zorder=3)
            ax.plot(K + 0.5, height, MARKERS[marker], **look)
        sizes = tree.sizes[np.searchsorted(tree.numbers, self.leaves)]
        ax.yaxis.tick_right()
        ax.set_yticks(range(K), list(map(self._name, self.leaves.tolist(), sizes)))
        ticks = np.arange(1, K + 1)[::-1][:: -(-K // 12)][::-1]
        costs = [f"{tick}\n{tree.cut_values[tick - 1]:.2g}" for tick in ticks]
        ax.set_xticks(ticks, costs)
        ax.set(xlim=(0.9, K + 0.5), ylim=(-0.6, K - 0.4))
        tidy(ax, "x")
        ax.spines["left"].set_visible(False)
        ax.tick_params(axis="y", length=0, pad=8)
        about = "" if tree.exact else ", at least"
        ax.set_xlabel(f"number of groups, and what that cut costs ({tree.cut}{about})")


@dataclass
class SplitDisplay(Display):
    """How clusters split and join from one labelling to the next; widths are numbers of rows.

    The columns are labellings of the same rows: levels of a model, or labels before and after an
    update. A cluster has the colour of the cluster from which most of its rows come; it is paler
    if larger parts of that cluster go elsewhere.

    Attributes
    ----------
    numbers, sizes : tuple of arrays
        The clusters of each column, from the bottom to the top (-1: no cluster), and their sizes.
    flows : tuple of arrays of shape (clusters of a column, clusters of the next one)
        The number of rows that they share.
    names : tuple of str
        The names of the columns.

    Examples
    --------
    >>> display = SplitDisplay.from_labels([[0, 0, 0, 1, 1], [0, 0, 2, 1, 1]])
    >>> display.flows[0]
    array([[2., 0., 0.],
           [0., 1., 2.]])
    """

    numbers: tuple[Indices, ...]
    sizes: tuple[Array, ...]
    flows: tuple[Array, ...]
    names: tuple[str, ...]

    @classmethod
    def from_estimator(cls, model: Any, *, ax: Any = None) -> SplitDisplay:
        """Draw the levels of a fitted model: coarse groups of its clusters, and their parts.

        The levels have from 2 groups to all clusters; there are at most ten.
        """
        tree = check_model(model).hierarchy()
        K = len(tree.sizes)
        counts = np.unique(np.linspace(min(2, K), K, 10).astype(int)).tolist()[::-1]
        levels = tree.levels(counts)[::-1, tree.numbers]
        return cls._of(list(levels), "groups", tree.sizes)._drawn(ax, model.class_names_)

    @classmethod
    def from_labels(cls, labels_list: Sequence[Any], *, ax: Any = None) -> SplitDisplay:
        """Draw two or more labellings of the same rows, from left to right.

        Parameters
        ----------
        labels_list : sequence of arrays of shape (n_rows,)
            Integers; -1 for rows without a cluster.
        """
        columns = [np.asarray(labels) for labels in labels_list]
        shapes = {column.shape for column in columns}
        is_plain = all(column.ndim == 1 and column.dtype.kind in "iu" for column in columns)
        if not columns or len(shapes) > 1 or not is_plain or not columns[0].size:
            got = ", ".join(f"{one.dtype} of shape {one.shape}" for one in columns[:4]) or "none"
            expected = "be lists of integers, with a label for each row in every one"
            raise invalid("labels_list", expected, got, "pass e.g. [before, after]")
        return cls._of(columns, "clusters", None).plot(ax)

    @classmethod
    def _of(cls, columns: list[Indices], what: str, weight: Any) -> SplitDisplay:
        """Count the rows that clusters of adjacent columns share, and order the clusters."""
        coded = [np.unique(np.maximum(column, -1), return_inverse=True) for column in columns]
        names = (f"{(numbers >= 0).sum()} {what}" for numbers, _ in coded)
        order = np.argsort(-coded[0][0], kind="stable")  # the first number at the top
        orders, flows = [order], []
        for (first, before), (second, after) in pairwise(coded):
            pair = before.ravel() * len(second) + after.ravel()
            shared = np.bincount(pair, weight, len(first) * len(second)).astype(np.float64)
            flow = shared.reshape(len(first), len(second))[order]
            middle = np.arange(len(order)) @ flow / np.maximum(flow.sum(axis=0), 1e-300)
            order = np.lexsort((-second, middle))  # at the height from which its rows come
            flows.append(flow[:, order])
            orders.append(order)
        numbers, sizes = [], []
        for (of_column, places), order in zip(coded, orders, strict=True):
            numbers.append(of_column[order])
            sizes.append(np.bincount(places.ravel(), weight).astype(np.float64)[order])
        return cls(tuple(numbers), tuple(sizes), tuple(flows), tuple(names))

    def _size(self) -> tuple[float, float]:
        width = max(SIZE[0], 1.2 + 1.1 * len(self.names))
        return width, height_for(max(map(len, self.numbers)), 0.24, least=3.0)

    def _draw(self, ax: Any) -> None:
        total, most = self.sizes[0].sum(), max(map(len, self.numbers))
        gap = 0.3 * total / max(most, 2)  # between two clusters of a column
        bottoms = []
        for size in self.sizes:
            spare = (total + gap * (most - 1)) - (size.sum() + gap * (len(size) - 1))
            bottoms.append(spare / 2 + np.append(0, np.cumsum(size + gap)[:-1]))
        colors = [[_rgb(cluster_style(int(number)).color) for number in self.numbers[0]]]
        for flow, numbers in zip(self.flows, self.numbers[1:], strict=True):
            parent, share = flow.argmax(axis=0), flow.max(axis=0)
            own = []
            for k, number in enumerate(numbers):
                parts = np.flatnonzero(parent == parent[k])
                rank = parts[np.argsort(-share[parts], kind="stable")].tolist().index(k)
                color = colors[-1][parent[k]]
                own.append(color + (1 - color) * (1 - 0.72**rank))
                if number < 0:
                    own[-1] = _rgb(OUTSIDE_COLOR)
            colors.append(own)
        t = np.linspace(0, 1, 40)
        bend = t * t * (3 - 2 * t)
        for j, flow in enumerate(self.flows):
            starts = bottoms[j][:, np.newaxis] + np.cumsum(flow, axis=1) - flow
            ends = bottoms[j + 1] + np.cumsum(flow, axis=0) - flow
            for a, b in np.argwhere(flow > 0):
                low = starts[a, b] + (ends[a, b] - starts[a, b]) * bend
                look = dict(color=colors[j + 1][b], alpha=0.45, linewidth=0)
                ax.fill_between(j + 0.06 + 0.88 * t, low, low + flow[a, b], **look)
        for j, (numbers, size) in enumerate(zip(self.numbers, self.sizes, strict=True)):
            ax.bar(np.full(len(size), j), size, 0.12, bottoms[j], color=colors[j], zorder=2)
            for number, middle, rows in zip(numbers, bottoms[j] + size / 2, size, strict=True):
                if rows > 0.6 * gap:
                    write_number(ax, int(number), np.array([j, middle]), zorder=3)
        ends = bottoms[-1] + self.sizes[-1] / 2
        labels = [
            self._name(int(number), rows) if number >= 0 else f"none ({spaced(rows)})"
            for number, rows in zip(self.numbers[-1], self.sizes[-1], strict=True)
        ]
        ax.yaxis.tick_right()
        ax.set_yticks(ends, labels)
        ax.set_xticks(range(len(self.names)), [plain(name, 16) for name in self.names])
        ax.set(xlim=(-0.15, len(self.names) - 0.8), xlabel="labellings; widths are rows")
        tidy(ax)
        ax.spines[["left", "bottom"]].set_visible(False)
        ax.tick_params(length=0)


def _rgb(color: str) -> Array:
    return np.array([*bytes.fromhex(color[1:])]) / 255
