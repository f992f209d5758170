"""What a fit adds to the memory in use, against what ``Affinity.memory_bytes`` says it will.

    python -m benchmarks.fit_memory [--only NAME] [--out FILE]

Every fit runs in a process of its own. Measured is the rise of the resident set above what it was
before the fit, with the rows in memory: its peak, what the fit imports included.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import warnings
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks import RESULTS, ROOT
from benchmarks.harness.memory import peaks_of


@dataclass(frozen=True)
class Case:
    """One fit: the affinity by its name, or a stream through landmarks; sizes; threads.

    ``density`` is the share of numbers that sparse rows store, 0 for dense ones. The rows of a
    precomputed graph are its affinities, n = d.
    """

    graph: str
    n: int
    d: int
    K: int
    threads: int = 2
    density: float = 0.0

    @property
    def affinity(self) -> str:
        return "landmarks" if self.graph == "stream" else self.graph

    @property
    def said_mb(self) -> float:
        """What the affinity says the fit takes at most, in MB (1e6 bytes)."""
        from eigencut._utils.memory import FitSizes
        from eigencut._utils.running import threads
        from eigencut.affinities import named_affinity

        n_rows = None if self.graph == "stream" else self.n
        stored = self.d * (self.density or 1.0)
        name = "neighbors" if self.graph == "auto" else self.affinity
        with threads(self.threads):
            sizes = FitSizes(n_rows, stored, self.K, self.density > 0)
            said = named_affinity(name).memory_bytes(sizes)
        assert said is not None
        return said / 1e6


CASES = [
    *(Case("gaussian", n, d, K) for n in (500, 2000, 5000) for d, K in ((2, 2), (16, 20))),
    Case("gaussian", 3000, 1000, 5),
    Case("gaussian", 2000, 5000, 3),
    Case("gaussian", 5000, 2, 2, threads=8),
    *(Case("neighbors", n, 2, K) for n in (6000, 50_000) for K in (2, 20)),
    *(Case("neighbors", n, 8, 10) for n in (6000, 50_000)),
    *(Case("neighbors", n, 16, K) for n in (10_000, 50_000) for K in (10, 30)),
    *(Case("neighbors", n, 128, 10) for n in (10_000, 30_000)),
    Case("neighbors", 50_000, 2, 2, threads=8),
    *(
        Case("neighbors", n, d, 3)
        for n, d in ((4000, 1000), (6000, 2000), (3000, 5000), (1000, 10_000), (2000, 20_000))
    ),
    Case("neighbors", 600, 50_000, 2),
    Case("neighbors", 6000, 2000, 3, threads=8),
    *(Case("auto", n, d, 3) for n, d in ((6000, 2), (20_000, 10), (40_000, 16), (10_000, 500))),
    *(Case("auto", n, d, 3) for n, d in ((6000, 2000), (3000, 5000), (2000, 20_000))),
    *(
        Case("neighbors", n, d, 3, density=density)
        for n, d, density in (
            *((5000, 1000, 0.01), (20_000, 10_000, 0.001), (3000, 50_000, 0.002)),
            *((10_000, 200, 0.2), (2000, 100_000, 0.001), (4000, 3000, 0.1)),
        )
    ),
    *(Case("auto", n, d, 3, density=0.01) for n, d in ((5000, 2000), (15_000, 3000))),
    *(Case("precomputed", n, n, K) for n in (500, 2000, 5000) for K in (2, 10)),
    *(
        Case("precomputed", n, n, K, density=per_row / n)
        for n, per_row, K in ((3000, 301, 2), (5000, 11, 5), (30_000, 21, 3), (100_000, 11, 10))
    ),
    *(Case("landmarks", n, 2, K) for n in (20_000, 300_000) for K in (2, 20)),
    *(Case("landmarks", n, 16, K) for n in (20_000, 300_000) for K in (2, 20)),
    *(Case("landmarks", n, d, 3) for n, d in ((20_000, 128), (5000, 2000), (3000, 10_000))),
    Case("landmarks", 300_000, 2, 2, threads=8),
    *(Case("stream", n, d, 3) for n, d in ((300_000, 2), (300_000, 16), (20_000, 1000))),
]


def rows_of(case: Case) -> Any:
    """Moons, and for more clusters or features blobs that overlap, so that graphs are connected."""
    from sklearn.datasets import make_blobs, make_moons

    if case.density:
        return _sparse_rows(case)
    if case.graph == "precomputed":
        return _affinities(case.n)
    if case.d == 2 and case.K == 2:
        return make_moons(case.n, noise=0.06, random_state=0)[0].copy()
    spread = 1.25 * case.d**0.5
    return make_blobs(case.n, case.d, centers=case.K, cluster_std=spread, random_state=0)[0]


def _sparse_rows(case: Case) -> Any:
    """Words of documents; or, of a precomputed graph, affinities to the rows next to each."""
    import numpy as np
    from scipy import sparse

    rng = np.random.default_rng(0)
    per_row = max(1, round(case.density * case.d))
    if case.graph == "precomputed":
        per_row |= 1  # as many before a row as after it
    starts = np.arange(0, case.n * per_row + 1, per_row, dtype=np.int32)
    if case.graph == "precomputed":
        near = np.arange(per_row, dtype=np.int32) - per_row // 2
        columns = np.sort((np.arange(case.n, dtype=np.int32)[:, np.newaxis] + near) % case.n)
        values = np.ones(columns.size)
    else:  # one of each so many columns
        step = case.d // per_row
        columns = rng.integers(0, step, size=(case.n, per_row), dtype=np.int32)
        columns = np.minimum(columns, rng.integers(0, step, size=columns.shape, dtype=np.int32))
        columns += step * np.arange(per_row, dtype=np.int32)
        values = rng.random(columns.size)
    return sparse.csr_array((values, columns.ravel(), starts), shape=(case.n, case.d))


def _affinities(n: int) -> Any:
    import numpy as np

    place = np.linspace(0, 4, n)
    weights = np.subtract.outer(place, place)
    np.square(weights, out=weights)
    np.negative(weights, out=weights)
    return np.exp(weights, out=weights)


def measure_here(case: Case) -> dict[str, Any]:
    """Measured and said, in MB."""
    from eigencut import GPOD
    from eigencut.io.rows import Rows

    warnings.simplefilter("ignore")
    X = rows_of(case)
    model = GPOD(case.K, affinity=case.affinity, n_jobs=case.threads)
    source = Rows.from_array(X) if case.graph == "stream" else X
    peaks = peaks_of(lambda: model.fit(source))
    assert peaks, "memory is read from /proc, which needs Linux"
    measured, said = peaks["memory_mb"], case.said_mb
    found = {"measured MB": measured, "said MB": round(said, 1), "ratio": round(said / measured, 2)}
    return asdict(case) | found


def measure(case: Case) -> dict[str, Any]:
    """The same in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.fit_memory", "--one", json.dumps(asdict(case))]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    return dict(json.loads(done.stdout))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=sorted({case.graph for case in CASES}))
    parser.add_argument("--out", type=Path, default=RESULTS / "fit_memory.json")
    parser.add_argument("--one", type=json.loads, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        print(json.dumps(measure_here(Case(**args.one))))
        return
    found = []
    for case in CASES:
        if args.only in (None, case.graph):
            found.append(measure(case))
            print(json.dumps(found[-1]), flush=True)
    broken = [one for one in found if one["ratio"] < 1]
    print(f"{len(found)} fits; {len(broken)} took more than was said")
    args.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
