"""Weights by every metric, against all distances by scipy and scikit-learn."""

import numpy as np
import pytest
from scipy import sparse

from eigencut import Gaussian, Landmarks, Neighbors
from eigencut.neighbors.metrics import METRICS, distinct_rows
from metric_data import DISTANCES, rows_for

ALL = tuple(METRICS)
NEW = 40


def distinct(metric, n=120):
    """Different rows in lexicographic order, as vertices are; a pole is one of them."""
    return distinct_rows(rows_for(metric, n)[0], metric=METRICS[metric]).rows


def applied(affinity, X, rows):
    """W(X, rows), from products with indicators."""
    product = affinity.apply(X, np.eye(len(rows)))
    return len(rows) * np.exp(product.log_scale)[:, np.newaxis] * product.values


@pytest.mark.parametrize("metric", ALL)
def test_gaussian_with_one_sigma(metric):
    rows, X = distinct(metric), rows_for(metric, NEW, seed=1)[0]
    sigma = float(np.median(DISTANCES[metric](rows, rows)))
    affinity = Gaussian(sigma, metric=metric)

    def expected(A, B):
        return np.exp(-(DISTANCES[metric](A, B) ** 2) / (2 * sigma**2))

    assert np.abs(affinity.fit_graph(rows).dense() - expected(rows, rows)).max() < 1e-12
    assert np.abs(applied(affinity, X, rows) - expected(X, rows)).max() < 1e-12
    V = np.random.default_rng(0).normal(size=(NEW, 2))
    assert np.abs(affinity.within(X, V) - expected(X, X) @ V).max() < 1e-10


@pytest.mark.parametrize("metric", ALL)
def test_gaussian_with_local_sigma(metric):
    rows, X = distinct(metric), rows_for(metric, NEW, seed=1)[0]
    affinity = Gaussian(n_neighbors=7, metric=metric)
    graph = affinity.fit_graph(rows)
    D = DISTANCES[metric](rows, rows)
    radii = np.sort(D, axis=1)[:, 6]
    least, most = np.median(radii) / 10, radii.max()
    sigma = 0.5 * np.clip(radii, least, most)
    expected = np.exp(-(D**2) / (2 * np.outer(sigma, sigma)))
    assert np.allclose(graph.dense(), expected, rtol=1e-5, atol=1e-12 * expected.max())
    far = np.sort(DISTANCES[metric](X, rows), axis=1)[:, 6]
    assert np.allclose(affinity.local_sigma(X), 0.5 * np.clip(far, least, most), rtol=1e-6)
    frozen = affinity.frozen()
    frozen.fit_graph(rows[:60])
    assert np.allclose(frozen.within(X, np.eye(NEW)), affinity.within(X, np.eye(NEW)), rtol=1e-9)


@pytest.mark.parametrize("rule", ["median", "neighbors"])
@pytest.mark.parametrize("metric", ALL)
def test_rules_for_sigma_are_in_units_of_the_metric(metric, rule):
    rows = distinct(metric)
    D = DISTANCES[metric](rows, rows)
    expected = {
        "median": np.median(D[np.triu_indices(len(D), 1)]),
        "neighbors": np.sort(D, axis=1)[:, 9].mean(),
    }
    affinity = Gaussian(rule, metric=metric)
    affinity.fit_graph(rows)
    assert np.isclose(affinity.sigma_, expected[rule], rtol=1e-6)


@pytest.mark.parametrize("graph", ["symmetric", "mutual"])
@pytest.mark.parametrize("metric", ALL)
def test_graph_of_neighbours(metric, graph):
    rows = distinct(metric)
    affinity = Neighbors(8, graph=graph, metric=metric)
    weights = affinity.fit_graph(rows).dense()
    D = METRICS[metric].all_pairs(*[METRICS[metric].points(rows)] * 2)
    nearest = np.argsort(D, axis=1, kind="stable")[:, :8]
    radii = np.take_along_axis(D, nearest, 1)[:, -1]
    sigma = 0.7 * np.clip(radii, np.median(radii) / 10, radii.max())
    h = np.exp(-(D**2) / (2 * np.outer(sigma, sigma)))
    inside = radii[:, np.newaxis] * (1 + 1e-9) >= D
    share = inside & inside.T if graph == "mutual" else (inside + inside.T.astype(float)) / 2
    is_near = np.zeros(D.shape, dtype=bool)
    np.put_along_axis(is_near, nearest, True, axis=1)
    is_edge = is_near | is_near.T
    assert np.abs(weights - np.where(is_edge, share * h, 0)).max() < 1e-9
    again = applied(affinity, rows, rows)
    assert np.abs(again - weights).max() < 1e-9


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_sparse_rows_have_the_same_graph(metric):
    rows = np.maximum(np.abs(distinct(metric)) - 0.5, 0)
    rows[:, :2] = np.random.default_rng(0).random((120, 2))  # no two are parallel
    dense = Neighbors(8, metric=metric).fit_graph(rows)
    of_sparse = Neighbors(8, metric=metric).fit_graph(sparse.csr_array(rows))
    order = [np.argsort(graph.degrees) for graph in (dense, of_sparse)]  # vertices are sorted else
    assert np.allclose(dense.degrees[order[0]], of_sparse.degrees[order[1]], rtol=1e-9)


