"""Graphs in pieces: found, said, and still cut rightly."""

import numpy as np
import pytest
import scipy.linalg
from scipy.sparse.csgraph import connected_components as scipy_components
from sklearn.datasets import make_blobs, make_moons

from eigencut import GPOD, Gaussian, GraphWarning, Precomputed
from eigencut.graphs.base import connected_components


@pytest.mark.parametrize("sigma", [0.003, 0.006, 0.01, 0.02, 1.0])
def test_components_equal_scipy_s(sigma):
    X = make_moons(200, noise=0.05, random_state=0)[0]
    graph = Gaussian(sigma).fit_graph(X)
    root = np.sqrt(graph.degrees)
    is_edge = graph.dense() > np.finfo(float).eps * np.outer(root, root)
    n_expected, expected = scipy_components(is_edge)
    found = connected_components(graph)
    assert found.max() + 1 == n_expected
    assert len(set(zip(found.tolist(), expected.tolist(), strict=True))) == n_expected
    assert (np.diff(np.bincount(found)) <= 0).all()


def far_blobs(sizes, seed=0):
    X, y = make_blobs(
        sizes, 2, centers=100.0 * np.arange(len(sizes))[:, None] * [1, 1], random_state=seed
    )
    return X, y


@pytest.mark.parametrize("n_clusters", [3, 4, 6])
def test_clusters_do_not_reach_across_components(n_clusters, cut):
    X, y = far_blobs([60, 50, 40])
    with pytest.warns(GraphWarning, match="3 connected components, of 60, 50, 40 rows"):
        model = GPOD(n_clusters, cut=cut, affinity=Gaussian(sigma=1.0)).fit(X)
    assert model.n_components_found_ == 3
    assert all(len(np.unique(y[model.labels_ == k])) <= 1 for k in range(n_clusters))
    assert (model.predict(X) == model.labels_).all()
    assert (model.eigenvalues_[:3] < 1e-12).all()


def test_more_components_than_clusters(cut):
    X, y = far_blobs([60, 50, 5, 4])  # the small components lie behind the second blob
    with pytest.warns(GraphWarning, match="2 largest were cut into 2 clusters. The other 9"):
        model = GPOD(2, cut=cut, affinity=Gaussian(sigma=1.0)).fit(X)
    assert (model.labels_ == np.array([1, 0, 0, 0])[y]).all() or (
        model.labels_ == np.array([0, 1, 1, 1])[y]
    ).all()
    assert (model.predict(X) == model.labels_).all()


def test_an_isolated_row_is_handled_and_said(cut):
    X = np.vstack([make_moons(100, noise=0.02, random_state=0)[0], [[1e6, 1e6]]])
    with pytest.warns(GraphWarning, match=r"1 distinct row\(s\) have no affinity to any other"):
        model = GPOD(2, cut=cut, affinity=Gaussian(sigma=0.2)).fit(X)
    assert (model.predict(X) == model.labels_).all()
    assert np.isfinite(model.embedding_).all()


@pytest.mark.parametrize("n_zero", [1, 3])
def test_rows_without_any_affinity_in_a_matrix(n_zero, cut):
    block = np.exp(-np.abs(np.subtract.outer(np.arange(20), np.arange(20))) / 3)
    W = scipy.linalg.block_diag(block, block, np.zeros((n_zero, n_zero)))
    with pytest.warns(GraphWarning, match=f"{n_zero} distinct row"):
        model = GPOD(2, cut=cut, affinity="precomputed").fit(W)
    assert np.isfinite(model.embedding_).all()
    assert len(np.unique(model.labels_[:20])) == len(np.unique(model.labels_[20:40])) == 1
    assert model.labels_[0] != model.labels_[20]
    assert (model.predict(W) == model.labels_).all()


def test_a_zero_row_at_predict_time_has_no_support():
    W = np.exp(-np.abs(np.subtract.outer(np.arange(20.0), np.arange(20))) / 3)
    model = GPOD(2, affinity="precomputed").fit(W)
    assert model.score_samples(np.zeros((1, 20)))[0] == -np.inf
    assert model.predict(np.zeros((1, 20)))[0] in (0, 1)


def test_precomputed_small_components_join_the_best_connected_part():
    graph = scipy.linalg.block_diag(np.full((5, 5), 3.0), np.full((4, 4), 1.0), [[1.0]])
    with pytest.warns(GraphWarning):
        model = GPOD(2, affinity=Precomputed()).fit(graph)
    assert model.labels_.tolist() == [0] * 5 + [1] * 4 + [0]
