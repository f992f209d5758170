"""Fit on a local Dask cluster of one and of two workers: speed-up.

    python benchmarks/scale_dask.py [--rows 20000000] [--workers 1 2] [--out FILE]

Each worker is a process with one thread. Chunks of one million rows (two moons, d = 2) are made on
the workers once and kept in their memory, so that times are of the fit alone.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster, wait

from eigencut import GPOD
from eigencut.distributed import fit

CHUNK = 1_000_000


def moons(number: int) -> Any:
    rng = np.random.default_rng(number)
    side = rng.integers(0, 2, CHUNK)
    angle = rng.uniform(0, np.pi, CHUNK)
    X = np.column_stack([np.cos(angle), np.sin(angle)])
    X[side == 1] = [1.0, 0.5] - X[side == 1]
    return X + rng.normal(scale=0.06, size=X.shape)


def measure(n_workers: int, n_chunks: int) -> dict[str, Any]:
    options = dict(n_workers=n_workers, threads_per_worker=1, dashboard_address=None)
    with LocalCluster(**options) as cluster, Client(cluster):
        parts = [
            da.from_delayed(dask.delayed(moons)(i), (CHUNK, 2), np.float64) for i in range(n_chunks)
        ]
        X = da.concatenate(parts).persist()
        wait(X)
        fit(GPOD(2, affinity="landmarks"), X[:CHUNK])  # imports are not part of a fit
        start = time.perf_counter()
        model = fit(GPOD(2, affinity="landmarks"), X)
        seconds = time.perf_counter() - start
    values = model.eigenvalues_.tolist()
    return {"workers": n_workers, "seconds": round(seconds, 2), "eigenvalues": values}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    found = [measure(n, max(1, args.rows // CHUNK)) for n in args.workers]
    speed_up = found[0]["seconds"] / found[-1]["seconds"]
    result = {"rows": args.rows, "runs": found, "speed-up": round(speed_up, 2)}
    print(json.dumps(result))
    if args.out:
        args.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
