"""How new rows differ from those that a model has seen: shares of clusters, then and now."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from eigencut._utils.arrays import Array
from eigencut.plotting.axes import INK, PALE, SIZE, put_legend, tidy
from eigencut.plotting.colors import COLORS, OUTSIDE_COLOR
from eigencut.plotting.display import DisplayMixin, check_drawable
from eigencut.plotting.sampling import spaced
from eigencut.updating.drift import Drift


@dataclass
class DriftDisplay(DisplayMixin):
    """The share of each cluster, and of rows without support, before and now.

    Attributes
    ----------
    names : tuple of str
        The clusters, and last the rows without support.
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
    ('cluster 0', 'cluster 1', 'without support')
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
        model : fitted GPOD or TableModel
        X_new : array-like of shape (m, n_features)
        ax : matplotlib axes, optional

        Returns
        -------
        DriftDisplay
        """
        if not hasattr(model, "drift"):
            raise ValueError(
                "model must have a drift to draw, as GPOD and TableModel have. Got "
                f"{type(model).__name__}; pass its base, or draw MarginDisplay of the rows."
            )
        return cls.from_drift(model.drift(X_new), ax=ax)

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
        names = (*(f"cluster {number}" for number in drift.shares), "without support")
        shares = np.array([*drift.shares.values(), (outside.before, outside.now)])
        return cls(names, shares[:, 0], shares[:, 1], drift).plot(ax)

    def _size(self) -> tuple[float, float]:
        return SIZE[0], float(np.clip(1.9 + 0.26 * len(self.names), 3.2, 10.5))

    def _draw(self, ax: Any) -> None:
        drift, place = self.drift, np.arange(len(self.names))[::-1].astype(float)
        place[-1] -= 0.4  # which is no cluster
        before, now = 100 * self.before, 100 * self.now
        ax.hlines(place, before, now, color=PALE, linewidth=4, zorder=1)
        label = f"before ({spaced(drift.n_compared)} rows)"
        ax.plot(before, place, "o", color=OUTSIDE_COLOR, markersize=7, label=label)
        ax.plot(
            now,
            place,
            "D",
            color=COLORS[1],
            markersize=7,
            label=f"now ({spaced(drift.n_rows)} rows)",
        )
        ax.axhline(0.3, color=PALE, linewidth=0.8, zorder=0)
        ax.set_yticks(place, self.names)
        ax.set_ylim(-1.0, len(place) - 0.4)
        ax.set_xlim(left=-0.03 * max(*before, *now))
        tidy(ax, "x")
        ax.set_xlabel("share of rows in %")
        verdict = drift.verdict
        tests = (
            f"p: shares {drift.p_shares:.2g}, support {drift.without_support.p_value:.2g}, "
            f"cut value {drift.cut_value.p_value:.2g}"
        )
        found = drift.new_cluster
        new = "" if found is None else f"; a new cluster of {spaced(found.n_rows)} rows"
        ax.set_title(f"{verdict}{new}\n{tests}", loc="left", fontsize=10, color=INK)
        put_legend(ax)
