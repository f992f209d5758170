"""How POD came to the labels of a model: the gap to indicators, step by step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from eigencut.discretization import Partition
from eigencut.plots.asked_model import AskedModel
from eigencut.plots.axes import INK, tidy
from eigencut.plots.colors import COLORS
from eigencut.plots.display import DisplayMixin
from eigencut.runtime.arrays import Array


@dataclass
class ConvergenceDisplay(DisplayMixin):
    """The distance of the rotated rows from indicators after each step of the discretization.

    Attributes
    ----------
    gaps : array of shape (n_iter,)
        ``|| one_hot - rows(U) R ||_F`` after each step of the best start; never rising.
    converged : bool

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from eigencut import GPOD
    >>> from eigencut.plots import ConvergenceDisplay
    >>> X, _ = make_moons(200, noise=0.05, random_state=0)
    >>> ConvergenceDisplay.from_estimator(GPOD(2).fit(X)).converged
    True
    """

    gaps: Array
    converged: bool

    @classmethod
    def from_estimator(cls, model: Any, *, ax: Any = None) -> ConvergenceDisplay:
        """Draw the discretization of a fitted model.

        Parameters
        ----------
        model : fitted GPOD or TableModel
            Of a ``Reclustered``, its base.
        ax : matplotlib axes, optional

        Returns
        -------
        ConvergenceDisplay
        """
        return cls.from_partition(AskedModel.of(model).fitted.partition, ax=ax)

    @classmethod
    def from_partition(cls, partition: Partition, *, ax: Any = None) -> ConvergenceDisplay:
        """Draw what ``eigencut.pod`` has found.

        Parameters
        ----------
        partition : Partition
        ax : matplotlib axes, optional

        Returns
        -------
        ConvergenceDisplay
        """
        return cls(partition.gap_history, partition.converged).plot(ax)

    def _draw(self, ax: Any) -> None:
        steps = np.arange(1, len(self.gaps) + 1)
        ax.plot(steps, self.gaps, "o-", color=COLORS[0], markersize=6, linewidth=1.8)
        end = "labels stay" if self.converged else "stopped before labels stay"
        ax.annotate(
            f"{self.gaps[-1]:.4g}: {end}",
            (steps[-1], self.gaps[-1]),
            (0, 14),
            textcoords="offset points",
            ha="right" if len(steps) > 1 else "center",
            fontsize=9,
            color=INK,
        )
        ax.margins(x=0.08, y=0.2)
        tidy(ax, "y")
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.ticklabel_format(axis="y", useOffset=False)
        ax.set(xlabel="step of the discretization", ylabel="gap to indicators (Frobenius norm)")
