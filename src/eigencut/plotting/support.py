"""The support of new rows beside that of training rows: how many lie outside what is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from eigencut._utils.arrays import Array
from eigencut.plotting.asked_model import AskedModel
from eigencut.plotting.axes import INK, legend_above, tidy
from eigencut.plotting.colors import COLORS
from eigencut.plotting.display import DisplayMixin
from eigencut.plotting.sampling import Shown
from eigencut.plotting.taken_rows import TakenRows

_BINS = 45
_FAR = 0.02  # quantile of finite supports below which rows are gathered in the first bar


@dataclass
class SupportDisplay(DisplayMixin):
    """Histograms of the support of training and of new rows, with the least support.

    What is left of the dashed line has less support than training rows have: the model has seen
    nothing like it. The first bar holds all rows that are still further to the left. A training
    row is supported by itself too, which a new row is not.

    Attributes
    ----------
    support : array of shape (n_shown,)
        Of training rows, as of ``score_samples``.
    new_support : array of shape (m_shown,) or None
        Of new rows.
    least_support : float
    shown : Shown
        Which training rows these are.
    new_shown : Shown or None
        Which new rows.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from eigencut import GPOD
    >>> from eigencut.plotting import SupportDisplay
    >>> X, _ = make_moons(200, noise=0.05, random_state=0)
    >>> display = SupportDisplay.from_estimator(GPOD(2).fit(X), X, X_new=X + 5)
    >>> float(display.share_outside(new=True))
    1.0
    """

    support: Array
    new_support: Array | None
    least_support: float
    shown: Shown
    new_shown: Shown | None

    def share_outside(self, new: bool = False) -> float:
        """The share of rows that have less support than training rows have.

        Parameters
        ----------
        new : bool
            Of new rows, or of training rows.

        Returns
        -------
        float
        """
        values = self.new_support if new else self.support
        assert values is not None
        return float((values < self.least_support).mean())

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any, *, X_new: Any = None, ax: Any = None
    ) -> SupportDisplay:
        """Ask a fitted model for the support of rows, and draw it.

        Parameters
        ----------
        model : fitted GPOD, TableModel or Reclustered
        X : array-like of shape (n_samples, n_features)
            The training rows, or some of them.
        X_new : array-like of shape (m, n_features), optional
            Rows to compare with them.
        ax : matplotlib axes, optional

        Returns
        -------
        SupportDisplay
        """
        asked = AskedModel.of(model)
        support, shown = _support(asked, X)
        new_support, new_shown = (None, None) if X_new is None else _support(asked, X_new)
        least = asked.fitted.least_support
        return cls(support, new_support, least, shown, new_shown).plot(ax)

    def _draw(self, ax: Any) -> None:
        both = [self.support] + ([] if self.new_support is None else [self.new_support])
        edges = _edges(np.concatenate(both), self.least_support)
        for new, values in enumerate(both):
            shown = self.new_shown if new else self.shown
            assert shown is not None
            kind = "new" if new else "training"
            sentence = shown.sentence.replace(" rows", f" {kind} rows")
            label = f"{sentence}, {self.share_outside(bool(new)):.1%} outside"
            weights = np.full(len(values), 100 / max(len(values), 1))
            look = dict(histtype="stepfilled", color=COLORS[new], alpha=0.35, zorder=2)
            ax.hist(np.maximum(values, edges[0]), edges, weights=weights, label=label, **look)
            look = dict(histtype="step", color=COLORS[new], linewidth=1.4, zorder=3)
            ax.hist(np.maximum(values, edges[0]), edges, weights=weights, **look)
        label = "least support of training rows"
        ax.axvline(self.least_support, color=INK, linestyle="dashed", linewidth=1.1, label=label)
        is_gathered = any((values < edges[0]).any() for values in both)
        below = "; first bar: and below" if is_gathered else ""
        ax.set_xlabel(f"support (log of the mean affinity to training rows){below}")
        ax.set_ylabel("rows in %")
        tidy(ax, "y")
        legend_above(ax, 1)


def _support(asked: AskedModel, X: Any) -> tuple[Array, Shown]:
    taken = TakenRows.of(asked, X)
    return asked.support(taken.shown_rows), taken.shown


def _edges(values: Array, least: float) -> Array:
    """Edges of bars: all but the farthest rows, the least support being within."""
    finite = values[np.isfinite(values)]
    most = max([*finite, least])
    inside = finite[finite >= least]
    width = max(float(np.ptp(inside)) if len(inside) else 0.0, 1e-6 * max(abs(most), 1.0))
    low = max(float(np.quantile(finite, _FAR)), least - width) if len(finite) else least - width
    return np.linspace(min(low, least - 0.25 * width), most, _BINS + 1)
