"""Medoids against brute force."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import cdist

from eigencut.inspection.describe import typical_rows


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan", "chebyshev"])
@pytest.mark.parametrize("offset", [0.0, 1e7])
def test_they_are_those_of_brute_force(metric, offset):
    if metric == "cosine" and offset:
        pytest.skip("all angles are the same there")
    rng = np.random.default_rng(0)
    points, labels = rng.normal(size=(150, 3)) + offset, rng.integers(-1, 3, 150)
    found = typical_rows(points, labels, 3, 4, metric)
    for k in range(3):
        rows = np.flatnonzero(labels == k)
        name = "cityblock" if metric == "manhattan" else metric
        sums = cdist(points[rows], points[rows], name).sum(axis=1)
        assert found[k].tolist() == rows[np.argsort(sums)[:4]].tolist()


def test_of_many_rows_they_are_as_good_as_the_best():
    points = np.random.default_rng(0).lognormal(size=(6000, 2))
    found = typical_rows(points, np.zeros(6000, dtype=int), 1, 1)[0]
    sums = cdist(points, points).sum(axis=1)
    assert sums[found[0]] <= sums.min() * (1 + 1e-3)


def test_equal_rows_are_said_once():
    points = np.array([[0.0], [0.0], [0.0], [1.0], [-1.0], [9.0]])
    assert typical_rows(points, np.zeros(6, dtype=int), 1, 3)[0].tolist() == [0, 3, 4]


def test_clusters_without_rows_and_with_few():
    found = typical_rows(np.eye(3), np.array([0, 0, 2]), 3, 5)
    assert [len(rows) for rows in found] == [2, 0, 1]


def test_sparse_rows_are_like_dense_ones():
    rng = np.random.default_rng(1)
    dense = rng.normal(size=(90, 6)) * (rng.random((90, 6)) < 0.5)
    labels = rng.integers(0, 2, 90)
    found = typical_rows(sparse.csr_array(dense), labels, 2, 2)
    expected = typical_rows(dense, labels, 2, 2)
    assert [rows.tolist() for rows in found] == [rows.tolist() for rows in expected]


@given(st.permutations(range(40)), st.floats(1e-150, 1e150))
def test_order_and_units_do_not_matter(order, scale):
    points = np.random.default_rng(2).normal(size=(40, 2))
    first = typical_rows(points, np.zeros(40, dtype=int), 1, 1)[0][0]
    order = np.array(order)
    assert order[typical_rows(scale * points[order], np.zeros(40, dtype=int), 1, 1)[0][0]] == first
