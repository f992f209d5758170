"""c-TF-IDF against its formula, counted by hand."""

import math
import re
from collections import Counter

import numpy as np
import pytest

from eigencut.inspection.describe import words

DOCUMENTS = [
    "the engine of the car",
    "the car and the wheel",
    "the car needs an engine",
    "the orbit of the moon",
    "the moon and the sun",
    "an orbit near the sun",
] * 4
LABELS = np.array([0, 0, 0, 1, 1, 1] * 4)


def test_scores_are_those_of_the_formula():
    counts = [Counter(), Counter()]
    for text, k in zip(DOCUMENTS, LABELS, strict=True):
        counts[k].update(re.findall(r"\b\w\w+\b", text))
    mean = sum(sum(of.values()) for of in counts) / 2
    for k, found in enumerate(words(DOCUMENTS, LABELS, 2)):
        assert found
        for word in found:
            share = counts[k][word.word] / sum(counts[k].values())
            of_all = counts[0][word.word] + counts[1][word.word]
            assert word.score == pytest.approx(share * math.log(1 + mean / of_all))
        assert [w.score for w in found] == sorted((w.score for w in found), reverse=True)


def test_words_of_no_meaning_are_left_out():
    found = words(DOCUMENTS, LABELS, 2)
    assert found[0][0].word == "car" and found[0][0].share == 1.0 and found[0][0].overall == 0.5
    assert {word.word for word in found[1]} >= {"moon", "orbit", "sun"}
    assert not {"the", "and", "of"} & {word.word for of in found for word in of}


def test_no_words_no_rows_and_one_cluster():
    assert words(["", "!"], np.array([0, 1]), 2) == [(), ()]
    assert words(DOCUMENTS, LABELS, 3)[2] == ()
    assert words(DOCUMENTS, np.zeros(24, dtype=int), 1)[0]
