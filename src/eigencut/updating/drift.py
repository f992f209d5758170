"""Drift: tests whether new rows differ from training rows, and which rows are outliers, and why.

Rows that a model was fitted on look more typical than others. So, if the model keeps its rows, it
is fitted again without a fifth of them, and the refit compares these with the new rows: p-values
hold for any data. Landmarks keep only sums, to which one training row contributes little.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse import issparse
from scipy.sparse.csgraph import connected_components
from scipy.stats import chi2, hypergeom, mannwhitneyu
from sklearn.base import clone

from eigencut._utils.arrays import Array, Indices, are_counts
from eigencut._utils.json_ready import HtmlTable, JsonReady, Printed
from eigencut._utils.running import row_blocks, threads, warn_user, without_progress
from eigencut._utils.validation import needed
from eigencut.affinities import Landmarks
from eigencut.discretization import assign
from eigencut.exceptions import GraphWarning, invalid
from eigencut.extension.labelling import Mask, is_outlier
from eigencut.fitted import FittedCut
from eigencut.inspection.describe import Column, short, value_in_words
from eigencut.io.sample import seeded_by
from eigencut.io.table import Table, place_of
from eigencut.neighbors.metrics import FARTHEST, METRICS
from eigencut.updating.update import refuse_nothing, rows_in_common, what_is_kept


@dataclass(frozen=True)
class DriftPolicy:
    """The thresholds and sizes of the tests for drift."""

    doubt: float = 0.01  # rows have drifted if the p-value is smaller
    held_share: float = 0.2  # of the rows that a model keeps, left out of the refit,
    most_held: int = 5000  # and at most this many
    rows_per_landmark: int = 20  # with fewer, p-values are too small, and there is no verdict
    small_count: float = 5.0  # below, p-values come from random counts, not from chi-squared
    draws: int = 9999  # of such counts
    exchanges: int = 999  # random exchanges of old and new rows, to compare cut values
    looked_at: int = 10_000  # most rows searched for a new cluster, and most outliers explained
    n_neighbors: int = 4  # Rows are linked within the distance that other rows have to this
    usual_quantile: float = 0.9  # neighbour, at this quantile.
    least_rows: int = 10  # of a new cluster,
    least_share: float = 1 / 16  # and of the new rows of an average cluster
    compared_rows: int = 20_000  # most old rows whose columns are compared
    most_shown: int = 5  # columns, words of a column, and rows without support
    unusual_share: float = 0.05  # of a cluster's rows, beyond an unusual value or with a rare word


POLICY = DriftPolicy()

# With h_k(x) the share of a row's weight that goes to training rows of cluster k, and t_k(x) how
# far the row belongs to cluster k itself, a population has the cut value
#
#     sum_k  E d(x) t_k(x) (1 - h_k(x)) / E m(x) t_k(x),    m = d (NCut) or 1 (RatioCut).
#
# t_k is 1 or 0 by the label; with landmarks it is the sum of the memberships in landmarks of
# cluster k, so that means over all training rows follow from the sums that the landmarks keep.


@dataclass(frozen=True)
class ClusterFacts:
    """What each row contributes to the sizes and cut values of clusters (t, h, d, m: see above)."""

    is_outside: Mask  # whether a row is without support
    belongs: Array  # t, a column for each cluster
    leaves: Array  # d t (1 - h)
    mass: Array  # m t
    volume: Array  # d t
    weight: Array  # sample weights

    @classmethod
    def from_rows(cls, fitted: FittedCut, X: Array, weight: Array | None = None) -> ClusterFacts:
        K, affinity = fitted.n_clusters, fitted.affinity
        of_vertices = np.eye(K)[fitted.voters]
        scores, support = fitted.scores_and_support(X)
        if isinstance(affinity, Landmarks):
            members = affinity._memberships(X)
            masses, belongs = affinity._masses_of(members), members.average(of_vertices)
            to = members.average(_steps(affinity, of_vertices))
            degrees = np.ones(X.shape[0]) if masses is None else masses
        else:
            belongs = np.eye(K)[assign(scores)]
            product = affinity.apply(X, of_vertices)
            to = product.values / product.degrees[:, np.newaxis]
            degrees = np.exp(np.minimum(product.log_degrees, 700.0))
        volume = degrees[:, np.newaxis] * belongs
        return cls(
            is_outside=is_outlier(support, fitted.least_support),
            belongs=belongs,
            leaves=volume * np.clip(1 - to, 0.0, 1.0),
            mass=fitted.cut.mass(degrees)[:, np.newaxis] * belongs,
            volume=volume,
            weight=np.ones(X.shape[0]) if weight is None else weight,
        )

    def each_row(self) -> ClusterFacts:
        """Return the facts with repeated rows instead of weights that are counts."""
        if not are_counts(self.weight) or self.weight.sum() > POLICY.most_held:
            return self
        rows = np.repeat(np.arange(len(self.weight)), self.weight.astype(np.intp))
        of_rows = {field.name: getattr(self, field.name)[rows] for field in fields(self)}
        return replace(self, **of_rows | {"weight": np.ones(len(rows))})

    def of_clusters(self, columns: Indices) -> ClusterFacts:
        """Return the facts with clusters in another order."""
        names = ("belongs", "leaves", "mass", "volume")
        return replace(self, **{name: getattr(self, name)[:, columns] for name in names})

    @property
    def totals(self) -> FactTotals:
        w = self.weight
        n = float(w.sum() ** 2 / (w @ w))  # Kish's effective number of rows
        unit = n / w.sum()
        sums = (unit * (w @ each) for each in (self.belongs, self.leaves, self.mass))
        return FactTotals(n, unit * float(w @ self.is_outside), *sums)


@dataclass(frozen=True)
class FactTotals:
    """``ClusterFacts``, summed over ``n_rows`` rows."""

    n_rows: float
    n_outside: float
    belongs: Array
    leaves: Array
    mass: Array

    @classmethod
    def from_sums(cls, fitted: FittedCut) -> FactTotals:
        """Return the totals of the training rows, from the sums that landmarks keep."""
        affinity = fitted.affinity
        assert isinstance(affinity, Landmarks)
        if affinity.sums_ is None:
            expected = "have kept the sums over its rows to be compared with others"
            got = "a model from a file of format 1, which has no sums"
            raise invalid("model", expected, got, "fit it again and save it")
        of_vertices, gram = np.eye(fitted.n_clusters)[fitted.voters], affinity.sums_.gram
        volume = gram.sum(axis=1) @ of_vertices
        inside = ((gram @ of_vertices) * _steps(affinity, of_vertices)).sum(axis=0)
        rows = affinity.multiplicity_ @ of_vertices
        mass = volume if fitted.cut.mass_is_degree else rows
        threshold, n = fitted.outlier_threshold, float(affinity.n_rows_)
        return cls(n, threshold.share * n, rows, np.maximum(volume - inside, 0.0), mass)

    def cut_value(self, of: Mask) -> float:
        """Return the sum of the cut value over some clusters."""
        return float((self.leaves[of] / self.mass[of]).sum())


def _steps(affinity: Landmarks, of_vertices: Array) -> Array:
    """Return ``V^-1 E 1_k``: the share of each landmark's weight that goes to each cluster."""
    assert affinity.sums_ is not None
    gram = affinity.sums_.gram
    return np.asarray(gram @ of_vertices / gram.sum(axis=1, keepdims=True))


