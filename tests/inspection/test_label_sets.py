"""Label sets: the quantile's guarantee, labels by brute force, coverage of uncertain rows."""

import json
import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_moons

from eigencut import GPOD, Gaussian, Landmarks, Neighbors, TableModel
from eigencut.inspection import label_sets
from eigencut.inspection.refits import batch_quantile
from eigencut.io.sample import seeded_by

K = 3


def overlapping(n, seed):
    return make_blobs(n, 2, centers=[[0, 0], [3, 0], [1.5, 2.6]], random_state=seed)[0]


@pytest.fixture(scope="module")
def calibrated():
    X = overlapping(200, 0)
    model = GPOD(K, affinity=Gaussian(sigma=0.8)).fit(X[:80])
    return label_sets(model, X[80:160], n_batches=20), X


# ------------------------------------------------------------------ the quantile

batches = st.integers(1, 4).flatmap(
    lambda b: st.integers(3, 8).flatmap(
        lambda groups: arrays(np.int64, (groups, b), elements=st.integers(0, 6))
    )
)


@given(batches, st.floats(0.05, 0.95))
def test_quantile_covers_a_further_batch_on_average(values, coverage):
    """Each batch in turn is the new one: on average over these, as many are covered, always."""
    if coverage > 1 - 1 / len(values):
        return
    covered = [
        (values[g] <= batch_quantile(np.delete(values, g, axis=0), coverage)).mean()
        for g in range(len(values))
    ]
    assert np.mean(covered) >= coverage - 1e-9


@given(st.integers(5, 60), st.floats(0.05, 0.95))
def test_quantile_of_single_rows_is_that_of_split_conformal(n, coverage):
    if coverage > n / (n + 1):
        return
    values = np.random.default_rng(n).permutation(n).astype(float)
    rank = math.ceil(round(coverage * (n + 1), 9))
    assert batch_quantile(values[:, np.newaxis], coverage) == max(rank, 1) - 1


# ------------------------------------------------------------------ the sets


def test_labels_are_those_of_refits_in_the_numbers_of_the_model():
    """Against one batch by hand, with the best of all renumberings."""
    X = overlapping(90, 1)
    model = GPOD(K, affinity=Neighbors(8)).fit(X[:80])
    # All batches of one row, so that which row is in which batch is known up to the order.
    sets = label_sets(model, X[80:], n_batches=10, random_state=5)
    order = seeded_by(X[80:], 5).permutation(10)
    for g, row in enumerate(order):
        refit = clone(model).fit(np.vstack([X[:80], X[[80 + row]]]))
        best = max(
            permutations(range(K)),
            key=lambda p: (np.array(p)[refit.labels_[:80]] == model.labels_).sum(),
        )
        assert sets.labels[g, 0] == best[refit.labels_[80]]


def test_sets_hold_the_label_of_predict_and_grow_with_coverage(calibrated):
    sets, X = calibrated
    rows = X[160:]
    previous = np.zeros((len(rows), K), dtype=bool)
    for coverage in (0.3, 0.8, 0.9, 0.95):
        found = sets.predict_set(rows, coverage)
        assert found[np.arange(len(rows)), sets.model.predict(rows)].all()
        assert (found >= previous).all()
        previous = found


def test_threshold_is_the_quantile_of_the_score_deficits(calibrated):
    sets, X = calibrated
    order = seeded_by(X[80:160]).permutation(80)
    scores = sets.model.fitted_cut_.scores(X[80:160][order])
    own = scores[np.arange(80), sets.labels.ravel()]
    deficits = np.sort(scores.max(axis=1) - own)
    # 20 batches of 4: the rank is 0.9 * 21 * 4 = 75.6, rounded up.
    assert sets._threshold(0.9) == pytest.approx(deficits[75], abs=1e-12)


def test_coverage_holds_where_labels_are_uncertain():
    """New rows labelled by refits of their own; 25 repetitions of 5 rows."""
    n, b, n_batches, covered, agreed = 50, 5, 10, [], []
    for seed in range(25):
        X = np.random.default_rng(seed).uniform(size=(n + b * (n_batches + 1), 2))
        model = GPOD(2, affinity=Gaussian(sigma=0.15), n_init=1).fit(X[:n])
        sets = label_sets(model, X[n:-b], n_batches=n_batches, random_state=seed)
        refit = clone(model).fit(np.vstack([X[:n], X[-b:]]))
        before, after = model.labels_, refit.labels_
        if (before == after[:n]).mean() < 0.5:
            after = 1 - after
        found = sets.predict_set(X[-b:], 0.8)
        covered.append(found[np.arange(b), after[n:]].mean())
        agreed.append((model.predict(X[-b:]) == after[n:]).mean())
    assert np.mean(agreed) < 0.97  # else nothing is tested
    assert np.mean(covered) >= 0.8 - 2 * np.std(covered) / math.sqrt(25)


