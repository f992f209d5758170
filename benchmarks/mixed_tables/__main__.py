"""Mixed tables: the default beside k-prototypes, k-means and Gower, and the encodings tried.

    OMP_NUM_THREADS=1 python -m benchmarks.mixed_tables            # ten minutes of one core
    OMP_NUM_THREADS=1 python -m benchmarks.mixed_tables --quick    # one seed; pages are left alone

Needs ``pip install kmodes``; real tables are those whose packages are installed (``real.py``). The
encodings are compared on the families and seeds they were chosen on, the methods on fresh seeds, on
families that nothing was chosen on, and on real tables. Figures go to
``benchmarks/results/mixed_tables.json``, ``benchmarks/studies/mixed_tables.md`` and
``benchmarks/studies/tables.md``.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks import STUDIES
from benchmarks.harness.markdown import table
from benchmarks.harness.page import update_page
from benchmarks.harness.study import Results, Study
from benchmarks.mixed_tables.encodings import CHOSEN, ENCODINGS, encoded
from benchmarks.mixed_tables.families import CHOSEN_ON, HEAVY_TAILS, HELD_OUT, MixedTable
from benchmarks.mixed_tables.methods import METHODS
from benchmarks.mixed_tables.real import real_tables
from eigencut import GPOD, Landmarks

TUNED_SEED, FRESH_SEED = 100, 7000
GROUPS = {"chosen on": CHOSEN_ON, "held out": HELD_OUT, "heavy tails": HEAVY_TAILS}
MANY_ROWS, MANY_SEEDS = 6000, 2
SLOW = ("Gower, spectral",)  # a dense matrix of all pairs: not for many rows


def _compared(title: str, tables: list[MixedTable], but: tuple[str, ...] = ()) -> dict[str, Any]:
    """Mean ARI and seconds of each method."""
    found: dict[str, Any] = {}
    for name, method in METHODS.items():
        if name in but:
            continue
        start = time.perf_counter()
        scores = [
            adjusted_rand_score(one.clusters, method(one, seed)) for seed, one in enumerate(tables)
        ]
        seconds = (time.perf_counter() - start) / len(tables)
        found[name] = {"ari": float(np.mean(scores)), "seconds": round(seconds, 3)}
    print(title, *(f"{line['ari']:.3f}" for line in found.values()), flush=True)
    return found


def measure(n_seeds: int, quick: bool) -> Results:
    n_seeds = 1 if quick else n_seeds
    methods: dict[str, Any] = {}
    for group, families in GROUPS.items():
        seeds = range(FRESH_SEED, FRESH_SEED + n_seeds)
        methods[group] = {
            name: _compared(name, [make(seed) for seed in seeds]) for name, make in families.items()
        }
    for group, families in GROUPS.items():
        seeds = range(FRESH_SEED, FRESH_SEED + min(n_seeds, MANY_SEEDS))
        methods[f"{group}, {MANY_ROWS} rows"] = {
            name: _compared(f"{name}, {MANY_ROWS}", [make(s, MANY_ROWS) for s in seeds], SLOW)
            for name, make in families.items()
        }
    methods["real"] = {name: _compared(name, [one]) for name, one in real_tables().items()}
    tried: dict[str, Any] = {name: (how, Landmarks(100)) for name, how in ENCODINGS.items()}
    tried |= {f"{CHOSEN}, default": (ENCODINGS[CHOSEN], "auto")}
    encodings: dict[str, dict[str, float]] = {name: {} for name in tried}
    for family, make in CHOSEN_ON.items():
        tables = [make(seed) for seed in range(TUNED_SEED, TUNED_SEED + n_seeds)]
        for name, (encoding, affinity) in tried.items():
            scores = []
            for t in tables:
                model = GPOD(t.n_clusters, affinity=affinity, n_jobs=1)
                scores.append(
                    adjusted_rand_score(t.clusters, model.fit_predict(encoded(t, encoding)))
                )
            encodings[name][family] = float(np.mean(scores))
    return {"n_seeds": n_seeds, "methods": methods, "encodings": encodings}


def tables(results: Results) -> dict[str, str]:
    return {"methods": methods_table(results), "encodings": encodings_table(results)}


def methods_table(results: Results) -> str:
    lines = []
    for group, found in results["methods"].items():
        for name, line in found.items():
            lines.append([name, group, *(_ari(line, method) for method in METHODS)])
        if found:
            means = (_mean(list(found.values()), method) for method in METHODS)
            lines.append([f"**mean, {group}**", "", *means])
    return table(["table", "", *METHODS], lines)


def _ari(line: dict[str, Any], method: str) -> str:
    return f"{line[method]['ari']:.2f}" if method in line else ""


def _mean(lines: list[dict[str, Any]], method: str) -> str:
    if not all(method in line for line in lines):
        return ""
    return f"**{np.mean([line[method]['ari'] for line in lines]):.3f}**"


def encodings_table(results: Results) -> str:
    lines = []
    for name, found in results["encodings"].items():
        mean = np.mean(list(found.values()))
        shown = f"**{name}**" if name == CHOSEN else name
        lines.append([shown, *(f"{ari:.2f}" for ari in found.values()), f"{mean:.3f}"])
    return table(["words as", *CHOSEN_ON, "mean"], lines)


def _publish(folder: Any) -> None:
    """The table for users goes to their page too."""
    import json

    results = json.loads(STUDY.stored.read_text(encoding="utf-8"))
    update_page(STUDIES / "tables.md", {"methods": methods_table(results)})


STUDY = Study("mixed_tables", "seeds", 5, measure, tables, draw=_publish)

if __name__ == "__main__":
    STUDY.run(__doc__)
