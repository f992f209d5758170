"""Rows as points with labels: what a picture of clusters is made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigencut._utils.arrays import Array, Indices
from eigencut.plotting.asked_model import AskedModel
from eigencut.plotting.markers import sizes_of
from eigencut.plotting.projection import given_points, project
from eigencut.plotting.sampling import Shown
from eigencut.plotting.taken_rows import Mask, TakenRows


@dataclass(frozen=True)
class PlottedRows:
    """Rows as points.

    Attributes
    ----------
    points : array of shape (n_shown, 2)
    labels : array of shape (n_shown,)
        As of ``predict``.
    is_outside : array of bool of shape (n_shown,)
        Which of them have less support than training rows have.
    sizes : array of shape (K,)
        Rows of each cluster, those that are not shown included.
    n_outside : int
        Rows that the model labels -1, those that are not shown included.
    n_without_support : int
        Rows with less support than training rows have, those that are not shown included.
    n_incomplete : int
        Rows with missing values, which have no place.
    shown : Shown
        Which of all complete rows these are.
    """

    points: Array
    labels: Indices
    is_outside: Mask
    sizes: NDArray[np.intp]
    n_outside: int
    n_without_support: int
    n_incomplete: int
    shown: Shown


@dataclass(frozen=True)
class Placing:
    """How rows get their places in the plane.

    Attributes
    ----------
    kind : {"columns", "eigenfunctions", "pca", "given"}
    axis_labels : tuple of str
    points : callable
        ``TakenRows`` to the points of those that are shown.
    """

    kind: str
    axis_labels: tuple[str, str]
    points: Callable[[TakenRows], Array]

    def for_new_rows(self, taken: TakenRows, points: Any) -> Placing:
        """The same for other rows, whose points have to be given where those of rows were."""
        if self.kind != "given":
            return self
        if points is None:
            raise ValueError(
                "projection_new must hold the points of X_new where projection is an array. Got "
                "None; pass them, or use projection='pca'."
            )
        return replace(self, points=_given(points, "projection_new"))


def projection_of(asked: AskedModel, taken: TakenRows, projection: Any) -> Placing:
    """By a projection that is named, or by points that are given."""
    if isinstance(projection, str):
        found = project(asked, taken.shown_rows, projection)
        return Placing(found.kind, found.axis_labels, lambda rows: found.apply(rows.shown_rows))
    names = ("given coordinate 1", "given coordinate 2")
    return Placing("given", names, _given(projection, "projection"))


def _given(points: Any, name: str) -> Callable[[TakenRows], Array]:
    def of(taken: TakenRows) -> Array:
        found = given_points(points, len(taken.complete), name)
        return found[taken.complete][taken.shown.rows]

    return of


def plotted_rows(asked: AskedModel, taken: TakenRows, how: Placing) -> PlottedRows:
    """Labels and support of all rows, and the points of those that are shown."""
    labels, shown = asked.labels(taken.prepared), taken.shown
    is_outside = asked.is_outside(asked.support(taken.prepared))
    return PlottedRows(
        how.points(taken),
        labels[shown.rows],
        is_outside[shown.rows],
        sizes_of(labels, asked.numbers),
        int((labels < 0).sum()),
        int(is_outside.sum()),
        int((~taken.complete).sum()),
        shown,
    )
