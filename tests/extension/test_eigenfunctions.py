"""The extension against loop-by-loop transcriptions of the paper's algorithms."""

from functools import partial

import numpy as np
import pytest
from sklearn.datasets import make_circles, make_moons
from sklearn.metrics import adjusted_rand_score

from eigencut import GPOD, Gaussian, GraphWarning, Neighbors


def weight(x, y, sigma):
    return np.exp(-sum((a - b) ** 2 for a, b in zip(x, y, strict=True)) / (2 * sigma**2))


def algorithm_1(X, U, values, X_new, sigma):
    """Lines 1-7 of Algorithm 1 (RatioCut), lambda not below 1e-12 of the largest degree.

    The sum is 0 for a constant eigenvector, up to rounding.
    """
    n, K = U.shape
    out = np.zeros((len(X_new), K))
    largest = max(sum(weight(x, y, sigma) for y in X) / n for x in X)
    for k in range(K):
        for i, x in enumerate(X_new):
            s = sum(weight(x, X[j], sigma) for j in range(n)) / n
            s_hat = sum((s - weight(x, X[j], sigma)) * U[j, k] for j in range(n)) / n
            out[i, k] = s_hat / np.sqrt(max(values[k], 1e-12 * largest))
    return out


def algorithm_2(X, U, values, X_new, sigma):
    """Lines 1-7 of Algorithm 2 (NCut)."""
    n, K = U.shape
    out = np.zeros((len(X_new), K))
    for k in range(K):
        for i, x in enumerate(X_new):
            s = sum(weight(x, X[j], sigma) for j in range(n)) / n
            s_hat = sum(weight(x, X[j], sigma) / s * U[j, k] for j in range(n)) / n
            out[i, k] = s_hat / (1 - values[k])
    return out


SIGMA = 0.4
X, _ = make_moons(40, noise=0.05, random_state=0)
X = np.vstack([X, X[:5]])
NEW, _ = make_moons(15, noise=0.1, random_state=1)


def fit(cut, extension):
    affinity = Gaussian(sigma=SIGMA)
    return GPOD(3, cut=cut, extension=extension, affinity=affinity).fit(X)


def test_paper_extension_of_ratiocut_is_algorithm_1():
    model = fit("ratiocut", "paper")
    expected = algorithm_1(X, model.embedding_, model.eigenvalues_, NEW, SIGMA)
    assert np.abs(model.transform(NEW) - expected)[:, 1:].max() < 1e-10
    assert np.abs(expected[:, 0]).max() < 1e-8  # of the constant: rounding, over a tiny sqrt
    assert (model.transform(NEW)[:, 0] == 0).all()
    assert np.abs(expected).max() > 1e-3


@pytest.mark.parametrize("extension", ["paper", "consistent"])
def test_ncut_is_algorithm_2_in_both_forms(extension):
    model = fit("ncut", extension)
    expected = algorithm_2(X, model.embedding_, model.eigenvalues_, NEW, SIGMA)
    assert np.abs(model.transform(NEW) - expected).max() < 1e-10


def test_consistent_ratiocut_is_its_formula():
    model = fit("ratiocut", "consistent")
    W = np.array([[weight(x, y, SIGMA) for y in X] for x in NEW]) / len(X)
    expected = W @ model.embedding_ / (W.sum(axis=1)[:, None] - model.eigenvalues_)
    assert np.abs(model.transform(NEW) - expected).max() < 1e-10


@pytest.mark.parametrize("cut", ["ncut", "ratiocut"])
def test_paper_extension_predicts_as_well_as_the_consistent_one(cut):
    X, _ = make_moons(400, noise=0.05, random_state=0)
    new, y = make_moons(200, noise=0.05, random_state=1)
    model = GPOD(2, cut=cut, extension="paper", affinity=Gaussian(sigma=0.15)).fit(X)
    labels = model.predict(new)
    assert max((labels == y).mean(), (labels != y).mean()) == 1.0
    assert (model.predict(X) == model.labels_).mean() > 0.99
    assert (model.predict_batch(new).labels == labels).all()


@pytest.mark.parametrize(
    ("make", "sigma"),
    [
        (partial(make_circles, factor=0.5), 0.03),
        (partial(make_circles, factor=0.5), 0.035),
        (make_moons, 0.04),
        (make_moons, 0.05),
    ],
)
def test_algorithm_1_keeps_clusters_of_a_barely_connected_graph(make, sigma):
    """lambda_2 is below rounding, but there is one component: nothing warns, nothing is lost."""
    X, y = make(600, noise=0.05, random_state=0)
    new, truth = make(600, noise=0.05, random_state=1)
    model = GPOD(2, cut="ratiocut", extension="paper", affinity=Gaussian(sigma)).fit(X)
    assert model.n_components_found_ == 1 and model.eigenvalues_[1] < 1e-12
    assert adjusted_rand_score(y, model.labels_) == 1
    assert adjusted_rand_score(truth, model.predict(new)) == 1
    for init in ("fitted", "random"):
        assert adjusted_rand_score(truth, model.predict_batch(new, init=init).labels) == 1


