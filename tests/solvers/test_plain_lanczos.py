"""Plain Lanczos is tried where there is a gap, and not believed when it misses something."""

import numpy as np
import pytest
from scipy.sparse import block_diag
from sklearn.datasets import make_blobs, make_moons

import eigencut.solvers.sparse as module
from sparse_graphs import neighbours_graph, reference, solve, sparse_graph


def clusters(n=1500, n_clusters=4, seed=0):
    """A connected graph of clear clusters in many dimensions, but for a few edges between them."""
    X = make_blobs(n, 8, centers=n_clusters, cluster_std=2.5, random_state=seed)[0]
    return neighbours_graph(X)


@pytest.fixture
def tried(monkeypatch):
    """Records what the probe said and what Lanczos found."""
    record = {}
    for name in ("has_large_gap", "by_lanczos", "_is_missed"):
        original = getattr(module, name)

        def recorded(*args, name=name, original=original):
            record[name] = original(*args)
            return record[name]

        monkeypatch.setattr(module, name, recorded)
    return record


@pytest.mark.parametrize("seed", range(4))
def test_a_gap_is_seen_and_used(tried, seed):
    graph = clusters(seed=seed)
    pairs = solve(graph, "ncut", 4)
    expected = reference(graph, "ncut", 5)
    assert expected[4] > 5 * expected[3]
    assert tried["has_large_gap"] and tried["by_lanczos"] is not None and not tried["_is_missed"]
    assert np.abs(pairs.values - expected[:4]).max() < 1e-8


def test_without_a_gap_it_is_not_tried(tried, cut):
    solve(neighbours_graph(make_moons(3000, noise=0.1, random_state=0)[0]), cut, 4)
    assert not tried["has_large_gap"]
    assert "by_lanczos" not in tried


def test_equal_eigenvalues_are_found_although_one_vector_starts(tried, monkeypatch):
    """Four equal parts of three clusters each: every eigenvalue four times."""
    graph = sparse_graph(block_diag([clusters(600, 3).weights] * 4))
    expected = reference(graph, "ncut", 12)
    monkeypatch.setattr(module, "has_large_gap", lambda *_: True)
    assert np.abs(solve(graph, "ncut", 12).values - expected).max() < 1e-8
    assert "by_lanczos" in tried
    assert np.ptp(expected[4:8]) < 1e-12


def test_what_lanczos_misses_is_found_by_the_block(tried, monkeypatch):
    """Lanczos that is blind for the smallest eigenvalue after the null vector."""
    graph = clusters()
    expected = reference(graph, "ncut", 4)
    original = module.by_lanczos

    def blind(matrix, null, n_wanted, tolerance, rng):
        found = original(matrix, null, n_wanted, tolerance, rng)
        hidden = np.hstack([null, found.vectors[:, :1]])
        return original(matrix, hidden, n_wanted, tolerance, rng)

    monkeypatch.setattr(module, "by_lanczos", blind)
    monkeypatch.setattr(module, "SETTINGS", module.SparseSettings(restarts=1000))
    assert np.abs(solve(graph, "ncut", 4).values - expected).max() < 1e-8
