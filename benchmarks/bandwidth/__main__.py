"""Measure the bandwidth rules of ``Gaussian`` on a varied collection of data sets.

Every rule is used through the public API: ``GPOD(n_clusters=K, cut=cut, affinity=Gaussian(...))``
is fitted on 75 % of the rows and predicts the other 25 %, and both are compared with the known
classes by the adjusted Rand index (ARI). The means go to ``benchmarks/results/bandwidth.json`` and
into the tables of ``docs/bandwidth.md``.

    OMP_NUM_THREADS=1 python -m benchmarks.bandwidth            # everything, some minutes
    OMP_NUM_THREADS=1 python -m benchmarks.bandwidth --quick    # one seed; docs are left alone
"""

from __future__ import annotations

import json
import time
import warnings

from benchmarks import DOCS, RESULTS
from benchmarks.bandwidth.measure import measure_all
from benchmarks.bandwidth.summary import summarize
from benchmarks.bandwidth.tables import make_tables
from benchmarks.harness.options import parser, positive
from benchmarks.harness.page import update_page, write_text
from eigencut import GraphWarning

STORED = RESULTS / "bandwidth.json"
PAGE = DOCS / "bandwidth.md"
SEEDS = 10


def main() -> None:
    options = parser(
        __doc__,
        "benchmarks.bandwidth",
        quick="one seed; the page in docs is left alone",
        out="where the JSON goes (benchmarks/results/bandwidth.json; nowhere if --quick)",
    )
    options.add_argument(
        "--seeds", type=positive, default=SEEDS, metavar="N", help=f"seeds per data set ({SEEDS})"
    )
    asked = options.parse_args()
    n_seeds = 1 if asked.quick else asked.seeds
    out = asked.out or (None if asked.quick else STORED)
    warnings.simplefilter("ignore", GraphWarning)
    start = time.perf_counter()
    runs, skipped = measure_all(n_seeds)
    results = summarize(runs, skipped, n_seeds)
    tables = make_tables(results)
    print(*tables.values(), sep="\n\n")
    if out:
        write_text(out, json.dumps(results, indent=1) + "\n")
    if not asked.quick:
        update_page(PAGE, tables)
    print(f"{len(runs)} fits in {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
