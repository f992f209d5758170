"""Stability: agreement of refits by brute force, and what refits need."""

import json
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import make_blobs

from eigencut import GPOD, Gaussian
from eigencut._utils.running import ProgressDisplay
from eigencut.inspection import stability
from eigencut.inspection.refits import refits, renumbered, training_rows

K = 3


def overlapping(n, seed):
    return make_blobs(n, 2, centers=[[0, 0], [3, 0], [1.5, 2.6]], random_state=seed)[0]


def brute_force_numbers(labels, like, n_clusters):
    """The most rows that any renumbering brings together."""
    return max((np.array(p)[labels] == like).sum() for p in permutations(range(n_clusters)))


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30))
def test_renumbering_is_the_best_of_all(pairs):
    labels, like = np.array(pairs).T
    numbers = renumbered(labels, like, 4)
    assert sorted(numbers) == [0, 1, 2, 3]
    assert (numbers[labels] == like).sum() == brute_force_numbers(labels, like, 4)


def test_agreement_is_that_of_refits_by_hand():
    X, n_refits = overlapping(60, 0), 4
    model = GPOD(K, affinity=Gaussian(sigma=0.6)).fit(X)
    found = stability(model, X, n_refits=n_refits, random_state=3)
    rng, total = np.random.RandomState(3), 0
    for _ in range(n_refits):
        refit = clone(model).fit(X[rng.randint(60, size=60)])
        total += brute_force_numbers(refit.predict(X), model.predict(X), K)
    assert found.per_row.sum() * n_refits == pytest.approx(total)
    assert found.mean == pytest.approx(total / (60 * n_refits))
    assert set(np.unique(found.per_row * n_refits)) <= set(range(n_refits + 1))
    for k in range(K):
        mine = model.predict(X) == k
        assert found.per_cluster[k] == pytest.approx(found.per_row[mine].mean())


def test_clear_clusters_are_stable_and_pieces_of_one_are_not():
    apart = make_blobs(90, 2, centers=9 * np.eye(3, 2), random_state=0)[0]
    assert stability(GPOD(3).fit(apart), apart, n_refits=5).per_row.min() == 1.0
    angle = np.random.default_rng(0).uniform(0, 2 * np.pi, 90)
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    found = stability(GPOD(2, affinity=Gaussian(sigma=0.3)).fit(ring), ring, n_refits=10)
    assert found.mean < 0.95


def test_torn_rows_are_less_stable():
    X = overlapping(150, 2)
    model = GPOD(K, affinity=Gaussian(sigma=1.2)).fit(X)
    found = stability(model, X, n_refits=10)
    margins = model.predict_margin(X)
    torn, sure = margins < np.quantile(margins, 0.2), margins > np.quantile(margins, 0.8)
    assert found.per_row[sure].mean() > found.per_row[torn].mean()


def test_kept_rows_are_the_training_rows():
    X = np.repeat(overlapping(30, 0), [1, 2] * 15, axis=0)
    kept = training_rows(GPOD(2).fit(X))
    order = np.lexsort(X.T[::-1])
    assert np.array_equal(kept, X[order])


def test_refits_say_how_many_are_done():
    told = []

    class Listener(ProgressDisplay):
        def show(self, share, text):
            told.append(text)

    model = GPOD("auto", affinity="gaussian").fit(overlapping(40, 0))
    with Listener("refits"):
        fitted = list(refits(model, (overlapping(40, seed) for seed in (1, 2)), 2))
    assert told == ["0 of 2 refits", "1 of 2 refits"]
    assert all(refit.n_clusters_ == model.n_clusters_ for refit in fitted)


def test_text_and_json():
    X = overlapping(60, 0)
    found = stability(GPOD(K).fit(X), X, n_refits=3)
    assert json.loads(json.dumps(found.to_dict()))["n_refits"] == 3
    assert f"{found.mean:.1%}" in str(found).splitlines()[-2]
    assert str(found).splitlines()[-1].split() == ["chance", f"{found.chance:.1%}"]
    assert "Stability of 3 clusters on 60 rows, by 3 refits" in str(found)


def test_a_cluster_without_rows_has_no_agreement():
    X = make_blobs(90, 2, centers=9 * np.eye(2), random_state=0)[0]
    model = GPOD(2).fit(X)
    of_one = X[model.labels_ == 1]
    found = stability(model, of_one, n_refits=2)
    assert np.isnan(found.per_cluster[0]) and found.per_cluster[1] == found.mean
    assert found.to_dict()["per_cluster"][0] is None
    assert str(found).splitlines()[3].split() == ["0", "0", "-", "-"]


def test_chance_is_what_labels_at_random_agree_after_matching():
    """Of 30 rows in five clusters more than a fifth agree; brute force over all renumberings."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    model = GPOD(5, affinity=Gaussian(1.0)).fit(X)
    found, drawn = stability(model, n_refits=20), []
    for _ in range(40):
        other = rng.permutation(found.labels)
        drawn.append(
            max((np.array(p)[other] == found.labels).mean() for p in permutations(range(5)))
        )
    # Sizes of refits differ a little from those of the model; the standard error is 0.01.
    assert found.chance == pytest.approx(np.mean(drawn), abs=0.08)
    assert found.chance > 0.25


def test_counts_are_checked():
    model = GPOD(2).fit(overlapping(40, 0))
    with pytest.raises(ValueError, match="n_refits must be an integer of at least 1"):
        stability(model, n_refits=0)
