"""A stream whose clusters drift, appear and vanish: do numbers stay, and what does an update take?

Fifty batches of 1000 rows in four dimensions. Four clusters are there at first; three of them
vanish, four others appear, at random times, and all of them move, each at its own pace. A model
with landmarks and ``n_clusters="auto"`` sees one batch after the other by ``partial_fit`` with
``decay=0.7``. A cluster's number is the one that most of its rows of a batch have; it is found when
no other cluster has the same. The same streams are seen with other decays, numbers of rows and of
landmarks, too. The figures go to ``benchmarks/results/living.json`` and into the tables of
``benchmarks/studies/living-models.md``.

    OMP_NUM_THREADS=1 python -m benchmarks.living            # everything, some minutes
    OMP_NUM_THREADS=1 python -m benchmarks.living --quick    # one stream; pages are left alone

Rules of updates were chosen on streams of other seeds: 0 to 9, also with other spacings, decays,
numbers of rows, columns and landmarks, and 20 to 22. Times are of the processor.
"""

from __future__ import annotations

import itertools
import pickle
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks.data import Array
from benchmarks.harness.markdown import table
from benchmarks.harness.study import Study
from eigencut import GPOD, Landmarks

FIRST_SEED = 200
N_BATCHES, N_ROWS, N_FEATURES, N_CLUSTERS = 50, 1000, 4, 8
DECAY, N_LANDMARKS = 0.7, 300
VARIANTS = (  # rows of a batch, landmarks, decay
    (1000, 1000, 0.7),
    (1000, 1000, 0.9),
    (1000, 500, 0.7),
    (300, 200, 0.7),
    (200, 1000, 0.7),
    (1000, 300, 1.0),
)
VARIANT_SEEDS = 3
NEW_SHARE = 0.2  # of an update's rows, that are a new cluster where one appears
SPACING = 10.0  # of the places where clusters begin, in their standard deviations


@dataclass(frozen=True)
class Stream:
    """Where clusters are, how they move, and when they are there."""

    seed: int
    starts: Array
    paces: Array
    born: Any
    gone: Any
    shares: Array

    @classmethod
    def of(cls, seed: int) -> Stream:
        rng = np.random.default_rng(seed)
        grid = SPACING * np.array([(i, j) for i in range(3) for j in range(3)])
        starts = np.zeros((N_CLUSTERS, N_FEATURES))
        starts[:, :2] = grid[rng.permutation(len(grid))[:N_CLUSTERS]]
        paces = rng.normal(size=starts.shape)
        paces *= rng.uniform(0.02, 0.07, (N_CLUSTERS, 1)) / np.linalg.norm(paces, axis=1)[:, None]
        born = np.append(np.zeros(4, int), np.sort(rng.integers(5, N_BATCHES - 5, 4)))
        gone = np.full(N_CLUSTERS, N_BATCHES)
        gone[:3] = rng.integers(8, N_BATCHES - 5, 3)
        return cls(seed, starts, paces, born, gone, rng.uniform(0.7, 1.5, N_CLUSTERS))

    def batch(self, time: int, n_rows: int = N_ROWS) -> tuple[Array, Any]:
        """Rows, and the cluster of each."""
        rng = np.random.default_rng((self.seed, time))
        there = np.flatnonzero((self.born <= time) & (time < self.gone))
        share = self.shares[there] / self.shares[there].sum()
        cluster = there[rng.choice(len(there), n_rows, p=share)]
        places = self.starts[cluster] + time * self.paces[cluster]
        return places + rng.normal(size=places.shape), cluster


@dataclass
class Watched:
    """What was seen of a stream."""

    numbers: dict[int, int] = field(default_factory=dict)
    found: dict[int, int] = field(default_factory=dict)
    n_changes: int = 0
    n_seen: int = 0
    agreement: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def look(self, batch: int, clusters: Any, labels: Any) -> None:
        self.agreement.append(float(adjusted_rand_score(clusters, labels)))
        most = {int(k): int(np.bincount(labels[clusters == k]).argmax()) for k in set(clusters)}
        times = Counter(most.values())
        for k, number in most.items():
            self.n_seen += 1
            if k in self.found:
                self.n_changes += number != self.numbers[k] or times[number] > 1
            elif times[number] == 1:
                self.found[k], self.numbers[k] = batch, number


def watch(
    seed: int, n_rows: int = N_ROWS, n_landmarks: int = N_LANDMARKS, decay: float = DECAY
) -> dict[str, Any]:
    stream, seen = Stream.of(seed), Watched()
    model = GPOD("auto", affinity=Landmarks(n_landmarks))
    for batch in range(N_BATCHES):
        X, clusters = stream.batch(batch, n_rows)
        start = time.process_time()
        model.partial_fit(X, decay=decay)
        seen.seconds.append(time.process_time() - start)
        seen.look(batch, clusters, model.labels_)
    never = N_BATCHES
    return {
        "seed": seed,
        "seen": seen.n_seen,
        "changes": int(seen.n_changes),
        "batches_to_find": [
            int(seen.found.get(k, never) - stream.born[k]) for k in range(4, N_CLUSTERS)
        ],
        "agreement": float(np.mean(seen.agreement)),
        "least_agreement": float(np.min(seen.agreement)),
        "seconds": float(np.median(seen.seconds[1:])),
        "landmarks": len(model.affinity_.landmarks_),
    }


