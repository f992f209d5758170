"""Risk: identities, unbiasedness, a second transcription of the bounds, and the learning curve."""

import json
import math
import re
import warnings
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_moons

from eigencut import GPOD, Gaussian, GraphWarning, Landmarks, Neighbors
from eigencut.inspection import assess
from eigencut.inspection.assessment import cut_value
from eigencut.theory import (
    bounds,
    excess_risk,
    learning_curve,
)
from eigencut.theory.bounds import THEORIES
from eigencut.theory.errors import empirical_error

OVERLAPPING = {
    "moons": (lambda n: make_moons(n, noise=0.1, random_state=0)[0], 2, 0.4),
    "rectangle": (lambda n: np.random.default_rng(0).uniform(size=(n, 2)) * [3, 1], 2, 0.4),
    "blobs": (lambda n: make_blobs(n, 4, centers=4 * np.eye(3, 4), random_state=0)[0], 3, 1.5),
}


@pytest.fixture
def repeated_rows():
    rows = np.random.default_rng(3).normal(size=(40, 2))
    return np.concatenate([rows, rows[:11], rows[:4]])


def gaussian_weights(X, sigma):
    return np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) / (2 * sigma**2))


def weights_between(A, B):
    return np.exp(-((A[:, None] - B[None]) ** 2).sum(axis=2) / (2 * 0.4**2))


def double_loop(weights, U):
    """Eq. 3, as it is written."""
    n, total = len(U), 0.0
    for k in range(U.shape[1]):
        for i in range(n):
            for j in range(n):
                if i != j:
                    total += weights[i, j] * (U[i, k] - U[j, k]) ** 2
    return total / (2 * n * (n - 1))


# ------------------------------------------------------------------ errors


def test_empirical_error_is_eq_3_and_a_sum_of_eigenvalues(repeated_rows, cut):
    n = len(repeated_rows)
    model = GPOD(3, cut=cut, affinity=Gaussian(sigma=1.0)).fit(repeated_rows)
    W, U, total = gaussian_weights(repeated_rows, 1.0), model.embedding_, model.eigenvalues_.sum()

    population = empirical_error(model)
    assert population == pytest.approx(n / (n - 1) * total, rel=1e-10)
    assert population == pytest.approx(double_loop(W, math.sqrt(n) * U), rel=1e-10)


def test_empirical_error_of_precomputed_affinities(repeated_rows, cut):
    W = gaussian_weights(repeated_rows, 1.0)
    n, model = len(W), GPOD(2, cut=cut, affinity="precomputed").fit(W)
    assert empirical_error(model) == pytest.approx(n / (n - 1) * model.eigenvalues_.sum(), rel=1e-9)


def test_population_error_is_the_u_statistic(moons, cut):
    X, _ = moons
    model = GPOD(3, cut=cut, affinity=Gaussian(sigma=0.4)).fit(X[:240])
    estimate = population_error(model, X[240:])
    F = math.sqrt(240) * model.transform(X[240:])
    W = gaussian_weights(X[240:], 0.4)
    expected = [double_loop(W, F[:, [k]]) for k in range(3)]
    np.testing.assert_allclose(estimate.per_function, expected, rtol=1e-9, atol=1e-12)
    assert estimate.value == pytest.approx(sum(expected))
    assert estimate.value == pytest.approx(-3 * model.score(X[240:]))
    h1 = (W[:, :, None] * (F[:, None] - F[None]) ** 2).sum(axis=(1, 2)) / (2 * 59)
    assert estimate.standard_error == pytest.approx(2 * h1.std(ddof=1) / math.sqrt(60))
    assert estimate.n_rows == 60


def test_population_error_is_unbiased_and_knows_its_spread(cut):
    def sample(n, seed):
        return make_moons(n, noise=0.1, random_state=seed)[0]

    model = GPOD(2, cut=cut, affinity=Gaussian(sigma=0.4), n_jobs=1).fit(sample(200, 0))
    truth = population_error(model, sample(3000, 1))
    # make_moons puts exactly half of the rows on each moon: rows of a larger sample are i.i.d.
    pool, rng = sample(60_000, 2), np.random.default_rng(0)
    draws = [population_error(model, rng.choice(pool, 150)) for _ in range(200)]
    values = np.array([draw.value for draw in draws])
    error = math.hypot(values.std(ddof=1) / math.sqrt(200), truth.standard_error)
    assert abs(values.mean() - truth.value) < 3 * error
    reported = np.mean([draw.standard_error for draw in draws])
    assert 0.7 < reported / values.std(ddof=1) < 1.4
    covered = [abs(d.value - truth.value) < 1.96 * d.standard_error for d in draws]
    assert np.mean(covered) > 0.88


