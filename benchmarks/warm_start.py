"""What a warm start of eigenvectors could save in updates of models that keep their rows.

It could shorten the iteration of the eigensolver and nothing else: not the search for neighbours,
nor the factors or the hierarchy of matrices that the iteration uses. The share of that iteration in
the processor time of an update by a twentieth of the rows is therefore the most it can save.

    OMP_NUM_THREADS=1 python -m benchmarks.warm_start
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.datasets import make_blobs, make_moons

from benchmarks.harness.markdown import table
from eigencut import GPOD, Neighbors
from eigencut.solvers import eigenpairs, sparse

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


def measure(X: Any, model: GPOD) -> list[float]:
    """Seconds of an update, of its eigensolver, and of the iteration in that."""
    X = X[np.random.default_rng(SEED).permutation(len(X))]
    n_old = len(X) * 20 // 21
    model.fit(X[:n_old])
    solving, iterating = [0.0], [0.0]
    with timed(eigenpairs, "smallest_pairs", solving), timed(sparse, "iterate", iterating):
        start = time.process_time()
        model.update(X[n_old:])
        return [time.process_time() - start, solving[0], iterating[0]]


def main() -> None:
    warnings.simplefilter("ignore")
    rows = []
    for name, (X, model) in MODELS.items():
        whole, solving, iterating = measure(X, model)
        rows.append([name, f"{whole:.2f} s", f"{solving / whole:.0%}", f"{iterating / whole:.0%}"])
    print(table(["rows", "update", "eigensolver", "its iteration"], rows))


if __name__ == "__main__":
    main()
