"""Rows that have made searches for neighbours slow, and how slow they are now.

    python -m benchmarks.nasty_inputs [--rows N] [--only TEXT] [--out FILE]

Outliers, ties, clumps far from each other, scales of all sizes: each is searched as a fit does it,
and so are rows of a normal distribution of the same shape, kind and metric. Their processor times
are compared, the better of two each, in a process that may use two threads.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from benchmarks import RESULTS
from eigencut._utils.running import threads
from eigencut.neighbors.metrics import METRICS, Space, distinct_rows
from eigencut.neighbors.search import build_index

N_NEIGHBORS = 15
ROWS = 20_000
Rows = Callable[[int, np.random.Generator], Any]


class Nasty(NamedTuple):
    """Rows made for a number of them, and the metric in which they are nasty."""

    rows: Rows
    metric: str = "euclidean"

    def of(self, n: int) -> Any:
        """The distinct ones of n rows, as they come to the search."""
        return distinct_rows(self.rows(n, np.random.default_rng(1))).rows


def _normal(d: int) -> Rows:
    return lambda n, rng: rng.normal(size=(n, d))


def _outliers(d: int, size: float, count: int = 1) -> Rows:
    """Normal rows, of which some have one huge value each."""

    def rows(n: int, rng: np.random.Generator) -> Any:
        X = rng.normal(size=(n, d))
        X[np.arange(count), np.arange(count) % d] = size * rng.uniform(1, 2, size=count)
        return X

    return rows


def _share_of_outliers(d: int, size: float, share: float) -> Rows:
    return lambda n, rng: _outliers(d, size, max(1, int(share * n)))(n, rng)


def _clumps(d: int, count: int, size: float) -> Rows:
    """Clumps in the unit cube."""
    return lambda n, rng: (
        rng.random((count, d))[rng.integers(0, count, n)] + size * rng.normal(size=(n, d))
    )


def _levels(d: int, count: int) -> Rows:
    """Integers: few distances between any two rows."""
    return lambda n, rng: rng.integers(0, count, size=(n, d)).astype(float)


def _one_hot(variables: int, count: int) -> Rows:
    def rows(n: int, rng: np.random.Generator) -> Any:
        codes = rng.integers(0, count, size=(n, variables))
        return np.eye(count)[codes].reshape(n, variables * count)

    return rows


def _lattice(d: int) -> Rows:
    def rows(n: int, rng: np.random.Generator) -> Any:
        side = round(n ** (1 / d))
        axes = np.meshgrid(*d * [np.arange(float(side))])
        return np.stack(axes, axis=-1).reshape(-1, d)

    return rows


def _nested(d: int, ratio: float, depth: int) -> Rows:
    """Clumps of clumps, each so much smaller than the one it is in."""

    def rows(n: int, rng: np.random.Generator) -> Any:
        steps = rng.integers(0, 3, size=(depth, n, d)).astype(float)
        return np.tensordot(ratio ** np.arange(depth), steps, 1) + ratio**depth * rng.random((n, d))

    return rows


def _sphere(d: int, inside: float) -> Rows:
    """Points at equal distance of those in the middle."""

    def rows(n: int, rng: np.random.Generator) -> Any:
        X = rng.normal(size=(n, d))
        X /= np.linalg.norm(X, axis=1)[:, np.newaxis]
        X[: int(inside * n)] *= 1e-9
        return X

    return rows


def _doubling(n: int, rng: np.random.Generator) -> Any:
    return np.ldexp(1 + rng.random((n, 1)), rng.integers(-450, 450, size=(n, 1)))


def _sparse(d: int, density: float, values: Callable[..., Any] | None = None) -> Rows:
    def rows(n: int, rng: np.random.Generator) -> Any:
        X = sparse.random_array(
            (n, d), density=density, random_state=rng, format="csr", data_sampler=values
        )
        return X + sparse.csr_array(([1.0] * n, (range(n), rng.integers(0, d, n))), shape=(n, d))

    return rows


def _ones(rng: Any = None, size: Any = None, **_: Any) -> Any:
    return np.ones(size)


def _heavy(rng: Any = None, size: Any = None, **_: Any) -> Any:
    return np.exp(8 * np.random.default_rng(0).normal(size=size))


def _sparse_outlier(n: int, rng: np.random.Generator) -> Any:
    X = _sparse(1000, 0.01)(n, rng)
    X.data[len(X.data) // 2] = 1e9
    return X


def _sparse_with_a_full_row(n: int, rng: np.random.Generator) -> Any:
    return sparse.vstack([_sparse(1000, 0.01)(n - 1, rng), rng.normal(size=(1, 1000))], "csr")


WELL_BEHAVED_SPARSE = _sparse(1000, 0.01)
NASTY: dict[str, Nasty] = {
    # Few features, searched by a tree.
    "one outlier of 1e9, d = 2": Nasty(_outliers(2, 1e9)),
    "one outlier of 1e200, d = 2": Nasty(_outliers(2, 1e200)),
    "1 % outliers of 1e9, d = 8": Nasty(_share_of_outliers(8, 1e9, 0.01)),
    "lattice, d = 2": Nasty(_lattice(2)),
    "lattice, d = 3": Nasty(_lattice(3)),
    "lattice, d = 3, manhattan": Nasty(_lattice(3), "manhattan"),
    "four levels, d = 8": Nasty(_levels(8, 4)),
    "four levels, d = 8, manhattan": Nasty(_levels(8, 4), "manhattan"),
    "four levels, d = 8, chebyshev": Nasty(_levels(8, 4), "chebyshev"),
    "900 doublings, d = 1": Nasty(_doubling),
    "two clumps 1e9 times as far, d = 2": Nasty(_clumps(2, 2, 1e-9)),
    "clumps of clumps, d = 2": Nasty(_nested(2, 1e-3, 4)),
    "a sphere and its middle, d = 3": Nasty(_sphere(3, 0.1)),
    "on a line, d = 8": Nasty(lambda n, rng: np.outer(rng.normal(size=n), np.ones(8))),
    "Cauchy, d = 3": Nasty(lambda n, rng: rng.standard_cauchy((n, 3))),
    # Many features.
    "one outlier of 1e9, d = 10": Nasty(_outliers(10, 1e9)),
    "one outlier of 1e200, d = 10": Nasty(_outliers(10, 1e200)),
    "an outlier in every column, d = 10": Nasty(_outliers(10, 1e9, 10)),
    "1 % outliers of 1e6, d = 10": Nasty(_share_of_outliers(10, 1e6, 0.01)),
    "20 % outliers of 1e12, d = 10": Nasty(_share_of_outliers(10, 1e12, 0.2)),
    "one outlier, d = 10, manhattan": Nasty(_outliers(10, 1e9), "manhattan"),
    "Cauchy, d = 10": Nasty(lambda n, rng: rng.standard_cauchy((n, 10))),
    "lognormal, d = 10": Nasty(lambda n, rng: np.exp(5 * rng.normal(size=(n, 10)))),
    "two clumps 1e9 times as far, d = 10": Nasty(_clumps(10, 2, 1e-9)),
    "100 clumps 1e7 times as far, d = 10": Nasty(_clumps(10, 100, 1e-7)),
    "1000 clumps 1e5 times as far, d = 10": Nasty(_clumps(10, 1000, 1e-5)),
    "clumps of clumps, d = 10": Nasty(_nested(10, 1e-4, 3)),
    "offset of 1e8, d = 10": Nasty(lambda n, rng: 1e8 + rng.normal(size=(n, 10))),
    "offset of 1e15, d = 10": Nasty(lambda n, rng: 1e15 + rng.normal(size=(n, 10))),
    "columns from 1e-6 to 1e6, d = 12": Nasty(
        lambda n, rng: rng.normal(size=(n, 12)) * np.logspace(-6, 6, 12)
    ),
    "a sphere and its middle, d = 20": Nasty(_sphere(20, 0.1)),
    "nearly parallel, d = 20, cosine": Nasty(
        lambda n, rng: 1 + 1e-6 * rng.normal(size=(n, 20)), "cosine"
    ),
    "flags, d = 20": Nasty(_levels(20, 2)),
    "flags, d = 20, cosine": Nasty(lambda n, rng: 1 - _levels(20, 2)(n, rng) / 2, "cosine"),
    "counts, d = 20": Nasty(lambda n, rng: rng.poisson(1.0, size=(n, 20)).astype(float)),
    "grey levels, d = 64": Nasty(_levels(64, 256)),
    "one-hot, d = 50": Nasty(_one_hot(5, 10)),
    "one-hot, d = 50, cosine": Nasty(_one_hot(5, 10), "cosine"),
    "one-hot, d = 50, manhattan": Nasty(_one_hot(5, 10), "manhattan"),
    "one-hot, d = 50, chebyshev": Nasty(_one_hot(5, 10), "chebyshev"),
    # So many that cells are searched.
    "one outlier of 1e9, d = 100": Nasty(_outliers(100, 1e9)),
    "100 clumps 1e7 times as far, d = 100": Nasty(_clumps(100, 100, 1e-7)),
    "one-hot, d = 100": Nasty(_one_hot(10, 10)),
    "one-hot, d = 100, cosine": Nasty(_one_hot(10, 10), "cosine"),
    # Sparse rows.
    "unit vectors, sparse": Nasty(lambda n, rng: sparse.eye_array(n, format="csr")),
    "one outlier, sparse": Nasty(_sparse_outlier),
    "flags, sparse": Nasty(_sparse(1000, 0.01, _ones)),
    "flags, sparse, cosine": Nasty(_sparse(1000, 0.01, _ones), "cosine"),
    "values of all sizes, sparse": Nasty(_sparse(1000, 0.01, _heavy)),
    "one full row, sparse": Nasty(_sparse_with_a_full_row),
}


def search(X: Any, metric: str) -> tuple[str, float]:
    """The index that was taken, and processor seconds; the better of two times."""
    times, name = [], ""
    for _ in range(2):
        start = time.process_time()
        space = Space(X, METRICS[metric])
        name, index = build_index("auto", space.points(X), space)
        index.query_itself(N_NEIGHBORS)
        times.append(time.process_time() - start)
    return name, min(times)


@cache
def _well_behaved(n: int, d: int, metric: str, is_sparse: bool) -> float:
    """The time of rows of the same shape and kind."""
    rng = np.random.default_rng(0)
    X = WELL_BEHAVED_SPARSE(n, rng) if is_sparse else rng.normal(size=(n, d))
    return search(X, metric)[1]


def measure(name: str, n: int) -> dict[str, Any]:
    X, metric = NASTY[name].of(n), NASTY[name].metric
    index, seconds = search(X, metric)
    usual = _well_behaved(*X.shape, metric, sparse.issparse(X))
    found = {"rows": X.shape[0], "index": index, "seconds": round(seconds, 3)}
    ratio = round(seconds / max(usual, 1e-3), 2)
    return {"input": name} | found | {"well-behaved": round(usual, 3), "ratio": ratio}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--only", default="", help="inputs whose names have this text in them")
    parser.add_argument("--out", type=Path, default=RESULTS / "nasty_inputs.json")
    args = parser.parse_args()
    found = []
    with threads(2):
        for name in NASTY:
            if args.only in name:
                found.append(measure(name, args.rows))
                print(json.dumps(found[-1]), flush=True)
    args.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
