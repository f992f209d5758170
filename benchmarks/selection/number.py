"""How often each criterion finds the number of clusters."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.data import ari
from benchmarks.harness.markdown import table
from benchmarks.selection.criteria import AUTO, CRITERIA, SLOW
from benchmarks.selection.families import FAMILIES, FIRST_SEED, family_of, make_set
from eigencut import Gaussian


@dataclass(frozen=True)
class Run:
    """One criterion on one data set."""

    seed: int
    criterion: str
    rows: int
    true: int
    found: int
    ari: float
    seconds: float
    affinity: str
    warned: bool

    @property
    def is_right(self) -> bool:
        return self.found == self.true


def measure_criteria(n_sets: int, n_slow: int) -> Iterator[Run]:
    for i in range(n_sets):
        seed = FIRST_SEED + i
        X, y, K = make_set(seed)
        for name, criterion in CRITERIA.items():
            if name in SLOW and i >= n_slow:
                continue
            start = time.perf_counter()
            found = criterion(X)
            seconds = time.perf_counter() - start
            score = round(ari(y, found.labels), 4)
            yield Run(
                seed,
                name,
                len(X),
                K,
                found.n_clusters,
                score,
                round(seconds, 3),
                found.affinity,
                found.warned,
            )


def first(runs: list[Run], n_sets: int) -> list[Run]:
    """The runs on the first sets; none if the criterion did not see all of these."""
    found = [run for run in runs if run.seed < FIRST_SEED + n_sets]
    return found if len(found) == n_sets else []


def hits(runs: list[Run], n_sets: int) -> str:
    judged = first(runs, n_sets)
    return str(sum(run.is_right for run in judged)) if judged else "-"


def mean_ari(runs: list[Run], n_sets: int) -> str:
    judged = first(runs, n_sets)
    return f"{np.mean([run.ari for run in judged]):.3f}" if judged else "-"


def criteria_table(results: dict[str, Any]) -> str:
    runs = [Run(**run) for run in results["runs"]]
    few, n_sets = results["n_slow"], results["n_sets"]
    header = ["criterion", f"K found, of {few}", f"of {n_sets}"]
    header += [f"ARI, {few} sets", f"{n_sets} sets", "seconds per set"]
    rows = []
    for name in CRITERIA:
        mine = [run for run in runs if run.criterion == name]
        rows.append(
            [
                f"`{name}`" if name == AUTO else name,
                hits(mine, few),
                hits(mine, n_sets),
                mean_ari(mine, few),
                mean_ari(mine, n_sets),
                f"{np.mean([run.seconds for run in mine]):.2f}",
            ]
        )
    last = FIRST_SEED + n_sets - 1
    caption = (
        f"Seeds {FIRST_SEED} to {FIRST_SEED + few - 1}, and {FIRST_SEED} to {last}. "
        f"Slow, and so on the first {few} only: {', '.join(SLOW)}."
    )
    return f"{caption}\n\n{table(header, rows)}"


def family_table(results: dict[str, Any]) -> str:
    runs = [Run(**run) for run in results["runs"] if run["criterion"] not in SLOW]
    names = [name for name in CRITERIA if name not in SLOW]
    rows = []
    for family in FAMILIES:
        mine = [run for run in runs if family_of(run.seed) == family]
        right = [sum(run.is_right for run in mine if run.criterion == name) for name in names]
        rows.append([family, str(len(mine) // len(names)), *map(str, right)])
    return table(["family", "sets", *(f"`{n}`" if n == AUTO else n for n in names)], rows)


def miss_table(results: dict[str, Any]) -> str:
    runs = [Run(**run) for run in results["runs"] if run["criterion"] == AUTO]
    rows = [
        [
            str(run.seed),
            family_of(run.seed),
            str(run.rows),
            str(run.true),
            str(run.found),
            f"{run.ari:.2f}",
            f"`{run.affinity}`",
            "yes" if run.warned else "no",
        ]
        for run in runs
        if not run.is_right
    ]
    right = [run for run in runs if run.is_right]
    default = repr(Gaussian())
    caption = (
        f"Misses of `{AUTO}`: {len(rows)} of {len(runs)}. Of the {len(right)} others, "
        f"{sum(run.affinity != default for run in right)} were found with another affinity than "
        f"the default, and {sum(run.warned for run in right)} came with a warning that nothing "
        "stands out."
    )
    if not rows:
        return caption
    header = ["seed", "family", "rows", "true K", "found", "ARI", "affinity", "warned"]
    return f"{caption}\n\n{table(header, rows)}"
