"""What clusters are: sizes, typical rows, what distinguishes them, rules and words.

Typical rows are medoids: those with the least mean distance to the rows of their cluster.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from textwrap import fill
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.metrics.pairwise import pairwise_distances
from sklearn.utils.validation import check_is_fitted

from eigencut._utils.arrays import Indices, row_blocks
from eigencut._utils.json_ready import JsonReady
from eigencut._utils.validation import check_count, check_fraction, needed
from eigencut.exceptions import invalid, printable
from eigencut.inspection.columns import Column, columns_of
from eigencut.inspection.contrasts import CategoryContrast, Contrast, Word, contrasts, words
from eigencut.inspection.policy import POLICY
from eigencut.inspection.rules import Rule, cluster_rule

_LINE = 100  # letters of a line


@dataclass(frozen=True)
class TypicalRow(JsonReady):
    """A row in the middle of its cluster."""

    row: int  # its place among the rows, from 0
    values: dict[str, float | str | None]  # in the units of the columns; None is missing
    margin: float  # how clearly it belongs to the cluster
    document: str | None = None

    def __str__(self) -> str:
        if self.document is not None:
            return f"row {self.row}: {short(self.document)}"
        shown = [f"{short(name)} {value_in_words(value)}" for name, value in self.values.items()]
        more = f", and {len(shown) - 6} more" if len(shown) > 6 else ""
        return f"row {self.row}: {', '.join(shown[:6])}{more}"


@dataclass(frozen=True)
class ClusterDescription(JsonReady):
    """What one cluster is."""

    cluster: int
    size: int  # rows
    share: float  # of the rows that belong to a cluster
    margin: float  # the mean of its rows, from 0 (ambiguous) to 1 (certain); NaN without rows
    typical: tuple[TypicalRow, ...]  # medoids, the most typical first
    contrasts: tuple[Contrast, ...]  # what distinguishes it, the strongest first
    rule: Rule | None  # at most three conditions that tell who belongs to it
    words: tuple[Word, ...] = ()  # of its documents, where there are any

    def __str__(self) -> str:
        title = f"Cluster {self.cluster}: {self.size} rows"
        if self.size:
            title += f" ({self.share:.1%}), mean margin {self.margin:.2f}"
        return "\n".join([title, *cluster_lines(self)])


@dataclass(frozen=True)
class Description(JsonReady):
    """What the clusters of a model are, on some rows. ``print`` it to read it."""

    n_rows: int
    n_unlabelled: int  # rows in no cluster: outliers, or with missing values
    confidence: float  # of all intervals
    clusters: tuple[ClusterDescription, ...]
    notes: tuple[str, ...] = ()  # what was left out or looked at in part

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with a row for each cluster, whose number is the index.

        Columns are ``size``, ``share`` and ``margin``; ``distinguished_by``, the contrasts as text;
        ``rule`` with its ``precision`` and ``coverage``; ``words``; and ``typical_rows``, their
        places.
        """
        rows = [
            {
                "cluster": one.cluster,
                "size": one.size,
                "share": one.share,
                "margin": one.margin,
                "distinguished_by": "; ".join(map(_contrast, one.contrasts)),
                "rule": "" if one.rule is None else _conditions(one.rule),
                "precision": float("nan") if one.rule is None else one.rule.precision,
                "coverage": float("nan") if one.rule is None else one.rule.coverage,
                "words": ", ".join(short(word.word) for word in one.words),
                "typical_rows": tuple(row.row for row in one.typical),
            }
            for one in self.clusters
        ]
        return needed("pandas", "pandas").DataFrame(rows).set_index("cluster")

    def __str__(self) -> str:
        title = f"{len(self.clusters)} clusters of {self.n_rows} rows"
        title += f"; {self.n_unlabelled} rows are in none" if self.n_unlabelled else ""
        notes = [f"Intervals hold with {self.confidence:.0%} confidence, given the clusters."]
        notes += [short(note, 2 * _LINE) for note in self.notes]
        return "\n\n".join([title, *map(str, self.clusters), "\n".join(notes)])


