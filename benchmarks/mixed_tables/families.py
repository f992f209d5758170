"""Tables of numbers and words with known clusters; on half of the families nothing was chosen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import make_moons

Random = np.random.Generator


@dataclass(frozen=True)
class MixedTable:
    """A table, its clusters, and what ``TableModel(columns=...)`` is told of it."""

    frame: pd.DataFrame
    clusters: Any
    columns: dict[str, Any] = field(default_factory=dict)

    @property
    def n_clusters(self) -> int:
        return len(np.unique(self.clusters))


Family = Callable[..., MixedTable]  # of a seed, and a number of rows
N_ROWS = 600


def _words(rng: Random, clusters: Any, n_words: int, concentration: float, name: str) -> Any:
    """Words whose shares differ between clusters, the more the smaller the concentration."""
    shares = rng.dirichlet(np.full(n_words, concentration), size=clusters.max() + 1)
    below = shares[clusters].cumsum(axis=1) < rng.random(len(clusters))[:, None]
    chosen = np.minimum(below.sum(axis=1), n_words - 1)
    return np.array([f"{name}{i}" for i in range(n_words)], dtype=object)[chosen]


def _any_words(rng: Random, n_rows: int, n_words: int) -> Any:
    """Words that tell nothing."""
    return np.array([f"w{i}" for i in range(n_words)], dtype=object)[
        rng.integers(n_words, size=n_rows)
    ]


def _blobs(rng: Random, clusters: Any, n_columns: int, distance: float) -> dict[str, Any]:
    centers = rng.normal(0, distance, size=(clusters.max() + 1, n_columns))
    rows = centers[clusters] + rng.normal(size=(len(clusters), n_columns))
    return {f"n{j}": rows[:, j] for j in range(n_columns)}


def _mixture(
    n_clusters: int,
    numbers: tuple[int, float],
    words: Sequence[int],
    concentration: float,
    noise: Sequence[int] = (),
) -> Family:
    """Gaussian clusters with words, and words that have nothing to do with them."""

    def family(seed: int, n_rows: int = N_ROWS) -> MixedTable:
        rng = np.random.default_rng(seed)
        clusters = rng.integers(n_clusters, size=n_rows)
        columns = _blobs(rng, clusters, *numbers)
        for j, size in enumerate(words):
            columns[f"c{j}"] = _words(rng, clusters, size, concentration, f"c{j}_")
        for j, size in enumerate(noise):
            columns[f"u{j}"] = _any_words(rng, n_rows, size)
        return MixedTable(pd.DataFrame(columns), clusters)

    return family


def _moons(seed: int, n_rows: int = N_ROWS) -> MixedTable:
    rng = np.random.default_rng(seed)
    rows, clusters = make_moons(n_rows, noise=0.08, random_state=seed)
    guess = np.where(rng.random(n_rows) < 0.15, rng.integers(2, size=n_rows), clusters)
    colour = np.array(["red", "blue"], dtype=object)[guess]
    town = _any_words(rng, n_rows, 5)
    frame = pd.DataFrame({"x": rows[:, 0], "y": rows[:, 1], "colour": colour, "town": town})
    return MixedTable(frame, clusters)


def _unequal(seed: int, n_rows: int = N_ROWS) -> MixedTable:
    rng = np.random.default_rng(seed)
    clusters = rng.choice(3, size=n_rows, p=[0.6, 0.3, 0.1])
    columns = _blobs(rng, clusters, 3, 2.0)
    columns["n0"] = np.exp(columns["n0"] / 2)
    for j, size in enumerate((3, 12, 4)):
        columns[f"c{j}"] = _words(rng, clusters, size, 0.5, f"c{j}_")
    return MixedTable(pd.DataFrame(columns), clusters)


CHOSEN_ON: dict[str, Family] = {
    "customers": _mixture(4, (4, 1.6), (3, 5, 8, 4), 0.4),
    "numbers are noise": _mixture(3, (2, 0.0), (4, 4, 6, 3, 5), 0.3),
    "words are noise": _mixture(3, (3, 2.5), (), 1.0, noise=(2, 5, 10)),
    "moons and colours": _moons,
    "survey": _mixture(4, (1, 0.8), (2, 3, 4) * 3, 0.7),
    "unequal sizes": _unequal,
    "one column of words": _mixture(5, (6, 1.7), (6,), 0.3),
}


# --------------------------------------------------------------------------------------- held out


def _patients(seed: int, n_rows: int = N_ROWS) -> MixedTable:
    """Truth values, an order, skewed numbers, and gaps in all of them."""
    rng = np.random.default_rng(seed)
    clusters = rng.choice(3, size=n_rows, p=[0.5, 0.3, 0.2])
    level = np.array([0.0, 1.2, 2.4])[clusters]
    columns: dict[str, Any] = {
        "age": 45 + 9 * level + rng.normal(0, 8, n_rows),
        "protein": np.exp(level + rng.normal(0, 0.5, n_rows)),
        "pressure": 120 + 10 * level * (clusters != 1) + rng.normal(0, 8, n_rows),
    }
    grades = np.array(["none seen", "mild", "severe"], dtype=object)
    severity = np.clip(np.round(level / 1.2 + rng.normal(0, 0.4, n_rows)), 0, 2).astype(int)
    columns["severity"] = grades[severity]
    often = rng.uniform(0.05, 0.95, size=(3, 4))
    for j in range(4):
        columns[f"sign{j}"] = (rng.random(n_rows) < often[clusters, j]).astype(object)
    columns["ward"] = _words(rng, clusters, 5, 0.5, "ward")
    frame = pd.DataFrame(columns)
    for name in frame:
        frame.loc[rng.random(n_rows) < 0.03, name] = None
    return MixedTable(frame, clusters, {"severity": grades.tolist()})


def _shops(seed: int, n_rows: int = N_ROWS) -> MixedTable:
    """Many words, most of them rare; money in lognormal amounts; days of opening."""
    rng = np.random.default_rng(seed)
    clusters = rng.integers(4, size=n_rows)
    spread = rng.normal(0, 1.0, size=(4, 2))
    columns: dict[str, Any] = {
        "turnover": np.exp(spread[clusters, 0] * 1.5 + rng.normal(0, 0.6, n_rows)),
        "visitors": np.exp(spread[clusters, 1] * 1.5 + rng.normal(0, 0.6, n_rows)),
        "opened": pd.Timestamp("2001-01-01")
        + pd.to_timedelta(np.round(900 * clusters + rng.normal(0, 300, n_rows)), unit="D"),
        "town": _words(rng, clusters, 40, 0.15, "town"),
        "trade": _words(rng, clusters, 9, 0.3, "trade"),
        "franchise": _words(rng, clusters, 2, 0.8, "franchise"),
    }
    return MixedTable(pd.DataFrame(columns), clusters)


def _ring(seed: int, n_rows: int = N_ROWS) -> MixedTable:
    """A ring around a core, a word that often tells which, and one that never does."""
    rng = np.random.default_rng(seed)
    clusters = (rng.random(n_rows) < 0.6).astype(int)
    angle = rng.uniform(0, 2 * np.pi, n_rows)
    radius = np.where(clusters == 1, 1.0, 0.0) + rng.normal(0, 0.1, n_rows)
    core = rng.normal(0, 0.15, size=(2, n_rows)) * (clusters == 0)
    guess = np.where(rng.random(n_rows) < 0.3, rng.integers(2, size=n_rows), clusters)
    columns = {
        "x": radius * np.cos(angle) + core[0],
        "y": radius * np.sin(angle) + core[1],
        "zone": np.array(["inner", "outer"], dtype=object)[guess],
        "crew": _any_words(rng, n_rows, 3),
    }
    return MixedTable(pd.DataFrame(columns), clusters)


def _devices(seed: int, n_rows: int = N_ROWS) -> MixedTable:
    """Six clusters; numbers tell pairs of them apart, and words the two of a pair."""
    rng = np.random.default_rng(seed)
    clusters = rng.integers(6, size=n_rows)
    stretch = rng.normal(size=(3, 3))
    centers = rng.normal(0, 3.5, size=(3, 3))
    rows = centers[clusters // 2] + rng.normal(size=(n_rows, 3)) @ (0.5 * stretch + np.eye(3))
    columns: dict[str, Any] = {f"n{j}": rows[:, j] for j in range(3)}
    for j in range(4):
        wrong = rng.random(n_rows) < 0.1
        of_pair = np.where(wrong, rng.integers(2, size=n_rows), clusters % 2)
        columns[f"part{j}"] = np.array([f"a{j}", f"b{j}"], dtype=object)[of_pair]
    return MixedTable(pd.DataFrame(columns), clusters)


HELD_OUT: dict[str, Family] = {
    "patients": _patients,
    "shops": _shops,
    "ring and zones": _ring,
    "devices": _devices,
}


# --------------------------------------------------------------------------- heavy tails


def _web_log(seed: int, n_rows: int = N_ROWS) -> MixedTable:
    """Three paths, each with lognormal latency and bytes, and gaps."""
    rng = np.random.default_rng(seed)
    clusters = rng.choice(3, size=n_rows, p=[0.5, 0.3, 0.2])
    latency = np.exp(np.array([3.0, 4.5, 6.0])[clusters] + rng.normal(0, 0.6, n_rows))
    size = np.exp(np.array([6.0, 9.0, 7.5])[clusters] + rng.normal(0, 0.8, n_rows))
    path = np.array(["/", "/search", "/export"], dtype=object)[clusters]
    frame = pd.DataFrame({"path": path, "latency": latency, "bytes": size})
    for name in ("latency", "bytes"):
        frame.loc[rng.random(n_rows) < 0.02, name] = None
    return MixedTable(frame, clusters)


def _orders(seed: int, n_rows: int = N_ROWS) -> MixedTable:
    """Money and counts, zeros among them; a word that often tells the cluster."""
    rng = np.random.default_rng(seed)
    clusters = rng.integers(4, size=n_rows)
    level = rng.permutation([0.0, 1.5, 3.0, 4.5])[clusters]
    columns: dict[str, Any] = {
        "amount": np.exp(level + rng.normal(0, 0.7, n_rows)),
        "items": rng.poisson(np.exp(np.array([0.0, 3.0, 1.5, 0.5])[clusters])).astype(float),
        "days": rng.gamma(2.0, np.array([2.0, 30.0, 8.0, 100.0])[clusters]),
        "channel": _words(rng, clusters, 4, 0.4, "channel"),
        "region": _any_words(rng, n_rows, 6),
    }
    return MixedTable(pd.DataFrame(columns), clusters)


def _households(seed: int, n_rows: int = N_ROWS) -> MixedTable:
    """Incomes and wealth beside symmetric numbers; a tenth of the wealth is extreme."""
    rng = np.random.default_rng(seed)
    clusters = rng.choice(3, size=n_rows, p=[0.6, 0.25, 0.15])
    level = np.array([0.0, 1.0, 2.2])[clusters]
    wealth = np.exp(10 + 1.2 * level + rng.normal(0, 0.8, n_rows))
    columns: dict[str, Any] = {
        "income": np.exp(10 + level + rng.normal(0, 0.4, n_rows)),
        "wealth": wealth * np.where(rng.random(n_rows) < 0.1, 10.0, 1.0),
        "age": 35 + 9 * level + rng.normal(0, 7, n_rows),
        "work": _words(rng, clusters, 5, 0.5, "work"),
        "home": _words(rng, clusters, 3, 0.6, "home"),
    }
    return MixedTable(pd.DataFrame(columns), clusters)


HEAVY_TAILS: dict[str, Family] = {
    "web log": _web_log,
    "orders": _orders,
    "households": _households,
}
