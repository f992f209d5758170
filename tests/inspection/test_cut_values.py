"""Cut values: loops over pairs, the trace formula, the jackknife row by row, and coverage."""

import itertools
import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import make_moons

from eigencut import GPOD, Gaussian, Landmarks, Neighbors
from eigencut.cut import CUTS
from eigencut.inspection.assessment import cut_value
from eigencut.theory.errors import RowPairs, cut_of_pairs


def gaussian_weights(X, sigma):
    return np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) / (2 * sigma**2))


def by_loops(W, labels, K, cut, with_itself):
    """c_k / v_k, each a mean over pairs."""
    n, found = len(W), []
    for k in range(K):
        leaving, volume = [], []
        for i in range(n):
            for j in range(n):
                if i != j or with_itself:
                    leaving.append(W[i][j] * (labels[i] == k) * (labels[j] != k))
                    volume.append((W[i][j] if cut == "ncut" else 1.0) * (labels[i] == k))
        found.append(np.mean(leaving) / np.mean(volume) if np.sum(volume) > 0 else np.nan)
    return np.array(found)


def trace_formula(W, labels, K, cut):
    """tr((Z^T M Z)^-1 Z^T L Z) with weights W / n."""
    W = W / len(W)
    D = np.diag(W.sum(axis=1))
    M = {"ncut": D, "ratiocut": np.eye(len(W))}[cut]
    Z = np.eye(K)[labels]
    return np.trace(np.linalg.solve(Z.T @ M @ Z, Z.T @ (D - W) @ Z))


def value_of(labels, W, cut, with_itself=True):
    """The value of any partition, given the weights of all pairs."""
    pairs = RowPairs(np.ones(len(W)), W.diagonal(), lambda V: W @ V, with_itself)
    return cut_of_pairs(pairs, np.asarray(labels), CUTS[cut], max(labels) + 1)


@pytest.fixture
def repeated_rows():
    rows = np.random.default_rng(3).normal(size=(40, 2))
    return np.concatenate([rows, rows[:11], rows[:4]])


@pytest.mark.parametrize("self_weights", [True, False])
def test_value_of_any_labels_is_the_mean_over_pairs(repeated_rows, cut, self_weights):
    labels = np.random.default_rng(0).integers(0, 3, len(repeated_rows))
    W = gaussian_weights(repeated_rows, 1.0)
    expected = by_loops(W, labels, 3, cut, self_weights)
    found = value_of(labels, W, cut, self_weights)
    np.testing.assert_allclose(found.per_cluster, expected, rtol=1e-10)
    assert found.value == pytest.approx(expected.sum())
    assert found.sizes.tolist() == np.bincount(labels).tolist()
    assert found.n_rows == len(labels)


def test_training_value_is_the_trace_and_not_below_the_eigenvalues(repeated_rows, cut):
    model = GPOD(3, cut=cut, affinity=Gaussian(1.0)).fit(repeated_rows)
    W = gaussian_weights(repeated_rows, 1.0)
    found = cut_value(model)
    assert found.value == pytest.approx(trace_formula(W, model.labels_, 3, cut), rel=1e-10)
    assert found.value >= model.eigenvalues_.sum()
    again = value_of(model.labels_, W, cut)
    assert again.value == pytest.approx(found.value, rel=1e-12)
    assert again.standard_error == pytest.approx(found.standard_error, rel=1e-9)


def test_no_partition_is_below_the_eigenvalues(cut):
    X = np.random.default_rng(0).normal(size=(8, 2))
    model = GPOD(3, cut=cut, affinity=Gaussian(1.0)).fit(X)
    W = gaussian_weights(X, 1.0)
    values = []
    for labels in itertools.product(range(3), repeat=8):
        if len(set(labels)) == 3 and labels[0] == 0:
            values.append(value_of(labels, W, cut).value)
    assert len(values) > 1000 and min(values) >= model.eigenvalues_.sum() - 1e-12
    assert cut_value(model).value >= min(values) - 1e-12


def test_held_out_value_is_a_u_statistic(moons, cut):
    X, _ = moons
    model = GPOD(2, cut=cut, affinity=Gaussian(0.4)).fit(X[:200])
    found = cut_value(model, X[200:])
    W = gaussian_weights(X[200:], 0.4)
    expected = by_loops(W, model.predict(X[200:]), 2, cut, with_itself=False)
    np.testing.assert_allclose(found.per_cluster, expected, rtol=1e-10)


