"""Which y is known labels, and what follows from labels and pairs together."""

import numpy as np
import pytest

from eigencut import Constraints, Rows
from eigencut.known.information import Known, partial_labels

X = np.arange(12.0).reshape(6, 2)


@pytest.mark.parametrize(
    "y",
    [
        None,
        [0, 1, 2, 0, 1, 2],  # full labels: a clusterer ignores them
        [-1] * 6,  # nothing is known
        [0.5, -1.0, 2.0, 1.0, 0.0, 1.0],  # a target of a regression
        [-3, -1, 0, 1, 2, 3],
        [np.nan, -1, 0, 1, 1, 0],
        ["a", "b", "a", "b", "a", "b"],
        np.zeros((6, 2)) - 1,
    ],
)
def test_other_targets_are_ignored(y):
    assert partial_labels(y, 6) is None
    assert Known.of(X, y, None) is None


@pytest.mark.parametrize("dtype", [np.int64, np.int8, np.float64])
def test_whole_numbers_with_an_unknown_are_labels(dtype):
    y = np.array([0, -1, 2, -1, 1, -1], dtype=dtype)
    assert partial_labels(y, 6).tolist() == [0, -1, 2, -1, 1, -1]
    assert partial_labels(y[:, np.newaxis], 6).tolist() == y.tolist()


def test_signs_are_ignored_with_a_warning():
    with pytest.warns(UserWarning, match="y holds only -1 and 1: it was ignored"):
        assert partial_labels([1, -1, 1, -1], 4) is None


def test_labels_of_other_rows_are_refused():
    with pytest.raises(
        ValueError, match=r"y must have a class or -1 for each of the 6 rows. Got 2"
    ):
        partial_labels([0, -1], 6)


def test_a_class_is_that_of_its_whole_group():
    known = Known.of(X, [2, -1, -1, -1, 0, -1], Constraints([(0, 3), (3, 5)], [(1, 2)]))
    assert known.labels.tolist() == [2, -1, -1, 2, 0, 2]
    assert [group.tolist() for group in known.groups] == [[0, 3, 5]]
    assert known.rows.tolist() == [0, 1, 2, 3, 4, 5]
    assert known.n_facts == 4 + 2 + 1


def test_identical_rows_link_groups():
    twice = X.copy()
    twice[4] = twice[1]
    known = Known.of(twice, None, Constraints([(0, 1), (4, 5)]))
    assert [group.tolist() for group in known.groups] == [[0, 1, 4, 5]]
    with pytest.raises(ValueError, match="rows 0 - 1 - 4 - 5 must be together, but 0 and 5"):
        Known.of(twice, None, Constraints([(0, 1), (4, 5)], [(0, 5)]))


def test_nothing_is_known_without_any_pair():
    assert Known.of(X, None, Constraints()) is None


def test_streams_have_no_numbers_of_rows():
    rows = Rows.from_array(X)
    with pytest.raises(TypeError, match="constraints must be of rows in memory"):
        Known.of(rows, None, Constraints([(0, 1)]))
    with pytest.raises(TypeError, match="y must be of rows in memory"):
        Known.of(rows, [0, -1, -1, -1, -1, -1], None)
    assert Known.of(rows, None, None) is None
    assert Known.of(rows, np.zeros(6), None) is None


def test_constraints_are_constraints():
    with pytest.raises(TypeError, match=r"constraints must be eigencut.Constraints. Got list; use"):
        Known.of(X, None, [(0, 1)])
