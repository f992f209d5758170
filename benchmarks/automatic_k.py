"""How often ``GPOD("auto")`` finds K, how often it answers 1, and what it costs.

Rules were chosen on seeds 1000 to 1059 of the families of ``benchmarks.selection``, on seeds 0 to
24 of many blobs, and on ``CHOSEN_ON`` of ``benchmarks.growth``; the seeds here are others, and of
the families ``HELD_OUT`` is held out. The figures go to ``benchmarks/results/automatic_k.json`` and
into tables of ``benchmarks/studies/defaults.md``.

    OMP_NUM_THREADS=1 python -m benchmarks.automatic_k            # five minutes of one core
    OMP_NUM_THREADS=1 python -m benchmarks.automatic_k --quick    # one seed each; pages left alone
"""

from __future__ import annotations

import json
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks import RESULTS, STUDIES
from benchmarks.data import Array, Sample, ari
from benchmarks.data.blobs import gaussians
from benchmarks.growth.families import HELD_OUT
from benchmarks.harness.markdown import table
from benchmarks.harness.options import parser
from benchmarks.harness.page import update_page, write_text
from benchmarks.selection.families import FAMILIES, cluster_sizes, make_set, spread_centers
from benchmarks.selection.one_cluster import ONE_CLUSTER, one_cluster
from eigencut import GPOD, select

FIRST_SEED = 6000
SEEDS = 5
STORED = RESULTS / "automatic_k.json"


def many_blobs(seed: int) -> Sample:
    """9 to 30 blobs of 30 to 80 rows each, in 2 to 32 dimensions."""
    rng = np.random.default_rng(50_000 + seed)
    K, d = int(rng.integers(9, 31)), int(rng.choice([2, 3, 8, 16, 32]))
    n = int(rng.integers(30, 80)) * K
    centers = spread_centers(rng, K, d, rng.uniform(5, 8))
    X, y = gaussians(rng, centers, cluster_sizes(rng, n, K))
    order = rng.permutation(len(X))
    return X[order], y[order], K