@dataclass(frozen=True)
class Change(JsonReady):
    """A number before and now, and the p-value of the difference."""

    before: float
    now: float
    p_value: float


@dataclass(frozen=True)
class NewCluster(JsonReady):
    """A group of outliers among the new rows that are as dense as other rows."""

    n_rows: int
    centre: Array | None  # their mean; None for tables that hold words
    rows: Indices  # their positions in X
    cells: dict[str, float | str | None] | None = None  # with words: a row in the middle of them

    def __str__(self) -> str:
        """Return where the cluster lies: its centre, or the cells of a row of it."""
        if self.centre is not None:
            where, texts = "around", [f"{value:.4g}" for value in self.centre]
        else:
            where, cells = "such as", (self.cells or {}).items()
            texts = [f"{short(name)} {value_in_words(value)}" for name, value in cells]
        return f"{where} {', '.join(texts[:8])}{', ...' if len(texts) > 8 else ''}"


@dataclass(frozen=True)
class ColumnChange(JsonReady):
    """How one column differs between the rows that a model has seen and new rows.

    The effect is ``P(x > y) - P(x < y)`` for a new row x and an old row y. For words it is half the
    sum of the differences of their shares.
    """

    column: str
    effect: float
    p_value: float  # adjusted for the number of columns (Holm)
    before: float | str | None = None  # the medians; None for words
    now: float | str | None = None
    new_words: dict[str, float] = field(default_factory=dict)  # rare or absent before; shares now

    def __str__(self) -> str:
        p, name = f"p = {self.p_value:.2g}", short(self.column)
        if self.before is None:
            words = [f"{short(word)} {share:.1%}" for word, share in self.new_words.items()]
            listed = ", ".join(words[: POLICY.most_shown])
            new = f"; new or rare words: {listed}" if words else ""
            return f"{name}: shares of words differ by {self.effect:.2f}, {p}{new}"
        now, before = value_in_words(self.now), value_in_words(self.before)
        return f"{name}: median {now}, in training rows {before}; effect {self.effect:+.2f}, {p}"


