"""Confidence limits of the mean of numbers in [0, 1], by betting.

A gambler who stakes lambda on each of the independent y_i of [0, 1] has, if their mean is mu,

    prod_i (1 + lambda (y_i - mu)),    -1 / (1 - mu) < lambda < 1 / mu,

a fortune of mean 1, so it ever reaches 1 / alpha with probability alpha at most (Markov, Ville).
This is also true of averages of fortunes. The means mu at which it stays below are a confidence
set: the data do not make a gambler rich who bets against them.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.special import logsumexp

from eigencut._utils.arrays import Array

# Shares of the largest stake, averaged; small ones serve many rows, large ones few.
STAKES = np.array([0.99, 0.7, 0.5, 0.35, 0.25, 0.17, 0.12, 0.08, 0.05, 0.025, 0.01, 0.004])


def log_fortune(y: Array, mean: float) -> float:
    """Return the logarithm of the fortune of bets on values above the mean."""
    gains = np.log1p(np.multiply.outer(STAKES, y / mean - 1))
    return float(logsumexp(gains.sum(axis=-1)) - math.log(len(STAKES)))


def limits_of_mean(y: Array, alpha: float) -> tuple[float, float]:
    """Return limits that contain the mean of values in [0, 1] with probability 1 - ``alpha``."""
    most = math.log(2 / alpha)
    low = lowest(lambda mean: log_fortune(y, mean), most)
    high = 1 - lowest(lambda mean: log_fortune(1 - y, mean), most)
    return low, high


def lowest(fortune: Callable[[float], float], most: float) -> float:
    """Return where in [0, 1] a falling fortune reaches ``most``; rounding makes it lower."""
    low, high = 0.0, 1.0  # by bisection: ``low`` is never too high
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if fortune(middle) >= most else (low, middle)
        if high - low < 1e-6 * high:
            break
    return low
