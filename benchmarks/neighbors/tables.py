"""The tables of benchmarks/studies/neighbors.md."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.bandwidth.collection import GROUPS
from benchmarks.harness.markdown import table
from benchmarks.neighbors.rules import DIGITS


def small_table(results: dict[str, Any]) -> str:
    """Mean ARI of training / new rows in each group, and the worst that a rule did to a set."""
    sets = results["small"]
    rules = next(iter(sets.values()))["rules"]
    rows = []
    for rule in rules:
        line = [rule]
        for group in GROUPS:
            chosen = [entry["rules"][rule] for entry in sets.values() if entry["group"] == group]
            train, new = (np.mean([scores[key] for scores in chosen]) for key in ("train", "new"))
            line.append(f"{train:.3f} / {new:.3f}")
        behind = {
            name: max(scores["train"] for scores in entry["rules"].values())
            - entry["rules"][rule]["train"]
            for name, entry in sets.items()
        }
        worst = max(behind, key=lambda name: behind[name])
        line.append(f"{behind[worst]:.2f} ({worst})")
        rows.append(line)
    caption = f"{len(sets)} data sets, {results['seeds']} seeds, NCut; ARI of training / new rows."
    if results["skipped"]:
        caption += f" Left out, for want of their files: {', '.join(results['skipped'])}."
    return f"{caption}\n\n{table(['graph', *GROUPS, 'most behind the best'], rows)}"


def _score(name: str) -> str:
    return "nmi" if name in DIGITS else "ari"


def large_table(results: dict[str, Any]) -> str:
    """NMI (digits, letters) or ARI (toys), and the number of components."""
    sets = results["large"]
    rules = next(iter(sets.values()))
    rows = [
        [rule]
        + [
            f"{scores[rule][_score(name)]:.3f} ({scores[rule]['components']})"
            for name, scores in sets.items()
        ]
        for rule in rules
    ]
    lowest = min(scores["reproduced"] for rules in sets.values() for scores in rules.values())
    caption = (
        "One fit each, all rows; NMI of digits and letters, ARI of the others, and in brackets the "
        f"connected components. predict gives back at least {100 * lowest:.2f} % of labels_."
    )
    return f"{caption}\n\n{table(['graph', *sets], rows)}"


def make_tables(results: dict[str, Any]) -> dict[str, str]:
    return {"small": small_table(results), "large": large_table(results)}
