"""What rows beyond the fit say of clusters: their shares then and now, and their cut values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from eigencut._utils.arrays import Array, Indices
from eigencut.exceptions import invalid
from eigencut.inspection.cut_values import CutValue, cut_value
from eigencut.model import check_model
from eigencut.plotting.style import (
    COLORS,
    INK,
    OUTSIDE_COLOR,
    PALE,
    SIZE,
    Display,
    check_drawable,
    height_for,
    legend_beside,
    spaced,
    tidy,
)
from eigencut.updating.drift import Drift


@dataclass
class DriftDisplay(Display):
    """The share of each cluster, and of rows outside, before and now.

    Attributes
    ----------
    names : tuple of str
        The clusters, and last the rows outside: less similar than training rows are.
    before, now : arrays of shape (K + 1,)
        Their shares, from 0 to 1.
    drift : Drift
        The report that is drawn, with its p-values.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from eigencut import GPOD
    >>> from eigencut.plotting import DriftDisplay
    >>> X, _ = make_moons(300, noise=0.05, random_state=0)
    >>> new, _ = make_moons(200, noise=0.05, random_state=1)
    >>> display = DriftDisplay.from_drift(GPOD(2).fit(X).drift(new))
    >>> display.names
    ('cluster 0', 'cluster 1', 'outside')
    """

    names: tuple[str, ...]
    before: Array
    now: Array
    drift: Drift

    @classmethod
    def from_estimator(cls, model: Any, X_new: Any, *, ax: Any = None) -> DriftDisplay:
        """Compare rows with those that a fitted model has seen, and draw that.

        Parameters
        ----------
        model : fitted GPOD, TableModel or Reclustered
        X_new : array-like of shape (m, n_features)
        ax : matplotlib axes, optional

        Returns
        -------
        DriftDisplay
        """
        return cls.from_drift(check_model(model).drift(X_new), ax=ax)

    @classmethod
    def from_drift(cls, drift: Drift, *, ax: Any = None) -> DriftDisplay:
        """Draw what ``model.drift`` returns.

        Parameters
        ----------
        drift : Drift
        ax : matplotlib axes, optional

        Returns
        -------
        DriftDisplay
        """
        check_drawable("drift", drift, "Drift", "model.drift(X_new)")
        outside = drift.without_support
        names = (*(f"cluster {number}" for number in drift.shares), "outside")
        shares = np.array([*drift.shares.values(), (outside.before, outside.now)])
        return cls(names, shares[:, 0], shares[:, 1], drift).plot(ax)

    def _size(self) -> tuple[float, float]:
        return SIZE[0], height_for(len(self.names), 0.26, around=1.9)

    def _draw(self, ax: Any) -> None:
        drift, place = self.drift, np.arange(len(self.names))[::-1].astype(float)
        place[-1] -= 0.4  # which is no cluster
        before, now = 100 * self.before, 100 * self.now
        ax.hlines(place, before, now, color=PALE, linewidth=4, zorder=1)
        label = f"before ({spaced(drift.n_compared)} rows)"
        ax.plot(before, place, "o", color=OUTSIDE_COLOR, markersize=7, label=label)
        label = f"now ({spaced(drift.n_rows)} rows)"
        ax.plot(now, place, "D", color=COLORS[1], markersize=7, label=label)
        ax.axhline(0.3, color=PALE, linewidth=0.8, zorder=0)
        ax.set_yticks(place, self.names)
        ax.set_ylim(-1.0, len(place) - 0.4)
        ax.set_xlim(left=-0.03 * max(*before, *now))
        tidy(ax, "x")
        ax.set_xlabel("share of rows in %")
        tests = (
            f"p: shares {drift.p_shares:.2g}, outside {drift.without_support.p_value:.2g}, "
            f"cut value {drift.cut_value.p_value:.2g}"
        )
        found = drift.new_cluster
        new = "" if found is None else f"; a new cluster of {spaced(found.n_rows)} rows"
        ax.set_title(f"{drift.verdict}{new}\n{tests}", loc="left", fontsize=10, color=INK)
        legend_beside(ax)


@dataclass
class CutValueDisplay(Display):
    """The cut value of each cluster, on the training rows and on rows held out.

    Low is good; a cluster whose value is much higher on rows held out is less clear than it seems.
    Both are means over pairs of different rows, so that they can be compared.

    Attributes
    ----------
    training : CutValue or None
        None for models that have not kept their rows.
    held_out : CutValue or None
    numbers : array of shape (K,)
        Of the clusters.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from eigencut import GPOD
    >>> from eigencut.plotting import CutValueDisplay
    >>> X, _ = make_moons(300, noise=0.05, random_state=0)
    >>> display = CutValueDisplay.from_estimator(GPOD(2).fit(X[:200]), X[200:])
    >>> display.training.per_cluster.shape, display.held_out.per_cluster.shape
    ((2,), (2,))
    """

    training: CutValue | None
    held_out: CutValue | None
    numbers: Indices

    @classmethod
    def from_estimator(
        cls, model: Any, X_held_out: Any = None, *, ax: Any = None
    ) -> CutValueDisplay:
        """Measure the clusters of a fitted model, and draw that.

        Parameters
        ----------
        model : fitted GPOD or TableModel
        X_held_out : array-like of shape (m, n_features), optional
            Rows that played no part in the fit. Needed for landmarks, which keep no rows.
        ax : matplotlib axes, optional

        Returns
        -------
        CutValueDisplay
        """
        gpod = check_model(model).one_cut()
        has_rows = getattr(gpod.affinity_, "rows_", None) is not None
        if not has_rows and X_held_out is None:
            raise invalid(
                "X_held_out",
                "be given for a model that has not kept its rows",
                f"None and {type(gpod.affinity_).__name__}",
                "pass rows held out of the fit",
            )
        held_out = None if X_held_out is None else cut_value(model, X_held_out)
        training = cut_value(gpod, self_weights=False) if has_rows else None
        return cls(training, held_out, model.cluster_numbers_).plot(ax)

    def _size(self) -> tuple[float, float]:
        return SIZE[0], height_for(len(self.numbers), 0.24)

    def _draw(self, ax: Any) -> None:
        place, values = np.arange(len(self.numbers))[::-1], []
        for value, which, look in (
            (self.training, "training rows", dict(marker="o", color=COLORS[0])),
            (self.held_out, "held-out rows", dict(marker="D", color=COLORS[1])),
        ):
            if value is not None:
                total = f"in all {value.value:.3g} ± {value.standard_error:.1g}"
                label = f"{spaced(value.n_rows)} {which}\n({total})"
                ax.plot(value.per_cluster, place, ls="", markersize=7, label=label, **look)
                values.append(value)
        if len(values) == 2:
            ends = np.column_stack([value.per_cluster for value in values])
            there = np.isfinite(ends).all(axis=1)
            ax.hlines(place[there], *ends[there].T, color=PALE, linewidth=3, zorder=1)
        sizes = values[0].sizes
        names = [f"cluster {k} ({spaced(n)})" for k, n in zip(self.numbers, sizes, strict=True)]
        ax.set_yticks(place, names)
        ax.set_ylim(-0.7, len(place) - 0.3)
        ax.set_xlim(left=min(0.0, ax.get_xlim()[0]))
        tidy(ax, "both")
        ax.set_xlabel(f"share of a cluster's weight that leaves it ({values[0].cut})")
        legend_beside(ax)
