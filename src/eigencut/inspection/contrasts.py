"""What distinguishes a cluster: columns whose values inside are others than elsewhere.

Of numbers the effect is ``P(x > y) - P(x < y)`` for a row x of the cluster and a row y elsewhere
(Cliff's delta, from the ranks alone: no outlier or skew moves it), of their distances from the
middle of all rows where that says more (by 0.1). Of categories it is the difference of their
shares. Both lie between -1 and 1 and mean the same: a category is a number that is 0 or 1.

References
----------
.. [1] N. Cliff, "Dominance Statistics: Ordinal Analyses to Answer Ordinal Questions", Psychological
   Bulletin 114, 494-509, 1993.
.. [2] E. R. DeLong, D. M. DeLong, D. L. Clarke-Pearson, "Comparing the Areas under Two or More
   Correlated Receiver Operating Characteristic Curves", Biometrics 44, 837-845, 1988.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.json_ready import JsonReady
from eigencut.inspection.columns import Column
from eigencut.inspection.intervals import (
    difference_interval,
    nearest_to_zero,
    quantile_of,
    ratio_interval,
    share_interval,
    superiority_interval,
)

_ENOUGH_ROWS = 2000  # to know a variance by
MISSING = "(missing)"  # the category of rows without a value
_LOCATION, _SPREAD = ("lower", "higher"), ("more central", "more extreme")
_SHARES = ("less often", "more often")
_SAYS_MORE = 0.1  # by which distances from the middle must be stronger than the values themselves


@dataclass(frozen=True)
class NumberContrast(JsonReady):
    """How the numbers, or dates, of a column differ in a cluster.

    Attributes
    ----------
    column : str
    how : {"higher", "lower", "more extreme", "more central"}
        Than elsewhere. The latter two are of distances from the median of all rows.
    effect : float
        ``P(x > y) - P(x < y)`` for x in the cluster and y elsewhere, from -1 to 1.
    interval : tuple of float
        Of the effect.
    inside, overall : tuple of three
        The quartiles in the cluster, and of all rows, in the units of the column.
    n_inside, n_outside : int
        Rows with a value.
    kind : {"number", "date"}
    """

    column: str
    how: str
    effect: float
    interval: tuple[float, float]
    inside: tuple[Any, Any, Any]
    overall: tuple[Any, Any, Any]
    n_inside: int
    n_outside: int
    kind: str = "number"


@dataclass(frozen=True)
class CategoryContrast(JsonReady):
    """How often a category of a column occurs in a cluster.

    Attributes
    ----------
    column, category : str
        The category ``(missing)`` is of rows without a value.
    how : {"more often", "less often"}
        Than elsewhere.
    effect : float
        The share of the category in the cluster less its share elsewhere, from -1 to 1.
    interval : tuple of float
        Of the effect.
    share : float
        Of the rows of the cluster.
    share_interval : tuple of float
    overall : float
        The share of all rows.
    lift : float
        ``share / overall``.
    lift_interval : tuple of float
    n_inside, n_outside : int
        Rows.
    kind : {"category"}
    """

    column: str
    category: str
    how: str
    effect: float
    interval: tuple[float, float]
    share: float
    share_interval: tuple[float, float]
    overall: float
    lift: float
    lift_interval: tuple[float, float]
    n_inside: int
    n_outside: int
    kind: str = "category"


Contrast = NumberContrast | CategoryContrast


def contrasts(
    columns: Sequence[Column], labels: Indices, n_clusters: int, confidence: float = 0.95
) -> list[list[Contrast]]:
    """For each cluster what distinguishes it, the strongest first.

    An effect counts by the end of its interval that is nearer to 0; those whose interval holds 0
    are left out. A column of numbers has one contrast, a category one of its own.

    Parameters
    ----------
    columns : sequence of Column
    labels : array of shape (n_rows,)
        From 0 to ``n_clusters`` - 1.
    n_clusters : int
    confidence : float, default=0.95
        Of the intervals.

    Returns
    -------
    list of lists
    """
    found: list[list[tuple[float, Contrast]]] = [[] for _ in range(n_clusters)]
    z = quantile_of(confidence)
    for column in columns:
        if column.kind == "category":
            _add_categories(found, column, labels, z)
        else:
            _add_numbers(found, column, labels, z)
            if column.is_missing.any():
                codes = -column.is_missing.astype(np.intp)
                _add_categories(found, Column(column.name, "category", codes, ("",)), labels, z)
    # Equal ones in the order of the columns: sorted() keeps it.
    return [[c for _, c in sorted(of, key=lambda pair: -pair[0])] for of in found]


@dataclass(frozen=True)
class Superiority:
    """P(x > y) + P(x = y) / 2 for x in each cluster and y elsewhere; NaN without rows on a side.

    Attributes
    ----------
    values, variances : array of shape (n_clusters,)
    sizes : array of shape (n_clusters,)
        Rows of each cluster.
    sorted_inside : list of arrays
        The values of each cluster, ascending.
    """

    values: Array
    variances: Array
    sizes: Array
    sorted_inside: list[Array]


def superiority(values: Array, labels: Indices, n_clusters: int) -> Superiority:
    """Of all clusters at once, from one sort.

    The variance is that of DeLong, DeLong and Clarke-Pearson (1988): of the share of rows outside
    that a row inside is above, and the other way round; the latter on about 2000 of many rows.
    """
    n = len(values)
    order = np.lexsort((labels, values))
    ordered, of = values[order], labels[order]
    ranks, sizes = rankdata(ordered), np.bincount(labels, minlength=n_clusters)
    apart, ends = np.argsort(of, kind="stable"), np.cumsum(sizes[:-1])
    inside, inside_ranks = np.split(ordered[apart], ends), np.split(ranks[apart], ends)
    some = slice(None, None, -(-n // _ENOUGH_ROWS))
    found, variances = np.full(n_clusters, np.nan), np.full(n_clusters, np.nan)
    for k, (own, own_ranks) in enumerate(zip(inside, inside_ranks, strict=True)):
        m = len(own)
        if not 0 < m < n:
            continue
        above = (own_ranks - rankdata(own)) / (n - m)
        others = ordered[some][of[some] != k]
        below = (np.searchsorted(own, others) + np.searchsorted(own, others, "right")) / (2 * m)
        found[k] = above.mean()
        variances[k] = _variance(above) / m + _variance(below) / (n - m)
    return Superiority(found, variances, sizes.astype(np.float64), inside)


def _variance(shares: Array) -> float:
    """Of shares; of a single one the largest that there is."""
    return float(shares.var(ddof=1)) if len(shares) > 1 else 0.25


def _add_numbers(
    found: list[list[tuple[float, Contrast]]], column: Column, labels: Indices, z: float
) -> None:
    there = ~column.is_missing
    values, own, K = column.values[there], labels[there], len(found)
    if len(values) == 0 or values.min() == values.max():
        return
    overall = np.quantile(values, (0.25, 0.5, 0.75))
    with np.errstate(over="ignore"):  # beyond, all are equally extreme
        both = [values, np.abs(values - overall[1])]
    measured = []
    for of, words in zip(both, (_LOCATION, _SPREAD), strict=True):
        seen = superiority(of, own, K)
        sizes, of_rows = seen.sizes, (seen.values, seen.variances, seen.sizes)
        with np.errstate(invalid="ignore", divide="ignore"):
            limits = superiority_interval(*of_rows, len(of) - sizes, z)
        measured.append((words, seen, 2 * limits[0] - 1, 2 * limits[1] - 1))
    for k in range(K):
        if not 0 < sizes[k] < len(values):
            continue
        strengths = [abs(nearest_to_zero(low[k], high[k])) for _, _, low, high in measured]
        says_more = strengths[1] > strengths[0] + _SAYS_MORE
        words, seen, low, high = measured[int(says_more)]
        strength = strengths[int(says_more)]
        if strength <= 0:
            continue
        inside = np.quantile(measured[0][1].sorted_inside[k], (0.25, 0.5, 0.75))
        effect = float(2 * seen.values[k] - 1)
        contrast = NumberContrast(
            column=column.name,
            how=words[int(effect > 0)],
            effect=effect,
            interval=(float(low[k]), float(high[k])),
            inside=_three(column, inside),
            overall=_three(column, overall),
            n_inside=int(sizes[k]),
            n_outside=int(len(values) - sizes[k]),
            kind=column.kind,
        )
        found[k].append((strength, contrast))


def _three(column: Column, quartiles: NDArray[Any]) -> tuple[Any, Any, Any]:
    low, middle, high = (column.plain(value) for value in quartiles)
    return low, middle, high


def _add_categories(
    found: list[list[tuple[float, Contrast]]], column: Column, labels: Indices, z: float
) -> None:
    """Contrasts of each category; of a column with two, of the one that is more frequent inside."""
    K, names = len(found), [*column.categories, MISSING]
    last = len(names) - 1
    codes = np.where(column.values < 0, last, column.values)
    counts = np.bincount(codes * K + labels, minlength=len(names) * K).reshape(len(names), K)
    sizes = counts.sum(axis=0)
    present = np.flatnonzero(counts.any(axis=1))
    is_whether_missing = column.categories == ("",)  # of a column of numbers
    n = int(sizes.sum())
    inside, outside = sizes[np.newaxis], n - sizes[np.newaxis]
    elsewhere = counts.sum(axis=1, keepdims=True) - counts
    with np.errstate(divide="ignore", invalid="ignore"):
        share, other = counts / inside, elsewhere / outside
        own, of_others = share_interval(counts, inside, z), share_interval(elsewhere, outside, z)
        low, high = difference_interval(share, own, other, of_others)
        ratios = ratio_interval(share, own, other, of_others)
        weight = inside / n
        lift = share / (counts.sum(axis=1, keepdims=True) / n)
        lifts = [_lift(ratio, weight) for ratio in ratios]
    for k in range(K):
        if not 0 < sizes[k] < n:
            continue
        for j in present:
            strength = nearest_to_zero(low[j, k], high[j, k])
            is_said = j != last if is_whether_missing else len(present) == 2 and strength < 0
            if strength == 0 or is_said:
                continue
            contrast = CategoryContrast(
                column=column.name,
                category=names[j],
                how=_SHARES[int(strength > 0)],
                effect=float(share[j, k] - other[j, k]),
                interval=(float(low[j, k]), float(high[j, k])),
                share=float(share[j, k]),
                share_interval=(float(own[0][j, k]), float(own[1][j, k])),
                overall=float(counts[j].sum() / n),
                lift=float(lift[j, k]),
                lift_interval=(float(lifts[0][j, k]), float(lifts[1][j, k])),
                n_inside=int(sizes[k]),
                n_outside=int(n - sizes[k]),
            )
            found[k].append((abs(strength), contrast))


def _lift(ratio: Array, weight: Array) -> Array:
    """``share / overall`` where ``share / elsewhere`` is ``ratio``; it rises with it."""
    return np.where(np.isinf(ratio), 1 / weight, ratio / (weight * ratio + 1 - weight))
