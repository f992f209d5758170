"""Random data sets of known K, by seed, in families that take turns. To add one, add a line."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from benchmarks.data import Array, Labels, Sample
from benchmarks.data.blobs import gaussians
from benchmarks.data.circles import circles as make_circles
from benchmarks.data.moons import moons as make_moons
from benchmarks.data.noise import in_noise as with_noise

FIRST_SEED = 5000  # the criteria were tuned and looked at on seeds below 4000


def spread_centers(rng: np.random.Generator, K: int, d: int, separation: float) -> Array:
    """Of 20 draws, the one whose centers are most evenly apart; the closest are at separation."""
    best_ratio, best = -1.0, np.empty((K, d))
    for _ in range(20):
        centers = rng.uniform(-1, 1, (K, d)) if d <= 3 else rng.standard_normal((K, d))
        apart = np.linalg.norm(centers[:, np.newaxis] - centers, axis=2)
        farthest = apart.max()
        closest = apart[~np.eye(K, dtype=bool)].min()
        if closest / farthest > best_ratio:
            best_ratio, best = closest / farthest, centers / closest * separation
    return best


def cluster_sizes(rng: np.random.Generator, n: int, K: int, ratio: float = 1.0) -> Labels:
    """Equal sizes, or random ones with the given ratio of the largest to the smallest."""
    share = np.ones(K)
    if ratio > 1:
        share = np.exp(rng.uniform(0, np.log(ratio), K))
        share[0], share[-1] = 1, ratio
    return np.maximum((n * share / share.sum()).round().astype(int), 1)


def blobs(rng: np.random.Generator, n: int, *, least_d: int, most_d: int) -> Sample:
    d, K = int(rng.integers(least_d, most_d + 1)), int(rng.integers(2, 9))
    centers = spread_centers(rng, K, d, rng.uniform(4, 8))
    return *gaussians(rng, centers, cluster_sizes(rng, n, K)), K


def moons(rng: np.random.Generator, n: int) -> Sample:
    noise = rng.uniform(0.03, 0.1)
    return make_moons(n, int(rng.integers(1_000_000)), noise=noise)


def circles(rng: np.random.Generator, n: int) -> Sample:
    factor, noise = rng.uniform(0.3, 0.5), rng.uniform(0.02, 0.08)
    seed = int(rng.integers(1_000_000))
    return make_circles(n, seed, factor=factor, noise=noise)


def three_rings(rng: np.random.Generator, n: int) -> Sample:
    """Radii 1, 2 and 3, with equally many rows or equally dense."""
    noise = rng.uniform(0.02, 0.1)
    share = np.ones(3) if rng.random() < 0.5 else np.array([1.0, 2.0, 3.0])
    y = np.repeat(np.arange(3), (n * share / share.sum()).astype(int))
    angle, radius = rng.uniform(0, 2 * np.pi, len(y)), 1.0 + y
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    return X + noise * rng.standard_normal(X.shape), y, 3


def unequal_sizes(rng: np.random.Generator, n: int) -> Sample:
    n, K, d = max(n, 500), int(rng.integers(2, 6)), int(rng.integers(2, 9))
    centers = spread_centers(rng, K, d, rng.uniform(5, 8))
    return *gaussians(rng, centers, cluster_sizes(rng, n, K, ratio=10)), K


def unequal_densities(rng: np.random.Generator, n: int) -> Sample:
    """Three blobs, any two of them apart by a multiple of their mean spread."""
    d, spreads, separation = int(rng.integers(2, 6)), np.array([0.3, 1, 2.5]), rng.uniform(4, 6)
    least = separation * (spreads[:, np.newaxis] + spreads) / 2
    np.fill_diagonal(least, 0)
    while True:
        centers = rng.uniform(-1, 1, (3, d)) * 12
        if (np.linalg.norm(centers[:, np.newaxis] - centers, axis=2) >= least).all():
            return *gaussians(rng, centers, cluster_sizes(rng, n, 3), spreads), 3


def anisotropic(rng: np.random.Generator, n: int) -> Sample:
    """Blobs squeezed by 2 to 4 in a random direction."""
    K = int(rng.integers(2, 6))
    centers = spread_centers(rng, K, 2, rng.uniform(6, 9))
    X, y = gaussians(rng, centers, cluster_sizes(rng, n, K))
    first, second = (np.linalg.qr(rng.standard_normal((2, 2)))[0] for _ in range(2))
    return X @ first @ np.diag([1, 1 / rng.uniform(2, 4)]) @ second, y, K


def in_noise(rng: np.random.Generator, n: int) -> Sample:
    """Blobs and 5 % uniform noise over their bounding box."""
    K, d = int(rng.integers(2, 7)), int(rng.integers(2, 4))
    centers = spread_centers(rng, K, d, rng.uniform(6, 9))
    X, y = gaussians(rng, centers, cluster_sizes(rng, n, K))
    return with_noise(rng, (X, y, K), int(0.05 * n))


def moons_and_blobs(rng: np.random.Generator, n: int) -> Sample:
    n_blobs = int(rng.integers(1, 4))
    K, noise = 2 + n_blobs, rng.uniform(0.03, 0.08)
    m = n // K
    X, y, _ = make_moons(2 * m, int(rng.integers(1_000_000)), noise=noise)
    places = np.array([[3.6, 0.3], [-2.6, 0.2], [0.5, 2.8], [0.5, -2.4], [3.4, 2.6]])
    places = places[rng.permutation(5)[:n_blobs]]
    places = places + rng.uniform(-0.2, 0.2, places.shape)
    B, of_blob = gaussians(rng, places, np.full(n_blobs, m), rng.uniform(0.2, 0.4, n_blobs))
    return np.vstack([X, B]), np.append(y, of_blob + 2), K


FAMILIES: dict[str, Callable[[np.random.Generator, int], Sample]] = {
    "blobs, d = 2-4": partial(blobs, least_d=2, most_d=4),
    "blobs, d = 5-20": partial(blobs, least_d=5, most_d=20),
    "moons": moons,
    "circles": circles,
    "three rings": three_rings,
    "unequal sizes": unequal_sizes,
    "unequal densities": unequal_densities,
    "anisotropic": anisotropic,
    "5 % noise": in_noise,
    "moons and blobs": moons_and_blobs,
}


def family_of(seed: int) -> str:
    return list(FAMILIES)[seed % len(FAMILIES)]


def make_set(seed: int) -> Sample:
    """Families take turns; rows (300 to 1500), shape, order and unit are random."""
    rng = np.random.default_rng(90000 + seed)
    n = int(np.exp(rng.uniform(np.log(300), np.log(1500))))
    X, y, K = FAMILIES[family_of(seed)](rng, n)
    order = rng.permutation(len(X))
    return X[order] * 10 ** rng.uniform(-1, 1), y[order], K
