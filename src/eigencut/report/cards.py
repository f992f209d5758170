"""A card for each cluster: what distinguishes it, a rule, words and typical rows."""

from __future__ import annotations

from typing import Any

from eigencut.inspection.contrasts import CategoryContrast, Contrast
from eigencut.inspection.rules import Condition, Rule
from eigencut.plotting.sampling import spaced
from eigencut.report.drawings import swatch
from eigencut.report.html import Html, clipped, element, user_text
from eigencut.report.panels import chart
from eigencut.report.sentences import percent
from eigencut.report.summary import ClusterSummary, ModelSummary

_CARDS = 60  # clusters that have one
_VALUES = 8  # columns of a typical row
_TEXT = 60
_USEFUL = 0.5  # precision from which a rule is shown


def cards_section(summary: ModelSummary) -> Html | None:
    """All cards, and what is not shown."""
    if not any(one.contrasts or one.rule or one.words or one.typical for one in summary.clusters):
        return None
    shown = summary.clusters[:_CARDS]
    left_out = len(summary.clusters) - len(shown)
    note = None
    if left_out:
        note = element("p", f"{left_out} smaller clusters have no card.", class_="reading")
    cards = element("div", *(_card(cluster) for cluster in shown), class_="cards")
    return element(
        "section",
        element("h2", "What each cluster is", id="profiles"),
        cards,
        note,
        aria_labelledby="profiles",
    )


def _card(cluster: ClusterSummary) -> Html:
    heading = f"card-{cluster.cluster}"
    size = f"{spaced(cluster.size)} rows, {percent(cluster.share)}"
    name = clipped(cluster.name, 60)
    contrasts = [_contrast(contrast) for contrast in cluster.contrasts]
    return element(
        "article",
        element("h3", swatch(cluster.cluster), element("bdi", name), id=heading),
        element("p", size, class_="size"),
        _rule(cluster.rule),
        chart(f"What distinguishes {name}", *contrasts, kind="contrasts") if contrasts else None,
        _words(cluster),
        _typical(cluster),
        class_="panel card",
        aria_labelledby=heading,
    )


def _rule(rule: Rule | None) -> Html | None:
    if rule is None or not rule.conditions:
        return None
    if rule.precision < _USEFUL:
        said = "No rule of three conditions tells its rows from others."
        return element("p", element("span", said, class_="reading"), class_="ruled")
    conditions: list[Any] = []
    for condition in rule.conditions:
        conditions += [" and " if conditions else "", _condition(condition)]
    where = "rows it was not made from" if rule.held_out else "the rows it was made from"
    measured = (
        f"precision {percent(rule.precision)}, coverage {percent(rule.coverage)}, on "
        f"{spaced(rule.n_rows)} {where}"
    )
    return element(
        "p",
        element("span", "Rule", class_="kind"),
        element("span", *conditions, class_="rule"),
        element("span", measured, class_="reading"),
        class_="ruled",
    )


def _condition(condition: Condition) -> Html:
    value = condition.value if isinstance(condition.value, str) else f"{condition.value:.10g}"
    relation = {"<=": "≤"}.get(condition.relation, condition.relation)
    return element(
        "span", user_text(condition.column, _TEXT), f" {relation} ", user_text(value, _TEXT)
    )


def _contrast(found: Contrast) -> Html:
    """A line from -1 to 1, with the effect and its interval."""
    low, high = found.interval
    label: list[Any] = [user_text(found.column, _TEXT)]
    if isinstance(found, CategoryContrast):
        label += [" is ", user_text(found.category, _TEXT)]
        said = f"{percent(found.share)}, overall {percent(found.overall)}"
    else:
        said = f"median {_value(found.inside[1])}, overall {_value(found.overall[1])}"
    tip = f"{clipped(found.column, _TEXT)}: effect {found.effect:+.2f} ({low:+.2f} to {high:+.2f})"
    side = "high" if found.effect > 0 else "low"
    place = f"--at:{50 + 50 * found.effect:.1f}%"
    reach = f"--from:{50 + 50 * low:.1f}%;--to:{50 - 50 * high:.1f}%"
    return element(
        "div",
        element("span", label, class_="what"),
        element("span", f"{found.how}: {said}", class_="reading"),
        element(
            "span",
            element("span", class_="whisker", style=reach),
            element("span", class_=f"mark dot {side}", style=place, data_tip=f"{tip}; {found.how}"),
            class_="track centred",
        ),
        class_="contrast",
    )


def _words(cluster: ClusterSummary) -> Html | None:
    if not cluster.words:
        return None
    words = [element("li", user_text(word.word, 40)) for word in cluster.words]
    return element(
        "div", element("span", "Words", class_="kind"), element("ul", *words, class_="words")
    )


def _typical(cluster: ClusterSummary) -> Html | None:
    if not cluster.typical:
        return None
    rows = []
    for row in cluster.typical:
        if row.document is not None:
            content: Html = user_text(row.document, 240)
        else:
            pairs = list(row.values.items())[:_VALUES]
            content = element(
                "span",
                [
                    element("span", user_text(name, 30), " ", element("b", _value(value)), " ")
                    for name, value in pairs
                ],
                class_="values",
            )
        rows.append(element("li", element("span", f"row {row.row}", class_="place"), content))
    return element(
        "details", element("summary", "Typical rows"), element("ul", *rows, class_="typical")
    )


def _value(value: Any) -> str:
    """A number as people write it, or a text."""
    if value is None:
        return "missing"
    if isinstance(value, str):
        return clipped(value, _TEXT)
    return f"{value:.0f}" if 1e4 <= abs(value) < 1e15 else f"{value:.4g}"
