"""How clearly rows belong to their clusters: margins or probabilities, cluster by cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from eigencut.plots.asked_model import AskedModel
from eigencut.plots.axes import INK, PALE, SIZE, tidy
from eigencut.plots.colors import cluster_style, lighter
from eigencut.plots.display import DisplayMixin
from eigencut.plots.sampling import Shown, shown_rows, spaced
from eigencut.runtime.arrays import Array, Indices
from eigencut.runtime.validation import check_choice

_BINS = 50
_OVERLAP = 1.7  # height of the tallest hill, in distances of two clusters
_LABELS = {"margin": "margin", "probability": "probability of the label"}


@dataclass
class MarginDisplay(DisplayMixin):
    """The margins, or the probabilities of labels, of the rows of each cluster as a hill.

    A hill at the right end is a clear cluster; what reaches to the left is torn between two. Each
    hill has the same height whatever the size of its cluster; the white line is the median.

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
    >>> from eigencut.plots import MarginDisplay
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
        prepared, _ = asked.prepared(X)
        shown = shown_rows(prepared.shape[0])
        found = asked.answers(prepared[shown.rows])
        values = found.margins if kind == "margin" else found.probabilities.max(axis=1)
        return cls(values, found.labels, asked.numbers, kind, shown).plot(ax)

    def _size(self) -> tuple[float, float]:
        return SIZE[0], float(np.clip(1.6 + 0.3 * len(self.numbers), 3.2, 10.0))

    def _draw(self, ax: Any) -> None:
        edges = np.linspace(0, 1, _BINS + 1)
        at = np.repeat(edges, 2)
        n, names = len(self.numbers), []
        for place, number in enumerate(self.numbers):
            own = self.values[self.labels == number]
            names.append(f"cluster {number} ({spaced(len(own))})")
            base, color = n - 1 - place, cluster_style(int(number)).color
            ax.axhline(base, color=PALE, linewidth=0.6, zorder=place)
            if not len(own):
                continue
            counts = np.histogram(own, edges)[0]
            hill = base + _OVERLAP * np.concatenate([[0], np.repeat(counts, 2), [0]]) / counts.max()
            ax.fill_between(
                at, base, hill, facecolor=lighter(color, 0.35), edgecolor=color, linewidth=1,
                zorder=place + 0.5,
            )  # fmt: skip
            middle = float(np.median(own))
            top = float(np.interp(middle, edges[:-1] + 0.5 / _BINS, counts)) / counts.max()
            ax.plot([middle] * 2, [base, base + max(top, 0.15) * _OVERLAP], color="white",
                    linewidth=1.6, zorder=place + 0.6)  # fmt: skip
        ax.set_yticks(range(n - 1, -1, -1), names)
        ax.set(xlim=(-0.01, 1.01), ylim=(-0.3, n - 1 + _OVERLAP + 0.15))
        tidy(ax)
        ax.spines["left"].set_visible(False)
        ax.tick_params(axis="y", length=0)
        of = self.shown.sentence
        ax.set_xlabel(f"{_LABELS[self.kind]} of {of}, 0 is torn, 1 is certain", color=INK)
        if self.kind == "probability":
            ax.set_xlabel(f"{_LABELS[self.kind]}, {of}", color=INK)