@dataclass(frozen=True)
class Outlier(JsonReady):
    """An outlier, and what makes it unlike its nearest cluster.

    ``usual`` is a range that holds nine tenths of the cluster's values; for a word, the share of
    the cluster's rows that have it.
    """

    row: int  # its position among the rows, from 0
    place: str  # the same as text: a line of a file or a label
    cluster: int  # the nearest one
    support: float  # its ``score_samples``
    values: dict[str, float | str | None] = field(default_factory=dict)  # the most unusual first
    usual: dict[str, tuple[Any, Any] | float] = field(default_factory=dict)

    def __str__(self) -> str:
        parts = []
        for name, value in self.values.items():
            usual = self.usual[name]
            if isinstance(usual, tuple):
                text = f"usually {' to '.join(map(value_in_words, usual))}"
            else:
                text = f"{usual:.1%} of the cluster" if usual else "never in the cluster"
            parts.append(f"{short(name)} {value_in_words(value)} ({text})")
        listed = ", ".join(parts) or "no single column is unusual"
        return f"{short(self.place)}, nearest to cluster {self.cluster}: {listed}"


@dataclass(frozen=True, repr=False)
class Outliers(Printed, JsonReady):
    """The rows that are unlike the training rows, and why. ``print`` it to read it."""

    n_rows: int  # that were looked at
    n_outliers: int
    rows: tuple[Outlier, ...]  # the least similar first, at most 10 000

    def __str__(self) -> str:
        most = 4 * POLICY.most_shown
        title = f"{self.n_outliers} of {self.n_rows} rows are unlike the training rows"
        lines = [title, *(f"  {one}" for one in self.rows[:most])]
        if self.n_outliers > most:
            lines.append(f"  and {self.n_outliers - most} more")
        return "\n".join(lines)


