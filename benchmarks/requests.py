"""Limits of sizes, levels and consensus beside other packages: ARI and time, on one core.

Sizes beside k-means-constrained (if it is installed), levels beside agglomerative clustering of
scikit-learn, consensus beside average linkage of the co-association matrix. The figures go to
``benchmarks/results/requests.json`` and into the table of ``benchmarks/studies/requests.md``.

    OMP_NUM_THREADS=1 python -m benchmarks.requests            # some minutes of one core
    OMP_NUM_THREADS=1 python -m benchmarks.requests --quick    # one seed; pages are left alone
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.datasets import load_digits, make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score

import eigencut
from benchmarks import RESULTS, STUDIES
from benchmarks.harness.markdown import table
from benchmarks.harness.options import parser, positive
from benchmarks.harness.page import update_page, write_text
from eigencut import GPOD

STORED = RESULTS / "requests.json"
Task = tuple[str, str, Any, Callable[[], Any]]  # the task, the method, true labels, labels


def sizes(seed: int) -> Iterator[Task]:
    """Clusters of one size."""
    blobs = make_blobs(2000, centers=5, n_features=4, cluster_std=3.0, random_state=seed)
    moons = make_moons(2000, noise=0.1, random_state=seed)
    large = make_blobs(20_000, centers=10, n_features=4, cluster_std=2.0, random_state=seed)
    for name, (X, y), K in (
        ("equal sizes: blobs", blobs, 5),
        ("equal sizes: moons", moons, 2),
        ("equal sizes: 20 000 rows", large, 10),
    ):
        n = len(X) // K
        model = GPOD(K, min_cluster_size="equal", n_jobs=1)
        yield name, "eigencut", y, partial(model.fit_predict, X)
        if find_spec("k_means_constrained"):
            peer = import_module("k_means_constrained").KMeansConstrained(
                K, size_min=n, size_max=n, n_init=3, n_jobs=1, random_state=seed
            )
            yield name, "k-means-constrained", y, partial(peer.fit_predict, X)


def levels(seed: int) -> Iterator[Task]:
    """Nine clusters, and three groups of them: the mean ARI of both levels."""
    rng = np.random.default_rng(seed)
    corner = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.87]])
    centres = np.array([9 * a + 3.6 * b for a in corner for b in corner])
    fine = rng.choice(9, 3000, p=rng.dirichlet(np.full(9, 5.0)))
    for name, noise in (
        ("levels: round", rng.normal(size=(3000, 2))),
        ("levels: heavy tails", 0.6 * rng.standard_t(2.5, size=(3000, 2))),
    ):
        X = centres[fine] + noise
        truth = (fine, fine // 3)
        yield name, "eigencut", truth, partial(levels_of, X)
        for linkage in ("ward", "average"):
            yield name, f"{linkage} linkage", truth, partial(two_linkages, X, linkage)


def levels_of(X: Any) -> Any:
    return GPOD(9, n_jobs=1).fit(X).predict_levels(X, (9, 3))


def two_linkages(X: Any, linkage: str) -> Any:
    return [AgglomerativeClustering(k, linkage=linkage).fit_predict(X) for k in (9, 3)]


def co_association(runs: list[Any], n_clusters: int) -> Any:
    """Average linkage of the share of labellings that put two rows together."""
    together = np.mean([run[:, np.newaxis] == run for run in runs], axis=0)
    peer = AgglomerativeClustering(n_clusters, metric="precomputed", linkage="average")
    return peer.fit_predict(1 - together)


def labels_of_consensus(runs: list[Any], n_clusters: int) -> Any:
    return eigencut.consensus(runs, n_clusters).labels


def consensus(seed: int) -> Iterator[Task]:
    """One partition from twenty runs of k-means."""
    digits = load_digits(return_X_y=True)
    blobs = make_blobs(2000, centers=8, cluster_std=1.8, random_state=seed)
    large = make_blobs(1_000_000, centers=8, cluster_std=1.0, random_state=seed)
    for name, (X, y), K in (
        ("consensus: digits", digits, 10),
        ("consensus: blobs", blobs, 8),
        ("consensus: 1 000 000 rows", large, 8),
    ):
        rng = np.random.default_rng(seed)
        some = X[:: max(1, len(X) // 5000)]
        numbers = rng.integers(K, 4 * K, 20).tolist()
        models = [KMeans(k, n_init=1, random_state=i).fit(some) for i, k in enumerate(numbers)]
        runs = [model.predict(X).astype(np.intp) for model in models]
        yield name, "eigencut", y, partial(labels_of_consensus, runs, K)
        if len(X) < 10_000:
            yield name, "average linkage", y, partial(co_association, runs, K)
            yield name, "one run", y, partial(KMeans(K, n_init=1, random_state=seed).fit_predict, X)


def measure(n_seeds: int) -> dict[str, dict[str, dict[str, list[float]]]]:
    """Return ARI and seconds of each method, by task."""
    found: dict[str, dict[str, dict[str, list[float]]]] = {}
    for seed in range(n_seeds):
        for family in (sizes, levels, consensus):
            for task, method, truth, ask in family(seed):
                if seed and "000" in task:
                    continue
                start = time.process_time()
                labels = ask()
                seconds = time.process_time() - start
                pairs = zip(truth, labels, strict=True) if isinstance(truth, tuple) else None
                each = [(truth, labels)] if pairs is None else list(pairs)
                ari = float(np.mean([adjusted_rand_score(a, b) for a, b in each]))
                of_method = found.setdefault(task, {}).setdefault(method, {"ari": [], "s": []})
                of_method["ari"].append(ari)
                of_method["s"].append(round(seconds, 3))
                print(f"{task:28} {method:20} {ari:.3f} {seconds:8.2f} s", flush=True)
    return found


def requests_table(results: dict[str, Any]) -> str:
    lines = []
    for task, methods in results.items():
        for method, one in methods.items():
            ari, seconds = np.mean(one["ari"]), np.mean(one["s"])
            lines.append([task, method, f"{ari:.2f}", f"{seconds:.2g} s"])
    return table(["task", "method", "ARI", "time"], lines)


def main() -> None:
    options = parser(
        __doc__,
        "benchmarks.requests",
        quick="one seed; the page is left alone",
        out=f"where the JSON goes (benchmarks/results/{STORED.name}; nowhere if --quick)",
    )
    options.add_argument("--seeds", type=positive, default=5, metavar="N")
    asked = options.parse_args()
    warnings.simplefilter("ignore")
    results = measure(1 if asked.quick else asked.seeds)
    if asked.out or not asked.quick:
        write_text(asked.out or STORED, json.dumps(results, indent=1) + "\n")
    if not asked.quick and asked.out is None:
        update_page(STUDIES / "requests.md", {"requests": requests_table(results)})


if __name__ == "__main__":
    main()