def measure_variants(n_seeds: int) -> list[dict[str, Any]]:
    """The same streams otherwise."""
    found = []
    for n_rows, n_landmarks, decay in VARIANTS:
        seeds = range(FIRST_SEED, FIRST_SEED + n_seeds)
        streams = [watch(seed, n_rows, n_landmarks, decay) for seed in seeds]
        found.append({"rows": n_rows, "landmarks": n_landmarks, "decay": decay, "streams": streams})
    return found


def measure_speed(n: int, n_new: int) -> list[dict[str, Any]]:
    """Processor time of an update by some rows, and of a fit of all."""
    rng = np.random.default_rng(FIRST_SEED)
    centres = rng.normal(size=(6, 8)) * 4

    def rows(n: int) -> Array:
        return centres[rng.integers(6, size=n)] + rng.normal(size=(n, 8))

    first, new = rows(n), rows(n_new)
    with_another = rows(n_new)
    n_another = int(NEW_SHARE * n_new)
    with_another[:n_another] = 60 + rng.normal(size=(n_another, 8))
    found = []
    for n_clusters in (6, "auto"):
        fitted = pickle.dumps(GPOD(n_clusters, affinity=Landmarks()).fit(first))
        for batch, decay in itertools.product((new, with_another), (1.0, 0.95)):
            is_new = batch is with_another
            if n_clusters == 6 and (is_new or decay < 1):
                continue
            model = pickle.loads(fitted)
            start = time.process_time()
            model.update(batch, decay=decay)
            update = time.process_time() - start
            start = time.process_time()
            GPOD(n_clusters, affinity=Landmarks()).fit(np.vstack([first, batch]))
            fit = time.process_time() - start
            case = {"clusters": n_clusters, "new_cluster": is_new, "decay": decay}
            case |= {"n": n, "new": n_new, "update": update, "fit": fit, "ratio": update / fit}
            found.append(case | {"found": model.n_clusters_})
    return found


def measure(n_seeds: int, quick: bool) -> dict[str, Any]:
    streams = [watch(FIRST_SEED + seed) for seed in range(1 if quick else n_seeds)]
    sizes = (100_000, 2_000) if quick else (1_000_000, 20_000)
    variants = measure_variants(1 if quick else VARIANT_SEEDS)
    return {"streams": streams, "variants": variants, "speed": measure_speed(*sizes)}


def stream_table(results: dict[str, Any]) -> str:
    header = ["stream", "clusters seen", "numbers changed", "batches until found"]
    header += ["mean ARI", "least ARI", "seconds per update", "landmarks at the end"]
    return table(
        header,
        [
            [
                str(line["seed"]),
                str(line["seen"]),
                str(line["changes"]),
                ", ".join(map(str, line["batches_to_find"])),
                *(f"{line[name]:.3f}" for name in ("agreement", "least_agreement")),
                f"{line['seconds']:.2f}",
                str(line["landmarks"]),
            ]
            for line in results["streams"]
        ],
    )


def variant_table(results: dict[str, Any]) -> str:
    header = ["rows of a batch", "landmarks", "decay", "clusters seen", "numbers changed"]
    header += ["new clusters", "most batches until found", "least ARI", "most landmarks at the end"]
    lines = []
    for line in results["variants"]:
        streams = line["streams"]
        until = [n for one in streams for n in one["batches_to_find"]]
        lines.append(
            [
                *(str(line[name]) for name in ("rows", "landmarks")),
                f"{line['decay']:g}",
                *(str(sum(one[name] for one in streams)) for name in ("seen", "changes")),
                *(str(len(until)), str(max(until))),
                f"{min(one['least_agreement'] for one in streams):.3f}",
                str(max(one["landmarks"] for one in streams)),
            ]
        )
    return table(header, lines)


def speed_table(results: dict[str, Any]) -> str:
    header = ["`n_clusters`", "decay", "new cluster", "K afterwards", "rows so far", "new rows"]
    header += ["update", "fit of all", "ratio"]
    return table(
        header,
        [
            [
                str(line["clusters"]),
                f"{line['decay']:g}",
                f"{NEW_SHARE:.0%} of the new rows" if line["new_cluster"] else "none",
                str(line["found"]),
                *(f"{line[name]:,}" for name in ("n", "new")),
                *(f"{line[name]:.2f} s" for name in ("update", "fit")),
                f"{line['ratio']:.3f}",
            ]
            for line in results["speed"]
        ],
    )


def make_tables(results: dict[str, Any]) -> dict[str, str]:
    return {
        "stream": stream_table(results),
        "variant": variant_table(results),
        "update": speed_table(results),
    }


STUDY = Study("living", "seeds", 10, measure, make_tables, page_name="living-models")

if __name__ == "__main__":
    STUDY.run(__doc__)
