"""Accuracy and NMI, their summary over splits, and the verdict on a figure of the paper."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from eigencut.runtime.arrays import Indices

RUNS = 4  # the paper averages so many
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


def summary(values: ArrayLike, digits: int) -> list[float] | None:
    """Mean, standard deviation, and the 2.5 % and 97.5 % quantiles of means of four splits.

    The quantiles are over draws of four of the splits without replacement. NaN stands for a fit
    that was refused, and does not count; None if there is nothing else.
    """
    scores = np.asarray(values, dtype=np.float64)
    scores = scores[np.isfinite(scores)]
    if len(scores) < RUNS:
        return None
    rng = np.random.default_rng(0)
    draws = rng.random((_RESAMPLES, len(scores))).argpartition(RUNS - 1, axis=1)[:, :RUNS]
    low, high = np.quantile(scores[draws].mean(axis=1), [0.025, 0.975])
    return [round(float(v), digits) for v in (scores.mean(), scores.std(ddof=1), low, high)]


def verdict(published: float, ours: Sequence[float]) -> str:
    """Where our range of four-split means lies, compared with the paper's four-run figure.

    Examples
    --------
    >>> verdict(70.0, [80.0, 3.0, 75.0, 85.0]), verdict(76.0, [80.0, 3.0, 75.0, 85.0])
    ('above', 'inside')
    """
    low, high = ours[2:]
    if low > published:
        return "above"
    return "below" if high < published else "inside"
