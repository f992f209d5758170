"""ARI of the default at growing n, next to its peers in the same run.

python -m benchmarks.growth --rows 500 2000 10000 --seeds 2
python -m benchmarks.growth --rows 100000 1000000 --route default landmarks stream dask
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.growth.families import CHOSEN_ON, HELD_OUT
from benchmarks.growth.peers import PEERS, ROUTES, scores
from benchmarks.harness.markdown import table


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rows", type=int, nargs="+", default=[500, 2000, 10_000, 100_000])
    options.add_argument("--seeds", type=int, default=1)
    options.add_argument(
        "--first-seed", type=int, default=1000, help="not those rules were chosen on"
    )
    options.add_argument("--held-out", action="store_true", help="families kept for the end")
    options.add_argument(
        "--route", nargs="+", choices=ROUTES, default=[], help="ways to fit, instead of peers"
    )
    options.add_argument("--only", nargs="+", metavar="FAMILY", help="some of the families")
    options.add_argument("--out", type=Path)
    asked = options.parse_args()
    warnings.simplefilter("ignore")
    families = HELD_OUT if asked.held_out else CHOSEN_ON
    families = {name: families[name] for name in asked.only or families}
    peers = {name: ROUTES[name] for name in asked.route} or PEERS
    results: dict[str, Any] = {}
    for name, family in families.items():
        for n in asked.rows:
            seeds = range(asked.first_seed, asked.first_seed + asked.seeds)
            runs = [scores(*_rows_truth_k(family, n, seed), peers) for seed in seeds]
            means = {
                peer: {
                    key: float(np.mean([run[peer][key] for run in runs])) for key in runs[0][peer]
                }
                for peer in runs[0]
            }
            results.setdefault(name, {})[str(n)] = means
            print(name, n, {p: round(m["ari"], 3) for p, m in means.items()}, flush=True)
            if asked.out:
                asked.out.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print((route_table if asked.route else growth_table)(results, asked.rows))


def _rows_truth_k(family: Any, n: int, seed: int) -> tuple[Any, Any, int]:
    X, y, K = family(n, seed)
    return X, y, K


def growth_table(results: dict[str, Any], rows: list[int]) -> str:
    """The default's ARI at each n, and the best peer's mean over those n that it was run on."""
    lines = []
    for name, by_n in results.items():
        ours = [by_n[str(n)]["eigencut"]["ari"] for n in rows]
        means = {
            peer: float(np.mean([by_n[str(n)][peer]["ari"] for n in rows if peer in by_n[str(n)]]))
            for peer in by_n[str(rows[0])]
            if peer != "eigencut"
        }
        best = max(means, key=lambda peer: means[peer])
        lines.append([name, *(f"{a:.2f}" for a in ours), f"{means[best]:.2f} ({best})"])
    return table(["family", *(f"{n:,}" for n in rows), "best peer, mean"], lines)


def route_table(results: dict[str, Any], rows: list[int]) -> str:
    """The ARI of every route at each n."""
    routes = list(next(iter(results.values()))[str(rows[0])])
    header = ["family", *(f"{n:,}, {route}" for n in rows for route in routes)]
    lines = [
        [name, *(f"{by_n[str(n)][route]['ari']:.2f}" for n in rows for route in routes)]
        for name, by_n in results.items()
    ]
    return table(header, lines)


if __name__ == "__main__":
    main()
