"""The table of results: six UCI sets, k-means and both cuts, ACC and NMI on unseen rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from eigencut.affinity.base import Array, Indices
from eigencut.paper.fits import ANY, DEFAULT, PAPER, SELECTED, TUNED, Fit, fit_split
from eigencut.paper.published import CUTS, METRICS, RESULTS, SETS
from eigencut.paper.scores import both_scores, summary, verdict

TEST_SHARE = 0.2
_CHOOSING = (PAPER, TUNED)  # rules that know the paper's sigma or labels: no label-free rules
_DIGITS = {"acc": 2, "nmi": 4}


def split_rows(n: int, seed: int) -> tuple[Indices, Indices]:
    """A random 80/20 split, not stratified."""
    order = np.random.default_rng(seed).permutation(n)
    n_test = int(np.ceil(TEST_SHARE * n))
    return np.sort(order[n_test:]), np.sort(order[:n_test])


def predictions(name: str, X: Array, truth: Indices, seed: int, rules: Any = None) -> list[Fit]:
    """Fits and predictions of one split. Only classes of training rows are handed on."""
    train, test = split_rows(len(X), seed)
    return fit_split(name, X[train], truth[train], X[test], rules)


def run_split(task: tuple[str, Array, Indices, int, Any]) -> list[tuple[tuple[str, ...], Any]]:
    """Predictions of one split, and only then their scores: (key, (ACC, NMI)) for each way."""
    from threadpoolctl import threadpool_limits

    name, X, truth, seed, rules = task
    with threadpool_limits(1):
        fits = predictions(name, X, truth, seed, rules)
    _, test = split_rows(len(X), seed)
    scores: list[tuple[tuple[str, ...], Any]] = []
    for fit in fits:
        key = (name, fit.preprocessing, fit.method, fit.rule)
        scores.append(((*key, "train"), fit.train_accuracy))
        scores += [((*key, way), both_scores(truth[test], got)) for way, got in fit.labels.items()]
        if fit.chosen:
            scores.append(((*key, "chosen"), fit.chosen))
    return scores


def collect(scores: Sequence[tuple[tuple[str, ...], Any]]) -> dict[str, Any]:
    """Summaries in a tree: set, preprocessing, method, rule, way, metric."""
    lists: dict[tuple[str, ...], list[Any]] = {}
    for key, value in scores:
        lists.setdefault(key, []).append(value)
    tree: dict[str, Any] = {}
    for (*path, way), values in lists.items():
        node = tree
        for step in path:
            node = node.setdefault(step, {})
        if way == "train":
            fitted = [v for v in values if v >= 0]
            node["train"] = round(float(np.mean(fitted)), 2) if fitted else None
            node["refused"] = len(values) - len(fitted)
        elif way == "chosen":
            names, counts = np.unique(values, return_counts=True)
            node["chosen"] = dict(zip(names.tolist(), counts.tolist(), strict=True))
        else:
            columns = np.array(values).T
            node[way] = {
                metric: summary(column, _DIGITS[metric])
                for metric, column in zip(METRICS, columns, strict=True)
            }
    return tree


def label_free_candidates(scores: Mapping[tuple[str, ...], float], cut: str) -> dict[Any, float]:
    """(preprocessing, rule) to mean ACC on training rows over the sets, sigma without labels."""
    found: dict[Any, list[float]] = {}
    for (_, preprocessing, method, rule, what), value in scores.items():
        if what == "train" and method == cut and rule not in _CHOOSING:
            found.setdefault((preprocessing, rule), []).append(value)
    return {key: float(np.mean(v)) if min(v) >= 0 else -1.0 for key, v in found.items()}


def best_label_free(splits: Sequence[Mapping[tuple[str, ...], Any]], cut: str) -> dict[str, Any]:
    """One preprocessing and one rule for all six sets, sigma being chosen without labels.

    Of the configurations tried, the one whose clusters of the *training* rows agree best with
    their classes, on average over sets and splits: unseen rows of a split have no say in it. As a
    row is unseen in some splits and not in others, the choice is also made within each split, by
    its own training rows alone; ``same`` counts the splits that agree.

    Parameters
    ----------
    splits : sequence of dict
        Of each split, what ``run_split`` says of all sets.
    """
    means = [label_free_candidates(split, cut) for split in splits]
    total = {key: float(np.mean([m[key] for m in means])) for key in means[0]}
    best = max(total, key=lambda key: total[key])
    same = sum(max(m, key=lambda key: m[key]) == best for m in means)
    return {"configuration": list(best), "same": same, "of": len(means)}


# ------------------------------------------------------------------------------------------ tables


def _number(metric: str, value: float) -> str:
    return f"{value:.1f}" if metric == "acc" else f"{value:.3f}"


def _cell(metric: str, ours: Sequence[float] | None, published: float | None = None) -> str:
    """Mean ± standard deviation [range of four-split means], and the verdict."""
    if ours is None:
        return "no graph"
    mean, std, low, high = (_number(metric, v) for v in ours)
    text = f"{mean} ± {std} [{low}, {high}]"
    return text if published is None else f"{text} {verdict(published, ours)}"


def _markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def configuration(results: Mapping[str, Any], cut: str) -> tuple[str, str]:
    preprocessing, rule = results["table"]["label_free"][cut]["configuration"]
    return preprocessing, rule


# The preprocessing of each way to choose sigma; that of the best configuration is chosen with it.
_STANDARD = {DEFAULT: "standardize", SELECTED: "standardize", PAPER: "standardize", TUNED: ANY}


def _node(results: Mapping[str, Any], name: str, cut: str, rule: str | None = None) -> Any:
    preprocessing, chosen = configuration(results, cut)
    of_set = results["table"]["scores"][name]
    if rule is None:
        return of_set[preprocessing][cut][chosen]
    return of_set[_STANDARD[rule]][cut][rule]


def verdict_table(results: Mapping[str, Any]) -> str:
    """The 24 cells: paper, ours without labels (both ways to predict), and verdicts."""
    rows = []
    for cut, title in CUTS.items():
        for name in SETS:
            for metric, called in METRICS.items():
                published = RESULTS[cut][metric][name]
                node = _node(results, name, cut)
                rows.append(
                    [
                        title,
                        name,
                        called,
                        f"{published:.1f}" if metric == "acc" else f"{published:.4f}",
                        *(_split_verdict(metric, node[way][metric], published) for way in WAYS),
                    ]
                )
    header = ["cut", "set", "metric", "paper", "`predict`", "`predict_batch`"]
    return _markdown(header, rows)


WAYS = ("predict", "batch")


def _split_verdict(metric: str, ours: Sequence[float] | None, published: float) -> str:
    text = _cell(metric, ours)
    return text if ours is None else f"{text} **{verdict(published, ours)}**"


def verdicts(results: Mapping[str, Any], way: str = "predict", rule: str | None = None) -> dict:
    """(cut, set, metric) to verdict, for the best label-free configuration."""
    found = {}
    for cut in CUTS:
        for name in SETS:
            for metric in METRICS:
                ours = _node(results, name, cut, rule).get(way, {}).get(metric)
                found[cut, name, metric] = (
                    verdict(RESULTS[cut][metric][name], ours) if ours else "no graph"
                )
    return found


def count_table(results: Mapping[str, Any]) -> str:
    """How many of the 24 cells are above, inside and below, for each way to choose sigma."""
    rows = []
    described = {
        None: "without labels: best configuration",
        DEFAULT: 'without labels: standardize, `affinity="gaussian"`',
        SELECTED: "without labels: standardize, `eigencut.select` with K given",
        TUNED: "tuned on training labels, with the preprocessing",
        PAPER: "the paper's sigma, standardize",
    }
    for rule, text in described.items():
        for way, called in zip(WAYS, ("`predict`", "`predict_batch`"), strict=True):
            found = list(verdicts(results, way, rule).values())
            counts = [str(found.count(v)) for v in ("above", "inside", "below", "no graph")]
            rows.append([text, called, *counts])
    return _markdown(["sigma", "labels by", "above", "inside", "below", "no graph"], rows)


def configuration_text(results: Mapping[str, Any]) -> str:
    """Which configuration is the best label-free one, and which cells are below."""
    lines = []
    for cut, title in CUTS.items():
        preprocessing, rule = configuration(results, cut)
        same, of = (results["table"]["label_free"][cut][key] for key in ("same", "of"))
        below = [
            f"{name} {METRICS[metric]}"
            for (c, name, metric), v in verdicts(results).items()
            if c == cut and v == "below"
        ]
        lines.append(
            f"- **{title}**: preprocessing *{preprocessing}*, sigma by *{rule}*. Below the paper: "
            f"{', '.join(below) or 'none'}. By the training rows of a single split the choice is "
            f"the same in {same} of {of} splits."
        )
    return "\n".join(lines)


def main_table(results: Mapping[str, Any], metric: str) -> str:
    """Paper and ours with each way to choose sigma, by ``predict``."""
    rows = []
    scores = results["table"]["scores"]
    for name in SETS:
        preprocessing, _ = configuration(results, "ncut")
        published = RESULTS["kmeans"][metric][name]
        ours = scores[name][preprocessing]["kmeans"][""]["predict"][metric]
        rows.append([name, "k-means", f"{published:g}", _cell(metric, ours), "", ""])
        for cut, title in CUTS.items():
            published = RESULTS[cut][metric][name]
            cells = [
                _cell(
                    metric,
                    _node(results, name, cut, rule).get("predict", {}).get(metric),
                    published,
                )
                for rule in (None, TUNED, PAPER)
            ]
            rows.append([name, title, f"{published:g}", *cells])
    header = ["set", "method", "paper", "sigma without labels", "tuned on training labels"]
    return _markdown([*header, "the paper's sigma"], rows)


def extension_table(results: Mapping[str, Any]) -> str:
    """RatioCut: the consistent extension and Algorithm 1's, both ways to predict, ACC."""
    ways = ["predict", "batch", "predict, Algorithm 1", "batch, Algorithm 1"]
    rows = []
    for name in SETS:
        for rule in (None, PAPER):
            node = _node(results, name, "ratiocut", rule)
            cells = [_cell("acc", node.get(way, {}).get("acc")) for way in ways]
            rows.append([name, rule or configuration(results, "ratiocut")[1], *cells])
    header = ["set", "sigma", "consistent, `predict`", "consistent, `predict_batch`"]
    return _markdown([*header, "Algorithm 1, `predict`", "Algorithm 1, `predict_batch`"], rows)


