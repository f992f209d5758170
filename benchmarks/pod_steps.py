"""How many steps POD takes to stop at machine precision, on rows without any clusters.

Standard normal rows are the slowest case: nothing pulls the rotation to one side. Each run is one
literal start of Algorithm 3. The figures go to ``benchmarks/results/pod_steps.json`` and into a
table of ``benchmarks/studies/risk.md``.

    OMP_NUM_THREADS=1 python -m benchmarks.pod_steps            # three minutes of one core
    OMP_NUM_THREADS=1 python -m benchmarks.pod_steps --quick    # few rows; pages are left alone
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from benchmarks import RESULTS, STUDIES
from benchmarks.harness.markdown import table
from benchmarks.harness.options import parser, positive
from benchmarks.harness.page import update_page, write_text
from eigencut import pod

SIZES = ((500, 5), (2000, 5), (2000, 20), (20_000, 5), (20_000, 10), (100_000, 5))
QUICK_SIZES = ((500, 5), (500, 20))
NO_CAP = 1_000_000
TOLERANCES = {"machine precision": 0.0, "default": 1e-10}
STORED = RESULTS / "pod_steps.json"


def steps(n_rows: int, K: int, seed: int, tol: float) -> int:
    """Of one literal start on rows drawn with this seed; an error if it does not stop."""
    U = np.random.default_rng(seed).standard_normal((n_rows, K))
    found = pod(U, init="literal", random_state=seed, tol=tol, max_iter=NO_CAP)
    if not found.converged:
        raise RuntimeError(f"POD did not stop within {NO_CAP} steps on {n_rows} rows.")
    return found.n_iter


def measure(n_rows: int, K: int, n_runs: int) -> dict[str, Any]:
    found = {
        name: [steps(n_rows, K, seed, tol) for seed in range(n_runs)]
        for name, tol in TOLERANCES.items()
    }
    return {"rows": n_rows, "n_clusters": K, "steps": found}


def steps_table(results: list[dict[str, Any]]) -> str:
    header = ["rows", "K", "runs that stop", "steps, median", "most", "most with the default tol"]
    lines = []
    for line in results:
        exact, default = (line["steps"][name] for name in TOLERANCES)
        stopped = f"{len(exact)} of {len(exact)}"
        numbers = [f"{line['rows']:,}", str(line["n_clusters"]), stopped]
        numbers += [f"{np.median(exact):.0f}", str(max(exact)), str(max(default))]
        lines.append(numbers)
    return table(header, lines)


def main() -> None:
    options = parser(
        __doc__,
        "benchmarks.pod_steps",
        quick="few rows; the page is left alone",
        out=f"where the JSON goes (benchmarks/results/{STORED.name}; nowhere if --quick)",
    )
    options.add_argument("--runs", type=positive, default=20, metavar="N")
    asked = options.parse_args()
    results = []
    for size in QUICK_SIZES if asked.quick else SIZES:
        results.append(measure(*size, asked.runs))
        print(steps_table(results[-1:]).splitlines()[-1], flush=True)
    if asked.out or not asked.quick:
        write_text(asked.out or STORED, json.dumps(results) + "\n")
    if not asked.quick and asked.out is None:
        update_page(STUDIES / "risk.md", {"pod steps": steps_table(results)})


if __name__ == "__main__":
    main()
