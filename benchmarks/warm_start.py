"""What a warm start of eigenvectors could save in updates of models that keep their rows.

It could shorten the iteration of the eigensolver and nothing else: not the search for neighbours,
nor the factors or the hierarchy of matrices that the iteration uses. The share of that iteration in
the processor time of an update by a twentieth of the rows is therefore the most it can save. The
figures go to ``benchmarks/results/warm_start.json`` and into ``studies/living-models.md``.

    OMP_NUM_THREADS=1 python -m benchmarks.warm_start
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_moons

from benchmarks.harness.markdown import table
from benchmarks.harness.study import Study
from eigencut import GPOD, Neighbors
from eigencut.solvers import relaxed_cut as eigenpairs
from eigencut.solvers import sparse

SEED = 8100
MODELS: dict[str, tuple[Any, Any]] = {
    "moons, 20 000 x 2": (
        make_moons(21_000, noise=0.08, random_state=SEED)[0],
        GPOD(2, affinity=Neighbors(15)),
    ),
    "moons, 20 000 x 2, default": (
        make_moons(21_000, noise=0.08, random_state=SEED)[0],
        GPOD(2),
    ),
    "8 blobs, 20 000 x 16": (
        make_blobs(21_000, 16, centers=8, cluster_std=3.0, random_state=SEED)[0],
        GPOD(8, affinity=Neighbors(15)),
    ),
}


@contextmanager
def timed(module: Any, name: str, seconds: list[float]) -> Iterator[None]:
    """Add up the processor time of a function of a module."""
    function = getattr(module, name)

    def measured(*given: Any, **options: Any) -> Any:
        start = time.process_time()
        try:
            return function(*given, **options)
        finally:
            seconds[0] += time.process_time() - start

    setattr(module, name, measured)
    try:
        yield
    finally:
        setattr(module, name, function)


def shares(X: Any, model: GPOD) -> list[float]:
    """Seconds of an update, and the shares of its eigensolver and of the iteration in that."""
    X = X[np.random.default_rng(SEED).permutation(len(X))]
    n_old = len(X) * 20 // 21
    model.fit(X[:n_old])
    solving, iterating = [0.0], [0.0]
    with timed(eigenpairs, "smallest_pairs", solving), timed(sparse, "iterate", iterating):
        start = time.process_time()
        model.update(X[n_old:])
        whole = time.process_time() - start
    return [whole, solving[0] / whole, iterating[0] / whole]


def measure(n_repeats: int, quick: bool) -> dict[str, Any]:
    """Medians of some updates of each."""
    found = {}
    for name, (X, model) in MODELS.items():
        rows = X[::10] if quick else X
        runs = [shares(rows, clone(model)) for _ in range(1 if quick else n_repeats)]
        medians = (round(float(value), 4) for value in np.median(runs, axis=0))
        found[name] = dict(zip(("update", "eigensolver", "iteration"), medians, strict=True))
    return found


def make_tables(results: dict[str, Any]) -> dict[str, str]:
    rows = [
        [name, f"{of['update']:.2f} s", f"{of['eigensolver']:.0%}", f"{of['iteration']:.0%}"]
        for name, of in results.items()
    ]
    return {"warm start": table(["rows", "update", "eigensolver", "its iteration"], rows)}


STUDY = Study(
    "warm_start",
    "repeats",
    5,
    measure,
    make_tables,
    page_name="living-models",
)

if __name__ == "__main__":
    STUDY.run(__doc__)