def algorithm_1_on(model, X, rows):
    """Algorithm 1's functions, the constant among them, orthonormal on X; at the given rows."""

    def functions(at):
        W = weights_between(at, X)
        s = W.mean(axis=1, keepdims=True)
        values = (s - W) @ model.embedding_ / len(X) / np.sqrt(np.maximum(model.eigenvalues_, 1e-9))
        return np.column_stack([np.ones(len(at)), values[:, 1:]])

    G = functions(X).T @ functions(X) / len(X)
    return functions(rows) @ np.linalg.inv(np.linalg.cholesky(G)).T


def test_errors_of_algorithm_1_are_of_functions_of_unit_norm(moons):
    """As tr(G^-1 E), not of functions that are smaller and smaller with lambda."""
    X, _ = moons
    train, new = X[:150], X[150:]
    model = GPOD(3, cut="ratiocut", affinity=Gaussian(0.4), extension="paper").fit(train)
    F, W = algorithm_1_on(model, train, new), gaussian_weights(new, 0.4)
    expected = [double_loop(W, F[:, [k]]) for k in range(3)]
    found = population_error(model, new)
    np.testing.assert_allclose(found.per_function, expected, rtol=1e-7, atol=1e-10)
    assert -3 * model.score(new) == pytest.approx(sum(expected), rel=1e-7)
    # On the training rows themselves: by Ky Fan, not below the eigenvectors; and not by far.
    own = population_error(model, train).value
    assert empirical_error(model) < own < 2 * empirical_error(model)
    U = algorithm_1_on(model, train, train)
    assert pytest.approx((U**2).max(), rel=1e-6) == assess(model).B


def test_precomputed_score_of_algorithm_1(moons):
    X, _ = moons
    W = gaussian_weights(X, 0.4)
    parameters = dict(cut="ratiocut", extension="paper")
    matrix = GPOD(2, affinity="precomputed", **parameters).fit(W[:200, :200])
    rows = GPOD(2, affinity=Gaussian(0.4), **parameters).fit(X[:200])
    F, U = (algorithm_1_on(rows, X[:200], at) for at in (X[200:], X[:200]))
    crossed = (W[200:, :200, None] * (F[:, None] - U[None]) ** 2).sum() / (2 * 100 * 200)
    assert matrix.score(W[200:, :200]) == pytest.approx(-crossed / 2, rel=1e-6)


# ------------------------------------------------------------------ bounds


