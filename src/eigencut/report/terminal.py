"""Summaries for terminals. What users wrote moves no cursor and breaks no line."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING, Any

from eigencut.inspection.describe import cluster_lines, short

if TYPE_CHECKING:
    from eigencut.report.summary import ModelSummary

_LINE = 100
_BAR = 24  # letters of the longest bar
_CLUSTERS = 30  # that are shown in full
_PAIRS = 8


def summary_text(summary: ModelSummary) -> str:
    """The sentences, and a block for each thing that there is to see."""
    blocks = [
        [short(summary.title, _LINE), *(_item(sentence) for sentence in summary.sentences)],
        ["Clusters", *_bars(summary)],
        *(
            [short(cluster.name), *cluster_lines(cluster)]
            for cluster in summary.clusters[:_CLUSTERS]
            if cluster.contrasts
        ),
        _pairs(summary),
        _choice(summary),
        ["Settings", *(_entry(name, value) for name, value in summary.settings.items())],
        _listed("Warnings raised at the fit", summary.warnings),
        _listed("Notes", summary.notes),
        [", ".join(f"{name} {version}" for name, version in summary.versions.items())],
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block)


def _bars(summary: ModelSummary) -> list[str]:
    most = max((cluster.size for cluster in summary.clusters), default=0) or 1
    lines = [f"{'':26}{'rows':>10} {'share':>7} {'margin':>7} {'unsure':>7} {'stays':>7}"]
    for one in summary.clusters[:_CLUSTERS]:
        bar = "█" * max(1, round(_BAR * one.size / most)) if one.size else ""
        margin = "-" if one.margin is None else f"{one.margin:.2f}"
        numbers = (_share(one.share), margin, _share(one.unsure), _share(one.stability))
        cells = " ".join(f"{cell:>7}" for cell in numbers)
        lines.append(f"  {short(one.name, 22):<24}{one.size:>10.0f} {cells}  {bar}")
    if len(summary.clusters) > _CLUSTERS:
        lines.append(f"  and {len(summary.clusters) - _CLUSTERS} more")
    return lines


def _pairs(summary: ModelSummary) -> list[str]:
    if not summary.pairs:
        return []
    names = {cluster.cluster: short(cluster.name, 22) for cluster in summary.clusters}
    lines = [
        f"  {names[pair.first]} and {names[pair.second]}: {pair.n_unsure} of {pair.n_rows} rows, "
        f"{pair.share:.1%}"
        for pair in summary.pairs[:_PAIRS]
    ]
    return ["Unsure rows between two clusters", *lines]


def _choice(summary: ModelSummary) -> list[str]:
    lines = [_entry("taken", summary.choice.graph)]
    lines += [f"  {one.score:>8.2f}  {short(one.affinity, 88)}" for one in summary.choice.compared]
    values = ", ".join(f"{value:.3g}" for value in summary.spectrum.values[:12])
    return ["Graph", *lines, _entry("eigenvalues", values)]


def _listed(title: str, texts: tuple[str, ...]) -> list[str]:
    return [title, *map(_item, texts)] if texts else []


def _item(text: str) -> str:
    return fill(short(text, 8 * _LINE), _LINE, initial_indent="  - ", subsequent_indent="    ")


def _entry(name: str, value: Any) -> str:
    text = short(f"{name:<18} {value}", 3 * _LINE)
    return fill(text, _LINE, initial_indent="  ", subsequent_indent=" " * 21)


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.1%}"
