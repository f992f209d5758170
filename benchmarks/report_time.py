"""The report: how long ``eigencut report`` takes on a long file, and how large its page is.

    python -m benchmarks.report_time [--rows 1000000] [--out benchmarks/results/report_time.json]

A table of blobs in Parquet, a model of it (the default: landmarks) and 50 000 new rows. The command
is a process of its own on one thread, reading included: its time by the clock, which a busy machine
makes longer, and its processor time.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.harness.machine import facts, load

N_FEATURES, N_CLUSTERS, N_NEW, SPREAD = 8, 8, 50_000, 2.2
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def make_files(folder: Path, n_rows: int) -> None:
    """The rows of the fit, new ones, and the model."""
    import pandas as pd
    from sklearn.datasets import make_blobs

    from eigencut import GPOD, TableModel

    how = dict(centers=N_CLUSTERS, cluster_std=SPREAD, random_state=0)
    X, _ = make_blobs(n_rows + N_NEW, N_FEATURES, **how)
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(N_FEATURES)])
    frame[:n_rows].to_parquet(folder / "d.parquet")
    frame[n_rows:].to_parquet(folder / "n.parquet")
    TableModel(GPOD(N_CLUSTERS)).fit(frame[:n_rows]).save(folder / "m.eigencut")


def measured(folder: Path) -> dict[str, float]:
    """One report, as a user asks for it."""
    line = [
        "report",
        "m.eigencut",
        "d.parquet",
        "--new",
        "n.parquet",
        "--jobs",
        "1",
        "--quiet",
        "-o",
        "r.html",
    ]
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [sys.executable, "-m", "eigencut", *line]
    subprocess.run(
        command, check=True, cwd=folder, capture_output=True, env=os.environ | ONE_THREAD
    )
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "wall_seconds": round(wall, 2),
        "processor_seconds": round(
            after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 2
        ),
        "page_mb": round((folder / "r.html").stat().st_size / 1e6, 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--out", type=Path, help="write the figures as JSON")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make = [sys.executable, "-m", "benchmarks.report_time", "--make", name, str(asked.rows)]
        subprocess.run(make, check=True)
        before = load()
        runs = [measured(folder) for _ in range(asked.repeats)]
    found = {
        "settings": {
            "rows": asked.rows,
            "new_rows": N_NEW,
            "features": N_FEATURES,
            "clusters": N_CLUSTERS,
        },
        "machine": facts(),
        "load": before,
        "runs": runs,
    }
    text = json.dumps(found, indent=1)
    print(text)
    if asked.out:
        asked.out.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--make"]:
        make_files(Path(sys.argv[2]), int(sys.argv[3]))
    else:
        main()
