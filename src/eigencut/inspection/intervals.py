"""Confidence intervals of shares, of differences and ratios of shares, and of superiority.

None of them assumes a shape of the data, and all hold their width at the ends, where every row of
a cluster, or none, has a property: clusters are often so clear.

References
----------
.. [1] E. B. Wilson, "Probable Inference, the Law of Succession, and Statistical Inference", Journal
   of the American Statistical Association 22, 209-212, 1927.
.. [2] R. G. Newcombe, "Interval Estimation for the Difference between Independent Proportions",
   Statistics in Medicine 17, 873-890, 1998 (method 10).
.. [3] R. G. Newcombe, "Confidence Intervals for an Effect Size Measure Based on the Mann-Whitney
   Statistic, Part 2", Statistics in Medicine 25, 559-573, 2006 (after its method 5).
.. [4] A. Donner, G. Y. Zou, "Closed-form Confidence Intervals for Functions of the Normal Mean and
   Standard Deviation", Statistical Methods in Medical Research 21, 347-359, 2012.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from eigencut._utils.arrays import Array

Interval = tuple[Array, Array]  # low, high

_HALVINGS = 60


def quantile_of(confidence: float) -> float:
    """z: a normal variable is between -z and z with this probability."""
    return float(ndtri((1 + confidence) / 2))


def share_interval(found: NDArray[Any], total: NDArray[Any], z: float) -> Interval:
    """Wilson's interval of ``found / total``.

    Examples
    --------
    >>> low, high = share_interval(np.array([0, 5]), np.array([10, 10]), 1.96)
    >>> low.round(3), high.round(3)
    (array([0.   , 0.237]), array([0.278, 0.763]))
    """
    nothing = np.asarray(total) <= 0
    total = np.where(nothing, 1.0, total)
    share = np.asarray(found, dtype=np.float64) / total
    middle = (share + z**2 / (2 * total)) / (1 + z**2 / total)
    width = z * np.sqrt(share * (1 - share) / total + z**2 / (4 * total**2)) / (1 + z**2 / total)
    low = np.where(share <= 0, 0.0, np.maximum(middle - width, 0.0))
    high = np.where((share >= 1) | nothing, 1.0, np.minimum(middle + width, 1.0))
    return np.minimum(low, share), np.maximum(high, share)


def difference_interval(
    share: Array, own: Interval, other_share: Array, other: Interval
) -> Interval:
    """Of ``share - other_share``, given the interval of each."""
    difference = share - other_share
    low = difference - np.hypot(share - own[0], other[1] - other_share)
    high = difference + np.hypot(own[1] - share, other_share - other[0])
    return low, high


def ratio_interval(share: Array, own: Interval, other_share: Array, other: Interval) -> Interval:
    """Of ``share / other_share``, given the interval of each; infinite where the other may be 0."""
    both = share * other_share
    with np.errstate(divide="ignore", invalid="ignore"):
        below = other[1] * (2 * other_share - other[1])
        root = np.sqrt(np.maximum(both**2 - own[0] * (2 * share - own[0]) * below, 0.0))
        # Both forms are the same root; neither divides by what cancels.
        conjugate = own[0] * (2 * share - own[0]) / (both + root)
        low = np.where(both + root > 0, conjugate, 0.0)
        above = other[0] * (2 * other_share - other[0])
        root = np.sqrt(np.maximum(both**2 - own[1] * (2 * share - own[1]) * above, 0.0))
        high = np.where(above > 0, (both + root) / above, np.inf)
    return low, high


def superiority_interval(
    superiority: Array, variance: Array, n_inside: Array, n_outside: Array, z: float
) -> Interval:
    """Of P(x > y) + P(x = y) / 2, for x among so many rows inside and y among so many outside.

    All t with ``|superiority - t| <= z sqrt(V(t))``. V(t) is the larger of two variances: the one
    that was measured, as ``t (1 - t)`` goes, which is right whatever the distributions but 0 where
    all x are above all y; and the one that Hanley and McNeil give, the larger of its two terms
    counting for the smaller side.
    """
    m, n = np.asarray(n_inside, dtype=np.float64), np.asarray(n_outside, dtype=np.float64)
    fewer, more = np.minimum(m, n), np.maximum(m, n)
    middle_of = np.maximum(superiority * (1 - superiority), np.finfo(np.float64).tiny)
    measured = np.minimum(variance / middle_of, 1 / np.maximum(fewer - 1, 1))

    def is_possible(t: Array) -> Array:
        terms = (1 - t) / (2 - t), t / (1 + t)
        larger, smaller = np.maximum(*terms), np.minimum(*terms)
        modelled = (1 + (more - 1) * larger + (fewer - 1) * smaller) / (m * n)
        spread = t * (1 - t) * np.maximum(modelled, measured)
        return np.asarray(np.abs(superiority - t) <= z * np.sqrt(spread))

    found = []
    for end in (0.0, 1.0):
        outer, inner = np.full_like(superiority, end), np.array(superiority, dtype=np.float64)
        for _ in range(_HALVINGS):
            middle = (outer + inner) / 2
            possible = is_possible(middle)
            inner, outer = np.where(possible, middle, inner), np.where(possible, outer, middle)
        found.append(inner)
    return found[0], found[1]


def nearest_to_zero(low: float, high: float) -> float:
    """How strong an effect is at least: 0 where the interval holds 0."""
    return 0.0 if low <= 0 <= high else math.copysign(min(abs(low), abs(high)), low)
