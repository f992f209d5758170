"""``summarize``: all results about a fitted model, as plain data, in sentences and as text.

``page`` shows the same data as HTML or JSON. Notes tell which results could not be computed.
"""

from __future__ import annotations

import math
import platform
import re
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version
from itertools import pairwise
from textwrap import fill
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import _safe_indexing

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.json_ready import JsonReady
from eigencut._utils.running import advance, stage, threads, without_progress
from eigencut._utils.validation import check_count, numbers_in_words, shown
from eigencut._version import __version__
from eigencut.auto.spectrum import Choice
from eigencut.exceptions import invalid
from eigencut.extension.eigenfunctions import CombinedFunctions
from eigencut.extension.labelling import is_outlier
from eigencut.fitted import Answers
from eigencut.gpod import GPOD
from eigencut.inspection.assessment import RiskSummary, assess
from eigencut.inspection.describe import (
    ClusterDescription,
    Column,
    Contrast,
    Rule,
    TypicalRow,
    Word,
    cluster_lines,
    columns_of,
    short,
    value_in_words,
)
from eigencut.inspection.policy import POLICY as INSPECTION
from eigencut.inspection.refits import Stability, training_rows
from eigencut.inspection.refits import stability as measure_stability
from eigencut.io.rows import Rows
from eigencut.io.table import Table, place_of
from eigencut.model import Mask, Model, check_model, checked_names, spread
from eigencut.neighbors.metrics import count_distinct_rows
from eigencut.plotting.displays import PreparedRows, Shown, prepared_rows, project
from eigencut.plotting.style import spaced
from eigencut.updating.drift import (
    ColumnChange,
    Outlier,
    column_changes,
    explained_outliers,
    kept_rows,
)


@dataclass(frozen=True)
class Policy:
    """Limits on rows, time and pictures of a report, and thresholds of its sentences."""

    looked_at: int = 50_000  # most rows that are analysed; all rows get a label
    points: int = 4000  # most rows in the picture
    new_points: int = 2000  # most new rows in the picture
    held_out: int = 2000  # most new rows for the measurement of risk, which compares pairs
    refitted: int = 2000  # most rows of a refit
    seconds: float = 8.0  # no refit begins after this time
    worth_naming: float = 0.01  # least share of unsure rows, or change of a share, in a sentence
    shaky: float = 0.8  # sentences name a cluster if refits agree on fewer of its labels
    beyond_chance: float = 2.0  # a difference of more standard errors is not due to chance
    far_beyond_chance: float = 3.5  # the same for the largest of many differences
    drawn_columns: int = 8  # most columns whose values are drawn by cluster
    drawn_clusters: int = 12  # most clusters in the drawing of a column
    bars: int = 24  # bars of a column of numbers
    words: int = 8  # most words of a column with a bar of their own
    small_p: float = 0.01  # columns with smaller p-values have changed


POLICY = Policy()
_LINE = 100  # characters in a line of text
_CLUSTERS = 30  # clusters that the text shows in full


@dataclass(frozen=True)
class ClusterSummary(JsonReady):
    """One cluster; contrasts, rule, words and typical rows as in ``ClusterDescription``."""

    cluster: int
    name: str  # the given name, or "cluster 0"
    size: float  # its rows in X, or in the fit without X
    share: float  # size / the rows in all clusters
    n_new: int | None  # its new rows
    margin: float | None  # the mean margin of its rows, from 0 (ambiguous) to 1 (certain)
    unsure: float | None  # the share of its rows (new rows, if there are any) that are unsure
    stability: float | None  # the share of its rows that keep their label in refits
    cut_training: float | None  # the share of its weight that leaves it, on training rows
    cut_new: float | None  # the same on new rows
    contrasts: tuple[Contrast, ...] = ()
    rule: Rule | None = None
    words: tuple[Word, ...] = ()
    typical: tuple[TypicalRow, ...] = ()  # numbered among all rows of X


@dataclass(frozen=True)
class PairDoubt(JsonReady):
    """The unsure rows of two clusters: similar to training rows, but with a margin below 0.1."""

    first: int  # the cluster with the smaller number
    second: int
    n_unsure: int
    n_rows: int  # rows of both clusters among the analysed rows
    share: float  # n_unsure / n_rows


@dataclass(frozen=True)
class Picture(JsonReady):
    """A sample of the rows as points in the plane."""

    projection: str  # how rows became points, as a text
    axes: tuple[str, str]
    x: tuple[float, ...]
    y: tuple[float, ...]
    labels: tuple[int, ...]  # -1: no cluster
    margins: tuple[float, ...]
    places: tuple[str, ...]  # "line 7" of a file, or "row 7" by index label or position
    is_new: tuple[bool, ...]
    n_rows: int  # all rows, of which the points are a sample
    n_new: int  # all new rows, of which the points are a sample


@dataclass(frozen=True)
class ColumnBars(JsonReady):
    """The values of a column by cluster."""

    column: str
    bars: tuple[str, ...]  # the range of numbers or dates, or the word, of each bar
    ends: tuple[str, str] | None  # the least and the largest number; None for words
    shares: dict[int, tuple[float, ...]]  # the share of each cluster's values in each bar
    is_log: bool = False  # whether bars are equally wide on a logarithmic scale


