"""How often ``drift`` finds a change where there is none: p-values of models with landmarks.

Three clusters, rows to fit on and new rows drawn alike, again and again: of p-values that hold, no
more than one in twenty is at most .05. The figures go to ``benchmarks/results/drift_p_values.json``
and into the table of ``benchmarks/studies/living-models.md``.

    OMP_NUM_THREADS=1 python -m benchmarks.drift_p_values
    OMP_NUM_THREADS=1 python -m benchmarks.drift_p_values --quick    # 20 repetitions; pages stay
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.data import Array
from benchmarks.harness.markdown import table
from benchmarks.harness.study import Study
from eigencut import GPOD, Landmarks

LEVELS = (0.01, 0.05, 0.25)
CENTRES = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
PARTS = ("without support", "shares", "cut value", "all three")


@dataclass(frozen=True)
class Setting:
    """Rows, landmarks and new rows; how far apart clusters are, in standard deviations."""

    n_rows: int
    n_landmarks: int
    n_new: int
    n_features: int
    distance: float
    n_updates: int = 0  # by as many rows as are new, before they are compared

    def rows(self, n: int, rng: np.random.Generator) -> Array:
        X = rng.normal(size=(n, self.n_features))
        X[:, :2] += self.distance * CENTRES[rng.integers(3, size=n)]
        return X


SETTINGS = (
    Setting(1_000, 20, 300, 2, 5.0),
    Setting(1_000, 50, 1_000, 2, 5.0),
    Setting(1_000, 50, 1_000, 2, 3.0),
    Setting(4_000, 100, 500, 2, 3.0),
    Setting(4_000, 100, 4_000, 4, 5.0),
    Setting(4_000, 100, 4_000, 4, 5.0, n_updates=2),
    Setting(10_000, 100, 20_000, 8, 5.0),
)


def p_values(setting: Setting, seed: int) -> list[float]:
    """Of one repetition, in the order of ``PARTS``."""
    rng = np.random.default_rng(seed)
    model = GPOD(3, affinity=Landmarks(setting.n_landmarks), n_init=2)
    model.fit(setting.rows(setting.n_rows, rng))
    for _ in range(setting.n_updates):
        model.update(setting.rows(setting.n_new, rng))
    found = model.drift(setting.rows(setting.n_new, rng), random_state=seed)
    return [
        found.without_support.p_value,
        found.p_shares,
        found.cut_value.p_value,
        found.p_value,
    ]


def measure(n_repeats: int, quick: bool) -> dict[str, Any]:
    n_repeats = 20 if quick else n_repeats
    lines = []
    for setting in SETTINGS:
        found = np.array([p_values(setting, seed) for seed in range(n_repeats)])
        below = {str(level): (found <= level).mean(axis=0).tolist() for level in LEVELS}
        lines.append(
            {"setting": vars(setting), "below": below, "least": found.min(axis=0).tolist()}
        )
    return {"repeats": n_repeats, "settings": lines}


def p_value_table(results: dict[str, Any]) -> str:
    header = ["rows", "updates", "landmarks", "new rows", "columns", "distance"]
    header += [f"{part}: p ≤ {', '.join(f'{level:g}' for level in LEVELS)}" for part in PARTS]
    rows = []
    for line in results["settings"]:
        one = line["setting"]
        cells = [f"{one['n_rows']:,}", f"{one['n_updates']}", f"{one['n_landmarks']}"]
        cells += [f"{one['n_new']:,}", f"{one['n_features']}", f"{one['distance']:g}"]
        for place in range(len(PARTS)):
            cells.append(", ".join(f"{line['below'][str(level)][place]:.3f}" for level in LEVELS))
        rows.append(cells)
    return table(header, rows)


def make_tables(results: dict[str, Any]) -> dict[str, str]:
    return {"p-values": p_value_table(results)}


STUDY = Study(
    "drift_p_values",
    "repeats",
    200,
    measure,
    make_tables,
    page_name="living-models",
)

if __name__ == "__main__":
    STUDY.run(__doc__)
