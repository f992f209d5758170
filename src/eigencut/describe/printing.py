"""Descriptions for terminals. What users wrote moves no cursor and breaks no line."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING, Any

from eigencut.describe.contrasts import CategoryContrast, Contrast, NumberContrast
from eigencut.runtime.printable import printable

if TYPE_CHECKING:
    from eigencut.describe.description import ClusterDescription, Description, TypicalRow
    from eigencut.describe.rules import Condition, Rule

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
_VALUES = 6  # columns of a typical row that are shown
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
    text = ", ".join(f"{short(name)} {number_text(value)}" for name, value in values[:_VALUES])
    more = f", and {len(values) - _VALUES} more" if len(values) > _VALUES else ""
    return f"row {found.row}: {text}{more}"