def describe_model(
    model: Any,
    X: Any,
    *,
    columns: Any = None,
    documents: Sequence[str] | None = None,
    n_typical: int = 3,
    n_columns: int = 5,
    n_words: int = 8,
    confidence: float = 0.95,
) -> Description:
    """Describe the clusters of a model on the rows of X; see ``Model.describe``."""
    for name, value, least in (
        ("n_columns", n_columns, 1),
        ("n_words", n_words, 1),
        ("n_typical", n_typical, 0),
    ):
        check_count(name, value, "leave it out for the default", least=least)
    check_fraction("confidence", confidence, 0.95)
    with model.preparing(X) as (prepared, complete):
        answers = model.answers_for_all(prepared, complete)
    numbers, affinity, n = model.cluster_numbers_, model.gpod.affinity_, len(complete)
    labels = np.where(answers.labels < 0, -1, np.searchsorted(numbers, answers.labels))
    texts = None if documents is None else _checked_documents(documents, n)
    table, names = columns, None
    if columns is None:
        names = model.described_columns(X)
        table = None if affinity.pairwise or (texts is not None and names is None) else X
    if table is None and texts is None:
        raise invalid(
            "columns",
            "be given for a model of affinities, which have none",
            None,
            "pass a table of as many rows as X that describes them, or documents",
        )
    notes: list[str] = []
    described = [] if table is None else _described_columns(table, names, labels, notes)
    K, there = len(numbers), np.flatnonzero(labels >= 0)
    own, seen = labels[there], _some_rows(there, len(described), notes)
    some = [column[seen] for column in described]
    found = contrasts(some, labels[seen], K, confidence)
    of_words: list[tuple[Word, ...]] = [()] * K
    if texts is not None and len(there):
        of_words = words([texts[i] for i in there], own, K, n_words, confidence)
    medoids = [np.empty(0, dtype=np.intp)] * K
    if not affinity.pairwise:
        metric = str(getattr(affinity, "metric", "euclidean"))
        place = np.cumsum(complete) - 1  # of each row among the prepared ones
        medoids = typical_rows(prepared, labels, K, n_typical, metric, place)
    sizes = np.bincount(own, minlength=K)
    margins = np.bincount(own, answers.margins[there], K)
    clusters = []
    for k in range(K):
        shown = described
        if len(described) > POLICY.most_values:
            shown = _telling_columns(described, found[k][:n_columns])
        rule = cluster_rule(_telling_columns(some, found[k]), labels[seen] == k, confidence)
        typical = tuple(
            TypicalRow(
                row=int(i),
                values={column.name: column.plain(column.values[i]) for column in shown},
                margin=float(answers.margins[i]),
                document=None if texts is None else texts[i],
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
                contrasts=tuple(found[k][:n_columns]),
                rule=rule,
                words=of_words[k],
            )
        )
    return Description(n, n - len(there), confidence, tuple(clusters), tuple(notes))


def _checked_documents(documents: Any, n_rows: int) -> list[str]:
    """Return one text for each row; a missing one is empty."""
    is_one = isinstance(documents, (str, bytes))
    if is_one or len(documents := list(documents)) != n_rows:
        got = "one text" if is_one else len(documents)
        expected = f"hold one text for each of the {n_rows} rows"
        raise invalid("documents", expected, got, "pass both for the same rows")
    texts = []
    for place, text in enumerate(documents):
        is_missing = text is None or text != text or type(text).__name__ == "NAType"
        if not is_missing and not isinstance(text, str):
            got = f"{type(text).__name__} in row {place}"
            raise invalid("documents", "be texts", got, "use str()")
        texts.append("" if is_missing else str(text))
    return texts


def _described_columns(
    table: Any, names: Sequence[str] | None, labels: Indices, notes: list[str]
) -> list[Column]:
    """Return the columns of a table without those that name rows; note what is left out."""
    found = columns_of(table, names, labels)
    for column in found:
        if len(column) != len(labels):
            expected = f"have one row for each of the {len(labels)} rows of X"
            raise invalid("columns", expected, len(column), "pass both for the same rows")
        if column.names_rows:
            n = len(column.categories)
            notes.append(f"{column.name!r} has {n} different values, and was left out.")
    if hasattr(table, "shape") and len(found) < table.shape[1] and names is None:
        notes.append(f"{len(found)} of {table.shape[1]} columns were looked at.")
    return [column for column in found if not column.names_rows]


