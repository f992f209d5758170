"""Pairs of rows: what is accepted, and contradictions against brute force."""

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
    refuse_contradictions(linked_groups(N_ROWS, must), cannot, np.array(labels))


@settings(max_examples=150)
@given(PAIRS, PAIRS, LABELS)
def test_contradictions_are_found_if_and_only_if_nothing_can_hold(must, cannot, labels):
    if can_hold(must, cannot, labels):
        refuse(must, cannot, labels)
        return
    with pytest.raises(ValueError, match="contradict"):
        refuse(must, cannot, labels)


def test_rows_are_named():
    match = "rows 3 and 5 cannot-link, but pairs of must_link put them together; drop one"
    with pytest.raises(ValueError, match=match):
        refuse([(3, 1), (5, 1), (0, 2)], [(3, 5)], [-1] * N_ROWS)
    match = "must_link puts row 2, which is known to be of class 1, together with a row of class 0"
    with pytest.raises(ValueError, match=match):
        refuse([(0, 1), (1, 2)], [], [0, -1, 1, -1, -1, -1])
    match = r"rows 1 and 4 cannot-link, but both are of class 1; drop one"
    with pytest.raises(ValueError, match=match):
        refuse([(0, 1)], [(1, 4)], [1, -1, -1, -1, 1, -1])


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
        Constraints(cannot_link=[(0, 10)])._check_rows(10)
