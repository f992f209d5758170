"""Limits of a mean by betting: sets of means against which no gambler would have become rich.

A gambler who stakes lambda on each of the independent y_i of [0, 1] has, if their mean is mu,

    prod_i (1 + lambda (y_i - mu)),    -1 / (1 - mu) < lambda < 1 / mu,

a fortune of mean 1, so by Markov's inequality it reaches 1 / alpha with probability alpha at most;
by Ville's it does so at any time at all. So do averages of fortunes. The means at which the
fortune stays below are a confidence set, valid for every number of rows and distribution.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from eigencut._utils.arrays import Array, Indices

# Shares of the largest stake, averaged; small ones serve many rows, large ones few.
STAKES = np.array([0.99, 0.7, 0.5, 0.35, 0.25, 0.17, 0.12, 0.08, 0.05, 0.025, 0.01, 0.004])


def log_fortune(y: Array, mean: float) -> float:
    """Return the logarithm of the fortune of bets on values above the mean."""
    gains = np.log1p(np.multiply.outer(STAKES, y / mean - 1))
    return _log_mean(gains.sum(axis=-1))


def limits_of_mean(y: Array, alpha: float) -> tuple[float, float]:
    """Return limits that hold the mean of independent values of [0, 1] but for ``alpha``."""
    most = math.log(2 / alpha)
    low = lowest(lambda mean: log_fortune(y, mean), most)
    high = 1 - lowest(lambda mean: log_fortune(1 - y, mean), most)
    return low, high


def lowest(fortune: Callable[[float], float], most: float) -> float:
    """Return a number of [0, 1] below which a fortune, which falls with it, is above ``most``."""
    low, high = 0.0, 1.0  # nothing is known against 1, and what is returned is never too high
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if fortune(middle) >= most else (low, middle)
        if high - low < 1e-6 * high:
            break
    return low


@dataclass(frozen=True)
class DisjointPairs:
    """Pairs of rows, the same rows paired in several ways, drawn beforehand."""

    one: Indices
    other: Indices
    weight: Array
    pairing: Indices  # the number of the pairing that each pair belongs to

    def limits(
        self, is_in: NDArray[np.bool_], by_degree: bool, largest: float, alpha: float
    ) -> tuple[float, float]:
        """Return limits of what leaves a cluster over its size, which hold but for ``alpha``."""
        n_in = is_in[self.one].astype(np.float64) + is_in[self.other]
        some = n_in > 0
        n_in, weight = n_in[some], np.minimum(self.weight[some] / largest, 1.0)
        a, b = np.where(n_in == 1, weight / 2, 0.0), n_in / 2 * (weight if by_degree else 1.0)
        n_pairings = int(self.pairing.max()) + 1

        def fortune(gains: Array) -> float:  # averaged over pairings
            logs = [np.log1p(stake * gains) for stake in STAKES]
            sums = [np.bincount(self.pairing[some], log, n_pairings) for log in logs]
            return _log_mean(np.concatenate(sums))

        most = math.log(2 / alpha)
        low = lowest(lambda phi: fortune(a / phi - b), most)
        # Of bets against ``phi = 1 - rest``.
        rest = lowest(lambda rest: fortune(2 * ((1 - rest) * b - a) / rest), most)
        return low, 1 - rest


def round_robin(n: int, n_rounds: int) -> tuple[Indices, Indices]:
    """Return partners of n rows, of shape (n_rounds, n // 2): disjoint pairs in each round."""
    even = n + n % 2
    turned = (np.arange(even - 1) + np.arange(n_rounds)[:, np.newaxis]) % max(even - 1, 1)
    seats = np.column_stack([np.full(n_rounds, even - 1), turned])
    one, other = seats[:, : even // 2], seats[:, : even // 2 - 1 : -1]
    if even == n:
        return one, other
    return one[:, 1:], other[:, 1:]  # the partner of the last one is nobody


def _log_mean(logs: Array) -> float:
    return float(logsumexp(logs) - math.log(len(logs)))
