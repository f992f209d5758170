"""Rough pairs by the inverse, against LAPACK."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from eigencut.affinities import Neighbors
from eigencut.cut import CUTS
from eigencut.solvers.relaxed_cut import relaxed_cut
from eigencut.solvers.sparse import Inverse, by_inverse_krylov, smallest_pairs


def _laplacian(weights):
    """Normalized, with its null vector; the graph is connected."""
    degrees = weights.sum(axis=1)
    root = np.sqrt(degrees)
    matrix = np.eye(len(weights)) - weights / np.outer(root, root)
    return matrix, (root / np.linalg.norm(root))[:, np.newaxis]


def _cliques(n_cliques, rows, weight):
    """Cliques in a ring, each joined to the next by one edge."""
    n = n_cliques * rows
    weights = np.kron(np.eye(n_cliques), np.ones((rows, rows)))
    for first in range(0, n, rows):
        other = (first + rows + 1) % n
        weights[first, other] = weights[other, first] = weight
    return _laplacian(weights)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 24))
def test_eigenvalues_are_those_of_lapack_to_a_hundredth(seed, n_pairs):
    rng = np.random.default_rng(seed)
    graph = Neighbors(8).fit_graph(rng.normal(size=(200, 2)) * [4.0, 1.0])
    matrix, null = _laplacian(graph.dense() + 1e-6)
    found = by_inverse_krylov(Inverse(sparse.csr_array(matrix)), null, n_pairs, rng)
    exact = np.linalg.eigvalsh(matrix)[1 : n_pairs + 1]
    np.testing.assert_allclose(found.values, exact, rtol=0.02, atol=1e-7)
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(n_pairs), atol=1e-8)
    np.testing.assert_allclose(null.T @ found.vectors, 0.0, atol=1e-8)


@pytest.mark.parametrize("weight", [1e-3, 1e-9, 1e-13])
def test_more_nearly_equal_eigenvalues_than_columns_are_not_missed(weight):
    matrix, null = _cliques(20, 20, weight)
    found = smallest_pairs(sparse.csr_array(matrix), null, 25, 1e-8, n_rough=25)
    np.testing.assert_allclose(found.values, np.linalg.eigvalsh(matrix)[:25], rtol=0.02, atol=1e-7)


def test_all_pairs_of_a_small_problem():
    matrix, null = _cliques(2, 3, 0.1)
    found = by_inverse_krylov(Inverse(sparse.csr_array(matrix)), null, 5, np.random.default_rng(0))
    np.testing.assert_allclose(found.values, np.linalg.eigvalsh(matrix)[1:], rtol=1e-4)


def test_the_relaxed_cut_is_the_same_roughly():
    X = np.random.default_rng(0).uniform(size=(700, 2))
    affinity = Neighbors(15)
    graph = affinity.fit_graph(X)
    rough = relaxed_cut(graph, affinity, CUTS["ncut"], 17, n_rough=17)
    accurate = relaxed_cut(graph, affinity, CUTS["ncut"], 17)
    assert rough.pairs.solver == "sparse"
    np.testing.assert_allclose(rough.pairs.values, accurate.pairs.values, rtol=0.02, atol=1e-9)
