"""Descriptions of clusters: sizes, typical rows, distinguishing columns, rules and words.

Typical rows are medoids: those with the least mean distance to the rows of their cluster.

The effect of a column of numbers is ``P(x > y) - P(x < y)`` for a row x of the cluster and a row y
elsewhere (Cliff's delta, 1993), or that of distances from the median of all rows if it is clearly
larger. The effect of a category is its share in the cluster minus its share elsewhere.

Words are scored by c-TF-IDF (Grootendorst, arXiv:2203.05794), ``share of the cluster's words *
log(1 + A / f(word))``: A is the mean number of words in a cluster, f how often the word occurs.

Intervals assume no distribution of the data: Wilson's for shares, Newcombe's for differences
(Statistics in Medicine 17, 1998, method 10) and for ``P(x > y)`` (25, 2006, after method 5).

A rule is the branch of a shallow tree, grown on half of the rows, with the largest F1 score minus a
price for each condition; it is measured on the other half. The tree gets ranks instead of values. A
threshold is the shortest number between two values that occur.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from textwrap import fill
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import issparse
from scipy.special import ndtri
from scipy.stats import rankdata
from sklearn.utils.validation import check_is_fitted

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.json_ready import HtmlTable, JsonReady, Printed, html_table
from eigencut._utils.running import row_blocks
from eigencut._utils.validation import check_count, needed
from eigencut.exceptions import invalid, printable
from eigencut.inspection.policy import POLICY
from eigencut.io.column_kinds import is_missing, labels_of, plain_names, refuse_duplicates
from eigencut.io.table import Table, place_of, refuse_lazy

Interval = tuple[Array, Array]  # low, high
Mask = NDArray[np.bool_]
_DAY = np.timedelta64(1, "D") / np.timedelta64(1, "us")
_LINE = 100  # width of a printed line


@dataclass(frozen=True)
class Column:
    """A column: numbers, dates (days since 1970), or codes of categories; NaN is missing."""

    name: str
    kind: str  # "number", "date" or "category"
    values: Array
    categories: tuple[str, ...] = ()

    def __getitem__(self, rows: Any) -> Column:
        return Column(self.name, self.kind, self.values[rows], self.categories)

    @property
    def is_missing(self) -> NDArray[np.bool_]:
        """Which rows have no value."""
        return np.isnan(self.values)

    def meets(self, relation: str, value: Any) -> Mask:
        """Return which rows have a value that is ``<=``, ``>``, ``is`` or ``is not`` another."""
        if relation in ("<=", ">"):
            return np.asarray(self.values <= value if relation == "<=" else self.values > value)
        is_it = self.values == value
        return np.asarray(is_it if relation == "is" else ~(is_it | self.is_missing))

    @property
    def names_rows(self) -> bool:
        """Whether it has so many categories that it only names rows, like an identifier."""
        n = len(self.categories)
        return n > POLICY.most_categories and 2 * n > len(self.values)

    def plain(self, value: Any) -> float | str | None:
        """Convert a stored value to a number, the text of a date, or a category."""
        if not np.isfinite(value):
            return None
        if self.kind != "date":
            return self.categories[int(value)] if self.categories else float(value)
        moment = np.datetime64(round(float(value) * _DAY), "us")
        is_day = moment == moment.astype("datetime64[D]")
        return str(moment.astype("datetime64[D]" if is_day else "datetime64[s]"))


def columns_of(
    X: Any, names: Sequence[str] | None = None, labels: Indices | None = None
) -> list[Column]:
    """Return the columns of a table or array; of very many, those that differ most by label."""
    refuse_lazy(X)
    if hasattr(X, "columns"):
        given = {str(name): name for name in labels_of(X)}
        refuse_duplicates(list(map(str, labels_of(X))))
        return [_column(name, X[given[name]]) for name in (given if names is None else names)]
    if isinstance(X, Table) and X.coding is not None:
        return [_of_table(X, name) for name in (X.names if names is None else names)]
    if isinstance(X, Table):
        X, names = X.choose(names).values, X.names if names is None else names
    values: Any = X.tocsc() if issparse(X) else np.asarray(X)
    known = plain_names(values.shape[1]) if names is None else names
    chosen: Any = range(values.shape[1])
    if labels is not None and values.shape[1] > POLICY.most_columns and labels.max() >= 0:
        chosen = _telling(X if issparse(X) else values, labels)
    cells = (values[:, [j]].toarray()[:, 0] if issparse(X) else values[:, j] for j in chosen)
    return [_column(known[j], column) for j, column in zip(chosen, cells, strict=True)]


def _of_table(table: Table, name: str) -> Column:
    """Return a column of a ``Table``, which stores words and dates as numbers."""
    values, kind = table.values[:, table.names.index(name)], table.kind(name)
    if kind.has_words:
        words = np.array([*table.words(name)], dtype=object)
        categories, place = np.unique(words, return_inverse=True)
        at = np.where(np.isnan(values), len(words), values).astype(np.intp)
        return Column(name, "category", np.append(place, np.nan)[at], tuple(categories))
    if kind.name == "date":
        return Column(name, "date", values)
    return Column(name, "number", _finite(values))


def _column(name: str, given: Any) -> Column:
    values = np.asarray(given)
    if values.dtype.kind == "M":
        days = values.astype("datetime64[us]").astype(np.float64) / _DAY
        return Column(name, "date", np.where(np.isnat(values), np.nan, days))
    is_category = str(getattr(given, "dtype", "")).lower().startswith(("categor", "enum"))
    if values.dtype.kind in "fiuO" and not is_category:
        with suppress(OverflowError, TypeError, ValueError):
            cells = [_number(cell) for cell in values] if values.dtype == object else values
            return Column(name, "number", _finite(np.array(cells, dtype=np.float64)))
    words = [None if is_missing(cell) else str(cell) for cell in values.tolist()]
    categories = sorted(word for word in set(words) if word is not None)
    place: dict[Any, int] = {word: number for number, word in enumerate(categories)}
    numbers = np.array([place.get(word, np.nan) for word in words], dtype=np.float64)
    return Column(name, "category", numbers, tuple(categories))


def _finite(values: Array) -> Array:
    """Replace infinities by NaN: they count as missing, because they have no mean."""
    return np.where(np.isfinite(values), values, np.nan)


def _number(cell: Any) -> float:
    if isinstance(cell, (str, bytes, bool, np.bool_)):
        raise TypeError("a category")
    return np.nan if is_missing(cell) else float(cell)


def _telling(values: Any, labels: Indices) -> Indices:
    """Return the columns whose means differ most between clusters, relative to their spread."""
    from sklearn.feature_selection import f_oneway

    clusters = [values[labels == k] for k in np.unique(labels[labels >= 0])]
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # columns can be constant
        ratios = f_oneway(*clusters)[0]
    return np.sort(np.argsort(-np.nan_to_num(ratios), kind="stable")[: POLICY.most_columns])


@dataclass(frozen=True)
class NumberContrast(JsonReady):
    """How the numbers, or dates, of a column differ in a cluster from those elsewhere."""

    column: str
    how: str  # "higher", "lower"; or by distance from the median: "more extreme", "more central"
    effect: float  # P(x > y) - P(x < y) for x in the cluster and y elsewhere, from -1 to 1
    interval: tuple[float, float]  # of the effect
    inside: tuple[Any, ...]  # the quartiles in the cluster, in the units of the column
    overall: tuple[Any, ...]  # the quartiles of all rows
    mean: Any = None  # in the cluster

    def __str__(self) -> str:
        low, middle, high, overall = map(value_in_words, (*self.inside, self.overall[1]))
        return (
            f"{short(self.column)}: median {middle} (IQR {low} to {high}), {overall} overall; "
            f"effect {self.effect:+.2f} ({_range(self.interval, '+.2f')})"
        )


@dataclass(frozen=True)
class CategoryContrast(JsonReady):
    """How often a category of a column occurs in a cluster."""

    column: str
    category: str  # "(missing)" for rows without a value
    how: str  # "more often" or "less often" than elsewhere
    effect: float  # the share in the cluster minus the share elsewhere, from -1 to 1
    interval: tuple[float, float]  # of the effect
    share: float  # of the rows of the cluster
    share_interval: tuple[float, float]
    overall: float  # the share of all rows

    def __str__(self) -> str:
        return (
            f"{short(self.column)} is {short(self.category)}: {self.share:.1%} of its rows "
            f"({_range(self.share_interval, '.1%')}), {self.overall:.1%} of all; effect "
            f"{self.effect:+.2f} ({_range(self.interval, '+.2f')})"
        )


@dataclass(frozen=True)
class Word(JsonReady):
    """A word that is frequent in the documents of a cluster."""

    word: str
    score: float  # c-TF-IDF
    share: float  # of the cluster's documents, with this word
    overall: float  # the same share of all documents


Contrast = NumberContrast | CategoryContrast
_Strengths = Iterator[tuple[int, float, Contrast]]  # cluster, least absolute effect
_Effects = Iterator[tuple[Array, Array, Array]]  # an array for each: the effects, low, high
# The number of effects of a column that are tested, those of numbers, and a function of z that
# yields the ones whose interval, z standard errors to each side, excludes 0.
_Candidates = tuple[int, "tuple[Superiority, ...]", Callable[[float, _Effects], _Strengths]]


def contrasts(columns: Sequence[Column], labels: Indices, n_clusters: int) -> list[list[Contrast]]:
    """Return for each cluster the effects whose interval excludes 0, the strongest first."""
    # Some of m effects look large by chance. The rule of Benjamini and Hochberg selects R of them,
    # with intervals of the level ``1 - 0.05 R / m``. So at most a share of 0.05 of the reported
    # intervals misses the truth, on average (Benjamini and Yekutieli, 2005).
    candidates: list[_Candidates] = []
    for column in columns:
        if column.kind != "category":
            candidates.append(_number_contrasts(column, labels, n_clusters))
            if not column.is_missing.any():
                continue
            column = Column(column.name, "category", 0.0 * column.values, ("",))
        candidates.append(_category_contrasts(column, labels, n_clusters))
    n_all = n_selected = sum(n_effects for n_effects, _, _ in candidates)
    measured = [one for _, of_column, _ in candidates for one in of_column]
    strengths: list[tuple[int, float, Contrast]] = []
    while n_selected:  # falls to the largest R for which the level of R selects R effects
        z = quantile_of(1 - (1 - POLICY.confidence) * n_selected / n_all)
        effects = _effects(measured, z)  # of all columns at once
        strengths = [one for _, _, at in candidates for one in at(z, effects)]
        if len(strengths) >= n_selected:
            break
        n_selected = len(strengths)
    sorted_contrasts: list[list[Contrast]] = [[] for _ in range(n_clusters)]
    # sorted() keeps equal effects in the order of the columns.
    for k, _, contrast in sorted(strengths, key=lambda one: -one[1]):
        sorted_contrasts[k].append(contrast)
    return sorted_contrasts


class Superiority(NamedTuple):
    """P(x > y) + P(x = y) / 2 for x in each cluster and y elsewhere; NaN if a side has no rows."""

    values: Array
    variances: Array
    sizes: Array  # rows of each cluster
    sorted_inside: list[Array]  # the values of each cluster, ascending


def _effects(measured: Sequence[Superiority], z: float) -> _Effects:
    """Yield ``P(x > y) - P(x < y)`` of each cluster, and its interval."""
    values, variances, sizes = (np.array([one[i] for one in measured]) for i in range(3))
    n_others = sizes.sum(axis=-1, keepdims=True) - sizes
    with np.errstate(invalid="ignore", divide="ignore"):
        low, high = superiority_interval(values, variances, sizes, n_others, z)
    return zip(2 * values - 1, 2 * low - 1, 2 * high - 1, strict=True)


def superiority(values: Array, labels: Indices, n_clusters: int) -> Superiority:
    """Return the superiority of each cluster, with DeLong's variance (from a sample of rows)."""
    n, order = len(values), np.lexsort((labels, values))
    ordered, cluster_of = values[order], labels[order]
    ranks, sizes = rankdata(ordered), np.bincount(labels, minlength=n_clusters)
    apart, ends = np.argsort(cluster_of, kind="stable"), np.cumsum(sizes[:-1])
    inside, inside_ranks = np.split(ordered[apart], ends), np.split(ranks[apart], ends)
    some = slice(None, None, -(-n // POLICY.rows_of_variance))
    means, variances = np.full(n_clusters, np.nan), np.full(n_clusters, np.nan)
    for k, (own, own_ranks) in enumerate(zip(inside, inside_ranks, strict=True)):
        m = len(own)
        if not 0 < m < n:
            continue
        above = (own_ranks - rankdata(own)) / (n - m)
        others = ordered[some][cluster_of[some] != k]
        below = (np.searchsorted(own, others) + np.searchsorted(own, others, "right")) / (2 * m)
        # The variance of a single share is unknown: take the largest possible one.
        of_above, of_below = (
            float(shares.var(ddof=1)) if len(shares) > 1 else 0.25 for shares in (above, below)
        )
        means[k], variances[k] = above.mean(), of_above / m + of_below / (n - m)
    return Superiority(means, variances, sizes.astype(np.float64), inside)


def _number_contrasts(column: Column, labels: Indices, K: int) -> _Candidates:
    there = ~column.is_missing
    values, own = column.values[there], labels[there]
    if len(values) == 0 or values.min() == values.max():
        return 0, (), lambda z, effects: iter(())
    overall = np.quantile(values, (0.25, 0.5, 0.75))
    with np.errstate(over="ignore"):  # infinite distances are equally extreme
        spread = np.abs(values - overall[1])
    measured = location, _ = superiority(values, own, K), superiority(spread, own, K)
    clusters = np.flatnonzero((location.sizes > 0) & (location.sizes < len(values)))

    def at(z: float, effects: _Effects) -> _Strengths:
        both = next(effects), next(effects)
        for k in clusters:
            strengths = [abs(nearest_to_zero(low[k], high[k])) for _, low, high in both]
            chosen = int(strengths[1] > strengths[0] + POLICY.spread_says_more)
            if strengths[chosen] <= 0:
                continue
            effect, low, high = (float(values[k]) for values in both[chosen])
            words = (("lower", "higher"), ("more central", "more extreme"))[chosen]
            own_values = location.sorted_inside[k]
            unit = max(float(np.abs(own_values).max()), 1.0)  # keeps sums finite
            inside = np.quantile(own_values, (0.25, 0.5, 0.75))
            contrast = NumberContrast(
                column=column.name,
                how=words[int(effect > 0)],
                effect=effect,
                interval=(low, high),
                inside=tuple(column.plain(value) for value in inside),
                overall=tuple(column.plain(value) for value in overall),
                mean=column.plain(np.mean(own_values / unit) * unit),
            )
            yield int(k), strengths[chosen], contrast

    return 2 * len(clusters), measured, at


def _category_contrasts(column: Column, labels: Indices, K: int) -> _Candidates:
    """Return contrasts of each category, or of the one of two that is more frequent inside."""
    names = [*column.categories, "(missing)"]
    last = len(names) - 1
    codes = np.where(column.is_missing, last, column.values).astype(np.intp)
    counts = np.bincount(codes * K + labels, minlength=len(names) * K).reshape(len(names), K)
    sizes, present = counts.sum(axis=0), np.flatnonzero(counts.any(axis=1))
    is_whether_missing = column.categories == ("",)  # a column of numbers, tested for missing ones
    n = int(sizes.sum())
    inside, outside = sizes[np.newaxis], n - sizes[np.newaxis]
    in_all = counts.sum(axis=1, keepdims=True)
    clusters = np.flatnonzero((sizes > 0) & (sizes < n))

    def at(z: float, effects: _Effects) -> _Strengths:
        own = share_interval(counts, inside, z)
        others = share_interval(in_all - counts, outside, z)
        low, high = difference_interval(own, others)
        for k in clusters:
            for j in present:
                strength = nearest_to_zero(low[j, k], high[j, k])
                is_skipped = j != last if is_whether_missing else len(present) == 2 and strength < 0
                if strength == 0 or is_skipped:
                    continue
                contrast = CategoryContrast(
                    column=column.name,
                    category=names[j],
                    how="more often" if strength > 0 else "less often",
                    effect=float(own.share[j, k] - others.share[j, k]),
                    interval=(float(low[j, k]), float(high[j, k])),
                    share=float(own.share[j, k]),
                    share_interval=(float(own.low[j, k]), float(own.high[j, k])),
                    overall=float(in_all[j, 0] / n),
                )
                yield int(k), abs(strength), contrast

    is_one = is_whether_missing or len(present) == 2
    return len(clusters) * (1 if is_one else len(present)), (), at


def words(documents: Sequence[str], labels: Indices, n_clusters: int) -> list[tuple[Word, ...]]:
    """Return the words of each cluster that are more frequent there, the highest score first."""
    from sklearn.feature_extraction.text import CountVectorizer

    vectorizer = CountVectorizer()
    try:
        occurs = sparse.csr_array(vectorizer.fit_transform(documents), dtype=np.float64)
    except ValueError:  # no document has a word
        return [()] * n_clusters
    vocabulary, n = vectorizer.get_feature_names_out(), len(labels)
    is_in = sparse.csr_array((np.ones(n), (labels, np.arange(n))), shape=(n_clusters, n))
    counts, holds = is_in @ occurs, is_in @ (occurs > 0).astype(np.float64)
    of_word, in_all = counts.sum(axis=0), holds.sum(axis=0)
    mean, sizes = float(of_word.sum()) / n_clusters, np.bincount(labels, minlength=n_clusters)
    z, of_clusters = quantile_of(POLICY.confidence), []
    for k in range(n_clusters):
        count, own = counts[[k]].toarray()[0], holds[[k]].toarray()[0]
        scores = count / max(1.0, float(count.sum())) * np.log1p(mean / np.maximum(of_word, 1.0))
        inside = share_interval(own, sizes[k], z)
        low, _ = difference_interval(inside, share_interval(in_all - own, n - sizes[k], z))
        is_listed = (own >= POLICY.fewest_documents) & ((low > 0) | (sizes[k] == n))
        best = [j for j in np.argsort(-scores, kind="stable") if is_listed[j]][: POLICY.most_words]
        each = (scores, inside.share, in_all / n)
        listed = (Word(str(vocabulary[j]), *(float(values[j]) for values in each)) for j in best)
        of_clusters.append(tuple(listed))
    return of_clusters


def quantile_of(confidence: float) -> float:
    """Return z such that a standard normal variable is between -z and z with this probability."""
    return float(ndtri((1 + confidence) / 2))


class Share(NamedTuple):
    """A share and its interval."""

    share: Array
    low: Array
    high: Array


def share_interval(count: Any, total: Any, z: float) -> Share:
    """Return ``count / total`` and Wilson's interval."""
    nothing = np.asarray(total) <= 0
    total = np.where(nothing, 1.0, total)
    share = np.asarray(count, dtype=np.float64) / total
    middle = (share + z**2 / (2 * total)) / (1 + z**2 / total)
    width = z * np.sqrt(share * (1 - share) / total + z**2 / (4 * total**2)) / (1 + z**2 / total)
    low = np.where(share <= 0, 0.0, np.maximum(middle - width, 0.0))
    high = np.where((share >= 1) | nothing, 1.0, np.minimum(middle + width, 1.0))
    return Share(share, np.minimum(low, share), np.maximum(high, share))


def difference_interval(one: Share, other: Share) -> Interval:
    """Return Newcombe's interval of the difference of two shares."""
    difference = one.share - other.share
    low = difference - np.hypot(one.share - one.low, other.high - other.share)
    return low, difference + np.hypot(one.high - one.share, other.share - other.low)


def superiority_interval(
    superiority: Array, variance: Array, n_inside: Array, n_outside: Array, z: float
) -> Interval:
    """Return the confidence interval: all t with ``|superiority - t| <= z sqrt(V(t))``."""
    # V(t) is the larger of two variances: the measured one, in proportion to t (1 - t), which is 0
    # if all x are above all y; and that of Hanley and McNeil.
    m, n = np.asarray(n_inside, dtype=np.float64), np.asarray(n_outside, dtype=np.float64)
    fewer, more = np.minimum(m, n), np.maximum(m, n)
    middle_of = np.maximum(superiority * (1 - superiority), np.finfo(np.float64).tiny)
    measured = np.minimum(variance / middle_of, 1 / np.maximum(fewer - 1, 1))
    inner = np.array([superiority, superiority], dtype=np.float64)
    outer = np.stack([np.zeros_like(inner[0]), np.ones_like(inner[1])])
    for _ in range(60):
        t = (inner + outer) / 2
        terms = (1 - t) / (2 - t), t / (1 + t)
        larger, smaller = np.maximum(*terms), np.minimum(*terms)
        modelled = (1 + (more - 1) * larger + (fewer - 1) * smaller) / (m * n)
        spread = t * (1 - t) * np.maximum(modelled, measured)
        possible = np.abs(superiority - t) <= z * np.sqrt(spread)
        inner, outer = np.where(possible, t, inner), np.where(possible, outer, t)
    return inner[0], inner[1]


def nearest_to_zero(low: float, high: float) -> float:
    """Return the end of an interval nearest to 0, or 0 if the interval contains 0."""
    return max(low, 0.0) + min(high, 0.0)


@dataclass(frozen=True)
class Condition(JsonReady):
    """One condition on a row; a row without a value in the column does not meet it."""

    column: str
    relation: str  # "<=", ">", "is" or "is not"
    value: Any  # a number, a category, or the text of a date

    def __str__(self) -> str:
        value = self.value if isinstance(self.value, str) else f"{self.value:.10g}"
        return f"{short(self.column)} {self.relation} {short(value)}"


@dataclass(frozen=True)
class Rule(JsonReady):
    """Conditions that mostly rows of one cluster meet."""

    conditions: tuple[Condition, ...]  # at most three
    precision: float  # of the rows that meet the conditions, the share in the cluster
    precision_interval: tuple[float, float]
    coverage: float  # of the rows of the cluster, the share that meets them
    coverage_interval: tuple[float, float]
    n_rows: int  # rows on which the shares were measured
    held_out: bool  # whether the rule was made from other rows; False if there are too few

    def __str__(self) -> str:
        rows = f"the {self.n_rows} rows it was made from"
        rows = f"{self.n_rows} rows it was not made from" if self.held_out else rows
        return (
            f"{' and '.join(map(str, self.conditions))}: precision {self.precision:.1%} "
            f"({_range(self.precision_interval, '.1%')}), coverage {self.coverage:.1%} "
            f"({_range(self.coverage_interval, '.1%')}), on {rows}"
        )


# A condition: a column, a relation, and a value as stored in the column, a number or a code.
_Test = tuple[Column, str, Any]
# A feature of the tree: a column, the code of a category (None: ranks of numbers), its values.
_Feature = tuple[Column, int | None, NDArray[Any]]


def _features(columns: Sequence[Column], rows: Indices) -> Iterator[_Feature]:
    for column in columns:
        values = column.values[rows]
        there = ~np.isnan(values)
        if column.kind == "category":
            counts = np.bincount(values[there].astype(np.intp), minlength=len(column.categories))
            common = np.argsort(-counts, kind="stable")[: POLICY.categories_of_rule]
            yield from ((column, int(code), values == code) for code in common if counts[code])
            continue
        ranks = np.unique(values[there], return_inverse=True)[1]
        numbers = np.full(len(rows), float(np.median(ranks)) if len(ranks) else 0.0)
        numbers[there] = ranks
        yield column, None, numbers


def _test(feature: _Feature, rows: Indices, rank: float, goes_right: bool) -> _Test:
    """Return the condition of a branch that compares a feature with a rank."""
    column, code, _ = feature
    if code is None:
        distinct = np.unique(column.values[rows])  # NaN is the last, if any
        below = min(int(np.floor(rank)), int((~np.isnan(distinct)).sum()) - 2)
        bound = short_between(*map(float, distinct[below : below + 2]))
        return column, ">" if goes_right else "<=", bound
    if not goes_right and len(column.categories) == 2:
        return column, "is", 1 - code
    return column, "is" if goes_right else "is not", code


def short_between(low: float, high: float) -> float:
    """Return the shortest number t with ``low <= t < high``."""
    if low <= 0 < high:
        return 0.0
    middle = low / 2 + high / 2
    for digits in range(1, 18):
        rounded = float(f"{middle:.{digits}g}")
        if low <= rounded < high:
            return rounded
    return low


def cluster_rule(columns: Sequence[Column], inside: Mask) -> Rule | None:
    """Return a rule for the rows inside a cluster; None if conditions do not help."""
    sides = [np.flatnonzero(inside), np.flatnonzero(~inside)]
    n_least, rows, draw = min(map(len, sides)), np.arange(len(inside)), np.random.default_rng(0)
    if not n_least or not columns:
        return None
    held_out = n_least >= POLICY.fewest_held_out
    if held_out:
        # Draw half of the cluster and half of the others, so that both halves have rows of both.
        sides = [np.sort(draw.permutation(side)[: len(side) // 2]) for side in sides]
        rows = np.delete(rows, np.concatenate(sides))
    tests = _best_branch(columns, inside, sides, draw)
    if not tests:
        return None
    own, meets = inside[rows], _meets(tests, rows)
    n_both, n_meets, n_own = int((own & meets).sum()), int(meets.sum()), int(own.sum())
    if n_both * len(rows) <= n_meets * n_own:  # no better than a random row
        return None
    shares = share_interval(n_both, np.array([n_meets, n_own]), quantile_of(POLICY.confidence))
    (precision, *of_precision), (coverage, *of_coverage) = np.transpose(shares).tolist()
    conditions = (Condition(column.name, how, column.plain(value)) for column, how, value in tests)
    return Rule(
        conditions=tuple(conditions),
        precision=precision,
        precision_interval=tuple(of_precision),
        coverage=coverage,
        coverage_interval=tuple(of_coverage),
        n_rows=len(rows),
        held_out=held_out,
    )


def _meets(tests: Sequence[_Test], rows: Indices) -> Mask:
    """Return which of these rows meet all conditions."""
    of_each = [column[rows].meets(relation, value) for column, relation, value in tests]
    return np.all(of_each, axis=0)


def _best_branch(
    columns: Sequence[Column], inside: Mask, sides: Sequence[Indices], draw: np.random.Generator
) -> list[_Test]:
    """Return the conditions of the best branch of a tree grown on a sample of both sides."""
    most = POLICY.rows_of_rule
    drawn = [
        side if len(side) <= most else np.sort(draw.choice(side, most, replace=False))
        for side in sides
    ]
    # Drawn rows are weighted to count for all rows of their side.
    shares = [len(side) / len(some) for side, some in zip(sides, drawn, strict=True)]
    rows, weight = np.concatenate(drawn), np.repeat(shares, [len(some) for some in drawn])
    own = inside[rows]

    def quality(tests: list[_Test]) -> float:
        meets = _meets(tests, rows)
        both = float(weight[meets & own].sum())
        f1 = 2 * both / float(weight[meets].sum() + weight[own].sum())
        return f1 - POLICY.price_of_condition * len(tests)

    best = max(_branches(columns, rows, own), key=quality, default=[])
    for test in list(best):
        fewer = [other for other in best if other is not test]
        if fewer and quality(fewer) >= quality(best):
            best = fewer
    return best


def _branches(columns: Sequence[Column], rows: Indices, own: Mask) -> Iterator[list[_Test]]:
    """Yield the conditions that lead to each node of a tree, the bounds of a column merged."""
    from sklearn.tree import DecisionTreeClassifier

    features = list(_features(columns, rows))
    if not features:
        return
    depth = POLICY.most_conditions
    tree = DecisionTreeClassifier(max_depth=depth, class_weight="balanced", random_state=0)
    grown = tree.fit(np.column_stack([numbers for _, _, numbers in features]), own).tree_
    open_nodes: list[tuple[int, dict[Any, _Test]]] = [(0, {})]
    while open_nodes:
        node, tests = open_nodes.pop()
        if tests:
            yield list(tests.values())
        if grown.children_left[node] < 0:
            continue
        feature = features[grown.feature[node]]
        for child, goes_right in ((grown.children_left, False), (grown.children_right, True)):
            new = _test(feature, rows, float(grown.threshold[node]), goes_right=goes_right)
            # A bound replaces a wider one on the same side.
            key = new[0].name, *new[1 : 2 if feature[1] is None else 3]
            others = {name: test for name, test in tests.items() if name != key}
            open_nodes.append((int(child[node]), others | {key: new}))


@dataclass(frozen=True)
class TypicalRow(JsonReady):
    """A row in the middle of its cluster."""

    row: int  # its position among the rows, from 0
    values: dict[str, float | str | None]  # in the units of the columns; None is missing
    margin: float  # how clearly it belongs to the cluster
    document: str | None = None
    place: str = ""  # as text: its line of a file, its label in the frame's index, or position

    def __str__(self) -> str:
        place = short(self.place or f"row {self.row}")
        if self.document is not None:
            return f"{place}: {short(self.document)}"
        shown = [f"{short(name)} {value_in_words(value)}" for name, value in self.values.items()]
        more = f", and {len(shown) - 6} more" if len(shown) > 6 else ""
        return f"{place}: {', '.join(shown[:6])}{more}"


@dataclass(frozen=True)
class ClusterDescription(JsonReady):
    """The description of one cluster."""

    cluster: int
    size: int  # rows
    share: float  # of the rows that belong to a cluster
    margin: float  # mean margin of its rows, from 0 (ambiguous) to 1 (certain); NaN without rows
    typical: tuple[TypicalRow, ...]  # medoids, the most typical first
    contrasts: tuple[Contrast, ...]  # what distinguishes it, the strongest first
    rule: Rule | None  # at most three conditions that mostly its rows meet
    words: tuple[Word, ...] = ()  # of its documents, if given
    name: str = ""  # its name, if it has one

    @property
    def title(self) -> str:
        """Its number, name and size."""
        name = f" ({short(self.name)})" if self.name else ""
        title = f"Cluster {self.cluster}{name}: {self.size} rows"
        return title + (f" ({self.share:.1%}), mean margin {self.margin:.2f}" if self.size else "")

    def __str__(self) -> str:
        return "\n".join([self.title, *cluster_lines(self)])


@dataclass(frozen=True, repr=False)
class Description(Printed, JsonReady):
    """The descriptions of a model's clusters on some rows. ``print`` it to read it."""

    n_rows: int
    n_unlabelled: int  # rows in no cluster: outliers, or with missing values
    clusters: tuple[ClusterDescription, ...]
    notes: tuple[str, ...] = ()  # columns that were left out, and samples

    def name(self, namer: Callable[[ClusterDescription], str]) -> dict[int, str]:
        """Return a name for each cluster, by number; ``model.set_names`` takes them.

        ``namer`` takes the description of a cluster, and returns its name. ``str(cluster)`` is a
        text for people and language models.
        """
        if not callable(namer):
            remedy = "pass e.g. lambda cluster: str(cluster.rule)"
            raise invalid("namer", "be a function of a cluster", repr(namer)[:60], remedy)
        return {one.cluster: namer(one) for one in self.clusters}

    def to_frame(self) -> Any:
        """Return the numbers as a pandas DataFrame, a row for each cluster and contrast.

        The ``effect`` has the interval ``low`` to ``high``. Contrasts of words have no ``mean`` and
        medians, others no category shares. A cluster without contrasts has one row.
        """
        rows: list[dict[str, Any]] = []
        for one in self.clusters:
            cluster = {name: getattr(one, name) for name in ("cluster", "size", "share", "margin")}
            for contrast in one.contrasts or (None,):
                number = contrast if isinstance(contrast, NumberContrast) else None
                word = contrast if isinstance(contrast, CategoryContrast) else None
                names = ("column", "category", "how", "effect")
                row = cluster | {name: getattr(contrast, name, None) for name in names}
                row["low"], row["high"] = (None, None) if contrast is None else contrast.interval
                row["mean"] = number and number.mean
                row["median"] = number and number.inside[1]
                row["median_overall"] = number and number.overall[1]
                row["category_share"] = word and word.share
                row["category_share_overall"] = word and word.overall
                rows.append(row)
        return needed("pandas", "pandas").DataFrame(rows)

    @property
    def _title(self) -> str:
        others = f"; {self.n_unlabelled} rows are in no cluster" if self.n_unlabelled else ""
        return f"{len(self.clusters)} clusters of {self.n_rows} rows{others}"

    @property
    def _notes(self) -> list[str]:
        note = "IQR: the middle half of the cluster's rows. CI: an interval with "
        note += f"{POLICY.confidence:.0%} confidence, given the clusters."
        return [note, *(short(note, 2 * _LINE) for note in self.notes)]

    def __str__(self) -> str:
        return "\n\n".join([self._title, *map(str, self.clusters), "\n".join(self._notes)])

    def _html_tables(self) -> Iterator[HtmlTable]:
        yield self._title, (), [[note] for note in self._notes]
        for cluster in self.clusters:
            yield cluster.title, (), cluster_facts(cluster)


def describe_model(
    model: Any,
    X: Any,
    *,
    columns: Any = None,
    documents: Sequence[str] | None = None,
    n_typical: int = 3,
    n_columns: int = 5,
) -> Description:
    """Describe the clusters of a model on the rows of X; see ``Model.describe``."""
    check_count("n_columns", n_columns, "leave it out for the default")
    check_count("n_typical", n_typical, "leave it out for the default", least=0)
    with model.preparing(X) as (prepared, complete):
        answers = model.answers_for_all(prepared, complete)
    numbers, affinity, n = model.cluster_numbers_, model.gpod.affinity_, len(complete)
    labels = np.where(answers.labels < 0, -1, np.searchsorted(numbers, answers.labels))
    texts = None if documents is None else _checked_documents(documents, n)
    table, names = columns, None
    if columns is None:
        X = np.array(X, dtype=object) if isinstance(X, (list, tuple)) else X
        names = model.described_columns(X)
        table = None if affinity.pairwise or (texts is not None and names is None) else X
    if table is None and texts is None:
        expected = "be given for a model of affinities, which have no columns"
        remedy = "pass a table of as many rows as X that describes them, or documents"
        raise invalid("columns", expected, None, remedy)
    notes: list[str] = []
    described = [] if table is None else _described_columns(table, names, labels, notes)
    K, there, names_of = len(numbers), np.flatnonzero(labels >= 0), model.names_of_clusters()
    own, seen = labels[there], there
    most = max(POLICY.fewest_rows, POLICY.most_entries // max(1, len(described)))
    if len(there) > most:
        notes.append(f"Contrasts and rules come from {most} rows drawn at random.")
        seen = np.sort(np.random.default_rng(0).choice(there, most, replace=False))
    some = [column[seen] for column in described]
    contrasts_of = contrasts(some, labels[seen], K)
    of_words: list[tuple[Word, ...]] = [()] * K
    if texts is not None and len(there):
        of_words = words([texts[i] for i in there], own, K)
    medoids = [np.empty(0, dtype=np.intp)] * K
    if not affinity.pairwise:
        metric = str(getattr(affinity, "metric", "euclidean"))
        own_rows = typical_rows(prepared, labels[complete], K, n_typical, metric)
        medoids = [np.flatnonzero(complete)[rows] for rows in own_rows]
    sizes = np.bincount(own, minlength=K)
    margins = np.bincount(own, answers.margins[there], K)
    clusters = []
    for k in range(K):
        shown = described
        if len(described) > POLICY.most_values:
            shown = _telling_columns(described, contrasts_of[k][:n_columns])
        rule = cluster_rule(_telling_columns(some, contrasts_of[k]), labels[seen] == k)
        typical = tuple(
            TypicalRow(
                row=int(i),
                values={column.name: column.plain(column.values[i]) for column in shown},
                margin=float(answers.margins[i]),
                document=None if texts is None else texts[i],
                place=place_of(columns if hasattr(columns, "iloc") else X, int(i)),
            )
            for i in medoids[k]
        )
        clusters.append(
            ClusterDescription(
                cluster=int(numbers[k]),
                size=int(sizes[k]),
                share=float(sizes[k] / max(1, len(there))),
                margin=float(margins[k] / sizes[k]) if sizes[k] else float("nan"),
                typical=typical,
                contrasts=tuple(contrasts_of[k][:n_columns]),
                rule=rule,
                words=of_words[k],
                name=names_of.get(int(numbers[k]), ""),
            )
        )
    return Description(n, n - len(there), tuple(clusters), tuple(notes))


def _checked_documents(documents: Any, n_rows: int) -> list[str]:
    """Return one text for each row, empty if it is missing; refuse other values."""
    is_one = isinstance(documents, (str, bytes))
    if is_one or len(documents := list(documents)) != n_rows:
        got = "one text" if is_one else len(documents)
        expected = f"hold one text for each of the {n_rows} rows"
        raise invalid("documents", expected, got, "pass both for the same rows")
    for place, text in enumerate(documents):
        if not (isinstance(text, str) or is_missing(text)):
            got = f"{type(text).__name__} in row {place}"
            raise invalid("documents", "be texts", got, "use str()")
    return ["" if is_missing(text) else str(text) for text in documents]


def _described_columns(
    table: Any, names: Sequence[str] | None, labels: Indices, notes: list[str]
) -> list[Column]:
    """Return the columns of a table without those of names; add what is left out to ``notes``."""
    remedy = "pass a table of as many rows as X"
    if getattr(table, "ndim", 2) != 2 or isinstance(table, (str, list, tuple)):
        expected, got = "be a data frame or an array with columns", type(table).__name__
        raise invalid("columns", expected, got, remedy)
    columns = columns_of(table, names, labels)
    for column in columns:
        if len(column.values) != len(labels):
            expected = f"have one row for each of the {len(labels)} rows of X"
            raise invalid("columns", expected, len(column.values), remedy)
        if column.names_rows:
            n = len(column.categories)
            notes.append(f"{column.name!r} has {n} different values, and was left out.")
    if hasattr(table, "shape") and len(columns) < table.shape[1] and names is None:
        notes.append(f"{len(columns)} of {table.shape[1]} columns were looked at.")
    return [column for column in columns if not column.names_rows]


def _telling_columns(columns: Sequence[Column], strongest: Sequence[Contrast]) -> list[Column]:
    """Return all columns, or of many those that distinguish a cluster most."""
    if len(columns) <= POLICY.columns_of_rule:
        return list(columns)
    by_name = {column.name: column for column in columns}
    names = list(dict.fromkeys(contrast.column for contrast in strongest))
    return [by_name[name] for name in names[: POLICY.columns_of_rule]]


def typical_rows(
    points: Any, labels: Indices, n_clusters: int, n_typical: int, metric: str = "euclidean"
) -> list[Indices]:
    """Return the most typical rows of each cluster, its medoids."""
    metric = metric if metric in ("cosine", "manhattan", "chebyshev") else "euclidean"
    rows = [np.flatnonzero(labels == k) for k in range(n_clusters)]
    return [own[_medoids(points[own], n_typical, metric)] for own in rows]


def _medoids(own: Any, n_typical: int, metric: str) -> Indices:
    """Return different rows with the least mean distance to all, approximate for many rows."""
    n = own.shape[0]
    if not n or not n_typical:
        return np.empty(0, dtype=np.intp)
    if not issparse(own) and metric == "euclidean":
        with np.errstate(over="ignore", invalid="ignore"):
            # Scaled so that no square is infinite, and centred so that no digits cancel.
            own = own / (np.abs(own).max() or 1.0)
            own = own - own.mean(axis=0)
    candidates = np.arange(n)
    if n > POLICY.exact_medoids:
        drawn = np.sort(np.random.default_rng(0).choice(n, POLICY.rows_compared, replace=False))
        order = _by_distance(own, own[drawn], metric)
        candidates = np.sort(order[: max(POLICY.finalists, 8 * n_typical)])
    chosen: list[int] = []
    for i in candidates[_by_distance(own[candidates], own, metric)]:
        if len(chosen) < n_typical and all((own[[i]] != own[[j]]).sum() for j in chosen):
            chosen.append(int(i))
    return np.array(chosen, dtype=np.intp)


def _by_distance(own: Any, others: Any, metric: str) -> Indices:
    """Return the order of rows by their mean distance to others, in blocks to save memory."""
    from sklearn.metrics.pairwise import pairwise_distances

    total = np.zeros(own.shape[0])
    for rows in row_blocks(own.shape[0], others.shape[0], 1 << 21):
        total[rows] = pairwise_distances(own[rows], others, metric=metric).sum(axis=1)
    return np.argsort(total, kind="stable")


def cluster_facts(cluster: Any) -> list[tuple[str, str]]:
    """Return a label and a text for each contrast, rule, word list and typical row of a cluster."""
    pairs = [(contrast.how, str(contrast)) for contrast in cluster.contrasts]
    if cluster.rule is not None:
        pairs.append(("rule", str(cluster.rule)))
    if cluster.words:
        pairs.append(("words", ", ".join(short(word.word) for word in cluster.words)))
    return pairs + [("typical", str(row)) for row in cluster.typical]


def cluster_lines(cluster: Any) -> list[str]:
    """Return ``cluster_facts`` as wrapped lines of text."""
    how: Any = dict(subsequent_indent=" " * 16, break_long_words=False, break_on_hyphens=False)
    return [fill(f"  {label:<12}  {text}", _LINE, **how) for label, text in cluster_facts(cluster)]


def short(text: str, longest: int = 60) -> str:
    """Return a user's text on one line, shortened, and without control characters."""
    shown = printable(text)
    return shown if len(shown) <= longest else f"{shown[: longest - 3]}..."


def value_in_words(value: Any) -> str:
    """Return a number with few digits, or a shortened text."""
    if value is None or isinstance(value, str):
        return "missing" if value is None else short(value)
    return f"{value:.0f}" if 1e4 <= abs(value) < 1e15 else f"{value:.4g}"


def _range(interval: tuple[float, float], form: str) -> str:
    return f"CI {interval[0]:{form}} to {interval[1]:{form}}"


def fitted_html(model: Any) -> str:
    """Return a table with the clusters and graph of a fitted model; empty before the fit."""
    try:
        check_is_fitted(model)
        facts = {"clusters": str(len(model.cluster_numbers_))}
    except Exception:  # any error, because a display must not fail
        return ""
    known, most = vars(model), 20
    if known.get("labels_") is not None:
        numbers, counts = np.unique(known["labels_"], return_counts=True)  # -1 are outliers
        sizes = [f"{number}: {count}" for number, count in zip(numbers, counts, strict=True)]
        more = f", and {len(sizes) - most} more" if len(sizes) > most else ""
        facts["sizes"] = ", ".join(sizes[:most]) + more
    if "affinity_" in known:
        facts["graph"] = repr(known["affinity_"])
    choice = known.get("choice_", ())
    facts["chosen among"] = "; ".join(f"{one.affinity} ({one.score:.3g})" for one in choice)
    return html_table("", (), [fact for fact in facts.items() if fact[1]])
