"""The collection: data sets by name, in groups. To add one, add a line to DATASETS."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from sklearn import datasets
from sklearn.preprocessing import StandardScaler

from benchmarks.bandwidth.shapes import (
    DataSet,
    anisotropic,
    blobs,
    bridged_rings,
    circles,
    core_in_ring,
    in_noise,
    moons,
    random_blobs,
    rounded_blobs,
    spirals,
    with_outliers,
)
from benchmarks.data import Array, Labels, Sample
from benchmarks.data.real import read_paper_data

GROUPS = ("shapes", "blobs", "real")  # summarized; the other groups are looked at set by set
MOST_ROWS = 1100  # of a real data set; a random subset if it has more


def real(seed: int, *, load: Callable[[], tuple[Array, Labels]]) -> Sample:
    """A standardized real data set, or a random subset of it; K is the number of classes."""
    X, y = load()
    rows = np.random.default_rng(seed).permutation(len(X))[:MOST_ROWS]
    return StandardScaler().fit_transform(X[rows]), y[rows], len(np.unique(y))


def bundled(load: Callable[..., tuple[Array, Labels]]) -> DataSet:
    return partial(real, load=partial(load, return_X_y=True))


def paper(name: str) -> DataSet:
    return partial(real, load=partial(read_paper_data, name))


UNEQUAL_3 = [10, 1, 1]
SPREADS_3 = [0.3, 1, 2.5]

DATASETS: dict[str, tuple[str, DataSet]] = {
    "circles 0.3, noise 0.03": ("shapes", partial(circles, factor=0.3, noise=0.03)),
    "circles 0.3, noise 0.1": ("shapes", partial(circles, factor=0.3, noise=0.1)),
    "circles 0.5, noise 0.03": ("shapes", partial(circles, factor=0.5, noise=0.03)),
    "circles 0.5, noise 0.05": ("shapes", partial(circles, factor=0.5, noise=0.05)),
    "circles 0.5, noise 0.1": ("shapes", partial(circles, factor=0.5, noise=0.1)),
    "circles in noise": ("shapes", partial(in_noise, of=partial(circles, factor=0.4, noise=0.04))),
    "rings with a bridge": ("shapes", bridged_rings),
    "core in a ring": ("shapes", core_in_ring),
    "moons, noise 0.05": ("shapes", partial(moons, noise=0.05)),
    "moons, noise 0.08": ("shapes", partial(moons, noise=0.08)),
    "moons, noise 0.1": ("shapes", partial(moons, noise=0.1)),
    "moons in noise": ("shapes", partial(in_noise, of=partial(moons, noise=0.05))),
    "2 spirals": ("shapes", partial(spirals, arms=2)),
    "3 spirals": ("shapes", partial(spirals, arms=3)),
    "wide anisotropic blobs": ("shapes", anisotropic),
    "3 segments of a line": (
        "shapes",
        partial(blobs, centers=[[0], [6], [15]], spreads=[1, 0.7, 1.5]),
    ),
    "3 blobs, d=2": ("blobs", partial(random_blobs, K=3, d=2, separation=6)),
    "5 blobs, d=2": ("blobs", partial(random_blobs, K=5, d=2, separation=6)),
    "8 blobs, d=2": ("blobs", partial(random_blobs, K=8, d=2, separation=6)),
    "4 blobs, d=5": ("blobs", partial(random_blobs, K=4, d=5, separation=9)),
    "8 blobs, d=5": ("blobs", partial(random_blobs, K=8, d=5, separation=14)),
    "3 blobs, d=16": ("blobs", partial(random_blobs, K=3, d=16, separation=7)),
    "6 blobs, d=16": ("blobs", partial(random_blobs, K=6, d=16, separation=8)),
    "8 far blobs, d=16": ("blobs", partial(random_blobs, K=8, d=16, separation=16)),
    "4 blobs, d=50": ("blobs", partial(random_blobs, K=4, d=50, separation=8)),
    "8 blobs, d=50": ("blobs", partial(random_blobs, K=8, d=50, separation=10)),
    "8 far blobs, d=50": ("blobs", partial(random_blobs, K=8, d=50, separation=30)),
    "unequal sizes, d=2": (
        "blobs",
        partial(blobs, centers=[[0, 0], [7, 0], [0, 7]], shares=UNEQUAL_3),
    ),
    "unequal sizes, d=5": ("blobs", partial(blobs, centers=7 * np.eye(3, 5), shares=UNEQUAL_3)),
    "unequal densities, d=2": (
        "blobs",
        partial(blobs, centers=[[0, 0], [5, 0], [0, 12]], spreads=SPREADS_3),
    ),
    "unequal densities, d=5": (
        "blobs",
        partial(blobs, centers=np.diag([5.0, 7, 16]) @ np.eye(3, 5), spreads=SPREADS_3),
    ),
    "blobs in noise, d=2": (
        "blobs",
        partial(in_noise, of=partial(random_blobs, K=4, d=2, separation=7)),
    ),
    "blobs in noise, d=5": (
        "blobs",
        partial(in_noise, of=partial(random_blobs, K=4, d=5, separation=12)),
    ),
    "rounded blobs": ("blobs", rounded_blobs),
    "iris": ("real", bundled(datasets.load_iris)),
    "wine": ("real", bundled(datasets.load_wine)),
    "breast cancer": ("real", bundled(datasets.load_breast_cancer)),
    "digits": ("real", bundled(datasets.load_digits)),
    "ionosphere": ("real", paper("ionosphere")),
    "balance": ("real", paper("balance")),
    "sonar": ("real", paper("sonar")),
    "diabetes": ("real", paper("diabetes")),
    "banknote": ("real", paper("banknote")),
    "mammographic": ("real", paper("mammographic")),
    "outliers at 8": ("outliers", partial(with_outliers, distance=8)),
    "outliers at 30": ("outliers", partial(with_outliers, distance=30)),
    "outliers at 1000": ("outliers", partial(with_outliers, distance=1000)),
}
SIZES = (300, 1100)
GROWING: dict[str, Callable[..., Sample]] = {
    "moons, noise 0.1": partial(moons, noise=0.1),
    "circles 0.5, noise 0.1": partial(circles, factor=0.5, noise=0.1),
    "3 spirals": partial(spirals, arms=3),
    "wide anisotropic blobs": anisotropic,
}
DATASETS |= {
    f"{name}, {n} rows": ("sizes", partial(function, n=n))
    for name, function in GROWING.items()
    for n in SIZES
}
WEAK = (
    "moons, noise 0.1",
    "circles 0.5, noise 0.1",
    "wide anisotropic blobs",
    "3 spirals",
    "outliers at 8",
    "outliers at 30",
    "outliers at 1000",
)
