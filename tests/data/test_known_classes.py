"""``TableModel.fit`` with classes of some rows."""

import numpy as np
import pandas as pd
import pytest

from eigencut import GPOD, TableModel, load
from eigencut.exceptions import ModelFileError
from eigencut.files.state_reader import StateReader


@pytest.fixture
def table():
    rng = np.random.default_rng(1)
    kind = np.arange(90) % 3
    X = rng.normal(size=(90, 2)) + 8 * np.column_stack([kind == 1, kind == 2])
    known = np.where(rng.random(90) < 0.25, kind, -1)
    return pd.DataFrame(X, columns=["a", "b"]), known, kind


def test_labels_are_those_of_gpod_on_prepared_rows(table):
    frame, known, kind = table
    model = TableModel(GPOD(3)).fit(frame, known)
    expected = GPOD(3).fit(model.prepare(frame)[0], known)
    assert (model.labels_ == expected.labels_).all() and (model.labels_ == kind).mean() > 0.95
    assert (TableModel(GPOD(3)).fit_predict(frame, known) == model.labels_).all()


def test_words_name_clusters_in_files_and_updates_too(table, tmp_path):
    frame, known, kind = table
    words = pd.Series(known).map({0: "c", 1: "b", 2: "a"})
    model = TableModel(GPOD(3)).fit(frame, words)
    assert model.class_names_ == ["a", "b", "c"] and (model.labels_ == 2 - kind).mean() > 0.95
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.class_names_ == model.class_names_
    assert (again.predict(frame) == model.labels_).all()
    assert TableModel(GPOD(3)).fit(frame).class_names_ == []


def test_classes_of_incomplete_rows_are_left_out(table):
    frame, known, _ = table
    holes = frame.copy()
    holes.loc[known >= 0, "a"] = np.where(np.arange((known >= 0).sum()) % 2, np.nan, 0.5)
    model = TableModel(GPOD(3), missing="drop").fit(holes, known)
    complete = holes["a"].notna().to_numpy()
    expected = TableModel(GPOD(3)).fit(holes[complete], known[complete])
    assert (model.labels_[complete] == expected.labels_).all()
    assert (model.labels_[~complete] == -1).all()


def test_a_y_without_unknown_rows_changes_nothing(table):
    frame, _, kind = table
    labels = TableModel(GPOD(3)).fit(frame).labels_
    for y in (kind, np.array(["x", "y", "z"])[kind], np.linspace(0, 1, 90)):
        assert (TableModel(GPOD(3)).fit(frame, y).labels_ == labels).all()


def test_y_of_another_length_is_refused(table):
    frame, known, _ = table
    with pytest.raises(ValueError, match="y must have a class for each of the 90 rows"):
        TableModel(GPOD(3)).fit(frame, known[:-1])


@pytest.mark.parametrize("names", [["a", "a"], ["a", 1], "ab", ["a", "b", "c"]])
def test_names_in_a_file_are_read_with_suspicion(names):
    with pytest.raises(ModelFileError, match="different names"):
        StateReader({"class_names": names}).some_words("class_names", 2)
