"""A summary in plain words, and as a text for terminals."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any

from eigencut.inspection.assessment import RiskSummary
from eigencut.inspection.cut_values import CutValue
from eigencut.inspection.describe import cluster_lines, short
from eigencut.plotting.style import spaced
from eigencut.report.rows import POLICY

if TYPE_CHECKING:
    from eigencut.report.summary import (
        ChoiceSummary,
        ClusterSummary,
        ModelSummary,
        PairDoubt,
        QuickStability,
        SupportSummary,
    )


def percent(share: float) -> str:
    """A share as people say it.

    Examples
    --------
    >>> [percent(share) for share in (0, 0.0004, 0.021, 0.04, 0.456, 0.996, 1)]
    ['0 %', 'below 0.1 %', '2.1 %', '4 %', '46 %', '99.6 %', '100 %']
    """
    points = 100 * share
    if 0 < points < 0.1:
        return "below 0.1 %"
    if 99 <= points < 100:
        return f"{min(points, 99.9):.1f} %"
    return f"{points:.2g} %" if points < 9.95 else f"{points:.0f} %"


def counted(number: float, thing: str = "row") -> str:
    """Return a number of things in words: 1 row, 12 345 rows."""
    return f"{spaced(number)} {thing}" if number == 1 else f"{spaced(number)} {thing}s"


def visible(text: str) -> str:
    """Return text in which characters that control are escapes; all other ones stay."""
    if text.isprintable():
        return text
    # These marks of writing direction reach beyond the text they stand in.
    controls = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
    return "".join(
        c.encode("unicode_escape").decode("ascii")
        if c in controls or unicodedata.category(c) in ("Cc", "Cs")
        else c
        for c in text
    )


def clipped(text: str, longest: int) -> str:
    """Return a text of users, visible and not too long."""
    text = str(text)  # a text that says of itself that it is HTML is none here
    shown = visible(text[: longest + 1])
    return shown if len(text) <= longest else f"{shown[: longest - 1]}…"


def unbroken(text: str) -> str:
    """Text whose numbers stay on one line with what they count."""
    return re.sub(r"(?<=\d) (?=\d|%)", "\N{NO-BREAK SPACE}", text)


def summary_sentences(summary: ModelSummary) -> tuple[str, ...]:
    """The whole summary in plain words, the most important first."""
    names = {cluster.cluster: cluster.name for cluster in summary.clusters}
    n_rows, which = summary.n_rows or summary.n_fitted, "new rows" if summary.n_new else "the rows"
    sentences = (
        _on_clusters(summary.clusters, n_rows, summary.n_unlabelled),
        _on_support(summary.support, summary.n_new),
        _on_shares(summary.clusters, n_rows),
        _on_doubt(summary.pairs, summary.unsure, names, which),
        _on_choice(summary.choice),
        _on_risk(summary.risk),
        _on_stability(summary.stability, names),
        _on_warnings(summary.warnings),
    )
    return tuple(sentence for sentence in sentences if sentence is not None)


def _on_clusters(clusters: Sequence[ClusterSummary], n_rows: float, n_unlabelled: int) -> str:
    """How many clusters there are, and how large."""
    shares = [percent(cluster.share) for cluster in clusters]
    text = f"{counted(len(clusters), 'cluster')} of {counted(n_rows)}"
    if 1 < len(shares) <= 6:
        text += f": {', '.join(shares[:-1])} and {shares[-1]}"
    elif len(shares) > 6:
        ordered = sorted(cluster.share for cluster in clusters)
        text += f", the largest {percent(ordered[-1])} and the smallest {percent(ordered[0])}"
    if n_unlabelled:
        text += f"; {counted(n_unlabelled)} {'is' if n_unlabelled == 1 else 'are'} in none"
    return f"{text}."


def _on_support(support: SupportSummary, n_new: int) -> str | None:
    """How many new rows the model knows nothing of."""
    if support.new_outside is None:
        return None
    share = _capital(percent(support.new_outside))
    text = f"{share} of {counted(n_new, 'new row')} lie outside what the model knows"
    if support.outside is not None:
        text += f" ({percent(support.outside)} of the rows it was fitted on)"
    return f"{text}."


def _on_shares(clusters: Sequence[ClusterSummary], n_rows: float) -> str | None:
    """Whether new rows fall into the clusters as the others did; the largest change is named."""
    m = sum(cluster.n_new or 0 for cluster in clusters)
    if len(clusters) < 2 or m == 0:
        return None
    one = max(clusters, key=lambda cluster: abs((cluster.n_new or 0) / m - cluster.share))
    now = (one.n_new or 0) / m
    pooled = (one.share * n_rows + now * m) / (n_rows + m)
    chance = math.sqrt(max(pooled * (1 - pooled), 0.0) * (1 / n_rows + 1 / m))
    if abs(now - one.share) <= max(POLICY.far_beyond_chance * chance, POLICY.worth_naming):
        return "New rows fall into the clusters in about the same shares as the others."
    return (
        f"New rows fall into the clusters in other shares: {percent(now)} of them are in "
        f"{one.name}, of the others {percent(one.share)}."
    )


def _on_doubt(
    pairs: Sequence[PairDoubt], unsure: float | None, names: dict[int, str], which: str
) -> str | None:
    """Which clusters are hard to tell apart."""
    if unsure is None or len(names) < 2:
        return None
    worst = [pair for pair in pairs if pair.share >= POLICY.worth_naming][:2]
    if not worst:
        return f"The clusters are told apart clearly: {percent(unsure)} of {which} are unsure."
    said = [
        f"the split between {names[pair.first]} and {names[pair.second]} is unsure for "
        f"{percent(pair.share)}"
        for pair in worst
    ]
    text = f"{_capital(' and '.join(said))} of their rows"
    return f"{text}; of all {which}, {percent(unsure)} are unsure."


def _on_choice(choice: ChoiceSummary) -> str:
    """How the number of clusters and the graph came about."""
    number, graph = "was given", "so was the graph"
    if choice.chosen_clusters:
        number = f"was chosen from the data (asked for: {choice.asked_clusters})"
        graph = "the graph was given"
    if len(choice.compared) > 1:
        graph = f"the graph was chosen among {len(choice.compared)} that were compared"
    elif choice.asked_graph in ("auto", "mixed"):
        graph = "the graph is the default"
    return f"The number of clusters {number}; {graph}."


def _on_risk(risk: RiskSummary | None) -> str | None:
    """Whether the clusters hold on new rows."""
    if risk is None or risk.n_clusters < 2 or risk.cut_heldout is None:
        return None
    new, own = risk.cut_heldout, risk.cut_training
    text = f"On new rows the cut costs {_with_error(new)}"
    if own is None or not math.isfinite(own.standard_error + new.standard_error):
        return f"{text}; 0 would be clusters without any weight between them."
    spread = math.hypot(new.standard_error, own.standard_error)
    verdict = "within chance"
    if abs(new.value - own.value) > POLICY.beyond_chance * spread:
        verdict = "more than chance explains"
    return f"{text}, on the rows of the fit {_with_error(own)}: the difference is {verdict}."


def _with_error(found: CutValue) -> str:
    return f"{found.value:.2g} ± {found.standard_error:.1g}"


def _on_stability(stability: QuickStability | None, names: dict[int, str]) -> str | None:
    """Whether the clusters would come out again."""
    if stability is None or len(names) < 2:
        return None
    text = (
        f"{_capital(percent(stability.mean))} of labels stay when the model is fitted again on "
        f"samples of {counted(stability.n_rows)} ({counted(stability.n_refits, 'refit')})"
    )
    number, least = min(stability.per_cluster.items(), key=lambda entry: entry[1])
    if least < POLICY.shaky:
        text += f"; {names[number]} is the least firm, with {percent(least)}"
    return f"{text}."


def _on_warnings(warnings: Sequence[str]) -> str | None:
    """That something was said at the fit."""
    if not warnings:
        return None
    were = "was" if len(warnings) == 1 else "were"
    return f"{counted(len(warnings), 'warning')} {were} raised at the fit; see the end."


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


# For terminals: what users wrote moves no cursor and breaks no line.

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
