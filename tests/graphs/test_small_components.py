"""Components too small to be clusters: which they are, and what becomes of their rows."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score

from eigencut import GPOD, Gaussian, GraphWarning
from eigencut.graphs.base import Pieces, SparseGraph

pytestmark = pytest.mark.filterwarnings("ignore::eigencut.GraphWarning")


def n_large(sizes, n_clusters, n_vertices=None):
    """How many components of so many rows (and vertices) take part."""
    n_vertices = sizes if n_vertices is None else n_vertices
    component = np.repeat(np.arange(len(sizes)), n_vertices)
    multiplicity = np.repeat(np.array(sizes) / n_vertices, n_vertices)
    graph = SparseGraph(None, multiplicity, np.zeros(sum(sizes), dtype=np.intp))
    pieces = Pieces(component, graph)
    groups = pieces.first(pieces.n_large(n_clusters))
    assert (groups[groups >= 0] == component[groups >= 0]).all()
    assert (groups[component > groups.max()] == -1).all()
    return groups.max() + 1


@pytest.mark.parametrize(
    ("sizes", "n_clusters", "expected"),
    [
        ([50, 40, 1], 3, 2),  # a row alone is no cluster, even if asked for
        ([23, 23, 2, 2], 4, 4),  # small clusters among fifty rows
        ([960, 20, 20], 4, 3),  # 2 % of the rows
        ([940, 20, 20, 20], 2, 1),  # a sixteenth of n / K is 31
        ([18735, 462, 278, 145, 81, 43, 38, 38, 38, 37, 37, 36, 32], 26, 5),  # Letter
        ([60, 50, 30, 20], 2, 2),  # more than K large ones: the K largest
        ([5, 4, 3] + [1] * 200, 2, 2),  # dust: compared with the largest component
        ([2, 1, 1, 1], 4, 3),  # as many as hold four different rows
    ],
)
def test_which_components_take_part(sizes, n_clusters, expected):
    assert n_large(sizes, n_clusters) == expected


def test_equal_rows_count_as_rows_and_as_one_vertex():
    assert n_large([90, 10], 2, n_vertices=[90, 1]) == 2
    assert n_large([90, 3, 1], 3, n_vertices=[1, 1, 1]) == 3


def moons_with_small_components():
    """Two moons that touch, and small components near the end of each and far away."""
    X, y = make_moons(400, noise=0.05, random_state=0)
    rng = np.random.default_rng(1)
    places = np.array([[-2.0, 0.0], [3.0, 0.5], [-2.2, -0.8], [300.0, 0.5]])
    sizes = [4, 4, 1, 2]
    small = np.repeat(places, sizes, axis=0) + 0.02 * rng.normal(size=(11, 2))
    return np.vstack([X, small]), np.append(y, np.repeat([0, 1, 0, 1], sizes))


def test_small_components_do_not_become_clusters(cut):
    X, y = moons_with_small_components()
    with pytest.warns(GraphWarning, match=r"The largest was cut into 2 .* other 11 row"):
        model = GPOD(2, cut=cut, affinity=Gaussian(sigma=0.06)).fit(X)
    assert model.n_components_found_ == 5
    agreement = (model.labels_ == y).mean()
    assert max(agreement, 1 - agreement) == 1.0
    assert (model.eigenvalues_[1:] > 1e-12).all()


def test_predict_and_transform_agree_with_the_fit_on_small_components_too(cut):
    X, _ = moons_with_small_components()
    model = GPOD(4, cut=cut, affinity=Gaussian(sigma=0.06)).fit(X)
    assert (model.predict(X) == model.labels_).all()
    assert np.abs(model.transform(X) - model.embedding_).max() < 1e-9
    near = X[400:] + 1e-3
    assert (model.predict(near) == model.labels_[400:]).all()


def test_a_small_component_has_one_value_that_of_a_vertex_nearby(cut):
    X, _ = moons_with_small_components()
    U = GPOD(4, cut=cut, affinity=Gaussian(sigma=0.06)).fit(X).embedding_
    for start, stop in ((400, 404), (404, 408), (409, 411)):
        assert np.ptp(U[start:stop], axis=0).max() < 1e-9 * np.abs(U).max()
        nearby = np.linalg.norm(U[:400] - U[start], axis=1)
        place = X[np.argmin(nearby)]
        distances = np.linalg.norm(X[:400] - X[start:stop].mean(axis=0), axis=1)
        assert nearby.min() < 1e-9 * np.abs(U).max()
        assert np.linalg.norm(place - X[start:stop].mean(axis=0)) < distances.min() + 0.3


def test_vectors_are_normalized_set_aside(cut):
    X, _ = moons_with_small_components()
    model = GPOD(3, cut=cut, affinity=Gaussian(sigma=0.06)).fit(X)
    functions = model.fitted_cut_.functions
    mass = functions.cut.mass(functions.degrees) * functions.pairs.takes_part
    U = functions.pairs.vectors
    assert functions.pairs.takes_part.sum() == 400
    assert np.abs(U.T @ (mass[:, None] * U) - np.eye(3)).max() < 1e-10


def test_set_aside_in_the_data_the_fit_is_the_same(cut):
    """A far row changes 1/n and nothing else: eigenvectors stay, up to their length."""
    X, _ = make_blobs(200, 2, centers=3, random_state=0)
    alone = GPOD(3, cut=cut, affinity=Gaussian(sigma=1.0)).fit(X)
    model = GPOD(3, cut=cut, affinity=Gaussian(sigma=1.0)).fit(np.vstack([X, [[1e4, 1e4]]]))
    assert (model.labels_[:200] == alone.labels_).all()
    ratio = model.embedding_[:200] / alone.embedding_
    assert np.ptp(np.abs(ratio), axis=0).max() < 1e-6 * np.abs(ratio).max()


def test_single_precision_knows_of_small_components(cut):
    """Labels of many rows come from single precision where its error bound allows."""
    X = moons_with_small_components()[0][:-2]  # one so far away is too much for single precision
    functions = GPOD(4, cut=cut, affinity=Gaussian(sigma=0.06)).fit(X).fitted_cut_.functions
    new = np.repeat(X, 3, axis=0) + 1e-3 * np.random.default_rng(0).normal(size=(3 * len(X), 2))
    assert functions.single_precision_pays(len(new))
    rough, exact = functions.single_precision_values(new), functions(new)
    error = np.linalg.norm(rough.values - exact, axis=1)
    assert (error <= rough.error + 1e-9).all()
    near_small = slice(3 * 400, None)
    assert np.isfinite(rough.error[near_small]).any()


# ------------------------------------------- small, and clusters all the same


def blobs_and_far_rows(n_far, d=3, seed=0):
    """Six clean blobs of about 300 rows, and some rows 60 standard deviations away."""
    rng = np.random.default_rng(seed)
    centres = 12.0 * np.array([[i % 3, i // 3, *[0] * (d - 2)] for i in range(6)])
    y = rng.integers(6, size=1800)
    X = np.vstack([centres[y], np.full((n_far, d), 60.0)])
    return X + rng.normal(size=X.shape), np.append(y, np.full(n_far, 6))


@pytest.mark.parametrize("n_far", [10, 17, 18, 25])  # an average cluster has 18 times 16
@pytest.mark.parametrize("n_clusters", ["auto", range(2, 10), 6, 7])
def test_a_small_component_never_costs_a_clean_cluster(n_far, n_clusters, cut):
    X, y = blobs_and_far_rows(n_far)
    model = GPOD(n_clusters, cut=cut).fit(X)
    in_blobs = model.labels_[:1800]
    assert adjusted_rand_score(y[:1800], in_blobs) == 1.0
    far = np.unique(model.labels_[1800:])
    assert len(far) == 1
    assert (far[0] in in_blobs) == (model.n_clusters_ == 6)
    assert (model.predict(X) == model.labels_).all()


@pytest.mark.parametrize("n_far", [8, 17])
def test_enough_far_rows_are_a_cluster(n_far):
    X, _ = blobs_and_far_rows(n_far)
    assert GPOD("auto").fit(X).n_clusters_ == 7


@pytest.mark.parametrize("n_far", [1, 3])
def test_stray_rows_are_none(n_far):
    """They are tied to others too weakly not to have an eigenvalue next to zero."""
    X, y = blobs_and_far_rows(n_far)
    model = GPOD("auto").fit(X)
    assert model.n_clusters_ == 6
    assert adjusted_rand_score(y[:1800], model.labels_[:1800]) == 1.0
    scattered = np.vstack([X[:1800], 60.0 * np.random.default_rng(1).normal(size=(n_far, 3))])
    assert GPOD("auto").fit(scattered).n_clusters_ == 6


def test_rows_apart_that_join_a_cluster_are_said():
    X, _ = blobs_and_far_rows(17)
    message = "A group of 17 rows lies apart from the 6 clusters .* n_clusters=7 to make it"
    with pytest.warns(GraphWarning, match=message):
        GPOD(6).fit(X)
    X = np.vstack([X, X[-17:] + 300.0])
    with pytest.warns(GraphWarning, match="2 groups of 17, 17 rows lie apart .*=8 to make them"):
        GPOD(6).fit(X)