def _some_rows(there: Indices, n_columns: int, notes: list[str]) -> Indices:
    """Return the rows whose columns are looked at: all, or some of very many."""
    most = max(POLICY.fewest_rows, POLICY.most_entries // max(1, n_columns))
    if len(there) <= most:
        return there
    notes.append(f"Contrasts and rules are those of {most} rows drawn at random.")
    return np.sort(np.random.default_rng(0).choice(there, most, replace=False))


def _telling_columns(columns: Sequence[Column], found: Sequence[Contrast]) -> list[Column]:
    """Return all columns, or of many those that distinguish a cluster most."""
    if len(columns) <= POLICY.columns_of_rule:
        return list(columns)
    by_name = {column.name: column for column in columns}
    names = list(dict.fromkeys(contrast.column for contrast in found))
    return [by_name[name] for name in names[: POLICY.columns_of_rule]]


# ------------------------------------------------------------------ typical rows


def typical_rows(
    points: Any,
    labels: Indices,
    n_clusters: int,
    n_typical: int,
    metric: str = "euclidean",
    place: Indices | None = None,
) -> list[Indices]:
    """Return the most typical rows of each cluster; ``place`` is that of a row among points."""
    metric = metric if metric in ("cosine", "manhattan", "chebyshev") else "euclidean"
    place = np.arange(len(labels)) if place is None else place
    rows = [np.flatnonzero(labels == k) for k in range(n_clusters)]
    return [own[_medoids(points[place[own]], n_typical, metric)] for own in rows]


def _medoids(own: Any, n_typical: int, metric: str) -> Indices:
    """Return different rows with the least mean distance to all; of many rows about these."""
    n = own.shape[0]
    if not n or not n_typical:
        return np.empty(0, dtype=np.intp)
    if not issparse(own) and metric == "euclidean":
        with np.errstate(over="ignore", invalid="ignore"):
            # Scaled so that no square is infinite, and moved to where squares do not cancel.
            own = own / (np.abs(own).max() or 1.0)
            own = own - own.mean(axis=0)
    draw = np.random.default_rng(0)
    candidates = np.arange(n)
    if n > POLICY.most_candidates:
        candidates = np.sort(draw.choice(n, POLICY.most_candidates, replace=False))
    if n > POLICY.exact_medoids:
        drawn = np.sort(draw.choice(n, POLICY.rows_compared, replace=False))
        order = _by_distance(own[candidates], own[drawn], metric)
        candidates = np.sort(candidates[order[: max(POLICY.finalists, 8 * n_typical)]])
    chosen: list[int] = []
    for i in candidates[_by_distance(own[candidates], own, metric)]:
        if len(chosen) < n_typical and all((own[[i]] != own[[j]]).sum() for j in chosen):
            chosen.append(int(i))
    return np.array(chosen, dtype=np.intp)


def _by_distance(own: Any, others: Any, metric: str) -> Indices:
    """Return the order of rows by their mean distance to others; never an array of all pairs."""
    total = np.zeros(own.shape[0])
    for rows in row_blocks(own.shape[0], others.shape[0], 1 << 21):
        total[rows] = pairwise_distances(own[rows], others, metric=metric).sum(axis=1)
    return np.argsort(total, kind="stable")


# ---------------------------------------------------------------------- as text
# What users wrote moves no cursor and breaks no line.


def cluster_lines(cluster: Any) -> list[str]:
    """Return a line for each thing that is known of a cluster."""
    pairs = [(contrast.how, _contrast(contrast)) for contrast in cluster.contrasts]
    if cluster.rule is not None:
        pairs.append(("rule", _rule(cluster.rule)))
    if cluster.words:
        pairs.append(("words", ", ".join(short(word.word) for word in cluster.words)))
    pairs += [("typical", str(row)) for row in cluster.typical]
    return [
        fill(
            f"  {label:<12}  {text}",
            _LINE,
            subsequent_indent=" " * 16,
            break_long_words=False,
            break_on_hyphens=False,
        )
        for label, text in pairs
    ]


def short(text: str, longest: int = 60) -> str:
    """Return a text on one line, and not too long."""
    shown = printable(text)
    return shown if len(shown) <= longest else f"{shown[: longest - 3]}..."


def value_in_words(value: Any) -> str:
    """Return a number as people write it, or a text."""
    if value is None or isinstance(value, str):
        return "missing" if value is None else short(value)
    return f"{value:.0f}" if 1e4 <= abs(value) < 1e15 else f"{value:.4g}"


def _contrast(found: Contrast) -> str:
    if isinstance(found, CategoryContrast):
        return (
            f"{short(found.column)} is {short(found.category)}: {found.share:.1%} of its rows "
            f"({_range(found.share_interval, '.1%')}), {found.overall:.1%} of all; lift "
            f"{found.lift:.3g} ({_range(found.lift_interval, '.3g')})"
        )
    low, middle, high, overall = map(value_in_words, (*found.inside, found.overall[1]))
    return (
        f"{short(found.column)}: median {middle} ({low} to {high}), {overall} overall; effect "
        f"{found.effect:+.2f} ({_range(found.interval, '+.2f')})"
    )


def _range(interval: tuple[float, float], form: str) -> str:
    return f"{interval[0]:{form}} to {interval[1]:{form}}"


def _conditions(rule: Rule) -> str:
    return " and ".join(
        f"{short(one.column)} {one.relation} "
        f"{short(one.value if isinstance(one.value, str) else f'{one.value:.10g}')}"
        for one in rule.conditions
    )


def _rule(rule: Rule) -> str:
    where = f"{rule.n_rows} rows it was not made from"
    if not rule.held_out:
        where = f"the {rule.n_rows} rows it was made from"
    return (
        f"{_conditions(rule)}: precision {rule.precision:.1%} "
        f"({_range(rule.precision_interval, '.1%')}), coverage {rule.coverage:.1%} "
        f"({_range(rule.coverage_interval, '.1%')}), on {where}"
    )


# ------------------------------------------------------------------ in notebooks


def fitted_html(model: Any) -> str:
    """Return what a fitted model has found as a table for notebooks; empty before the fit."""
    try:
        check_is_fitted(model)
        facts = {"clusters": str(len(model.cluster_numbers_))}
    except Exception:  # whatever it is: a display must not fail
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
    cells = "".join(
        f"<tr><th style='text-align:left'>{escape(name)}</th>"
        f"<td style='text-align:left'>{escape(value)}</td></tr>"
        for name, value in facts.items()
        if value
    )
    return f"<table class='eigencut-fitted'>{cells}</table>" if cells else ""
