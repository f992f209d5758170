"""How POD came to the labels of a model: the gap to indicators, step by step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from eigencut._utils.arrays import Array
from eigencut.discretization import Partition
from eigencut.plotting.asked_model import AskedModel
from eigencut.plotting.axes import INK, tidy
from eigencut.plotting.colors import COLORS
from eigencut.plotting.display import DisplayMixin, check_drawable


@dataclass
class ConvergenceDisplay(DisplayMixin):
    """The distance of the rotated rows from indicators after each step of the discretization.

    Attributes
    ----------
    gaps : array of shape (n_iter,)
        ``|| one_hot - rows(U) R ||_F`` after each step of the best start; never rising.
    converged : bool
    largest : float or None
        The gap of rows that are torn between all clusters alike, ``sqrt(n (2 - 2 / sqrt(K)))``:
        what the gap of a single step is shown beside.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from eigencut import GPOD
    >>> from eigencut.plotting import ConvergenceDisplay
    >>> X, _ = make_moons(200, noise=0.05, random_state=0)
    >>> ConvergenceDisplay.from_estimator(GPOD(2).fit(X)).converged
    True
    """

    gaps: Array
    converged: bool
    largest: float | None = None

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
        check_drawable("partition", partition, "Partition", "eigencut.pod")
        n, K = len(partition.labels), len(partition.rotation)
        largest = float(np.sqrt(n * (2 - 2 / np.sqrt(K))))
        return cls(partition.gap_history, partition.converged, largest).plot(ax)

    def _draw(self, ax: Any) -> None:
        steps = np.arange(1, len(self.gaps) + 1)
        end = "converged" if self.converged else "stopped before it converged,"
        many = "step" if len(steps) == 1 else "steps"
        title = f"{end} after {len(steps)} {many}, at {self.gaps[-1]:.4g}"
        ax.set_title(title, loc="left", fontsize=10, color=INK)
        tidy(ax, "y")
        if len(steps) == 1:
            self._draw_step(ax)
        else:
            ax.plot(steps, self.gaps, "o-", color=COLORS[0], markersize=6, linewidth=1.8)
            ax.set_xlim(0.7, max(len(steps), 3) + 0.3)
            ax.xaxis.get_major_locator().set_params(integer=True)
        ax.ticklabel_format(axis="y", useOffset=False)
        ax.set(xlabel="step of the discretization", ylabel="gap to indicators (Frobenius norm)")

    def _draw_step(self, ax: Any) -> None:
        """One step has no course: how small its gap is, beside that of rows without clusters."""
        ax.bar([1], self.gaps, width=0.5, color=COLORS[0], alpha=0.6)
        ax.plot([1], self.gaps, "o", color=COLORS[0], markersize=7, clip_on=False)
        ax.set(xlim=(0, 2), xticks=[1])
        ax.set_ylim(0, 1.25 * max(self.gaps[0], self.largest or 0.0, 1e-3))
        if self.largest:
            ax.axhline(self.largest, color=INK, linestyle="dashed", linewidth=1.1)
            look = dict(textcoords="offset points", ha="left", fontsize=9, color=INK)
            text = f"rows torn between all clusters: {self.largest:.4g}"
            ax.annotate(text, (0.05, self.largest), (0, 5), **look)