def everything_table(results: Mapping[str, Any], cut: str) -> str:
    """Mean ACC / NMI of ``predict`` for every preprocessing and rule."""
    scores = results["table"]["scores"]
    rows = []
    first = next(iter(scores.values()))
    for preprocessing, methods in first.items():
        for method in (cut, "kmeans") if cut == next(iter(CUTS)) else (cut,):
            for rule in methods.get(method, {}):
                nodes = [scores[name][preprocessing][method][rule] for name in SETS]
                cells = []
                for node in nodes:
                    acc, nmi = (node.get("predict", {}).get(m) for m in METRICS)
                    text = "no graph" if acc is None else f"{acc[0]:.1f} / {nmi[0]:.3f}"
                    refused = node.get("refused", 0)
                    cells.append(f"{text} ({refused} refused)" if acc and refused else text)
                known = [node["train"] for node in nodes if node["train"] is not None]
                train = f"{np.mean(known):.1f}" if len(known) == len(nodes) else ""
                rows.append([preprocessing, rule or "k-means", *cells, train])
    published = [f"{RESULTS[cut]['acc'][s]:.1f} / {RESULTS[cut]['nmi'][s]:.3f}" for s in SETS]
    rows.insert(0, ["paper", "paper's sigma", *published, ""])
    return _markdown(["preprocessing", "sigma", *SETS, "mean ACC, training rows"], rows)


def below_table(results: Mapping[str, Any]) -> str:
    """Cells that are below, and what the best of all label-free rules reaches in hindsight.

    Hindsight is by the scores of unseen rows: it tells what was within reach, and chooses nothing.
    """
    rows = []
    for (cut, name, metric), found in verdicts(results).items():
        if found != "below":
            continue
        published = RESULTS[cut][metric][name]
        tried = {
            f"{preprocessing}: {rule}": node["predict"][metric]
            for preprocessing, methods in results["table"]["scores"][name].items()
            for rule, node in methods[cut].items()
            if rule not in _CHOOSING and node.get("predict", {}).get(metric)
        }
        best = max(tried, key=lambda key: tried[key][0])
        ours = _node(results, name, cut)["predict"][metric]
        tuned = _node(results, name, cut, TUNED)["predict"][metric]
        rows.append(
            [
                f"{CUTS[cut]}, {name}, {METRICS[metric]}",
                _number(metric, published),
                _number(metric, ours[0]),
                f"{_cell(metric, tried[best], published)} ({best})",
                _cell(metric, tuned, published),
            ]
        )
    header = ["cell", "paper", "ours", "best label-free rule in hindsight", "tuned"]
    return _markdown(header, rows)
