"""What clusters are: all that is found out about them, as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.json_ready import JsonReady
from eigencut._utils.validation import check_count, check_fraction, needed, printable
from eigencut.inspection.columns import Column, columns_of
from eigencut.inspection.contrasts import CategoryContrast, Contrast, NumberContrast, contrasts
from eigencut.inspection.rules import Rule, rules
from eigencut.inspection.typical_rows import typical_rows
from eigencut.inspection.words import Word, words

if TYPE_CHECKING:
    from eigencut.inspection.rules import Condition, Rule

_ENTRIES = 20_000_000  # of a table whose columns are looked at; of a larger one some rows are,
_LEAST_ROWS = 20_000  # but not fewer
_FOR_RULES = 20  # columns that a rule may ask for: those that distinguish its cluster most
_VALUES = 100  # columns up to which a typical row is shown in all of them


@dataclass(frozen=True)
class TypicalRow(JsonReady):
    """A row in the middle of its cluster.

    Attributes
    ----------
    row : int
        Its place among the rows, from 0.
    values : dict
        Of its columns, in their units; None is missing. Of a table with more than 100 columns,
        those that distinguish the cluster.
    margin : float
        How clearly it belongs to the cluster.
    document : str or None
    """

    row: int
    values: dict[str, float | str | None]
    margin: float
    document: str | None = None


@dataclass(frozen=True)
class ClusterDescription(JsonReady):
    """What one cluster is.

    Attributes
    ----------
    cluster : int
    size : int
        Rows.
    share : float
        Of the rows that belong to a cluster.
    margin : float
        The mean margin of its rows, from 0 (torn) to 1 (certain); NaN without rows.
    typical : tuple of TypicalRow
        Medoids, the most typical first.
    contrasts : tuple of NumberContrast and CategoryContrast
        What distinguishes it, the strongest first.
    rule : Rule or None
        At most three conditions that tell who belongs to it.
    words : tuple of Word
        Of its documents, where there are any.
    """

    cluster: int
    size: int
    share: float
    margin: float
    typical: tuple[TypicalRow, ...]
    contrasts: tuple[Contrast, ...]
    rule: Rule | None
    words: tuple[Word, ...] = ()


@dataclass(frozen=True)
class Description(JsonReady):
    """What the clusters of a model are, on some rows. ``print`` it to read it.

    Attributes
    ----------
    n_rows : int
    n_unlabelled : int
        Rows in no cluster: outliers, or with missing values.
    confidence : float
        Of all intervals.
    clusters : tuple of ClusterDescription
    notes : tuple of str
        What was left out or looked at in part.
    """

    n_rows: int
    n_unlabelled: int
    confidence: float
    clusters: tuple[ClusterDescription, ...]
    notes: tuple[str, ...] = ()

    def to_frame(self) -> Any:
        """A pandas DataFrame with a row for each cluster, whose number is the index.

        Columns are ``size``, ``share`` and ``margin``; ``distinguished_by``, the contrasts as text;
        ``rule`` with its ``precision`` and ``coverage``; ``words``; and ``typical_rows``, their
        places.
        """
        rows = [table_row(found) for found in self.clusters]
        frame = needed("pandas", "pandas").DataFrame(rows, columns=list(TABLE_COLUMNS))
        return frame.set_index("cluster")

    def __str__(self) -> str:
        return description_text(self)


@dataclass(frozen=True)
class Asked:
    """How much a description should say.

    Attributes
    ----------
    n_typical, n_columns, n_words : int
        Typical rows, contrasts and words for each cluster, at most.
    confidence : float
        Of intervals.
    """

    n_typical: int = 3
    n_columns: int = 5
    n_words: int = 8
    confidence: float = 0.95

    def __post_init__(self) -> None:
        for name in ("n_columns", "n_words"):
            check_count(name, getattr(self, name), "leave it out for the default")
        check_count("n_typical", self.n_typical, "leave it out for the default", least=0)
        check_fraction("confidence", self.confidence, 0.95)


@dataclass(frozen=True)
class Labelled:
    """Rows and what a model says of them.

    Attributes
    ----------
    labels : array of shape (n_rows,)
        -1 is no cluster.
    margins : array of shape (n_rows,)
    points : array or sparse array of shape (n_rows, n_features), or None
        What distances between rows are taken of; rows in no cluster may hold anything.
    n_clusters : int
    metric : str
    numbers : array of shape (n_clusters,), or None
        Of the clusters, where they are not 0, 1, ...
    """

    labels: Indices
    margins: Array
    points: Any
    n_clusters: int
    metric: str = "euclidean"
    numbers: Indices | None = None


def describe_rows(
    rows: Labelled, table: Any, names: Sequence[str] | None, documents: Any, asked: Asked
) -> Description:
    """Describe clusters by the columns of a table, and by documents.

    Parameters
    ----------
    rows : Labelled
    table : data frame, Table, array or sparse array, or None
        As many rows; with None nothing is said of columns.
    names : sequence of str or None
        Of the columns that are described, or what the columns of an array are called.
    documents : sequence of str or None
    asked : Asked
    """
    texts = None if documents is None else checked_documents(documents, len(rows.labels))
    there = np.flatnonzero(rows.labels >= 0)
    notes: list[str] = []
    columns = _columns(table, names, rows.labels, notes)
    looked_at = _some(there, len(columns), notes)
    own, some = rows.labels[looked_at], [column[looked_at] for column in columns]
    K = rows.n_clusters
    found = contrasts(some, own, K, asked.confidence)
    found_rules = rules([_asked_for(some, of) for of in found], own, K, asked.confidence)
    said: list[tuple[Word, ...]] = [()] * K
    if texts is not None and len(there):
        own_texts = [texts[i] for i in there]
        said = words(own_texts, rows.labels[there], K, asked.n_words, asked.confidence)
    medoids = typical_rows(rows.points, rows.labels, K, asked.n_typical, rows.metric)
    sizes = np.bincount(rows.labels[there], minlength=K)
    margins = np.bincount(rows.labels[there], rows.margins[there], K)
    clusters = []
    for k in range(K):
        most = tuple(found[k][: asked.n_columns])
        shown = columns if len(columns) <= _VALUES else _asked_for(columns, most)
        clusters.append(
            ClusterDescription(
                cluster=k if rows.numbers is None else int(rows.numbers[k]),
                size=int(sizes[k]),
                share=float(sizes[k] / max(1, len(there))),
                margin=float(margins[k] / sizes[k]) if sizes[k] else float("nan"),
                typical=tuple(_typical(int(i), shown, rows.margins, texts) for i in medoids[k]),
                contrasts=most,
                rule=found_rules[k],
                words=said[k],
            )
        )
    n = len(rows.labels)
    return Description(n, n - len(there), asked.confidence, tuple(clusters), tuple(notes))


def checked_documents(documents: Any, n_rows: int) -> list[str]:
    """One text for each row; a missing one is empty."""
    given: list[Any] = [documents] if isinstance(documents, (str, bytes)) else list(documents)
    if len(given) != n_rows or isinstance(documents, (str, bytes)):
        raise ValueError(
            f"documents must hold one text for each of the {n_rows} rows. Got "
            f"{'one text' if isinstance(documents, (str, bytes)) else len(given)}; pass both for "
            "the same rows."
        )
    for place, text in enumerate(given):
        is_missing = text is None or text != text or type(text).__name__ == "NAType"
        if is_missing:
            given[place] = ""
        elif not isinstance(text, str):
            raise ValueError(
                f"documents must be texts. Got {type(text).__name__} in row {place}; use str()."
            )
    return [str(text) for text in given]


def _columns(
    table: Any, names: Sequence[str] | None, labels: Indices, notes: list[str]
) -> list[Column]:
    found = [] if table is None else columns_of(table, names, labels)
    for column in found:
        if len(column) != len(labels):
            raise ValueError(
                f"columns must have one row for each of the {len(labels)} rows of X. Got "
                f"{len(column)}; pass both for the same rows."
            )
    for column in found:
        if column.tells_rows_apart:
            n = len(column.categories)
            notes.append(f"{column.name!r} has {n} different values, and was left out.")
    if hasattr(table, "shape") and len(found) < table.shape[1] and names is None:
        notes.append(f"{len(found)} of {table.shape[1]} columns were looked at.")
    return [column for column in found if not column.tells_rows_apart]


def _some(there: Indices, n_columns: int, notes: list[str]) -> Indices:
    """The rows whose columns are looked at: all, or some of very many."""
    most = max(_LEAST_ROWS, _ENTRIES // max(1, n_columns))
    if len(there) <= most:
        return there
    notes.append(f"Contrasts and rules are those of {most} rows drawn at random.")
    return np.sort(np.random.default_rng(0).choice(there, most, replace=False))


def _asked_for(columns: Sequence[Column], found: Sequence[Contrast]) -> list[Column]:
    """All columns, or of many those that distinguish a cluster most."""
    if len(columns) <= _FOR_RULES:
        return list(columns)
    by_name = {column.name: column for column in columns}
    names = list(dict.fromkeys(contrast.column for contrast in found))
    return [by_name[name] for name in names[:_FOR_RULES]]


def _typical(
    row: int, columns: Sequence[Column], margins: ArrayLike, texts: list[str] | None
) -> TypicalRow:
    values = {column.name: column.plain(column.values[row]) for column in columns}
    text = None if texts is None else texts[row]
    return TypicalRow(row, values, float(np.asarray(margins)[row]), text)


# Descriptions for terminals. What users wrote moves no cursor and breaks no line.

TABLE_COLUMNS = (
    "cluster",
    "size",
    "share",
    "margin",
    "distinguished_by",
    "rule",
    "precision",
    "coverage",
    "words",
    "typical_rows",
)
_LINE = 100
_LABEL = 12  # width of what stands before a line
_PRINTED_VALUES = 6  # columns of a typical row that are shown
_TEXT = 60  # letters of a value, a name or a document


def description_text(description: Description) -> str:
    """All clusters, one after the other."""
    n, without = description.n_rows, description.n_unlabelled
    title = f"{len(description.clusters)} clusters of {n} rows"
    title += f"; {without} rows are in none" if without else ""
    blocks = [title, *(cluster_text(cluster) for cluster in description.clusters)]
    notes = [f"Intervals hold with {description.confidence:.0%} confidence, given the clusters."]
    notes += [short(note, 2 * _LINE) for note in description.notes]
    return "\n\n".join([*blocks, "\n".join(notes)])


def cluster_text(found: ClusterDescription) -> str:
    """One cluster: its size, and a line for each thing that is known of it."""
    lines = [f"Cluster {found.cluster}: {found.size} rows"]
    if found.size:
        lines[0] += f" ({found.share:.1%}), mean margin {found.margin:.2f}"
    return "\n".join([*lines, *cluster_lines(found)])


def cluster_lines(found: Any) -> list[str]:
    """A line for each thing that is known of a cluster: what has contrasts, a rule and so on."""
    lines = [_line(contrast.how, contrast_text(contrast)) for contrast in found.contrasts]
    if found.rule is not None:
        lines.append(_line("rule", rule_text(found.rule)))
    if found.words:
        lines.append(_line("words", ", ".join(short(word.word) for word in found.words)))
    lines += [_line("typical", typical_text(row)) for row in found.typical]
    return lines


def table_row(found: ClusterDescription) -> dict[str, Any]:
    """One cluster as a row of a table: ``TABLE_COLUMNS``."""
    rule = found.rule
    conditions = [] if rule is None else [_condition(condition) for condition in rule.conditions]
    values = (
        found.cluster,
        found.size,
        found.share,
        found.margin,
        "; ".join(contrast_text(contrast) for contrast in found.contrasts),
        " and ".join(conditions),
        float("nan") if rule is None else rule.precision,
        float("nan") if rule is None else rule.coverage,
        ", ".join(short(word.word) for word in found.words),
        tuple(row.row for row in found.typical),
    )
    return dict(zip(TABLE_COLUMNS, values, strict=True))


def number_text(value: Any) -> str:
    """A number as people write it, or a text."""
    if value is None:
        return "missing"
    if isinstance(value, str):
        return short(value)
    return f"{value:.0f}" if 1e4 <= abs(value) < 1e15 else f"{value:.4g}"


def short(text: str, longest: int = _TEXT) -> str:
    """On one line, and not too long."""
    shown = printable(text)
    return shown if len(shown) <= longest else f"{shown[: longest - 3]}..."


def _line(label: str, text: str) -> str:
    return fill(
        f"  {label:<{_LABEL}}  {text}",
        _LINE,
        subsequent_indent=" " * (_LABEL + 4),
        break_long_words=False,
        break_on_hyphens=False,
    )


def contrast_text(found: Contrast) -> str:
    """What distinguishes a cluster, with numbers."""
    if isinstance(found, CategoryContrast):
        return (
            f"{short(found.column)} is {short(found.category)}: {found.share:.1%} of its rows "
            f"({_range(found.share_interval, '.1%')}), {found.overall:.1%} of all; lift "
            f"{found.lift:.3g} ({_range(found.lift_interval, '.3g')})"
        )
    return _number_contrast(found)


def _number_contrast(found: NumberContrast) -> str:
    low, middle, high = (number_text(value) for value in found.inside)
    overall = number_text(found.overall[1])
    return (
        f"{short(found.column)}: median {middle} ({low} to {high}), {overall} overall; effect "
        f"{found.effect:+.2f} ({_range(found.interval, '+.2f')})"
    )


def _range(interval: tuple[float, float], form: str) -> str:
    return f"{interval[0]:{form}} to {interval[1]:{form}}"


def rule_text(rule: Rule) -> str:
    """A rule and how well it does."""
    conditions = " and ".join(_condition(condition) for condition in rule.conditions)
    where = f"{rule.n_rows} rows it was not made from"
    if not rule.held_out:
        where = f"the {rule.n_rows} rows it was made from"
    return (
        f"{conditions}: precision {rule.precision:.1%} "
        f"({_range(rule.precision_interval, '.1%')}), coverage {rule.coverage:.1%} "
        f"({_range(rule.coverage_interval, '.1%')}), on {where}"
    )


def _condition(condition: Condition) -> str:
    value = condition.value if isinstance(condition.value, str) else f"{condition.value:.10g}"
    return f"{short(condition.column)} {condition.relation} {short(value)}"


def typical_text(found: TypicalRow) -> str:
    """A typical row, or its document."""
    if found.document is not None:
        return f"row {found.row}: {short(found.document)}"
    values = list(found.values.items())
    text = ", ".join(
        f"{short(name)} {number_text(value)}" for name, value in values[:_PRINTED_VALUES]
    )
    more = f", and {len(values) - _PRINTED_VALUES} more" if len(values) > _PRINTED_VALUES else ""
    return f"row {found.row}: {text}{more}"
