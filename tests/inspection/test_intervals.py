"""Intervals against scipy, published figures, and how often they hold the truth."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import binomtest

from eigencut.inspection.describe import (
    difference_interval,
    nearest_to_zero,
    quantile_of,
    share_interval,
    superiority,
    superiority_interval,
)

Z = quantile_of(0.95)


@given(st.integers(0, 60), st.integers(1, 60), st.floats(0.5, 0.999))
def test_the_share_is_wilsons(found, more, confidence):
    total = found + more - 1 or 1
    found = min(found, total)
    share, low, high = share_interval(np.array(found), np.array(total), quantile_of(confidence))
    assert share == found / total
    known = binomtest(found, total).proportion_ci(confidence, method="wilson")
    np.testing.assert_allclose((low, high), (known.low, known.high), atol=1e-12)


def test_the_difference_is_newcombes():
    """56 of 70 and 48 of 80: Table II of his paper, method 10."""
    shares = [share_interval(np.array(a), np.array(b), Z) for a, b in ((56, 70), (48, 80))]
    found = difference_interval(*shares)
    np.testing.assert_allclose(found, (0.0524, 0.3339), atol=5e-5)


@settings(max_examples=30)
@given(st.integers(2, 40), st.floats(0, 1))
def test_superiority_of_equal_sides_is_newcombes_method_5(n, found):
    size = np.array([n])
    low, high = superiority_interval(np.array([found]), np.zeros(1), size, size, Z)

    def excess(t):
        variance = t * (1 - t) * (1 + (n - 1) * ((1 - t) / (2 - t) + t / (1 + t))) / n**2
        return (found - t) ** 2 - Z**2 * variance

    assert 0 <= low[0] <= found <= high[0] <= 1
    if found > 1e-6:
        assert low[0] == pytest.approx(brentq(excess, 0, min(found, 1 - 1e-12)), abs=1e-9)
    if found < 1 - 1e-6:
        assert high[0] == pytest.approx(brentq(excess, max(found, 1e-12), 1), abs=1e-9)


TWO_SIDES = {  # how rows inside and outside are drawn, and what P(x > y) is
    "equal": (lambda d, n: d.normal(size=n), lambda d, n: d.normal(size=n), 0.5),
    "skewed": (lambda d, n: 3 * d.exponential(size=n), lambda d, n: d.exponential(size=n), 0.75),
    "far": (lambda d, n: 20 * d.exponential(size=n), lambda d, n: d.exponential(size=n), 20 / 21),
    "two heaps": (
        lambda d, n: d.choice([-50.0, 50.0], n),
        lambda d, n: d.normal(size=n),
        0.5,
    ),
    "narrow": (lambda d, n: 0.01 * d.normal(size=n), lambda d, n: d.normal(size=n), 0.5),
}


@pytest.mark.parametrize("kind", TWO_SIDES)
@pytest.mark.parametrize(("m", "n"), [(25, 25), (12, 120), (120, 12)])
def test_superiority_holds_the_truth_whatever_the_rows(kind, m, n):
    """400 repetitions; the interval was made for 95 %."""
    inside, outside, truth = TWO_SIDES[kind]
    draw = np.random.default_rng(0)
    labels = np.repeat([0, 1], [m, n])
    seen = [
        superiority(np.concatenate([inside(draw, m), outside(draw, n)]), labels, 2)
        for _ in range(400)
    ]
    values, variances = (
        np.array([getattr(s, name)[0] for s in seen]) for name in ("values", "variances")
    )
    low, high = superiority_interval(values, variances, np.array(m), np.array(n), Z)
    assert ((low <= truth) & (truth <= high)).mean() >= 0.93


@pytest.mark.parametrize(("interval", "strength"), [((0.1, 0.4), 0.1), ((-0.4, -0.1), -0.1)])
def test_the_end_that_is_nearer_to_zero(interval, strength):
    assert nearest_to_zero(*interval) == strength
    assert nearest_to_zero(-abs(interval[0]), abs(interval[1])) == 0
