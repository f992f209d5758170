"""How often rows that are one cluster, and rows that are several, have a small p-value.

Seeds are not those on which the smoothing of the null was chosen. The figures go to
``benchmarks/results/significance.json`` and into a table of ``benchmarks/studies/risk.md``.

    OMP_NUM_THREADS=1 python -m benchmarks.significance            # three minutes of one core
    OMP_NUM_THREADS=1 python -m benchmarks.significance --quick    # two seeds; pages are left alone
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks import RESULTS, STUDIES
from benchmarks.data import Array
from benchmarks.growth.families import CHOSEN_ON, HELD_OUT
from benchmarks.harness.markdown import table
from benchmarks.harness.options import parser, positive
from benchmarks.harness.page import update_page, write_text
from benchmarks.selection.one_cluster import one_cluster
from eigencut import GPOD
from eigencut.inspection import significance

N_ROWS, N_NULL, FIRST_SEED = 200, 19, 8000
STORED = RESULTS / "significance.json"


def _uniform(seed: int) -> Array:
    return np.random.default_rng(seed).uniform(size=(N_ROWS, 10))


def _exponential(seed: int) -> Array:
    return np.random.default_rng(seed).exponential(size=(N_ROWS, 2))


def _known(kind: str) -> Callable[[int], Array]:
    return lambda seed: one_cluster(kind, seed, N_ROWS)


def _family(name: str, n_rows: int = N_ROWS) -> Callable[[int], Array]:
    return lambda seed: (CHOSEN_ON | HELD_OUT)[name](n_rows, seed)[0]


# Rows, how many clusters are asked for, and whether they are one.
KINDS: dict[str, tuple[Callable[[int], Array], int, bool]] = {
    "Gaussian, d = 2": (_known("Gaussian, d = 2"), 2, True),
    "Gaussian, d = 10": (_known("Gaussian, d = 10"), 2, True),
    "uniform, d = 10": (_uniform, 2, True),
    "uniform square": (_known("uniform square"), 2, True),
    "uniform strip, 8 : 1": (_known("uniform strip, 8 : 1"), 2, True),
    "exponential, d = 2": (_exponential, 2, True),
    "ring": (_known("ring"), 2, True),
    "blobs d = 8": (_family("blobs d = 8"), 6, False),
    "unequal sizes": (_family("unequal sizes"), 3, False),
    "moons .08": (_family("moons .08"), 2, False),
    "circles .08": (_family("circles .08"), 2, False),
    "circles .08, 600 rows": (_family("circles .08", 600), 2, False),
    "ring and core": (_family("ring and core"), 2, False),
}


def measure(kind: str, n_seeds: int) -> dict[str, Any]:
    rows, K, is_one = KINDS[kind]
    found = []
    for seed in range(FIRST_SEED, FIRST_SEED + n_seeds):
        model = GPOD(K, n_init=1, n_jobs=1).fit(rows(seed))
        found.append(significance(model, n_null=N_NULL, random_state=seed).p_values)
    p_values = {null: [p[null] for p in found] for null in found[0]}
    return {"one": is_one, "n_clusters": K, "p_values": p_values}


def significance_table(results: dict[str, Any]) -> str:
    header = ["200 rows", "K asked for", "p = 0.05: gaussian", "one cluster", "both"]
    lines = []
    for kind, line in results.items():
        small = np.array(list(line["p_values"].values())) <= 1 / (1 + N_NULL)
        counts = [*small.sum(axis=1), small.all(axis=0).sum()]
        shown = [f"{count} of {small.shape[1]}" for count in counts]
        what = "" if line["one"] else ", clusters"
        lines.append([kind + what, str(line["n_clusters"]), *shown])
    return table(header, lines)


def main() -> None:
    options = parser(
        __doc__,
        "benchmarks.significance",
        quick="two seeds; the page is left alone",
        out=f"where the JSON goes (benchmarks/results/{STORED.name}; nowhere if --quick)",
    )
    options.add_argument("--seeds", type=positive, default=20, metavar="N")
    asked = options.parse_args()
    warnings.simplefilter("ignore")
    results: dict[str, Any] = {}
    for kind in KINDS:
        results[kind] = measure(kind, 2 if asked.quick else asked.seeds)
        print(significance_table({kind: results[kind]}).splitlines()[-1], flush=True)
        if asked.out or not asked.quick:
            write_text(asked.out or STORED, json.dumps(results, indent=1) + "\n")
    if not asked.quick and asked.out is None:
        update_page(STUDIES / "risk.md", {"significance": significance_table(results)})


if __name__ == "__main__":
    main()