@dataclass(frozen=True)
class ColumnQuality(JsonReady):
    """Missing and different values of a column, and how the model prepares it."""

    column: str
    kind: str  # "number", "date" or "category"
    missing: float  # the share of missing values
    n_values: int  # number of different values
    treatment: str  # what the model does with the column, as a text


@dataclass(frozen=True)
class DataQuality(JsonReady):
    """Properties of the rows to check before trusting the clusters."""

    n_rows: int  # analysed rows
    n_duplicates: int  # complete rows that equal an earlier row
    columns: tuple[ColumnQuality, ...]

    @property
    def problems(self) -> Iterator[str]:
        """Phrases on missing values, constant columns and duplicates, if there are any."""
        gaps = sorted((one for one in self.columns if one.missing), key=lambda one: -one.missing)
        if gaps:
            named = ", ".join(f"{short(one.column)} {percent(one.missing)}" for one in gaps[:3])
            more = ", ..." if len(gaps) > 3 else ""
            yield f"values are missing in {counted(len(gaps), 'column')} ({named}{more})"
        constant = [short(one.column) for one in self.columns if one.n_values <= 1]
        if constant:
            are = "is" if len(constant) == 1 else "are"
            more = ", ..." if len(constant) > 3 else ""
            yield f"{', '.join(constant[:3])}{more} {are} constant"
        if self.n_duplicates:
            verb = "repeats" if self.n_duplicates == 1 else "repeat"
            yield f"{counted(self.n_duplicates)} {verb} another row"


@dataclass(frozen=True)
class ChoiceSummary(JsonReady):
    """How the graph and the number of clusters were chosen."""

    asked_clusters: str  # the parameter ``n_clusters``
    n_clusters: int
    chosen_clusters: bool  # whether the fit chose the number
    asked_graph: str  # the parameter ``affinity``
    graph: str  # the fitted affinity
    compared: tuple[Choice, ...]


@dataclass(frozen=True)
class QuickStability(JsonReady):
    """Agreement of a few refits with the labels; see ``eigencut.inspection.stability``."""

    mean: float  # the share of rows that keep their label
    per_cluster: dict[int, float]
    n_refits: int
    n_rows: int


@dataclass(frozen=True)
class ModelSummary(JsonReady):
    """The content of a report on a fitted model. ``print`` it to read it.

    Attributes
    ----------
    title, data, date : str
        The title and source of the rows, as given, and the day of the summary.
    sentences : tuple of str
        The summary in plain words, the most important sentence first.
    n_fitted, n_rows, n_unlabelled, n_new : float, int, int, int
        The number of training rows (or the sum of their weights), of rows of X, of these in no
        cluster, and of new rows.
    clusters, pairs : tuple of ClusterSummary, tuple of PairDoubt
        The clusters by number; and pairs of clusters by decreasing share of unsure rows.
    unsure : float or None
        The share of rows (new rows, if there are any) that are unsure.
    picture : Picture or None
    least_support : float
        Rows with a lower similarity to the training rows are outside: unlike all training rows.
    outside, new_outside : float or None
        The share of the rows, and of the new rows, that are outside.
    choice, risk, stability : ChoiceSummary, RiskSummary or None, QuickStability or None
    bars : tuple of ColumnBars
        The columns that distinguish clusters most, and their values in each cluster.
    quality : DataQuality or None
        Missing values, constant columns and duplicates; None without a table of X.
    changes, outliers : tuple of ColumnChange, tuple of Outlier
        How each column of the new rows differs from the training rows, the clearest change first;
        and at most five new rows that are least similar to the training rows.
    settings, versions : dict
    warnings, notes : tuple of str
        The warnings of the fit; and results that were left out or come from a sample, and why.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from eigencut import GPOD
    >>> from eigencut.report import summarize
    >>> X, _ = make_blobs(90, centers=3, cluster_std=0.4, random_state=0)
    >>> summary = summarize(GPOD(3).fit(X), X, n_refits=0)
    >>> [(cluster.name, cluster.size) for cluster in summary.clusters]
    [('cluster 0', 30.0), ('cluster 1', 30.0), ('cluster 2', 30.0)]
    >>> sorted(summary.to_dict())[:3]
    ['bars', 'changes', 'choice']
    """

    title: str
    sentences: tuple[str, ...]
    n_fitted: float
    n_rows: int
    n_unlabelled: int
    n_new: int
    clusters: tuple[ClusterSummary, ...]
    pairs: tuple[PairDoubt, ...]
    unsure: float | None
    picture: Picture | None
    least_support: float
    outside: float | None
    new_outside: float | None
    choice: ChoiceSummary
    risk: RiskSummary | None
    stability: QuickStability | None
    bars: tuple[ColumnBars, ...]
    quality: DataQuality | None
    changes: tuple[ColumnChange, ...]
    outliers: tuple[Outlier, ...]
    data: str
    date: str
    settings: dict[str, Any]
    versions: dict[str, str]
    warnings: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def names(self) -> dict[int, str]:
        """The name of each cluster, by number."""
        return {cluster.cluster: cluster.name for cluster in self.clusters}

    def __str__(self) -> str:
        # ``short`` escapes control characters in texts of users.
        head = [short(text, _LINE) for text in (self.title, self.data) if text]
        profiles = (one for one in self.clusters[:_CLUSTERS] if one.contrasts)
        quality = () if self.quality is None else self.quality.columns[:_CLUSTERS]
        lists = {
            "Columns of new rows": self.changes[:12],
            "New rows unlike all others": self.outliers,
            "Data": [
                f"{short(one.column)}: {one.kind}, {percent(one.missing)} missing, "
                f"{counted(one.n_values, 'different value')}; {one.treatment}"
                for one in quality
            ],
            "Notes": (*self.warnings, *self.notes),
        }
        blocks = [
            [*head, self.date, *map(_item, self.sentences)],
            ["Clusters", *_bars(self)],
            *([short(one.name), *cluster_lines(one)] for one in profiles),
            *([title, *map(_item, map(str, lines))] for title, lines in lists.items() if lines),
        ]
        return "\n\n".join(map("\n".join, blocks))


