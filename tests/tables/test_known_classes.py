"""``TableModel.fit`` with classes of some rows."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from eigencut import GPOD, Constraints, TableModel, load
from eigencut.exceptions import GraphWarning, ModelFileError
from eigencut.io.state_reader import StateReader


@pytest.fixture
def table():
    rng = np.random.default_rng(1)
    kind = np.arange(90) % 3
    X = rng.normal(size=(90, 2)) + 8 * np.column_stack([kind == 1, kind == 2])
    known = np.where(rng.random(90) < 0.25, kind, -1)
    return pd.DataFrame(X, columns=["a", "b"]), known, kind


def test_labels_are_those_of_gpod_on_prepared_rows(table):
    frame, known, kind = table
    model = TableModel(GPOD(3)).fit(frame, known_labels=known)
    expected = GPOD(3).fit(model.prepare(frame)[0], known_labels=known)
    assert (model.labels_ == expected.labels_).all() and (model.labels_ == kind).mean() > 0.95
    assert (TableModel(GPOD(3)).fit_predict(frame, known_labels=known) == model.labels_).all()


def test_words_name_clusters_in_files_and_updates_too(table, tmp_path):
    frame, known, kind = table
    words = pd.Series(known).map({0: "c", 1: "b", 2: "a"})
    model = TableModel(GPOD(3)).fit(frame, known_labels=words)
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
    model = TableModel(GPOD(3), missing="drop").fit(holes, known_labels=known)
    complete = holes["a"].notna().to_numpy()
    expected = TableModel(GPOD(3)).fit(holes[complete], known_labels=known[complete])
    assert (model.labels_[complete] == expected.labels_).all()
    assert (model.labels_[~complete] == -1).all()


def test_y_is_ignored_in_silence(table):
    frame, known, kind = table
    labels = TableModel(GPOD(3)).fit(frame).labels_
    with warnings.catch_warnings():
        warnings.simplefilter("error", GraphWarning)
        for y in (kind, known, np.array(["x", "y", "z"])[kind], np.linspace(0, 1, 90)):
            assert (TableModel(GPOD(3)).fit(frame, y).labels_ == labels).all()
            assert (TableModel(GPOD(3)).fit_predict(frame, y) == labels).all()
            TableModel(GPOD(3)).fit(frame).partial_fit(frame, y)
        make_pipeline(GPOD(3), LogisticRegression()).fit(frame, kind)
        cross_val_score(TableModel(GPOD(3)), frame, kind, cv=2)


def test_all_rows_may_be_known(table):
    frame, _, kind = table
    model = TableModel(GPOD(3)).fit(frame, known_labels=np.array(["z", "y", "x"])[kind])
    assert model.class_names_ == ["x", "y", "z"] and (model.labels_ == 2 - kind).mean() > 0.95


def test_one_known_class_has_its_number(table):
    frame, _, kind = table
    known = np.where((np.arange(90) < 30) & (kind == 1), 1.0, np.nan)
    for model in (TableModel(GPOD(3)), GPOD(3)):
        assert (model.fit(frame, known_labels=known).labels_[kind == 1] == 1).mean() > 0.95


def test_pairs_are_rows_of_the_table(table):
    frame, _, _ = table
    pairs = Constraints(must_link=[(1, 40), (40, 77)], cannot_link=[(0, 1)])
    model = TableModel(GPOD(3)).fit(frame, constraints=pairs)
    expected = GPOD(3).fit(model.prepare(frame)[0], constraints=pairs)
    assert (model.labels_ == expected.labels_).all() and len(set(model.labels_[[1, 40, 77]])) == 1
    holes = frame.copy()
    holes.loc[[0, 5], "a"] = np.nan
    linked = Constraints(must_link=[(1, 40), (40, 77)])
    dropping = TableModel(GPOD(3), missing="drop").fit(holes, constraints=linked)
    assert len(set(dropping.labels_[[1, 40, 77]])) == 1 and (dropping.labels_[[0, 5]] == -1).all()
    with pytest.raises(ValueError, match=r"cannot_link must hold rows that take part. Got row 0"):
        TableModel(GPOD(3), missing="drop").fit(holes, constraints=pairs)
    with pytest.raises(ValueError, match="from 0 to 89"):
        TableModel(GPOD(3)).fit(frame, constraints=Constraints([(0, 90)]))
    with pytest.raises(TypeError, match=r"constraints must be eigencut.Constraints"):
        TableModel(GPOD(3)).fit(frame, constraints=[(0, 1)])


def test_labels_of_another_length_is_refused(table):
    frame, known, _ = table
    with pytest.raises(ValueError, match=r"for each of the 90 rows. Got shape \(89,\)"):
        TableModel(GPOD(3)).fit(frame, known_labels=known[:-1])


@pytest.mark.parametrize("names", [["a", "a"], ["a", 1], "ab", ["a", "b", "c"]])
def test_names_in_a_file_are_read_with_suspicion(names):
    with pytest.raises(ModelFileError, match="different names"):
        StateReader({"class_names": names}).words("class_names", most=2)
