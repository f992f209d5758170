"""Fit and label a data set that is read from disk in blocks: rows per second, peak memory.

    python benchmarks/scale_stream.py [--rows 100000000] [--format npy] [--folder FOLDER]

Two noisy moons, 16 bytes per row, are written to FOLDER first (and removed afterwards); the fit and
the labelling then run in a process of their own, so that the peak memory is theirs.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

BLOCK = 1_000_000


def block_of_moons(number: int) -> tuple[Any, Any]:
    """Rows and truth of one block, without the permutation that needs all of it at once."""
    import numpy as np

    rng = np.random.default_rng(number)
    side = rng.integers(0, 2, BLOCK)
    angle = rng.uniform(0, np.pi, BLOCK)
    X = np.column_stack([np.cos(angle), np.sin(angle)])
    X[side == 1] = [1.0, 0.5] - X[side == 1]
    X += rng.normal(scale=0.06, size=X.shape)
    return X, side


def write(path: Path, n_blocks: int) -> None:
    import numpy as np

    if path.suffix == ".npy":
        rows = np.lib.format.open_memmap(path, "w+", np.float64, (n_blocks * BLOCK, 2))
        for i in range(n_blocks):
            rows[i * BLOCK : (i + 1) * BLOCK] = block_of_moons(i)[0]
        rows.flush()
        return
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema([("x", pa.float64()), ("y", pa.float64())])
    with pq.ParquetWriter(path, schema) as file:
        for i in range(n_blocks):
            X, _ = block_of_moons(i)
            file.write_table(pa.table({"x": X[:, 0], "y": X[:, 1]}, schema=schema))


def fit_and_label(path: Path) -> dict[str, Any]:
    import numpy as np
    from sklearn.metrics import adjusted_rand_score

    from eigencut import GPOD
    from eigencut.stream import Rows

    warnings.simplefilter("ignore")
    rows = Rows.from_npy(path) if path.suffix == ".npy" else Rows.from_parquet(path)
    start = time.perf_counter()
    model = GPOD(2, affinity="landmarks").fit(rows)
    fitted = time.perf_counter()
    labels_path = path.with_name("labels.npy")
    n_rows = model.predict_stream(rows, labels_path)
    end = time.perf_counter()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    labels = np.load(labels_path, mmap_mode="r")
    return {
        "rows": n_rows,
        "format": path.suffix[1:],
        "fit seconds": round(fitted - start, 1),
        "label seconds": round(end - fitted, 1),
        "rows per second": round(n_rows / (end - start)),
        "peak MB": round(peak),
        "ARI": round(float(adjusted_rand_score(block_of_moons(0)[1], labels[:BLOCK])), 5),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000_000)
    parser.add_argument("--format", choices=("npy", "parquet"), default="npy")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        print(json.dumps(fit_and_label(args.one)))
        return
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        path = Path(folder) / f"rows.{args.format}"
        write(path, max(1, args.rows // BLOCK))
        command = [sys.executable, __file__, "--one", str(path)]
        found = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    print(json.dumps(found))
    if args.out:
        args.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
