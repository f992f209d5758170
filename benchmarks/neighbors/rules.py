"""What is compared, on what. To add a graph, add a line to RULES; to add data, one to LARGE."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import make_circles, make_moons

from benchmarks.data import Sample
from benchmarks.data.blobs import gaussians
from benchmarks.data.real import read_digits
from eigencut import Gaussian, Neighbors

DEFAULT = "default"


def mutual(k: int, **options: Any) -> Neighbors:
    return Neighbors(k, graph="mutual", **options)


def symmetric(k: int, **options: Any) -> Neighbors:
    return Neighbors(k, graph="symmetric", **options)


# Graphs of nearest neighbours; they are tried on all data.
RULES: dict[str, Any] = {
    DEFAULT: Neighbors(),
    "default, mutual": Neighbors(graph="mutual"),
    "symmetric 5": symmetric(5),
    "symmetric 10": symmetric(10),
    "symmetric 15": symmetric(15),
    "symmetric 25": symmetric(25),
    "symmetric 10, scale 1": symmetric(10, scale=1.0),
    "symmetric 10, binary": symmetric(10, weights="binary"),
    "symmetric 10, one sigma": symmetric(10, weights="gaussian"),
    "mutual 10": mutual(10),
    "mutual 15": mutual(15),
    "mutual 25": mutual(25),
    "mutual 15, binary": mutual(15, weights="binary"),
}
# Complete graphs, for comparison on small data.
COMPLETE: dict[str, Any] = {
    "complete, local": Gaussian(),
    "complete, one sigma": Gaussian(sigma="neighbors", scale=0.5),
}


def digits(name: str) -> Sample:
    X, y = read_digits(name)
    return X, y, len(np.unique(y))


def toys(make: Callable[..., Any], n: int, **options: Any) -> Sample:
    return *make(n, random_state=0, **options), 2


moons_7 = partial(make_moons, noise=0.07)
circles_7 = partial(make_circles, factor=0.5, noise=0.07)


def overlapping(separation: float) -> Sample:
    """Ten unit Gaussians around random centers, so far apart on average; d = 16."""
    rng = np.random.default_rng(0)
    centers = rng.standard_normal((10, 16)) * separation / np.sqrt(32)
    X, y = gaussians(rng, centers, np.full(10, 1000))
    return X, y, 10


DIGITS = ("PenDigits", "USPS", "Letters")
LARGE: dict[str, Callable[[], Sample]] = {
    **{name: partial(digits, name) for name in DIGITS},
    "blobs 6 apart": partial(overlapping, 6),
    "blobs 5 apart": partial(overlapping, 5),
}
SIZES = tuple(
    f"{name}, {n // 1000}k" for name in ("moons .07", "circles .07") for n in (10_000, 100_000)
)
LARGE |= dict(
    zip(
        SIZES,
        (partial(toys, make, n) for make in (moons_7, circles_7) for n in (10_000, 100_000)),
        strict=True,
    )
)
