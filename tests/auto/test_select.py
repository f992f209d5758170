"""Choosing K and sigma without labels; margins and outliers."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris, make_blobs, make_circles, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV

from conftest import change_auto_policy, same_partition
from eigencut import GPOD, Gaussian, GraphWarning, Neighbors, load, select
from eigencut.affinities import RankedNeighbors
from eigencut.auto.n_clusters import Candidates, numbers_by_information
from eigencut.auto.spectrum import Spectrum, conductance
from eigencut.cut import CUTS

SETS = {
    "moons": (make_moons(300, noise=0.05, random_state=11)[0], 2),
    "circles": (make_circles(400, factor=0.4, noise=0.04, random_state=11)[0], 2),
    "blobs 3": (make_blobs(300, 2, centers=[[0, 0], [8, 0], [0, 8]], random_state=11)[0], 3),
    "blobs 5": (make_blobs(400, 6, centers=5, cluster_std=1.0, random_state=12)[0], 5),
    "unequal": (
        make_blobs([300, 60, 40], 2, centers=[[0, 0], [9, 0], [0, 9]], random_state=11)[0],
        3,
    ),
}


@pytest.mark.parametrize(("X", "K"), SETS.values(), ids=SETS.keys())
def test_auto_finds_the_number_of_clusters(X, K, cut):
    model = GPOD("auto", cut=cut).fit(X)
    assert model.n_clusters_ == K
    assert model.n_clusters == "auto"
    assert len(np.unique(model.labels_)) == K
    assert model.transform(X).shape == (len(X), K)
    assert list(model.get_feature_names_out()) == [f"gpod{k}" for k in range(K)]


@pytest.mark.parametrize("name", ["blobs 3", "blobs 5"])
def test_select_finds_clear_blobs(name):
    X, K = SETS[name]
    found = select(X, n_clusters=range(2, 8))
    assert found.best.n_clusters == K
    assert found.model.n_clusters == K
    assert (found.model.predict(X) == found.model.labels_).all()


def test_noisy_moons_make_select_turn_to_contrast():
    X, y = make_moons(2000, noise=0.1, random_state=3)
    assert select(X).best.affinity.density_contrast > 0
    model = GPOD("auto").fit(X)
    assert model.n_clusters_ == 2
    assert adjusted_rand_score(y, model.labels_) > 0.95


def test_auto_with_a_given_affinity_keeps_it():
    X, K = SETS["blobs 3"]
    model = GPOD("auto", affinity=Gaussian(sigma=1.5)).fit(X)
    assert model.n_clusters_ == K
    assert model.affinity_.sigma_ == 1.5
    W = np.exp(-((X[:, None] - X) ** 2).sum(2) / (2 * 1.5**2))
    assert GPOD("auto", affinity="precomputed").fit(W).n_clusters_ == K


def test_one_cluster_is_said_to_be_unclear():
    angle = np.random.default_rng(0).uniform(0, 2 * np.pi, 600)
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    ring += 0.05 * np.random.default_rng(1).normal(size=ring.shape)
    with pytest.warns(GraphWarning, match=r"No number of clusters stands out.*eigencut.select"):
        GPOD(range(2, 6)).fit(ring)


def test_conductance_is_its_formula():
    """Against plain matrices, for one K."""
    X, K = SETS["blobs 3"]
    n = len(X)
    spectrum = Spectrum.from_rows(X, Gaussian(sigma=1.5), CUTS["ncut"], n_pairs=5)
    score = conductance(spectrum, K)
    W = np.exp(-((X[:, None] - X) ** 2).sum(2) / (2 * 1.5**2)) / n
    d = W.sum(axis=1)
    values = np.sort(np.linalg.eigvalsh(np.eye(n) - W / np.sqrt(np.outer(d, d))))
    labels = GPOD(K, affinity=Gaussian(sigma=1.5)).fit_predict(X)
    phi = max(1 - W[labels == k][:, labels == k].sum() / d[labels == k].sum() for k in range(K))
    following = values[K] + 1 / n
    expected = np.log(following / (phi + 1 / n)) + np.log(following / (values[K - 1] + 1 / n))
    assert score == pytest.approx(expected, rel=1e-6)


def test_a_spectrum_gives_the_partitions_of_separate_fits():
    X, _ = SETS["blobs 5"]
    spectrum = Spectrum.from_rows(X, Gaussian(), CUTS["ncut"], 7)
    for K in (2, 4, 5):
        model = GPOD(K, affinity="gaussian").fit(X)
        labels = spectrum.partition(K).labels[spectrum.graph.vertex_of_row]
        assert same_partition(labels, model.labels_)
        assert same_partition(spectrum.predict(X + 0.01, K), model.predict(X + 0.01))


@pytest.mark.filterwarnings("ignore::eigencut.GraphWarning")
def test_graphs_in_more_pieces_than_clusters_can_be_selected_on():
    X = make_blobs(200, 2, centers=50.0 * np.eye(4)[:, :2] + np.arange(4)[:, None] * 100)[0]
    found = select(X, n_clusters=range(2, 7), affinity=Gaussian(1.0))
    assert found.best.n_clusters == 4


def test_the_ranked_table():
    X, _ = SETS["moons"]
    affinities = [Gaussian(0.1), Gaussian("median"), Gaussian(0.15)]
    found = select(X, n_clusters=[2, 3], affinity=affinities)
    assert len(found.choices) == 6
    assert found.best is found.choices[0]
    scores = [c.score for c in found.choices]
    assert scores == sorted(scores, reverse=True)
    assert "score" in str(found) and "Gaussian(sigma=0.15)" in str(found)
    assert json.loads(json.dumps(found.to_dict()))["choices"][0]["n_clusters"] == 2


def test_data_frames_and_numpy_integers_are_fine():
    frame = pd.DataFrame(SETS["moons"][0], columns=["a", "b"])
    found = select(frame, n_clusters=np.int64(2))
    assert found.model.feature_names_in_.tolist() == ["a", "b"]


def test_selection_is_reproducible():
    X, _ = SETS["circles"]
    first, second = (select(X, range(2, 5)) for _ in range(2))
    assert first.to_dict() == second.to_dict()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (dict(n_clusters=[]), r"n_clusters must hold a candidate of at least 2 .* Got \[\]"),
        (dict(n_clusters=1), r"n_clusters must hold a candidate .* Got 1; add data, or"),
        (dict(n_clusters=[2.5]), "n_clusters must be an integer of at least 1. Got 2.5"),
        (dict(n_clusters=None), "n_clusters must be an integer of at least 1. Got None"),
        (dict(affinity=[]), "affinity must hold at least one. Got none"),
        (dict(affinity=Gaussian(-1)), "sigma must be a positive number .* Got -1"),
        (dict(affinity=0.5), "affinity must be one of .* Got 0.5"),
        (dict(cut="mincut"), "cut must be 'ncut' or 'ratiocut'. Got 'mincut'"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        select(**{"X": SETS["moons"][0], **arguments})


def test_auto_needs_three_different_rows():
    with pytest.raises(ValueError, match=r"at least 3 different rows .* Got 2; add data"):
        GPOD("auto").fit([[0.0], [1.0], [1.0]])


def test_grid_search_reaches_the_default_affinity():
    X, _ = SETS["moons"]
    grid = {"affinity__sigma": [0.1, 0.3], "n_clusters": [2, 3]}
    search = GridSearchCV(GPOD(), grid, cv=3, error_score="raise").fit(X)
    assert search.best_estimator_.affinity_.sigma_ == search.best_params_["affinity__sigma"]
    model = GPOD().set_params(affinity__sigma=0.2)
    assert model.affinity.sigma == 0.2
    with pytest.raises(ValueError, match="Invalid parameter"):
        GPOD().set_params(affinity__color=1)


# ---------------------------------------------------------------- confidence


def test_margins_lie_between_zero_and_one_and_fall_towards_the_boundary(cut):
    X, _ = make_blobs(300, 2, centers=[[0, 0], [6, 0]], random_state=0)
    model = GPOD(2, cut=cut).fit(X)
    line = np.column_stack([np.linspace(0, 6, 61), np.zeros(61)])
    margin = model.predict_margin(line)
    assert ((margin >= 0) & (margin <= 1)).all()
    change = int(np.flatnonzero(np.diff(model.predict(line)))[0])
    assert margin[[0, -1]].min() > 0.9
    assert margin[change : change + 2].min() <= margin.min() + 0.1
    one = GPOD(1, outlier_quantile=0.0).fit(X)
    assert (one.predict_margin(X) == 1).all()


def test_margin_is_its_definition(blobs):
    X, _ = blobs
    model = GPOD(4, solver="relaxed").fit(X)
    U = model.transform(X)
    scores = U / np.linalg.norm(U, axis=1, keepdims=True) @ model.rotation_
    ranked = np.sort(np.maximum(scores, 0), axis=1)
    certain = np.exp(np.minimum(model.score_samples(X) - model.fitted_cut_.least_support, 0))
    expected = certain * (ranked[:, -1] - ranked[:, -2])
    assert model.predict_margin(X) == pytest.approx(expected, abs=1e-9)


def test_outliers_are_labelled_on_request(moons):
    X, _ = moons
    far = np.array([[50.0, 50.0], [0.0, -30.0]])
    keep = GPOD(2).fit(X)
    assert set(keep.predict(far)) <= {0, 1}
    label = GPOD(2, outliers="label", outlier_quantile=0.05).fit(X)
    assert label.predict(far).tolist() == [-1, -1]
    kept = label.predict(X) >= 0
    assert (label.labels_ == np.where(kept, keep.labels_, -1)).all()
    assert kept.mean() > 0.95


def test_about_the_quantile_of_new_rows_are_outliers():
    affinity = Gaussian(sigma=1.0)
    X = np.random.default_rng(0).normal(size=(2000, 2))
    new = np.random.default_rng(1).normal(size=(2000, 2))
    for quantile in (0.02, 0.1):
        model = GPOD(2, affinity=affinity, outliers="label", outlier_quantile=quantile).fit(X)
        assert (model.predict(new) == -1).mean() == pytest.approx(quantile, abs=0.015)
        low = model.score_samples(new) < np.quantile(model.score_samples(X), quantile)
        assert np.abs(low.mean() - quantile) < 0.02


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (dict(outliers="drop"), "outliers must be 'keep' or 'label'. Got 'drop'; use outliers="),
        (dict(outlier_quantile=1.0), "outlier_quantile must be at least 0 and below 1. Got 1.0"),
        (dict(outlier_quantile=-0.1), "outlier_quantile must be .* Got -0.1; use the default"),
        (dict(n_clusters="many"), "n_clusters must be an integer of at least 1. Got 'many'; use"),
    ],
)
def test_bad_parameters_are_named(parameters, message, moons):
    with pytest.raises(ValueError, match=message):
        GPOD(**parameters).fit(moons[0])


# ------------------------------------------------------------------- the default


@pytest.mark.parametrize("cut", ["ncut", "ratiocut"])
def test_what_was_cut_to_choose_is_what_a_fit_of_it_gives(cut):
    X, _ = make_moons(500, noise=0.1, random_state=0)
    model = GPOD(2, cut=cut).fit(X)
    again = GPOD(2, cut=cut, affinity=clone(model.affinity_)).fit(X)
    assert (again.labels_ == model.labels_).all()
    assert np.abs(again.eigenvalues_ - model.eigenvalues_).max() < 1e-10


def test_many_rows_are_decided_on_by_some_of_them(monkeypatch):
    change_auto_policy(monkeypatch, whole_rows=1000)
    X, y = make_moons(3000, noise=0.1, random_state=0)
    model = GPOD(2).fit(X)
    assert model.choice_ and adjusted_rand_score(y, model.labels_) > 0.97
    order = np.random.default_rng(0).permutation(len(X))
    shuffled = GPOD(2).fit(X[order])
    assert shuffled.choice_ == model.choice_
    assert (shuffled.labels_ == model.labels_[order]).all()


def test_a_choice_is_kept_in_the_file(tmp_path):
    X, _ = make_moons(300, noise=0.08, random_state=0)
    model = GPOD(2).fit(X)
    model.save(tmp_path / "m")
    assert load(tmp_path / "m").choice_ == model.choice_ != ()
    assert GPOD(2, affinity="gaussian").fit(X).choice_ == ()


def test_a_sliver_is_never_silent():
    """Two rows far from the others: a Gaussian takes them for a cluster, and says so."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(300, 2)), [[12.0, 0.0], [12.0, 1.0]]])
    with pytest.warns(GraphWarning, match=r"less than a twentieth of an average.*2, 300\)"):
        GPOD(2, affinity=Gaussian(2.0)).fit(X)
    blobs = np.vstack([X, 9 + rng.normal(size=(300, 2))])
    with warnings.catch_warnings():
        warnings.simplefilter("error", GraphWarning)
        sizes = np.bincount(GPOD(2).fit(blobs).labels_)
    assert sizes.min() >= 290


