"""How clearly rows belong to their clusters: margins or probabilities, cluster by cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.validation import check_choice
from eigencut.plotting.asked_model import AskedModel
from eigencut.plotting.axes import INK, PALE, SIZE, tidy
from eigencut.plotting.colors import cluster_style
from eigencut.plotting.display import DisplayMixin
from eigencut.plotting.markers import point_area
from eigencut.plotting.sampling import Shown, spaced
from eigencut.plotting.taken_rows import TakenRows

_HALF_BAND = 0.34  # of the distance of two clusters, that points are spread over
_LABELS = {"margin": "margin (0 is torn, 1 is certain)", "probability": "probability of the label"}


@dataclass
class MarginDisplay(DisplayMixin):
    """The margins, or the probabilities of labels, of the rows of each cluster.

    Rows at the right end clearly belong to their cluster; those at the left are torn between two.
    The bar holds the middle half of a cluster's rows, the dot is the median.

    Attributes
    ----------
    values : array of shape (n_shown,)
        Margin or probability of each row.
    labels : array of shape (n_shown,)
    numbers : array of shape (K,)
        Of the clusters.
    kind : {"margin", "probability"}
    shown : Shown
        Which rows these are.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from eigencut import GPOD
    >>> from eigencut.plotting import MarginDisplay
    >>> X, _ = make_moons(200, noise=0.05, random_state=0)
    >>> display = MarginDisplay.from_estimator(GPOD(2).fit(X), X, kind="probability")
    >>> bool((display.values >= 0.5).all())
    True
    """

    values: Array
    labels: Indices
    numbers: Indices
    kind: str
    shown: Shown

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any, *, kind: str = "margin", ax: Any = None
    ) -> MarginDisplay:
        """Ask a fitted model how sure it is of rows, and draw that.

        Parameters
        ----------
        model : fitted GPOD, TableModel or Reclustered
        X : array-like of shape (n_samples, n_features)
        kind : {"margin", "probability"}, default="margin"
            As of ``predict_margin``, or the largest of ``predict_proba``.
        ax : matplotlib axes, optional

        Returns
        -------
        MarginDisplay
        """
        check_choice("kind", kind, tuple(_LABELS))
        asked = AskedModel.of(model)
        taken = TakenRows.of(asked, X)
        found = asked.answers(taken.shown_rows)
        values = found.margins if kind == "margin" else found.probabilities.max(axis=1)
        return cls(values, found.labels, asked.numbers, kind, taken.shown).plot(ax)

    def _size(self) -> tuple[float, float]:
        return SIZE[0], float(np.clip(1.6 + 0.3 * len(self.numbers), 3.2, 10.0))

    def _draw(self, ax: Any) -> None:
        n, rng = len(self.numbers), np.random.default_rng(0)
        area, names = 2.0 * point_area(len(self.values)) ** 0.5, []
        for place, number in enumerate(self.numbers):
            own = self.values[self.labels == number]
            names.append(f"cluster {number} ({spaced(len(own))})")
            height, color = n - 1 - place, cluster_style(int(number)).color
            ax.axhline(height, color=PALE, linewidth=0.6, zorder=0)
            if not len(own):
                continue
            at = height + rng.uniform(-_HALF_BAND, _HALF_BAND, len(own))
            ax.scatter(own, at, s=area, color=color, linewidths=0, alpha=0.5, zorder=2)
            low, middle, high = np.quantile(own, (0.25, 0.5, 0.75))
            ax.plot([low, high], [height] * 2, color=INK, linewidth=3, zorder=3)
            ax.plot(middle, height, "o", color="white", markeredgecolor=INK, ms=5, zorder=4)
        ax.set_yticks(range(n - 1, -1, -1), names)
        ax.set(xlim=(self._least() - 0.01, 1.01), ylim=(-0.6, n - 0.4))
        tidy(ax)
        ax.spines["left"].set_visible(False)
        ax.tick_params(axis="y", length=0)
        ax.set_xlabel(f"{_LABELS[self.kind]}, {self.shown.sentence}", color=INK)

    def _least(self) -> float:
        return 0.0 if self.kind == "margin" else 1.0 / max(len(self.numbers), 1)
