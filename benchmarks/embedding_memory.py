"""What a landmark fit of a large array takes, next to the array itself: float32, or sparse.

    OMP_NUM_THREADS=1 python -m benchmarks.embedding_memory            # 1 000 000 x 768, float32
    OMP_NUM_THREADS=1 python -m benchmarks.embedding_memory --sparse   # 200 000 x 50 000, of words

Dense rows are made in place, block by block, so that nothing but the array is there when the fit
begins; the peak is that of the whole process (what /usr/bin/time -v says too).
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from benchmarks import RESULTS
from benchmarks.data import ari
from benchmarks.harness.machine import facts

_BLOCK, _WORDS = 10_000, 60
_MB = 1e6


def directions(n_rows: int, n_columns: int, n_clusters: int) -> tuple[Any, Any]:
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


def texts(n_rows: int, n_columns: int, n_clusters: int) -> tuple[Any, Any]:
    """Sparse rows of unit length: 60 words drawn from a subject, or from what all speak of."""
    rng = np.random.default_rng(0)
    usual = 1 / (10 + np.arange(n_columns))
    shares = [rng.permutation(usual) for _ in range(n_clusters)]
    y = np.sort(rng.integers(n_clusters, size=n_rows))
    drawn = []
    for k, size in enumerate(np.bincount(y, minlength=n_clusters)):
        mixed = shares[k] + 2 * usual
        drawn.append(rng.choice(n_columns, size=(size, _WORDS), p=mixed / mixed.sum()))
    words = np.concatenate(drawn)
    starts = np.arange(0, words.size + 1, _WORDS)
    X = csr_array((np.ones(words.size), words.ravel(), starts), shape=(n_rows, n_columns))
    X.sum_duplicates()
    rarity = np.log(n_rows / (1 + np.bincount(X.indices, minlength=n_columns)))
    X.data = np.log1p(X.data) * rarity[X.indices]
    X.data /= np.repeat(np.sqrt(X.multiply(X).sum(axis=1)), np.diff(X.indptr))
    return X, y


def peak() -> float:
    """Bytes that the process held at most so far."""
    return 1024.0 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sparse", action="store_true")
    parser.add_argument("--rows", type=int)
    parser.add_argument("--columns", type=int)
    parser.add_argument("--clusters", type=int, default=20)
    asked = parser.parse_args()
    from eigencut import GPOD

    rows, columns = (200_000, 50_000) if asked.sparse else (1_000_000, 768)
    shape = (asked.rows or rows, asked.columns or columns)
    X, y = (texts if asked.sparse else directions)(*shape, asked.clusters)
    size = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes if asked.sparse else X.nbytes
    before, start = peak(), time.process_time()
    model = GPOD(asked.clusters, affinity="landmarks").fit(X)
    seconds, after = time.process_time() - start, peak()
    found = {
        "shape": shape,
        "array_mb": round(size / _MB),
        "before_mb": round(before / _MB),
        "peak_mb": round(after / _MB),
        "peak_over_array": round(after / size, 3),
        "cpu_seconds": round(seconds, 1),
        "ari": round(ari(y, model.labels_), 4),
    }
    print(json.dumps(found))
    path = RESULTS / "embedding_memory.json"
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    known["sparse" if asked.sparse else "dense"] = {"machine": facts(), **found}
    path.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
