"""Weights of held-out rows: integers are repetitions, in every estimate and its spread."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs, make_moons

from conftest import CUTS
from eigencut import GPOD, Gaussian, Landmarks, Neighbors, inspection, select, theory
from eigencut.theory.curves import _drawn

X, _ = make_moons(200, noise=0.08, random_state=0)
NEW, _ = make_moons(60, noise=0.08, random_state=1)
WEIGHT = np.random.default_rng(0).integers(0, 4, 60)
REPEATED = np.repeat(NEW, WEIGHT, axis=0)


def values(found):
    """The numbers in what a risk function returns."""
    return {k: v for k, v in found.to_dict().items() if isinstance(v, (int, float, list))}


def assert_alike(first, second):
    first, second = values(first), values(second)
    assert first.keys() == second.keys()
    for name, value in first.items():
        if not isinstance(value, list) or (value and isinstance(value[0], float)):
            assert value == pytest.approx(second[name], rel=1e-6, abs=1e-9), name


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("affinity", [Gaussian(0.3), Neighbors()], ids=["gaussian", "neighbors"])
def test_weights_of_held_out_rows_are_repetitions(cut, affinity):
    model = GPOD(2, cut=cut, affinity=affinity).fit(X)
    how = {"sample_weight": WEIGHT}
    assert model.score(NEW, **how) == pytest.approx(model.score(REPEATED))
    assert_alike(
        inspection.assessment.cut_value(model, NEW, **how),
        inspection.assessment.cut_value(model, REPEATED),
    )
    weighted, repeated = inspection.assess(model, NEW, **how), inspection.assess(model, REPEATED)
    for name in ("population_error", "excess", "cost"):
        assert_alike(getattr(weighted, name), getattr(repeated, name))
    assert_alike(weighted, repeated)


def test_other_weights_count_as_many_rows_as_kish_says():
    """A factor does not matter then; and equal weights are none."""
    model = GPOD(2, affinity=Gaussian(0.3)).fit(X)
    real = np.random.default_rng(1).uniform(0.5, 2.5, 60)
    first, second = (
        inspection.assess(model, NEW, sample_weight=scale * real).population_error
        for scale in (1, 1e6 / 7)
    )
    assert_alike(first, second)
    assert first.n_rows == pytest.approx(real.sum() ** 2 / (real @ real)) and first.n_rows < 60
    equal = inspection.assess(model, NEW, sample_weight=np.full(60, 0.3)).excess
    assert_alike(equal, inspection.assess(model, NEW).excess)


def test_training_rows_have_the_weights_of_the_fit():
    weight = np.random.default_rng(0).integers(1, 4, 200)
    weighted = GPOD(2, affinity=Gaussian(0.3)).fit(X, sample_weight=weight)
    repeated = GPOD(2, affinity=Gaussian(0.3)).fit(np.repeat(X, weight, axis=0))
    assert_alike(inspection.assess(weighted), inspection.assess(repeated))
    for function in (inspection.assessment.cut_value, inspection.assess):
        with pytest.raises(ValueError, match="sample_weight must be left out without X"):
            function(weighted, sample_weight=weight)


@pytest.mark.parametrize("affinity", [Gaussian(0.3), Landmarks(30), "neighbors"])
def test_weights_of_the_fit_need_not_add_up_to_an_integer(affinity):
    """Bounds are those of the integer below, which are larger."""
    weight = np.random.default_rng(0).uniform(0.1, 1.0, 200)
    model = GPOD(2, affinity=affinity, cut="ratiocut").fit(X, sample_weight=weight)
    for found in (inspection.assess(model), inspection.assess(model, NEW)):
        assert found.n_rows == pytest.approx(weight.sum())
        assert f"fitted on {weight.sum():.1f} rows" in str(found)
        constants = {name: getattr(found, name) for name in ("C", "B", "kappa")}
        n = int(weight.sum())
        expected = theory.bounds("ratiocut", n, 2, **constants, eps=found.epsilon)
        assert_alike(found.bounds_paper, expected)


def test_rows_of_any_weight_are_not_drawn_again():
    weighted = GPOD(2, affinity=Gaussian(0.3)).fit(X, sample_weight=np.full(200, 0.5))
    with pytest.raises(ValueError, match="weights that add up to 100 on 200 different rows"):
        inspection.stability(weighted)
    heavy = GPOD(2, affinity=Gaussian(0.3)).fit(X, sample_weight=np.full(200, 10**6))
    with pytest.raises(ValueError, match=r"add up to 2e\+08 on 200 different rows; pass X"):
        inspection.stability(heavy)


def test_select_takes_weights_for_repetitions():
    X, _ = make_blobs(90, centers=3, random_state=4)
    weight = np.random.default_rng(0).integers(0, 3, 90)
    how = {"n_clusters": [2, 3, 4], "affinity": Gaussian()}
    weighted = select(X, sample_weight=weight, **how)
    repeated = select(np.repeat(X, weight, axis=0), **how)
    assert [c.score for c in weighted.choices] == [c.score for c in repeated.choices]
    assert np.array_equal(weighted.model.predict_proba(X), repeated.model.predict_proba(X))


@pytest.mark.parametrize("cut", CUTS)
def test_a_learning_curve_of_weighted_rows_is_that_of_repeated_ones(cut):
    weight = np.random.default_rng(2).integers(0, 4, len(X))
    model, how = GPOD(2, cut=cut, affinity=Gaussian(0.3)), {"sizes": [20, 40], "n_repeats": 3}
    weighted = theory.learning_curve(model, X, **how, sample_weight=weight)
    repeated = theory.learning_curve(model, np.repeat(X, weight, axis=0), **how)
    assert (weighted.excess == repeated.excess).all()
    assert weighted.to_dict() == repeated.to_dict() and weighted.n_rows == weight.sum()


def test_a_learning_curve_of_other_weights():
    """Samples are drawn as often as rows count; N is the effective number of rows."""
    weight = np.random.default_rng(3).uniform(0.5, 2.5, len(X))
    model = GPOD(2, affinity=Gaussian(0.3))
    how = {"sizes": [20, 80], "n_repeats": 4}
    curve = theory.learning_curve(model, X, **how, sample_weight=weight)
    assert curve.n_rows == int(weight.sum() ** 2 / (weight @ weight)) < len(X)
    assert (curve.excess > -1e-12).all() and curve.excess[1].mean() < curve.excess[0].mean()
    fitted = GPOD(2, affinity=Gaussian(0.3)).fit(X, sample_weight=weight)
    assert curve.risk_of_all == pytest.approx(fitted.eigenvalues_.sum())
    drawn = _drawn(weight, 200_000, np.random.RandomState(0))
    shares = np.bincount(drawn, minlength=len(X)) / len(drawn)
    expected = weight / weight.sum()
    assert (np.abs(shares - expected) < 6 * np.sqrt(expected / len(drawn))).all()
    with pytest.raises(ValueError, match="at most the number of rows"):
        theory.learning_curve(model, X, sizes=[20, len(X)], sample_weight=weight)


def test_weights_without_rows_are_refused():
    model = GPOD(2, affinity=Gaussian(0.3)).fit(X)
    with pytest.raises(ValueError, match="sample_weight must be left out without X"):
        inspection.assess(model, sample_weight=np.ones(len(X)))
