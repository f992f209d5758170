"""Weights against brute force, bandwidth rules against their definitions."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics.pairwise import laplacian_kernel

from conftest import same_partition
from eigencut import GPOD, Gaussian, Kernel
from eigencut.affinities import NAMES, named_affinity
from eigencut.neighbors.metrics import distinct_rows


def brute_weights(X, Y, sigma):
    return np.exp(-cdist(X, Y, "sqeuclidean") / (2 * sigma**2))


@pytest.mark.parametrize("sigma", [0.01, 0.3, 5.0])
@pytest.mark.parametrize("offset", [0.0, 1e3, 1e7])
@pytest.mark.parametrize("d", [1, 2, 30])
def test_gaussian_equals_brute_force(sigma, offset, d):
    X = np.random.default_rng(0).normal(size=(40, d)) + offset
    new = np.random.default_rng(1).normal(size=(25, d)) + offset
    V = np.random.default_rng(2).normal(size=(40, 3))
    affinity = Gaussian(sigma)
    graph = affinity.fit_graph(X)
    order = np.lexsort(X.T[::-1])
    assert np.abs(graph.dense() - brute_weights(X, X, sigma)[np.ix_(order, order)]).max() < 1e-10
    assert (graph.dense() == graph.dense().T).all()
    product = affinity.apply(new, V[order])
    scale = np.exp(product.log_scale)
    W = brute_weights(new, X, sigma) / 40
    assert np.abs(product.values * scale[:, None] - W @ V).max() < 1e-10
    assert np.abs(product.degrees * scale - W.sum(axis=1)).max() < 1e-10
    assert np.abs(affinity.within(new, np.eye(25)) - brute_weights(new, new, sigma)).max() < 1e-10


def test_tiny_sigma_compared_to_the_spread_stays_accurate():
    """Here |x|^2 - 2xy + |y|^2 has lost all digits of the distances."""
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(30, 4)) * 1e6, 2, axis=0) + rng.normal(size=(60, 4)) * 1e-3
    graph = Gaussian(2e-3).fit_graph(X)
    expected = brute_weights(X, X, 2e-3)[np.ix_(*[np.lexsort(X.T[::-1])] * 2)]
    # The rows are known to 1e-10, a ten-millionth of sigma; the naive formula is wrong by 1.
    assert np.abs(graph.dense() - expected).max() < 1e-6
    assert (expected[~np.eye(60, dtype=bool)] > 0.01).any()


def test_far_rows_have_finite_log_degrees():
    X = np.random.default_rng(0).normal(size=(30, 2))
    affinity = Gaussian(0.1)
    affinity.fit_graph(X)
    far = np.array([[50.0, 0.0], [0.0, -1e5]])
    product = affinity.apply(far, np.ones((30, 1)))
    exponents = -cdist(far, X, "sqeuclidean") / (2 * 0.1**2)
    expected = np.logaddexp.reduce(exponents, axis=1) - np.log(30)
    assert product.log_scale + np.log(product.degrees) == pytest.approx(expected, rel=1e-9)


def test_blocks_do_not_change_the_result():
    X = make_moons(700, noise=0.1, random_state=0)[0]
    new = make_moons(20_000, noise=0.1, random_state=1)[0]
    model = GPOD(3, affinity=Gaussian(0.2)).fit(X)
    labels, embedding = model.predict(new), model.transform(new)
    some = np.r_[0:5, 8190:8195, 19_990:20_000]
    assert np.abs(model.transform(new[some]) - embedding[some]).max() < 1e-12
    assert (model.predict(new[some]) == labels[some]).all()


def test_tiles_of_a_large_graph():
    X = np.random.default_rng(0).normal(size=(2100, 3))
    graph = Gaussian(0.7).fit_graph(X)
    order = np.lexsort(X.T[::-1])
    assert np.abs(graph.dense() - brute_weights(X, X, 0.7)[np.ix_(order, order)]).max() < 1e-12
    V = np.random.default_rng(1).normal(size=(2100, 2))
    assert np.abs(graph.matmat(V) - graph.dense() @ V / 2100).max() < 1e-14


# ------------------------------------------------------------------ bandwidth


def kth_distances(X, k):
    return np.sort(cdist(X, X), axis=1)[:, k - 1]


@pytest.mark.parametrize("d", [2, 20])
def test_rules_are_their_definitions(d):
    X = np.random.default_rng(0).normal(size=(80, d))

    def fit(*args, **options):
        return Gaussian(*args, **options).fit(X).sigma_

    assert fit("median") == pytest.approx(np.median(pdist(X)))
    assert fit("median", scale=0.1) == pytest.approx(0.1 * np.median(pdist(X)))
    assert fit("neighbors", n_neighbors=7) == pytest.approx(kth_distances(X, 7).mean())
    assert fit("local") == pytest.approx(np.median(kth_distances(X, 10)) / 2)
    assert fit("auto") == fit("local")
    assert fit(0.25) == 0.25


def test_local_weights_are_their_definition():
    X = np.random.default_rng(0).normal(size=(60, 2))
    new = np.random.default_rng(1).normal(size=(20, 2))
    affinity = Gaussian("local", n_neighbors=6, scale=0.7)
    graph = affinity.fit_graph(X)
    r = kth_distances(X, 6)
    s = 0.7 * np.maximum(r, 0.1 * np.median(r))
    order = np.lexsort(X.T[::-1])
    expected = np.exp(-cdist(X, X, "sqeuclidean") / (2 * np.outer(s, s)))
    assert np.abs(graph.dense() - expected[np.ix_(order, order)]).max() < 1e-12
    r_new = np.sort(cdist(new, X), axis=1)[:, 5]
    s_new = 0.7 * np.clip(r_new, 0.1 * np.median(r), r.max())
    W = np.exp(-cdist(new, X, "sqeuclidean") / (2 * np.outer(s_new, s))) / 60
    product = affinity.apply(new, np.eye(60)[order][:, order])
    assert np.abs(product.values - W[:, order]).max() < 1e-12


def test_identical_rows_are_one_vertex():
    X = np.array([[2.0, 1.0], [0.0, -0.0], [2.0, 1.0], [-0.0, 0.0], [1.0, 5.0]])
    distinct = distinct_rows(X)
    assert distinct.rows.tolist() == [[0, 0], [1, 5], [2, 1]]
    assert distinct.multiplicity.tolist() == [2, 1, 2]
    assert distinct.vertex_of_row.tolist() == [2, 0, 2, 0, 1]


def test_repeating_every_row_changes_nothing(blobs, cut):
    X, _ = blobs
    once = GPOD(4, cut=cut, affinity=Gaussian(2.0)).fit(X)
    twice = GPOD(4, cut=cut, affinity=Gaussian(2.0)).fit(np.vstack([X, X]))
    assert (twice.labels_ == np.tile(once.labels_, 2)).all()
    assert twice.eigenvalues_ == pytest.approx(once.eigenvalues_, abs=1e-12)


# ------------------------------------------------------------ names and kernels


def test_names_and_objects_are_understood():
    assert all(isinstance(named_affinity(name), NAMES[name]) for name in NAMES)
    gaussian = Gaussian(0.5)
    assert named_affinity(gaussian) is gaussian
    assert isinstance(named_affinity(laplacian_kernel), Kernel)


def test_any_kernel_clusters_and_predicts():
    X, y = make_blobs(150, 2, centers=3, cluster_std=0.6, random_state=4)
    model = GPOD(3, affinity=laplacian_kernel).fit(X)
    assert same_partition(model.labels_, y)
    assert (model.predict(X) == model.labels_).all()
    far = model.predict(X + np.array([1e7, 0]))
    assert set(far.tolist()) <= {0, 1, 2}
    assert (model.score_samples(X + np.array([1e7, 0])) == -np.inf).all()


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("rbf", "gaussian"),
        ("nearest_neighbors", "neighbors"),
        ("gausian", "gaussian"),
        ("qqq", "auto"),
    ],
)
def test_names_of_other_packages_get_a_suggestion(name, meant):
    with pytest.raises(ValueError, match=f"use affinity='{meant}'"):
        named_affinity(name)
