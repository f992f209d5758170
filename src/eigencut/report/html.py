"""Elements of a page. Whatever is not an element itself is text, and escaped: there is no other way
to write a tag."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from html import escape
from typing import Any

_VOID = ("meta", "link", "br", "col", "circle", "rect", "line", "path", "use")
# Marks of writing direction that reach beyond the text they stand in.
_DIRECTIONS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_LONGEST = 120  # letters of a text of users


class Html(str):
    """Text that is HTML already."""


def element(name: str, /, *children: Any, **attributes: Any) -> Html:
    """An element with children, which are elements or text, and attributes.

    An attribute that is a word of Python ends in ``_``, other ``_`` are ``-``; None leaves it out,
    True gives it no value.

    Examples
    --------
    >>> element("p", "a < b", element("br"), class_="wide", data_tip='"x"', id=None, hidden=True)
    '<p class="wide" data-tip="&quot;x&quot;" hidden>a &lt; b<br/></p>'
    """
    given = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in _VOID:
        return Html(f"<{name}{given}/>")  # the slash is for those of drawings
    return Html(f"<{name}{given}>{joined(children)}</{name}>")


def joined(children: Iterable[Any]) -> Html:
    """Children one after the other; None is nothing, and what is no element is text."""
    return Html("".join(_child(child) for child in children))


def visible(text: str) -> str:
    """Text without characters that control: they are shown as escapes.

    Letters of any script, emoji and what joins them stay as they are.

    Examples
    --------
    >>> print(visible("two\\nlines, back \\u202e"))
    two\\nlines, back \\u202e
    """
    if text.isprintable():
        return text
    return "".join(_escaped(c) if _controls(c) else c for c in text)


def clipped(text: str, longest: int = _LONGEST) -> str:
    """A text of users, visible and not too long.

    Examples
    --------
    >>> clipped("x" * 10, longest=5)
    'xxxx…'
    """
    shown = visible(text[: longest + 1])
    return shown if len(text) <= longest else f"{shown[: longest - 1]}…"


def user_text(text: str, longest: int = _LONGEST) -> Html:
    """A text of users as an element of its own, whose direction stays inside."""
    return element("bdi", clipped(text, longest))


def lines_of(text: str) -> Html:
    """A text of several lines, for a place that keeps them; other controls are shown as escapes.

    Examples
    --------
    >>> print(lines_of("a < b\\n  c\\x1b"))
    a &lt; b
      c\\x1b
    """
    return Html("\n".join(escape(visible(line)) for line in text.split("\n")))


def unbroken(text: str) -> str:
    """Text whose numbers stay on one line with what they count."""
    return re.sub(r"(?<=\d) (?=\d|%)", "\N{NO-BREAK SPACE}", text)


def _attribute(key: str, value: Any) -> str:
    if value is None or value is False:
        return ""
    name = key.removesuffix("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{escape(visible(str(value)))}"'


def _child(child: Any) -> str:
    if child is None:
        return ""
    if isinstance(child, Html):
        return str.__str__(child)
    if isinstance(child, (list, tuple)):
        return joined(child)
    return escape(visible(str(child)))


def _controls(character: str) -> bool:
    return character in _DIRECTIONS or unicodedata.category(character) in ("Cc", "Cs")


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
