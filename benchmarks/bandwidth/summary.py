"""What goes to the JSON file; the tables are made from it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from benchmarks.bandwidth.collection import GROUPS
from benchmarks.bandwidth.measure import TEST_SHARE, TINY, Run
from benchmarks.bandwidth.rules import AUTO, RULES
from benchmarks.harness.machine import versions

SOLVABLE = 0.9  # a run counts for failures if some rule and cut get a training ARI above this
FAILED = 0.5  # and has failed with an ARI below this


def mean_scores(runs: list[Run]) -> dict[str, float]:
    return {
        "train": round(float(np.mean([run.train_ari for run in runs])), 4),
        "new": round(float(np.mean([run.new_ari for run in runs])), 4),
    }


def solvable_runs(runs: list[Run]) -> set[tuple[str, int]]:
    """Synthetic data sets and seeds that some rule and cut solve."""
    return {
        (run.dataset, run.seed)
        for run in runs
        if run.group in ("shapes", "blobs") and run.train_ari > SOLVABLE
    }


def summarize_rule(runs: list[Run], solvable: set[tuple[str, int]]) -> dict[str, Any]:
    """Means over each group (its sets have equally many runs), and counts of what went wrong."""
    counted = [run for run in runs if run.group in GROUPS]
    judged = [run for run in counted if (run.dataset, run.seed) in solvable]
    groups = {group: [run for run in counted if run.group == group] for group in GROUPS}
    return {
        **{group: mean_scores(members) for group, members in groups.items()},
        "failures_train": sum(run.train_ari < FAILED for run in judged),
        "failures_new": sum(run.new_ari < FAILED for run in judged),
        "tiny_clusters": sum(run.has_tiny_cluster for run in counted),
        "disconnected": sum(run.n_components > 1 for run in counted),
        "more_components_than_clusters": sum(run.n_components > run.n_clusters for run in counted),
        "errors": sum(bool(run.error) for run in counted),
    }


def summarize_dataset(runs: list[Run]) -> dict[str, Any]:
    tiny = sum(run.has_tiny_cluster for run in runs)
    return {**mean_scores(runs), "tiny_clusters": tiny}


def split(runs: list[Run], field: str) -> dict[str, list[Run]]:
    """The runs by the value of a field."""
    parts: dict[str, list[Run]] = {}
    for run in runs:
        parts.setdefault(getattr(run, field), []).append(run)
    return parts


def summarize(runs: list[Run], skipped: list[str], n_seeds: int) -> dict[str, Any]:
    """All runs in one piece of plain data."""
    solvable = solvable_runs(runs)
    counted = {(run.dataset, run.seed) for run in runs if run.group in GROUPS}
    return {
        "settings": {
            "test_share": TEST_SHARE,
            "solvable_above": SOLVABLE,
            "failed_below": FAILED,
            "tiny_at_most": TINY,
            "rules": {rule: affinity.get_params() for rule, affinity in RULES.items()},
            "auto": AUTO,
        },
        "seeds": list(range(n_seeds)),
        "versions": versions(),
        "datasets": {
            run.dataset: {"group": run.group, "n_train": run.n_train, "n_clusters": run.n_clusters}
            for run in runs
        },
        "skipped": skipped,
        "n_runs": len(counted),
        "n_solvable": len(solvable),
        "summary": {
            cut: {
                rule: summarize_rule(members, solvable)
                for rule, members in split(of_cut, "rule").items()
            }
            for cut, of_cut in split(runs, "cut").items()
        },
        "by_dataset": {
            name: {
                cut: {
                    rule: summarize_dataset(members)
                    for rule, members in split(of_cut, "rule").items()
                }
                for cut, of_cut in split(of_dataset, "cut").items()
            }
            for name, of_dataset in split(runs, "dataset").items()
        },
        "errors": [asdict(run) for run in runs if run.error],
    }