def test_separated_clusters_have_sets_of_one():
    X, _ = make_moons(300, noise=0.05, random_state=2)
    sets = label_sets(GPOD(2).fit(X[:140]), X[140:240])
    assert (sets.predict_set(X[240:], 0.9).sum(axis=1) == 1).mean() >= 0.9


def test_text_and_json_say_the_same(calibrated):
    sets, _ = calibrated
    found = json.loads(json.dumps(sets.to_dict()))
    assert (found["n_batches"], found["batch_size"]) == (20, 4)
    assert [line["coverage"] for line in found["sets"]] == [0.8, 0.9, 0.95]
    assert f"{found['agreement']:.1%} of these rows" in str(sets)
    for line in found["sets"]:
        assert f"{line['single']:.1%}" in str(sets)
    assert "3 other new rows" in str(sets)


def test_sparse_rows_have_the_sets_of_dense_ones():
    X = np.abs(overlapping(100, 3))
    dense, thin = (
        label_sets(GPOD(K, affinity=Neighbors(6)).fit(rows[:60]), rows[60:], n_batches=4)
        for rows in (X, csr_array(X))
    )
    # Clusters of equal size may have other numbers: sparse rows come in another order.
    number = np.empty(K, dtype=int)
    number[thin.model.labels_] = dense.model.labels_
    assert np.array_equal(dense.labels, number[thin.labels])
    assert dense.deficits[..., number] == pytest.approx(thin.deficits, abs=1e-6)


def test_the_method_of_the_model_gives_the_same_sets(calibrated):
    sets, X = calibrated
    expected = sets.predict_set(X[160:], 0.8)
    assert np.array_equal(sets.model.predict_set(X[160:], 0.8, calibration=sets), expected)
    assert np.array_equal(sets.model.predict_set(X[160:], 0.8, calibration=X[80:160]), expected)


# ------------------------------------------------------------------ refusals


def test_sets_of_another_fit_are_refused(calibrated):
    sets, X = calibrated
    other = clone(sets.model).fit(X[:70])
    with pytest.raises(ValueError, match="calibration must be of this model as it is fitted now"):
        other.predict_set(X, calibration=sets)


def test_more_coverage_than_batches_allow_is_refused(calibrated):
    sets, X = calibrated
    with pytest.raises(ValueError, match=r"coverage must be at most 0\.9524.*larger n_batches"):
        sets.predict_set(X, 0.99)


def test_too_few_rows_are_refused():
    X = overlapping(60, 0)
    model = GPOD(K).fit(X[:50])
    with pytest.raises(ValueError, match=r"X_heldout must have at least n_batches=20 rows"):
        label_sets(model, X[50:])


def test_models_that_keep_no_rows_ask_for_them():
    X = overlapping(140, 0)
    model = GPOD(K, affinity=Landmarks(20)).fit(X[:100])
    with pytest.raises(ValueError, match="X must be given for a model with Landmarks"):
        label_sets(model, X[100:])
    assert label_sets(model, X[100:], X[:100]).labels.shape == (20, 2)


def test_matrices_are_refused():
    X = overlapping(40, 0)
    W = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2))
    with pytest.raises(ValueError, match="affinity must be one of rows of features"):
        label_sets(GPOD(2, affinity="precomputed").fit(W), W)


def test_the_text_says_what_sets_are_for(calibrated):
    assert "the training rows, the new row and 3 other new rows" in str(calibrated[0])


@pytest.mark.parametrize("model", [GPOD(3), TableModel(GPOD(3))], ids=["gpod", "table"])
def test_rows_are_prepared_once_for_sets(model):
    """The default scales columns of very different units, and a table model all of them."""
    X = make_blobs(400, n_features=3, centers=3, random_state=0)[0] * [1, 1000, 1]
    model.fit(X[:300])
    sets = label_sets(model, X[300:])
    for found in (sets.predict_set(X), model.predict_set(X, calibration=sets)):
        assert found[np.arange(400), model.predict(X)].all()
    assert (model.predict_set(X, calibration=X[300:]) == found).all()
    model.update(X[:50])
    with pytest.raises(ValueError, match="Got label sets of another fit; calibrate again"):
        model.predict_set(X, calibration=sets)