def summarize(
    model: Any,
    X: Any = None,
    *,
    X_new: Any = None,
    documents: Sequence[str] | None = None,
    names: Mapping[int, str] | None = None,
    title: str | None = None,
    data: str = "",
    n_refits: int = 10,
    random_state: int = 0,
) -> ModelSummary:
    """Return all results about a fitted model, as plain data: ``print(summarize(model, X))``.

    See ``docs/report.md``.

    Parameters
    ----------
    model : fitted GPOD, TableModel or Reclustered
    X : array-like of shape (n_samples, n_features), optional
        The training rows, or others like them. Default: the rows that the model has stored. All
        rows are labelled; other results come from at most 50 000 of them.
    X_new : array-like of shape (n_new, n_features), optional
        Rows that the model was not fitted on.
    documents : sequence of str, optional
        The text of each row of X, for the words of clusters.
    names : mapping of int to str, optional
        The names of clusters.
    title : str, optional
    data : str, default=""
        The source of the rows, for the head of the report: for example the name of a file.
    n_refits : int, default=10
        The number of refits on samples of at most 2000 rows; 0 leaves out stability. No refit
        begins after 8 seconds.
    random_state : int, default=0

    Returns
    -------
    ModelSummary

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from eigencut import GPOD
    >>> X, _ = make_moons(300, noise=0.05, random_state=0)
    >>> summary = summarize(GPOD(2).fit(X), X, n_refits=0)
    >>> for sentence in summary.sentences:
    ...     print(sentence)
    2 clusters of 300 rows: 50 % and 50 %.
    Cluster 0: x2 > 0.05 and x1 <= 1.54 (85 % of such rows belong to it).
    Cluster 1: x2 <= 0.25 and x1 > -0.45 (92 % of such rows belong to it).
    The clusters are clearly apart: 0 % of the rows are unsure.
    The number of clusters was given; the graph is the default.
    """
    model = check_model(model)
    for name, text in (("title", title or ""), ("data", data)):
        if not isinstance(text, str):
            raise invalid(name, "be a text", shown(text), f"use str({name})")
    check_count("n_refits", n_refits, "use the default of 10", least=0)
    check_count("random_state", random_state, "use 0", least=0)
    notes, numbers = list[str](), model.cluster_numbers_
    called = {number: f"cluster {number}" for number in numbers.tolist()}
    called |= model.names_of_clusters() | checked_names({} if names is None else names, numbers)
    checked_names(called, numbers)
    seen = new = SeenRows.empty()
    with stage("labels"):
        if X is not None:
            seen = SeenRows.from_user(model, "X", X, random_state)
        else:
            seen = SeenRows.from_fit(model, random_state)
        if X_new is not None:
            new = SeenRows.from_user(model, "X_new", X_new, random_state)
    if seen.table is None:
        rows_as, what = "rows as they were given, words and dates among them", "profiles and rules"
        if not seen.n_rows:
            rows_as, what = "rows", "profiles, rules, margins and stability"
        text = f"The model has not kept its {rows_as}. For {what}, pass X: the rows of the fit, or"
        notes.append(f"{text} others like them.")
    for rows, which in ((seen, "rows"), (new, "new rows")):
        if len(rows.places) == POLICY.looked_at < rows.n_rows:
            notes.append(
                f"Sizes are of all {rows.n_rows} {which}; everything else is of "
                f"{len(rows.places)} of them, drawn at random."
            )
    with stage("descriptions"):
        described = _descriptions(model, seen, documents, notes)
    risk, refits = _risk(model, new, random_state, notes), None
    if n_refits and len(called) > 1:
        refits = _stability(model, seen, n_refits, random_state, notes)
    latest = new if new.n_rows else seen
    clusters = _clusters(model, called, seen, new, described, risk, refits)
    columns = _columns(model, seen, random_state)
    changes, outliers = _changes(model, seen, new)
    libraries = {name: version(name) for name in ("numpy", "scipy", "scikit-learn")}
    summary = ModelSummary(
        title=title or "Clusters",
        sentences=(),
        n_fitted=float(model.gpod.fitted_cut_.n_rows),
        n_rows=seen.n_rows,
        n_unlabelled=int((seen.labels < 0).sum()),
        n_new=new.n_rows,
        clusters=clusters,
        pairs=() if len(called) < 2 else _pairs(latest),
        unsure=_mean(latest.is_unsure),
        picture=_picture(model, seen, new, random_state),
        least_support=float(model.gpod.fitted_cut_.least_support),
        outside=_mean(seen.is_outside),
        new_outside=_mean(new.is_outside),
        choice=_choice(model.gpod, len(called)),
        risk=risk,
        stability=refits,
        bars=_bars_of_columns(columns, clusters),
        quality=_quality(model, seen, columns),
        changes=changes,
        outliers=outliers,
        data=data,
        date=time.strftime("%Y-%m-%d"),
        settings=_settings(model),
        versions={"eigencut": __version__, "Python": platform.python_version(), **libraries},
        warnings=tuple(getattr(model.gpod, "warnings_", ())),
        notes=tuple(notes),
    )
    return replace(summary, sentences=tuple(summary_sentences(summary)))


