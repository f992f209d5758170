"""How much data: the number of rows for a target excess risk, from a learning curve."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from eigencut.risk.curves import ROUNDING, LearningCurve
from eigencut.risk.json_ready import json_ready
from eigencut.runtime.arrays import Array
from eigencut.runtime.validation import check_count, check_fraction, check_magnitude

_LARGEST = 700.0  # exp of more is no number


@dataclass(frozen=True)
class RowsNeeded:
    """The number of rows at which the excess risk falls to a target. ``print`` it.

    Attributes
    ----------
    target : float
        The excess risk wanted.
    n_rows : float
        n*, where the fitted line of the curve reaches it; infinite if the line does not fall.
    interval : tuple of float
        Percentile interval of n* over bootstrap samples of the fits.
    confidence : float
        Of the interval.
    n_bootstrap : int
    largest_measured : int
        The largest size of the curve; what is beyond is extrapolated.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from eigencut import GPOD, Gaussian
    >>> from eigencut.risk import learning_curve, rows_needed
    >>> X, _ = make_moons(150, noise=0.05, random_state=0)
    >>> model = GPOD(2, affinity=Gaussian(sigma=0.3)).fit(X[:100])
    >>> curve = learning_curve(model, X, sizes=[30, 50, 80], n_repeats=3)
    >>> found = rows_needed(curve, target=0.01)
    >>> found.largest_measured
    80
    """

    target: float
    n_rows: float
    interval: tuple[float, float]
    confidence: float
    n_bootstrap: int
    largest_measured: int

    @property
    def sentence(self) -> str:
        """How many rows it takes."""
        wanted = f"an excess risk of {self.target:.3g}"
        if not math.isfinite(self.n_rows):
            return (
                f"It cannot be said how many rows {wanted} takes: the excess risk does not fall "
                "with the number of rows at these sizes. Measure larger sizes or more repeats."
            )
        low, high = (_count(end) for end in self.interval)
        text = (
            f"About {_count(self.n_rows)} rows have {wanted} ({self.confidence:.0%} interval "
            f"{low} to {high})"
        )
        if self.n_rows > self.largest_measured:
            text += f", by extrapolation beyond the {self.largest_measured:,} rows measured"
        return text + "."

    def to_dict(self) -> dict[str, Any]:
        """The fields and the sentence as plain Python, ready for JSON; infinity is None."""
        return {**json_ready(self), "sentence": self.sentence}

    def __str__(self) -> str:
        return self.sentence


def rows_needed(
    curve: LearningCurve,
    target: float,
    *,
    confidence: float = 0.95,
    n_bootstrap: int = 1000,
    random_state: Any = 0,
) -> RowsNeeded:
    """The number of rows n* at which a learning curve reaches a target excess risk.

        n* = exp((log target - intercept) / slope)

    by the curve's line, and the interval of n* by the bootstrap: the fits of each size are drawn
    anew with replacement, and the line is fitted again.

    Parameters
    ----------
    curve : LearningCurve
        Of ``learning_curve``.
    target : float
        Excess risk, above 0. It has the unit of ``curve.risk_of_all``: a hundredth of that is a
        risk that is 1 % above the best.
    confidence : float, default=0.95
        Of the interval.
    n_bootstrap : int, default=1000
    random_state : int, RandomState or None, default=0
        Of the bootstrap. None means 0.

    Returns
    -------
    RowsNeeded

    Notes
    -----
    The interval is of the scatter of the fits, given that the line holds. Beyond the sizes measured
    nothing but the line speaks for it; measure larger samples where n* is far beyond them.

    Examples
    --------
    >>> import numpy as np
    >>> from eigencut import GPOD, Gaussian
    >>> from eigencut.risk import learning_curve
    >>> X = np.random.default_rng(0).normal(size=(400, 1))
    >>> curve = learning_curve(GPOD(2, affinity=Gaussian(sigma=1.0)), X, sizes=[25, 50, 100])
    >>> needed = rows_needed(curve, curve.excess_at(200))
    >>> round(needed.n_rows), needed.interval[0] < 200 < needed.interval[1]
    (200, True)
    """
    if check_magnitude("target", target, "use e.g. curve.risk_of_all / 100") == 0:
        raise ValueError("target must be above 0. Got 0; use e.g. curve.risk_of_all / 100.")
    confidence = check_fraction("confidence", confidence, 0.95)
    check_count("n_bootstrap", n_bootstrap, "use the default of 1000")
    rng = check_random_state(0 if random_state is None else random_state)
    n_repeats = curve.excess.shape[1]
    times = rng.multinomial(
        n_repeats, np.full(n_repeats, 1 / n_repeats), (n_bootstrap, len(curve.sizes))
    )
    drawn = [_reached(slope, intercept, target) for slope, intercept in _lines(curve, times)]
    tail = 100 * (1 - confidence) / 2
    # Of infinite and finite numbers there is no number in between.
    low, high = np.percentile(drawn, [tail, 100 - tail], method="closest_observation")
    return RowsNeeded(
        target=float(target),
        n_rows=_reached(curve.slope, curve.intercept, target),
        interval=(float(low), float(high)),
        confidence=confidence,
        n_bootstrap=n_bootstrap,
        largest_measured=int(curve.sizes.max()),
    )


def _lines(curve: LearningCurve, times: Array) -> Array:
    """Slope and intercept of the lines through the fits, each counted so many times."""
    positive = curve.excess > ROUNDING
    x = np.broadcast_to(np.log(curve.sizes)[:, np.newaxis], curve.excess.shape)[positive]
    y, weight = np.log(curve.excess[positive]), times[:, positive]
    middle = x.mean() if len(x) else 0.0
    x = x - middle  # so that little cancels
    total, sx, sy, sxx, sxy = (weight @ column for column in (np.ones_like(x), x, y, x * x, x * y))
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = (total * sxy - sx * sy) / (total * sxx - sx * sx)
        intercept = (sy - slope * sx) / total - slope * middle
    return np.column_stack([slope, intercept])


def _reached(slope: float, intercept: float, target: float) -> float:
    """Where the line falls to the target; infinite if it does not fall."""
    if not (slope < 0 and math.isfinite(intercept)):
        return math.inf
    exponent = (math.log(target) - intercept) / slope
    return math.exp(exponent) if exponent < _LARGEST else math.inf


def _count(n: float) -> str:
    return f"{math.ceil(n):,}" if math.isfinite(n) else "infinity"
