"""What distinguishes a cluster: values, categories and words that occur more inside than elsewhere.

The effect of a number is ``P(x > y) - P(x < y)`` for a row x of the cluster and a row y elsewhere
(Cliff's delta [1]_; ranks alone count, so no outlier moves it), or that of its distance from the
middle of all rows where this says more. The effect of a category is the difference of its shares.
Both lie between -1 and 1 and mean the same: a category is a number that is 0 or 1.

Words are scored by c-TF-IDF [2]_, ``share of the cluster's words * log(1 + A / f(word))``: A is the
mean number of words in a cluster, f how often the word occurs in all of them.

No interval assumes a shape of the data: Wilson's for shares, Newcombe's for differences [3]_ and
for ``P(x > y)`` (after his method 5 [4]_), and those of [5]_ for ratios.

References
----------
.. [1] N. Cliff, "Dominance Statistics: Ordinal Analyses to Answer Ordinal Questions", Psychological
   Bulletin 114, 494-509, 1993.
.. [2] M. Grootendorst, "BERTopic: Neural topic modeling with a class-based TF-IDF procedure",
   arXiv:2203.05794, 2022.
.. [3] R. G. Newcombe, "Interval Estimation for the Difference between Independent Proportions",
   Statistics in Medicine 17, 873-890, 1998 (method 10).
.. [4] R. G. Newcombe, "Confidence Intervals for an Effect Size Measure Based on the Mann-Whitney
   Statistic, Part 2", Statistics in Medicine 25, 559-573, 2006.
.. [5] A. Donner, G. Y. Zou, "Closed-form Confidence Intervals for Functions of the Normal Mean and
   Standard Deviation", Statistical Methods in Medical Research 21, 347-359, 2012.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import ndtri
from scipy.stats import rankdata

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.json_ready import JsonReady
from eigencut.inspection.columns import Column
from eigencut.inspection.policy import POLICY

Interval = tuple[Array, Array]  # low, high


@dataclass(frozen=True)
class NumberContrast(JsonReady):
    """How the numbers, or dates, of a column differ in a cluster from those elsewhere."""

    column: str
    how: str  # "higher", "lower"; of distances from the median, "more extreme", "more central"
    effect: float  # P(x > y) - P(x < y) for x in the cluster and y elsewhere, from -1 to 1
    interval: tuple[float, float]  # of the effect
    inside: tuple[Any, ...]  # the quartiles in the cluster, in the units of the column
    overall: tuple[Any, ...]  # the quartiles of all rows
    n_inside: int  # rows with a value
    n_outside: int
    kind: str = "number"  # or "date"


@dataclass(frozen=True)
class CategoryContrast(JsonReady):
    """How often a category of a column occurs in a cluster."""

    column: str
    category: str  # "(missing)" for rows without a value
    how: str  # "more often" or "less often" than elsewhere
    effect: float  # the share in the cluster less the share elsewhere, from -1 to 1
    interval: tuple[float, float]  # of the effect
    share: float  # of the rows of the cluster
    share_interval: tuple[float, float]
    overall: float  # the share of all rows
    lift: float  # share / overall
    lift_interval: tuple[float, float]
    n_inside: int  # rows
    n_outside: int
    kind: str = "category"


@dataclass(frozen=True)
class Word(JsonReady):
    """A word that is frequent in the documents of a cluster."""

    word: str
    score: float  # c-TF-IDF
    share: float  # of the cluster's documents, those with this word
    overall: float  # the same share of all documents


Contrast = NumberContrast | CategoryContrast
_Strengths = list[list[tuple[float, Contrast]]]  # of each cluster


def contrasts(
    columns: Sequence[Column], labels: Indices, n_clusters: int, confidence: float = 0.95
) -> list[list[Contrast]]:
    """Return for each cluster the effects whose interval is without 0, the strongest first."""
    found: _Strengths = [[] for _ in range(n_clusters)]
    z = quantile_of(confidence)
    for column in columns:
        if column.kind == "category":
            _add_categories(found, column, labels, z)
            continue
        _add_numbers(found, column, labels, z)
        if column.is_missing.any():
            codes = -column.is_missing.astype(np.intp)
            _add_categories(found, Column(column.name, "category", codes, ("",)), labels, z)
    # Equal ones stay in the order of the columns: sorted() keeps it.
    return [[c for _, c in sorted(of, key=lambda pair: -pair[0])] for of in found]


class Superiority(NamedTuple):
    """P(x > y) + P(x = y) / 2 for x in each cluster and y elsewhere; NaN without rows on a side."""

    values: Array
    variances: Array
    sizes: Array  # rows of each cluster
    sorted_inside: list[Array]  # the values of each cluster, ascending


def superiority(values: Array, labels: Indices, n_clusters: int) -> Superiority:
    """Return the superiority of all clusters; the variance is DeLong's, partly on some rows."""
    n = len(values)
    order = np.lexsort((labels, values))
    ordered, of = values[order], labels[order]
    ranks, sizes = rankdata(ordered), np.bincount(labels, minlength=n_clusters)
    apart, ends = np.argsort(of, kind="stable"), np.cumsum(sizes[:-1])
    inside, inside_ranks = np.split(ordered[apart], ends), np.split(ranks[apart], ends)
    some = slice(None, None, -(-n // POLICY.rows_of_variance))
    means, variances = np.full(n_clusters, np.nan), np.full(n_clusters, np.nan)
    for k, (own, own_ranks) in enumerate(zip(inside, inside_ranks, strict=True)):
        m = len(own)
        if not 0 < m < n:
            continue
        above = (own_ranks - rankdata(own)) / (n - m)
        others = ordered[some][of[some] != k]
        below = (np.searchsorted(own, others) + np.searchsorted(own, others, "right")) / (2 * m)
        # The variance of a single share is unknown: then it is the largest that there is.
        of_above, of_below = (
            float(shares.var(ddof=1)) if len(shares) > 1 else 0.25 for shares in (above, below)
        )
        means[k], variances[k] = above.mean(), of_above / m + of_below / (n - m)
    return Superiority(means, variances, sizes.astype(np.float64), inside)


def _add_numbers(found: _Strengths, column: Column, labels: Indices, z: float) -> None:
    there = ~column.is_missing
    values, own, K = column.values[there], labels[there], len(found)
    if len(values) == 0 or values.min() == values.max():
        return
    overall = np.quantile(values, (0.25, 0.5, 0.75))
    with np.errstate(over="ignore"):  # beyond, all are equally extreme
        spread = np.abs(values - overall[1])
    measured = []
    for of, words in ((values, ("lower", "higher")), (spread, ("more central", "more extreme"))):
        seen = superiority(of, own, K)
        with np.errstate(invalid="ignore", divide="ignore"):
            low, high = superiority_interval(
                superiority=seen.values,
                variance=seen.variances,
                n_inside=seen.sizes,
                n_outside=len(of) - seen.sizes,
                z=z,
            )
        measured.append((words, seen, 2 * low - 1, 2 * high - 1))
    location, sizes = measured[0][1], measured[0][1].sizes
    for k in range(K):
        if not 0 < sizes[k] < len(values):
            continue
        strengths = [abs(nearest_to_zero(low[k], high[k])) for _, _, low, high in measured]
        chosen = int(strengths[1] > strengths[0] + POLICY.spread_says_more)
        words, seen, low, high = measured[chosen]
        if strengths[chosen] <= 0:
            continue
        effect = float(2 * seen.values[k] - 1)
        inside = np.quantile(location.sorted_inside[k], (0.25, 0.5, 0.75))
        contrast = NumberContrast(
            column=column.name,
            how=words[int(effect > 0)],
            effect=effect,
            interval=(float(low[k]), float(high[k])),
            inside=tuple(column.plain(value) for value in inside),
            overall=tuple(column.plain(value) for value in overall),
            n_inside=int(sizes[k]),
            n_outside=int(len(values) - sizes[k]),
            kind=column.kind,
        )
        found[k].append((strengths[chosen], contrast))


def _add_categories(found: _Strengths, column: Column, labels: Indices, z: float) -> None:
    """Add contrasts of each category; of two, that of the one that is more frequent inside."""
    K, names = len(found), [*column.categories, "(missing)"]
    last = len(names) - 1
    codes = np.where(column.values < 0, last, column.values)
    counts = np.bincount(codes * K + labels, minlength=len(names) * K).reshape(len(names), K)
    sizes = counts.sum(axis=0)
    present = np.flatnonzero(counts.any(axis=1))
    is_whether_missing = column.categories == ("",)  # of a column of numbers
    n = int(sizes.sum())
    inside, outside = sizes[np.newaxis], n - sizes[np.newaxis]
    in_all = counts.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        share, other = counts / inside, (in_all - counts) / outside
        own = share_interval(counts, inside, z)
        of_others = share_interval(in_all - counts, outside, z)
        low, high = difference_interval(share, own, other, of_others)
        ratios = ratio_interval(share, own, other, of_others)
        weight = inside / n
        lift = share / (in_all / n)
        # The lift, share / overall, rises with the ratio, share / elsewhere.
        lifts = [
            np.where(np.isinf(ratio), 1 / weight, ratio / (weight * ratio + 1 - weight))
            for ratio in ratios
        ]
    for k in np.flatnonzero((sizes > 0) & (sizes < n)):
        for j in present:
            strength = nearest_to_zero(low[j, k], high[j, k])
            is_said = j != last if is_whether_missing else len(present) == 2 and strength < 0
            if strength == 0 or is_said:
                continue
            contrast = CategoryContrast(
                column=column.name,
                category=names[j],
                how="more often" if strength > 0 else "less often",
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


def words(
    documents: Sequence[str],
    labels: Indices,
    n_clusters: int,
    n_words: int = 8,
    confidence: float = 0.95,
) -> list[tuple[Word, ...]]:
    """Return the words of each cluster, the highest score first."""
    from sklearn.feature_extraction.text import CountVectorizer

    vectorizer = CountVectorizer()
    try:
        occurs = sparse.csr_array(vectorizer.fit_transform(documents), dtype=np.float64)
    except ValueError:  # no document has a word
        return [()] * n_clusters
    vocabulary = vectorizer.get_feature_names_out()
    n = len(labels)
    is_in = sparse.csr_array((np.ones(n), (labels, np.arange(n))), shape=(n_clusters, n))
    counts, holds = is_in @ occurs, is_in @ (occurs > 0).astype(np.float64)
    of_word, in_all = counts.sum(axis=0), holds.sum(axis=0)
    mean, sizes = float(of_word.sum()) / n_clusters, np.bincount(labels, minlength=n_clusters)
    z, found = quantile_of(confidence), []
    for k in range(n_clusters):
        count, own = counts[[k]].toarray()[0], holds[[k]].toarray()[0]
        scores = count / max(1.0, float(count.sum())) * np.log1p(mean / np.maximum(of_word, 1.0))
        share, other = own / max(1, sizes[k]), (in_all - own) / max(1, n - sizes[k])
        inside = share_interval(own, sizes[k], z)
        outside = share_interval(in_all - own, n - sizes[k], z)
        low, _ = difference_interval(share, inside, other, outside)
        is_listed = (own >= POLICY.fewest_documents) & ((low > 0) | (sizes[k] == n))
        best = [j for j in np.argsort(-scores, kind="stable") if is_listed[j]][:n_words]
        of_cluster = (
            Word(str(vocabulary[j]), float(scores[j]), float(share[j]), float(in_all[j] / n))
            for j in best
        )
        found.append(tuple(of_cluster))
    return found


def quantile_of(confidence: float) -> float:
    """Return z: a normal variable is between -z and z with this probability."""
    return float(ndtri((1 + confidence) / 2))


def share_interval(count: Any, total: Any, z: float) -> Interval:
    """Return Wilson's interval of ``count / total``."""
    nothing = np.asarray(total) <= 0
    total = np.where(nothing, 1.0, total)
    share = np.asarray(count, dtype=np.float64) / total
    middle = (share + z**2 / (2 * total)) / (1 + z**2 / total)
    width = z * np.sqrt(share * (1 - share) / total + z**2 / (4 * total**2)) / (1 + z**2 / total)
    low = np.where(share <= 0, 0.0, np.maximum(middle - width, 0.0))
    high = np.where((share >= 1) | nothing, 1.0, np.minimum(middle + width, 1.0))
    return np.minimum(low, share), np.maximum(high, share)


def difference_interval(
    share: Array, own: Interval, other_share: Array, other: Interval
) -> Interval:
    """Return the interval of ``share - other_share``, given that of each."""
    difference = share - other_share
    low = difference - np.hypot(share - own[0], other[1] - other_share)
    high = difference + np.hypot(own[1] - share, other_share - other[0])
    return low, high


def ratio_interval(share: Array, own: Interval, other_share: Array, other: Interval) -> Interval:
    """Return the interval of ``share / other_share``; infinite where the other may be 0."""
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
    """Return all t with ``|superiority - t| <= z sqrt(V(t))``."""
    # V(t) is the larger of two variances: the one that was measured, as t (1 - t) goes, which is
    # 0 where all x are above all y; and that of Hanley and McNeil.
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

    ends = []
    for end in (0.0, 1.0):
        outer, inner = np.full_like(superiority, end), np.array(superiority, dtype=np.float64)
        for _ in range(60):
            middle = (outer + inner) / 2
            possible = is_possible(middle)
            inner, outer = np.where(possible, middle, inner), np.where(possible, outer, middle)
        ends.append(inner)
    return ends[0], ends[1]


def nearest_to_zero(low: float, high: float) -> float:
    """Return how strong an effect is at least: 0 where the interval holds 0."""
    return 0.0 if low <= 0 <= high else math.copysign(min(abs(low), abs(high)), low)
