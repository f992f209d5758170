"""The command line: how fast it starts, and how fast and small ``predict`` is on a long file.

    python -m benchmarks.command_line [--rows 10000000] [--out FILE]

Starts are wall and CPU times of whole processes, the median of five. ``predict`` labels a Parquet
file with a model of 1000 landmarks; its peak memory is the process's own. It is compared with
``model.predict`` on the same rows in memory, without reading and writing; the two alternate and the
best of each counts.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.harness.machine import facts, load

N_FEATURES, N_CLUSTERS, N_LANDMARKS = 8, 10, 1000
COMMAND = [sys.executable, "-m", "eigencut"]


def start_of(*arguments: str) -> dict[str, float]:
    """Wall and CPU time of a short command; the CPU time is the same on a busy machine."""
    walls, cpus = [], []
    for _ in range(5):
        start, used = time.perf_counter(), cpu_of_children()
        subprocess.run([*COMMAND, *arguments], check=True, capture_output=True)
        walls.append(time.perf_counter() - start)
        cpus.append(cpu_of_children() - used)
    return {"wall": statistics.median(walls), "cpu": statistics.median(cpus)}


def cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def make_files(folder: Path, n_rows: int) -> None:
    """A Parquet file of blobs, written block by block, and a model of its first rows."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    from eigencut import GPOD, Landmarks, TableModel
    from eigencut.io.table import Table

    rng = np.random.default_rng(0)
    centers = rng.uniform(-20, 20, size=(N_CLUSTERS, N_FEATURES))
    names = [f"x{i}" for i in range(N_FEATURES)]
    with pq.ParquetWriter(folder / "rows.parquet", pa.schema([(n, "float64") for n in names])) as w:
        for start in range(0, n_rows, 500_000):
            n = min(500_000, n_rows - start)
            X = centers[rng.integers(0, N_CLUSTERS, n)] + rng.normal(0, 3, size=(n, N_FEATURES))
            if start == 0:
                model = TableModel(GPOD(N_CLUSTERS, affinity=Landmarks(N_LANDMARKS)))
                model.fit(Table(tuple(names), X[:100_000]))
                model.save(folder / "model.eigencut", include_training_data=False)
            w.write_table(pa.table(dict(zip(names, X.T, strict=True))))


def predict_in_memory(folder: Path) -> dict[str, float]:
    """Time of ``predict`` alone, on rows that are in memory, a million at a time."""
    import numpy as np
    import pyarrow.parquet as pq

    from eigencut import load

    model = load(folder / "model.eigencut")
    seconds, n_rows = 0.0, 0
    for batch in pq.ParquetFile(folder / "rows.parquet").iter_batches(1 << 20):
        X = np.column_stack([column.to_numpy() for column in batch.columns])
        start = time.perf_counter()
        model.predict(X)
        seconds += time.perf_counter() - start
        n_rows += len(X)
    return {"seconds": seconds, "rows_per_second": n_rows / seconds}


def predict_by_command(folder: Path) -> dict[str, Any]:
    """What the command says of itself, with the peak memory of its process."""
    code = (
        "import sys, resource; from eigencut.cli import main; code = main(sys.argv[1:]);"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, file=sys.stderr);"
        "sys.exit(code)"
    )
    files = [str(folder / name) for name in ("model.eigencut", "rows.parquet", "labels.parquet")]
    line = ["predict", files[0], files[1], "-o", files[2], "--json"]
    done = subprocess.run(
        [sys.executable, "-c", code, *line], check=True, capture_output=True, text=True
    )
    result = json.loads(done.stdout)
    return {
        "seconds": result["seconds"],
        "rows_per_second": result["rows"] / result["seconds"],
        "peak_mb": float(done.stderr.split()[-1]),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--out", type=Path, help="write the figures as JSON")
    parser.add_argument("--one", metavar="FOLDER", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(predict_in_memory(Path(arguments.one))))
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_files(folder, arguments.rows)
        model = str(folder / "model.eigencut")
        starts = {"--help": start_of("--help"), "info": start_of("info", model)}
        command: list[dict[str, Any]] = []
        memory: list[dict[str, Any]] = []
        for _ in range(arguments.repeats):
            command.append(predict_by_command(folder))
            line = [sys.executable, "-m", "benchmarks.command_line", "--one", name]
            done = subprocess.run(line, check=True, capture_output=True, text=True)
            memory.append(json.loads(done.stdout))
    best = {
        "command": min(command, key=lambda run: run["seconds"]),
        "in_memory": min(memory, key=lambda run: run["seconds"]),
    }
    share = best["command"]["rows_per_second"] / best["in_memory"]["rows_per_second"]
    report = {
        "settings": {"rows": arguments.rows, "features": N_FEATURES, "landmarks": N_LANDMARKS},
        "machine": facts(),
        "load": load(),
        "start_seconds": starts,
        "predict": best,
        "share_of_throughput": share,
    }
    print(json.dumps(report, indent=1))
    if arguments.out:
        arguments.out.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
