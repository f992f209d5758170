"""Excess risk measured: against a population of which everything is known."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_blobs, make_moons

from eigencut import GPOD, Gaussian, GraphWarning, Landmarks, Neighbors
from eigencut.cut import CUTS
from eigencut.inspection import assess
from eigencut.inspection.assessment import cut_value
from eigencut.theory import excess_risk
from eigencut.theory.errors import RowPairs, constrained_error, cut_of_pairs, empirical_error

POPULATIONS = {
    "moons": (make_moons(500, noise=0.1, random_state=0)[0], 2, 0.4),
    "blobs": (make_blobs(500, 2, centers=4 * np.eye(3, 2), random_state=0)[0], 3, 1.5),
}


def measured_excess(model, X):
    return assess(model, X).excess


def gaussian_weights(X, sigma):
    return np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) / (2 * sigma**2))


@pytest.mark.parametrize("name", POPULATIONS)
def test_measured_is_the_truth_on_average(name, cut):
    P, K, sigma = POPULATIONS[name]
    estimator = GPOD(K, cut=cut, affinity=Gaussian(sigma), n_init=1, n_jobs=1)
    reference = GPOD(K, cut=cut, affinity=Gaussian(sigma)).fit(P)
    best = reference.eigenvalues_.sum()
    W = gaussian_weights(P, sigma)
    pairs = RowPairs(np.ones(500), W.diagonal(), lambda V: W @ V, with_itself=True)
    rng, rows = np.random.default_rng(0), []
    for _ in range(40):
        A, B = P[rng.integers(500, size=150)], P[rng.integers(500, size=200)]
        model = estimator.fit(A)
        found = measured_excess(model, B)
        clusters = cut_of_pairs(pairs, model.predict(P), CUTS[cut], K).value - best
        truth = excess_risk(reference, model)
        rows.append([truth, found.continuous, found.continuous_error, clusters, found.discrete])
    truth, measured, said, clusters, discrete = np.array(rows).T
    error = (measured - truth).std(ddof=1) / np.sqrt(40)
    assert (truth > 0).all()
    assert measured.mean() - truth.mean() > -2 * error
    assert 0.15 < (measured < truth).mean() < 0.6  # on average only: not so for one sample
    assert measured.mean() - truth.mean() < 4 * truth.mean() + 3 * error  # but not by much
    assert 0.6 < np.mean(said) / (measured - truth).std(ddof=1) < 1.6
    error = (discrete - clusters).std(ddof=1) / np.sqrt(40)
    assert abs(discrete.mean() - clusters.mean()) < 3 * error + 4 * truth.mean()


def test_few_rows_make_little_bias():
    """n = 20, m = 60: with n / (n - 1) on the eigenvalues instead it was -0.033 here."""
    rng, estimator = np.random.default_rng(0), GPOD(2, affinity=Gaussian(3.0), n_init=1, n_jobs=1)
    reference = GPOD(2, affinity=Gaussian(3.0)).fit(rng.normal(size=(1500, 1)))
    differences = []
    for _ in range(200):
        model = estimator.fit(rng.normal(size=(20, 1)))
        measured = measured_excess(model, rng.normal(size=(60, 1))).continuous
        differences.append(measured - excess_risk(reference, model))
    error = np.std(differences) / np.sqrt(200)  # about 0.002
    assert error < 0.003
    assert abs(np.mean(differences)) < 0.004 + 2 * error


def test_constrained_error_is_the_trace_on_new_rows(cut):
    """tr(G^-1 E) over pairs of different rows, dense, and its spread by the jackknife."""
    P, K, sigma = POPULATIONS["moons"]
    model = GPOD(K, cut=cut, affinity=Gaussian(sigma)).fit(P[:200])
    new = P[200:300]
    F, W = model.transform(new), gaussian_weights(new, sigma)

    def trace(rows):
        m = len(rows)
        own = W[np.ix_(rows, rows)] * (1 - np.eye(m)) / (m - 1)
        D = np.diag(own.sum(axis=1))
        M = {"ncut": D, "ratiocut": np.eye(m)}[cut]
        return np.trace(np.linalg.solve(F[rows].T @ M @ F[rows], F[rows].T @ (D - own) @ F[rows]))

    every = np.arange(100)
    found = constrained_error(RowPairs.from_rows(model.affinity_, new), F, CUTS[cut])
    assert found.value == pytest.approx(trace(every), rel=1e-9)
    assert measured_excess(model, new).held_out == pytest.approx(found.value, rel=1e-9)
    left_out = np.array([trace(np.delete(every, i)) for i in every])
    jackknife = np.sqrt(99 / 100 * ((left_out - left_out.mean()) ** 2).sum())
    assert found.standard_error == pytest.approx(jackknife, rel=0.1)
    H, mass = found.functions, found.mass[:, None]
    np.testing.assert_allclose((mass * H).T @ H, np.eye(K), atol=1e-9)


def test_constrained_error_of_eigenvectors_is_their_sum(cut):
    P, K, sigma = POPULATIONS["blobs"]
    model = GPOD(K, cut=cut, affinity=Gaussian(sigma)).fit(np.vstack([P[:150], P[:20]]))
    pairs = RowPairs.from_training_rows(model.affinity_)
    functions = model.fitted_cut_.functions
    found = constrained_error(pairs, functions.eigenvectors(), CUTS[cut])
    np.testing.assert_allclose(found.per_function, model.eigenvalues_, atol=1e-10)


@pytest.mark.parametrize("affinity", [Gaussian(0.4), Neighbors(10), Landmarks(50), "auto"])
def test_every_graph_of_rows(affinity, cut):
    P, K, _ = POPULATIONS["moons"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphWarning)
        model = GPOD(K, cut=cut, affinity=affinity).fit(P[:350])
    found = measured_excess(model, P[350:])
    assert found.empirical == pytest.approx(empirical_error(model) * 349 / 350)
    assert found.held_out * 149 / 150 - found.empirical == pytest.approx(found.continuous)
    own = cut_value(model, P[350:]).value
    assert own * 149 / 150 - found.empirical == pytest.approx(found.discrete)
    assert all(np.isfinite(list(found.to_dict().values())))


def test_functions_that_cannot_be_told_apart_have_no_excess():
    P, K, sigma = POPULATIONS["blobs"]
    model = GPOD(K, affinity=Gaussian(sigma)).fit(P[:150])
    summary = assess(model, np.tile(P[:1], (5, 1)))
    assert summary.excess is None
    assert "X must have rows on which the 3 eigenfunctions are lin" in summary.notes[0]
