"""Limits of the sizes of clusters, kept by a price for each cluster.

    maximize  sum_i w_i s_i,k(i)    subject to    low <= sum of w_i over cluster k <= high

is solved by labels ``k(i) = argmax_k (s_ik + b_k)`` with one price b_k for each cluster, the dual
variable of its limits. Prices label new rows as well. Newton's method on a smoothed dual and
coordinate steps approximate them; shortest augmenting paths between clusters make them exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.validation import is_integer, is_real, shown
from eigencut.exceptions import invalid


@dataclass(frozen=True)
class PriceSettings:
    """Limits of the search for prices."""

    some_rows: int = 8192  # Coordinate steps use this many rows, the least decided,
    rounds: int = 60  # and change each price this many times.
    most_moves: int = 5000  # Rows that augmenting paths move at most.
    # Of the smoothed dual; Newton steps for each; share of rows in excess at which to stop.
    temperatures: tuple[float, ...] = (0.2, 0.05, 0.012, 3e-3, 8e-4, 2e-4, 5e-5, 1e-5, 1e-6, 1e-7)
    newton_steps: int = 8
    near: float = 5e-4


SETTINGS = PriceSettings()


def check_size_limits(low: Any, high: Any) -> None:
    """Raise an error for invalid limits of cluster sizes."""
    for name, value in (("min_cluster_size", low), ("max_cluster_size", high)):
        is_word = value is None or (isinstance(value, str) and value == "equal")
        is_rows = is_integer(value) and is_real(value) and value >= 1
        is_share = is_real(value) and not is_integer(value) and 0 < value < 1
        if not (is_word or is_rows or is_share):
            expected = "be None, a number of rows from 1 on, a share of them below 1, or 'equal'"
            raise invalid(name, expected, shown(value), "leave it out for no limit")


@dataclass(frozen=True)
class SizeLimits:
    """The least and the most rows of a cluster, or sums of their weights."""

    low: float
    high: float

    @classmethod
    def from_parameters(
        cls, low: Any, high: Any, n_clusters: int, weight: Array
    ) -> SizeLimits | None:
        """Return the limits, None without any; refuse limits that no clusters could keep."""
        if low is None and high is None:
            return None
        total, K = float(weight.sum()), n_clusters
        is_whole = bool((weight == np.rint(weight)).all())
        if "equal" in (low, high):  # strings and numbers compare as different
            other = next((one for one in (low, high) if one not in (None, "equal")), None)
            if other is not None:
                names, got = "min_cluster_size and max_cluster_size", f"{low!r} and {high!r}"
                raise invalid(names, "agree", got, "leave the other limit out")
            low, high = (total // K, -(-total // K)) if is_whole else (total / K, total / K)
            return cls(float(low), float(high))
        least = 0.0 if low is None else _rows(low, total)
        most = total if high is None else _rows(high, total)
        if is_whole:  # 1e-9: a share of whole rows may be off by rounding
            least, most = math.ceil(least - 1e-9 * total), math.floor(most + 1e-9 * total)
        for name, value, is_kept, relation in (
            ("min_cluster_size", least, K * least <= total * (1 + 1e-12), "more than"),
            ("max_cluster_size", most, K * most >= total * (1 - 1e-12), "fewer than"),
        ):
            if not is_kept:
                got = f"{K} clusters x {value:g} = {K * value:g}, {relation} the {total:g} rows"
                expected = f"allow {K} clusters of all rows"
                raise invalid(name, expected, got, f"the mean size is {total / K:g}")
        if least > most:
            got = f"{least:g} and {most:g} rows"
            raise invalid("min_cluster_size", "not be above max_cluster_size", got, "swap them")
        return cls(float(least), float(most))

    def excess(self, sizes: Any) -> Array:
        """Return by how much each size is above the limits, or below them as a negative number."""
        return np.asarray(sizes - np.clip(sizes, self.low, self.high))


def _rows(limit: Any, total: float) -> float:
    return float(limit) if is_integer(limit) else float(limit) * total


def price_clusters(scores: Array, weight: Array, limits: SizeLimits) -> tuple[Array, Array]:
    """Return a price for each cluster, and by how much sizes still exceed the limits.

    They do only if rows with equal scores, or one row that stands for many, cannot be divided.
    """
    prices, some = np.zeros(scores.shape[1]), np.arange(len(scores))
    if len(scores) > SETTINGS.some_rows and not _is_near(scores, weight, limits, prices):
        prices = _smoothed(scores, weight, limits)
        ranked = np.partition(scores + prices, -2, axis=1)
        some = np.argpartition(ranked[:, -1] - ranked[:, -2], SETTINGS.some_rows)
        some = np.sort(some[: SETTINGS.some_rows])
    if not _is_near(scores, weight, limits, prices):
        others = np.ones(len(scores), dtype=bool)
        others[some] = False
        labels = np.argmax(scores[others] + prices, axis=1)
        fixed = np.bincount(labels, weight[others], len(prices))
        prices = _coordinate_steps(scores[some], weight[some], limits, prices, fixed)
    return _augmented(scores, weight, limits, prices)


def _is_near(scores: Array, weight: Array, limits: SizeLimits, prices: Array) -> bool:
    """Return whether only few rows must move for sizes to keep the limits."""
    sizes = np.bincount(np.argmax(scores + prices, axis=1), weight, len(prices))
    return bool(np.abs(limits.excess(sizes)).sum() <= SETTINGS.near * weight.sum())


def _smoothed(scores: Array, weight: Array, limits: SizeLimits) -> Array:
    """Return approximate prices, by Newton's method on a dual that is less and less smoothed."""
    prices = np.zeros(scores.shape[1])
    for temperature in SETTINGS.temperatures:
        for _ in range(SETTINGS.newton_steps):
            odds = (scores + prices) / temperature
            odds = np.exp(odds - odds.max(axis=1, keepdims=True))
            odds /= odds.sum(axis=1, keepdims=True)
            counted = odds * weight[:, np.newaxis]
            sizes = counted.sum(axis=0)
            target = np.where(prices > 0, limits.low, limits.high)
            target = np.where(prices == 0, np.clip(sizes, limits.low, limits.high), target)
            if np.abs(target - sizes).sum() <= SETTINGS.near * weight.sum():
                break
            curvature = (np.diag(sizes) - odds.T @ counted) / temperature
            curvature += 1e-6 * np.diag(sizes + sizes.mean()) / temperature
            step = _newton_step(prices, sizes, curvature, limits)
            prices = prices + step * min(1.0, 5 * temperature / max(np.abs(step).max(), 1e-300))
        if _is_near(scores, weight, limits, prices):
            break
    return prices


