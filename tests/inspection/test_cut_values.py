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
from eigencut.inspection import assess, cut_value
from eigencut.theory.betting import round_robin
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


@pytest.fixture
def repeated_rows():
    rows = np.random.default_rng(3).normal(size=(40, 2))
    return np.concatenate([rows, rows[:11], rows[:4]])


@pytest.mark.parametrize("self_weights", [True, False])
def test_value_of_any_labels_is_the_mean_over_pairs(repeated_rows, cut, self_weights):
    labels = np.random.default_rng(0).integers(0, 3, len(repeated_rows))
    W = gaussian_weights(repeated_rows, 1.0)
    expected = by_loops(W, labels, 3, cut, self_weights)
    for X, affinity in ((repeated_rows, Gaussian(1.0)), (W, "precomputed")):
        found = cut_value(labels, X, cut=cut, affinity=affinity, self_weights=self_weights)
        np.testing.assert_allclose(found.per_cluster, expected, rtol=1e-10)
        assert found.value == pytest.approx(expected.sum())
        assert found.sizes.tolist() == np.bincount(labels).tolist()
        assert found.interval is None and found.n_rows == len(labels)


def test_training_value_is_the_trace_and_not_below_the_eigenvalues(repeated_rows, cut):
    model = GPOD(3, cut=cut, affinity=Gaussian(1.0)).fit(repeated_rows)
    W = gaussian_weights(repeated_rows, 1.0)
    found = cut_value(model)
    assert found.value == pytest.approx(trace_formula(W, model.labels_, 3, cut), rel=1e-10)
    assert found.value >= model.eigenvalues_.sum()
    again = cut_value(model.labels_, repeated_rows, cut=cut, affinity=Gaussian(1.0))
    assert again.value == pytest.approx(found.value, rel=1e-12)
    assert again.standard_error == pytest.approx(found.standard_error, rel=1e-9)


def test_no_partition_is_below_the_eigenvalues(cut):
    X = np.random.default_rng(0).normal(size=(8, 2))
    model = GPOD(3, cut=cut, affinity=Gaussian(1.0)).fit(X)
    W = gaussian_weights(X, 1.0)
    values = []
    for labels in itertools.product(range(3), repeat=8):
        if len(set(labels)) == 3 and labels[0] == 0:
            values.append(cut_value(labels, W, cut=cut, affinity="precomputed").value)
    assert len(values) > 1000 and min(values) >= model.eigenvalues_.sum() - 1e-12
    assert cut_value(model).value >= min(values) - 1e-12


def test_held_out_value_is_a_u_statistic(moons, cut):
    X, _ = moons
    model = GPOD(2, cut=cut, affinity=Gaussian(0.4)).fit(X[:200])
    found = cut_value(model, X[200:])
    W = gaussian_weights(X[200:], 0.4)
    expected = by_loops(W, model.predict(X[200:]), 2, cut, with_itself=False)
    np.testing.assert_allclose(found.per_cluster, expected, rtol=1e-10)
    other = {"ncut": "ratiocut", "ratiocut": "ncut"}[cut]
    assert cut_value(model, X[200:], cut=other).cut == other
    assert found.interval[0] <= found.value <= found.interval[1]


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
    found = cut_value(labels, X, cut=cut, affinity=Gaussian(1.0), self_weights=with_itself)
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


def test_interval_and_standard_error_hold_the_value_of_the_population(cut):
    """A population of which everything is known; the labels are those of one model."""
    P = make_moons(500, noise=0.2, random_state=0)[0]
    model = GPOD(2, cut=cut, affinity=Gaussian(0.6), n_jobs=1).fit(P[:200])
    truth = cut_value(model.predict(P), P, cut=cut, affinity=Gaussian(0.6)).value
    rng = np.random.default_rng(0)
    inside, covered, values, said = [], [], [], []
    for _ in range(100):
        found = cut_value(model, P[rng.integers(500, size=400)])
        inside.append(found.interval[0] <= truth <= found.interval[1])
        covered.append(abs(found.value - truth) < 1.96 * found.standard_error)
        values.append(found.value)
        said.append(found.standard_error)
    assert all(inside)
    assert np.mean(covered) > 0.88
    assert 0.8 < np.mean(said) / np.std(values, ddof=1) < 1.25