@pytest.mark.filterwarnings("ignore::eigencut.GraphWarning")
def test_auto_accepts_sparse_rows():
    X, y = make_blobs(200, 10, centers=3, random_state=0)
    for n_clusters in (3, "auto"):
        model = GPOD(n_clusters).fit(sparse.csr_array(X))
        assert isinstance(model.affinity_, Neighbors)
        assert adjusted_rand_score(y, model.labels_) > 0.99


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_sparse_rows(index):
    """The same choice as of the same rows when they are dense."""
    rng = np.random.default_rng(0)
    dense = rng.random((150, 12)) * np.repeat(np.eye(3), 4, axis=1)[np.arange(150) % 3]
    rows = sparse.csr_array(dense)
    rows.indices, rows.indptr = rows.indices.astype(index), rows.indptr.astype(index)
    found = select(rows, range(2, 6))
    expected = select(dense, range(2, 6))
    assert found.best.n_clusters == expected.best.n_clusters == 3
    scores = [choice.score for choice in expected.choices]
    assert [choice.score for choice in found.choices] == pytest.approx(scores)
    assert adjusted_rand_score(found.model.labels_, expected.model.labels_) == 1.0
    assert (found.model.predict(rows) == found.model.labels_).all()


def test_sparse_affinities():
    W = sparse.block_diag([np.ones((20, 20))] * 4, format="csr") + 1e-3 * sparse.eye_array(80)
    W[0, 79] = W[79, 0] = W[0, 21] = W[21, 0] = W[25, 45] = W[45, 25] = 0.1
    assert select(sparse.csr_array(W), [2, 3, 4, 5], "precomputed").best.n_clusters == 4


