"""Base classes of results: ``to_dict`` for JSON, and HTML tables for notebooks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import fields, is_dataclass
from html import escape
from typing import Any

import numpy as np


def json_ready(value: Any) -> Any:
    """Turn dataclasses into dicts, arrays into lists, and NaN and infinity into None."""
    if is_dataclass(value) and not isinstance(value, type):
        parts = {field.name: getattr(value, field.name) for field in fields(value)}
        return {
            name: part.to_dict() if hasattr(part, "to_dict") else json_ready(part)
            for name, part in parts.items()
        }
    if isinstance(value, dict):
        return {str(key): json_ready(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return json_ready(value.tolist())
    if isinstance(value, (list, tuple)):
        return [json_ready(item) for item in value]
    if isinstance(value, np.generic):
        return json_ready(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


class JsonReady:
    """A base class that gives dataclasses the method ``to_dict``."""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields, and the property ``sentence`` if there is one, ready for JSON."""
        sentence = getattr(self, "sentence", None)
        return json_ready(self) | ({} if sentence is None else {"sentence": sentence})


HtmlTable = tuple[str, Sequence[str], Iterable[Sequence[Any]]]  # caption, header, rows of cells


def html_table(caption: str, head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return an HTML table with escaped texts; the first cell of each row is its header."""

    def line(cells: Sequence[Any], tag: str) -> str:
        tags = ["th", *[tag] * (len(cells) - 1)]
        each = zip(tags, cells, strict=True)
        made = (f"<{t} style='text-align:left'>{escape(str(cell))}</{t}>" for t, cell in each)
        return f"<tr>{''.join(made)}</tr>"

    shown = f"<caption style='text-align:left'>{escape(caption)}</caption>" if caption else ""
    shown += f"<thead>{line(head, 'th')}</thead>" if head else ""
    body = "".join(line(cells, "td") for cells in rows)
    return f"<table class='eigencut'>{shown}<tbody>{body}</tbody></table>"


class Printed:
    """A base class of results: consoles show ``str(self)``, notebooks show ``_html_tables``."""

    def _html_tables(self) -> Iterable[HtmlTable]:
        return ()

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        tables = [html_table(*table) for table in self._html_tables()]
        return "\n".join(tables or [f"<pre>{escape(str(self))}</pre>"])