def paper_bounds(cut, n, K, C, B, kappa, eps, delta, factor):
    """The displays of Theorems 1 to 4 and Corollaries 1 and 2, typed a second time.

    The discretization's term is the paper's for its factor, and else 2 eps sup E(u)/||u||^2.
    """
    complexity = n**-0.5 if factor == 2 else 0.5 * max(n // 2, 1) ** -0.5
    first = 8 * C * B * K * (complexity + factor * (2 * math.log(1 / delta) / n) ** 0.5)
    if cut == "ratiocut":
        second = K * (2 * kappa * (2 * math.log(2 / delta)) ** 0.5) / n**0.5
        corollary = K * (2 * 2**0.5 * kappa * math.log(2 / delta) ** 0.5) / n**0.5
    else:
        second = K * C * (math.log(2 / delta) / n) ** 0.5
        corollary = second
    gap = 4 * C * eps if factor == 2 else 2 * {"ratiocut": C, "ncut": 2}[cut] * eps
    return first + second, gap + first + second, corollary


sizes_of_things = st.floats(0, 1e3)


@given(
    cut=st.sampled_from(["ncut", "ratiocut"]),
    n=st.integers(1, 10**7),
    K=st.integers(1, 50),
    C=sizes_of_things,
    B=sizes_of_things,
    kappa=sizes_of_things,
    eps=sizes_of_things,
    delta=st.floats(1e-6, 0.49),
)
def test_bounds_are_those_of_the_paper(cut, n, K, C, B, kappa, eps, delta):
    constants = dict(C=C, B=B, kappa=kappa, eps=eps, delta=delta)
    found = {c: bounds(cut, n, K, constant=c, **constants) for c in ("paper", "tight")}
    for constant, factor in (("paper", 2), ("tight", 0.25)):
        result = found[constant]
        expected = paper_bounds(cut, n, K, C, B, kappa, eps, delta, factor)
        values = (result.continuous, result.discrete, result.generalization)
        assert values == pytest.approx(expected, rel=1e-12)
        assert sum(result.terms.values()) == pytest.approx(result.discrete, rel=1e-12)
    assert found["tight"].continuous <= found["paper"].continuous
    if cut == "ratiocut" or C >= 1:
        assert found["tight"].discrete <= found["paper"].discrete
    assert found["tight"].generalization == found["paper"].generalization


def test_tight_constant_is_what_mcdiarmid_gives():
    """exp(-2 t^2 / (n c^2)) = delta at the deviation t of the supremum, c = 8 C B / n."""
    n, K, C, B, delta = 700, 3, 0.8, 2.5, 0.03
    terms = bounds("ncut", n, K, C=C, B=B, kappa=0, eps=0, delta=delta, constant="tight").terms
    t = terms["deviation from the mean"] / (K / 2)
    assert math.exp(-2 * t**2 / (n * (8 * C * B / n) ** 2)) == pytest.approx(delta)


@given(seed=st.integers(0, 1000), cut=st.sampled_from(["ncut", "ratiocut"]))
def test_no_error_is_above_the_largest(seed, cut):
    """Any orthonormal functions, not only eigenvectors."""
    rng = np.random.default_rng(seed)
    n, K, X = 12, 3, rng.normal(size=(12, 2))
    W = gaussian_weights(X, rng.uniform(0.1, 3))
    mass = {"ncut": W.mean(axis=1), "ratiocut": np.ones(n)}[cut]
    F = np.linalg.qr(rng.normal(size=(n, K)))[0] * np.sqrt(n / mass)[:, None]
    error = (W[:, :, None] * (F[:, None] - F[None]) ** 2).sum() / (2 * n**2)
    assert error <= THEORIES[cut].largest_error(K, 1.0, (F**2).max()) * (1 + 1e-12)


def test_largest_error():
    assert THEORIES["ratiocut"].largest_error(4, 0.5, 100.0) == 2.0
    assert THEORIES["ncut"].largest_error(4, 0.5, 100.0) == 8.0
    assert THEORIES["ratiocut"].largest_error(4, 0.5, 0.1) == pytest.approx(0.4)
    assert THEORIES["ncut"].largest_error(4, 0.5, 0.1) == pytest.approx(0.4)


# ----------------------------------------------------------------- summary


@pytest.mark.parametrize("heldout", [False, True])
def test_assess_collects_what_the_parts_say(moons, cut, heldout):
    X, _ = moons
    model = GPOD(2, cut=cut, affinity=Gaussian(sigma=0.4)).fit(X[:200])
    new = X[200:] if heldout else None
    summary = assess(model, new)
    degrees = gaussian_weights(X[:200], 0.4).mean(axis=1)
    B = 200 * (model.transform(X if heldout else X[:200]) ** 2).max()
    assert (summary.cut, summary.n_rows, summary.n_clusters) == (cut, 200, 2)
    assert summary.C == 1.0
    assert math.isclose(summary.B, B)
    assert summary.kappa == pytest.approx((1 - degrees).max())
    assert summary.empirical_error == empirical_error(model)
    assert (summary.population_error is None) == (not heldout)
    constants = dict(C=1.0, B=summary.B, kappa=summary.kappa, eps=summary.epsilon)
    assert summary.bounds_paper == bounds(cut, 200, 2, **constants)
    assert summary.bounds_tight == bounds(cut, 200, 2, constant="tight", **constants)
    assert summary.largest_error == THEORIES[cut].largest_error(2, 1.0, summary.B)
    assert summary.vacuous == (summary.bounds_paper.continuous >= summary.largest_error)
    assert summary.epsilon == summary.cost.epsilon
    own = cut_value(model, self_weights=False)
    assert summary.cut_training.to_dict() == own.to_dict()
    margins = model.predict_margin(X[:200] if new is None else new)
    assert summary.ambiguous == pytest.approx((margins < 0.1).mean())
    if heldout:
        assert summary.cut_heldout.to_dict() == cut_value(model, new).to_dict()
        least = np.quantile(np.log((200 * degrees - 1) / 199), 0.01)
        assert summary.outliers == (model.score_samples(new) < least).mean()


def test_the_report_leads_with_what_can_be_acted_on(moons):
    X, _ = moons
    model = GPOD(2, affinity=Gaussian(0.4)).fit(X[:200])
    text = str(assess(model, X[200:], theory=True))
    order = [
        "cut value",
        "conductance of each cluster",
        "outliers",
        "ambiguous rows",
        "eigenvalues",
        "excess risk, measured",
        "The paper's bounds (delta = 0.05)",
        "Bounds of the excess risk",
        "Notes",
    ]
    places = [text.index(name) for name in order]
    assert places == sorted(places)
    bounds_of = [line for line in text.splitlines() if line.startswith("  = ")]
    assert [line.endswith(" vacuous") for line in bounds_of] == [True, True, False]
    on_training = str(assess(model))
    assert "On the training rows" in on_training and "excess risk, measured" not in on_training


def test_theory_is_shown_to_those_who_ask(moons):
    X, _ = moons
    text = str(assess(GPOD(2, affinity=Gaussian(0.4)).fit(X[:200]), X[200:]))
    assert len(text.splitlines()) < 20
    assert not any(word in text for word in ("bound", "Bound", "Notes", "eigenvalue", "excess"))


def test_training_rows_are_recognized(moons):
    X, _ = moons
    model = GPOD(2).fit(X[:200])
    assert assess(model, X[200:]).cautions == ()
    (caution,) = assess(model, X[:200]).cautions
    assert caution.startswith("100% of these rows are identical to training rows")
    assert "held out" in " ".join(str(assess(model, X[:200])).split())


def test_cut_values_that_do_not_compare_are_not_printed(moons):
    X, _ = moons
    text = str(assess(GPOD(2, solver="discrete").fit(X[:200]), X[200:]))
    assert "leaves each cluster" in text and "cut value" not in text and "Notes" not in text


def test_held_out_rows_of_one_cluster_leave_the_rest_of_the_report(blobs):
    X, _ = blobs
    model = GPOD(4, affinity=Gaussian(3.0)).fit(X[:200])
    one_place = np.tile(X[200:201], (5, 1))
    summary = assess(model, one_place)
    assert summary.excess is None and summary.cost is None
    assert summary.cut_heldout.value == 0 and summary.population_error.value < 1e-12
    assert "The excess risk was not measured. X must have rows on which" in summary.notes[0]
    assert summary.epsilon == pytest.approx(assess(model).epsilon, rel=1e-12)
    json.dumps(summary.to_dict(), allow_nan=False)


def test_where_neither_rows_nor_the_model_know_epsilon(moons):
    """Landmarks that were updated keep no embedding, and these rows are one place."""
    X = moons[0]
    model = GPOD(3, affinity=Landmarks(30)).fit(X).update(X[:50])
    summary = assess(model, np.tile(X[:1], (4, 1)), theory=True)
    for bound in (summary.bounds_paper, summary.bounds_tight):
        assert math.isnan(bound.discrete) and bound.continuous > 0
        assert math.isnan(bound.terms["discretization"])
    assert math.isnan(summary.epsilon) and summary.to_dict()["epsilon"] is None
    json.dumps(summary.to_dict(), allow_nan=False)
    assert "(Theorem 4)\n" in str(replace(summary, theory=True))


def test_results_of_refits_are_shown_with_the_rest(moons):
    @dataclass(frozen=True)
    class Found:
        mean: float = 0.9
        p_value: float = 0.01

        def to_dict(self):
            return {"p_value": self.p_value, "words": "of its own"}

    summary = assess(GPOD(2).fit(moons[0]), significance=Found(), stability=Found())
    assert "p = 0.01" in str(summary) and "90.0% of labels stay" in str(summary)
    assert summary.to_dict()["significance"] == {"p_value": 0.01, "words": "of its own"}


def test_assess_survives_json_and_prints(moons, cut):
    X, _ = moons
    summary = assess(GPOD(2, cut=cut).fit(X[:200]), X[200:])
    plain = summary.to_dict()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert plain["population_error"]["n_rows"] == 100
    assert plain["bounds_paper"]["terms"] == summary.bounds_paper.terms
    text = str(replace(summary, theory=True))
    for name in (*summary.bounds_paper.terms, "continuous", "discrete", "generalization"):
        assert name in text
    assert all(len(line) <= 100 for line in text.splitlines())
    assert "100 held-out rows" in text
    assert "held-out rows" not in str(assess(GPOD(2).fit(X))).split("Notes")[0]
    assert plain["cut_heldout"]["n_rows"] == 100
    many = assess(GPOD(20, cut=cut, affinity="gaussian").fit(X), X[200:])
    assert all(len(line) <= 100 for line in str(many).splitlines())


def test_notes_say_what_to_keep_in_mind(moons):
    X, _ = moons

    def notes(**parameters):
        return " ".join(assess(GPOD(2, **parameters).fit(X)).notes)

    assert "edges of this graph depend on the sample" in notes()
    auto = notes(affinity="gaussian")
    assert "vacuous" in auto
    assert "fixed before seeing the data; here sigma was 'auto'" in auto
    assert "L(x, x) = d(x) - W(x, x) is nowhere positive" in auto
    assert "Rosasco et al. (2010), Theorem 15" in auto
    fixed = notes(affinity=Gaussian(sigma=0.4), cut="ratiocut")
    assert "before seeing the data" not in fixed
    assert "Rosasco" not in fixed
    frozen = GPOD(2, affinity="gaussian").fit(X).affinity_.frozen()
    assert "here sigma was a function" in notes(affinity=frozen)
    matrix = assess(GPOD(2, affinity="precomputed").fit(gaussian_weights(X, 0.4)))
    assert "only you know" in " ".join(matrix.notes)


def test_a_bound_can_be_worth_something():
    """Many rows and flat functions; with the constants at hand the rest is arithmetic."""
    n = 10**8
    result = bounds("ncut", n, 2, C=1.0, B=1.5, kappa=1.0, eps=0.0)
    assert result.continuous < 0.02 < THEORIES["ncut"].largest_error(2, 1.0, 1.5)


# ----------------------------------------------------------- learning curve


@pytest.mark.parametrize("name", OVERLAPPING)
def test_excess_risk_falls_at_the_rate_of_theory_or_faster(name, cut):
    make, K, sigma = OVERLAPPING[name]
    model = GPOD(K, cut=cut, affinity=Gaussian(sigma=sigma), n_jobs=1)
    # From 100 rows on: smaller samples are not yet where the rate shows.
    curve = learning_curve(model, make(2000), [100, 160, 250, 400, 640], n_repeats=20)
    assert (curve.excess >= -1e-12).all()
    assert -1.3 < curve.slope < -0.35
    assert curve.slope_interval[0] < curve.slope < curve.slope_interval[1] < -0.5
    assert curve.excess.shape == (5, 20)
    assert "Doubling the data would lower the risk by about" in curve.sentence


def test_default_sizes_are_a_geometric_progression():
    X = np.random.default_rng(0).normal(size=(800, 1))
    few = learning_curve(GPOD(2, affinity=Gaussian(1.0)), X, n_repeats=1)
    np.testing.assert_array_equal(few.sizes, [50, 66, 87, 115, 152, 200])
    many = learning_curve(GPOD(8, affinity=Gaussian(0.1)), X, n_repeats=1)
    assert (many.sizes[0], many.sizes[-1], len(many.sizes)) == (80, 200, 6)


def test_excess_risk_is_zero_on_all_rows(repeated_rows, cut):
    model = GPOD(3, cut=cut, affinity="gaussian")
    reference = clone(model).fit(repeated_rows)
    again = clone(model).set_params(affinity=reference.affinity_.frozen()).fit(repeated_rows[::-1])
    assert abs(excess_risk(reference, reference)) < 1e-12
    assert abs(excess_risk(reference, again)) < 1e-12
    # Twice the same rows are the same measure.
    twice = clone(again).fit(np.concatenate([repeated_rows, repeated_rows]))
    assert abs(excess_risk(reference, twice)) < 1e-12


@pytest.mark.filterwarnings("ignore::eigencut.GraphWarning")
def test_excess_risk_is_the_constrained_problem_on_the_population(repeated_rows, cut):
    """trace(G^-1 E), dense and row by row, without knowing of multiplicities."""
    affinity = Gaussian(sigma=1.0)
    reference = GPOD(3, cut=cut, affinity=affinity).fit(repeated_rows)
    model = GPOD(3, cut=cut, affinity=affinity).fit(repeated_rows[5:30])
    W = gaussian_weights(repeated_rows, 1.0) / len(repeated_rows)
    D = np.diag(W.sum(axis=1))
    M = {"ncut": D, "ratiocut": np.eye(len(W))}[cut]
    U = model.transform(repeated_rows)
    F = np.trace(np.linalg.solve(U.T @ M @ U, U.T @ (D - W) @ U))
    expected = F - reference.eigenvalues_.sum()
    assert expected > 1e-4
    assert excess_risk(reference, model) == pytest.approx(expected, rel=1e-8)


def test_samples_of_a_learning_curve_depend_on_the_rows_and_not_on_their_order(moons):
    """A seed alone would draw the same ranks of sorted rows again and again."""
    X, model = moons[0], GPOD(2, affinity=Gaussian(0.4))
    first, turned, moved = (
        learning_curve(model, rows, [30, 60], n_repeats=2).excess for rows in (X, X[::-1], X + 1.0)
    )
    assert turned == pytest.approx(first, rel=1e-9)
    assert (np.abs(moved / first - 1) > 1e-6).all()


def test_learning_curve_reproduces_itself_and_leaves_the_estimator_alone(moons):
    X, _ = moons
    model = GPOD(2, random_state=3)
    first, second = (learning_curve(model, X, [30, 60], n_repeats=3) for _ in range(2))
    np.testing.assert_array_equal(first.excess, second.excess)
    assert not hasattr(model, "labels_") and model.affinity == "auto"
    other = learning_curve(model, X, [30, 60], n_repeats=3, random_state=1)
    assert (other.excess != first.excess).any()
    assert (first.excess >= -1e-12).all()
    np.testing.assert_array_equal(learning_curve(model, X, [60, 30], n_repeats=3).sizes, [30, 60])


def test_learning_curve_fits_the_line_of_least_squares(moons):
    from scipy.stats import linregress, t

    model = GPOD(2, affinity=Gaussian(0.4))
    curve = learning_curve(model, moons[0], [30, 60, 120], n_repeats=20)
    x = np.log(np.repeat(curve.sizes, 20))
    line = linregress(x, np.log(curve.excess.ravel()))
    reach = t.ppf(0.975, len(x) - 2) * line.stderr
    assert curve.slope == pytest.approx(line.slope)
    assert curve.intercept == pytest.approx(line.intercept)
    assert curve.slope_interval == pytest.approx((line.slope - reach, line.slope + reach))
    gain = np.diff(np.exp(line.intercept + line.slope * np.log([600, 300])))[0]
    assert f"by about {gain:.2g} (" in curve.sentence
    share = gain / (curve.risk_of_all + np.exp(line.intercept + line.slope * np.log(300)))
    assert f"({100 * share:.2g} % of it)" in curve.sentence


def test_learning_curve_survives_json_and_prints(moons):
    curve = learning_curve(GPOD(2, affinity=Gaussian(0.4)), moons[0], [30, 60, 90])
    plain = curve.to_dict()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert np.shape(plain["excess"]) == (3, 8)
    text = str(curve)
    assert curve.sentence in text and f"{curve.slope:.2f}" in text and "-0.5" in text


def test_learning_curve_where_there_is_nothing_to_learn():
    """Two places: every sample that has seen both knows everything."""
    X = np.repeat([[0.0], [1.0]], 200, axis=0)
    curve = learning_curve(GPOD(2, affinity=Gaussian(1.0)), X, [20, 40])
    assert np.abs(curve.excess).max() < 1e-12
    assert math.isnan(curve.slope)
    assert "already reach the risk of all rows" in curve.sentence
    assert curve.to_dict()["slope"] is None
    json.dumps(curve.to_dict(), allow_nan=False)


def test_learning_curve_admits_that_it_cannot_tell():
    from dataclasses import replace

    X = make_moons(300, noise=0.1, random_state=0)[0]
    curve = learning_curve(GPOD(2, affinity=Gaussian(0.4)), X, [30, 60])
    assert "does not fall reliably" in replace(curve, slope_interval=(-0.9, 0.1)).sentence


def test_learning_curve_is_silent_about_samples(recwarn):
    X = np.concatenate([np.random.default_rng(0).normal(c, 1, (150, 2)) for c in (0, 8)])
    learning_curve(GPOD(2), X, [20, 40], n_repeats=3)
    assert not [w for w in recwarn if issubclass(w.category, GraphWarning)]


def test_paper_extension_gives_the_curve_of_the_consistent_form(moons):
    X, _ = moons
    paper, consistent = (
        learning_curve(
            GPOD(2, cut="ratiocut", affinity=Gaussian(0.4), extension=extension), X, [40, 80]
        )
        for extension in ("paper", "consistent")
    )
    np.testing.assert_array_equal(paper.excess, consistent.excess)


# ------------------------------------------------------------------ errors users read


def population_error(model, X):
    return assess(model, X).population_error


def raises(message):
    return pytest.raises(ValueError, match=re.escape(message))


def test_errors_of_errors(moons):
    X, _ = moons
    model = GPOD(2).fit(X)
    with raises("model must be fitted on at least 2 rows, for an error is a mean over pairs. Got"):
        empirical_error(GPOD(1).fit(X[:1]))
    with raises("X must have at least 3 rows to estimate an error and its standard error. Got 2;"):
        population_error(model, X[:2])
    W = gaussian_weights(X, 0.4)
    matrix = GPOD(2, affinity="precomputed").fit(W)
    with raises("X must be rows of features to measure an error among new rows."):
        assess(matrix, W[:10])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (dict(delta=0.0), "delta must be a number strictly between 0 and 1. Got 0.0; use delta="),
        (dict(delta=1), "delta must be a number strictly between 0 and 1. Got 1; use delta=0.05"),
        (dict(delta="x"), "delta must be a number strictly between 0 and 1. Got 'x';"),
        (dict(C=-1.0), "C must be a finite number of at least 0. Got -1.0; use the largest weight"),
        (dict(B=math.inf), "B must be a finite number of at least 0. Got inf; use the largest"),
        (dict(kappa=math.nan), "kappa must be a finite number of at least 0. Got nan; use the"),
        (
            dict(eps=None),
            "eps must be a finite number of at least 0. Got None; use assess(model).epsilon",
        ),
        (dict(n=0), "n must be an integer of at least 1. Got 0; use the number of training rows."),
        (dict(n_clusters=1.5), "n_clusters must be an integer of at least 1. Got 1.5; use the"),
        (dict(cut="mincut"), "cut must be 'ncut' or 'ratiocut'. Got 'mincut'; use cut='ncut'."),
        (dict(constant="x"), "constant must be 'paper' or 'tight'. Got 'x'; use constant='paper'"),
    ],
)
def test_errors_of_bounds(wrong, message):
    right = dict(cut="ncut", n=100, n_clusters=2, C=1.0, B=1.0, kappa=1.0, eps=0.1)
    with raises(message):
        bounds(**{**right, **wrong})


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({}, "X must have at least 400 rows for the default sizes with n_clusters=2. Got 300; add"),
        (
            dict(sizes=[30]),
            "sizes must hold at least two different integers, each above n_",
        ),
        (dict(sizes=[30, 30]), "sizes must hold at least two different integers"),
        (dict(sizes=[2, 30]), "n_clusters=2 and at most the number of rows, 300. Got [2, 30];"),
        (dict(sizes=[30, 301]), "at most the number of rows, 300. Got [30, 301]; leave it out"),
        (dict(sizes=[30.0, 60.5]), "sizes must hold at least two different integers"),
        (dict(sizes=40), "sizes must hold at least two different integers"),
        (dict(sizes=[]), "sizes must hold at least two different integers"),
        (dict(n_repeats=0), "n_repeats must be an integer of at least 1. Got 0; use the default"),
        (dict(sizes=[30, 60], n_repeats=1), "at least 3 points to fit a line. Got 2 sizes and"),
    ],
)
def test_errors_of_learning_curve(moons, wrong, message):
    with raises(message):
        learning_curve(GPOD(2), moons[0], **wrong)


