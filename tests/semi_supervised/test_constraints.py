"""Pairs of rows: what is accepted, and contradictions against brute force."""

import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eigencut import Constraints
from eigencut.semi_supervised.known_labels import linked_groups, refuse_contradictions

N_ROWS, N_CLASSES = 6, 2
PAIR = st.tuples(st.integers(0, N_ROWS - 1), st.integers(0, N_ROWS - 1)).filter(
    lambda pair: pair[0] != pair[1]
)
PAIRS = st.lists(PAIR, max_size=5)
LABELS = st.lists(st.integers(-1, N_CLASSES - 1), min_size=N_ROWS, max_size=N_ROWS)


def can_hold(must, cannot, labels):
    """Whether any labels of the rows satisfy everything, by trying them one row after another."""

    def complete(chosen):
        row = len(chosen)
        for i, j in must:
            if max(i, j) < row and chosen[i] != chosen[j]:
                return False
        for i, j in cannot:
            if max(i, j) < row and chosen[i] == chosen[j]:
                return False
        if row == N_ROWS:
            return True
        choices = range(N_CLASSES + N_ROWS) if labels[row] < 0 else [labels[row]]
        return any(complete([*chosen, label]) for label in choices)

    return complete([])


def refuse(must, cannot, labels):
    must, cannot = (np.array(p, dtype=np.intp).reshape(-1, 2) for p in (must, cannot))
    refuse_contradictions(linked_groups(N_ROWS, must), must, cannot, np.array(labels))


@settings(max_examples=150)
@given(PAIRS, PAIRS, LABELS)
def test_contradictions_are_found_if_and_only_if_nothing_can_hold(must, cannot, labels):
    if can_hold(must, cannot, labels):
        refuse(must, cannot, labels)
        return
    with pytest.raises(ValueError, match="contradict") as refused:
        refuse(must, cannot, labels)
    linked = {frozenset(pair) for pair in must}
    chains = re.findall(r"rows (\d+(?: - \d+)+)", str(refused.value))
    for chain in chains:
        rows = [int(row) for row in chain.split(" - ")]
        assert all(frozenset(step) in linked for step in pairwise(rows))


def test_the_chain_is_named():
    match = "rows 3 - 1 - 5 must be together, but 3 and 5 cannot-link; drop one"
    with pytest.raises(ValueError, match=match):
        refuse([(3, 1), (5, 1), (0, 2)], [(3, 5)], [-1] * N_ROWS)
    match = "rows 0 - 1 - 2 must be together, but row 0 is known to be of class 0 and row 2 of"
    with pytest.raises(ValueError, match=match):
        refuse([(0, 1), (1, 2)], [], [0, -1, 1, -1, -1, -1])
    match = r"rows 1 and 4 cannot-link, but both are of class 1 \(rows 1 - 0 must be together\)"
    with pytest.raises(ValueError, match=match):
        refuse([(0, 1)], [(1, 4)], [1, -1, -1, -1, 1, -1])


def test_the_middle_of_a_long_chain_is_left_out():
    n = 100
    must = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    with pytest.raises(ValueError, match=r"rows 0 - 1 - 2 - 3 - 4 - 5 - \.\.\. - 94 - .* - 99"):
        refuse_contradictions(linked_groups(n, must), must, np.array([(0, n - 1)]), np.full(n, -1))


@pytest.mark.parametrize(
    ("pairs", "match"),
    [
        ([1, 2, 3], r"must_link must be pairs .* Got shape \(3,\)"),
        ([(1, 2, 3)], r"Got shape \(1, 3\)"),
        ([(1.0, 2.0)], "of float64; pass pairs like"),
        ([(-1, 2)], "from 0 on. Got -1"),
        ([(4, 4)], "pairs of different rows. Got row 4 with itself; drop it"),
    ],
)
def test_what_are_no_pairs_is_refused(pairs, match):
    with pytest.raises(ValueError, match=match):
        Constraints(must_link=pairs)


def test_rows_out_of_range_are_refused():
    with pytest.raises(ValueError, match=r"cannot_link must hold .* from 0 to 9. Got 10; rows are"):
        Constraints(cannot_link=[(0, 10)]).check_rows(10)
