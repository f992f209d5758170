"""What the discretization costs: loops, a counterexample, and bounds that are bounds."""

import math

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from sklearn.datasets import make_moons

from eigencut import GPOD, Gaussian, Landmarks
from eigencut.cut import CUTS
from eigencut.inspection import assess
from eigencut.inspection.assessment import cut_value
from eigencut.theory.errors import (
    DependentFunctionsError,
    RowPairs,
    constrained_error,
    cost_of_pairs,
)


def gaussian_weights(X, sigma):
    return np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) / (2 * sigma**2))


@pytest.mark.filterwarnings("ignore::eigencut.GraphWarning")
def test_rows_of_unit_length_have_no_epsilon():
    """300 + 2 points: with POD's gap for epsilon, the theorem's first term is no bound."""
    rng = np.random.default_rng(0)
    X = np.vstack([0.7 * rng.normal(size=(300, 2)), [[4.5, 0.0], [7.5, 0.0]]])
    model = GPOD(2, affinity=Gaussian(1.2)).fit(X)
    found, C = assess(model).cost, 1.0
    assert np.bincount(model.labels_).tolist() == [300, 2]
    assert found.cost == pytest.approx(cut_value(model).value - model.eigenvalues_.sum())
    gap = math.sqrt(2 / len(X)) * model.partition_.gap_history[-1]  # of both clusters, at least
    assert found.cost > 5 * 4 * C * gap
    assert found.cost < found.by_error < found.by_norm
    summary = assess(model)
    for bounds in (summary.bounds_paper, summary.bounds_tight):
        assert found.cost < bounds.terms["discretization"]


def test_cost_is_its_formula_in_loops(cut):
    """Indicators and functions of unit norm in L2(rho_M), the best rotation, a double loop."""
    X = make_moons(60, noise=0.2, random_state=0)[0]
    model = GPOD(2, cut=cut, affinity=Gaussian(0.5)).fit(X)
    found, n = assess(model).cost, len(X)
    W = gaussian_weights(X, 0.5)
    mass = W.mean(axis=1) if cut == "ncut" else np.ones(n)
    U = math.sqrt(n) * model.embedding_
    Z = np.zeros((n, 2))
    for k in range(2):
        share = sum(mass[i] for i in range(n) if model.labels_[i] == k) / n
        Z[model.labels_ == k, k] = 1 / math.sqrt(share)

    def norm(f):
        return math.sqrt(sum(mass[i] * f[i] ** 2 for i in range(n)) / n)

    def form(F):
        total = 0.0
        for i in range(n):
            for j in range(n):
                total += W[i, j] * ((F[i] - F[j]) ** 2).sum()
        return total / (2 * n**2)

    # Of two functions every rotation is an angle, perhaps mirrored: try them all.
    best = math.inf
    for angle in np.linspace(0, 2 * np.pi, 20001):
        c, s = math.cos(angle), math.sin(angle)
        for R in (np.array([[c, -s], [s, c]]), np.array([[c, s], [s, -c]])):
            square = (mass[:, None] * (Z - U @ R) ** 2).sum() / n
            if square < best:
                best, P = square, Z - U @ R
    epsilon = norm(P[:, 0]) + norm(P[:, 1])
    assert [norm(z) for z in Z.T] == pytest.approx([1, 1])
    assert found.epsilon == pytest.approx(epsilon, rel=1e-3)
    assert found.discrete == pytest.approx(form(Z), rel=1e-9)
    assert found.continuous == pytest.approx(model.eigenvalues_.sum(), rel=1e-9)
    by_error = math.sqrt(form(P)) * (math.sqrt(form(Z)) + math.sqrt(form(U)))
    assert found.by_error == pytest.approx(by_error, rel=1e-3)
    assert found.by_norm == pytest.approx({"ncut": 4, "ratiocut": 2}[cut] * epsilon, rel=1e-3)


@settings(max_examples=150)
@given(seed=st.integers(0, 10**6), cut=st.sampled_from(["ncut", "ratiocut"]))
def test_no_cost_is_above_its_bounds(seed, cut):
    """Any functions, any clusters, any weights up to C, on pairs of both kinds."""
    rng = np.random.default_rng(seed)
    n, K, C = int(rng.integers(5, 25)), int(rng.integers(2, 4)), rng.uniform(0.1, 3)
    X = rng.normal(size=(n, 2)) * rng.uniform(0.2, 5)
    W = C * gaussian_weights(X, 1.0) ** rng.integers(1, 3)
    F = rng.normal(size=(n, K)) if seed % 2 else np.eye(K)[rng.integers(0, K, n)] + 0.1 * X[:, :1]
    F += 1e-3 * rng.normal(size=F.shape)
    labels = rng.integers(0, K, n)
    for with_itself in (True, False):
        pairs = RowPairs(np.ones(n), W.diagonal(), lambda V: W @ V, with_itself)
        try:
            continuous = constrained_error(pairs, F, CUTS[cut])
        except DependentFunctionsError:  # rows so far apart that most have no weight
            reject()
        found = cost_of_pairs(pairs, continuous, labels, CUTS[cut], C)
        slack = 1e-9 * (1 + found.discrete)
        assert found.cost <= found.by_error + slack
        assert found.cost <= found.by_norm + slack


@pytest.mark.parametrize("extension", ["consistent", "paper"])
def test_bounds_hold_on_training_and_on_new_rows(cut, extension):
    for seed in range(4):
        X = make_moons(240, noise=0.25, random_state=seed)[0]
        model = GPOD(2 + seed % 2, cut=cut, affinity=Gaussian(0.5), extension=extension)
        model.fit(X[:140])
        for rows in (None, X[140:]):
            found = assess(model, rows).cost
            assert found.cost <= min(found.by_error, found.by_norm)
            assert found.discrete == pytest.approx(cut_value(model, rows).value)


@pytest.mark.parametrize("affinity", ["precomputed", Landmarks(60)])
def test_epsilon_without_training_rows(affinity, cut):
    """What is left of the fit suffices: norms need no weights."""
    X = make_moons(150, noise=0.1, random_state=0)[0]
    given = gaussian_weights(X, 0.4) if affinity == "precomputed" else X
    model = GPOD(2, cut=cut, affinity=affinity).fit(given)
    eps = assess(model).epsilon
    if affinity == "precomputed":
        same = GPOD(2, cut=cut, affinity=Gaussian(0.4)).fit(X)
        assert eps == pytest.approx(assess(same).epsilon, rel=1e-6)
    U, labels = model.embedding_, model.labels_
    assert 0 < eps < 2 * math.sqrt(2) and len(U) == len(labels)
