"""The learning curve: excess risk against the number of rows, ``log(excess) = a + b log(n)``."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit
from scipy.stats import linregress
from sklearn.base import clone

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.json_ready import JsonReady
from eigencut._utils.running import threads
from eigencut._utils.validation import check_count
from eigencut.affinities import named_affinity
from eigencut.exceptions import GraphWarning, NoEigenfunctions, invalid
from eigencut.io.sample import seeded_by
from eigencut.io.validation import check_rows
from eigencut.theory.errors import excess_on_training_rows, measured_on, refuse_matrices, row_counts

_ROUNDING = 1e-12  # an excess up to this counts as 0


@dataclass(frozen=True)
class LearningCurve(JsonReady):
    """Excess risk of fits on samples, and a line fitted to it. ``print`` it to read it.

    Attributes
    ----------
    sizes, excess : arrays of shape (n_sizes,) and (n_sizes, n_repeats)
        Rows of the samples, and ``F(fit on a sample) - F(best)`` on the population of all rows.
    risk_of_all, n_rows : float and int
        ``F(best)``, the sum of the eigenvalues of the fit on all rows; the number of all rows.
    slope, intercept : float
        ``log(excess) = intercept + slope * log(n)``, by least squares over all points.
    slope_interval : tuple of float
        Interval of the slope with 95 % confidence (Student's t).
    """

    sizes: Indices
    excess: Array
    risk_of_all: float
    slope: float
    slope_interval: tuple[float, float]
    intercept: float
    n_rows: int

    theory_slope: ClassVar[float] = -0.5  # that of the bounds of Theorems 1 and 3

    @property
    def is_measurable(self) -> NDArray[np.bool_]:
        """Whether each value of the excess is larger than rounding."""
        return np.asarray(self.excess > _ROUNDING)

    def _excess_at(self, n: float) -> float:
        """Return the excess risk at n rows, by the fitted line."""
        return math.exp(self.intercept + self.slope * math.log(n))

    @property
    def sentence(self) -> str:
        """How much doubling the data would lower the risk, in words."""
        if math.isnan(self.slope):
            return (
                "Samples of these sizes already reach the risk of all rows; more data would not "
                "lower it measurably."
            )
        if self.slope_interval[1] >= 0:
            return (
                "The excess risk does not fall reliably with the number of rows at these sizes; "
                "use larger sizes or more repeats to say what more data would bring."
            )
        now = self._excess_at(self.n_rows)
        gain = now - self._excess_at(2 * self.n_rows)
        share = gain / (self.risk_of_all + now)
        return (
            f"Doubling the data would lower the risk by about {gain:.2g} ({100 * share:.2g} % of "
            f"it), by the fitted line at {self.n_rows} rows."
        )

    def __str__(self) -> str:
        low, high = self.slope_interval
        lines = [
            f"Learning curve on {self.n_rows} rows; the risk of all of them is "
            f"{self.risk_of_all:.4g}",
            "",
            f"{'rows':>8}  {'excess risk':>12}  {'± std':>10}",
        ]
        for n, row in zip(self.sizes, self.excess, strict=True):
            lines.append(f"{n:8d}  {row.mean():12.4g}  {row.std():10.2g}")
        lines += [
            "",
            f"log-log slope {self.slope:.2f} (95% interval {low:.2f} to "
            f"{high:.2f}); the bounds of the theory fall with slope {self.theory_slope}",
            self.sentence,
        ]
        return "\n".join(lines)


def learning_curve(
    estimator: Any,
    X: ArrayLike,
    sizes: Sequence[int] | None = None,
    *,
    n_repeats: int = 8,
    random_state: Any = 0,
    sample_weight: ArrayLike | None = None,
) -> LearningCurve:
    """Measure how the excess risk of fits falls with the number of rows.

    All N rows of X serve as the population, whose best functions and F are known exactly. Samples
    are drawn from it independently, with replacement, so Theorems 1 and 3 apply. All fits use the
    weight function of the fit on all rows, because the theory assumes a single weight function. See
    ``excess_risk`` for what is measured.

    Parameters
    ----------
    estimator : GPOD or TableModel
        A GPOD need not be fitted, and does not change. Fits use ``extension="consistent"``, and
        "gaussian" instead of ``affinity="auto"``, because its weights stay the same for samples.
    X : array-like of shape (N, n_features)
    sizes : sequence of int, optional
        Rows of the samples. Default: 6 in geometric progression, from 50 (10 per cluster if that
        is more) to N / 4.
    n_repeats : int, default=8
        Samples of each size.
    random_state : int, RandomState or None, default=0
        None means 0.
    sample_weight : array-like of shape (N,), optional
        Samples are drawn in proportion to these weights. Integers are numbers of identical rows.
        For other weights, N is Kish's effective number of rows.

    Returns
    -------
    LearningCurve

    Notes
    -----
    A measured slope is often near -1: the theory's -1/2 bounds the risk from above, while close to
    the optimum the excess is quadratic in the error of the functions.

    Examples
    --------
    >>> import numpy as np
    >>> from eigencut import GPOD, Gaussian
    >>> X = np.random.default_rng(0).normal(size=(400, 1))
    >>> model = GPOD(n_clusters=2, affinity=Gaussian(sigma=1.0))
    >>> curve = learning_curve(model, X, sizes=[25, 50, 100], n_repeats=6)
    >>> bool((curve.excess >= -1e-12).all()), curve.slope < -0.35
    (True, True)
    """
    if estimator.gpod is not estimator:  # a model of a table
        with measured_on(estimator, X, sample_weight) as (gpod, rows, counts):
            estimator, X, sample_weight = gpod, rows, counts
    check_count("n_repeats", n_repeats, "use the default of 8")
    # Errors come before the fit on all rows, which takes a while.
    check_count("n_clusters", estimator.n_clusters, "use the number of clusters you expect")
    reference = clone(estimator)
    if estimator.solver == "discrete":
        expected, remedy = "be 'relaxed' for a learning curve", "set solver='relaxed'"
        raise invalid("solver", expected, "'discrete'", remedy, NoEigenfunctions)
    if isinstance(estimator.affinity, str) and estimator.affinity == "auto":
        reference.set_params(affinity="gaussian")
    refuse_matrices(estimator.affinity, named_affinity(reference.affinity, estimator.metric))
    rows = check_rows(reference, X, reset=True)
    counts = row_counts(sample_weight, rows.shape[0])
    n_rows = rows.shape[0] if counts is None else int(counts.sum())
    chosen = _checked_sizes(sizes, n_rows, estimator.n_clusters)
    if len(chosen) * n_repeats < 3:
        expected = "give at least 3 points to fit a line"
        got = f"{len(chosen)} sizes and {n_repeats=}"
        raise invalid("sizes and n_repeats", expected, got, "raise n_repeats")
    reference.fit(X, sample_weight=counts)
    population = reference.affinity_
    rng = seeded_by(population.rows_, random_state)
    sampled = clone(estimator).set_params(
        affinity=population.frozen(), extension="consistent", n_init=1, verbose=False
    )
    excess = np.empty((len(chosen), n_repeats))
    with threads(estimator.n_jobs):
        for i, n in enumerate(chosen):
            draws = (_drawn(population.multiplicity_, n, rng) for _ in range(n_repeats))
            fits = (_fit_on_sample(sampled, population.rows_, drawn) for drawn in draws)
            excess[i] = excess_on_training_rows(reference, fits)
    slope, interval, intercept = _line(chosen, excess)
    return LearningCurve(
        sizes=chosen,
        excess=excess,
        risk_of_all=float(reference.eigenvalues_.sum()),
        slope=slope,
        slope_interval=interval,
        intercept=intercept,
        n_rows=n_rows,
    )


def _drawn(counts: Array, n: int, rng: np.random.RandomState) -> Indices:
    """Draw n vertices independently, with probabilities proportional to ``counts``."""
    until, is_whole = np.cumsum(counts), (counts == np.rint(counts)).all()
    places = rng.randint(int(until[-1]), size=n) if is_whole else rng.uniform(0, until[-1], n)
    # By rounding, a place can lie behind the last vertex.
    return np.minimum(np.searchsorted(until, places, side="right"), len(counts) - 1)


def _fit_on_sample(sampled: Any, rows: Array, drawn: Indices) -> Any:
    n_distinct, K = len(np.unique(drawn)), sampled.n_clusters
    if n_distinct < K:
        expected = f"be large enough for samples with n_clusters={K} different rows"
        got = f"a sample of {len(drawn)} rows with {n_distinct} different ones"
        raise invalid("sizes", expected, got, "use larger sizes")
    with warnings.catch_warnings():
        # The curve measures samples whatever their graphs are.
        warnings.simplefilter("ignore", GraphWarning)
        return clone(sampled).fit(rows[drawn])


def _checked_sizes(sizes: Sequence[int] | None, n_rows: int, n_clusters: int) -> Indices:
    """Return the sizes, ascending; by default from 50 rows, the fewest that show a rate."""
    if sizes is None:
        smallest, largest = max(50, 10 * n_clusters), n_rows // 4
        if largest < 2 * smallest:
            expected = f"have at least {8 * smallest} rows for the default sizes with {n_clusters=}"
            raise invalid("X", expected, n_rows, "add rows, or pass smaller sizes")
        return np.unique(np.geomspace(smallest, largest, 6).round().astype(np.intp))
    given = np.asarray(sizes)
    is_list = given.ndim == 1 and given.dtype.kind in "iu" and len(np.unique(given)) >= 2
    if not is_list or given.min() <= n_clusters or given.max() > n_rows:
        expected = f"hold at least two different integers, each above n_clusters={n_clusters} and "
        expected += f"at most the number of rows, {n_rows}"
        raise invalid("sizes", expected, repr(sizes), "leave it out for the default")
    return np.unique(given).astype(np.intp)


def _line(sizes: Indices, excess: Array) -> tuple[float, tuple[float, float], float]:
    """Return slope, its interval and intercept of log excess on log n; NaN without any excess."""
    positive = excess > _ROUNDING
    x = np.log(np.broadcast_to(sizes[:, np.newaxis], excess.shape)[positive])
    if len(x) < 3 or np.ptp(x) == 0:
        return math.nan, (math.nan, math.nan), math.nan
    line = linregress(x, np.log(excess[positive]))
    slope = float(line.slope)
    reach = float(stdtrit(len(x) - 2, 0.975) * line.stderr)
    return slope, (slope - reach, slope + reach), float(line.intercept)
