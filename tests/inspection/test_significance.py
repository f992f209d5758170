"""Significance: an exact null, uniform p-values, power on clusters, none on noise."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import pdist
from scipy.stats import chisquare
from sklearn.datasets import make_blobs, make_moons

from eigencut import GPOD, Gaussian, Neighbors
from eigencut.inspection import significance
from eigencut.inspection.refits import SameCovariance, Significance, smoothed_cluster

AFFINITY = Neighbors(10, density_contrast=1.0)


# ------------------------------------------------------------------ the nulls


@given(st.integers(3, 25), st.integers(1, 30), st.integers(0, 1000))
def test_samples_have_the_mean_and_the_covariance_of_the_rows(n, d, seed):
    """Also with more columns than rows, and with a column that is constant."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + 5
    X[:, 0] = 1.0
    if d == 1:
        X[:, 0] += rng.normal(size=n)
    null = SameCovariance(X)
    labels = rng.integers(2, size=n)
    for draw in (
        rng.normal(size=null.scores.shape),
        smoothed_cluster(null.scores, labels, np.random.RandomState(seed)),
    ):
        sample = null.sample(draw)
        scale = np.abs(np.cov(X.T)).max()
        assert sample.mean(axis=0) == pytest.approx(X.mean(axis=0), abs=1e-9 * np.sqrt(scale))
        assert np.cov(sample.T) == pytest.approx(np.cov(X.T), abs=1e-9 * scale)


def nearest(X):
    """A statistic that depends on scale and shape, and is quick."""
    return np.sort(pdist(X))[: len(X)].mean()


def test_ranks_among_gaussian_samples_are_uniform():
    """Exactly, for normal rows of any covariance; samples of an estimated one would fail this."""
    n_samples, ranks = 4, []
    for seed in range(1500):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(8, 3)) * [1, 5, 0.2] + 3
        null = SameCovariance(X)
        samples = [null.sample(rng.normal(size=null.scores.shape)) for _ in range(n_samples)]
        ranks.append(sum(nearest(sample) <= nearest(X) for sample in samples))
    assert chisquare(np.bincount(ranks, minlength=n_samples + 1)).pvalue > 0.01


def test_a_smoothed_cluster_is_of_one_cluster():
    scores = np.repeat([[-1.0, 0.0], [1.0, 0.0]], 50, axis=0)
    scores += 0.1 * np.random.default_rng(0).normal(size=scores.shape)
    labels = np.repeat([0, 1], 50)
    seen = set()
    for seed in range(10):
        draw = smoothed_cluster(scores, labels, np.random.RandomState(seed))
        assert np.ptp(draw[:, 0]) < 1  # the two are 2 apart
        seen.add(bool(draw[0, 0] > 0))
    assert seen == {True, False}


def test_a_cluster_of_one_row_makes_rows_that_differ():
    scores = np.array([[3.0, 0.0], [-1.0, 0.1], [-1.1, 0.0], [-0.9, -0.1]])
    draw = smoothed_cluster(scores, np.arange(4), np.random.RandomState(0))
    assert len(np.unique(draw, axis=0)) == 4


# ------------------------------------------------------------------ p-values


def test_p_value_counts_ties_and_takes_the_larger():
    found = Significance(
        1.0, {"gaussian": np.array([0.5, 1.0, 2.0]), "one cluster": np.array([3.0, 4, 5])}, 9, 2
    )
    assert found.p_values == {"gaussian": 3 / 4, "one cluster": 1 / 4}
    assert found.p_value == 3 / 4


def test_p_values_of_normal_rows_are_uniform():
    """With the estimator itself: 60 p-values of 5 kinds."""
    n_null, counts = 4, np.zeros(5)
    for seed in range(60):
        X = np.random.default_rng(seed).normal(size=(30, 2)) * [3, 1]
        model = GPOD(2, affinity=Gaussian(sigma=1.0), n_init=1).fit(X)
        found = significance(model, n_null=n_null, random_state=seed)
        counts[round(5 * found.p_values["gaussian"]) - 1] += 1
        assert found.p_value >= found.p_values["gaussian"]
    assert chisquare(counts).pvalue > 0.01


@pytest.mark.parametrize("K", [2, 3])
def test_separated_blobs_always_have_the_smallest_p_value(cut, K):
    for seed in range(3):
        X = make_blobs(45 * K, 3, centers=8 * np.eye(K, 3), random_state=seed)[0]
        model = GPOD(K, cut=cut, affinity=Gaussian(), n_init=1).fit(X)
        assert significance(model, n_null=19, random_state=seed).p_value == 0.05


def test_moons_are_more_than_one_cluster():
    X, _ = make_moons(200, noise=0.06, random_state=1)
    found = significance(GPOD(2).fit(X), n_null=19)
    assert found.p_value == 0.05
    assert "are not one cluster (p = 0.05)" in str(found)


@pytest.mark.parametrize("seed", range(4))
def test_uniform_noise_in_ten_dimensions_may_be_one_cluster(seed):
    X = np.random.default_rng(seed).uniform(size=(250, 10))
    found = significance(GPOD(2, affinity=AFFINITY).fit(X), n_null=19, random_state=seed)
    assert found.p_value > 0.05
    assert "may be one cluster" in found.sentence


def test_it_is_reproducible_and_uses_some_of_many_rows():
    X = np.random.default_rng(0).normal(size=(120, 2))
    model = GPOD(2, affinity=AFFINITY).fit(X)
    first = significance(model, X, n_null=3, max_rows=50, random_state=7)
    second = significance(model, X, n_null=3, max_rows=50, random_state=7)
    assert first.n_rows == 50
    assert first.to_dict() == second.to_dict()
    other = significance(model, X, n_null=3, max_rows=50, random_state=8)
    assert first.to_dict() != other.to_dict()


def test_json_has_p_values_and_the_sentence():
    X = np.random.default_rng(0).normal(size=(60, 2))
    found = significance(GPOD(2, affinity=AFFINITY).fit(X), n_null=3)
    read = json.loads(json.dumps(found.to_dict()))
    assert read["p_value"] == found.p_value
    assert set(read["p_values"]) == set(read["null_statistics"]) == {"gaussian", "one cluster"}
    assert read["sentence"] == found.sentence


def test_sparse_rows_are_refused():
    X = sparse.random_array((60, 5), density=0.5, random_state=0).tocsr()
    model = GPOD(2, affinity=AFFINITY).fit(X)
    with pytest.raises(ValueError, match=r"X must be a dense array.*X\.toarray\(\)"):
        significance(model, X)


def test_counts_are_checked():
    model = GPOD(2).fit(np.random.default_rng(0).normal(size=(40, 2)))
    with pytest.raises(ValueError, match="n_null must be an integer of at least 1"):
        significance(model, n_null=0)


def test_few_simulations_claim_nothing():
    X, _ = make_moons(600, noise=0.07, random_state=0)
    found = significance(GPOD(2).fit(X), X, n_null=9)
    assert found.p_value == 0.1 and "9 simulations are too few" in found.sentence
