"""What known labels may be, and what follows from labels and pairs together."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eigencut import Constraints, Rows
from eigencut.semi_supervised.known_labels import Known, named, read_known_labels

X = np.arange(12.0).reshape(6, 2)
UNKNOWN_CELLS = [None, "", "  ", "-1", -1, float("nan")]
WORDS = ["ham", "spam", "true", "3 b"]


def of_cells(cells, **how):
    return read_known_labels(np.array(cells, dtype=object), len(cells), **how)


@given(st.lists(st.sampled_from([*WORDS, *UNKNOWN_CELLS]), min_size=1))
def test_words_keep_their_names(cells):
    found = of_cells(cells)
    is_word = [cell in WORDS for cell in cells]
    assert ((found.labels >= 0) == is_word).all()
    assert list(found.names) == sorted(set(found.names)) == sorted({*cells} & {*WORDS})
    assert named(found.labels, found.names) == [c if c in WORDS else "" for c in cells]


@given(st.lists(st.sampled_from([0, 1.0, "2", "03", *UNKNOWN_CELLS]), min_size=1))
def test_numbers_stay_as_they_are(cells):
    expected = [-1 if cell in UNKNOWN_CELLS or cell != cell else int(cell) for cell in cells]
    for words in (True, False):
        found = of_cells(cells, words=words)
        assert found.labels.tolist() == expected and found.names == ()


@pytest.mark.parametrize(
    "known_labels",
    [
        np.array([0, -1, 2, -1, 1, -1], dtype=np.int8),
        np.array([0, -1, 2, -1, 1, -1.0]),
        [0, np.nan, 2, np.nan, 1, np.nan],
        [0, None, 2, -1, 1, np.nan],
        pd.Series([0, None, 2, None, 1, None], dtype="Int64"),
        pd.Series(["0", "", "2", "", "1", ""], dtype="string"),
        pd.Series(["0", None, "2", None, "1", None], dtype="category"),
    ],
)
def test_arrays_and_columns_of_every_kind_are_read(known_labels):
    column = np.asarray(known_labels)[:, np.newaxis]
    for given_labels in (known_labels, column):
        found = read_known_labels(given_labels, 6, words=False)
        assert found.labels.tolist() == [0, -1, 2, -1, 1, -1]


@pytest.mark.parametrize(
    ("cell", "got"), [(0.5, "0.5"), (-2, "-2"), ("1.5", "1.5"), (np.inf, "inf"), (10**18, "1e")]
)
@pytest.mark.parametrize("words", [True, False])
def test_other_numbers_are_refused(cell, got, words):
    expected = f"known_labels must hold whole numbers from 0 on.*Got {got}"
    with pytest.raises(ValueError, match=expected):
        of_cells([0, cell, None], words=words)


def test_words_are_for_tables():
    known_labels = ["a", None, "b", None, "a", None]
    assert read_known_labels(known_labels, 6).names == ("a", "b")
    with pytest.raises(ValueError, match=r"Got 'a'; number the classes, or use TableModel"):
        Known.from_rows(X, known_labels, None)


@pytest.mark.parametrize("known_labels", [[0, -1], np.zeros((6, 2)), 0])
def test_labels_of_other_rows_are_refused(known_labels):
    with pytest.raises(ValueError, match=r"for each of the 6 rows. Got shape \("):
        read_known_labels(known_labels, 6)


def test_a_class_is_that_of_its_whole_group():
    known = Known.from_rows(X, [2, -1, -1, -1, 0, -1], Constraints([(0, 3), (3, 5)], [(1, 2)]))
    assert known.labels.tolist() == [2, -1, -1, 2, 0, 2]
    assert [group.tolist() for group in known.groups] == [[0, 3, 5]]
    assert known.rows.tolist() == [0, 1, 2, 3, 4, 5]
    assert known.n_facts == 4 + 2 + 1


def test_identical_rows_link_groups():
    twice = X.copy()
    twice[4] = twice[1]
    known = Known.from_rows(twice, None, Constraints([(0, 1), (4, 5)]))
    assert [group.tolist() for group in known.groups] == [[0, 1, 4, 5]]
    with pytest.raises(ValueError, match="rows 0 and 5 cannot-link, but pairs of must_link"):
        Known.from_rows(twice, None, Constraints([(0, 1), (4, 5)], [(0, 5)]))


def test_nothing_is_known_without_any_pair_or_label():
    assert Known.from_rows(X, [-1, None, np.nan, -1, -1, -1], None) is None
    assert Known.from_rows(X, None, Constraints()) is None


def test_streams_have_no_numbers_of_rows():
    rows = Rows.from_array(X)
    with pytest.raises(TypeError, match="constraints must be of rows in memory"):
        Known.from_rows(rows, None, Constraints([(0, 1)]))
    with pytest.raises(TypeError, match="known_labels must be of rows in memory"):
        Known.from_rows(rows, [0, -1, -1, -1, -1, -1], None)
    assert Known.from_rows(rows, None, None) is None


def test_constraints_are_constraints():
    with pytest.raises(TypeError, match=r"constraints must be eigencut.Constraints. Got list; use"):
        Known.from_rows(X, None, [(0, 1)])
