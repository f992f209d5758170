"""scikit-learn's own tests of SpectralClustering through ours; and what only ours has."""

import numpy as np
import pytest
import sklearn.cluster.tests.test_spectral as of_scikit_learn
from scipy import sparse
from sklearn.cluster import SpectralClustering as OfScikitLearn
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.neighbors import kneighbors_graph
from sklearn.utils.estimator_checks import parametrize_with_checks

from eigencut.compat import SpectralClustering

HOW = ["kmeans", "discretize", "cluster_qr"]
X, Y = make_moons(300, noise=0.05, random_state=0)
NEW, Y_NEW = make_moons(200, noise=0.05, random_state=1)

# The tests themselves, with scikit-learn's class replaced by ours where they look it up.
for _name, _test in vars(of_scikit_learn).items():
    if _name.startswith("test_"):
        globals()[_name] = _test


@pytest.fixture(autouse=True)
def ours(monkeypatch):
    monkeypatch.setattr(of_scikit_learn, "SpectralClustering", SpectralClustering)


@pytest.fixture
def global_random_seed():
    return 42


def test_the_tests_of_scikit_learn_are_of_ours():
    names = [name for name in vars(of_scikit_learn) if name.startswith("test_")]
    assert len(names) >= 12 and all(name in globals() for name in names)
    assert of_scikit_learn.SpectralClustering is SpectralClustering


@parametrize_with_checks([SpectralClustering(n_clusters=2), SpectralClustering(n_clusters=3)])
def test_scikit_learn_check(estimator, check):
    check(estimator)


def test_parameters_are_those_of_scikit_learn():
    assert SpectralClustering().get_params() == OfScikitLearn().get_params()


@pytest.mark.parametrize(
    "wrong",
    [
        {"assign_labels": "best"},
        {"eigen_solver": "lapack"},
        {"affinity": "near"},
        {"n_clusters": 0},
        {"gamma": -1.0},
        {"eigen_tol": "none"},
        {"n_neighbors": 0},
    ],
    ids=str,
)
def test_unknown_values_raise_as_in_scikit_learn(wrong):
    with pytest.raises(ValueError) as theirs:
        OfScikitLearn(**wrong).fit(X)
    with pytest.raises(ValueError) as found:
        SpectralClustering(**wrong).fit(X)
    assert type(found.value) is type(theirs.value) and str(found.value) == str(theirs.value)


@pytest.mark.parametrize("assign_labels", HOW)
@pytest.mark.parametrize("affinity", ["rbf", "nearest_neighbors", "laplacian"])
def test_predict_is_the_fit_at_its_rows_and_right_at_others(assign_labels, affinity):
    model = SpectralClustering(
        2, affinity=affinity, gamma=20, assign_labels=assign_labels, random_state=0
    ).fit(X)
    assert (model.predict(X) == model.labels_).all()
    assert (model.predict(X[:1]) == model.labels_[:1]).all()
    assert adjusted_rand_score(Y_NEW, model.predict(NEW)) > (
        0.9 if affinity != "laplacian" else 0.4
    )


@pytest.mark.parametrize("assign_labels", HOW)
def test_matrices_predict_by_affinities_to_the_rows_of_the_fit(assign_labels):
    of_rows = SpectralClustering(2, gamma=20, assign_labels=assign_labels, random_state=0).fit(X)
    model = SpectralClustering(
        2, affinity="precomputed", assign_labels=assign_labels, random_state=0
    )
    model.fit(rbf_kernel(X, gamma=20))
    assert adjusted_rand_score(of_rows.labels_, model.labels_) == 1
    found = model.predict(rbf_kernel(NEW, X, gamma=20))
    assert adjusted_rand_score(of_rows.predict(NEW), found) == 1


@pytest.mark.filterwarnings("ignore:The graph is not fully connected", "ignore::UserWarning")
def test_distances_predict_by_distances_to_the_rows_of_the_fit():
    model = SpectralClustering(
        2, affinity="precomputed_nearest_neighbors", n_neighbors=15, random_state=0
    )
    model.fit(kneighbors_graph(X, 20, mode="distance"))
    distances = np.linalg.norm(NEW[:, np.newaxis] - X, axis=2)
    assert adjusted_rand_score(Y_NEW, model.predict(sparse.csr_array(distances))) > 0.9


def test_sparse_rows_are_dense_ones():
    dense = SpectralClustering(2, gamma=20, random_state=0).fit(X)
    model = SpectralClustering(2, gamma=20, random_state=0).fit(sparse.csr_array(X))
    assert adjusted_rand_score(dense.labels_, model.labels_) == 1
    assert adjusted_rand_score(dense.predict(NEW), model.predict(sparse.csr_array(NEW))) == 1


@pytest.mark.parametrize("assign_labels", HOW)
def test_labels_are_those_of_scikit_learn(assign_labels):
    rows = make_blobs(200, 4, centers=4, cluster_std=0.5, random_state=3)[0]
    how = dict(gamma=0.02, assign_labels=assign_labels, random_state=0)
    ours, theirs = SpectralClustering(4, **how).fit(rows), OfScikitLearn(4, **how).fit(rows)
    assert adjusted_rand_score(ours.labels_, theirs.labels_) == 1


def test_fewer_eigenvectors_than_clusters():
    rows = make_blobs(200, 4, centers=4, cluster_std=0.5, random_state=3)[0]
    model = SpectralClustering(4, n_components=3, gamma=0.02, random_state=0).fit(rows)
    theirs = OfScikitLearn(4, n_components=3, gamma=0.02, random_state=0).fit(rows)
    assert model.model_.n_clusters_ == 3
    assert adjusted_rand_score(model.labels_, theirs.labels_) == 1
    assert (model.predict(rows) == model.labels_).all()