def test_learning_curve_refuses_before_it_fits(moons, monkeypatch):
    monkeypatch.setattr(GPOD, "fit", None)
    with raises("sizes must hold"):
        learning_curve(GPOD(2), moons[0], [1])
    with raises("n_clusters must be an integer of at least 1. Got '2'; use the number of clusters"):
        learning_curve(GPOD("2"), moons[0])


def test_learning_curve_takes_frames_and_kernels(moons):
    pandas = pytest.importorskip("pandas")
    X, _ = moons
    gaussian = learning_curve(GPOD(2, affinity=Gaussian(0.4)), X, [40, 80])
    frame = pandas.DataFrame(X, columns=["a", "b"])
    kernel = learning_curve(GPOD(2, affinity=weights_between), frame, [40, 80])
    np.testing.assert_allclose(kernel.excess, gaussian.excess, rtol=1e-6, atol=1e-10)


def test_learning_curve_needs_rows_that_differ():
    X = np.repeat([[0.0], [1.0], [2.0]], [398, 1, 1], axis=0)
    with raises("sizes must be large enough for samples with n_clusters=2 different rows. Got a"):
        learning_curve(GPOD(2, affinity=Gaussian(1.0)), X, [5, 10])


def test_learning_curve_needs_a_weight_function(moons):
    W = gaussian_weights(moons[0], 0.4)
    message = "affinity must be a weight function of two rows, which stays the same for samples of"
    model = GPOD(2, affinity="precomputed")
    with raises(message):
        learning_curve(model, W, [30, 60])
    with raises(message):
        excess_risk(model.fit(W), model)


