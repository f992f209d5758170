"""Measure the bandwidth rules of ``Gaussian`` on a varied collection of data sets.

Every rule is used through the public API: ``GPOD(n_clusters=K, cut=cut, affinity=Gaussian(...))``
is fitted on 75 % of the rows and predicts the other 25 %, and both are compared with the known
classes by the adjusted Rand index (ARI). The means go to ``benchmarks/results/bandwidth.json`` and
into the tables of ``benchmarks/studies/bandwidth.md``.

    OMP_NUM_THREADS=1 python -m benchmarks.bandwidth            # everything, some minutes
    OMP_NUM_THREADS=1 python -m benchmarks.bandwidth --quick    # one seed; pages are left alone
"""

from __future__ import annotations

from typing import Any

from benchmarks.bandwidth.measure import measure_all
from benchmarks.bandwidth.summary import summarize
from benchmarks.bandwidth.tables import make_tables
from benchmarks.harness.study import Study


def measure(n_seeds: int, quick: bool) -> dict[str, Any]:
    n_seeds = 1 if quick else n_seeds
    runs, skipped = measure_all(n_seeds)
    return summarize(runs, skipped, n_seeds)


STUDY = Study("bandwidth", "seeds", 10, measure, make_tables)

if __name__ == "__main__":
    STUDY.run(__doc__)
