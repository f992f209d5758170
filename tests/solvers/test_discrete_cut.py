"""Moves and merges of the discrete cut, compared with the objective itself."""

import numpy as np
import pytest
from scipy import sparse

from eigencut import GPOD, Gaussian
from eigencut.kernels.numpy_kernels import Edges, NumpyKernels

K = 6


def information(weights, mass, labels, n_clusters):
    """The objective of ``solvers/discrete_cut.py``, from its definition."""
    Z = np.eye(n_clusters)[labels]
    A, M = np.diag(Z.T @ weights @ Z), mass @ Z
    B, Q = weights.sum() - A.sum(), M.sum() ** 2 - (M**2).sum()
    inside = sum(a * np.log(a / m**2) for a, m in zip(A, M, strict=True) if a > 0)
    return inside + (B * np.log(B / Q) if B > 0 else 0.0)


def random_graph(seed, n=60):
    rng = np.random.default_rng(seed)
    weights = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.15), 1).astype(np.float32)
    weights = (weights + weights.T).astype(np.float64)
    return weights, weights.sum(axis=1), rng.integers(K, size=n), rng.permutation(n)


def edges(weights, mass, stored=None):
    """Edges where ``stored`` is true: where there is weight, unless told otherwise."""
    row, column = np.nonzero(weights if stored is None else stored)
    starts = np.searchsorted(row, np.arange(len(mass) + 1))
    return Edges(
        starts.astype(np.intp),
        column.astype(np.int32),
        weights[row, column].astype(np.float32),
        mass,
    )


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("keeps", [False, True])
def test_moves_have_the_information_of_their_labels(kernels, seed, keeps):
    weights, mass, labels, order = random_graph(seed)
    before, moved = information(weights, mass, labels, K), labels.copy()
    found = kernels.move_vertices(
        edges(weights, mass), moved, K, order=order, sweeps=20, keeps=keeps
    )
    assert found == pytest.approx(information(weights, mass, moved, K), rel=1e-6)
    assert found > before
    if keeps:
        assert len(np.unique(moved)) == len(np.unique(labels))


@pytest.mark.parametrize("seed", range(5))
def test_every_sweep_gains(kernels, seed):
    weights, mass, labels, order = random_graph(seed)
    graph = edges(weights, mass)
    for _ in range(3):
        before = information(weights, mass, labels, K)
        kernels.move_vertices(graph, labels, K, order=order, sweeps=1)
        after = information(weights, mass, labels, K)
        assert after >= before - 1e-9


@pytest.mark.parametrize("seed", range(5))
def test_merges_are_those_that_lose_least(kernels, seed):
    weights, mass, labels, _ = random_graph(seed, n=30)
    partners, changes = kernels.best_merges(edges(weights, mass), labels, K)
    before = information(weights, mass, labels, K)
    for cluster in range(K):
        merged = {}
        for other in set(range(K)) - {cluster}:
            if weights[np.ix_(labels == cluster, labels == other)].any():
                joined = np.where(labels == other, cluster, labels)
                merged[other] = information(weights, mass, joined, K) - before
        best = max(merged, key=merged.get)
        assert partners[cluster] == best
        assert changes[cluster] == pytest.approx(merged[best], rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_both_builds_move_and_merge_alike(kernels, seed):
    weights, mass, labels, order = random_graph(seed)
    graph, twin = edges(weights, mass), NumpyKernels()
    own, others = labels.copy(), labels.copy()
    first = kernels.move_vertices(graph, own, K, order=order, sweeps=10)
    second = twin.move_vertices(graph, others, K, order=order, sweeps=10)
    np.testing.assert_array_equal(own, others)
    assert first == pytest.approx(second, rel=1e-12)
    np.testing.assert_array_equal(
        kernels.best_merges(graph, own, K)[0], twin.best_merges(graph, own, K)[0]
    )


def test_an_edge_without_weight_is_none(kernels):
    """Weights below the smallest number of single precision are 0 there."""
    weights, mass, labels, order = random_graph(0)
    everywhere = edges(weights, mass, stored=np.ones_like(weights, dtype=bool))
    few, many = labels.copy(), labels.copy()
    kernels.move_vertices(edges(weights, mass), few, K, order=order, sweeps=10)
    kernels.move_vertices(everywhere, many, K, order=order, sweeps=10)
    np.testing.assert_array_equal(few, many)
    apart = np.zeros((4, 4))
    apart[0, 1] = apart[1, 0] = apart[2, 3] = apart[3, 2] = 1.0
    graph = edges(apart, np.ones(4), stored=np.ones((4, 4), dtype=bool))
    partners, _ = kernels.best_merges(graph, np.array([0, 0, 1, 1]), 2)
    np.testing.assert_array_equal(partners, [-1, -1])


def test_a_complete_graph_of_far_rows_is_cut(kernels):
    """Its smallest weights vanish in single precision."""
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(4, 3)) * 20, 25, axis=0) + rng.normal(size=(100, 3))
    model = GPOD(4, affinity=Gaussian(1.0), solver="discrete").fit(X)
    assert len(np.unique(model.labels_.reshape(4, 25), axis=1).ravel()) == 4


def test_weights_of_the_graph_stay(kernels):
    """The search works on copies."""
    weights, mass, labels, order = random_graph(0)
    graph = edges(weights, mass)
    before = sparse.csr_array((graph.weights.copy(), graph.ends.copy(), graph.starts.copy()))
    kernels.move_vertices(graph, labels, K, order=order, sweeps=10)
    after = sparse.csr_array((graph.weights, graph.ends, graph.starts))
    assert (before != after).nnz == 0