def _newton_step(prices: Array, sizes: Array, curvature: Array, limits: SizeLimits) -> Array:
    """Return the step that minimizes a quadratic model of the dual, which has a kink at price 0."""
    step, slope = np.zeros(len(prices)), sizes.copy()
    for _ in range(SETTINGS.rounds):
        largest = 0.0
        for k, price in enumerate(prices.tolist()):
            own = float(curvature[k, k])
            rest = float(slope[k]) - own * float(step[k])
            most, least = (limits.low - rest) / own, (limits.high - rest) / own
            change = (most if price + most > 0 else min(least, -price)) - float(step[k])
            if change:
                step[k] += change
                slope += curvature[k] * change
                largest = max(largest, abs(change))
        if largest <= 1e-3 * np.abs(step).max():
            break
    return step


def _coordinate_steps(
    scores: Array, weight: Array, limits: SizeLimits, prices: Array, fixed: Any
) -> Array:
    """Set each price in turn so that its cluster, with ``fixed`` other rows, keeps the limits."""
    prices = prices.copy()
    priced = scores + prices
    for _ in range(SETTINGS.rounds):
        before = prices.copy()
        for k in range(len(prices)):
            priced[:, k] = -np.inf
            needed = priced.max(axis=1) - scores[:, k]  # the least price at which a row comes here
            order = np.argsort(needed)
            size = fixed[k] + np.concatenate([[0.0], np.cumsum(weight[order])])
            # size[m] is the size with the m rows that need the least price.
            at_zero = m = int(np.searchsorted(needed[order], 0.0, side="left"))
            if size[at_zero] > limits.high:
                m = max(int(np.searchsorted(size, limits.high * (1 + 1e-12), side="right")) - 1, 0)
            elif size[at_zero] < limits.low:
                m = min(int(np.searchsorted(size, limits.low * (1 - 1e-12))), len(order))
            around = needed[order[max(m - 1, 0) : m + 1]]
            prices[k] = 0.0 if m == at_zero else around.mean()
            priced[:, k] = scores[:, k] + prices[k]
        if np.abs(prices - before).max() < 1e-12:
            break
    return prices


