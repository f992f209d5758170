"""A summary in plain words: what someone who reads nothing else should know."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from eigencut.inspection.assessment import RiskSummary
from eigencut.plotting.sampling import spaced
from eigencut.theory import CutValue

if TYPE_CHECKING:
    from eigencut.report.summary import (
        ChoiceSummary,
        ClusterSummary,
        PairDoubt,
        QuickStability,
        SupportSummary,
    )

_LISTED = 6  # clusters whose shares are named
_WORTH_NAMING = 0.01  # share of unsure rows from which a pair is named
_PAIRS = 2  # of them, at most
_SHAKY = 0.8  # agreement of refits below which a cluster is named
_BEYOND_CHANCE = 2.0  # standard errors
_FAR_BEYOND_CHANCE = 3.5  # the same, for the largest of many differences


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
    """A number of things.

    Examples
    --------
    >>> counted(1), counted(12345), counted(2, "cluster")
    ('1 row', '12 345 rows', '2 clusters')
    """
    return f"{spaced(number)} {thing}" if number == 1 else f"{spaced(number)} {thing}s"


def on_clusters(clusters: Sequence[ClusterSummary], n_rows: float, n_unlabelled: int) -> str:
    """How many clusters there are, and how large."""
    shares = [percent(cluster.share) for cluster in clusters]
    text = f"{counted(len(clusters), 'cluster')} of {counted(n_rows)}"
    if 1 < len(shares) <= _LISTED:
        text += f": {', '.join(shares[:-1])} and {shares[-1]}"
    elif len(shares) > _LISTED:
        ordered = sorted(cluster.share for cluster in clusters)
        text += f", the largest {percent(ordered[-1])} and the smallest {percent(ordered[0])}"
    if n_unlabelled:
        text += f"; {counted(n_unlabelled)} {'is' if n_unlabelled == 1 else 'are'} in none"
    return f"{text}."


def on_support(support: SupportSummary, n_new: int) -> str | None:
    """How many new rows the model knows nothing of."""
    if support.new_outside is None:
        return None
    text = f"{percent(support.new_outside)} of {counted(n_new, 'new row')} lie outside what "
    text = f"{_capital(text)}the model knows"
    if support.outside is not None:
        text += f" ({percent(support.outside)} of the rows it was fitted on)"
    return f"{text}."


def on_shares(clusters: Sequence[ClusterSummary], n_rows: float) -> str | None:
    """Whether new rows fall into the clusters as the others did; the largest change is named."""
    m = sum(cluster.n_new or 0 for cluster in clusters)
    if len(clusters) < 2 or m == 0:
        return None
    one = max(clusters, key=lambda cluster: abs((cluster.n_new or 0) / m - cluster.share))
    now = (one.n_new or 0) / m
    pooled = (one.share * n_rows + now * m) / (n_rows + m)
    chance = math.sqrt(max(pooled * (1 - pooled), 0.0) * (1 / n_rows + 1 / m))
    if abs(now - one.share) <= max(_FAR_BEYOND_CHANCE * chance, _WORTH_NAMING):
        return "New rows fall into the clusters in about the same shares as the others."
    return (
        f"New rows fall into the clusters in other shares: {percent(now)} of them are in "
        f"{one.name}, of the others {percent(one.share)}."
    )


def on_doubt(
    pairs: Sequence[PairDoubt], unsure: float | None, names: dict[int, str], which: str
) -> str | None:
    """Which clusters are hard to tell apart."""
    if unsure is None or len(names) < 2:
        return None
    worst = [pair for pair in pairs if pair.share >= _WORTH_NAMING][:_PAIRS]
    if not worst:
        return f"The clusters are told apart clearly: {percent(unsure)} of {which} are unsure."
    said = [
        f"the split between {names[pair.first]} and {names[pair.second]} is unsure for "
        f"{percent(pair.share)}"
        for pair in worst
    ]
    text = f"{_capital(' and '.join(said))} of their rows"
    return f"{text}; of all {which}, {percent(unsure)} are unsure."


def on_choice(choice: ChoiceSummary) -> str:
    """How the number of clusters and the graph came about."""
    number = "was given"
    if choice.chosen_clusters:
        number = f"was chosen from the data (asked for: {choice.asked_clusters})"
    graph = "so was the graph" if not choice.chosen_clusters else "the graph was given"
    if len(choice.compared) > 1:
        graph = f"the graph was chosen among {len(choice.compared)} that were compared"
    elif choice.asked_graph in ("auto", "mixed"):
        graph = "the graph is the default"
    return f"The number of clusters {number}; {graph}."


def on_risk(risk: RiskSummary | None) -> str | None:
    """Whether the clusters hold on new rows."""
    if risk is None or risk.n_clusters < 2 or risk.cut_heldout is None:
        return None
    new, own = risk.cut_heldout, risk.cut_training
    text = f"On new rows the cut costs {_with_error(new)}"
    if own is None or not math.isfinite(own.standard_error + new.standard_error):
        return f"{text}; 0 would be clusters without any weight between them."
    spread = math.hypot(new.standard_error, own.standard_error)
    verdict = "within chance"
    if abs(new.value - own.value) > _BEYOND_CHANCE * spread:
        verdict = "more than chance explains"
    return f"{text}, on the rows of the fit {_with_error(own)}: the difference is {verdict}."


def _with_error(found: CutValue) -> str:
    return f"{found.value:.2g} ± {found.standard_error:.1g}"


def on_stability(stability: QuickStability | None, names: dict[int, str]) -> str | None:
    """Whether the clusters would come out again."""
    if stability is None or len(names) < 2:
        return None
    text = (
        f"{_capital(percent(stability.mean))} of labels stay when the model is fitted again on "
        f"samples of {counted(stability.n_rows)} ({counted(stability.n_refits, 'refit')})"
    )
    number, least = min(stability.per_cluster.items(), key=lambda entry: entry[1])
    if least < _SHAKY:
        text += f"; {names[number]} is the least firm, with {percent(least)}"
    return f"{text}."


def on_warnings(warnings: Sequence[str]) -> str | None:
    """That something was said at the fit."""
    if not warnings:
        return None
    were = "was" if len(warnings) == 1 else "were"
    return f"{counted(len(warnings), 'warning')} {were} raised at the fit; see the end."


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
