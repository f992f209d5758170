"""Families of data that can be drawn at any n: one distribution each, fixed whatever n.

``CHOSEN_ON`` are those on which rules of the default were chosen; ``HELD_OUT`` were first looked at
when these were fixed. Rows with the label -1 are background noise, and count for no score.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import make_circles, make_moons

from benchmarks.data import Sample

Family = Callable[[int, int], Sample]  # of n and a seed


def moons(noise: float) -> Family:
    def draw(n: int, seed: int) -> Sample:
        X, y = make_moons(n, noise=noise, random_state=seed)
        return X, y, 2

    return draw


def circles(noise: float, factor: float = 0.5) -> Family:
    def draw(n: int, seed: int) -> Sample:
        X, y = make_circles(n, noise=noise, factor=factor, random_state=seed)
        return X, y, 2

    return draw


def blobs(centers: Any, spreads: Any = 1.0, shares: Any = 1.0) -> Family:
    """Round Gaussians of these standard deviations and relative sizes."""
    places = np.asarray(centers, dtype=float)
    K = len(places)
    spread, share = (np.broadcast_to(np.asarray(a, dtype=float), K) for a in (spreads, shares))

    def draw(n: int, seed: int) -> Sample:
        rng = np.random.default_rng([seed, n])
        y = rng.choice(K, size=n, p=share / share.sum())
        return places[y] + spread[y, np.newaxis] * rng.normal(size=(n, places.shape[1])), y, K

    return draw


def far_centers(K: int, d: int, separation: float) -> Any:
    """Random centers, typically so far apart; the same whatever n and seed."""
    rng = np.random.default_rng([K, d])
    return rng.normal(size=(K, d)) * separation / np.sqrt(2 * d)


def curves(points: Callable[[Any, Any, Any], Any], K: int, noise: float) -> Family:
    """Rows along K curves, ``points(k, t, rng)`` for t uniform in [0, 1], with noise."""

    def draw(n: int, seed: int) -> Sample:
        rng = np.random.default_rng([seed, n])
        y, t = rng.integers(K, size=n), rng.uniform(size=n)
        X = points(y, t, rng)
        return X + noise * rng.normal(size=X.shape), y, K

    return draw


def _spiral(y: Any, t: Any, rng: Any) -> Any:
    radius = 1.3 * 2 * np.pi * np.sqrt(0.05 + 0.95 * t)
    angle = radius + np.pi * y
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]) / 8


def _rings(y: Any, t: Any, rng: Any) -> Any:
    radius, angle = 1.0 + y, 2 * np.pi * t
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


def _lines(y: Any, t: Any, rng: Any) -> Any:
    return np.column_stack([10 * t, 1.5 * y])


def _crosses(y: Any, t: Any, rng: Any) -> Any:
    arm, across = 4 * (t - 0.5), rng.integers(2, size=len(t)) == 1
    place = np.array([[0.0, 0.0], [4.0, 1.5], [1.0, 5.0]])[y]
    return place + np.where(
        across[:, np.newaxis], np.column_stack([arm, 0 * arm]), np.column_stack([0 * arm, arm])
    )


def manifolds(K: int, d: int, m: int, noise: float, wave: float = 2.0) -> Family:
    """Curved m-dimensional pieces in d dimensions, as images of one kind each are."""
    rng = np.random.default_rng([K, d, m])
    mixing = rng.normal(size=(K, d, d)) / np.sqrt(d)
    bends, phases = rng.normal(size=(K, m, d)) * wave, rng.uniform(0, 2 * np.pi, (K, d))

    def draw(n: int, seed: int) -> Sample:
        rng = np.random.default_rng([seed, n])
        y = rng.integers(K, size=n)
        z = rng.uniform(size=(n, m))
        X = np.empty((n, d))
        for k in range(K):
            mine = y == k
            X[mine] = np.sin(z[mine] @ bends[k] + phases[k]) @ mixing[k]
        return X + noise * rng.normal(size=X.shape), y, K

    return draw


def in_noise(family: Family, share: float) -> Family:
    """A family with uniform background over its box and a tenth beyond."""

    def draw(n: int, seed: int) -> Sample:
        rng = np.random.default_rng([1, seed, n])
        m = int(share * n)
        X, y, K = family(n - m, seed)
        low, high = X.min(axis=0), X.max(axis=0)
        edge = (high - low) / 10
        noise = rng.uniform(low - edge, high + edge, (m, X.shape[1]))
        order = rng.permutation(n)
        return np.vstack([X, noise])[order], np.append(y, np.full(m, -1))[order], K

    return draw


def with_outliers(family: Family, share: float, reach: float) -> Family:
    """A family, and rows far out in all directions."""

    def draw(n: int, seed: int) -> Sample:
        rng = np.random.default_rng([2, seed, n])
        m = max(1, int(share * n))
        X, y, K = family(n - m, seed)
        far = X.mean(axis=0) + reach * X.std(axis=0) * rng.standard_t(2, size=(m, X.shape[1]))
        return np.vstack([X, far]), np.append(y, np.full(m, -1)), K

    return draw


TRIANGLE = [[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]]
SQUARE = [[0.0, 0.0], [7.0, 0.0], [0.0, 7.0], [7.0, 7.0]]

CHOSEN_ON: dict[str, Family] = {
    "moons .08": moons(0.08),
    "moons .10": moons(0.10),
    "moons .13": moons(0.13),
    "circles .08": circles(0.08),
    "circles .10": circles(0.10),
    "unequal densities": blobs([[0, 0], [5, 0], [0, 9]], spreads=[1, 0.5, 2]),
    "unequal sizes": blobs([[0, 0], [7, 0], [0, 7]], shares=[10, 1, 1]),
    "blobs d = 8": blobs(far_centers(6, 8, 7.0)),
    "blobs d = 16": blobs(far_centers(10, 16, 7.5)),
    "blobs d = 64": blobs(far_centers(8, 64, 10.0)),
    "spirals": curves(_spiral, 2, 0.03),
    "rings in rings": curves(_rings, 3, 0.12),
    "lines with outliers": with_outliers(curves(_lines, 3, 0.15), 0.01, 3.0),
    "crosses": curves(_crosses, 3, 0.12),
    "manifolds d = 64": manifolds(10, 64, 5, 0.35),
    "manifolds d = 20": manifolds(6, 20, 3, 0.35),
    "manifolds d = 16": manifolds(12, 16, 4, 0.2),
    "blobs in 5 % noise": in_noise(blobs(SQUARE), 0.05),
    "blobs in 20 % noise": in_noise(blobs(SQUARE), 0.20),
    "moons in 5 % noise": in_noise(moons(0.07), 0.05),
}


def _pinwheel(y: Any, t: Any, rng: Any) -> Any:
    """Five blades that bend around the middle."""
    radius, angle = 0.4 + 2.2 * t, 2 * np.pi * y / 5 + 0.45 * t * t * 4
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


def _waves(y: Any, t: Any, rng: Any) -> Any:
    return np.column_stack([6 * t, np.sin(6 * t) + 0.8 * y])


def _corners(y: Any, t: Any, rng: Any) -> Any:
    """Four brackets around a square."""
    arm = rng.integers(2, size=len(t)) == 1
    x = np.where(arm, 0.6, 0.6 + 2 * t)
    z = np.where(arm, 0.6 + 2 * t, 0.6)
    return np.column_stack([np.where(y % 2 == 0, x, -x), np.where(y < 2, z, -z)])


def _shells(y: Any, t: Any, rng: Any) -> Any:
    """Two spheres in three dimensions, one in the other."""
    point = rng.normal(size=(len(t), 3))
    return (1.0 + 1.0 * y)[:, np.newaxis] * point / np.linalg.norm(point, axis=1, keepdims=True)


HELD_OUT: dict[str, Family] = {
    "pinwheel": curves(_pinwheel, 5, 0.1),
    "waves": curves(_waves, 3, 0.13),
    "corners": curves(_corners, 4, 0.2),
    "shells": curves(_shells, 2, 0.12),
    "moons .11 in 10 % noise": in_noise(moons(0.09), 0.10),
    "ring and core": blobs([[0, 0], [4.5, 0]], spreads=[0.4, 1.6], shares=[1, 2]),
    "chain of blobs": blobs([[4.5 * i, (i % 2) * 3.0] for i in range(7)]),
    "blobs d = 32": blobs(far_centers(15, 32, 9.0), shares=np.linspace(1, 3, 15)),
    "manifolds d = 40": manifolds(8, 40, 4, 0.3),
}
