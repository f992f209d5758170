"""The tables of results, made of ``paper.json``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from experiments.paper.candidates import STANDARDIZE
from experiments.paper.choice import CHOICES, CHOSEN
from experiments.paper.fits import ANY, AUTO, PAPER, TUNED
from experiments.paper.published import CUT_TITLES, METRICS, RESULTS, SETS
from experiments.paper.scores import NO_VERDICT, verdict, verdict_of_one_split

Numbers = Mapping[str, Any]

TRANSFERRED = "transferred"
WAYS = {"predict": "`predict`", "batch": "`predict_batch`"}
COMPARED = ("paper", "ours", "verdict")
VERDICTS = ("above", "inside", "below", "no graph")
KMEANS = "kmeans"
_PREPROCESSING = {AUTO: STANDARDIZE, PAPER: STANDARDIZE}  # the other rules choose it, too
HOW = {
    CHOSEN: "**without labels: chosen by the gap**",
    "cleanest sound": "without labels: the cleanest sound cut",
    "widest sound": "without labels: the widest sound cut",
    "cleanest of all": "without labels: the smallest gap of all",
    AUTO: 'without labels: standardize, `affinity="auto"`',
    TRANSFERRED: "without labels of the set: the pair that is best on the other five",
    TUNED: "tuned on training labels, with the preprocessing",
    PAPER: "the paper's sigma, standardize",
}


def node(numbers: Numbers, name: str, cut: str, rule: str = CHOSEN) -> Any:
    """What was measured of a way to choose sigma."""
    of_set = numbers["table"]["scores"][name]
    if rule == TRANSFERRED:
        preprocessing, pair_rule = numbers["table"][TRANSFERRED][cut][name]
        return of_set[preprocessing][cut][pair_rule]
    return of_set[_PREPROCESSING.get(rule, ANY)][cut][rule]


def score(measured: Any, metric: str, way: str = "predict") -> Any:
    """Mean, deviation and range; None where every fit was refused."""
    return measured.get(way, {}).get(metric)


def verdicts(
    numbers: Numbers,
    way: str = "predict",
    rule: str = CHOSEN,
    judge: Callable[[float, Any], str] = verdict,
) -> dict[Any, str]:
    """(cut, set, metric) to verdict."""
    found = {}
    for cut in CUT_TITLES:
        for name in SETS:
            for metric in METRICS:
                ours = score(node(numbers, name, cut, rule), metric, way)
                published = RESULTS[cut][metric][name]
                found[cut, name, metric] = judge(published, ours) if ours else "no graph"
    return found


def kmeans(numbers: Numbers, name: str, metric: str) -> Any:
    """k-means on standardized rows."""
    return score(numbers["table"]["scores"][name][STANDARDIZE][KMEANS][""], metric)


# ------------------------------------------------------------------------------------------- cells


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def number(metric: str, value: float) -> str:
    return f"{value:.1f}" if metric == "acc" else f"{value:.3f}"


def cell(metric: str, ours: Sequence[float] | None, published: float | None = None) -> str:
    """Mean ± standard deviation [range of four-split means], and the verdict."""
    if ours is None:
        return "no graph"
    text = f"{number(metric, ours[0])} ± {number(metric, ours[1])}{span(metric, ours)}"
    return text if published is None else f"{text} {verdict(published, ours)}"


def span(metric: str, ours: Sequence[Any]) -> str:
    """The range of four-split means, in brackets, where there is one."""
    return "" if ours[2] is None else f" [{', '.join(number(metric, v) for v in ours[2:])}]"


def counted(found: Mapping[Any, str]) -> str:
    counts = Counter(found.values())
    text = f"{counts['above']} above, {counts['inside']} inside, {counts['below']} below"
    left = counts[NO_VERDICT]
    return f"{text}, and {left} of {NO_VERDICT} for a verdict" if left else text


# ------------------------------------------------------------------------------------------ tables


def headline(numbers: Numbers) -> str:
    """The verdicts in a sentence."""
    below = [
        f"{CUT_TITLES[cut]} {name} {METRICS[metric]}"
        for (cut, name, metric), found in verdicts(numbers).items()
        if found == "below"
    ]
    one_split = counted(verdicts(numbers, judge=verdict_of_one_split))
    return (
        "The table has 24 results for GPOD (2 cuts, 6 sets, 2 measures). Compared with the paper, "
        f"**{counted(verdicts(numbers))}**. "
        f"Below: {', '.join(below) or 'none'}.\n\n"
        "The paper does not say whether its four runs used four different splits. If they used "
        "the same split, a range of mean ± 1.96 standard deviations is fair. By this wider range, "
        f"the results are {one_split}."
    )


def verdict_table(numbers: Numbers) -> str:
    """The 24 cells, without labels, by ``predict``."""
    rows = []
    for cut, title in CUT_TITLES.items():
        for name in SETS:
            row = [title, name]
            for metric in METRICS:
                published = RESULTS[cut][metric][name]
                ours = score(node(numbers, name, cut), metric)
                row += _judged(metric, published, ours)
            rows.append(row)
    for name in SETS:
        row = ["k-means", name]
        for metric in METRICS:
            row += _judged(metric, RESULTS[KMEANS][metric][name], kmeans(numbers, name, metric))
        rows.append(row)
    columns = [f"{metric}: {what}" for metric in ("ACC", "NMI") for what in COMPARED]
    return markdown(["method", "set", *columns], rows)


def _judged(metric: str, published: float, ours: Sequence[Any]) -> list[str]:
    found = verdict(published, ours)
    found = f"**{found}**" if found == "below" else found
    return [number(metric, published), number(metric, ours[0]) + span(metric, ours), found]


def claim_table(numbers: Numbers) -> str:
    """Whether GPOD beats k-means: the paper's figures, and our means, set by set."""
    rows, won = [], Counter[str]()
    for name in SETS:
        row, base = [name], kmeans(numbers, name, "acc")[0]
        row.append(f"{RESULTS[KMEANS]['acc'][name]:.1f} / {base:.1f}")
        for cut in CUT_TITLES:
            published, ours = RESULTS[cut]["acc"][name], score(node(numbers, name, cut), "acc")[0]
            won[cut] += ours > base
            row += [f"{published:.1f} / {ours:.1f}", "yes" if ours > base else "**no**"]
        rows.append(row)
    header = ["set", "k-means, paper / ours"]
    for title in CUT_TITLES.values():
        header += [f"{title}, paper / ours", "ours beats k-means"]
    counts = " and ".join(f"{t} on {won[c]} of {len(SETS)} sets" for c, t in CUT_TITLES.items())
    of_paper = [
        RESULTS[cut]["acc"][name] > RESULTS[KMEANS]["acc"][name]
        for cut in CUT_TITLES
        for name in SETS
    ]
    judged = {
        (name, metric): verdict(RESULTS[KMEANS][metric][name], kmeans(numbers, name, metric))
        for name in SETS
        for metric in METRICS
    }
    return (
        f"By the paper's figures GPOD beats k-means in {sum(of_paper)} of {len(of_paper)} cases; "
        f"by the means of ours {counts}. The {len(judged)} cells of k-means itself: "
        f"{counted(judged)}.\n\n" + markdown(header, rows)
    )


