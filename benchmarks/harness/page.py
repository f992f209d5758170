"""Pages: hand-written text with generated parts between markers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from experiments.paper.markers import fill


def write_text(path: Path, text: str) -> None:
    """Whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


def update_page(page: Path, tables: Mapping[str, str]) -> None:
    """The page with every generated part made anew; its prose stays."""
    write_text(page, fill(page.read_text(encoding="utf-8"), tables))