@dataclass(frozen=True, repr=False)
class Drift(Printed, JsonReady):
    """How new rows differ from those that a model has seen. ``print`` it to read it."""

    n_rows: int  # new rows
    n_compared: float  # training rows that they were compared with
    without_support: Change  # shares of outliers; p is that of more of them than before
    # The sum over clusters of the share of weight that goes to rows of other clusters (with
    # RatioCut, of the weight per row).
    cut_value: Change
    shares: dict[int, tuple[float, float]]  # of each cluster, before and now, by its number
    p_shares: float  # of all shares together
    new_cluster: NewCluster | None  # if one stands out
    p_values_hold: bool = True  # False if landmarks have too few rows each
    compared_with: str = "left-out rows"  # what n_compared counts; or "training rows", all of them
    # Every column, the clearest change first; empty for models that keep no rows (landmarks),
    # sparse rows, or rows with weights that are not integers.
    columns: tuple[ColumnChange, ...] = ()
    outside: tuple[Outlier, ...] = ()  # least similar to the rows of the model, at most five

    @property
    def p_value(self) -> float:
        """The p-value of all tests together: the smallest times their number (Bonferroni)."""
        p_values = [self.without_support.p_value, self.cut_value.p_value, self.p_shares]
        if self.columns:
            p_values.append(min(column.p_value for column in self.columns))
        return min(1.0, len(p_values) * min(p_values))

    @property
    def has_drifted(self) -> bool:
        """Whether ``p_value`` is below 0.01 (and p-values hold)."""
        return self.p_values_hold and self.p_value < POLICY.doubt

    @property
    def verdict(self) -> str:
        """The result in words."""
        if not self.p_values_hold:
            return "Too few rows for each landmark to say whether the rows have drifted"
        return "The rows have drifted" if self.has_drifted else "No sign of drift"

    def to_dict(self) -> dict[str, Any]:
        """Return the fields, ``p_value`` and ``has_drifted`` as plain Python, ready for JSON."""
        return super().to_dict() | {"p_value": self.p_value, "has_drifted": self.has_drifted}

    def to_frame(self) -> Any:
        """Return a pandas DataFrame, a row for each measure, cluster and column."""
        changes = {"without support": self.without_support, "cut value": self.cut_value}
        rows: list[tuple[Any, ...]]
        rows = [(what, None, c.before, c.now, None, c.p_value) for what, c in changes.items()]
        rows += [("share", k, *both, None, self.p_shares) for k, both in self.shares.items()]
        rows += [("column", c.column, c.before, c.now, c.effect, c.p_value) for c in self.columns]
        head = ["measure", "name", "before", "now", "effect", "p_value"]
        return needed("pandas", "pandas").DataFrame(rows, columns=head)

    @property
    def _title(self) -> str:
        rows = f"{self.n_rows} row{'' if self.n_rows == 1 else 's'}"
        compared = f"{rows}, compared with {self.n_compared:.0f} {self.compared_with}"
        return f"{self.verdict} (p = {self.p_value:.2g}): {compared}"

    def _measures(self) -> Iterator[tuple[str, str, str, str, str]]:
        """Yield each measure, its value now, which rows it is compared with, theirs, and p."""
        support, cut, others = self.without_support, self.cut_value, self.compared_with
        p_value = f"{support.p_value:.2g}"
        yield "unlike training", f"{support.now:.2%}", others, f"{support.before:.2%}", p_value
        yield "cut value", f"{cut.now:.4g}", others, f"{cut.before:.4g}", f"{cut.p_value:.2g}"
        p_value = f"{self.p_shares:.2g} for all clusters"
        for number, (before, now) in self.shares.items():
            yield f"cluster {number}", f"{now:.2%}", "training rows", f"{before:.2%}", p_value
            p_value = ""

    def _findings(self) -> Iterator[tuple[str, str]]:
        """Yield a label and a text for each thing that stands out, or was not compared."""
        new = self.new_cluster
        yield "new cluster", "none stands out" if new is None else f"{new.n_rows} rows {new}"
        changed = [one for one in self.columns if one.p_value < POLICY.doubt]
        yield from (("column", str(one)) for one in changed[: POLICY.most_shown])
        if len(changed) > POLICY.most_shown:
            yield "", f"and {len(changed) - POLICY.most_shown} more columns have changed"
        if not self.columns:
            why = "the model keeps no training rows (landmarks), or sparse or weighted ones"
            yield "columns", f"not compared, since {why}"
        seen = [row for row in self.outside if row.values or self.has_drifted]
        yield from (("least similar", str(row)) for row in seen)

    def __str__(self) -> str:
        lines = [self._title]
        for name, now, others, before, p in self._measures():
            line = f"  {name:<16} {now:>8}  {others} {before:>8}"
            lines.append(f"{line}  p = {p}" if p else line)
        return "\n".join([*lines, *(f"  {label:<16} {text}" for label, text in self._findings())])

    def _html_tables(self) -> Iterator[HtmlTable]:
        yield self._title, ("", "new rows", "", "", "p"), self._measures()
        yield "", (), self._findings()


