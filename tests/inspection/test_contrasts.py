"""Effect sizes against scipy, and what must not change them."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu, norm

from eigencut.inspection import describe
from eigencut.inspection.describe import columns_of, contrasts, superiority

RNG = np.random.default_rng(0)
LABELS = RNG.integers(0, 3, 200)
FRAME = pd.DataFrame(
    {
        "skewed": np.exp(RNG.normal(size=200) + LABELS),
        "tied": RNG.integers(0, 4, 200) + (LABELS == 2),
        "noise": RNG.normal(size=200),
        "word": np.array(["a", "b", "c"])[np.where(RNG.random(200) < 0.7, LABELS, 0)],
        "flag": LABELS == 1,
        "constant": 7.0,
    }
)


def by_name(found, k):
    return {(c.column, getattr(c, "category", None)): c for c in found[k]}


@pytest.mark.parametrize("column", ["skewed", "tied", "noise"])
def test_superiority_is_mann_and_whitneys(column):
    values = FRAME[column].to_numpy(dtype=float)
    found = superiority(values, LABELS, 3)
    for k in range(3):
        inside, outside = values[k == LABELS], values[k != LABELS]
        known = mannwhitneyu(inside, outside).statistic / (len(inside) * len(outside))
        assert found.values[k] == pytest.approx(known) and found.sizes[k] == len(inside)
        wins = (np.sign(inside[:, np.newaxis] - outside) + 1) / 2
        by_row = [wins.mean(axis=1 - axis).var(ddof=1) / wins.shape[axis] for axis in (0, 1)]
        assert found.variances[k] == pytest.approx(sum(by_row))


def test_effects_are_differences_of_probabilities():
    found = by_name(contrasts(columns_of(FRAME), LABELS, 3), 2)[("skewed", None)]
    values = FRAME["skewed"].to_numpy()
    inside, outside = values[LABELS == 2], values[LABELS != 2]
    signs = np.sign(inside[:, np.newaxis] - outside)
    assert found.effect == pytest.approx(signs.mean()) and found.how == "higher"
    assert found.interval[0] < found.effect < found.interval[1]
    np.testing.assert_allclose(found.inside, np.quantile(inside, (0.25, 0.5, 0.75)))
    np.testing.assert_allclose(found.overall, np.quantile(FRAME["skewed"], (0.25, 0.5, 0.75)))


def test_what_distinguishes_nothing_is_left_out():
    found = contrasts(columns_of(FRAME[["noise", "constant", "skewed"]]), LABELS, 3)
    assert all(c.column == "skewed" for of in found for c in of)


def test_shares_of_categories():
    found = by_name(contrasts(columns_of(FRAME), LABELS, 3), 1)[("word", "b")]
    inside = (FRAME["word"] == "b")[LABELS == 1].mean()
    elsewhere, overall = (FRAME["word"] == "b")[LABELS != 1].mean(), (FRAME["word"] == "b").mean()
    assert found.share == pytest.approx(inside) and found.overall == pytest.approx(overall)
    assert found.effect == pytest.approx(inside - elsewhere)
    assert found.how == "more often" and "effect" in str(found)


def test_a_category_is_a_number_that_is_0_or_1():
    words, numbers = (
        contrasts(columns_of(pd.DataFrame({"flag": values})), LABELS, 3)[1][0]
        for values in (FRAME["flag"], FRAME["flag"].astype(float))
    )
    assert words.effect == pytest.approx(numbers.effect) == 1.0 and words.category == "True"


def test_of_two_categories_one_is_said():
    found = contrasts(columns_of(FRAME[["flag"]]), LABELS, 3)
    assert [[c.category for c in of] for of in found] == [["False"], ["True"], ["False"]]


@pytest.mark.filterwarnings("error")
def test_missing_values_are_left_out_and_counted():
    gaps = np.where((LABELS == 0) & (RNG.random(200) < 0.8), np.nan, FRAME["skewed"])
    found = by_name(contrasts(columns_of(pd.DataFrame({"x": gaps})), LABELS, 3), 0)
    missing = found[("x", "(missing)")]
    assert missing.share == pytest.approx(np.isnan(gaps)[LABELS == 0].mean())
    there = ~np.isnan(gaps)
    frame = pd.DataFrame({"x": gaps[there]})
    known = by_name(contrasts(columns_of(frame), LABELS[there], 3), 2)
    found = by_name(contrasts(columns_of(pd.DataFrame({"x": gaps})), LABELS, 3), 2)[("x", None)]
    # One of more effects has an interval of another level.
    assert replace(found, interval=None) == replace(known[("x", None)], interval=None)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "values",
    [
        np.full(200, np.nan),
        np.full(200, "same"),
        np.where(LABELS == 0, 1e308, -1e308),
        np.array([None] * 200),
        np.where(LABELS == 0, np.inf, 0.0),
    ],
)
def test_odd_columns_are_harmless(values):
    for of in contrasts(columns_of(pd.DataFrame({"x": values})), LABELS, 3):
        for contrast in of:
            assert -1 <= contrast.interval[0] <= contrast.effect <= contrast.interval[1] <= 1


def test_a_core_is_more_central_than_its_ring():
    angle = RNG.uniform(0, 2 * np.pi, 200)
    x = np.where(LABELS == 0, 0.1, 1.0) * np.cos(angle)
    found = contrasts(columns_of(pd.DataFrame({"x": x})), (LABELS > 0).astype(int), 2)
    assert [of[0].how for of in found] == ["more central", "more extreme"]


@settings(max_examples=8)
@given(st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(random):
    order = list(range(200))
    random.shuffle(order)
    found = contrasts(columns_of(FRAME.iloc[order]), LABELS[order], 3)
    known = contrasts(columns_of(FRAME), LABELS, 3)
    for of, of_known in zip(found, known, strict=True):
        assert [(c.column, c.how) for c in of] == [(c.column, c.how) for c in of_known]
        for one, other in zip(of, of_known, strict=True):
            assert one.effect == pytest.approx(other.effect)
            assert one.interval == pytest.approx(other.interval)


@given(st.floats(1e-6, 1e6), st.floats(-1e6, 1e6))
def test_units_and_skew_do_not_matter(scale, shift):
    values = np.arange(200.0)[np.argsort(np.argsort(FRAME["skewed"]))]
    plain = superiority(values, LABELS, 3).values
    np.testing.assert_array_equal(superiority(scale * values + shift, LABELS, 3).values, plain)
    np.testing.assert_array_equal(superiority(np.exp(values), LABELS, 3).values, plain)
    np.testing.assert_allclose(superiority(-values, LABELS, 3).values, 1 - plain, atol=1e-12)


def test_values_come_before_distances_that_say_the_same():
    """Most rows are at the top, so that those below are as far from the middle as they are low."""
    x = np.where(LABELS == 0, RNG.random(200), 5.0)
    found = contrasts(columns_of(pd.DataFrame({"x": x})), (LABELS > 0).astype(int), 2)
    assert [of[0].how for of in found] == ["lower", "higher"]


def test_strongest_first():
    found = contrasts(columns_of(FRAME), LABELS, 3)
    for of in found:
        ends = [min(abs(c.interval[0]), abs(c.interval[1])) for c in of]
        assert ends == sorted(ends, reverse=True)


@pytest.mark.parametrize("n_real", [0, 2])
def test_few_of_the_intervals_that_are_reported_miss(n_real):
    """The share of them that misses, on average; of noise each one that is reported does."""
    shares = []
    for seed in range(50):
        rng = np.random.default_rng(seed)
        labels = rng.integers(3, size=90)
        frame = pd.DataFrame(rng.normal(size=(90, 8)), columns=list("abcdefgh"))
        frame.iloc[:, :n_real] += 0.8 * (labels == 0)[:, np.newaxis]
        frame["word"] = rng.choice(["x", "y", "z"], 90)
        real = 2 * norm.cdf(0.8 / np.sqrt(2)) - 1  # P(x > y) - P(x < y) of cluster 0
        of_clusters = contrasts(columns_of(frame), labels, 3)
        found = [(k, one) for k, of in enumerate(of_clusters) for one in of]
        missed = 0
        for k, one in found:
            is_real = one.column in frame.columns[:n_real] and one.how in ("higher", "lower")
            among_others = (labels == 0).sum() / (labels != k).sum()
            truth = (real if k == 0 else -real * among_others) if is_real else 0.0
            missed += not one.interval[0] <= truth <= one.interval[1]
        shares.append(missed / max(len(found), 1))
    # The standard error of a share of 0.05 in 50 is 0.03.
    assert np.mean(shares) <= 0.05 + 2 * 0.03


def test_intervals_of_all_columns_are_found_at_once(monkeypatch):
    asked, interval = [], describe.superiority_interval

    def counted(superiority, *others):
        asked.append(superiority.shape)
        return interval(superiority, *others)

    monkeypatch.setattr(describe, "superiority_interval", counted)
    values = RNG.normal(size=(200, 30)) + LABELS[:, np.newaxis]
    found = contrasts(columns_of(values), LABELS, 3)
    assert all(len(of_cluster) >= 30 for of_cluster in found[::2])
    assert asked == [(60, 3)] * len(asked)
    assert len(asked) < 10  # once for each level that is tried
