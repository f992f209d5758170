"""Every rule and cut on every data set, through the public API."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from sklearn.model_selection import train_test_split

from benchmarks.bandwidth.collection import DATASETS
from benchmarks.bandwidth.rules import CUTS, RULES
from benchmarks.data import ari
from eigencut import GPOD

TEST_SHARE = 0.25
TINY = 3  # a cluster of at most so many training rows is tiny


@dataclass(frozen=True)
class Run:
    """One fit: a data set and seed, a rule, a cut, and what came of it."""

    dataset: str
    group: str
    seed: int
    rule: str
    cut: str
    n_train: int
    n_clusters: int
    train_ari: float
    new_ari: float
    smallest: int  # rows of the smallest cluster
    n_components: int
    error: str = ""  # of a fit that raised one: it scores 0

    @property
    def has_tiny_cluster(self) -> bool:
        return not self.error and self.smallest <= TINY


def measure(name: str, seed: int) -> Iterator[Run]:
    """All rules and cuts on one data set."""
    group, function = DATASETS[name]
    X, y, K = function(seed)
    X, X_new, y, y_new = train_test_split(X, y, test_size=TEST_SHARE, random_state=seed)
    for cut in CUTS:
        for rule, affinity in RULES.items():
            run = partial(Run, name, group, seed, rule, cut, len(X), K)
            try:
                model = GPOD(n_clusters=K, cut=cut, affinity=affinity, n_jobs=1).fit(X)
                labels, labels_new = model.labels_, model.predict(X_new)
            except (ValueError, ArithmeticError) as error:  # no edges, or no accurate eigenvectors
                yield run(0.0, 0.0, 0, 0, str(error))
                continue
            smallest = int(np.bincount(labels, minlength=K).min())
            scores = ari(y, labels), ari(y_new, labels_new)
            yield run(*scores, smallest, model.n_components_found_)


def measure_all(n_seeds: int) -> tuple[list[Run], list[str]]:
    """All runs, and the names of data sets whose files are missing."""
    runs: list[Run] = []
    skipped: list[str] = []
    for name in DATASETS:
        start = time.perf_counter()
        try:
            for seed in range(n_seeds):
                runs.extend(measure(name, seed))
        except FileNotFoundError:
            skipped.append(name)
            print(f"{name}: skipped, its file is not there")
            continue
        print(f"{name}: {time.perf_counter() - start:.1f} s", flush=True)
    return runs, skipped