def test_excess_risk_compares_like_with_like(moons):
    X, _ = moons
    model = GPOD(2, affinity="gaussian")
    with raises("model must have the cut of the reference, 'ncut'. Got 'ratiocut'; fit both alike"):
        excess_risk(model.fit(X), clone(model).set_params(cut="ratiocut").fit(X))
    with raises("model must have the n_clusters of the reference, 2. Got 3; fit both alike"):
        excess_risk(model.fit(X), clone(model).set_params(n_clusters=3).fit(X))


def test_corollaries_fail_where_a_sample_lacks_a_rare_group(cut):
    """So no confidence may be printed with them: each is stated with 95 %."""

    def draw(n, rng):
        return 0.1 * rng.normal(size=(n, 1)) + 5 * (rng.random((n, 1)) < 0.01)

    rng, exceeded = np.random.default_rng(0), 0
    estimator = GPOD(2, cut=cut, affinity=Gaussian(1.0), n_init=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphWarning)
        best = estimator.fit(draw(2000, rng)).eigenvalues_.sum()
        for _ in range(60):
            model = estimator.fit(draw(20, rng))
            summary = assess(model, theory=True)
            exceeded += abs(summary.empirical_error - best) > summary.bounds_paper.generalization
            assert "confidence" not in str(summary)
    # 5 % of 60 are 3, with a standard error of 1.7.
    assert exceeded > 30


