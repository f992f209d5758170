"""Probabilities: their formula, their sums, and that they name the cluster that the label does."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import softmax
from sklearn.datasets import make_blobs, make_moons

from eigencut import GPOD, Gaussian, Landmarks, Neighbors
from eigencut.discretization import assign
from eigencut.extension.labelling import (
    certainty,
    fitted_temperature,
    is_outlier,
    margins_of,
    probabilities_of,
)

AFFINITIES = {
    "auto": "auto",
    "gaussian": "gaussian",
    "sigma": Gaussian(1.0),
    "neighbors": Neighbors(10),
    "landmarks": Landmarks(40),
}
KERNEL = {"kernel": lambda A, B: 1 / (1 + ((A[:, None] - B[None]) ** 2).sum(axis=2))}

# Scores with ties, exact and within rounding, and rows of zeros.
SCORES = st.integers(1, 6).flatmap(
    lambda K: arrays(
        np.float64,
        st.tuples(st.integers(1, 12), st.just(K)),
        elements=st.one_of(
            st.sampled_from([-1.0, -0.5, 0.0, 0.5, 0.5 + 1e-10, 0.5 + 5e-9, 1.0]),
            st.floats(-1, 1),
        ),
    )
)


@given(SCORES, st.floats(0, 1), st.floats(1e-6, 1e9))
@settings(max_examples=300, deadline=None)
def test_any_scores_give_probabilities_whose_first_largest_is_the_label(scores, c, temperature):
    labels = assign(scores)
    found = probabilities_of(scores, labels, np.full(len(scores), c), temperature)
    assert found.shape == scores.shape
    assert ((found >= 0) & (found <= 1)).all()
    assert found.sum(axis=1) == pytest.approx(1, abs=1e-12)
    assert (found.argmax(axis=1) == labels).all()


@given(SCORES, st.floats(0.01, 1), st.floats(0.01, 2))
@settings(max_examples=100, deadline=None)
def test_the_formula_is_the_softmax_of_scores_by_scipy(scores, c, temperature):
    found = probabilities_of(scores, assign(scores), np.full(len(scores), c), temperature)
    expected = softmax(c * np.maximum(scores, 0) / temperature, axis=1)
    assert np.abs(found - expected).max() < 1e-6  # scores within 1e-9 count as equal


@given(SCORES, st.floats(0.01, 2))
@settings(max_examples=100, deadline=None)
def test_the_odds_of_the_first_two_are_the_margin_over_the_temperature(scores, temperature):
    assume(scores.shape[1] > 1)
    certain = np.linspace(0, 1, len(scores))
    found = np.sort(probabilities_of(scores, assign(scores), certain, temperature), axis=1)
    seen = found[:, -2] > 1e-200
    log_odds = np.log(found[seen, -1] / found[seen, -2])
    expected = (certain * margins_of(scores))[seen] / temperature
    assert log_odds == pytest.approx(expected, abs=1e-6)


def test_the_temperature_falls_as_margins_rise_and_counts_multiplicities():
    clear = fitted_temperature(np.ones(3), np.ones(3))
    assert 0 < clear < fitted_temperature(np.full(3, 0.5), np.ones(3))
    once = fitted_temperature(np.array([0.2, 0.9, 0.9]), np.ones(3))
    assert fitted_temperature(np.array([0.2, 0.9]), np.array([1.0, 2.0])) == pytest.approx(once)


@pytest.fixture(scope="module", params=[*AFFINITIES, *KERNEL])
def fitted(request):
    X = make_blobs(300, centers=[[0, 0], [5, 0], [0, 5]], random_state=0)[0]
    affinity = (AFFINITIES | KERNEL)[request.param]
    return GPOD(3, affinity=affinity, outliers="label").fit(X), X


def new_rows(seed=1, n=200):
    return make_blobs(n, centers=[[0, 0], [5, 0], [0, 5]], cluster_std=1.5, random_state=seed)[0]


def agrees(model, X):
    """Labels, margins and probabilities of rows tell the same story."""
    labels, found = model.predict(X), model.predict_proba(X)
    assert found.shape == (len(X), model.n_clusters_) and found.dtype == np.float64
    assert found.sum(axis=1) == pytest.approx(1, abs=1e-12)
    assert (found.argmax(axis=1)[labels >= 0] == labels[labels >= 0]).all()
    kept = GPOD(**model.get_params(deep=False)).set_params(outliers="keep")
    kept.__dict__ |= {name: value for name, value in vars(model).items() if name.endswith("_")}
    assert (found.argmax(axis=1) == kept.predict(X)).all()
    top = np.sort(found, axis=1)
    odds = np.log(top[:, -1] / np.maximum(top[:, -2], 1e-300))
    margins, T = model.predict_margin(X), model.fitted_cut_.temperature
    assert odds == pytest.approx(margins / T, abs=1e-3)
    outside = labels < 0
    assert (model.score_samples(X)[outside] < model.fitted_cut_.least_support).all()
    return found


def test_labels_margins_and_probabilities_agree_on_new_and_training_rows(fitted):
    model, X = fitted
    agrees(model, X)
    agrees(model, new_rows())


def test_training_rows_have_the_probability_of_their_label(fitted):
    """Where a row has support; 0 where its label is -1."""
    model, X = fitted
    found = model.probabilities_
    assert ((found == 0) == (model.labels_ == -1)).all()
    clear = (found > 0) & (model.score_samples(X) >= model.fitted_cut_.least_support)
    assert clear.mean() > 0.9
    assert found[clear] == pytest.approx(model.predict_proba(X)[clear].max(axis=1), abs=1e-4)


def test_probabilities_of_training_rows_are_there_where_their_embedding_is():
    X = new_rows(seed=2)
    assert not hasattr(GPOD(3), "probabilities_")
    updated = GPOD(3).fit(X).update(new_rows())
    with pytest.raises(AttributeError, match=r"needs embedding_.*predict_proba"):
        _ = updated.probabilities_


def test_probabilities_ignore_company_order_and_blocks(fitted):
    model, _ = fitted
    X = new_rows(n=60)
    found = model.predict_proba(X)
    single = np.vstack([model.predict_proba(row[np.newaxis]) for row in X])
    assert found == pytest.approx(single, abs=1e-9)
    order = np.random.default_rng(0).permutation(len(X))
    assert model.predict_proba(X[order]) == pytest.approx(found[order], abs=1e-9)


@given(
    arrays(
        np.float64,
        (5, 2),
        elements=st.floats(-1e308, 1e308, allow_nan=False) | st.floats(-10, 10),
    ),
    st.sampled_from(["gaussian", "neighbors", "landmarks", "auto"]),
)
@settings(max_examples=80, deadline=None)
def test_no_row_however_extreme_makes_them_disagree(rows, affinity):
    model = EXTREME.setdefault(affinity, None) or GPOD(3, affinity=AFFINITIES[affinity]).fit(
        new_rows(0)
    )
    EXTREME[affinity] = model
    found = model.predict_proba(rows)
    assert np.isfinite(found).all()
    assert found.sum(axis=1) == pytest.approx(1, abs=1e-12)
    assert (found.argmax(axis=1) == model.predict(rows)).all()
    margins = model.predict_margin(rows)
    assert ((margins >= 0) & (margins <= 1)).all()


EXTREME: dict[str, GPOD | None] = {}


def test_rows_of_float32_are_answered_as_their_values_in_float64(fitted):
    model, _ = fitted
    X = new_rows().astype(np.float32)
    assert (model.predict_proba(X) == model.predict_proba(X.astype(np.float64))).all()
    assert (model.predict_proba(X).argmax(axis=1)[model.predict(X) >= 0] >= 0).all()
    agrees(model, X)


@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize("cut", ["ncut", "ratiocut"])
def test_many_rows_in_single_precision_agree_with_double(cut):
    X = make_blobs(4000, 16, centers=5, cluster_std=4.0, random_state=0)[0]
    model = GPOD(5, cut=cut, affinity=Gaussian("median", scale=0.3)).fit(X[:500])
    functions = model.fitted_cut_.functions
    assert functions.single_precision_pays(len(X))
    found = agrees(model, X)
    in_double = model.fitted_cut_.answers(X).probabilities
    assert found == pytest.approx(in_double, abs=1e-4)
    # Rows on the boundary of two clusters are left to double precision.
    a, b = X[:300], X[300:600]
    differ = model.predict(a) != model.predict(b)
    a, b = a[differ], b[differ]
    of_a = model.predict(a)
    for _ in range(50):
        middle = (a + b) / 2
        same = (model.predict(middle) == of_a)[:, np.newaxis]
        a, b = np.where(same, middle, a), np.where(same, b, middle)
    rows = np.vstack([a, b] * 4)
    assert (model.predict_proba(rows).argmax(axis=1) == model.predict(rows)).all()


# ------------------------------------------------------------------------- rows without support


def test_far_rows_and_a_wholly_new_cluster_are_not_certain(fitted):
    model, X = fitted
    rng = np.random.default_rng(3)
    new_cluster = rng.normal(40.0, 1.0, (50, 2))
    far = np.array([[1e6, 0.0], [0.0, -1e6], [-1e6, 1e6], [1e12, 3.0]])
    for rows in (new_cluster, far):
        assert model.predict_margin(rows).max() < 0.2
        assert model.predict_proba(rows).max() < 0.6
        assert (model.predict(rows) == -1).all()
    assert np.median(model.predict_margin(X)) > 0.7
    assert np.median(model.predict_proba(X).max(axis=1)) > 0.9


def test_certainty_is_the_share_of_the_least_support():
    d = np.array([0.0, 1e-30, 0.02, 0.1, 0.4])
    with np.errstate(divide="ignore"):
        found = certainty(np.log(d), np.log(0.1))
    assert found == pytest.approx([0, 1e-29, 0.2, 1, 1])


def test_labels_of_training_rows_are_outliers_where_predict_says_so(fitted):
    model, X = fitted
    assert (model.labels_ == model.predict(X)).all()


@pytest.mark.parametrize("affinity", AFFINITIES)
def test_labels_mark_outliers_of_the_training_set_and_of_nothing_else(affinity):
    X = np.vstack([make_moons(500, noise=0.1, random_state=0)[0], [[9.0, 9.0], [-8.0, 3.0]]])
    marked = GPOD(2, affinity=AFFINITIES[affinity], outliers="label", outlier_quantile=0.1).fit(X)
    kept = GPOD(2, affinity=AFFINITIES[affinity], outlier_quantile=0.1).fit(X)
    assert (marked.labels_ == marked.predict(X)).all()
    outside = is_outlier(marked.score_samples(X), marked.fitted_cut_.least_support)
    assert (marked.labels_ == np.where(outside, -1, kept.labels_)).all()
    assert (kept.labels_ >= 0).all()
    if affinity == "sigma":
        assert outside[-2:].any()


def test_one_cluster_is_certain_as_a_probability():
    X = make_moons(100, random_state=0)[0]
    model = GPOD(1).fit(X)
    assert (model.predict_proba([[0.0, 0.0], [1e9, 0.0]]) == 1).all()


@pytest.mark.filterwarnings("ignore::eigencut.exceptions.GraphWarning")
@pytest.mark.parametrize("K", [2, 6])
def test_what_grows_with_the_margin(K):
    """The odds of the first two; the largest probability only where there are no others."""
    rng = np.random.default_rng(2)
    rows = (1.3 * rng.normal(size=(K, 2)))[rng.integers(K, size=3000)] + rng.normal(size=(3000, 2))
    model = GPOD(K).fit(rows[:1000])
    margins, p = model.predict_margin(rows[1000:]), model.predict_proba(rows[1000:])
    first, second = np.sort(p, axis=1)[:, [-1, -2]].T
    np.testing.assert_allclose(
        np.log(first / second), margins / model.fitted_cut_.temperature, atol=1e-9
    )
    largest = first[np.argsort(margins)]
    drop = float((np.maximum.accumulate(largest) - largest).max())
    assert drop < 1e-9 if K == 2 else 0.2 < drop < 0.35  # docs/guide/uncertainty.md has .33
