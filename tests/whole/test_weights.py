"""Weighted rows: integers are repetitions, zero is absence, and a common factor is nothing."""

import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array
from sklearn.datasets import make_moons
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

from conftest import CUTS
from eigencut import GPOD, Gaussian, GraphWarning, Kernel, Landmarks, Neighbors, load

AFFINITIES = {
    "auto": "auto",
    "gaussian": Gaussian(),
    "one width": Gaussian("neighbors", n_neighbors=4),
    "neighbors": Neighbors(5),
    "mutual": Neighbors(8, graph="mutual", density_contrast=1.0),
    "landmarks": Landmarks(12, 3),
    "landmarks without contrast": Landmarks(12, 3, density_contrast=0.0),
    "function": Kernel(laplacian_kernel),
}

pytestmark = pytest.mark.filterwarnings("ignore::eigencut.GraphWarning")


@pytest.fixture(params=AFFINITIES.values(), ids=AFFINITIES.keys())
def affinity(request):
    return request.param


def quietly(model, X, **how):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphWarning)
        return model.fit(X, **how)


def moons(n=90, seed=0):
    return make_moons(n, noise=0.08, random_state=seed)[0]


def assert_same_bits(first, second, X):
    """Everything that two models say of rows, and what a file would keep of them."""
    for name in ("predict_proba", "transform", "score_samples", "predict_margin", "predict"):
        assert np.array_equal(getattr(first, name)(X), getattr(second, name)(X)), name
    assert np.array_equal(first.eigenvalues_, second.eigenvalues_)
    assert np.array_equal(first.affinity_.multiplicity_, second.affinity_.multiplicity_)
    assert first.affinity_.n_rows_ == second.affinity_.n_rows_
    assert type(first.affinity_.n_rows_) is type(second.affinity_.n_rows_)
    assert first.fitted_cut_.least_support == second.fitted_cut_.least_support
    assert first.choice_ == second.choice_


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("n_clusters", [2, "auto"])
def test_integer_weights_are_repetitions(affinity, cut, n_clusters):
    X, weight = moons(), np.random.default_rng(0).integers(0, 4, 90)
    weighted = GPOD(n_clusters, cut=cut, affinity=affinity).fit(X, sample_weight=weight)
    repeated = GPOD(n_clusters, cut=cut, affinity=affinity).fit(np.repeat(X, weight, axis=0))
    assert_same_bits(weighted, repeated, X)
    assert (np.repeat(weighted.labels_, weight) == repeated.labels_).all()
    assert (weighted.predict(X) == weighted.labels_).all()  # rows without weight too
    assert np.abs(weighted.transform(X) - weighted.embedding_).max() < 1e-8


@st.composite
def weighted_problems(draw):
    X = draw(arrays(np.float64, (14, 2), elements=st.integers(-3, 3).map(float)))
    X += draw(st.sampled_from([0.0, 0.01])) * np.arange(28).reshape(14, 2)
    weight = draw(arrays(np.int64, 14, elements=st.integers(0, 5)))
    n_distinct = len(np.unique(X[weight > 0], axis=0))
    affinity = draw(st.sampled_from([a for a in AFFINITIES.values() if a != "auto"]))
    model = GPOD(
        draw(st.integers(1, max(1, min(n_distinct, 3)))),
        cut=draw(st.sampled_from(CUTS)),
        affinity=affinity,
        n_init=2,
    )
    return X, weight, model, n_distinct