def test_what_sparse_rows_cannot_be_used_for():
    rows = sparse.csr_array(np.eye(60))
    with pytest.raises(ValueError, match=r"takes sparse rows. Got Gaussian\(\); use 'neighbors'"):
        select(rows, affinity="gaussian")


def test_several_numbers_that_score_alike_are_named():
    from sklearn.datasets import load_digits

    X = load_digits().data
    with pytest.warns(GraphWarning, match=r"or nearly: \d+ \(chosen\), \d+.*select"):
        K = GPOD("auto").fit(X).n_clusters_
    assert 9 <= K <= 11
    with pytest.warns(GraphWarning, match="Several numbers of clusters are clear"):
        found = select(X, range(5, 16))
    assert isinstance(found.best.affinity, RankedNeighbors)
    assert 9 <= found.best.n_clusters <= 11


@pytest.mark.parametrize("kind", ["normal", "uniform", "heavy tails", "skewed"])
def test_information_of_one_cluster_is_below_zero(kind):
    rng = np.random.default_rng(3)
    X = {
        "normal": rng.normal(size=(700, 10)),
        "uniform": rng.uniform(size=(700, 10)),
        "heavy tails": rng.standard_t(3, size=(700, 10)),
        "skewed": rng.exponential(size=(700, 10)),
    }[kind]
    found = numbers_by_information(X, Candidates.parse("auto"), None, "euclidean")
    assert found.best.score < 0


def test_its_warning_does_not_send_users_to_itself():
    X = np.random.default_rng(0).normal(size=(300, 3))
    with pytest.warns(GraphWarning) as caught:
        found = select(X)
    assert not any("eigencut.select" in str(one.message) for one in caught)
    assert repr(found) == str(found) and "score" in repr(found)


def test_the_best_is_what_the_model_is_fitted_with():
    """A finer number that is believed is taken before a coarser one with a higher score."""
    found = select(load_iris().data)
    assert found.best.n_clusters == found.model.n_clusters_ == 3
    assert found.best.score < max(choice.score for choice in found.choices)
