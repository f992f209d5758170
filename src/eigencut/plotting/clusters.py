"""The clusters of rows in the plane, with decision regions and support."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from eigencut._utils.arrays import Indices
from eigencut._utils.validation import check_count, needed, shown
from eigencut.plotting.asked_model import AskedModel
from eigencut.plotting.axes import INK, put_legend, size_beside, tidy
from eigencut.plotting.colors import OUTSIDE_COLOR, OUTSIDE_MARKER
from eigencut.plotting.display import DisplayMixin
from eigencut.plotting.markers import (
    NAMES,
    NEW_MARKER,
    cluster_handles,
    dot,
    has_many,
    point_area,
    scatter_clusters,
    write_numbers,
)
from eigencut.plotting.plotted_rows import PlottedRows, plotted_rows, projection_of
from eigencut.plotting.regions import Regions, draw_regions, regions_around
from eigencut.plotting.sampling import spaced
from eigencut.plotting.taken_rows import TakenRows
from eigencut.plotting.text import plain


@dataclass
class ClusterDisplay(DisplayMixin):
    """Rows coloured by cluster; in the plane, with decision regions and lines of equal support.

    Regions are paler where rows have less support; beyond the dashed line they have less than
    training rows have. Rings are around rows without support. Above 50 000 rows some are shown,
    and the legend says how many; what it counts besides, it counts in all rows.

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
        _check_resolution(grid_resolution)
        if projection_new is not None and (X_new is None or isinstance(projection, str)):
            raise ValueError(
                "projection_new must be left out unless X_new is given and projection is an array. "
                f"Got projection={shown(projection)} and X_new "
                f"{'left out' if X_new is None else 'given'}; leave projection_new out, or pass "
                "X_new and the points of X as projection."
            )
        asked = AskedModel.of(model)
        taken = TakenRows.of(asked, X)
        how = projection_of(asked, taken, projection)
        rows, new_rows = plotted_rows(asked, taken, how), None
        if X_new is not None:
            new = TakenRows.of(asked, X_new)
            new_rows = plotted_rows(asked, new, how.for_new_rows(new, projection_new))
        regions = None
        if how.kind == "columns":
            both = [rows.points] + ([] if new_rows is None else [new_rows.points])
            support = asked.support(taken.shown_rows)
            regions = regions_around(asked, np.concatenate(both), support, grid_resolution)
        found = cls(rows, new_rows, asked.numbers, how.kind, how.axis_labels, regions)
        return found.plot(ax)

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
            scatter_clusters(
                ax, self.new_rows.points, self.new_rows.labels, marker=NEW_MARKER, **new
            )
            _ring(ax, self.new_rows, area)
        if has_many(self.numbers):
            write_numbers(ax, self.rows.points, self.rows.labels)
        first, second = (plain(label) for label in self.axis_labels)
        ax.set(xlabel=first, ylabel=second)
        tidy(ax)
        put_legend(ax, self._handles(), self._legend_title())

    def _handles(self) -> list[Any]:
        rows, new = self.rows, self.new_rows
        found = cluster_handles(self.numbers, rows.sizes)
        if rows.n_outside:
            marker = NAMES[OUTSIDE_MARKER]
            found.append(dot(f"no cluster ({spaced(rows.n_outside)})", OUTSIDE_COLOR, marker))
        if new is not None:
            text = f"new rows ({spaced(new.shown.n_rows)})"
            if not new.shown.is_all:
                text = f"new rows ({new.shown.sentence})"
            found.append(dot(text, "white", NEW_MARKER, markeredgecolor=INK))
        outside = [each.n_without_support for each in (rows, new) if each is not None]
        if any(outside):
            text = " + ".join(spaced(count) for count in outside)
            text = f"without support ({text}{' new' if new is not None else ''})"
            found.append(dot(text, "none", "o", markeredgecolor=INK))
        if self.regions is not None:
            found.append(_dashed("least support"))
        return found

    def _legend_title(self) -> str:
        title = self.rows.shown.sentence
        if not self.rows.shown.is_all:
            title += " shown"
        if self.rows.n_incomplete:
            title += f",\n{spaced(self.rows.n_incomplete)} with missing values not"
        return title


def _check_resolution(grid_resolution: object) -> None:
    remedy = "use the default of 300"
    check_count("grid_resolution", grid_resolution, remedy)
    if grid_resolution == 1:  # cells have a width by the next one
        raise ValueError(f"grid_resolution must be an integer of at least 2. Got 1; {remedy}.")


def _ring(ax: Any, rows: PlottedRows, area: float) -> None:
    """A ring around each row that has less support than training rows have."""
    if rows.is_outside.any():
        look = dict(facecolors="none", edgecolors=INK, linewidths=0.7, zorder=5)
        ax.scatter(*rows.points[rows.is_outside].T, s=3.0 * area + 12, marker="o", **look)


def _dashed(label: str) -> Any:
    lines = needed("matplotlib.lines", "plot")
    return lines.Line2D([], [], color=INK, linestyle="dashed", linewidth=1.1, label=label)
