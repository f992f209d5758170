"""Shapes and blobs of this study: circles, spirals, rings, Gaussians of many kinds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from benchmarks.data import Sample
from benchmarks.data.blobs import gaussians
from benchmarks.data.circles import circles as make_circles
from benchmarks.data.moons import moons as make_moons
from benchmarks.data.noise import in_noise as with_noise

ROWS = 500  # of a synthetic data set

DataSet = Callable[[int], Sample]  # of a seed


def circles(seed: int, *, factor: float, noise: float, n: int = ROWS) -> Sample:
    return make_circles(n, seed, factor=factor, noise=noise)


def moons(seed: int, *, noise: float, n: int = ROWS) -> Sample:
    return make_moons(n, seed, noise=noise)


def spirals(seed: int, *, arms: int, n: int = ROWS) -> Sample:
    """Arms that wind 1.3 times around the origin, with a little noise."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % arms
    radius = 1.3 * 2 * np.pi * np.sqrt(rng.uniform(0.05, 1, n))
    angle = radius + 2 * np.pi * y / arms
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]) / 8
    return X + 0.02 * rng.normal(size=X.shape), y, arms


def bridged_rings(seed: int) -> Sample:
    """Two rings, and a chain of eight rows from one to the other."""
    X, y, K = circles(seed, factor=0.4, noise=0.03)
    chain = np.column_stack([np.linspace(0.48, 0.92, 8), np.zeros(8)])
    return np.vstack([X, chain]), np.append(y, np.full(8, -1)), K


def core_in_ring(seed: int) -> Sample:
    """A dense core, a quarter of the rows, inside a broad and sparse ring."""
    rng = np.random.default_rng(seed)
    n_core, n_ring = ROWS // 4, ROWS - ROWS // 4
    angle, radius = rng.uniform(0, 2 * np.pi, n_ring), np.sqrt(rng.uniform(1, 9, n_ring))
    ring = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    X = np.vstack([0.1 * rng.normal(size=(n_core, 2)), ring])
    return X, np.repeat([0, 1], [n_core, n_ring]), 2


def anisotropic(seed: int, *, n: int = ROWS) -> Sample:
    """Three parallel Gaussians, five times as wide as high, five of the smaller spreads apart."""
    X, y, K = blobs(seed, centers=[[0, 0], [0, 5], [0, 10]], n=n)
    return X @ np.diag([4, 0.8]) @ np.array([[0.8, 0.6], [-0.6, 0.8]]), y, K


def blobs(
    seed: int,
    *,
    centers: Any,
    spreads: Iterable[float] | None = None,
    shares: Iterable[float] | None = None,
    n: int = ROWS,
) -> Sample:
    """Round Gaussians; spreads are standard deviations, shares relative sizes."""
    rng = np.random.default_rng(seed)
    centers = np.asarray(centers, dtype=float)
    K = len(centers)
    share = np.ones(K) if shares is None else np.array(list(shares))
    spread = np.ones(K) if spreads is None else np.array(list(spreads))
    sizes = (n * share / share.sum()).astype(int)
    return *gaussians(rng, centers, sizes, spread), K


def random_blobs(seed: int, *, K: int, d: int, separation: float) -> Sample:
    """Unit Gaussians around random centers.

    Separation is the least distance of two centers in the plane, the typical one in higher
    dimensions.
    """
    rng = np.random.default_rng([K, d, seed])
    if d > 2:
        return blobs(seed, centers=rng.normal(size=(K, d)) * separation / np.sqrt(2 * d))
    side = 0.8 * separation * np.sqrt(K)
    while True:
        centers = rng.uniform(-side, side, (K, d))
        apart = np.linalg.norm(centers[:, np.newaxis] - centers, axis=2)
        if apart[~np.eye(K, dtype=bool)].min() >= separation:
            return blobs(seed, centers=centers)


def rounded_blobs(seed: int) -> Sample:
    """Integer coordinates: most rows have duplicates."""
    X, y, K = blobs(seed, centers=[[0, 0], [8, 0], [0, 8], [8, 8]])
    return np.round(X), y, K


def in_noise(seed: int, *, of: DataSet, share: float = 0.05) -> Sample:
    """A data set with uniform noise over its bounding box and a tenth beyond."""
    sample = of(seed)
    rng = np.random.default_rng([1, seed])
    X = sample[0]
    return with_noise(rng, sample, int(share * len(X)), margin=np.ptp(X, axis=0) / 10)


def with_outliers(seed: int, *, distance: float) -> Sample:
    """Three blobs six apart, and four rows at that distance from them, in random directions."""
    X, y, K = blobs(seed, centers=[[0, 0], [6, 0], [0, 6]], n=400)
    angle = np.random.default_rng([2, seed]).uniform(0, 2 * np.pi, 4)
    outliers = 2 + distance * np.column_stack([np.cos(angle), np.sin(angle)])
    return np.vstack([X, outliers]), np.append(y, np.full(4, -1)), K