@dataclass(frozen=True)
class SeenRows:
    """Labels of all rows, and the model's answers for the analysed rows (a sample of very many)."""

    table: Any  # all rows as they were given; None if only prepared rows are known
    labels: Indices  # of all rows; -1: no cluster
    places: Indices  # the positions of the analysed rows among all rows, ascending
    rows: Any  # the analysed rows, prepared
    answers: Answers  # for the analysed rows
    is_outside: Mask  # which analysed rows are unlike the training rows

    @classmethod
    def from_user(cls, model: Model, name: str, table: Any, random_state: int) -> SeenRows:
        """Return the answers of a model for rows that a user gave."""
        if isinstance(table, Rows):
            remedy = "pass some of them, which is enough for a report"
            raise invalid(name, "be rows in memory", "eigencut.Rows", remedy, error=TypeError)
        with prepared_rows(model, table, POLICY.looked_at, random_state, name) as taken:
            return cls._from_prepared(model, table, taken)

    @classmethod
    def empty(cls) -> SeenRows:
        """Return no rows."""
        nothing, no_places = np.empty(0), np.empty(0, dtype=np.intp)
        answers = Answers(no_places, nothing, nothing, np.empty((0, 2)))
        return cls(None, no_places, no_places, nothing, answers, np.empty(0, dtype=bool))

    @classmethod
    def from_fit(cls, model: Model, random_state: int) -> SeenRows:
        """Return the answers of a model for the training rows that it has stored, if any."""
        try:
            rows = training_rows(model.gpod)
        except ValueError:
            return cls.empty()
        n_rows, table = rows.shape[0], None
        if model.is_numeric:
            table = rows if issparse(rows) else model.in_units(rows)
        some = Shown.draw(n_rows, POLICY.looked_at, random_state)
        with threads(model.gpod.n_jobs):
            taken = PreparedRows(rows, np.ones(n_rows, dtype=bool), some)
            return cls._from_prepared(model, table, taken)

    @classmethod
    def _from_prepared(cls, model: Model, table: Any, taken: PreparedRows) -> SeenRows:
        answers = model.answers_of(taken.some)
        return cls(
            table=table,
            labels=spread(model.labels_of(taken.rows), taken.complete, -1),
            places=np.flatnonzero(taken.complete)[taken.shown.rows],
            rows=taken.some,
            answers=answers,
            is_outside=is_outlier(answers.support, model.gpod.fitted_cut_.least_support),
        )

    @property
    def n_rows(self) -> int:
        return len(self.labels)

    def some(self, places: Indices) -> Any:
        """Return the rows at these positions of the table, as they were given."""
        table = self.table
        if isinstance(table, Table):
            weight = None if table.weight is None else table.weight[places]
            return replace(table, values=table.values[places], weight=weight)
        if len(places) == self.n_rows:
            return table
        if hasattr(table, "column_names"):  # pyarrow
            return table.take(places)
        return _safe_indexing(table.tocsr() if issparse(table) else table, places)

    @property
    def is_unsure(self) -> Mask:
        """Which analysed rows have a low margin, although they are like the training rows."""
        return (self.answers.margins < INSPECTION.ambiguous_margin) & ~self.is_outside

    def sample(self, most: int, random_state: int) -> Any:
        """Return at most ``most`` of the analysed rows, prepared."""
        return self.rows[Shown.draw(len(self.places), most, random_state).rows]


def _descriptions(
    model: Model, seen: SeenRows, documents: Any, notes: list[str]
) -> dict[int, ClusterDescription]:
    """Describe each cluster by the analysed rows; typical rows are numbered among all rows."""
    if seen.table is None:
        return {}
    texts = documents
    if documents is not None and not isinstance(documents, (str, bytes)):
        every = list(documents)
        texts = [every[i] for i in seen.places] if len(every) == seen.n_rows else every
    table = seen.some(seen.places)
    try:
        with warnings.catch_warnings():  # stored rows have no names
            warnings.filterwarnings("ignore", "X does not have valid feature names")
            description = model.describe(table, documents=texts, n_columns=6, n_typical=2)
    except ValueError as error:
        if documents is not None:
            raise
        notes.append(f"Clusters were not described. {error}")
        return {}
    notes.extend(description.notes)
    described = {}
    for one in description.clusters:
        rows = [(row, int(seen.places[row.row])) for row in one.typical]
        typical = [replace(row, row=i, place=place_of(seen.table, i)) for row, i in rows]
        described[one.cluster] = replace(one, typical=tuple(typical))
    return described


