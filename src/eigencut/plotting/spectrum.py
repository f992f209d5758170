"""The eigenvalues of a model's graph, and the gap after those of its clusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from eigencut._utils.arrays import Array
from eigencut._utils.threads import threads
from eigencut._utils.validation import check_count
from eigencut.auto.spectrum import Spectrum
from eigencut.plotting.asked_model import AskedModel
from eigencut.plotting.axes import PALE, legend_above, tidy
from eigencut.plotting.colors import COLORS, OUTSIDE_COLOR
from eigencut.plotting.display import DisplayMixin


@dataclass
class SpectrumDisplay(DisplayMixin):
    """The smallest eigenvalues, and the gap between those of the clusters and the next.

    A large gap says that the number of clusters is clear.

    Attributes
    ----------
    eigenvalues : array
        Ascending: K of the model, and some more where they are known.
    n_clusters : int
        K.
    cut : str

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from eigencut import GPOD
    >>> from eigencut.plotting import SpectrumDisplay
    >>> X, _ = make_blobs(200, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    >>> display = SpectrumDisplay.from_estimator(GPOD(3).fit(X), n_more=4)
    >>> len(display.eigenvalues), bool(display.gap > 0.05)
    (7, True)
    """

    eigenvalues: Array
    n_clusters: int
    cut: str

    @property
    def gap(self) -> float:
        """The difference of the eigenvalues K + 1 and K; NaN where there is none."""
        if len(self.eigenvalues) <= self.n_clusters:
            return float("nan")
        return float(self.eigenvalues[self.n_clusters] - self.eigenvalues[self.n_clusters - 1])

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any = None, *, n_more: int = 6, ax: Any = None
    ) -> SpectrumDisplay:
        """Draw the eigenvalues of a fitted model, and compute some more of its graph.

        Parameters
        ----------
        model : fitted GPOD or TableModel
            Of a ``Reclustered``, its base.
        X : array-like of shape (n_samples, n_features), optional
            The training rows, where the model has not kept them (landmarks, precomputed). Without
            them there are the eigenvalues of the clusters only.
        n_more : int, default=6
            Eigenvalues besides. They take about as long as a fit.
        ax : matplotlib axes, optional

        Returns
        -------
        SpectrumDisplay
        """
        check_count("n_more", n_more, "use the default of 6")
        asked = AskedModel.of(model)
        K, cut = len(asked.fitted.functions.pairs.values), asked.fitted.functions.cut
        affinity, weight = asked.fitted.affinity, None
        rows = None if X is None else asked.prepared(X)[0]
        if rows is None and affinity.keeps == "rows":
            rows, weight = affinity.rows_, affinity.multiplicity_
        if rows is None:
            values = asked.gpod.eigenvalues_
        else:
            most = min(K + n_more, asked.fitted.functions.degrees.size)
            with threads(asked.gpod.n_jobs):
                values = Spectrum.from_rows(rows, affinity.frozen(), cut, most, weight).pairs.values
        return cls(np.asarray(values), asked.gpod.n_clusters_, cut.name).plot(ax)

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
            self._draw_gap(ax)
        tidy(ax, "y")
        ax.axhline(0, color=PALE, linewidth=0.8, zorder=0)
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.set(xlabel="number of the eigenvalue", ylabel=f"eigenvalue ({self.cut})")
        ax.set_xlim(0.4, len(values) + 0.6)
        legend_above(ax, 3)

    def _draw_gap(self, ax: Any) -> None:
        K, low, high = self.n_clusters, *self.eigenvalues[self.n_clusters - 1 : self.n_clusters + 1]
        label = f"gap of {self.gap:.3g} after {K}"
        ax.axhspan(low, high, color=COLORS[1], alpha=0.15, linewidth=0, zorder=0, label=label)
        ax.axvline(K + 0.5, color=COLORS[1], linestyle="dashed", linewidth=1.1, zorder=1)