def count_table(numbers: Numbers) -> str:
    """How many of the 24 cells are above, inside and below, for each way to choose sigma."""
    rows = []
    any_cut = next(iter(CUT_TITLES))
    for rule, text in HOW.items():
        for way, called in WAYS.items():
            if way in node(numbers, SETS[0], any_cut, rule):
                found = Counter(verdicts(numbers, way, rule).values())
                rows.append([text, called, *(str(found[v]) for v in VERDICTS)])
    return markdown(["sigma", "labels by", *VERDICTS], rows)


def choice_table(numbers: Numbers) -> str:
    """What the label-free choice takes on each set, and how often."""
    rows = []
    for cut, title in CUT_TITLES.items():
        for name in SETS:
            taken = Counter(node(numbers, name, cut)["chosen"]).most_common()
            texts = [f"{what} ({count})" for what, count in taken[:3]]
            if len(taken) > 3:
                texts.append(f"others ({sum(count for _, count in taken[3:])})")
            rows.append([title, name, "; ".join(texts)])
    return markdown(["cut", "set", "chosen (splits)"], rows)


def transfer_table(numbers: Numbers) -> str:
    """The pair that the other five sets choose for each set."""
    rows = [
        [name, *(": ".join(numbers["table"][TRANSFERRED][cut][name]) for cut in CUT_TITLES)]
        for name in SETS
    ]
    return markdown(["set", *CUT_TITLES.values()], rows)


