"""Questions about risk, asked of a model of a table."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_blobs

from eigencut import GPOD, TableModel
from eigencut.inspection import assess, stability
from eigencut.inspection.assessment import cut_value
from eigencut.theory import learning_curve

ROWS, _ = make_blobs(160, 2, centers=3, random_state=0)
FRAME = pd.DataFrame(100 * ROWS, columns=["a", "b"]).assign(size=np.tile(["S", "M"], 80))
FRAME.loc[130, "a"] = np.nan


@pytest.fixture(scope="module")
def model():
    return TableModel(GPOD(3, solver="relaxed"), scale="standard", missing="drop").fit(FRAME[:120])


@pytest.mark.parametrize("question", [assess, cut_value])
def test_the_answer_is_that_of_the_model_inside_on_prepared_rows(model, question):
    rows, complete = model.prepare(FRAME[120:])
    assert complete.sum() == 39
    assert str(question(model, FRAME[120:])) == str(question(model.model_, rows))
    weight = np.arange(1.0, 41.0)
    expected = question(model.model_, rows, sample_weight=weight[complete])
    assert str(question(model, FRAME[120:], sample_weight=weight)) == str(expected)


def test_questions_without_new_rows(model):
    assert str(assess(model)) == str(assess(model=model.model_))


def test_questions_by_refits(model):
    rows, _ = model.prepare(FRAME[:120])
    expected = stability(model.model_, rows, n_refits=3)
    assert str(stability(model, X=FRAME[:120], n_refits=3)) == str(expected)
    asked = {"sizes": [40, 80], "n_repeats": 2}
    assert str(learning_curve(model, FRAME[:120], **asked)) == str(
        learning_curve(model.model_, rows, **asked)
    )