def pieces(K, n, seed):
    rng = np.random.default_rng(seed)
    truth = np.repeat(np.arange(K), n)
    return rng.normal(size=(len(truth), 2)) + 20 * np.column_stack([truth, truth % 2]), truth


@pytest.mark.parametrize("K", [2, 3, 4])
def test_algorithm_1_is_literal_on_separate_pieces_too(K, recwarn):
    X, _ = pieces(K, 25, 0)
    new, truth = pieces(K, 10, 1)
    model = GPOD(K, cut="ratiocut", extension="paper", affinity=Gaussian(1.0)).fit(X)
    assert model.n_components_found_ == K
    assert not [w for w in recwarn if "extension" in str(w.message)]
    expected = algorithm_1(X, model.embedding_, model.eigenvalues_, new, 1.0)
    found = model.transform(new)
    assert np.abs(found - expected).max() < 1e-8 * np.abs(expected).max()
    assert np.linalg.matrix_rank(found / np.abs(found).max(), tol=1e-8) == K - 1
    assert adjusted_rand_score(truth, model.predict(new)) == 1
    assert adjusted_rand_score(truth, model.predict_batch(new, init="random").labels) == 1


def test_algorithm_1_where_small_pieces_were_set_aside():
    X, truth = pieces(2, 60, 0)
    X = np.vstack([X, [[3.0, 14.0], [3.1, 14.0]]])
    model = GPOD(2, cut="ratiocut", extension="paper", affinity=Gaussian(1.0))
    with pytest.warns(GraphWarning):
        model.fit(X)
    assert adjusted_rand_score(truth, model.predict(X[:-2])) == 1
    assert (model.predict(X) == model.labels_).all()


@pytest.mark.parametrize(
    "affinity", ["auto", Neighbors(15), Gaussian(sigma=0.1), Gaussian("neighbors")]
)
@pytest.mark.filterwarnings("ignore::eigencut.GraphWarning")
def test_far_rows_get_the_label_of_the_nearest_training_row(cut, affinity):
    X = np.vstack([make_moons(300, random_state=0)[0], 20 + make_moons(90, random_state=1)[0] * 3])
    model = GPOD(3, cut=cut, affinity=affinity).fit(X)
    rows = model.affinity_.rows_
    directions = np.random.default_rng(0).normal(size=(50, 2))
    for distance in (1e3, 1e5, 1e12, 1e200):
        far = distance * directions / np.linalg.norm(directions, axis=1, keepdims=True)
        labels = model.predict(far)
        support = model.score_samples(far)
        if getattr(model.affinity_, "graph", "") == "mutual":  # no row has it among its nearest
            assert np.isneginf(support).all()
        else:
            assert np.isfinite(support).all()
        assert (support < model.score_samples(rows).min()).all()
        assert np.isfinite(model.transform(far)).all()
        if distance <= 1e5:  # beyond, float64 cannot tell which row is nearest
            nearest = ((far[:, None] - rows) ** 2).sum(2).argmin(1)
            assert (labels == model.predict(rows[nearest])).all()


def test_ratiocut_does_not_flip_signs_where_the_data_end():
    """Between support and far: d(x) <= lambda_k would turn labels around."""
    X, _ = make_moons(300, noise=0.05, random_state=0)
    model = GPOD(4, cut="ratiocut", affinity=Gaussian(sigma=0.3)).fit(X)
    d_min = np.exp(model.score_samples(X)).min()
    grid = np.array([[a, b] for a in np.linspace(-2, 3, 40) for b in np.linspace(-2, 2, 40)])
    support = np.exp(model.score_samples(grid))
    low = grid[(support < min(d_min, model.eigenvalues_[-1])) & (support > 1e-15)]
    assert len(low) > 100
    W = np.exp(-((low[:, None] - X) ** 2).sum(2) / (2 * 0.3**2))
    average = (W / W.sum(axis=1, keepdims=True)) @ model.embedding_
    assert np.abs(model.transform(low) - average).max() < 1e-10


def test_components_that_carry_no_cluster_are_said():
    X = np.linspace(0, 1, 60)[:, None]
    with pytest.warns(GraphWarning, match=r"show single rows instead of clusters.*Use n_clusters="):
        model = GPOD(8, affinity=Gaussian(sigma=3.0)).fit(X)
    assert (model.predict(X) == model.labels_).all()
    assert np.abs(model.transform(X) - model.embedding_).max() < 1e-8
