"""A stream whose clusters drift, appear and vanish: do numbers stay, and what does an update take?

Fifty batches of 1000 rows in four dimensions. Four clusters are there at first; three of them
vanish, four others appear, at random times, and all of them move, each at its own pace. A model
with landmarks and ``n_clusters="auto"`` sees one batch after the other by ``partial_fit`` with
``decay=0.7``. A cluster's number is the one that most of its rows of a batch have; it is found when
no other cluster has the same. The figures go to ``benchmarks/results/living.json`` and into the
tables of ``docs/studies/living-models.md``.

    OMP_NUM_THREADS=1 python -m benchmarks.living            # everything, some minutes
    OMP_NUM_THREADS=1 python -m benchmarks.living --quick    # one stream; docs are left alone

Rules of updates were chosen on streams of other seeds (below 100). Times are of the processor.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks import DOCS
from benchmarks.data import Array
from benchmarks.harness.markdown import table
from benchmarks.harness.study import Study
from eigencut import GPOD, Landmarks

FIRST_SEED = 100
N_BATCHES, N_ROWS, N_FEATURES, N_CLUSTERS = 50, 1000, 4, 8
DECAY, N_LANDMARKS = 0.7, 300
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

    def batch(self, time: int) -> tuple[Array, Any]:
        """Rows, and the cluster of each."""
        rng = np.random.default_rng((self.seed, time))
        there = np.flatnonzero((self.born <= time) & (time < self.gone))
        share = self.shares[there] / self.shares[there].sum()
        cluster = there[rng.choice(len(there), N_ROWS, p=share)]
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


def watch(seed: int) -> dict[str, Any]:
    stream, seen = Stream.of(seed), Watched()
    model = GPOD("auto", affinity=Landmarks(N_LANDMARKS))
    for batch in range(N_BATCHES):
        X, clusters = stream.batch(batch)
        start = time.process_time()
        model.partial_fit(X, decay=DECAY)
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


def measure_speed(n: int, n_new: int) -> dict[str, Any]:
    """Processor time of an update by some rows, and of a fit of all."""
    rng = np.random.default_rng(FIRST_SEED)
    centres = rng.normal(size=(6, 8)) * 4

    def rows(n: int) -> Array:
        return centres[rng.integers(6, size=n)] + rng.normal(size=(n, 8))

    first, new = rows(n), rows(n_new)
    model = GPOD(6, affinity=Landmarks()).fit(first)
    start = time.process_time()
    model.update(new)
    update = time.process_time() - start
    everything = np.vstack([first, new])
    start = time.process_time()
    GPOD(6, affinity=Landmarks()).fit(everything)
    fit = time.process_time() - start
    return {"n": n, "new": n_new, "update": update, "fit": fit, "ratio": update / fit}


def measure(n_seeds: int, quick: bool) -> dict[str, Any]:
    streams = [watch(FIRST_SEED + seed) for seed in range(1 if quick else n_seeds)]
    sizes = (100_000, 2_000) if quick else (1_000_000, 20_000)
    return {"streams": streams, "speed": measure_speed(*sizes)}


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


def speed_table(results: dict[str, Any]) -> str:
    line = results["speed"]
    cells = [f"{line['n']:,}", f"{line['new']:,}"]
    cells += [f"{line[name]:.2f} s" for name in ("update", "fit")]
    header = ["rows so far", "new rows", "update", "fit of all", "ratio"]
    return table(header, [[*cells, f"{line['ratio']:.3f}"]])


def make_tables(results: dict[str, Any]) -> dict[str, str]:
    return {"stream": stream_table(results), "update": speed_table(results)}


STUDY = Study(
    "living", "seeds", 5, measure, make_tables, folder=DOCS / "studies", page_name="living-models"
)

if __name__ == "__main__":
    STUDY.run(__doc__)
