"""The page: tables made of ``paper.json``, between markers in hand-written text."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from experiments.paper import convergence, markers, rates, tables, timing, toys
from experiments.paper.published import CUT_TITLES, METRICS

REPORT = Path(__file__).resolve().parent / "report"
SITE = REPORT.parents[2] / "docs" / "paper.md"


def all_tables(numbers: Mapping[str, Any]) -> dict[str, str]:
    """Every table of the page, by its name."""
    return {
        "headline": tables.headline(numbers),
        "verdicts": tables.verdict_table(numbers),
        "claims": tables.claim_table(numbers),
        "settings": settings_text(numbers),
        "counts": tables.count_table(numbers),
        "choice": tables.choice_table(numbers),
        "transfer": tables.transfer_table(numbers),
        **{f"results {metric}": tables.main_table(numbers, metric) for metric in METRICS},
        "below": tables.below_table(numbers),
        "extensions": tables.extension_table(numbers),
        "figure 1": toys.table(numbers),
        "convergence": convergence.table(numbers),
        "rates": rates.table(numbers),
        "timing": timing.table(numbers),
        **{f"everything {m}": tables.everything_table(numbers, m) for m in ("kmeans", *CUT_TITLES)},
    }


def settings_text(numbers: Mapping[str, Any]) -> str:
    settings, versions = numbers["settings"], numbers["versions"]
    used = ", ".join(f"{name} {version}" for name, version in versions.items())
    kind = " This is a quick run: few splits, small populations." if settings["quick"] else ""
    return (
        f"{settings['splits']} splits of each set, seeds {settings['split_seeds'][0]} to "
        f"{settings['split_seeds'][-1]}; {settings['seconds']} s in {settings['processes']} "
        f"processes, {settings['cpu_seconds']} s of processor time; {used}.{kind}"
    )


def fill(text: str, numbers: Mapping[str, Any]) -> str:
    """The text with every table between its markers made anew."""
    return markers.fill(text, all_tables(numbers))


def fill_site(text: str, numbers: Mapping[str, Any]) -> str:
    """The page of the site, which shows the verdicts only."""
    made = all_tables(numbers)
    return markers.fill(text, {name: made[name] for name in ("headline", "verdicts")})


def plain(numbers: Mapping[str, Any]) -> str:
    """A page without prose, to be filled."""
    names = all_tables(numbers)
    headings = [f"## {name}\n\n{markers.marker(name)}\n{markers.END}\n" for name in names]
    return "# The paper's experiments\n\n" + "\n".join(headings)


def write(numbers: Mapping[str, Any], folder: Path) -> None:
    """``paper.md`` (whose prose stays, if it is there) and the figures; the site's verdicts."""
    page = folder / "paper.md"
    text = page.read_text(encoding="utf-8") if page.exists() else plain(numbers)
    page.write_text(fill(text, numbers), encoding="utf-8")
    for part in (toys, convergence, rates, timing):
        part.draw(numbers, folder / "images" / "paper")
    if folder.resolve() == REPORT:
        SITE.write_text(fill_site(SITE.read_text(encoding="utf-8"), numbers), encoding="utf-8")