def _sizes(model: Model, seen: SeenRows) -> list[float]:
    """Return the number of rows of each cluster: of X, or without X of the fit."""
    if seen.n_rows:
        return [float((seen.labels == number).sum()) for number in model.cluster_numbers_]
    if model.splits_:
        expected = "be given for a model with split clusters that has not stored its training rows"
        raise invalid("X", expected, "None", "pass the training rows, or others like them")
    fitted = model.gpod.fitted_cut_
    weight, n_clusters = fitted.affinity.multiplicity_, len(model.cluster_numbers_)
    return list(np.bincount(fitted.partition.labels, weight, minlength=n_clusters).astype(float))


def _clusters(
    model: Model,
    called: dict[int, str],
    seen: SeenRows,
    new: SeenRows,
    described: dict[int, ClusterDescription],
    risk: RiskSummary | None,
    refits: QuickStability | None,
) -> tuple[ClusterSummary, ...]:
    sizes, latest = _sizes(model, seen), new if new.n_rows else seen
    measured = (None, None) if risk is None else (risk.cut_training, risk.cut_heldout)
    cuts = [None if value is None else value.per_cluster for value in measured]
    clusters = []
    for place, (number, name) in enumerate(called.items()):
        cut_training, cut_new = (
            None if cut is None or not np.isfinite(cut[place]) else float(cut[place])
            for cut in cuts
        )
        parts = ("contrasts", "rule", "words", "typical") if number in described else ()
        known: dict[str, Any] = {part: getattr(described[number], part) for part in parts}
        clusters.append(
            ClusterSummary(
                cluster=number,
                name=name,
                size=sizes[place],
                share=sizes[place] / (sum(sizes) or 1.0),
                n_new=int((new.labels == number).sum()) if new.n_rows else None,
                margin=_mean(seen.answers.margins[seen.answers.labels == number]),
                unsure=_mean(latest.is_unsure[latest.answers.labels == number]),
                stability=None if refits is None else refits.per_cluster.get(place),
                cut_training=cut_training,
                cut_new=cut_new,
                **known,
            )
        )
    return tuple(clusters)


def _columns(model: Model, seen: SeenRows, random_state: int) -> dict[str, tuple[Column, Indices]]:
    """Return each column of a sample of all rows (with gaps), and the labels of these rows."""
    if seen.table is None or model.gpod.affinity_.pairwise or issparse(seen.table):
        return {}
    places = Shown.draw(seen.n_rows, POLICY.looked_at, random_state).rows
    labels, names = seen.labels[places], model.described_columns(seen.table)
    columns = columns_of(seen.some(places), names, labels)
    return {column.name: (column, labels) for column in columns}


def _bars_of_columns(
    columns: dict[str, tuple[Column, Indices]], clusters: Sequence[ClusterSummary]
) -> tuple[ColumnBars, ...]:
    """Return the values of the columns that distinguish clusters most, by cluster."""
    strongest: dict[str, float] = {}
    for cluster in clusters:
        for contrast in cluster.contrasts:
            effect = max(abs(contrast.effect), strongest.get(contrast.column, 0.0))
            strongest[contrast.column] = effect
    drawn = []
    for name in sorted(strongest, key=lambda name: -strongest[name])[: POLICY.drawn_columns]:
        if name not in columns:
            continue
        column, labels = columns[name]
        values, cluster_of = column.values[~column.is_missing], labels[~column.is_missing]
        different, at, times = np.unique(values, return_inverse=True, return_counts=True)
        ends, is_skewed = None, False
        if column.categories or len(different) <= POLICY.words:
            most = np.argsort(-times, kind="stable")[: POLICY.words]
            most = most if column.categories else np.sort(most)
            bars = [value_in_words(column.plain(different[one])) for one in most]
            bar_of = np.full(len(different), len(bars))
            bar_of[most] = np.arange(len(bars))
            at, bars = bar_of[at], bars + (["other"] if len(different) > len(bars) else [])
        else:
            low, high = np.quantile(values, [0.01, 0.99])
            is_skewed = bool(low > 0 and high > 50 * low)
            edges = (np.geomspace if is_skewed else np.linspace)(low, high, POLICY.bars + 1)
            at = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, POLICY.bars - 1)
            texts = [value_in_words(column.plain(edge)) for edge in edges]
            bars, ends = [f"{a} to {b}" for a, b in pairwise(texts)], (texts[0], texts[-1])
        shares = {}
        for cluster in clusters[: POLICY.drawn_clusters]:
            counts = np.bincount(at[cluster_of == cluster.cluster], minlength=len(bars))
            shares[cluster.cluster] = tuple((counts / max(1, counts.sum())).tolist())
        drawn.append(ColumnBars(name, tuple(bars), ends, shares, is_skewed))
    return tuple(drawn)