def test_every_graph_whose_weights_are_made_of_rows_says_so(moons):
    X, _ = moons
    for affinity in (Neighbors(10), Landmarks(30)):
        notes = assess(GPOD(2, affinity=affinity).fit(X[:200]), X[200:]).notes
        assert any("fixed before seeing the data" in note for note in notes), affinity
    notes = assess(GPOD(2, affinity=Gaussian(0.4)).fit(X[:200]), X[200:]).notes
    assert not any("fixed before seeing the data" in note for note in notes)


def test_no_normal_interval_near_a_cut_of_zero():
    """Of 30 rows hardly any weight leaves a cluster: 1.96 standard errors covered 46 % there."""
    rng = np.random.default_rng(0)

    def draw(n):
        return 5 * np.eye(3, 2)[rng.integers(3, size=n)] + rng.normal(size=(n, 2))

    model = GPOD(3, affinity=Gaussian(1.0)).fit(draw(150))
    truth = cut_value(model, draw(3000)).value
    normal = n_printed = 0
    for _ in range(50):
        summary = assess(model, draw(30))
        found = summary.cut_heldout
        normal += abs(found.value - truth) <= 1.96 * found.standard_error
        line = next(line for line in str(summary).splitlines() if "cut value" in line)
        n_printed += "±" in line
    assert normal / 50 < 0.85  # 0.95 has a standard error of 0.03
    assert n_printed <= 2
