"""Text from files in JSON and in spreadsheets: it moves no cursor, and runs nothing."""

from __future__ import annotations

import json
import re
from typing import Any


def as_json(result: Any) -> str:
    """One line of JSON in readable letters, which means the same and moves no cursor."""
    text = json.dumps(result, ensure_ascii=False)
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)


def spreadsheet_safe(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula: an apostrophe before what may be one.

    Examples
    --------
    >>> spreadsheet_safe("=1+1"), spreadsheet_safe("-12.5"), spreadsheet_safe("Rome")
    ("'=1+1", '-12.5', 'Rome')
    """
    is_formula = re.match(r"\s*[=+\-@|%\uff1d\uff0b\uff0d\uff20]|[\t\r\n]", cell)
    return f"'{cell}" if is_formula and not re.fullmatch(r"[-+]?[\d.]+", cell) else cell