def _quality(
    model: Any, seen: SeenRows, columns: dict[str, tuple[Column, Indices]]
) -> DataQuality | None:
    """Return missing values, duplicates and the treatment of columns of X."""
    if not columns:
        return None
    own = model.unsplit.get_params(deep=False)
    scale, missing = own.get("scale", "none"), own.get("missing", "refuse")
    is_scaled = scale != "none" or getattr(model.unsplit, "column_scales_", None) is not None
    prepared = {one.name: one for one in model.unsplit.summary().columns} if "scale" in own else {}
    qualities = []
    for name, (column, _) in columns.items():
        share, known = float(column.is_missing.mean()), prepared.get(name)
        treatment = "scaled" if is_scaled else "as it is"
        if column.kind == "category":
            treatment = "ordered words as ranks" if known and known.kind == "ordered" else "words"
        elif known is not None and known.is_logged:
            treatment = "logarithm, then scaled"
        if share:
            treatment += "; "
            treatment += "rows left out" if missing == "drop" else f"filled with the {missing}"
        n_values = len(np.unique(column.values[~column.is_missing]))
        qualities.append(ColumnQuality(name, column.kind, share, n_values, treatment))
    n_duplicates = len(seen.places) - count_distinct_rows(seen.rows)
    return DataQuality(len(next(iter(columns.values()))[1]), n_duplicates, tuple(qualities))


def _changes(
    model: Model, seen: SeenRows, new: SeenRows
) -> tuple[tuple[ColumnChange, ...], tuple[Outlier, ...]]:
    """Return how columns of new rows differ from training rows, and the least similar new rows."""
    if not len(new.places) or model.gpod.affinity_.pairwise:
        return (), ()
    old = kept_rows(model.gpod)
    old = seen.rows if old is None else old  # models with landmarks store no rows
    with threads(model.gpod.n_jobs):
        outliers = explained_outliers(model, new.table, new.rows, new.places, most=5)[1]
        if issparse(old) or not len(old):
            return (), outliers
        return column_changes(model, old, new.table, new.rows, new.places), outliers


def _mean(values: Any) -> float | None:
    return float(values.mean()) if len(values) else None


def _pairs(rows: SeenRows) -> tuple[PairDoubt, ...]:
    """Return the pairs of clusters with unsure rows, the largest share first."""
    # The sort is stable, since the label is the first of equal probabilities.
    unsure = rows.answers.probabilities[rows.is_unsure]
    both = np.sort(np.argsort(-unsure, axis=1, kind="stable")[:, :2], axis=1)
    pairs = []
    for pair, n in zip(*np.unique(both, axis=0, return_counts=True), strict=True):
        n_rows = int(np.isin(rows.answers.labels, pair).sum())
        pairs.append(PairDoubt(int(pair[0]), int(pair[1]), int(n), n_rows, float(n / n_rows)))
    return tuple(sorted(pairs, key=lambda pair: (-pair.share, pair.first, pair.second)))


def _picture(model: Model, seen: SeenRows, new: SeenRows, random_state: int) -> Picture | None:
    """Place samples of rows and new rows in the plane; None without rows, or if that fails."""
    groups = [rows for rows in (seen, new) if rows.n_rows]
    if not groups:
        return None
    try:
        projection = project(model, groups[0].rows)
    except ValueError:  # one cluster and one column give no plane
        return None
    drawn, places = [], list[str]()
    for rows in groups:
        most = POLICY.new_points if rows is new else POLICY.points
        some = Shown.draw(len(rows.places), most, random_state).rows
        with threads(model.gpod.n_jobs):
            x, y = projection.apply(rows.rows[some]).T
        labels, margins = rows.answers.labels[some], rows.answers.margins[some]
        places += [place_of(rows.table, int(row)) for row in rows.places[some]]
        drawn.append((x, y, labels, margins, np.full(len(some), rows is new)))
    x, y, labels, margins, is_new = map(np.concatenate, zip(*drawn, strict=True))
    of_functions = "eigenfunctions that vary, or shares of two clusters, of rows of unit length"
    words = {
        "columns": "the two columns as they are",
        "eigenfunctions": f"the first two {of_functions}",
        "pca": "the two directions in which the prepared rows differ most (PCA)",
    }
    return Picture(
        projection=words[projection.kind],
        axes=projection.axis_labels,
        x=_rounded(x),
        y=_rounded(y),
        labels=tuple(map(int, labels)),
        margins=_rounded(margins),
        places=tuple(places),
        is_new=tuple(map(bool, is_new)),
        n_rows=seen.n_rows,
        n_new=new.n_rows,
    )


def _rounded(values: Array) -> tuple[float, ...]:
    return tuple(float(f"{value:.6g}") for value in values)


def _risk(model: Model, new: SeenRows, random_state: int, notes: list[str]) -> RiskSummary | None:
    """Return the risk on new rows (if there are any), or None and a note on the reason."""
    rows = None
    if new.n_rows and not model.splits_ and not model.gpod.affinity_.pairwise:
        rows = new.sample(POLICY.held_out, random_state)
        if rows.shape[0] < new.n_rows:
            notes.append(
                f"Risk was measured on {rows.shape[0]} of {new.n_rows} new rows, drawn at random."
            )
    try:
        if model.splits_:
            raise ValueError("The parts of split clusters have no cut in common.")
        with stage("risk"):
            return assess(model.gpod, rows)
    except ValueError as error:
        notes.append(f"Risk was not measured. {error}")
        return None