@settings(max_examples=40)
@given(weighted_problems(), st.randoms(use_true_random=False))
def test_repetitions_weights_and_permutations_give_one_model(problem, random):
    X, weight, model, n_distinct = problem
    if n_distinct < 2:
        return
    try:
        weighted = quietly(model, X, sample_weight=weight)
    except ValueError as error:  # rows too far from each other; then so are the repeated ones
        with pytest.raises(ValueError, match=str(error)[:30]):
            quietly(model, np.repeat(X, weight, axis=0))
        return
    labels, answers = weighted.predict(X), weighted.predict_proba(X)
    sizes = np.bincount(labels, weight, len(weighted.rotation_))
    order = np.arange(14)
    random.shuffle(order)
    for rows, how in (
        (np.repeat(X, weight, axis=0), {}),
        (X[order], {"sample_weight": weight[order]}),
        (np.vstack([X, X]), {"sample_weight": np.append(weight - weight // 2, weight // 2)}),
    ):
        other = quietly(model, rows, **how)
        same_place = (answers[:, :, None] == other.predict_proba(X)[:, None, :]).all(axis=0)
        if len(set(sizes)) == len(sizes):  # clusters of equal size are numbered by the first row
            assert same_place.diagonal().all() and (other.predict(X) == labels).all()
        assert same_place.any(axis=0).all()


@settings(max_examples=25)
@given(
    st.sampled_from(sorted(AFFINITIES)),
    st.sampled_from(CUTS),
    st.integers(0, 50),
    st.floats(-6, 6).map(lambda power: 10.0**power),
    st.booleans(),
    st.integers(2, 4),
)
@example("mutual", "ratiocut", 220, 0.3, False, 3)  # which rounding decided once
@example("mutual", "ncut", 129, 3.7, False, 2)
def test_a_common_factor_changes_no_label(name, cut, seed, factor, has_structure, n_clusters):
    rng = np.random.default_rng(seed)
    X = moons(60, seed) if has_structure else rng.normal(size=(60, 2))
    weight = rng.uniform(0.2, 3.0, 60)
    model = GPOD(n_clusters, cut=cut, affinity=AFFINITIES[name], n_init=3)
    labels = quietly(model, X, sample_weight=weight).labels_
    answers = np.sort(model.predict_proba(X), axis=1)
    values, support = getattr(model, "eigenvalues_", None), model.fitted_cut_.least_support
    scaled = quietly(model, X, sample_weight=factor * weight)
    assert (values is None) == (not hasattr(scaled, "eigenvalues_"))
    if values is not None:
        assert np.abs(scaled.eigenvalues_ - values).max() < 1e-7
    assert abs(scaled.fitted_cut_.least_support - support) < 1e-9
    tolerance = 1e-6 if "landmarks" in name else 1e-9
    assert np.abs(np.sort(scaled.predict_proba(X), axis=1) - answers).max() < tolerance
    # Clusters of nearly the same size can change places.
    together = labels[:, None] == labels
    assert (together == (scaled.labels_[:, None] == scaled.labels_)).all()


@pytest.mark.parametrize("cut", CUTS)
def test_rows_without_weight_might_be_missing(affinity, cut):
    X, rng = moons(), np.random.default_rng(1)
    weight = rng.uniform(0.5, 2.0, 90) * (rng.random(90) < 0.7)
    with_zeros = GPOD(2, cut=cut, affinity=affinity, outliers="label").fit(X, sample_weight=weight)
    there = weight > 0
    without = GPOD(2, cut=cut, affinity=affinity, outliers="label")
    assert_same_bits(with_zeros, without.fit(X[there], sample_weight=weight[there]), X)
    assert (with_zeros.labels_ == with_zeros.predict(X)).all()
    assert with_zeros.embedding_.shape == (90, 2)


def test_weights_near_integers_are_near_repetitions(affinity):
    """Real weights are no other kind of thing: the eigenvalues depend on them continuously."""
    X, weight = moons(), np.random.default_rng(0).integers(1, 4, 90)
    values = GPOD(2, affinity=affinity).fit(X, sample_weight=weight).eigenvalues_
    near = GPOD(2, affinity=affinity).fit(X, sample_weight=weight + 1e-7)
    assert np.abs(near.eigenvalues_ - values).max() < 1e-5


@pytest.mark.parametrize("cut", CUTS)
def test_weighted_eigenpairs_solve_the_weighted_problem(cut):
    """``L u = lambda M u`` of the plain matrices, every row having its weight."""
    X, weight = moons(), np.random.default_rng(2).uniform(0.1, 4.0, 90)
    model = GPOD(3, cut=cut, affinity=Gaussian(0.5)).fit(X, sample_weight=weight)
    W = rbf_kernel(X, gamma=2.0) / weight.sum()
    d = W @ weight
    M = d if cut == "ncut" else np.ones(90)
    U = model.embedding_
    residual = d[:, None] * U - W @ (weight[:, None] * U) - M[:, None] * U * model.eigenvalues_
    assert np.abs(residual).max() < 1e-8
    assert np.abs(U.T @ ((weight * M)[:, None] * U) - np.eye(3)).max() < 1e-8


def test_weights_move_a_cut():
    """A bridge between two groups: the side that it goes to is the one that has the weight."""
    X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0]])
    model = GPOD(2, cut="ratiocut", affinity=Gaussian(1.0))
    left = model.fit(X, sample_weight=[9, 9, 1, 1, 1]).predict([[1.6]])
    assert left == model.predict([[0.0]])
    right = model.fit(X, sample_weight=[1, 1, 1, 9, 9]).predict([[2.4]])
    assert right == model.predict([[4.0]])


