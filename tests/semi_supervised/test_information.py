"""Which y is known labels, and what follows from labels and pairs together."""

import warnings

import numpy as np
import pytest

from eigencut import Constraints, Rows
from eigencut.exceptions import GraphWarning
from eigencut.semi_supervised.known_labels import Known, known_classes_of_rows

X = np.arange(12.0).reshape(6, 2)


def labels_of(y):
    """What GPOD takes of y; None for nothing."""
    found = known_classes_of_rows(y, 6, words=False)
    return found.labels if found.are_some else None


@pytest.mark.parametrize(
    "y",
    [
        None,
        [-1] * 6,  # nothing is known
        [np.nan] * 6,
        [None, -1, None, -1, -1, -1],
        [0.5, -1.0, 2.0, 1.0, 0.0, 1.0],  # a target of a regression
        [-3, -2, 0, 1, 2, 3],
        np.zeros((6, 2)) - 1,
        np.arange(6).astype("datetime64[D]"),
    ],
)
def test_other_targets_are_ignored_in_silence(y):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert labels_of(y) is None
        assert Known.of(X, y, None) is None


@pytest.mark.parametrize(
    "y",
    [
        [0, 1, 2, 0, 1, 2],
        np.array([[0], [1], [2], [0], [1], [2]], dtype=float),
        ["a", "b", "a", "b", "a", "b"],
        [True, False, True, True, True, True],
    ],
)
def test_a_class_for_every_row_is_ignored_with_a_warning(y):
    with pytest.warns(GraphWarning, match="a class for every row and was ignored.*write -1 where"):
        assert labels_of(y) is None


@pytest.mark.parametrize(
    "y",
    [
        np.array([0, -1, 2, -1, 1, -1], dtype=np.int64),
        np.array([0, -1, 2, -1, 1, -1], dtype=np.int8),
        np.array([0, -1, 2, -1, 1, -1.0]),
        [0, np.nan, 2, np.nan, 1, np.nan],
        [0, None, 2, None, 1, None],
        [0, None, 2, -1, 1, np.nan],
        ["0", "", "2", "", "1", ""],
    ],
)
def test_whole_numbers_with_an_unknown_are_labels(y):
    assert labels_of(y).tolist() == [0, -1, 2, -1, 1, -1]
    assert labels_of(np.asarray(y)[:, np.newaxis]).tolist() == [0, -1, 2, -1, 1, -1]


def test_one_class_that_is_not_the_first_is_known_by_gaps():
    assert labels_of([1, None, 1, None, None, None]).tolist() == [1, -1, 1, -1, -1, -1]


def test_signs_are_ignored_with_a_warning():
    with pytest.warns(GraphWarning, match="y holds only -1 and 1: it was ignored"):
        assert labels_of([1, -1, 1, -1, 1, 1]) is None


def test_numbers_below_the_unknown_are_ignored_with_a_warning():
    with pytest.warns(GraphWarning, match=r"ignored, for it holds -2: .* instead of -2"):
        assert labels_of([-2, 0, -1, -1, -1, -1]) is None


@pytest.mark.parametrize(
    ("y", "got"), [([0.5, None, 1, 1, 1, 1], "0.5"), ([-2, None, 1, -1, 1, 1], "-2")]
)
def test_gaps_beside_other_numbers_are_refused(y, got):
    with pytest.raises(ValueError, match=f"y must hold whole numbers from 0 on.*Got {got}"):
        labels_of(y)


def test_words_are_for_tables():
    y = ["a", None, "b", None, "a", None]
    assert known_classes_of_rows(y, 6).names == ("a", "b")
    with pytest.raises(ValueError, match=r"Got 'a'; number the classes, or use TableModel"):
        labels_of(y)


def test_labels_of_other_rows_are_refused():
    with pytest.raises(ValueError, match=r"for each of the 6 rows. Got 2"):
        labels_of([0, -1])


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
