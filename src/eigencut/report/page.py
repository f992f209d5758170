"""One page that needs nothing else: no network, no other file.

The browser is told so too: its policy allows no request, and no script but the one whose digest is
named, so that text of users could not run even if it were not escaped.
"""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from typing import Any

from eigencut.plotting.sampling import spaced
from eigencut.report import panels
from eigencut.report.cards import cards_section
from eigencut.report.html import Html, clipped, element, lines_of, unbroken, user_text
from eigencut.report.summary import ModelSummary

_TORN = (
    "Torn rows are all whose margin is below 0.1. Those that are called unsure above are the torn "
    "ones inside what the model knows; the others lie outside, and are counted there."
)


def page(summary: ModelSummary) -> str:
    """The summary as HTML."""
    script, style = (_file(name) for name in ("page.js", "page.css"))
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("link", rel="icon", href="data:,"),
        element("title", clipped(summary.title)),
        element("style", Html(style)),
    )
    tip = element("div", id="tip", role="status", aria_live="polite", hidden=True)
    body = element("body", _banner(summary), _main(summary), _footer(summary), tip, _script(script))
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


def _file(name: str) -> str:
    return files("eigencut.report").joinpath(name).read_text(encoding="utf-8")


def _script(script: str) -> Html:
    return element("script", Html(script))


def _banner(summary: ModelSummary) -> Html:
    links = (
        ("summary", "Summary"),
        ("clusters", "Clusters"),
        ("profiles", "Profiles"),
        ("trust", "Trust"),
        ("details", "Details"),
    )
    has_cards = cards_section(summary) is not None
    shown = [link for link in links if link[0] != "profiles" or has_cards]
    anchors = [element("a", text, href=f"#{place}") for place, text in shown]
    toggle = element(
        "button", "Dark", type="button", id="theme", hidden=True
    )  # the script names it
    return element(
        "header",
        element("a", "To the content", href="#content", class_="skip"),
        element("nav", *anchors, aria_label="Parts of the report"),
        toggle,
        class_="banner",
    )


def _main(summary: ModelSummary) -> Html:
    return element(
        "main",
        _summary_section(summary),
        _section(
            "clusters",
            "The clusters",
            panels.picture_panel(summary),
            panels.sizes_panel(summary),
            panels.effects_panel(summary),
        ),
        cards_section(summary),
        _section(
            "trust",
            "How far to trust it",
            element(
                "div",
                panels.support_panel(summary),
                panels.doubt_panel(summary),
                panels.cuts_panel(summary),
                panels.spectrum_panel(summary),
                class_="pairs",
            ),
            panels.choice_panel(summary),
            _risk(summary),
        ),
        _details(summary),
        id="content",
    )


def _section(identity: str, title: str, *content: Html | None) -> Html:
    heading = element("h2", title, id=identity)
    return element("section", heading, *content, aria_labelledby=identity)


def _summary_section(summary: ModelSummary) -> Html:
    first, *others = summary.sentences
    fitted = f"A model fitted on {spaced(summary.n_fitted)} rows"
    if summary.n_new:
        fitted += f", asked about {spaced(summary.n_new)} new ones"
    return element(
        "section",
        element("p", fitted, class_="over"),
        element("h1", user_text(summary.title), id="summary"),
        element("p", unbroken(first), class_="lead"),
        element("ul", *(element("li", unbroken(sentence)) for sentence in others), class_="said"),
        class_="summary",
        aria_labelledby="summary",
    )


def _risk(summary: ModelSummary) -> Html | None:
    """The whole assessment, for those who want the theorems."""
    if summary.risk is None:
        return None
    return element(
        "details",
        element("summary", "The assessment in full: errors, excess risk and bounds"),
        element("p", _TORN, class_="reading") if summary.unsure is not None else None,
        element("pre", lines_of(str(summary.risk)), tabindex="0"),
        class_="panel",
    )


def _details(summary: ModelSummary) -> Html:
    settings = [[name, _setting(value)] for name, value in summary.settings.items()]
    parts = [
        _messages("warnings", "Warnings raised at the fit", summary.warnings),
        _messages("notes", "What was left out or looked at in part", summary.notes),
        panels.panel("settings", "Settings", panels.table(["setting", "value"], settings, "")),
    ]
    return _section("details", "Details", *parts)


def _messages(identity: str, title: str, texts: tuple[str, ...]) -> Html | None:
    if not texts:
        return None
    items = [element("li", clipped(text, 800)) for text in texts]
    return panels.panel(identity, title, element("ul", *items))


def _setting(value: Any) -> Html:
    shown = value
    if isinstance(value, list):
        shown = ", ".join(clipped(str(item), 60) for item in value[:60])
        shown += f" and {len(value) - 60} more" if len(value) > 60 else ""
        return element("bdi", shown)
    return element("code", clipped(str(shown), 300))


def _footer(summary: ModelSummary) -> Html:
    versions = ", ".join(f"{name} {number}" for name, number in summary.versions.items())
    return element("footer", f"Made with {versions}.")