def main_table(numbers: Numbers, metric: str) -> str:
    """Paper and ours with each way to choose sigma, by ``predict``."""
    rows = []
    for name in SETS:
        published = RESULTS[KMEANS][metric][name]
        ours = kmeans(numbers, name, metric)
        rows.append([name, "k-means", f"{published:g}", cell(metric, ours, published), "", ""])
        for cut, title in CUT_TITLES.items():
            published = RESULTS[cut][metric][name]
            measured = [node(numbers, name, cut, rule) for rule in (CHOSEN, TUNED, PAPER)]
            cells = [cell(metric, score(m, metric), published) for m in measured]
            rows.append([name, title, f"{published:g}", *cells])
    header = ["set", "method", "paper", "sigma without labels", "tuned on training labels"]
    return markdown([*header, "the paper's sigma"], rows)


def extension_table(numbers: Numbers) -> str:
    """RatioCut: the consistent extension and Algorithm 1's, both ways to predict, ACC."""
    ways = ["predict", "batch", "predict, Algorithm 1", "batch, Algorithm 1"]
    rows = []
    for name in SETS:
        for rule in (CHOSEN, PAPER):
            measured = node(numbers, name, "ratiocut", rule)
            rows.append([name, rule, *(cell("acc", score(measured, "acc", w)) for w in ways)])
    header = ["set", "sigma", "consistent, `predict`", "consistent, `predict_batch`"]
    return markdown([*header, "Algorithm 1, `predict`", "Algorithm 1, `predict_batch`"], rows)


def below_table(numbers: Numbers) -> str:
    """Cells that are below, and what every other way to choose sigma reaches there.

    Hindsight is by the scores of unseen rows: it tells what was within reach, and chooses nothing.
    """
    others = [rule for rule in HOW if rule not in (CHOSEN, PAPER)]
    rows = []
    for (cut, name, metric), found in verdicts(numbers).items():
        if found != "below":
            continue
        published = RESULTS[cut][metric][name]
        row = [f"{CUT_TITLES[cut]}, {name}, {METRICS[metric]}", number(metric, published)]
        row.append(number(metric, score(node(numbers, name, cut), metric)[0]))
        for rule in others:
            ours = score(node(numbers, name, cut, rule), metric)
            row.append(f"{number(metric, ours[0])} {verdict(published, ours)}")
        best, ours = _hindsight(numbers, name, cut, metric)
        rows.append([*row, f"{number(metric, ours[0])} {verdict(published, ours)} ({best})"])
    names = {AUTO: '`"auto"`', TRANSFERRED: "best on the other five"}
    header = ["cell", "paper", "chosen", *(names.get(rule, rule) for rule in others)]
    return markdown([*header, "best candidate in hindsight"], rows)


def _hindsight(numbers: Numbers, name: str, cut: str, metric: str) -> tuple[str, Any]:
    tried = {
        f"{preprocessing}: {rule}": score(measured, metric)
        for preprocessing, methods in numbers["table"]["scores"][name].items()
        for rule, measured in methods.get(cut, {}).items()
        if rule not in (PAPER, TUNED, *CHOICES) and score(measured, metric)
    }
    best = max(tried, key=lambda key: tried[key][0])
    return best, tried[best]


def everything_table(numbers: Numbers, method: str) -> str:
    """Mean ACC / NMI of ``predict`` for every preprocessing and rule."""
    scores = numbers["table"]["scores"]
    published = [f"{RESULTS[method]['acc'][s]:.1f} / {RESULTS[method]['nmi'][s]:.3f}" for s in SETS]
    rows = [["paper", "", *published, ""]]
    for preprocessing, methods in next(iter(scores.values())).items():
        for rule in methods.get(method, {}):
            measured = [scores[name][preprocessing][method][rule] for name in SETS]
            known = [m["train"] for m in measured if m["train"] is not None]
            train = f"{np.mean(known):.1f}" if len(known) == len(measured) else ""
            rows.append([preprocessing, rule, *map(_both, measured), train])
    return markdown(["preprocessing", "sigma", *SETS, "mean ACC, training rows"], rows)


def _both(measured: Any) -> str:
    acc, nmi = (score(measured, metric) for metric in METRICS)
    if acc is None:
        return "no graph"
    refused = measured.get("refused", 0)
    text = f"{acc[0]:.1f} / {nmi[0]:.3f}"
    return f"{text} ({refused} refused)" if refused else text
