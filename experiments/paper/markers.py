"""Generated parts of a hand-written page, each between a marker of its name and an end."""

from __future__ import annotations

from collections.abc import Mapping

END = "<!-- end -->"


def marker(name: str) -> str:
    return f"<!-- table: {name} -->"


def fill(text: str, tables: Mapping[str, str]) -> str:
    """The text with every table between its markers made anew.

    Examples
    --------
    >>> fill("Measured: <!-- table: a -->old<!-- end -->.", {"a": "new"})
    'Measured: <!-- table: a -->\\nnew\\n<!-- end -->.'
    """
    for name, table in tables.items():
        before, found, rest = text.partition(marker(name))
        _, ended, after = rest.partition(END)
        if not (found and ended):
            raise ValueError(
                f"The page must hold the marker {marker(name)} and, after it, {END}. Got neither "
                "or one; put them back, or remove the page to have a plain one written."
            )
        text = f"{before}{marker(name)}\n{table}\n{END}{after}"
    return text