@pytest.mark.parametrize("with_itself", [True, False])
def test_standard_error_is_the_jackknife_row_by_row(repeated_rows, cut, with_itself):
    X, n = repeated_rows, len(repeated_rows)
    labels = np.random.default_rng(1).integers(0, 3, n)
    W = gaussian_weights(X, 1.0)
    left_out = []
    for i in range(n):
        rest = np.delete(np.arange(n), i)
        of_rest = by_loops(W[np.ix_(rest, rest)], labels[rest], 3, cut, with_itself)
        left_out.append(np.nansum(of_rest))
    expected = math.sqrt((n - 1) / n * np.sum((np.array(left_out) - np.mean(left_out)) ** 2))
    found = value_of(labels, W, cut, with_itself)
    assert found.standard_error == pytest.approx(expected, rel=1e-8)


@given(seed=st.integers(0, 10**6), cut=st.sampled_from(["ncut", "ratiocut"]))
def test_any_partition_of_any_weights(seed, cut):
    """Clusters without rows, rows without weights: loops and sums agree, and nothing breaks."""
    rng = np.random.default_rng(seed)
    n, K = int(rng.integers(3, 9)), int(rng.integers(1, 4))
    W = rng.uniform(size=(n, n)) * (rng.uniform(size=(n, n)) < 0.5)
    W = np.triu(W) + np.triu(W, 1).T
    labels = rng.integers(0, K, n)
    for with_itself in (True, False):
        pairs = RowPairs(np.ones(n), W.diagonal(), lambda V: W @ V, with_itself)
        found = cut_of_pairs(pairs, labels, CUTS[cut], K)
        expected = by_loops(W, labels, K, cut, with_itself)
        np.testing.assert_allclose(found.per_cluster, expected, atol=1e-12)
        assert math.isfinite(found.value) and math.isfinite(found.standard_error)


def test_the_standard_error_is_that_of_the_population(cut):
    """A population of which everything is known; the labels are those of one model."""
    P = make_moons(500, noise=0.2, random_state=0)[0]
    model = GPOD(2, cut=cut, affinity=Gaussian(0.6), n_jobs=1).fit(P[:200])
    truth = value_of(model.predict(P), gaussian_weights(P, 0.6), cut).value
    rng = np.random.default_rng(0)
    covered, values, said = [], [], []
    for _ in range(100):
        found = cut_value(model, P[rng.integers(500, size=400)])
        covered.append(abs(found.value - truth) < 1.96 * found.standard_error)
        values.append(found.value)
        said.append(found.standard_error)
    assert np.mean(covered) > 0.88
    assert 0.8 < np.mean(said) / np.std(values, ddof=1) < 1.25


@pytest.mark.filterwarnings("ignore::eigencut.GraphWarning")
@pytest.mark.parametrize("affinity", [Neighbors(5, density_contrast=1.0)])
def test_no_new_pair_weighs_more_than_the_bound(affinity):
    """The largest factor of training rows is none: 6 of 40 fits had heavier new pairs."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        fitted = clone(affinity).fit(rng.standard_t(2, size=(40, 2)))
        heaviest = fitted.within(rng.standard_t(2, size=(300, 2)), np.eye(300)).max()
        assert heaviest <= fitted.weight_bound_ * (1 + 1e-12)


@pytest.mark.filterwarnings("ignore::eigencut.GraphWarning")
def test_graphs_of_neighbours_and_landmarks(cut):
    X = make_moons(400, noise=0.15, random_state=0)[0]
    model = GPOD(2, cut=cut, affinity=Neighbors(8)).fit(X[:300])
    graph = Neighbors(8).fit_graph(X[:300])
    vertices = {row.tobytes(): i for i, row in enumerate(model.affinity_.rows_)}
    order = [vertices[row.tobytes()] for row in X[:300]]
    W = graph.dense()[np.ix_(order, order)]
    expected = trace_formula(W, model.labels_, 2, cut)
    assert cut_value(model).value == pytest.approx(expected, rel=1e-8)
    assert cut_value(model, X[300:]).value >= 0


def raises(message):
    return pytest.raises(ValueError, match=re.escape(message))


def test_errors_users_read(moons):
    X, _ = moons
    model = GPOD(2, affinity=Gaussian(0.4)).fit(X)
    with raises("X must have at least 3 rows to estimate an error and its standard error. Got 2;"):
        cut_value(model, X[:2])
    with raises("model must have kept its training rows to be measured on them. Got Landmarks,"):
        cut_value(GPOD(2, affinity=Landmarks(50)).fit(X))
