"""Rules: what is said of them is what a reader who applies them finds."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import binomtest
from sklearn.tree import DecisionTreeClassifier

from eigencut.inspection.describe import cluster_rule, columns_of, short_between


def found_in(frame, labels, n_clusters=2):
    columns = columns_of(frame)
    return [cluster_rule(columns, np.asarray(labels) == k) for k in range(n_clusters)]


def meets(rule, frame):
    """The rows that meet all conditions, by pandas."""
    found = pd.Series(True, index=frame.index)
    for condition in rule.conditions:
        column = frame[condition.column]
        found &= {
            "<=": lambda c, v: c <= v,
            ">": lambda c, v: c > v,
            "is": lambda c, v: c.astype(str) == v,
            "is not": lambda c, v: (c.astype(str) != v) & c.notna(),
        }[condition.relation](column, condition.value)
    return found.to_numpy()


def mixed(n, seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, n)
    frame = pd.DataFrame(
        {
            "x": rng.normal(size=n) + 3 * (labels == 1),
            "town": np.array(["Rome", "Oslo", "Bonn"])[np.where(rng.random(n) < 0.9, labels, 0)],
            "noise": rng.normal(size=n),
        }
    )
    return frame, labels


def test_small_clusters_are_measured_on_all_rows_and_say_so():
    frame, labels = mixed(30, 0)
    for k, rule in enumerate(found_in(frame, labels, 3)):
        assert not rule.held_out and rule.n_rows == 30
        inside, met = labels == k, meets(rule, frame)
        assert rule.precision == pytest.approx((inside & met).sum() / met.sum())
        assert rule.coverage == pytest.approx((inside & met).sum() / inside.sum())


def test_held_out_figures_are_those_of_new_rows():
    frame, labels = mixed(3000, 1)
    new, new_labels = mixed(20000, 2)
    for k, rule in enumerate(found_in(frame, labels, 3)):
        assert rule.held_out and abs(rule.n_rows - 1500) <= 2 and len(rule.conditions) <= 3
        inside, met = new_labels == k, meets(rule, new)
        assert (inside & met).sum() / met.sum() == pytest.approx(rule.precision, abs=0.03)
        assert (inside & met).sum() / inside.sum() == pytest.approx(rule.coverage, abs=0.04)
        n_own = round(1500 * inside.mean())
        known = binomtest(round(rule.coverage * n_own), n_own).proportion_ci(method="wilson")
        assert rule.coverage_interval == pytest.approx((known.low, known.high), abs=0.01)


def test_noise_is_not_sold_as_a_rule():
    """Grown on the rows that measure it, the best branch would look better than chance."""
    gains = []
    for seed in range(25):
        rng = np.random.default_rng(seed)
        labels = rng.integers(0, 2, 200)
        rule = found_in(pd.DataFrame(rng.normal(size=(200, 6))), labels)[0]
        gains.append(0.0 if rule is None else rule.precision - (labels == 0).mean())
    tree_gain = []
    for seed in range(25):
        rng = np.random.default_rng(seed)
        labels, X = rng.integers(0, 2, 200), rng.normal(size=(200, 6))
        tree = DecisionTreeClassifier(max_depth=3).fit(X, labels == 0)
        tree_gain.append(tree.score(X, labels == 0) - 0.5)
    assert np.mean(gains) < 0.06 < np.mean(tree_gain)


def test_one_threshold_is_found_and_short():
    x = np.concatenate([np.linspace(0, 4.9137, 60), np.linspace(5.1273, 9, 60)])
    rule = found_in(pd.DataFrame({"km": x}), np.repeat([0, 1], 60))[1]
    assert [(c.column, c.relation, c.value) for c in rule.conditions] == [("km", ">", 5.0)]
    assert rule.precision == rule.coverage == 1.0


def test_bounds_of_one_column_are_joined():
    x = np.linspace(0, 1, 300)
    rule = found_in(pd.DataFrame({"x": x}), ((x > 0.4) & (x < 0.6)).astype(int))[1]
    assert sorted(c.relation for c in rule.conditions) == ["<=", ">"]
    assert rule.precision > 0.95 and rule.coverage > 0.9


def test_large_numbers_keep_their_digits():
    """A tree sees float32, in which these would all be one number."""
    x = 1.7e9 + np.arange(100.0)
    rule = found_in(pd.DataFrame({"seconds": x}), np.repeat([0, 1], 50))[0]
    assert rule.conditions[0].value == pytest.approx(1.7e9 + 49.5, abs=1.5)
    assert rule.precision >= 0.9 and rule.coverage >= 0.9


def test_dates_words_and_gaps():
    n = 80
    labels = np.repeat([0, 1], 40)
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(n), "D")
    rule = found_in(pd.DataFrame({"day": days}), labels)[0]
    assert rule.conditions[0].value.startswith("2024-02-")
    words = pd.DataFrame({"town": np.where(labels == 1, "Rome", "Oslo")})
    assert [c.value for c in found_in(words, labels)[0].conditions] == ["Oslo"]
    gaps = pd.DataFrame({"x": np.where(np.arange(n) % 4, labels, np.nan)})
    rule = found_in(gaps, labels)[1]
    assert rule.coverage == pytest.approx(0.75, abs=0.15) and rule.precision == 1.0


@settings(max_examples=40)
@given(
    arrays(np.float64, (24, 2), elements=st.floats(-1e300, 1e300)),
    arrays(np.int8, 24, elements=st.integers(0, 2)),
)
def test_whatever_the_numbers_a_rule_is_what_it_says(values, labels):
    frame = pd.DataFrame(values, columns=["a", "b"])
    for k, rule in enumerate(found_in(frame, labels.astype(int), 3)):
        if rule is None:
            continue
        assert 1 <= len(rule.conditions) <= 3
        inside, met = labels == k, meets(rule, frame)
        assert rule.precision == pytest.approx((inside & met).sum() / met.sum())
        assert rule.precision > inside.mean()


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(0, 1e300))
def test_short_numbers_separate(low, width):
    with np.errstate(over="ignore"):
        high = float(max(low + width, np.nextafter(low, np.inf)))
    if np.isfinite(high):
        assert low <= short_between(low, high) < high


def test_there_is_no_rule_for_all_rows_or_none():
    frame = pd.DataFrame({"x": np.arange(10.0)})
    assert found_in(frame, np.zeros(10, dtype=int)) == [None, None]
