"""Memory: formulas against arrays that exist, limits and their words."""

import numpy as np
import pytest

from eigencut.affinity.budget import (
    Problem,
    available_bytes,
    check_budget,
    exact_bytes,
    landmarks_bytes,
    neighbors_bytes,
    parse_bytes,
)

LARGE = Problem(n_rows=10_000_000, n_features=2, n_clusters=2)


def test_what_grows_with_what():
    twice = Problem(20_000_000, 2, 2)
    assert exact_bytes(twice) / exact_bytes(LARGE) == pytest.approx(4, rel=0.01)
    assert neighbors_bytes(twice, 15) < 2 * neighbors_bytes(LARGE, 15)
    streamed = [landmarks_bytes(problem, 1000, 5, in_memory=False) for problem in (LARGE, twice)]
    assert streamed[0] == streamed[1] < 1e9
    assert landmarks_bytes(LARGE, 1000, 5, in_memory=True) < 1.2e9


def test_the_exact_graph_holds_half_of_all_weights():
    n = 4000
    weights = np.empty((n, n))
    fixed = exact_bytes(Problem(1, 1, 1))
    assert exact_bytes(Problem(n, 2, 2)) - fixed > weights.nbytes / 2


@pytest.mark.parametrize(
    "text, expected",
    [("4GB", 4e9), ("512 MiB", 2**29), ("1.5kb", 1500), (1000, 1000), (2.5e9, 2.5e9), ("7", 7)],
)
def test_limits_can_be_written_in_many_ways(text, expected):
    assert parse_bytes(text) == expected


@pytest.mark.parametrize(
    "limit", ["", "GB", "4 apples", "-1GB", 0, -5, True, [4], float("nan"), "0"]
)
def test_bad_limits(limit):
    with pytest.raises(ValueError, match="memory_limit must be a positive number of bytes"):
        parse_bytes(limit)


def test_too_much_is_refused_with_a_sentence():
    assert available_bytes() > 1e6
    check_budget(1e9, 2e9, "The exact graph", "")
    expected = r"would take about 4e\+05 GB, more than the 4 GB of memory \(memory_limit\). Use a"
    with pytest.raises(MemoryError, match=expected):
        check_budget(exact_bytes(LARGE), 4e9, "The exact graph", "Use affinity='landmarks'.")
    with pytest.raises(MemoryError, match="available"):
        check_budget(1e17, None, "The exact graph", "")