class _RowMoves:
    """The least costs of moving a row between clusters, and from or to an extra last node."""

    def __init__(self, scores: Array, weight: Array, limits: SizeLimits, labels: Indices) -> None:
        self.scores, self.weight, self.limits, self.labels = scores, weight, limits, labels
        self.K = scores.shape[1]
        self.sizes = np.bincount(labels, weight, self.K).astype(np.float64)
        self.costs = np.full((self.K + 1, self.K + 1), np.inf)
        self.rows = np.zeros((self.K, self.K), dtype=np.intp)
        self.members = [np.flatnonzero(labels == k) for k in range(self.K)]
        for k in range(self.K):
            self._look(k)

    def _look(self, k: int) -> None:
        """Find the cheapest row to move from a cluster to each other one."""
        mine = self.members[k]
        self.costs[k, : self.K] = np.inf
        if len(mine):
            loss = self.scores[mine, k][:, np.newaxis] - self.scores[mine]
            self.rows[k] = mine[np.argmin(loss, axis=0)]
            self.costs[k, : self.K] = loss.min(axis=0)
        self.costs[k, k] = 0.0
        little = 1e-9 * self.weight.sum()
        self.costs[k, -1] = 0.0 if self.sizes[k] < self.limits.high - little else np.inf
        self.costs[-1, k] = 0.0 if self.sizes[k] > self.limits.low + little else np.inf

    def shortest(self) -> tuple[Array, Indices]:
        """Return the least cost between each two nodes, and the last node but one on the path."""
        costs = self.costs.copy()
        np.fill_diagonal(costs, 0.0)
        before = np.where(np.isfinite(costs), np.arange(len(costs))[:, np.newaxis], -1)
        for via in range(len(costs)):
            through = costs[:, via, np.newaxis] + costs[via]
            shorter = through < costs - 1e-15
            costs = np.where(shorter, through, costs)
            before = np.where(shorter, before[via], before)
        return costs, before

    def gain(self) -> list[int]:
        """Return a cycle of negative cost, backwards; an empty list if there is none."""
        n = len(self.costs)
        cost, before = np.zeros(n), np.arange(n)
        for _ in range(n):
            through = cost[:, np.newaxis] + self.costs
            is_less = through.min(axis=0) < cost - 1e-12
            if not is_less.any():
                return []
            before = np.where(is_less, through.argmin(axis=0), before)
            cost = np.where(is_less, through.min(axis=0), cost)
        node = int(np.flatnonzero(is_less)[0])
        for _ in range(n):  # so that the node lies on the cycle
            node = int(before[node])
        way = [node, int(before[node])]
        while way[-1] != node:
            way.append(int(before[way[-1]]))
        return way

    def move(self, way: list[int], excess: float) -> bool:
        """Move a row along each edge of a backward path; return False if one weighs too much."""
        steps = [(a, b) for b, a in pairwise(way) if a < self.K and b < self.K]
        moved = [int(self.rows[a, b]) for a, b in steps]
        if max(self.weight[row] for row in moved) >= 2 * excess:
            return False
        for row, (a, b) in zip(moved, steps, strict=True):
            self.labels[row] = b
            self.members[a] = self.members[a][self.members[a] != row]
            self.members[b] = np.append(self.members[b], row)
            self.sizes[a] -= self.weight[row]
            self.sizes[b] += self.weight[row]
        for k in {node for step in steps for node in step}:
            self._look(k)
        return True


def _augmented(
    scores: Array, weight: Array, limits: SizeLimits, prices: Array
) -> tuple[Array, Array]:
    """Move rows along cheapest paths until sizes keep the limits; return prices and excess."""
    moves = _RowMoves(scores, weight, limits, np.argmax(scores + prices, axis=1))
    little = 1e-9 * float(weight.sum())
    for _ in range(SETTINGS.most_moves):
        around = moves.gain()
        if around:
            moves.move(around, np.inf)
            continue
        excess = limits.excess(moves.sizes)
        excess = np.append(excess, -excess.sum())
        gives, takes = np.flatnonzero(excess > little), np.flatnonzero(excess < -little)
        if not len(gives) or not len(takes):
            break
        costs, before = moves.shortest()
        among = costs[np.ix_(gives, takes)]
        start, end = np.unravel_index(int(np.argmin(among)), among.shape)
        a, b = int(gives[start]), int(takes[end])
        left, way = min(float(excess[a]), -float(excess[b])), [b]
        if not np.isfinite(among.min()):
            break
        while way[-1] != a and len(way) <= moves.K:
            way.append(int(before[a, way[-1]]))
        if way[-1] != a or not moves.move(way, left):  # a way beyond all nodes is a rounded cycle
            break
    costs, _ = moves.shortest()
    # The costs from a cluster to all, and minus those from all to it, are prices that keep these
    # labels. So is their mean, which lies between the rows on both sides of each border.
    possible = np.concatenate([costs[:, :-1], -costs[:-1].T])
    possible = possible[np.isfinite(possible).all(axis=1)]
    found = (possible - possible.mean(axis=1, keepdims=True)).mean(axis=0)
    labels = np.argmax(scores + found, axis=1)
    return found, limits.excess(np.bincount(labels, weight, len(found)))