def blobs_on_a_grid(K: int) -> Callable[[int], Sample]:
    def draw(seed: int) -> Sample:
        rng = np.random.default_rng(seed)
        side = int(np.ceil(np.sqrt(K)))
        places = 10.0 * np.array([(i // side, i % side) for i in range(K)])
        return *gaussians(rng, places, np.full(K, 50)), K

    return draw


def _of_study(place: int) -> Callable[[int], Sample]:
    return lambda seed: make_set(len(FAMILIES) * seed + place)


def _held_out(name: str) -> Callable[[int], Sample]:
    return lambda seed: HELD_OUT[name](2000, seed)


def _noise(d: int) -> Callable[[int], Array]:
    return lambda seed: np.random.default_rng(seed).uniform(size=(500, d))


def _one(kind: str) -> Callable[[int], Array]:
    return lambda seed: one_cluster(kind, seed)


# The families take turns by seed in the study, so that this multiplies seeds.
KNOWN: dict[str, Callable[[int], Sample]] = {
    **{name: _of_study(place) for place, name in enumerate(FAMILIES)},
    "9 to 30 blobs": many_blobs,
    "12 blobs on a grid": blobs_on_a_grid(12),
    "20 blobs on a grid": blobs_on_a_grid(20),
    **{f"{name}, held out": _held_out(name) for name in HELD_OUT},
}
ONE: dict[str, Callable[[int], Array]] = {
    **{kind: _one(kind) for kind in ONE_CLUSTER},
    "uniform, d = 10": _noise(10),
    "uniform, d = 30": _noise(30),
}


def china() -> Array:
    """Places and colours of every fourth pixel of scikit-learn's picture, 17 120 x 5."""
    from sklearn.datasets import load_sample_image

    pixels = load_sample_image("china.jpg")[::4, ::4] / 255.0
    places = np.indices(pixels.shape[:2]).reshape(2, -1).T / pixels.shape[1]
    return np.column_stack([places, pixels.reshape(-1, 3)])


def _blobs(n: int, d: int, K: int) -> Callable[[], Array]:
    def draw() -> Array:
        rng = np.random.default_rng(FIRST_SEED)
        return gaussians(rng, spread_centers(rng, K, d, 6.0), cluster_sizes(rng, n, K))[0]

    return draw


TIMED: dict[str, Callable[[], Array]] = {
    "China's pixels, 17 120 x 5": china,
    "8 blobs, 20 000 x 8": _blobs(20_000, 8, 8),
    "moons .08, 5000 x 2": lambda: _moons(5000),
    "moons .08, 1000 x 2": lambda: _moons(1000),
    "uniform, 5000 x 10": lambda: np.random.default_rng(FIRST_SEED).uniform(size=(5000, 10)),
}


def _moons(n: int) -> Array:
    from sklearn.datasets import make_moons

    return make_moons(n, noise=0.08, random_state=FIRST_SEED)[0]


def measure_known(n_seeds: int) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, draw in KNOWN.items():
        found = []
        for seed in range(FIRST_SEED, FIRST_SEED + n_seeds):
            X, y, K = draw(seed)
            model = GPOD("auto", n_jobs=1).fit(X)
            found.append([K, model.n_clusters_, round(ari(y, model.labels_), 4)])
        yield name, {"found": found}


def measure_one(n_seeds: int) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, rows in ONE.items():
        seeds = range(FIRST_SEED, FIRST_SEED + n_seeds)
        yield name, {"found": [GPOD("auto", n_jobs=1).fit(rows(s)).n_clusters_ for s in seeds]}


def measure_time() -> Iterator[tuple[str, dict[str, Any]]]:
    for name, rows in TIMED.items():
        X = rows()
        auto, automatic = _seconds(GPOD("auto", n_jobs=1).fit, X)
        K = max(2, automatic.n_clusters_)
        given, _ = _seconds(GPOD(K, n_jobs=1).fit, X)
        selected, _ = _seconds(partial(select, n_jobs=1), X)
        yield name, {"K": automatic.n_clusters_, "given": given, "auto": auto, "select": selected}


def _seconds(work: Callable[[Array], Any], X: Array) -> tuple[float, Any]:
    """Of the processor, the smaller of two: others use the machine too."""
    spent, result = [], None
    for _ in range(2):
        start = time.process_time()
        result = work(X)
        spent.append(time.process_time() - start)
    return round(min(spent), 3), result


def known_table(results: dict[str, Any]) -> str:
    lines = []
    for name, line in results["known"].items():
        found = np.array(line["found"])
        right = int((found[:, 0] == found[:, 1]).sum())
        missed = [f"{int(k)} for {int(K)}" for K, k, _ in found if k != K]
        counted = ", ".join(
            text if times == 1 else f"{text} ({times} times)"
            for text, times in Counter(missed).items()
        )
        lines.append([name, f"{right} of {len(found)}", f"{found[:, 2].mean():.2f}", counted])
    return table(["rows", "K found", "mean ARI", "otherwise"], lines)


def one_table(results: dict[str, Any]) -> str:
    lines = []
    for name, line in results["one"].items():
        found = line["found"]
        others = ", ".join(str(K) for K in sorted(found) if K != 1)
        lines.append([name, f"{found.count(1)} of {len(found)}", others])
    return table(["500 rows of one cluster", "answer 1", "others"], lines)


def time_table(results: dict[str, Any]) -> str:
    lines = []
    for name, line in results["time"].items():
        seconds = [f"{line[what]:.2f} s" for what in ("given", "auto", "select")]
        ratio = f"{line['auto'] / line['given']:.1f}"
        lines.append([name, str(line["K"]), *seconds, ratio])
    header = ["rows", "K found", "`GPOD(K)`", '`GPOD("auto")`', "`select`", "auto / given"]
    return table(header, lines)


TABLES = {"automatic k": known_table, "one cluster": one_table, "time of automatic k": time_table}


def main() -> None:
    options = parser(
        __doc__,
        "benchmarks.automatic_k",
        quick="one seed each; the page is left alone",
        out=f"where the JSON goes (benchmarks/results/{STORED.name}; nowhere if --quick)",
    )
    asked = options.parse_args()
    warnings.simplefilter("ignore")
    n_seeds = 1 if asked.quick else SEEDS
    parts = {
        "known": measure_known(n_seeds),
        "one": measure_one(n_seeds),
        "time": measure_time(),
    }
    results: dict[str, Any] = {}
    for part, measured in parts.items():
        results[part] = {}
        for name, line in measured:
            results[part][name] = line
            print(part, name, line, flush=True)
            if asked.out or not asked.quick:
                write_text(asked.out or STORED, json.dumps(results) + "\n")
    if not asked.quick and asked.out is None:
        update_page(STUDIES / "defaults.md", {name: make(results) for name, make in TABLES.items()})


if __name__ == "__main__":
    main()
