"""Factors instead of a hierarchy of graphs, where they are cheap."""

import numpy as np
import pytest
from scipy.sparse import csr_array, diags_array
from scipy.sparse.csgraph import reverse_cuthill_mckee
from sklearn.datasets import make_moons

import eigencut.solvers.sparse as module
from eigencut.solvers.sparse import Inverse, is_cheap_to_factor
from sparse_graphs import neighbours_graph, reference, solve


def ordered_laplacian(X):
    weights = csr_array(neighbours_graph(X).weights)
    laplacian = csr_array(diags_array(weights.sum(axis=1)) - weights)
    laplacian = laplacian / laplacian.diagonal().max()
    order = reverse_cuthill_mckee(laplacian, symmetric_mode=True)
    return csr_array(laplacian[order][:, order])


def test_the_inverse_is_that_of_the_shifted_matrix():
    B = ordered_laplacian(make_moons(500, noise=0.1, random_state=0)[0])
    right = np.random.default_rng(0).normal(size=(500, 3))
    expected = np.linalg.solve(B.toarray() + 1e-5 * np.eye(500), right)
    assert np.abs(Inverse(B)(right) - expected).max() < 1e-8 * np.abs(expected).max()


def test_factors_are_cheap_in_the_plane_and_not_in_many_dimensions():
    rng = np.random.default_rng(0)
    assert is_cheap_to_factor(ordered_laplacian(rng.normal(size=(5000, 2))))
    assert not is_cheap_to_factor(ordered_laplacian(rng.normal(size=(5000, 10))))


@pytest.mark.parametrize("n_features", [2, 3])
def test_factors_and_hierarchy_agree(cut, n_features, monkeypatch):
    graph = neighbours_graph(np.random.default_rng(1).normal(size=(1500, n_features)))
    found = []
    for cheap in (True, False):
        monkeypatch.setattr(module, "is_cheap_to_factor", lambda _, cheap=cheap: cheap)
        found.append(solve(graph, cut, 7))
    assert found[0].solver == found[1].solver == "sparse"
    top = found[0].values[-1]
    assert np.abs(found[0].values - found[1].values).max() < 1e-8 * top
    overlap = np.abs(np.sum(found[0].vectors * found[1].vectors, axis=0))
    length = np.linalg.norm(found[0].vectors, axis=0) * np.linalg.norm(found[1].vectors, axis=0)
    assert (overlap / length > 1 - 1e-6).all()


@pytest.mark.parametrize("n_features", [2, 12])
@pytest.mark.parametrize("n", [900, 1300])
def test_a_rough_pair_has_about_the_right_eigenvalue(cut, n, n_features):
    graph = neighbours_graph(np.random.default_rng(2).normal(size=(n, n_features)))
    expected = reference(graph, cut, 5)
    pairs = solve(graph, cut, 5, n_rough=1)
    assert np.abs(pairs.values[:4] - expected[:4]).max() < 1e-8 * expected[4]
    assert expected[4] * (1 - 1e-8) <= pairs.values[4] <= 1.03 * expected[4]
