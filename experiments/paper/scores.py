"""Accuracy and NMI, their summary over splits, and the verdict on a figure of the paper."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from eigencut._utils.arrays import Indices

RUNS = 4  # the paper averages so many
NO_VERDICT = "too few splits"
_SPREAD = 1.96  # standard deviations that hold 95 % of single runs
_RESAMPLES = 4000


def accuracy(truth: Indices, labels: Indices) -> float:
    """Per cent of rows labelled rightly under the best matching of clusters to classes.

    Examples
    --------
    >>> import numpy as np
    >>> accuracy(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 1]))
    75.0
    """
    from scipy.optimize import linear_sum_assignment
    from sklearn.metrics import confusion_matrix

    counts = confusion_matrix(truth, labels)
    return float(100 * counts[linear_sum_assignment(-counts)].sum() / len(truth))


def both_scores(truth: Indices, labels: Indices) -> tuple[float, float]:
    """ACC in per cent and NMI (arithmetic mean of the entropies)."""
    from sklearn.metrics import normalized_mutual_info_score

    return accuracy(truth, labels), float(normalized_mutual_info_score(truth, labels))


def summary(values: ArrayLike, digits: int) -> list[float | None] | None:
    """Mean, standard deviation, and the 2.5 % and 97.5 % quantiles of means of four splits.

    The quantiles are over draws of four of the splits without replacement; None where there are
    fewer than twice four, whose means would hardly differ. NaN stands for a fit that was refused,
    and does not count; None for all if fewer than four are left.
    """
    scores = np.asarray(values, dtype=np.float64)
    scores = scores[np.isfinite(scores)]
    if len(scores) < RUNS:
        return None
    mean, deviation = (round(float(v), digits) for v in (scores.mean(), scores.std(ddof=1)))
    if len(scores) < 2 * RUNS:
        return [mean, deviation, None, None]
    rng = np.random.default_rng(0)
    draws = rng.random((_RESAMPLES, len(scores))).argpartition(RUNS - 1, axis=1)[:, :RUNS]
    low, high = np.quantile(scores[draws].mean(axis=1), [0.025, 0.975])
    return [mean, deviation, round(float(low), digits), round(float(high), digits)]


def verdict(published: float, ours: Sequence[float | None]) -> str:
    """Where our range of four-split means lies, compared with the paper's four-run figure.

    Without a range there is no verdict.

    Examples
    --------
    >>> verdict(70.0, [80.0, 3.0, 75.0, 85.0]), verdict(76.0, [80.0, 3.0, 75.0, 85.0])
    ('above', 'inside')
    """
    low, high = ours[2:]
    if low is None or high is None:
        return NO_VERDICT
    if low > published:
        return "above"
    return "below" if high < published else "inside"


def verdict_of_one_split(published: float, ours: Sequence[float | None]) -> str:
    """The verdict if the paper's four runs were of one split: a single draw, not a mean of four.

    Examples
    --------
    >>> verdict_of_one_split(76.0, [80.0, 3.0, 78.0, 82.0])
    'inside'
    """
    mean, deviation = ours[:2]
    assert mean is not None and deviation is not None
    ends = mean - _SPREAD * deviation, mean + _SPREAD * deviation
    return verdict(published, [mean, deviation, *ends])