def _stability(
    model: Model, seen: SeenRows, n_refits: int, random_state: int, notes: list[str]
) -> QuickStability | None:
    """Return the agreement of a few refits on samples, or None and a note on the reason."""
    start, results = time.perf_counter(), list[Stability]()
    try:
        if model.splits_:
            raise ValueError("Clusters were split.")
        if isinstance(getattr(model.gpod.fitted_cut_, "functions", None), CombinedFunctions):
            raise ValueError("Refits would not know the labels or pairs of the fit.")
        if not seen.n_rows:
            raise ValueError("The model has no rows for refits; pass X.")
        rows = seen.sample(POLICY.refitted, random_state)
        refit = partial(measure_stability, model.gpod, rows, n_refits=1)
        with stage("refits"):
            for i in range(n_refits):
                advance(i, n_refits, "refits")
                with without_progress():
                    results.append(refit(random_state=random_state + i))
                if time.perf_counter() - start >= POLICY.seconds:
                    break
    except ValueError as error:
        notes.append(f"Stability was not measured. {error}")
        return None
    per_row, labels = np.mean([one.per_row for one in results], axis=0), results[-1].labels
    return QuickStability(
        mean=float(per_row.mean()),
        per_cluster={int(k): float(per_row[labels == k].mean()) for k in np.unique(labels)},
        n_refits=len(results),
        n_rows=len(per_row),
    )


def _choice(gpod: GPOD, n_clusters: int) -> ChoiceSummary:
    """Return how the number of clusters and the graph were chosen."""
    given: Any = gpod.n_clusters
    is_number = isinstance(given, (int, np.integer))
    words = given if isinstance(given, str) or is_number else numbers_in_words(given)
    return ChoiceSummary(
        asked_clusters=str(words),
        n_clusters=n_clusters,
        chosen_clusters=not is_number,
        asked_graph=gpod.affinity if isinstance(gpod.affinity, str) else repr(gpod.affinity),
        graph=repr(gpod.affinity_),
        compared=tuple(gpod.choice_),
    )


def _settings(model: Model) -> dict[str, Any]:
    """Return the parameters that affect labels, with those of a TableModel, as plain values."""
    given, own = model.gpod.get_params(deep=False), model.unsplit.get_params(deep=False)
    if "scale" in own:
        given |= {"scale": own["scale"], "missing": own["missing"], "columns": model.columns_}
    left_out = ("n_jobs", "verbose", "memory_limit")
    return {name: _plain(value) for name, value in given.items() if name not in left_out}


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return [_plain(item) for item in value] if isinstance(value, list) else repr(value)


def percent(share: float) -> str:
    """Return a share as people say it, like "below 0.1 %" or "46 %"."""
    points = 100 * share
    if 0 < points < 0.1:
        return "below 0.1 %"
    if 99 <= points < 100:
        return f"{min(points, 99.9):.1f} %"
    return f"{points:.2g} %" if points < 9.95 else f"{points:.0f} %"


def counted(number: float, thing: str = "row") -> str:
    """Return a number of things in words: 1 row, 12 345 rows."""
    return f"{spaced(number)} {thing}" if number == 1 else f"{spaced(number)} {thing}s"


def visible(text: str) -> str:
    """Return text with escapes for control characters."""
    # Control characters, surrogates, and marks of direction, which affect the text after them.
    controls = r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
    return re.sub(controls, lambda found: ascii(found[0])[1:-1], text)


def clipped(text: str, longest: int) -> str:
    """Return a text of users with escapes for control characters, cut off if it is long."""
    text = str(text)  # drops a method __html__, which would switch off escaping
    shown = visible(text[: longest + 1])
    return shown if len(text) <= longest else f"{shown[: longest - 1]}…"


def unbroken(text: str) -> str:
    """Return text with no-break spaces within numbers and before %."""
    return re.sub(r"(?<=\d) (?=\d|%)", "\N{NO-BREAK SPACE}", text)


def summary_sentences(summary: ModelSummary) -> Iterator[str]:
    """Yield the summary in sentences, the most important first."""
    clusters, names = summary.clusters, summary.names
    n_rows, which = summary.n_rows or summary.n_fitted, "new rows" if summary.n_new else "the rows"
    text = f"{counted(len(clusters), 'cluster')} of {counted(n_rows)}"
    shares = [percent(cluster.share) for cluster in clusters]
    if 1 < len(shares) <= 6:
        text += f": {', '.join(shares[:-1])} and {shares[-1]}"
    elif len(shares) > 6:
        ordered = sorted(cluster.share for cluster in clusters)
        text += f", the largest {percent(ordered[-1])} and the smallest {percent(ordered[0])}"
    if n := summary.n_unlabelled:
        text += f"; {counted(n)} {'is' if n == 1 else 'are'} in no cluster"
    yield f"{text}."
    for cluster in clusters[:6] if len(clusters) > 1 else ():
        if cluster.rule is not None:
            conditions = " and ".join(map(str, cluster.rule.conditions))
            belong = f"{percent(cluster.rule.precision)} of such rows belong to it"
            yield f"{_capital(short(cluster.name))}: {conditions} ({belong})."
    if summary.quality is not None and (problems := list(summary.quality.problems)):
        yield f"Check the data: {'; '.join(problems)}."
    if summary.new_outside is not None:
        text = f"{_capital(percent(summary.new_outside))} of "
        text += f"{counted(summary.n_new, 'new row')} are unlike the training rows"
        if summary.outside is not None:
            text += f" (among the {counted(n_rows)}: {percent(summary.outside)})"
        yield f"{text}."
    changed = [one for one in summary.changes if one.p_value < POLICY.small_p]
    if changed:
        named = ", ".join(short(one.column) for one in changed[:3])
        more = f" and {len(changed) - 3} more" if len(changed) > 3 else ""
        yield f"New rows differ from those of the fit in {named}{more}."
    if len(clusters) > 1:
        yield from _on_shares(summary, n_rows)
        yield from _on_doubt(summary, which)
    yield _on_choice(summary)
    yield from _on_risk(summary)
    if (refits := summary.stability) is not None and len(clusters) > 1:
        text = f"Refitting on samples of {counted(refits.n_rows)} gives {percent(refits.mean)} of "
        text += f"rows the same cluster ({counted(refits.n_refits, 'refit')})"
        number, least = min(refits.per_cluster.items(), key=lambda entry: entry[1])
        if least < POLICY.shaky:
            text += f"; {names[number]} is the least stable, with {percent(least)}"
        yield f"{text}."
    if n := len(summary.warnings):
        were = "was" if n == 1 else "were"
        yield f"{counted(n, 'warning')} {were} raised at the fit; see the end."


