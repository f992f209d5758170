"""The default on public suites, only K given, next to its peers in the same run.

    OMP_NUM_THREADS=1 python -m benchmarks.suites             # shapes, tables, texts: some minutes
    OMP_NUM_THREADS=1 python -m benchmarks.suites --clean 2000   # generated sets of clear clusters
    OMP_NUM_THREADS=1 python -m benchmarks.suites --clean 2000 --auto   # and K is to be found
    OMP_NUM_THREADS=1 python -m benchmarks.suites --ablation  # each threshold halved and doubled

Reads ``../shared/data/suites``: the halves on which rules are chosen. A set of shapes has several
reference labellings; each is tried with its own K, and the best ARI counts. Rows of label 0 are
noise, and count for no score. Peers are those whose packages are installed. Clean sets have 2 to 20
clusters of 6 rows and more, 14 deviations apart and farther, in 1 to 300 dimensions. Figures go to
``benchmarks/results/suites.json``.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks import RESULTS, ROOT
from benchmarks.growth.peers import _eigencut, _kmeans, _mixture, _sklearn
from benchmarks.harness.markdown import table
from eigencut import GPOD

SUITES = ROOT.parent / "shared" / "data" / "suites"
STORED = RESULTS / "suites.json"
Method = Callable[[Any, int], Any]


def _genie(X: Any, K: int) -> Any:
    return import_module("genieclust").Genie(K).fit_predict(X)


def _lumbermark(X: Any, K: int) -> Any:
    return import_module("lumbermark").Lumbermark(K).fit_predict(X)


def _umap(X: Any, K: int) -> Any:
    from sklearn.cluster import KMeans

    umap = import_module("umap").UMAP
    places = umap(n_components=5, n_neighbors=15, min_dist=0.0, random_state=0).fit_transform(X)
    return KMeans(K, n_init=4, random_state=0).fit_predict(places)


def _first(make: Any, X: Any, K: int) -> Any:
    return next(make(X, K, None))


def methods() -> dict[str, Method]:
    """Return the default and the peers that are installed."""
    own = {"eigencut": _eigencut, "k-means": _kmeans, "mixture": _mixture, "sklearn kNN": _sklearn}
    found: dict[str, Method] = {name: partial(_first, make) for name, make in own.items()}
    others = {"genieclust": _genie, "lumbermark": _lumbermark, "umap": _umap}
    return found | {name: make for name, make in others.items() if find_spec(name)}


def sets(suite: str) -> Iterator[tuple[str, Any, list[Any]]]:
    """Yield name, rows and reference labellings, from 1 on, of each set of a suite."""
    for path in sorted((SUITES / suite).glob("*.npz")):
        stored = np.load(path)
        labellings = [stored[name] for name in sorted(stored.files) if name.startswith("labels")]
        if "y" in stored.files:
            labellings = [np.unique(stored["y"], return_inverse=True)[1] + 1]
        yield path.stem, np.asarray(stored["X"], dtype=np.float64), labellings


def score(X: Any, labellings: list[Any], method: Method) -> float:
    """Return the best ARI over the reference labellings, each with its own K."""
    labels: dict[int, Any] = {}
    scores = []
    for truth in labellings:
        K, counts = len(np.unique(truth[truth > 0])), truth > 0
        if K not in labels:
            labels[K] = method(X, K)
        scores.append(float(adjusted_rand_score(truth[counts], labels[K][counts])))
    return max(scores)


def measure(names: list[str]) -> dict[str, Any]:
    """Return the mean ARI and the seconds of each method on each suite."""
    results: dict[str, Any] = {}
    for suite in ("shapes", "tables", "texts"):
        for name, X, labellings in sets(suite):
            for peer in names:
                start = time.process_time()
                try:
                    ari = score(X, labellings, methods()[peer])
                except ValueError as error:
                    print(f"{peer} fails on {name}: {error}")
                    ari = 0.0
                line = results.setdefault(suite, {}).setdefault(peer, {"ari": {}, "seconds": 0.0})
                line["ari"][name] = round(ari, 4)
                line["seconds"] += time.process_time() - start
            print(suite, name, {p: results[suite][p]["ari"][name] for p in names}, flush=True)
    return results


def means_table(results: dict[str, Any]) -> str:
    lines = [
        [suite, peer, f"{np.mean(list(line['ari'].values())):.3f}", f"{line['seconds']:.1f}"]
        for suite, found in results.items()
        for peer, line in found.items()
    ]
    return table(["suite", "method", "mean ARI", "CPU seconds"], lines)


def clean_set(seed: int) -> tuple[Any, Any]:
    """Return rows of clearly separate clusters, and their clusters."""
    rng = np.random.default_rng([9, seed])
    K = int(rng.integers(2, 21))
    d = int(rng.choice([1, 2, 2, 3, 5, 10, 20, 50, 100, 300]))
    n, ratio = np.exp(rng.uniform(np.log(60), np.log(8000))), np.exp(rng.uniform(0, np.log(100)))
    shares = np.exp(rng.uniform(-np.log(ratio), 0, K))
    sizes = np.maximum(6, (n * shares / shares.sum()).astype(int))
    if d == 1:
        centres = rng.permutation(np.cumsum(rng.uniform(14, 30, K)))[:, np.newaxis]
    else:
        apart = rng.uniform(14, 30)
        reach, centres = apart * max(1.2, K ** (1 / d)), np.empty((0, d))
        while len(centres) < K:
            one = rng.uniform(-reach, reach, size=d)
            if (np.linalg.norm(centres - one, axis=1) >= apart + 2 * np.sqrt(d)).all():
                centres = np.vstack([centres, one])
            else:
                reach *= 1.05
    spread = np.exp(rng.uniform(-0.5, 0.0, K)) if rng.random() < 0.5 else np.ones(K)
    y = np.repeat(np.arange(K), sizes)
    X = centres[y] + spread[y, np.newaxis] * rng.normal(size=(len(y), d))
    kind = rng.integers(5)
    if kind == 1:
        X = X + 1e4
    elif kind == 2:
        X = X * 10.0 ** rng.uniform(-6, 6)
    elif kind == 3:
        X = np.round(X)
    elif kind == 4:
        some = rng.permutation(len(X))[: len(X) // 3]
        X, y = np.vstack([X, X[some]]), np.append(y, y[some])
    order = rng.permutation(len(X))
    return X[order], y[order]


def clean(n_sets: int, first: int, finds_k: bool) -> None:
    """Print the clean sets on which the default fails and a peer that is given K does not."""
    failures = silent = 0
    for seed in range(first, first + n_sets):
        X, y = clean_set(seed)
        K = len(np.unique(y))
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            model = GPOD("auto" if finds_k else K, n_jobs=1).fit(X)
        own = adjusted_rand_score(y, model.labels_)
        if own >= 0.95:
            continue
        peers = [adjusted_rand_score(y, methods()[p](X, K)) for p in ("k-means", "sklearn kNN")]
        if max(peers) >= 0.99:
            failures, silent = failures + 1, silent + (not heard)
            found = f"K = {K}, {model.n_clusters_} found"
            least = np.bincount(y).min()
            print(
                f"seed {seed}, {X.shape}, {found}, least {least}: {own:.3f}", not heard, flush=True
            )
    print(f"{failures} failures on {n_sets} clean sets, {silent} of them without a warning")


RULE = (
    "wide_dimensions",
    "many_dimensions",
    "clear",
    "least_cluster",
    "wide_gap",
    "same",
    "seen_columns",
    "round_cost",
    "wide_landmarks",
)


def ablation() -> None:
    """Print the mean ARI on the suites with each threshold of the rule halved and doubled."""
    from eigencut.auto import choose, gaps, graph, units

    usual = graph.POLICY
    users: list[Any] = [choose, gaps, graph, units]
    assert {one.name for one in fields(usual)} >= set(RULE)
    changes = [("", usual)]
    for name in RULE:
        for factor in (0.5, 2.0):
            value = type(getattr(usual, name))(getattr(usual, name) * factor)
            changes.append((f"{name} = {value:g}", replace(usual, **{name: value})))
    for text, policy in changes:
        for module in users:
            module.POLICY = policy
        means = [
            np.mean([score(X, truth, methods()["eigencut"]) for _, X, truth in sets(suite)])
            for suite in ("shapes", "tables", "texts")
        ]
        print(text or "the rule", *(f"{mean:.3f}" for mean in means), flush=True)
    for module in users:
        module.POLICY = usual


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--clean", type=int, metavar="N", help="so many clean sets instead")
    options.add_argument("--first", type=int, default=0, help="seed of the first clean set")
    options.add_argument("--auto", action="store_true", help="do not tell K of clean sets")
    options.add_argument("--ablation", action="store_true")
    options.add_argument("--methods", nargs="+", default=list(methods()))
    given = options.parse_args()
    warnings.simplefilter("ignore")
    if given.clean:
        clean(given.clean, given.first, given.auto)
    elif given.ablation:
        ablation()
    else:
        results = measure(given.methods)
        STORED.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
        print(means_table(results))


if __name__ == "__main__":
    main()
