"""Rows needed: closed forms, and how often the interval holds the truth."""

import json
import math

import numpy as np
import pytest

from eigencut.theory import LearningCurve, rows_needed

SIZES = np.array([50, 100, 200, 400], dtype=np.intp)


def curve(excess):
    x = np.log(np.broadcast_to(SIZES[:, np.newaxis], excess.shape).ravel())
    if excess.any():
        slope, intercept = np.polyfit(x, np.log(excess).ravel(), 1)
    else:
        slope = intercept = math.nan
    return LearningCurve(SIZES, excess, 0.1, slope, (slope, slope), intercept, 0.95, 2000)


def power_law(scale, slope, noise, seed, n_repeats=8):
    scatter = np.random.default_rng(seed).normal(size=(len(SIZES), n_repeats)) * noise
    return scale * SIZES[:, np.newaxis] ** float(slope) * np.exp(scatter)


@pytest.mark.parametrize("slope", [-0.5, -1.0, -2.0])
def test_a_line_without_noise_is_inverted(slope):
    found = rows_needed(curve(power_law(3.0, slope, 0.0, 0)), 1e-4, n_bootstrap=20)
    truth = (1e-4 / 3.0) ** (1 / slope)
    assert found.n_rows == pytest.approx(truth, rel=1e-9)
    assert found.interval == pytest.approx((truth, truth), rel=1e-9)


def test_the_interval_holds_the_truth_about_as_often_as_it_says():
    target, held, widths = 0.002, [], []
    truth = 1.0 / target
    for seed in range(150):
        found = rows_needed(
            curve(power_law(1.0, -1.0, 0.5, seed)), target, confidence=0.9, n_bootstrap=150
        )
        held.append(found.interval[0] <= truth <= found.interval[1])
        widths.append(found.interval[1] / found.interval[0])
    assert 0.78 <= np.mean(held) <= 0.97
    assert np.median(widths) < 3


def test_the_interval_is_that_of_lines_fitted_one_by_one():
    """Percentiles of n* over resampled fits, with numpy's least squares; up to Monte Carlo."""
    excess, rng, drawn = power_law(1.0, -1.0, 0.4, 1), np.random.default_rng(0), []
    for _ in range(1000):
        again = np.take_along_axis(excess, rng.integers(8, size=excess.shape), axis=1)
        line = curve(again)
        drawn.append(math.exp((math.log(0.005) - line.intercept) / line.slope))
    found = rows_needed(curve(excess), 0.005)
    assert found.interval == pytest.approx(tuple(np.percentile(drawn, [2.5, 97.5])), rel=0.06)


def test_it_is_reproducible():
    found = [rows_needed(curve(power_law(1, -1, 0.5, 0)), 0.01, n_bootstrap=50) for _ in range(2)]
    assert found[0] == found[1]


def test_the_sentence_says_what_is_extrapolated():
    excess = power_law(1.0, -1.0, 0.1, 0)
    beyond, within = (rows_needed(curve(excess), t, n_bootstrap=50) for t in (1e-4, 0.005))
    assert "by extrapolation beyond the 400 rows measured" in str(beyond)
    assert "extrapolation" not in str(within)
    assert f"About {math.ceil(within.n_rows):,} rows have an excess risk of 0.005" in str(within)


def test_a_curve_that_does_not_fall_needs_rows_without_end():
    found = rows_needed(curve(power_law(1.0, 0.3, 0.1, 0)), 0.01, n_bootstrap=50)
    assert found.n_rows == math.inf
    assert "does not fall" in found.sentence
    read = json.loads(json.dumps(found.to_dict()))
    assert read["n_rows"] is None and read["interval"] == [None, None]


def test_a_curve_without_excess_says_so_too():
    found = rows_needed(curve(np.zeros((4, 3))), 0.01, n_bootstrap=5)
    assert found.n_rows == math.inf


def test_an_interval_may_be_open_above():
    found = rows_needed(curve(power_law(1.0, -0.1, 1.0, 3, n_repeats=3)), 1e-3, n_bootstrap=200)
    assert found.interval[1] == math.inf
    if math.isfinite(found.n_rows):
        assert "to infinity" in str(found)


def test_targets_are_checked():
    with pytest.raises(ValueError, match=r"target must be above 0\. Got 0"):
        rows_needed(curve(power_law(1, -1, 0, 0)), 0)
    with pytest.raises(ValueError, match="target must be a finite number"):
        rows_needed(curve(power_law(1, -1, 0, 0)), -1)
