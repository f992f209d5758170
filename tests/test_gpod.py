"""GPOD as its users meet it."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.cluster import SpectralClustering
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from conftest import TOYS, same_partition
from eigencut import GPOD, Gaussian, GraphWarning, Partition


@pytest.mark.parametrize("toy", TOYS)
@pytest.mark.parametrize("affinity", ["auto", Gaussian(sigma=0.1)], ids=["default", "sigma=0.1"])
def test_toys_of_the_paper_without_a_mistake(toy, affinity, cut):
    X, y = TOYS[toy](2000, 0)
    new, truth = TOYS[toy](500, 1)
    model = GPOD(2, cut=cut, affinity=affinity).fit(X)
    assert same_partition(model.labels_, y)
    assert same_partition(model.predict(new), truth)
    assert same_partition(model.predict_batch(new).labels, truth)
    assert same_partition(model.predict_batch(new, init="random").labels, truth)


def test_agrees_with_scikit_learn_at_the_same_sigma():
    X, y = make_blobs(300, 4, centers=4, cluster_std=2.0, random_state=3)
    theirs = SpectralClustering(4, gamma=1 / (2 * 3.0**2), random_state=0).fit_predict(X)
    ours = GPOD(4, affinity=Gaussian(sigma=3.0)).fit_predict(X)
    assert adjusted_rand_score(theirs, ours) > 0.95
    assert adjusted_rand_score(y, ours) >= adjusted_rand_score(y, theirs) - 0.02


def test_attributes(moons):
    X, _ = moons
    model = GPOD(2).fit(X)
    assert model.labels_.shape == (300,)
    assert model.embedding_.shape == (300, 2)
    assert model.eigenvalues_.shape == (2,)
    assert model.rotation_.shape == (2, 2)
    assert isinstance(model.partition_, Partition)
    assert (model.partition_.labels == model.labels_).all()
    assert model.n_components_found_ >= 1
    assert model.n_features_in_ == 2
    assert model.affinity_.n_neighbors_ == 15
    assert model.affinity == "auto"


def test_predict_batch_numbers_clusters_as_the_fit_does(blobs):
    X, _ = blobs
    model = GPOD(4, solver="relaxed").fit(X)
    some = X[model.labels_ == 3][:20]  # one small cluster only
    assert (model.predict_batch(some).labels == 3).mean() > 0.9
    assert model.predict_batch(X).objective >= model.partition_.objective * (1 - 1e-9)


def test_predict_batch_lowers_the_gap_of_the_batch(blobs):
    X, _ = blobs
    model = GPOD(4, affinity=Gaussian(sigma=3.0)).fit(X[::2])
    batch = model.predict_batch(X[1::2])
    rows = model.transform(X[1::2])
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    alone = np.eye(4)[model.predict(X[1::2])] - rows @ model.rotation_
    assert batch.gap_history[-1] <= np.linalg.norm(alone) + 1e-9


def test_score_is_minus_the_mean_u_statistic(moons, cut):
    X, _ = moons
    sigma = 0.4
    model = GPOD(3, cut=cut, affinity=Gaussian(sigma=sigma)).fit(X[:200])
    new = X[200:]
    U = model.transform(new) * np.sqrt(200)
    total = 0.0
    for i in range(len(new)):
        for j in range(len(new)):
            if i != j:
                w = np.exp(-((new[i] - new[j]) ** 2).sum() / (2 * sigma**2))
                total += w * ((U[i] - U[j]) ** 2).sum() / 2
    expected = -total / (len(new) * (len(new) - 1)) / 3
    assert model.score(new) == pytest.approx(expected, rel=1e-10)


def test_score_samples_is_the_log_of_the_mean_affinity(moons):
    X, _ = moons
    model = GPOD(2, affinity=Gaussian(sigma=0.4)).fit(X)
    W = np.exp(-((X[:5, None] - X) ** 2).sum(2) / (2 * 0.4**2))
    assert model.score_samples(X[:5]) == pytest.approx(np.log(W.mean(axis=1)), rel=1e-10)


def test_grid_search_uses_score(moons):
    X, _ = moons
    search = GridSearchCV(
        GPOD(affinity=Gaussian()),
        {"affinity__sigma": [0.1, 0.3], "n_clusters": [2, 3]},
        cv=3,
        error_score="raise",
    ).fit(X)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert set(search.best_params_) == {"affinity__sigma", "n_clusters"}
    assert len(search.predict(X[:4])) == 4


def test_one_cluster_and_one_cluster_per_row():
    X = np.array([[0.0], [1.0], [5.0]])
    assert GPOD(1).fit_predict(X).tolist() == [0, 0, 0]
    with pytest.warns(GraphWarning):
        model = GPOD(3, affinity=Gaussian(sigma=0.05)).fit(X)
    assert sorted(model.labels_) == [0, 1, 2]
    assert (model.predict(X) == model.labels_).all()
    assert GPOD(1).fit_predict(np.ones((5, 2))).tolist() == [0] * 5


def test_data_frames_keep_names_and_give_frames():
    X, _ = make_moons(100, noise=0.05, random_state=0)
    frame = pd.DataFrame(X, columns=["east", "north"])
    model = GPOD(2).fit(frame)
    assert model.feature_names_in_.tolist() == ["east", "north"]
    assert model.get_feature_names_out().tolist() == ["gpod0", "gpod1"]
    assert (model.predict(frame) == model.labels_).all()
    out = clone(model).set_output(transform="pandas").fit_transform(frame)
    assert list(out.columns) == ["gpod0", "gpod1"]
    polars_frame = pl.DataFrame({"east": X[:, 0], "north": X[:, 1]})
    out = GPOD(2).set_output(transform="polars").fit(polars_frame).transform(polars_frame)
    assert isinstance(out, pl.DataFrame)
    assert np.abs(out.to_numpy() - model.embedding_).max() < 1e-12


def test_works_in_a_pipeline_and_survives_copies(moons):
    X, _ = moons
    pipeline = make_pipeline(StandardScaler(), GPOD(2)).fit(X)
    assert len(np.unique(pipeline.predict(X[:50]))) == 2
    model = pipeline[-1]
    copy = pickle.loads(pickle.dumps(model))
    Z = pipeline[:-1].transform(X)
    assert (copy.predict(Z) == model.predict(Z)).all()
    assert clone(model).get_params() == model.get_params()


def test_fit_leaves_its_arguments_alone(moons):
    X, _ = moons
    affinity = Gaussian(sigma="median", scale=0.2)
    before, params = X.copy(), affinity.get_params()
    model = GPOD(2, affinity=affinity).fit(X)
    assert (before == X).all()
    assert affinity.get_params() == params
    assert not hasattr(affinity, "sigma_")
    assert model.affinity_ is not affinity


def test_precomputed_equals_gaussian(moons, cut):
    X, _ = moons

    def kernel(A, B):
        return np.exp(-((A[:, None] - B) ** 2).sum(2) / (2 * 0.3**2))

    new = make_moons(60, noise=0.05, random_state=5)[0]
    gaussian = GPOD(2, cut=cut, affinity=Gaussian(sigma=0.3)).fit(X)
    matrix = GPOD(2, cut=cut, affinity="precomputed").fit(kernel(X, X))
    function = GPOD(2, cut=cut, affinity=kernel).fit(X)
    assert (matrix.labels_ == gaussian.labels_).all()
    assert (matrix.predict(kernel(new, X)) == gaussian.predict(new)).all()
    assert np.abs(matrix.transform(kernel(X, X)) - matrix.embedding_).max() < 1e-8
    assert np.abs(function.embedding_ - gaussian.embedding_).max() < 1e-10
    assert np.isfinite(matrix.score(kernel(new, X)))