@pytest.mark.parametrize("metric", ALL)
def test_memberships_of_landmarks(metric):
    X, new = rows_for(metric, 400)[0], rows_for(metric, NEW, seed=1)[0]
    sigma = float(np.median(DISTANCES[metric](X, X))) / 3
    affinity = Landmarks(70, 4, sigma=sigma, density_contrast=0.0, metric=metric)
    affinity.fit_graph(X)
    landmarks, used = affinity.landmarks_, METRICS[metric]
    if not used.has_means:  # they are rows
        assert used.all_pairs(landmarks, used.points(X)).min(axis=1).max() < 1e-8
    D = used.all_pairs(used.points(new), landmarks)
    nearest = np.argsort(D, axis=1, kind="stable")[:, :4]
    z = np.zeros(D.shape)
    np.put_along_axis(
        z, nearest, np.exp(-(np.take_along_axis(D, nearest, 1) ** 2) / (2 * sigma**2)), 1
    )
    z /= z.sum(axis=1, keepdims=True)
    assert np.abs(affinity.apply(new, np.eye(len(landmarks))).values - z).max() < 1e-7


def test_landmarks_of_all_rows_are_rows_whatever_the_metric():
    for metric in ALL:
        X = distinct(metric, 60)
        affinity = Landmarks(1000, metric=metric)
        affinity.fit_graph(X)
        assert len(affinity.landmarks_) == len(X) and affinity.n_columns_ == X.shape[1]


@pytest.mark.parametrize("metric", ALL)
def test_the_nearest_vertex_is_by_the_metric(metric):
    rows, X = distinct(metric), rows_for(metric, NEW, seed=1)[0]
    D = DISTANCES[metric](X, rows)
    for affinity in (Gaussian(metric=metric), Neighbors(8, metric=metric)):
        affinity.fit_graph(rows)
        found = affinity.nearest_vertices(X)
        assert np.allclose(D[np.arange(NEW), found], D.min(axis=1), atol=1e-7 * D.max())
        assert (affinity.identical_vertices(rows) == np.arange(len(rows))).all()
        some, among = np.arange(5), np.arange(60, len(rows))
        similar = affinity.most_similar_vertices(some, among)
        of_rows = DISTANCES[metric](rows[some], rows)
        best = of_rows[:, among].min(axis=1)
        assert np.allclose(of_rows[some, similar], best, atol=1e-7 * D.max())


@pytest.mark.parametrize("affinity", [Gaussian, Neighbors, Landmarks])
def test_a_metric_that_there_is_not(affinity):
    with pytest.raises(ValueError, match=r"metric must be 'euclidean' or 'cosine' or .* Got 'l2'"):
        affinity(metric="l2").fit_graph(np.arange(10.0)[:, np.newaxis])


@pytest.mark.parametrize(
    "metric, index",
    [("manhattan", "approximate"), ("hamming", "kdtree"), ("jaccard", "approximate")],
)
def test_an_index_that_a_metric_has_not(metric, index):
    with pytest.raises(ValueError, match=f"with index='{index}'. Got '{metric}'; use .*'brute'"):
        Neighbors(metric=metric, index=index).fit_graph(rows_for(metric)[0])


def test_radians_are_suspected():
    X = np.radians(rows_for("haversine")[0])
    for affinity in (Gaussian, Neighbors, Landmarks):
        with pytest.warns(UserWarning, match="takes degrees, .* pass numpy.degrees"):
            affinity(metric="haversine").fit_graph(X)
