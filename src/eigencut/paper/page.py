"""The page: tables made of ``paper.json``, between markers in hand-written text."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from eigencut.paper import convergence, markers, rates, results, timing, toys
from eigencut.paper.published import CUTS, METRICS


def tables(numbers: Mapping[str, Any]) -> dict[str, str]:
    """Every table of the page, by its name."""
    return {
        "settings": settings_text(numbers),
        "configuration": results.configuration_text(numbers),
        "counts": results.count_table(numbers),
        "verdicts": results.verdict_table(numbers),
        **{f"results {metric}": results.main_table(numbers, metric) for metric in METRICS},
        "below": results.below_table(numbers),
        "extensions": results.extension_table(numbers),
        **{f"everything {cut}": results.everything_table(numbers, cut) for cut in CUTS},
        "figure 1": toys.table(numbers),
        "convergence": convergence.table(numbers),
        "rates": rates.table(numbers),
        "timing": timing.table(numbers),
    }


def settings_text(numbers: Mapping[str, Any]) -> str:
    settings, versions = numbers["settings"], numbers["versions"]
    used = ", ".join(f"{name} {version}" for name, version in versions.items())
    kind = " This is a quick run: few splits, small populations." if settings["quick"] else ""
    return (
        f"{settings['splits']} splits of each set, seeds 0 to {settings['splits'] - 1}; "
        f"{settings['seconds']:.0f} s in {settings['processes']} processes; {used}.{kind}"
    )


def fill(text: str, numbers: Mapping[str, Any]) -> str:
    """The text with every table between its markers made anew."""
    return markers.fill(text, tables(numbers))


def plain(numbers: Mapping[str, Any]) -> str:
    """A page without prose, to be filled."""
    headings = [f"## {name}\n\n{markers.marker(name)}\n{markers.END}\n" for name in tables(numbers)]
    return "# The paper's experiments\n\n" + "\n".join(headings)


def write(numbers: Mapping[str, Any], folder: Path) -> None:
    """``paper.md`` (whose prose stays, if it is there) and the figures."""
    page = folder / "paper.md"
    text = page.read_text(encoding="utf-8") if page.exists() else plain(numbers)
    page.write_text(fill(text, numbers), encoding="utf-8")
    for part in (toys, convergence, rates, timing):
        part.draw(numbers, folder / "images" / "paper")
