"""Rows in a plane of the spectral embedding, with the axes that POD rotates to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.validation import is_integer, needed
from eigencut.discretization import normalize_rows
from eigencut.exceptions import invalid
from eigencut.model import check_model
from eigencut.plotting.points import (
    cluster_handles,
    point_area,
    scatter_clusters,
    sizes_of,
    write_number,
)
from eigencut.plotting.rows import Shown, prepared_rows, varying_functions
from eigencut.plotting.style import PALE, Display, cluster_style, legend_beside, size_beside, tidy


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