def find_new_cluster(model: Any, X: Any) -> NewCluster | None:
    """Return the largest group of linked outliers, if it is large enough for a cluster."""
    from sklearn.neighbors import NearestNeighbors

    some = np.arange(0, X.shape[0], -(-X.shape[0] // POLICY.looked_at))
    is_outside = model.fitted_cut_.is_outlier(X[some])
    least = max(POLICY.least_rows, POLICY.least_share * len(some) / model.n_clusters_)
    if is_outside.sum() < least or len(some) <= POLICY.n_neighbors:
        return None
    used = METRICS[getattr(model.affinity_, "metric", "euclidean")]
    points, metric = used.points(X), used.of_points.name
    if (largest := abs(points).max()) > FARTHEST:
        points = points / largest
    if metric == "jaccard":
        points = points > 0  # the form of sets in scikit-learn
    outside, supported = some[is_outside], some[~is_outside]
    usual = supported if len(supported) > POLICY.n_neighbors else outside
    search = NearestNeighbors(n_neighbors=POLICY.n_neighbors + 1, metric=metric).fit(points[some])
    reach = np.quantile(search.kneighbors(points[usual])[0][:, -1], POLICY.usual_quantile)
    linked = NearestNeighbors(radius=float(reach), metric=metric).fit(points[outside])
    _, group = connected_components(linked.radius_neighbors_graph(), directed=False)
    members = outside[group == np.argmax(np.bincount(group))]
    if len(members) < least:
        return None
    return NewCluster(len(members), np.asarray(X[members].mean(axis=0)).ravel(), members)


def drift_of(model: Any, X: Any, random_state: Any = None) -> Drift:
    """Return how the rows of X differ from those that the model has seen; see ``GPOD.drift``."""
    fitted, affinity = model.fitted_cut_, model.affinity_
    rng = seeded_by(getattr(affinity, "rows_", X), random_state)
    if what_is_kept(affinity, "to compare others with", "compare predictions") == "sums":
        before, old, new = FactTotals.from_sums(fitted), None, ClusterFacts.from_rows(fitted, X)
    else:
        old, new = _by_rows_left_out(model, X, rng)
        before = old.totals
    n_landmarks, n_rows = len(affinity.multiplicity_), float(affinity.n_rows_)
    p_values_hold = old is not None or n_rows >= POLICY.rows_per_landmark * n_landmarks
    if not p_values_hold:
        warn_user(
            f"The p-values are too small, because {n_landmarks} landmarks stand for only "
            f"{n_rows:.0f} rows. Fit with fewer landmarks, or with another affinity."
        )
    now = new.totals
    p_shares = _p_of_shares(before.belongs, now.belongs, rng)
    of = (before.mass > 0) & (now.mass > 0)  # clusters with old and with new rows
    cut_values = before.cut_value(of), now.cut_value(of)
    if old is None:
        p_cut = _p_by_bound(before, new, of, abs(cut_values[1] - cut_values[0]))
    else:
        p_cut = _p_of_cut(old, new, of, rng)
    outside = before.n_outside / before.n_rows, now.n_outside / now.n_rows
    shares = [(each.belongs / each.n_rows).tolist() for each in (before, now)]
    if old is not None:  # facts are of a refit, whose clusters may differ from the model's
        known = np.bincount(fitted.voters, affinity.multiplicity_, model.n_clusters_)
        counts = np.bincount(fitted.labels(X), minlength=model.n_clusters_)
        shares = [(count / count.sum()).tolist() for count in (known, counts)]
    return Drift(
        n_rows=X.shape[0],
        n_compared=before.n_rows,
        without_support=Change(*outside, _p_outside(before, now)),
        cut_value=Change(*cut_values, p_cut),
        shares=dict(zip(model.cluster_numbers_.tolist(), zip(*shares, strict=True), strict=True)),
        p_shares=p_shares,
        new_cluster=find_new_cluster(model, X),
        p_values_hold=p_values_hold,
        compared_with="training rows" if old is None else "left-out rows",
    )


def drift_of_model(model: Any, X: Any, random_state: Any = None) -> Drift:
    """Compare rows and columns of X with what a model has seen; see ``Model.drift``."""
    refuse_nothing(X.values if isinstance(X, Table) else X, "compare")
    rows, complete = model.complete_rows(X)
    with threads(model.gpod.n_jobs), model.naming_rows(X, rows, complete):
        drift = drift_of(model.gpod, rows, random_state)
        places, old = np.flatnonzero(complete), kept_rows(model.gpod)
        outside = explained_outliers(model, X, rows, places, POLICY.most_shown)[1]
        columns = () if old is None else column_changes(model, old, X, rows, places)
    drift = replace(drift, columns=columns, outside=outside)
    new = drift.new_cluster
    if new is None:
        return drift
    assert new.centre is not None
    if len(new.centre) == len(model.columns_):
        new = replace(new, centre=model.in_units(new.centre))
    else:  # prepared words have several coordinates
        middle = METRICS["euclidean"].nearest(np.array([new.centre]), rows[new.rows])[0]
        row = int(places[new.rows[middle]])
        given = model.as_columns(rows, X)
        cells = {column.name: column.plain(column.values[row]) for column in given}
        new = replace(new, centre=None, cells=cells)
    return replace(drift, new_cluster=replace(new, rows=places[new.rows]))


def column_changes(
    model: Any, old: Any, X: Any, rows: Any, places: Indices
) -> tuple[ColumnChange, ...]:
    """Return how each column differs between old and new prepared rows (``places`` of X)."""
    if issparse(rows):
        return ()
    given, changes = [column[places] for column in model.as_columns(rows, X)], []
    for before, now, raw in zip(model.as_columns(old), model.as_columns(rows), given, strict=True):
        if before.kind == "category":
            changes.append(_change_of_words(before, now, raw))
            continue
        values = [column.values[~column.is_missing] for column in (before, now)]
        if min(map(len, values)) == 0:
            continue
        test = mannwhitneyu(values[1], values[0], method="asymptotic")
        effect = 2 * float(test.statistic) / (len(values[0]) * len(values[1])) - 1
        p = float(np.nan_to_num(test.pvalue, nan=1.0))  # NaN where all values are the same
        middle, new_middle = (before.plain(np.median(own)) for own in values)
        changes.append(ColumnChange(before.name, effect, p, middle, new_middle))
    changes.sort(key=lambda one: (one.p_value, -abs(one.effect)))
    steps = [one.p_value * (len(changes) - place) for place, one in enumerate(changes)]
    adjusted = np.minimum(np.maximum.accumulate(np.array(steps)), 1.0)
    each = zip(changes, adjusted.tolist(), strict=True)
    return tuple(replace(one, p_value=p) for one, p in each)


def _change_of_words(before: Column, now: Column, raw: Column) -> ColumnChange:
    """Compare the shares of words; rare words count as one."""
    K = len(before.categories)
    codes = [column.values[~column.is_missing].astype(np.intp) for column in (before, now, raw)]
    old, new = (np.bincount(own, minlength=K).astype(np.float64) for own in codes[:2])
    effect = float(np.abs(new / max(len(codes[1]), 1) - old / max(len(codes[0]), 1)).sum() / 2)
    p = _p_of_shares(old, new, np.random.RandomState(0)) if min(map(len, codes[:2])) > 0 else 1.0
    times = np.bincount(codes[2], minlength=1)
    order = np.argsort(-times, kind="stable")
    is_new = [i for i in order if times[i] and raw.categories[i] not in before.categories]
    new_words = {raw.categories[i]: float(times[i] / len(raw.values)) for i in is_new}
    return ColumnChange(before.name, effect, p, new_words=new_words)


def explain_outliers(model: Any, X: Any) -> Outliers:
    """Return which rows of X are outliers, and why; see ``Model.explain_outliers``."""
    with model.preparing(X) as (rows, complete):
        places = np.flatnonzero(complete)
        n_outliers, outliers = explained_outliers(model, X, rows, places, POLICY.looked_at)
    return Outliers(len(complete), n_outliers, outliers)


def explained_outliers(
    model: Any, X: Any, rows: Any, places: Indices, most: int
) -> tuple[int, tuple[Outlier, ...]]:
    """Return the number of outliers, and the ``most`` unlike ones with their unusual values."""
    n_outliers, chosen, support = rows_without_support(model.gpod, rows, most)
    if not n_outliers:
        return 0, ()
    # In blocks, because there may be thousands of clusters.
    blocks = row_blocks(len(chosen), int(model.cluster_numbers_[-1]) + 1, 1 << 21)
    answers = (model.answers_of(rows[chosen[block]]) for block in blocks)
    clusters = np.concatenate([one.probabilities.argmax(axis=1) for one in answers])
    places = places[chosen]
    affinity = model.gpod.affinity_
    known = getattr(affinity, "rows_", getattr(affinity, "landmarks_", None))
    odd: Any = [({}, {})] * len(chosen)
    if known is not None and not issparse(known) and not issparse(rows):
        known = known[:: -(-len(known) // POLICY.compared_rows)]
        given = [column[places] for column in model.as_columns(rows, X)]
        odd = _odd_values(model.as_columns(known), model.labels_of(known), given, clusters)
    each = zip(places.tolist(), clusters.tolist(), support.tolist(), odd, strict=True)
    return n_outliers, tuple(
        Outlier(row, place_of(X, row), cluster, own, *values) for row, cluster, own, values in each
    )


def _odd_values(
    old: list[Column], labels: Indices, new: list[Column], clusters: Indices
) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Return the unusual values of each new row by column, and what is usual in its cluster."""
    scores = np.zeros((len(clusters), len(old)))
    is_unseen = np.zeros(scores.shape, dtype=bool)
    usual: dict[tuple[int, int], Any] = {}
    for k in np.unique(clusters):
        of, own = np.flatnonzero(clusters == k), labels == k
        own = own if own.any() else np.ones(len(labels), dtype=bool)
        for j, (before, now) in enumerate(zip(old, new, strict=True)):
            inside, values = before.values[own & ~before.is_missing], now.values[of]
            if not len(inside):
                continue
            if before.kind == "category":
                times = np.bincount(inside.astype(np.intp), minlength=len(before.categories))
                shares = dict(zip(before.categories, times / len(inside), strict=True))
                words = [now.plain(value) for value in values]
                share = np.array([shares.get(str(word), 0.0) for word in words])
                is_there = ~np.isnan(values)
                is_unseen[of, j] = is_there & [word not in shares for word in words]
                p = np.maximum(share, 0.5 / len(inside))
                is_odd = is_there & (share < POLICY.unusual_share)
                scores[of, j] = np.where(is_odd, np.sqrt((1 - p) / p), 0.0)
                usual |= {(i, j): float(one) for i, one in zip(of.tolist(), share, strict=True)}
                continue
            half = POLICY.unusual_share
            low, middle, high = np.quantile(inside, [half, 0.5, 1 - half])
            width = np.where(values > middle, high - middle, middle - low)
            width = np.where(width > 0, width, max(inside.std(), np.finfo(float).tiny))
            with np.errstate(over="ignore"):
                scores[of, j] = np.nan_to_num(np.abs(values - middle) / width, nan=0.0)
            bounds = before.plain(low), before.plain(high)
            usual |= dict.fromkeys([(i, j) for i in of.tolist()], bounds)
    odd = []
    for i, score in enumerate(scores):
        shown = (score > 1) & ((score >= score.max() / 10) | is_unseen[i])
        order = np.argsort(-score, kind="stable")
        order = order[shown[order]][: POLICY.most_shown]
        unusual = {new[j].name: new[j].plain(new[j].values[i]) for j in order}
        odd.append((unusual, {new[j].name: usual[i, int(j)] for j in order}))
    return odd


def rows_without_support(model: Any, X: Any, most: int) -> tuple[int, Indices, Array]:
    """Return the number of outliers, positions of the ``most`` least similar, and their support."""
    fitted, affinity = model.fitted_cut_, model.affinity_
    support = fitted.scores_and_support(X)[1]
    every = np.flatnonzero(is_outlier(support, fitted.least_support))
    outside = every[np.argsort(support[every], kind="stable")][: POLICY.looked_at]
    distance = np.zeros(len(outside))
    if len(outside) and hasattr(affinity, "rows_") and not issparse(affinity.rows_):
        metric = METRICS[getattr(affinity, "metric", "euclidean")]
        points, known = metric.points(X[outside]), metric.points(affinity.rows_)
        distance = metric.of_points.between(points, known[metric.of_points.nearest(points, known)])
    outside = outside[np.lexsort((-distance, support[outside]))[:most]]
    return len(every), np.asarray(outside, dtype=np.intp), support[outside]


def kept_rows(model: Any) -> Any:
    """Return a sample of the rows that a model keeps, by their counts; None if it keeps none."""
    affinity = model.affinity_
    if affinity.keeps != "rows":
        return None
    rows, counts = affinity.rows_, affinity.multiplicity_
    if issparse(rows) or not are_counts(counts):
        return None
    each = np.repeat(np.arange(len(counts)), counts.astype(np.intp))
    if len(each) > POLICY.compared_rows:
        each = each[seeded_by(rows, None).permutation(len(each))[: POLICY.compared_rows]]
    return rows[each]


def _by_rows_left_out(
    model: Any, X: Any, rng: np.random.RandomState
) -> tuple[ClusterFacts, ClusterFacts]:
    """Return facts of held-out old rows and of new rows, by a refit that has seen neither."""
    kept, counts, K = model.affinity_.rows_, model.affinity_.multiplicity_, model.n_clusters_
    held = _held_out(counts, rng)
    is_held, is_left = held > 0, counts > held
    rows, weight = kept[is_left], (counts - held)[is_left]
    if len(rows) < K:
        expected = f"keep at least {K} different rows, one per cluster, when some are held out"
        raise invalid("model", expected, len(rows), "fit it on more rows, or fewer clusters")
    estimator = clone(model).set_params(n_clusters=K, affinity=clone(model.affinity_), n_jobs=None)
    # Limits of sizes are for all rows.
    estimator.set_params(min_cluster_size=None, max_cluster_size=None, verbose=False)
    with warnings.catch_warnings(), without_progress():
        warnings.simplefilter("ignore", GraphWarning)  # the graph of a part of the rows may be odd
        fitted = estimator.fit(rows, sample_weight=weight).fitted_cut_
    before = model.fitted_cut_.partition.labels[is_left]
    in_common = rows_in_common(before, fitted.labels(rows), weight, (K, K))
    columns = np.argsort(linear_sum_assignment(in_common, maximize=True)[1])
    old = ClusterFacts.from_rows(fitted, kept[is_held], held[is_held]).of_clusters(columns)
    return old.each_row(), ClusterFacts.from_rows(fitted, X).of_clusters(columns)


def _held_out(counts: Array, rng: np.random.RandomState) -> Array:
    """Draw the rows to leave out; return how often each distinct row is among them."""
    are_whole = are_counts(counts)
    times = counts.astype(np.intp) if are_whole else np.ones(len(counts), dtype=np.intp)
    rows = np.repeat(np.arange(len(counts)), times)
    n_held = min(POLICY.most_held, int(POLICY.held_share * len(rows)))
    if not n_held:
        expected = "have seen at least 5 rows to compare others with"
        raise invalid("model", expected, f"{counts.sum():g}", "update it first")
    some = rows[rng.permutation(len(rows))[:n_held]]
    weight = np.ones(n_held) if are_whole else counts[some]
    return np.asarray(np.bincount(some, weight, len(counts)), dtype=np.float64)


def _p_outside(before: FactTotals, now: FactTotals) -> float:
    """Return the p-value of the number of outliers among the new rows (hypergeometric)."""
    n_before, n_now = round(before.n_rows), round(now.n_rows)
    outside = round(before.n_outside), round(now.n_outside)
    return float(hypergeom.sf(outside[1] - 1, n_before + n_now, sum(outside), n_now))


def _p_of_shares(before: Array, now: Array, rng: np.random.RandomState) -> float:
    """Return the p-value of Pearson's test of equal shares; small counts are simulated."""
    has_rows = before + now > 0
    before, now = before[has_rows], now[has_rows]
    total, n_before, n_now = before + now, before.sum(), now.sum()
    expected = total * n_now / (n_before + n_now)
    ratio = 1 + n_now / n_before  # counts before deviate by the same numbers

    def deviation(counts: Any) -> Array:
        return np.asarray(ratio * ((counts - expected) ** 2 / expected).sum(axis=-1))

    seen = float(deviation(now))
    if min(expected.min(), (total - expected).min()) >= POLICY.small_count:
        return float(chi2.sf(seen, max(len(total) - 1, 1))) if len(total) > 1 else 1.0
    generator = np.random.default_rng(rng.randint(1 << 31))
    whole = np.rint(total).astype(np.int64)
    size = min(round(float(n_now)), int(whole.sum()))
    drawn = deviation(generator.multivariate_hypergeometric(whole, size, POLICY.draws))
    return float((1 + (drawn >= seen * (1 - 1e-9)).sum()) / (1 + POLICY.draws))


def _p_by_bound(before: FactTotals, new: ClusterFacts, of: Mask, difference: float) -> float:
    """Return Bernstein's bound of the p-value of cut values, if no old rows are kept."""
    now = new.totals
    if not of.any() or difference == 0:
        return 1.0
    mean = (now.mass[of] + before.mass[of]) / (now.n_rows + before.n_rows)
    leaves = (now.leaves[of] + before.leaves[of]) / (now.mass[of] + before.mass[of])
    largest = new.volume.max(axis=0)[of] / mean
    variance = float(largest @ leaves) * (1 / now.n_rows + 1 / before.n_rows)
    step = float(largest.max()) / min(now.n_rows, before.n_rows)
    return min(1.0, 2 * math.exp(-(difference**2) / (2 * (variance + step * difference / 3))))


def _p_of_cut(old: ClusterFacts, new: ClusterFacts, of: Mask, rng: np.random.RandomState) -> float:
    """Return the p-value of the difference of cut values, by exchanging rows at random."""
    some = rng.permutation(len(new.weight))[: POLICY.most_held]
    weight = np.concatenate([old.weight, new.weight[some]])[:, np.newaxis]
    of_rows = [(old.leaves, new.leaves[some]), (old.mass, new.mass[some])]
    leaves, mass = (weight * np.vstack([a[:, of], b[:, of]]) for a, b in of_rows)

    def cut_values(is_in: Array) -> Array:
        there = is_in @ mass
        return np.asarray((is_in @ leaves / np.where(there > 0, there, 1.0)).sum(axis=-1))

    def difference(is_old: Array) -> Array:
        return np.abs(cut_values(is_old) - cut_values(1 - is_old))

    is_old = np.repeat([1.0, 0.0], [len(old.weight), len(some)])
    seen, n_as_far = float(difference(is_old)), 0
    for _ in range(POLICY.exchanges // 27):
        exchanged = np.array([rng.permutation(is_old) for _ in range(27)])
        n_as_far += int((difference(exchanged) >= seen * (1 - 1e-9)).sum())
    return (1 + n_as_far) / (1 + POLICY.exchanges)