def _on_shares(summary: ModelSummary, n_rows: float) -> Iterator[str]:
    """Yield whether clusters have the same shares of new rows; name the largest change."""
    m = sum(cluster.n_new or 0 for cluster in summary.clusters)
    if m == 0:
        return
    one = max(summary.clusters, key=lambda cluster: abs((cluster.n_new or 0) / m - cluster.share))
    now = (one.n_new or 0) / m
    pooled = (one.share * n_rows + now * m) / (n_rows + m)
    chance = math.sqrt(max(pooled * (1 - pooled), 0.0) * (1 / n_rows + 1 / m))
    text = "Each cluster has about the same share of the new rows as"
    if abs(now - one.share) > max(POLICY.far_beyond_chance * chance, POLICY.worth_naming):
        text = f"The shares of the clusters have changed: {percent(now)} of the new rows are in "
        text += f"{one.name}, but {percent(one.share)}"
    yield f"{text} of the {counted(n_rows)}."


def _on_doubt(summary: ModelSummary, which: str) -> Iterator[str]:
    """Yield which clusters are hard to tell apart."""
    if summary.unsure is None:
        return
    unsure, names = f"{percent(summary.unsure)} of {which} are unsure", summary.names
    splits = [
        f"the split between {names[pair.first]} and {names[pair.second]} is unsure for "
        f"{percent(pair.share)}"
        for pair in summary.pairs[:2]
        if pair.share >= POLICY.worth_naming
    ]
    text = f"{_capital(' and '.join(splits))} of their rows. In total, {unsure}."
    yield text if splits else f"The clusters are clearly apart: {unsure}."


def _on_choice(summary: ModelSummary) -> str:
    """Return how the number of clusters and the graph were chosen, as a sentence."""
    choice, number, graph = summary.choice, "was given", "so was the graph"
    if choice.chosen_clusters:
        number = f"was chosen from the data (asked for: {choice.asked_clusters})"
        graph = "the graph was given"
    if len(choice.compared) > 1:
        graph = f"the graph was chosen among {len(choice.compared)} that were compared"
    elif choice.asked_graph == "auto":
        graph = "the graph is the default"
    return f"The number of clusters {number}; {graph}."


def _on_risk(summary: ModelSummary) -> Iterator[str]:
    """Yield whether the clusters hold on new rows."""
    risk = summary.risk
    if risk is None or risk.n_clusters < 2 or risk.cut_heldout is None:
        return
    new, own = risk.cut_heldout, risk.cut_training
    if risk.leaving is not None:
        yield f"{risk.leaving.sentence}."
    if risk.eigenvalues is None:  # the weights of a discrete cut depend on the number of new rows
        return
    if new.is_near_zero:  # standard errors of such values are not reliable
        yield "New rows have almost no similarity to rows of other clusters."
        return
    if own is None or own.is_near_zero or not math.isfinite(new.standard_error):
        return
    spread = math.hypot(new.standard_error, own.standard_error)
    how = "as separate on new rows as"
    if abs(new.value - own.value) > POLICY.beyond_chance * spread:
        how = f"{'less' if new.value > own.value else 'more'} separate on new rows than"
    yield f"The clusters are {how} on the rows of the fit."


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _bars(summary: ModelSummary) -> list[str]:
    most = max((cluster.size for cluster in summary.clusters), default=0) or 1
    lines = [f"{'':26}{'rows':>10} {'share':>7} {'margin':>7} {'unsure':>7} {'stays':>7}"]
    for one in summary.clusters[:_CLUSTERS]:
        bar = "█" * max(1, round(24 * one.size / most)) if one.size else ""
        columns = ((one.margin, ".2f"), (one.unsure, ".1%"), (one.stability, ".1%"))
        cells = [f"{'-' if value is None else format(value, form):>7}" for value, form in columns]
        rows = f"{one.size:>10.0f} {one.share:>7.1%} {' '.join(cells)}"
        lines.append(f"  {short(one.name, 22):<24}{rows}  {bar}")
    if len(summary.clusters) > _CLUSTERS:
        lines.append(f"  and {len(summary.clusters) - _CLUSTERS} more")
    return lines


def _item(text: str) -> str:
    return fill(short(text, 8 * _LINE), _LINE, initial_indent="  - ", subsequent_indent="    ")
