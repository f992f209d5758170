"""What a landmark fit of a large float32 array takes, next to the array itself.

    OMP_NUM_THREADS=1 python -m benchmarks.embedding_memory [--rows 1000000] [--columns 768]

Rows are made in place, block by block, so that nothing but the array is there when the fit begins;
the peak is that of the whole process (what /usr/bin/time -v says too).
"""

from __future__ import annotations

import argparse
import json
import resource
import time

import numpy as np
from numpy.typing import NDArray

from benchmarks import RESULTS
from benchmarks.data import ari
from benchmarks.harness.machine import facts

_BLOCK = 10_000
_MB = 1e6


def directions(n_rows: int, n_columns: int, n_clusters: int) -> tuple[NDArray[np.float32], NDArray]:
    """Unit vectors around centers."""
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(n_clusters, n_columns)).astype(np.float32)
    y = rng.integers(n_clusters, size=n_rows)
    X = np.empty((n_rows, n_columns), dtype=np.float32)
    for start in range(0, n_rows, _BLOCK):
        rows = X[start : start + _BLOCK]
        rng.standard_normal(dtype=np.float32, out=rows)
        rows *= np.float32(1.5)
        rows += centers[y[start : start + _BLOCK]]
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return X, y


def peak() -> float:
    """Bytes that the process held at most so far."""
    return 1024.0 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=768)
    parser.add_argument("--clusters", type=int, default=20)
    asked = parser.parse_args()
    from eigencut import GPOD

    X, y = directions(asked.rows, asked.columns, asked.clusters)
    before, start = peak(), time.process_time()
    model = GPOD(asked.clusters, affinity="landmarks").fit(X)
    seconds, after = time.process_time() - start, peak()
    found = {
        "array_mb": round(X.nbytes / _MB),
        "before_mb": round(before / _MB),
        "peak_mb": round(after / _MB),
        "peak_over_array": round(after / X.nbytes, 3),
        "cpu_seconds": round(seconds, 1),
        "ari": round(ari(y, model.labels_), 4),
    }
    print(json.dumps(found))
    result = {"machine": facts(), **vars(asked), **found}
    path = RESULTS / "embedding_memory.json"
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
