"""The tables of benchmarks/studies/bandwidth.md."""

from __future__ import annotations

from typing import Any

from benchmarks.bandwidth.collection import GROUPS, GROWING, SIZES, WEAK
from benchmarks.bandwidth.rules import AUTO, CUTS, SIZE_RULES
from benchmarks.harness.markdown import table


def pair(scores: dict[str, float]) -> str:
    return f"{scores['train']:.2f} / {scores['new']:.2f}"


def rule_name(rule: str) -> str:
    return f"**{rule}**" if rule == AUTO else rule


def cut_table(results: dict[str, Any], cut: str) -> str:
    header = ["rule", *GROUPS, "failures", "tiny clusters", "in more than K pieces"]
    rows = [
        [
            rule_name(rule),
            *(pair(line[group]) for group in GROUPS),
            f"{line['failures_train']} / {line['failures_new']}",
            str(line["tiny_clusters"]),
            str(line["more_components_than_clusters"]),
        ]
        for rule, line in results["summary"][cut].items()
    ]
    n_sets = sum(entry["group"] in GROUPS for entry in results["datasets"].values())
    caption = (
        f"{CUTS[cut]}: {n_sets} data sets, {len(results['seeds'])} seeds, {results['n_runs']} fits "
        f"per rule; failures are out of {results['n_solvable']}."
    )
    n_errors = sum(line["errors"] for line in results["summary"][cut].values())
    if n_errors:
        caption += f" Fits that raised an error and count as 0: {n_errors}."
    if results["skipped"]:
        caption += f" Left out, for want of their files: {', '.join(results['skipped'])}."
    return f"{caption}\n\n{table(header, rows)}"


def weakness_table(results: dict[str, Any]) -> str:
    """sigma="auto" and the rule that does best in hindsight, on single data sets."""
    header = ["data set", "cut", "auto", "tiny clusters", "best other rule", "its ARI", "its tiny"]
    rows = []
    for name in WEAK:
        for cut, title in CUTS.items():
            rules = results["by_dataset"][name][cut]
            best = max((rule for rule in rules if rule != AUTO), key=lambda r: rules[r]["train"])
            auto, other = rules[AUTO], rules[best]
            tiny = str(auto["tiny_clusters"]), str(other["tiny_clusters"])
            rows.append([name, title, pair(auto), tiny[0], best, pair(other), tiny[1]])
    return table(header, rows)


def size_table(results: dict[str, Any]) -> str:
    """Training ARI of NCut / RatioCut as the number of rows grows."""
    rows = []
    for name in GROWING:
        for n in SIZES:
            cuts = results["by_dataset"][f"{name}, {n} rows"]
            cells = [
                " / ".join(f"{cuts[cut][rule]['train']:.2f}" for cut in CUTS) for rule in SIZE_RULES
            ]
            rows.append([name, str(n), *cells])
    return table(["data set", "rows", *map(rule_name, SIZE_RULES)], rows)


def make_tables(results: dict[str, Any]) -> dict[str, str]:
    return {
        **{cut: cut_table(results, cut) for cut in CUTS},
        "weaknesses": weakness_table(results),
        "sizes": size_table(results),
    }
