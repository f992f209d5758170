"""Every graph on every data set."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.metrics import normalized_mutual_info_score
from sklearn.model_selection import train_test_split

from benchmarks.bandwidth.collection import DATASETS, GROUPS
from benchmarks.bandwidth.measure import TEST_SHARE
from benchmarks.data import ari
from benchmarks.neighbors.rules import COMPLETE, LARGE, RULES
from eigencut import GPOD

Scores = dict[str, dict[str, float]]  # by rule


def measure_small(n_seeds: int) -> tuple[dict[str, Any], list[str]]:
    """Mean ARI of training and new rows by data set and rule; names of sets without files."""
    found: dict[str, Any] = {}
    skipped = []
    for name, (group, sample) in DATASETS.items():
        if group not in GROUPS:
            continue
        start = time.perf_counter()
        try:
            runs = [_one_seed(sample(seed), seed) for seed in range(n_seeds)]
        except FileNotFoundError:
            skipped.append(name)
            continue
        means = {
            rule: {key: float(np.mean([run[rule][key] for run in runs])) for key in runs[0][rule]}
            for rule in runs[0]
        }
        found[name] = {"group": group, "rules": means}
        print(f"{name}: {time.perf_counter() - start:.1f} s", flush=True)
    return found, skipped


def _one_seed(sample: Any, seed: int) -> Scores:
    X, y, K = sample
    X, X_new, y, y_new = train_test_split(X, y, test_size=TEST_SHARE, random_state=seed)
    scores = {}
    for rule, affinity in (RULES | COMPLETE | {"auto": "auto"}).items():
        try:
            model = GPOD(n_clusters=K, affinity=affinity, n_jobs=1).fit(X)
        except (ValueError, ArithmeticError):  # no edges, or no accurate eigenvectors
            scores[rule] = {"train": 0.0, "new": 0.0}
            continue
        scores[rule] = {"train": ari(y, model.labels_), "new": ari(y_new, model.predict(X_new))}
    return scores


def measure_large(names: Iterable[str]) -> dict[str, Scores]:
    """NMI, ARI and components of one fit, and whether training rows are reproduced."""
    found: dict[str, Scores] = {}
    for name in names:
        try:
            X, y, K = LARGE[name]()
        except FileNotFoundError:
            continue
        found[name] = {}
        for rule, affinity in RULES.items():
            start = time.perf_counter()
            model = GPOD(n_clusters=K, affinity=affinity).fit(X)
            found[name][rule] = {
                "nmi": float(normalized_mutual_info_score(y, model.labels_)),
                "ari": ari(y, model.labels_),
                "components": model.n_components_found_,
                "reproduced": float((model.predict(X) == model.labels_).mean()),
            }
            print(f"{name}, {rule}: {time.perf_counter() - start:.1f} s", flush=True)
    return found
