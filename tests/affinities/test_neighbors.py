"""The sparse graph and its extension against their definition over all pairs."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.metrics import adjusted_rand_score

from eigencut import GPOD, Gaussian, Neighbors

pytestmark = pytest.mark.usefixtures("kernels")

SLACK = 1 + 1e-9
GRAPHS = ["symmetric", "mutual"]
WEIGHTS = ["local", "binary", "gaussian"]


def by_definition(A, B, X, k, graph, weights, scale):
    """w(a, b) for all pairs, with the radii of a and b among the rows of X."""
    r, r_a, r_b = (np.sort(cdist(Y, X), axis=1)[:, k - 1] for Y in (X, A, B))
    D = cdist(A, B)
    in_a, in_b = r_a[:, None] * SLACK >= D, r_b * SLACK >= D
    share = in_a & in_b if graph == "mutual" else (in_a * 1.0 + in_b) / 2
    if weights == "binary":
        return share * 1.0
    if weights == "gaussian":
        return share * np.exp(-(D**2) / (2 * (scale * r.mean()) ** 2))
    s_a, s_b = (scale * np.clip(y, 0.1 * np.median(r), r.max()) for y in (r_a, r_b))
    return share * np.exp(-(D**2) / (2 * np.outer(s_a, s_b)))


def scaled_back(product):
    return product.values * np.exp(product.log_scale)[:, np.newaxis]


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize(("d", "index"), [(2, "kdtree"), (2, "brute"), (12, "brute")])
def test_graph_is_its_definition(graph, weights, d, index):
    X = np.random.default_rng(0).normal(size=(400, d))
    X = X[np.lexsort(X.T[::-1])]
    affinity = Neighbors(8, graph=graph, weights=weights, index=index, scale=0.8)
    found = affinity.fit_graph(X)
    expected = by_definition(X, X, X, 8, graph, weights, 0.8)
    assert np.abs(found.dense() - expected).max() < 1e-12
    assert (found.dense() == found.dense().T).all()
    assert found.weights.nnz == (expected > 0).sum()
    assert (found.self_weights == 1).all()
    V = np.random.default_rng(1).normal(size=(400, 3))
    assert np.abs(scaled_back(affinity.apply(X, V)) - expected @ V / 400).max() < 1e-12
    within = affinity.within(X[:90], np.eye(90))
    assert np.abs(within - expected[:90, :90]).max() < 1e-12


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("index", ["kdtree", "brute", "approximate"])
def test_training_rows_that_were_rounded_are_still_themselves(graph, index):
    """At a training row equality decides of edges; rounding to float32 must not."""
    X = np.random.default_rng(0).normal(size=(300, 5))
    affinity = Neighbors(8, graph=graph, index=index, density_contrast=1.0)
    affinity.fit_graph(X)
    V = np.random.default_rng(1).normal(size=(300, 3))
    rounded = X.astype(np.float32).astype(np.float64)
    given = rounded.copy()
    found, expected = affinity.apply(rounded, V), affinity.apply(X, V)
    assert (found.values == expected.values).all() and (found.degrees == expected.degrees).all()
    assert (rounded == given).all()
    # A row that is farther away is one of its own, and rows beside it change nothing.
    moved = np.vstack([X[:1] + 1e-3, rounded[1:2]])
    apart = affinity.apply(moved, V)
    assert (apart.values[0] != expected.values[0]).all()
    assert apart.values[1] == pytest.approx(expected.values[1], rel=1e-12)


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("weights", WEIGHTS)
def test_new_rows_follow_the_definition(graph, weights):
    """Every weight found is right, and in the plane nearly all of them are found."""
    X, new = (np.random.default_rng(seed).normal(size=(n, 2)) for seed, n in ((0, 600), (1, 200)))
    X = X[np.lexsort(X.T[::-1])]
    affinity = Neighbors(10, graph=graph, weights=weights, scale=0.9)
    affinity.fit_graph(X)
    expected = by_definition(new, X, X, 10, graph, weights, 0.9) / 600
    product = affinity.apply(new, np.eye(600))
    found = scaled_back(product)
    has_edges = np.isfinite(product.log_scale)
    assert has_edges.mean() > 0.95 and (expected[~has_edges] == 0).all()
    found, expected = found[has_edges], expected[has_edges]
    assert np.abs(np.where(found > 0, found - expected, 0)).max() < 1e-12
    assert found.sum() > 0.96 * expected.sum()
    degrees = product.degrees[has_edges] * np.exp(product.log_scale[has_edges])
    assert np.abs(degrees - found.sum(axis=1)).max() < 1e-12


def test_all_neighbours_are_the_complete_graph():
    X = np.random.default_rng(0).normal(size=(60, 3))
    new = np.random.default_rng(1).normal(size=(20, 3))
    affinity = Neighbors(60, graph="symmetric", weights="gaussian", scale=0.5)
    graph = affinity.fit_graph(X)
    sigma = 0.5 * cdist(X, X).max(axis=1).mean()
    complete = Gaussian(sigma)
    assert np.abs(graph.dense() - complete.fit_graph(X).dense()).max() < 1e-12
    assert affinity.apply(new, np.eye(60)).values.min() > 0


@pytest.mark.parametrize("graph", GRAPHS)
def test_identical_rows_are_one_vertex(graph):
    X, _ = make_moons(200, noise=0.1, random_state=0)
    once, thrice = Neighbors(9, graph=graph), Neighbors(9, graph=graph)
    one, three = once.fit_graph(X), thrice.fit_graph(np.vstack([X, X, X]))
    assert (one.dense() == three.dense()).all()
    assert three.degrees == pytest.approx(one.degrees, rel=1e-12)


def test_ties_give_the_same_graph_from_both_faces():
    """Rows on a lattice: nearly every k-th neighbour is tied with another one."""
    X = np.stack(np.meshgrid(np.arange(20.0), np.arange(15.0)), axis=-1).reshape(-1, 2)
    X = X[np.lexsort(X.T[::-1])]
    for graph in GRAPHS:
        affinity = Neighbors(7, graph=graph)
        found = affinity.fit_graph(X).dense()
        assert (found == found.T).all()
        again = scaled_back(affinity.apply(X, np.eye(300))) * 300
        assert np.abs(again - found).max() < 1e-12
    order = np.random.default_rng(0).permutation(300)
    assert (Neighbors(7).fit_graph(X[order]).dense() == Neighbors(7).fit_graph(X).dense()).all()


def test_hubs_do_not_need_memory_for_all_at_once(monkeypatch):
    """A row in the middle of a sphere is a neighbour of all others; blocks of any size agree."""
    X = np.random.default_rng(0).normal(size=(500, 20))
    X = np.vstack([X / np.linalg.norm(X, axis=1, keepdims=True), np.zeros(20)])
    affinity = Neighbors(5)
    affinity.fit_graph(X)
    new, V = 0.01 * X, np.random.default_rng(1).normal(size=(501, 2))
    expected = affinity.apply(new, V).values
    monkeypatch.setattr(Neighbors, "block_elements", 200)
    monkeypatch.setattr(Neighbors, "chunk_rows", 70)
    assert np.abs(affinity.apply(new, V).values - expected).max() < 1e-13
    assert (Neighbors(5).fit_graph(X).dense() == affinity.fit_graph(X).dense()).all()


# ------------------------------------------------------------------ places


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("graph", GRAPHS)
def test_far_rows_get_the_label_of_the_nearest_row(graph, weights):
    X, _ = make_blobs(300, centers=[[0, 0], [10, 0]], random_state=0)
    model = GPOD(2, affinity=Neighbors(10, graph=graph, weights=weights)).fit(X)
    far = np.array([[-1e5, 0.0], [1e5, 0.0]])
    expected = model.labels_[[np.argmin(X[:, 0]), np.argmax(X[:, 0])]]
    assert (model.predict(far) == expected).all()
    beyond = np.array([[1e200, 1.0], [-1e308, 1e308]])  # from there all rows look the same
    assert set(model.predict(beyond).tolist()) <= {0, 1}
    assert not np.isnan(model.score_samples(beyond)).any()


def test_nearest_among_others():
    X = np.random.default_rng(0).normal(size=(2000, 2))
    affinity = Neighbors(5)
    affinity.fit_graph(X)
    rows = affinity.rows_
    for among in (np.arange(0, 2000, 7), np.flatnonzero(rows[:, 0] > 2)):  # near by, and far
        vertices = np.setdiff1d(np.arange(2000), among)
        found = affinity.most_similar_vertices(vertices, among)
        assert (found == among[np.argmin(cdist(rows[vertices], rows[among]), axis=1)]).all()


def test_places_of_rows():
    X = np.random.default_rng(0).normal(size=(100, 3))
    affinity = Neighbors(5)
    affinity.fit_graph(X)
    assert (affinity.rows_[affinity.identical_vertices(X)] == X).all()
    assert (affinity.identical_vertices(X + 1e-9) == -1).all()
    assert (affinity.nearest_vertices(X + 1e-9) == affinity.identical_vertices(X)).all()
    assert affinity.nearest_vertices(X[:0]).shape == (0,)


# -------------------------------------------------------------- clustering


SHAPES = {
    "moons": lambda seed: (*make_moons(1200, noise=0.05, random_state=seed), 2),
    "circles": lambda seed: (*make_circles(1200, factor=0.5, noise=0.05, random_state=seed), 2),
    "blobs": lambda seed: (*make_blobs(1200, 16, centers=6, cluster_std=3, random_state=3), 6),
}


@pytest.mark.filterwarnings("ignore::eigencut.GraphWarning")
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.parametrize("index", ["auto", "approximate"])
def test_clusters_are_found_and_training_rows_reproduced(shape, index, cut):
    X, y, K = shape(0)
    model = GPOD(K, cut=cut, affinity=Neighbors(index=index)).fit(X)
    assert adjusted_rand_score(y, model.labels_) > 0.99
    agreement = (model.predict(X) == model.labels_).mean()
    if index == "approximate":
        assert agreement > 0.995
    else:
        assert agreement == 1.0
        assert np.abs(model.transform(X) - model.embedding_).max() < 1e-8


def test_sparse_rows_cluster_like_dense_ones():
    X, _ = make_blobs(300, 20, centers=3, random_state=0)
    X = np.where(np.abs(X) > 5, X, 0.0)
    affinity = Neighbors(15)
    dense = affinity.fit_graph(X)
    as_sparse = Neighbors(15).fit_graph(sparse.csr_array(X))
    of = dense.vertex_of_row, as_sparse.vertex_of_row
    same = [g.dense()[np.ix_(v, v)] for g, v in zip((dense, as_sparse), of, strict=True)]
    assert np.abs(same[0] - same[1]).max() < 1e-10


@pytest.mark.filterwarnings("ignore::eigencut.GraphWarning")
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_a_model_of_sparse_rows(metric):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 120)
    words = rng.poisson(np.where(np.arange(60) // 20 == y[:, np.newaxis], 1.5, 0.05))
    X = sparse.csr_matrix(words[words.any(axis=1)])
    y = y[words.any(axis=1)]
    model = GPOD(3, affinity=Neighbors(metric=metric)).fit(X)
    dense = GPOD(3, affinity=Neighbors(metric=metric)).fit(X.toarray())
    assert adjusted_rand_score(y, model.labels_) > 0.95
    assert adjusted_rand_score(dense.labels_, model.labels_) > 0.99
    assert (model.predict(X) == model.labels_).all()
    assert np.abs(model.transform(X[:40]) - model.embedding_[:40]).max() < 1e-8
    assert [model.predict(X[i])[0] for i in range(0, 300, 30)] == model.labels_[:300:30].tolist()
    assert model.score(X[::4]) <= 0
    assert GPOD("auto", affinity=Neighbors(metric=metric)).fit(X).n_clusters_ == 3


def test_sparse_rows_are_refused_where_weights_are_dense():
    X = sparse.csr_array(np.eye(30, 5))
    with pytest.raises(TypeError, match=r"X must be dense for GPOD .*toarray"):
        GPOD(2, affinity="gaussian").fit(X)


# ----------------------------------------------------- precomputed and sparse


def test_a_sparse_matrix_of_affinities_is_its_dense_form(cut):
    X, _ = make_moons(300, noise=0.08, random_state=0)
    W = Neighbors(12).fit_graph(X).weights
    models = [GPOD(2, cut=cut, affinity="precomputed").fit(M) for M in (W, W.toarray())]
    assert (models[0].labels_ == models[1].labels_).all()
    assert models[0].eigenvalues_ == pytest.approx(models[1].eigenvalues_, abs=1e-12)
    new = W[::3]
    assert (models[0].predict(new) == models[1].predict(new.toarray())).all()
    assert (models[0].predict(W) == models[0].labels_).all()
    nobody = models[0].predict(sparse.csr_array((2, 300)))
    assert set(nobody.tolist()) <= {0, 1}


def test_a_sparse_matrix_is_checked_like_a_dense_one():
    W = sparse.csr_array(np.array([[1.0, 0.5, 0.0], [0.5, 1.0, 0.2], [0.0, 0.3, 1.0]]))
    with pytest.raises(ValueError, match=r"symmetric.*X\[1, 2\] = 0.2 and X\[2, 1\] = 0.3"):
        GPOD(2, affinity="precomputed").fit(W)
    with pytest.raises(ValueError, match=r"non-negative.*X\[0, 1\] = -0.5"):
        GPOD(2, affinity="precomputed").fit(sparse.csr_array(np.array([[1, -0.5], [-0.5, 1]])))
    with pytest.raises(ValueError, match="square matrix"):
        GPOD(2, affinity="precomputed").fit(W[:2])


# -------------------------------------------------------------- parameters


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (dict(n_neighbors=1), r"n_neighbors must be 'auto' or an integer of at least 2.*Got 1"),
        (dict(n_neighbors=2.5), r"n_neighbors must be .*Got 2.5"),
        (dict(graph="both"), r"graph must be 'symmetric' or 'mutual'. Got 'both'"),
        (dict(weights="cosine"), r"weights must be 'local' or .*Got 'cosine'"),
        (dict(metric="l7"), r"metric must be 'euclidean' or .*Got 'l7'"),
        (dict(index="ball"), r"index must be 'auto' or .*Got 'ball'"),
        (dict(scale=0.0), r"scale must be a positive number. Got 0.0"),
        (dict(index="approximate", metric="manhattan"), r"metric must be 'euclidean' or 'cosine'"),
    ],
)
def test_errors_name_parameter_value_and_remedy(parameters, message):
    with pytest.raises(ValueError, match=message):
        Neighbors(**parameters).fit(np.random.default_rng(0).normal(size=(30, 2)))


def test_sparse_rows_need_a_metric_that_allows_them():
    X = sparse.random_array((30, 5), density=0.5, random_state=0, format="csr")
    with pytest.raises(ValueError, match=r"X must be dense with this metric.*manhattan"):
        Neighbors(metric="manhattan").fit(X)
    with pytest.raises(ValueError, match=r"X must be dense.*index='kdtree'"):
        Neighbors(index="kdtree").fit(X)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_few_rows_are_enough(n):
    X = np.arange(2.0 * n).reshape(n, 2)
    graph = Neighbors().fit_graph(X)
    assert np.isfinite(graph.dense()).all() and (graph.degrees > 0).all()


def test_hint_names_k():
    X = np.vstack([np.zeros((5, 2)), np.ones((5, 2))]) + np.arange(10)[:, None] * 1e-3
    assert "n_neighbors (now 3)" in Neighbors(3).fit(X).connection_hint()
    assert "symmetric" not in Neighbors(3, graph="symmetric").fit(X).connection_hint()
    assert "graph='symmetric'" in Neighbors(3, graph="mutual").fit(X).connection_hint()


def test_a_row_that_is_no_neighbor_of_its_neighbors_scores_minus_infinity():
    """``Model.score_samples`` and docs/guide/uncertainty.md say so."""
    X, new = (make_moons(n, noise=0.06, random_state=seed)[0] for n, seed in ((1000, 0), (200, 1)))
    model = GPOD(2, affinity=Neighbors(15, graph="mutual")).fit(X)
    radii = np.sort(cdist(X, X), axis=1)[:, 14]
    apart = cdist(new, X)
    is_mutual = (apart <= radii) & (apart <= np.sort(apart, axis=1)[:, [14]])
    alone = ~is_mutual.any(axis=1)
    assert 0 < alone.sum() < 10
    np.testing.assert_array_equal(np.isneginf(model.score_samples(new)), alone)
    assert np.isfinite(model.score_samples(X)).all()
