"""Classes as people write them, against what each cell is worth by itself."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eigencut.exceptions import GraphWarning
from eigencut.semi_supervised.known_labels import KnownClasses, known_classes_of_rows, named

UNKNOWN_CELLS = [None, "", "  ", "-1", -1, float("nan")]
WORDS = ["ham", "spam", "true", "3 b"]


@given(st.lists(st.sampled_from([*WORDS, *UNKNOWN_CELLS]), min_size=1))
def test_words_keep_their_names(cells):
    found = KnownClasses.of(cells)
    is_word = [cell in WORDS for cell in cells]
    assert ((found.labels >= 0) == is_word).all()
    assert list(found.names) == sorted(set(found.names)) == sorted({*cells} & {*WORDS})
    assert named(found.labels, found.names) == [c if c in WORDS else "" for c in cells]


@given(st.lists(st.sampled_from([0, 1.0, "2", "03", *UNKNOWN_CELLS]), min_size=1))
def test_numbers_stay_as_they_are(cells):
    found = KnownClasses.of(cells)
    expected = [-1 if cell in UNKNOWN_CELLS or cell != cell else int(cell) for cell in cells]
    assert found.labels.tolist() == expected and found.names == ()


@pytest.mark.parametrize("cells", [[0.5, -1], [-2, 0, -1], ["1.5", None]])
def test_other_numbers_are_no_classes(cells):
    assert KnownClasses.of(cells) is None


@pytest.mark.parametrize("y", [None, ["a", "b", "a"], [0, 1, 2], [None] * 3, np.zeros((3, 2))])
def test_what_does_not_tell_known_from_unknown_says_nothing(y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphWarning)
        found = known_classes_of_rows(y, 3)
    assert found.labels.tolist() == [-1, -1, -1] and found.names == ()


def test_columns_of_pandas():
    for column in (
        pd.Series(["b", None, "a"]),
        pd.Series(["b", None, "a"], dtype="category"),
        pd.Series(["b", "", "a"], dtype="string"),
    ):
        assert known_classes_of_rows(column, 3).labels.tolist() == [1, -1, 0]
    assert known_classes_of_rows(pd.Series([1, None, 0], dtype="Int64"), 3).names == ()


def test_a_class_for_each_row():
    with pytest.raises(ValueError, match=r"each of the 4 rows. Got 2 of them"):
        known_classes_of_rows(["a", None], 4)
