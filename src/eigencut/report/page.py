"""One page that needs nothing else, from templates: no network, no other file.

Autoescape is on in every template, so that text of users is text. The browser is told so too: the
policy of the page allows no request, and no script but the one whose digest it names.
"""

from __future__ import annotations

import base64
import hashlib
from typing import Any

from eigencut._utils.validation import needed
from eigencut.inspection.describe import value_in_words
from eigencut.plotting.style import cluster_style, spaced
from eigencut.report.drawings import outline, scatter, short, similarity_plot, spectrum_plot
from eigencut.report.sentences import clipped, counted, percent, unbroken, visible
from eigencut.report.summary import ModelSummary


def page(summary: ModelSummary) -> str:
    """The summary as HTML."""
    templates = environment()
    script = templates.get_template("page.js").render()
    clusters, picture = {one.cluster: one for one in summary.clusters}, summary.picture
    names = {number: one.name for number, one in clusters.items()}
    has_cards = any(
        one.contrasts or one.rule or one.words or one.typical for one in summary.clusters
    )
    text = templates.get_template("page.html.j2").render(
        summary=summary,
        clusters=clusters,
        has_cards=has_cards,
        effects=_effects(summary),
        picture=scatter(picture, names) if picture is not None and picture.x else None,
        similarity=similarity_plot(summary.support),
        spectrum=spectrum_plot(summary.spectrum),
        digest=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )
    return str(text)


def environment() -> Any:
    """What renders the templates: all text is escaped, and what controls is shown as an escape."""
    jinja2 = needed("jinja2", "report")
    templates = jinja2.Environment(
        loader=jinja2.PackageLoader("eigencut.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        # What has __html__ came out of a template.
        finalize=lambda value: (
            visible(value) if isinstance(value, str) and not hasattr(value, "__html__") else value
        ),
    )
    templates.filters |= {
        "clip": clipped,
        "counted": counted,
        "outline": outline,
        "percent": percent,
        "short": short,
        "spaced": spaced,
        "style": cluster_style,
        "unbroken": unbroken,
        "value": _value,
    }
    return templates


def _effects(summary: ModelSummary) -> list[tuple[tuple[str, str], dict[int, float]]]:
    """The effects of columns, or of their categories, in the first clusters; strongest first."""
    effects: dict[tuple[str, str], dict[int, float]] = {}
    for cluster in summary.clusters[:30]:
        for contrast in cluster.contrasts:
            row = (contrast.column, getattr(contrast, "category", ""))
            effects.setdefault(row, {})[cluster.cluster] = contrast.effect
    return sorted(effects.items(), key=lambda row: -max(map(abs, row[1].values())))


def _value(value: Any) -> str:
    """A number as people write it, or a text."""
    return clipped(value, 60) if isinstance(value, str) else value_in_words(value)