@pytest.mark.parametrize("as_sparse", [np.asarray, csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("cut", CUTS)
def test_weights_of_precomputed_affinities(cut, as_sparse, tmp_path):
    X, weight = moons(), np.random.default_rng(0).integers(0, 4, 90)
    repeated = np.repeat(X, weight, axis=0)
    W, of_repeated = (np.where(w > 0.01, w, 0) for w in (rbf_kernel(X), rbf_kernel(repeated)))
    model = GPOD(2, cut=cut, affinity="precomputed").fit(as_sparse(W), sample_weight=weight)
    other = GPOD(2, cut=cut, affinity="precomputed").fit(as_sparse(of_repeated))
    assert np.abs(model.eigenvalues_ - other.eigenvalues_).max() < 1e-12
    assert (np.repeat(model.labels_, weight) == other.labels_).all()
    assert (model.predict(W) == model.labels_).all() and model.n_features_in_ == 90
    model.save(tmp_path / "model")
    assert np.array_equal(load(tmp_path / "model").predict_proba(W), model.predict_proba(W))


def test_weights_of_sparse_rows():
    X = csr_array(np.maximum(moons(), 0))
    weight = np.random.default_rng(0).integers(1, 4, 90)
    weighted = GPOD(2, affinity="neighbors").fit(X, sample_weight=weight)
    rows = X[np.repeat(np.arange(90), weight)]
    assert_same_bits(weighted, GPOD(2, affinity="neighbors").fit(rows), X)


@pytest.mark.parametrize("name", [name for name in AFFINITIES if name != "function"])
def test_weighted_models_are_saved_to_the_last_bit(name, tmp_path):
    X, rng = moons(), np.random.default_rng(0)
    weight = rng.uniform(0.001, 0.01, 90) * (rng.random(90) < 0.8)
    model = GPOD(2, affinity=AFFINITIES[name]).fit(X, sample_weight=weight)
    model.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert_same_bits(model, loaded, X)
    assert np.array_equal(loaded.labels_, model.labels_)
    assert np.array_equal(loaded.embedding_, model.embedding_)
    assert loaded.affinity_.n_rows_ == pytest.approx(weight.sum())


def test_survey_weights_decide_nothing_about_memory():
    """300 million people, asked 300 of them: a graph of 300 rows."""
    X = moons(300)
    weight = np.random.default_rng(0).integers(1, 2_000_000, 300)
    model = GPOD(2, memory_limit="100MB").fit(X, sample_weight=weight)
    assert isinstance(model.affinity_, Neighbors)
    landmarks = GPOD(2, affinity=Landmarks(40)).fit(X, sample_weight=weight)
    assert landmarks.affinity_.n_rows_ == weight.sum() > 2**28
    assert landmarks.affinity_.multiplicity_.sum() == pytest.approx(weight.sum())
    thousandth = GPOD(2, affinity=Landmarks(40)).fit(X, sample_weight=weight / 1000)
    assert (thousandth.labels_ == landmarks.labels_).all()


@pytest.mark.parametrize(
    ("weight", "said"),
    [
        ([1.0, 2.0], r"one number for each of the 4 rows. Got shape \(2,\)"),
        ([[1.0] * 4], r"one number for each of the 4 rows. Got shape \(1, 4\)"),
        ([1, 1, -2, 1], r"at least 0. Got -2 in row 2; correct it, or use 0"),
        ([1, np.nan, 1, 1], r"finite numbers of at least 0. Got a missing value in row 1"),
        ([1, 1, 1, np.inf], r"finite numbers of at least 0. Got inf in row 3"),
        ([0, 0, 0, 0], "positive for at least one row. Got zeros only; leave it out"),
        ([1e-20] * 4, r"ordinary size. Got 4e-20 together; divide them by their mean"),
        ([1e18] * 4, r"ordinary size. Got 4e\+18 together; divide them by their mean"),
        ([1e200] * 4, r"ordinary size. Got 4e\+200 together; divide them by their mean"),
        (["a"] * 4, "must hold real numbers"),
    ],
)
def test_bad_weights_are_refused(weight, said):
    X = np.arange(8.0).reshape(4, 2)
    model = GPOD(2, affinity="gaussian").fit(X)
    for method in (model.fit, model.fit_predict, model.fit_transform, model.score):
        with pytest.raises(ValueError, match=f"sample_weight must .*{said}|{said}"):
            method(X, sample_weight=weight)
    assert model.labels_.shape == (4,)


def test_the_story_of_a_survey_is_true(capsys):
    page = Path(__file__).parents[2] / "docs" / "guide" / "weights.md"
    section = page.read_text().split("## Weighted survey data")[1].split("\n## ")[0]
    code = "\n".join(re.findall(r"```python\n(.*?)```", section, flags=re.DOTALL))
    exec(code, {})
    expected = re.findall(r"print\(.*\)  # (.*)", code)
    assert expected and capsys.readouterr().out.splitlines() == expected
