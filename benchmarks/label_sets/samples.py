"""Twelve generated families and three real sets, each as independent draws of m rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.data import Array
from benchmarks.data.real import read_digits, read_paper_data
from benchmarks.growth.families import CHOSEN_ON, HELD_OUT, SQUARE, blobs

_SEED = 70_000  # not those that rules were chosen on


@dataclass(frozen=True)
class Source:
    """Where rows come from, how many clusters to ask for, and whether they lie apart."""

    draw: Callable[[int, int], Array]  # of m and a seed
    n_clusters: int
    n_training: int = 300
    separated: bool = False


def _family(name: str, K: int, separated: bool = False) -> Source:
    family = (CHOSEN_ON | HELD_OUT)[name]
    return Source(lambda m, seed: family(m, _SEED + seed)[0], K, separated=separated)


def _of_set(read: Callable[[], Array], K: int, n_training: int) -> Source:
    """Rows without replacement, in random order: exchangeable, as the guarantee asks."""

    def draw(m: int, seed: int) -> Array:
        X = read()
        return X[np.random.default_rng(_SEED + seed).permutation(len(X))[:m]]

    return Source(draw, K, n_training)


def _standardized(X: Array) -> Array:
    return (X - X.mean(axis=0)) / X.std(axis=0)


def _uniform(m: int, seed: int) -> Array:
    return np.random.default_rng(_SEED + seed).uniform(size=(m, 2))


def _square(m: int, seed: int) -> Array:
    return blobs(SQUARE)(m, _SEED + seed)[0]


GENERATED: dict[str, Source] = {
    "four blobs": Source(_square, 4, separated=True),
    "unequal sizes": _family("unequal sizes", 3, separated=True),
    "blobs d = 64": _family("blobs d = 64", 8, separated=True),
    "moons .08": _family("moons .08", 2, separated=True),
    "ring and core": _family("ring and core", 2),
    "unequal densities": _family("unequal densities", 3),
    "circles .10": _family("circles .10", 2),
    "moons .13": _family("moons .13", 2),
    "crosses": _family("crosses", 3),
    "chain of blobs": _family("chain of blobs", 7),
    "blobs in 20 % noise": _family("blobs in 20 % noise", 4),
    "uniform square": Source(_uniform, 3),
}


def _breast_cancer() -> Array:
    from sklearn.datasets import load_breast_cancer

    return _standardized(load_breast_cancer().data)


REAL: dict[str, Source] = {
    "digits": _of_set(lambda: read_digits("digits")[0], 10, 300),
    "breast cancer": _of_set(_breast_cancer, 2, 300),
    "banknote": _of_set(lambda: _standardized(read_paper_data("banknote")[0]), 2, 300),
}
