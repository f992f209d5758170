"""Fits and answers for 50 to 1000 clusters: time, memory and ARI of the default and its routes.

50 000 rows of blobs in 32 dimensions (scikit-learn's ``make_blobs``, standard deviation 7). Every
method runs in a process of its own, on one thread, after a run on few rows; seconds are of the
processor. "neighbours" is the graph whose eigenvectors have an entry for each row and cluster; it
is measured up to 200 clusters. The figures go to ``benchmarks/results/many_clusters.json`` and into
the table of ``benchmarks/studies/defaults.md``.

    python -m benchmarks.many_clusters                               # some minutes
    python -m benchmarks.many_clusters --clusters 50 --methods default kmeans --add
    python -m benchmarks.many_clusters --quick                       # few rows; pages stay
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks import RESULTS, ROOT, STUDIES
from benchmarks.data import ari
from benchmarks.harness.machine import facts
from benchmarks.harness.markdown import table
from benchmarks.harness.memory import peaks_of
from benchmarks.harness.options import parser
from benchmarks.harness.page import update_page, write_text

ROWS, COLUMNS, SPREAD, SEED = 50_000, 32, 7.0, 5
CLUSTERS = (50, 200, 1000)
QUICK_ROWS, QUICK_CLUSTERS = 3000, (20,)
MOST_FOR_NEIGHBORS = 200  # clusters; then it takes minutes, and grows with their square
STORED = RESULTS / "many_clusters.json"
_THREADS = "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"


def _gpod(**options: Any) -> Callable[[int], Any]:
    def made(K: int) -> Any:
        from eigencut import GPOD

        return GPOD(K, **options)

    return made


def _landmarks(K: int) -> Any:
    from eigencut import GPOD, Landmarks

    return GPOD(K, affinity=Landmarks(max(1000, 5 * K)))


def _neighbors(K: int) -> Any:
    from eigencut import GPOD, Neighbors

    return GPOD(K, affinity=Neighbors(15, density_contrast=1.0))


def _kmeans(K: int) -> Any:
    from sklearn.cluster import KMeans

    return KMeans(K, n_init=1, random_state=0)


METHODS: dict[str, Callable[[int], Any]] = {
    "default": _gpod(),
    "landmarks": _landmarks,
    "neighbours": _neighbors,
    "kmeans": _kmeans,
}


def blobs(n_rows: int, n_clusters: int) -> tuple[Any, Any, Any, Any]:
    """Rows and their clusters, to fit on and to label."""
    from sklearn.datasets import make_blobs

    options = {"centers": n_clusters, "cluster_std": SPREAD, "random_state": SEED}
    X, y = make_blobs(2 * n_rows, COLUMNS, **options)
    return X[:n_rows], y[:n_rows], X[n_rows:], y[n_rows:]


def measure_here(method: str, n_rows: int, n_clusters: int) -> dict[str, Any]:
    """In this process."""
    warnings.simplefilter("ignore")
    X, y, new, y_new = blobs(n_rows, n_clusters)
    METHODS[method](3).fit(X[:300]).predict(X[:300])
    found: dict[str, Any] = {}
    model = METHODS[method](n_clusters)

    def fit() -> None:
        start = time.process_time()
        model.fit(X)
        found["fit_seconds"] = round(time.process_time() - start, 2)

    found |= peaks_of(fit)
    start = time.process_time()
    labels = model.predict(new)
    found["predict_seconds"] = round(time.process_time() - start, 2)
    found["ari"], found["ari_new"] = round(ari(y, model.labels_), 4), round(ari(y_new, labels), 4)
    found["affinity"] = repr(getattr(model, "affinity_", ""))
    return found


def measure(method: str, n_rows: int, n_clusters: int) -> dict[str, Any]:
    """In a process of its own."""
    command = [sys.executable, "-m", "benchmarks.many_clusters", "--one"]
    command += [method, str(n_rows), str(n_clusters)]
    environment = {**os.environ, **dict.fromkeys(_THREADS, "1")}
    done = subprocess.run(
        command, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment, check=True
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def table_of(results: list[dict[str, Any]]) -> str:
    header = ["K", "method", "fit, CPU s", "predict, CPU s", "memory MB", "ARI", "of new rows"]
    lines = [
        [
            str(line["n_clusters"]),
            line["method"],
            f"{line['fit_seconds']:.1f}",
            f"{line['predict_seconds']:.1f}",
            f"{line.get('memory_mb', np.nan):.0f}",
            f"{line['ari']:.3f}",
            f"{line['ari_new']:.3f}",
        ]
        for line in results
    ]
    return table(header, lines)


def main() -> None:
    options = parser(
        __doc__,
        "benchmarks.many_clusters",
        quick="few rows; the page is left alone",
        out="where the JSON goes (benchmarks/results/many_clusters.json; nowhere if --quick)",
    )
    options.add_argument("--clusters", nargs="+", type=int)
    options.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    options.add_argument("--add", action="store_true", help="to what was measured before")
    options.add_argument("--one", nargs=3, help="METHOD ROWS K, in this process")
    asked = options.parse_args()
    if asked.one:
        print(json.dumps(measure_here(asked.one[0], *map(int, asked.one[1:]))))
        return
    stored = asked.out or STORED
    is_added = asked.add and stored.exists()
    results = json.loads(stored.read_text(encoding="utf-8"))["fits"] if is_added else []
    n_rows = QUICK_ROWS if asked.quick else ROWS
    for K in asked.clusters or (QUICK_CLUSTERS if asked.quick else CLUSTERS):
        for method in asked.methods:
            if method == "neighbours" and K > MOST_FOR_NEIGHBORS:
                continue
            found = {"n_clusters": K, "method": method, **measure(method, n_rows, K)}
            print(found, file=sys.stderr, flush=True)
            results = [r for r in results if (r["n_clusters"], r["method"]) != (K, method)]
            results.append(found)
            order = list(METHODS)
            results.sort(key=lambda r: (r["n_clusters"], order.index(r["method"])))
            if asked.out or not asked.quick:
                content = {"machine": facts(), "rows": n_rows, "columns": COLUMNS, "fits": results}
                write_text(stored, json.dumps(content, indent=1) + "\n")
    print(table_of(results))
    if not asked.quick:
        update_page(STUDIES / "defaults.md", {"many clusters": table_of(results)})


if __name__ == "__main__":
    main()