@pytest.mark.parametrize("m", [30, 150, 500])
def test_the_interval_is_valid_and_short_enough_to_use(cut, m):
    """Three blobs. Bernstein's interval was all of [0, 3] at 500 rows, for NCut."""
    rng = np.random.default_rng(m)

    def draw(n):
        return 4 * np.eye(3)[rng.integers(3, size=n)] + rng.normal(size=(n, 3))

    model = GPOD(3, cut=cut, affinity=Gaussian(2.0), n_jobs=1).fit(draw(200))
    truth = cut_value(model, draw(3000)).value
    ends = np.array([cut_value(model, draw(m)).interval for _ in range(20)])
    # By chance one of 20 misses at most, with probability 0.74 at 95 %; it is more in truth.
    assert np.mean((ends[:, 0] <= truth) & (truth <= ends[:, 1])) >= 0.95
    assert (ends >= 0).all() and (ends <= 3).all()
    assert np.diff(ends).mean() < {30: 3.0, 150: 2.3, 500: 1.2}[m]


def test_the_interval_depends_on_no_order_and_counts_weights_as_rows(cut):
    rng = np.random.default_rng(0)
    X = make_moons(260, noise=0.1, random_state=0)[0]
    model = GPOD(2, cut=cut, affinity=Gaussian(0.4), n_jobs=1).fit(X[:200])
    new, counts = X[200:], rng.integers(1, 4, size=60)
    found = cut_value(model, new, sample_weight=counts).interval
    again = cut_value(model, rng.permutation(np.repeat(new, counts, axis=0))).interval
    assert found == pytest.approx(again, rel=1e-9)
    assert cut_value(model, new, sample_weight=rng.uniform(1, 2, size=60)).interval is None


def test_pairs_are_disjoint_and_every_row_has_its_turn():
    for n in (1, 2, 7, 8, 33):
        one, other = round_robin(n, 5)
        assert one.shape == other.shape == (5, n // 2)
        for pairs in np.hstack([one, other]):
            assert len(set(pairs)) == len(pairs) and set(pairs) <= set(range(n))
    one, other = round_robin(8, 7)
    assert len({frozenset(pair) for pair in zip(one.ravel(), other.ravel(), strict=True)}) == 28


def test_no_interval_without_an_upper_bound_of_the_weights():
    """Heavy rows that the sample lacks: what was seen of C is no bound, and none covered."""

    def heavy(A, B):
        weight = np.exp(-((A - B.T) ** 2))
        return weight * (1 + 99 * (A > 3)) * (1 + 99 * (B.T > 3))

    X = np.random.default_rng(0).normal(size=(80, 1))
    model = GPOD(2, affinity=heavy, n_jobs=1).fit(X[:50])
    assert cut_value(model, X[50:]).interval is None
    assert cut_value(model, X[50:], largest_weight=1e4).interval is not None
    assert assess(model, X[50:]).cut_heldout.interval is None
    with pytest.raises(ValueError, match="largest_weight must be an upper bound of the weights"):
        cut_value(model, X[50:], largest_weight=0.1)


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
    landmarks = GPOD(2, cut=cut, affinity=Landmarks(60)).fit(X[:300])
    W = landmarks.affinity_.within(X[:300], np.eye(300))
    for with_itself in (True, False):
        found = cut_value(
            landmarks.labels_, X[:300], cut=cut, affinity=Landmarks(60), self_weights=with_itself
        )
        per_cluster = by_loops(W, landmarks.labels_, 2, cut, with_itself)
        np.testing.assert_allclose(found.per_cluster, per_cluster, rtol=1e-8)


def raises(message):
    return pytest.raises(ValueError, match=re.escape(message))


def test_errors_users_read(moons):
    X, _ = moons
    model = GPOD(2, affinity=Gaussian(0.4)).fit(X)
    with raises("X must have at least 3 rows to estimate an error and its standard error. Got 2;"):
        cut_value(model, X[:2])
    with raises("X must be given with labels. Got None; pass the rows they belong to."):
        cut_value(model.labels_)
    with raises("labels must hold one label for each of the 300 rows of X. Got shape (2,); pass"):
        cut_value([0, 1], X)
    with raises("affinity must be left out with a model, which has one. Got 'gaussian'; pass"):
        cut_value(model, X, affinity="gaussian")
    with raises("cut must be 'ncut' or 'ratiocut'. Got 'mincut'; use cut='ncut'."):
        cut_value(model, X, cut="mincut")
    with raises("model must have kept its training rows to be measured on them. Got Landmarks,"):
        cut_value(GPOD(2, affinity=Landmarks(50)).fit(X))
    with raises("confidence must be a number strictly between 0 and 1. Got 1;"):
        cut_value(model, X, confidence=1)
