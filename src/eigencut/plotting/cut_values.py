"""What clusters cost: their cut values on training and on held-out rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from eigencut._utils.arrays import Indices
from eigencut.inspection import cut_value
from eigencut.plotting.asked_model import AskedModel
from eigencut.plotting.axes import PALE, SIZE, put_legend, tidy
from eigencut.plotting.colors import COLORS
from eigencut.plotting.display import DisplayMixin
from eigencut.plotting.sampling import spaced
from eigencut.theory import CutValue

_WHAT = "share of a cluster's weight that leaves it"


@dataclass
class CutValueDisplay(DisplayMixin):
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
        asked = AskedModel.of(model)
        if asked.is_split:
            raise ValueError(
                "model must have one graph to measure cut values on. Got one whose clusters were "
                "split, each on a graph of its own; draw model.base_ instead."
            )
        has_rows = getattr(asked.fitted.affinity, "rows_", None) is not None
        if not has_rows and X_held_out is None:
            raise ValueError(
                "X_held_out must be given for a model that has not kept its rows. Got None and "
                f"{type(asked.fitted.affinity).__name__}; pass rows held out of the fit."
            )
        held_out = None
        if X_held_out is not None:
            held_out = cut_value(model, X_held_out)
        training = cut_value(asked.gpod, self_weights=False) if has_rows else None
        return cls(training, held_out, asked.numbers).plot(ax)

    def _size(self) -> tuple[float, float]:
        return SIZE[0], float(np.clip(1.6 + 0.24 * len(self.numbers), 3.2, 10.0))

    def _draw(self, ax: Any) -> None:
        measured = [
            (found, label, color, marker)
            for found, label, color, marker in (
                (self.training, "training rows", COLORS[0], "o"),
                (self.held_out, "held-out rows", COLORS[1], "D"),
            )
            if found is not None
        ]
        place = np.arange(len(self.numbers))[::-1]
        if len(measured) == 2:
            ends = np.column_stack([found.per_cluster for found, *_ in measured])
            there = np.isfinite(ends).all(axis=1)
            ax.hlines(place[there], *ends[there].T, color=PALE, linewidth=3, zorder=1)
        for found, label, color, marker in measured:
            total = f"in all {found.value:.3g} ± {found.standard_error:.1g}"
            ax.plot(found.per_cluster, place, marker, color=color, markersize=7,
                    label=f"{spaced(found.n_rows)} {label}\n({total})")  # fmt: skip
        sizes = measured[0][0].sizes
        names = [f"cluster {k} ({spaced(n)})" for k, n in zip(self.numbers, sizes, strict=True)]
        ax.set_yticks(place, names)
        ax.set_ylim(-0.7, len(place) - 0.3)
        ax.set_xlim(left=min(0.0, ax.get_xlim()[0]))
        tidy(ax, "both")
        ax.set_xlabel(f"{_WHAT} ({measured[0][0].cut})")
        put_legend(ax)
