"""The excess risk against the number of rows, with its line and the rate of the theory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from eigencut._utils.arrays import Array, Indices
from eigencut.plotting.axes import INK, tidy
from eigencut.plotting.colors import COLORS, OUTSIDE_COLOR
from eigencut.plotting.display import DisplayMixin, check_drawable

if TYPE_CHECKING:
    from eigencut.theory.curves import LearningCurve


@dataclass
class LearningCurveDisplay(DisplayMixin):
    """The excess risk of fits on samples, on logarithmic axes. ``LearningCurve.plot`` draws it.

    Attributes
    ----------
    sizes : array of shape (n_sizes,)
        Rows of the samples.
    excess : array of shape (n_sizes, n_repeats)
    is_there : array of bool of shape (n_sizes, n_repeats)
        Where there is any, which rounding does not explain.
    line : array of shape (2,) or None
        The fitted line at the smallest and at the largest size; None where there is none.
    slope : float
    slope_interval : tuple of float
    theory_slope : float
        That of the bounds.

    Examples
    --------
    >>> import numpy as np
    >>> from eigencut import GPOD, Gaussian
    >>> from eigencut.plotting import LearningCurveDisplay
    >>> from eigencut.theory import learning_curve
    >>> X = np.random.default_rng(0).normal(size=(400, 1))
    >>> model = GPOD(n_clusters=2, affinity=Gaussian(sigma=1.0))
    >>> curve = learning_curve(model, X, sizes=[25, 50, 100], n_repeats=6)
    >>> LearningCurveDisplay.from_curve(curve).ax_.get_xscale()
    'log'
    """

    sizes: Indices
    excess: Array
    is_there: NDArray[np.bool_]
    line: Array | None
    slope: float
    slope_interval: tuple[float, float]
    theory_slope: float

    @classmethod
    def from_curve(cls, curve: LearningCurve, *, ax: Any = None) -> LearningCurveDisplay:
        """Draw what ``eigencut.theory.learning_curve`` has measured.

        Parameters
        ----------
        curve : LearningCurve
        ax : matplotlib axes, optional

        Returns
        -------
        LearningCurveDisplay
        """
        check_drawable("curve", curve, "LearningCurve", "eigencut.theory.learning_curve")
        line = None
        if np.isfinite(curve.slope):
            ends = (curve.sizes.min(), curve.sizes.max())
            line = np.array([curve.excess_at(float(end)) for end in ends])
        return cls(
            curve.sizes,
            curve.excess,
            curve.is_measurable,
            line,
            curve.slope,
            curve.slope_interval,
            curve.theory_slope,
        ).plot(ax)

    def _draw(self, ax: Any) -> None:
        n, excess = np.repeat(self.sizes, self.excess.shape[1]), self.excess.ravel()
        has_excess = bool(self.is_there.any())  # zeros have no logarithm
        ax.set(xscale="log", yscale="log" if has_excess else "linear")
        some = self.is_there.ravel() if has_excess else np.ones(len(n), dtype=bool)
        look = dict(ms=5, alpha=0.45, markeredgewidth=0)
        ax.plot(n[some], excess[some], "o", color=COLORS[0], label="fits on samples", **look)
        if self.line is not None:
            ends = np.array([self.sizes.min(), self.sizes.max()], dtype=np.float64)
            low, high = self.slope_interval
            label = f"measured slope {self.slope:.2f} ({low:.2f} to {high:.2f})"
            ax.plot(ends, self.line, "-", color=COLORS[0], linewidth=1.8, label=label)
            rate = self.line[0] * (ends / ends[0]) ** self.theory_slope
            bounds = dict(color=OUTSIDE_COLOR, linewidth=1.4, label="slope -1/2 (bounds)")
            ax.plot(ends, rate, "--", **bounds)
        ax.set(xlabel="rows n", ylabel="excess risk")
        ax.set_xticks(self.sizes, [str(size) for size in self.sizes])
        ax.minorticks_off()
        tidy(ax, "y")
        ax.legend(framealpha=0.8, edgecolor="none", fontsize=9, labelcolor=INK)
