"""No arrangement of rows makes a search slow: the work is counted, not timed.

What it takes in time is measured by ``benchmarks/nasty_inputs.py``, on the same inputs.
"""

import json
import tracemalloc

import numpy as np
import pytest
from benchmarks.nasty_inputs import N_NEIGHBORS, NASTY
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import cdist

from benchmarks import RESULTS
from conftest import in_threads
from eigencut._utils.memory import FitSizes
from eigencut.affinities.neighbors import neighbors_bytes
from eigencut.neighbors.metrics import METRICS, Space
from eigencut.neighbors.search import LocalProducts, brute_index, build_index

N_ROWS = 1200
# Also where rows are so much larger than others that they are equally far from all of these.
WITH_TIES = ("lattice", "levels", "flags", "counts", "one-hot", "sphere", "unit vectors", "sizes")


class CountingSpace(Space):
    """Counts the pairs of points whose distance was taken."""

    n_pairs = 0

    def between(self, A, B):
        self.n_pairs += A.shape[0]
        return super().between(A, B)

    def all_pairs(self, A, B):
        self.n_pairs += A.shape[0] * B.shape[0]
        return super().all_pairs(A, B)


class CountingTree:
    """Counts what a tree was asked for."""

    def __init__(self, tree):
        self.tree, self.n_pairs = tree, 0

    def query(self, queries, k, p):
        self.n_pairs += len(queries) * np.max(k)
        return self.tree.query(queries, k, p=p)

    def query_ball_point(self, queries, *given, **options):
        self.n_pairs += len(queries)
        return self.tree.query_ball_point(queries, *given, **options)


def searched(X, metric="euclidean"):
    """What was found, the index, and how many distances it took."""
    space = CountingSpace(X, METRICS[metric])
    _, index = build_index("auto", space.points(X), space)
    tree = CountingTree(getattr(index, "_tree", None))
    if tree.tree is not None:
        index._tree = tree
    return index.query_itself(N_NEIGHBORS), index, space.n_pairs + tree.n_pairs


def by_definition(index):
    points = index.points.toarray() if sparse.issparse(index.points) else index.points
    distances = np.sort(cdist(points, points, index.space.metric.name), axis=1)
    return distances[:, :N_NEIGHBORS]


@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize("name", NASTY)
def test_work_is_bounded_and_neighbours_are_right(name):
    X = NASTY[name].of(N_ROWS)
    (distances, numbers), index, n_pairs = searched(X, NASTY[name].metric)
    expected = by_definition(index)
    assert (np.abs(distances - expected) <= 1e-9 * expected + 1e-13 * (expected > 0)).all()
    assert all(len(set(row)) == N_NEIGHBORS for row in numbers.tolist())
    every = X.shape[0] ** 2
    # All distances once, and those of the candidates of a first round that did not tell.
    assert n_pairs < 1.2 * every
    is_plain = METRICS[NASTY[name].metric].p == 2 or X.shape[1] <= 8
    if is_plain and not any(word in name for word in WITH_TIES):
        assert n_pairs < every / 8


def test_one_outlier_costs_nothing(monkeypatch):
    """Only its own neighbours are hard to tell, not those of all other rows."""
    hard, query = [], LocalProducts.query

    def noted(self, queries, k):
        hard.append(len(queries))
        return query(self, queries, k)

    monkeypatch.setattr(LocalProducts, "query", noted)
    usual = NASTY["one outlier of 1e9, d = 10"].of(N_ROWS)
    searched(usual)
    assert sum(hard) <= 1


@pytest.mark.parametrize("name", ["one outlier of 1e200, d = 2", "one outlier of 1e200, d = 10"])
def test_an_outlier_does_not_hide_the_other_rows(name):
    X = NASTY[name].of(300)
    others = X[np.abs(X).max(axis=1) < 1e9]
    near = np.sort(cdist(others, others), axis=1)[:, 1]
    (distances, _), index, _ = searched(X)
    found = np.ldexp(distances[np.abs(X).max(axis=1) < 1e9, 1], index.space.exponent)
    assert found == pytest.approx(near, rel=1e-12)


@pytest.mark.usefixtures("kernels")
@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(0, 60), st.booleans())
def test_points_of_all_scales_have_the_right_neighbours(seed, d, decades, are_clumps):
    rng = np.random.default_rng(seed)
    size = 10.0 ** rng.uniform(-decades, decades, size=(150, 1))
    rows = size * rng.normal(size=(150, d))
    if are_clumps:  # around places of such sizes
        rows = rows[rng.integers(0, 8, 150)] + 10.0**-decades * rng.normal(size=(150, d))
    space = Space(rows, METRICS["euclidean"])
    index = brute_index(space.points(rows), space)
    distances, _ = index.query_itself(N_NEIGHBORS)
    assert distances == pytest.approx(by_definition(index), rel=1e-12, abs=0)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_memory_is_bounded_by_the_rows_however_wide_they_are(metric):
    """Of 2000 rows of 20 000 features blocks of pairs once took 18 GB."""
    n, d = 300, 20_000
    X = np.random.default_rng(0).normal(size=(n, d))

    def search():
        space = Space(X, METRICS[metric])
        return build_index("auto", space.points(X), space)[1].query_itself(N_NEIGHBORS)

    tracemalloc.start()
    try:
        in_threads(2, search)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < in_threads(2, neighbors_bytes, FitSizes(n, d, 2), N_NEIGHBORS)


def test_nothing_took_ten_times_as_long_when_it_was_measured():
    stored = json.loads((RESULTS / "nasty_inputs.json").read_text(encoding="utf-8"))
    assert stored and {found["input"] for found in stored} <= set(NASTY)
    assert max(found["ratio"] for found in stored) < 10
