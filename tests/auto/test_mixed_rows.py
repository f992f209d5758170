"""Rows with columns of few values, as words that became points have them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score

from conftest import change_auto_policy
from eigencut import GPOD, Landmarks, Rows, TableModel, load, select


def customers(n, seed=0):
    """Three clusters by age and size; towns have nothing to do with them."""
    rng = np.random.default_rng(seed)
    clusters = rng.integers(3, size=n)
    frame = pd.DataFrame(
        {
            "age": rng.normal(size=n) + 5 * clusters,
            "town": rng.choice(["Rome", "Oslo", "Bonn"], n),
            "size": np.array(["small", "medium", "large"])[clusters],
        }
    )
    return frame, clusters


def coded(frame):
    """Numbers of variance 1 beside one-hot words."""
    age = (frame[["age"]] - frame["age"].mean()) / frame["age"].std()
    words = 0.4 * pd.get_dummies(frame[["town", "size"]]).to_numpy(dtype=float)
    return np.hstack([age.to_numpy(), words])


@pytest.mark.parametrize("n", [600, 1000, 6000])
@pytest.mark.parametrize("seed", [0, 1])
def test_words_that_tell_nothing_do_not_hide_clusters(n, seed):
    """A graph of neighbours falls into nine cells of equal words."""
    frame, clusters = customers(n, seed)
    model = TableModel(GPOD(3)).fit(frame)
    assert adjusted_rand_score(clusters, model.labels_) > 0.99
    assert isinstance(model.model_.affinity_, Landmarks)
    assert (model.predict(frame) == model.labels_).all()


def test_landmarks_become_fewer_as_long_as_their_graph_is_in_pieces():
    frame, clusters = customers(3000)
    model = TableModel(GPOD(3)).fit(frame).model_
    looked_at = [f"Landmarks(n_landmarks={p})" for p in (100, 50, 25)][: len(model.choice_)]
    assert [one.affinity for one in model.choice_] == looked_at
    assert model.affinity_.n_landmarks < 100 and repr(model.affinity_) == looked_at[-1]
    assert adjusted_rand_score(clusters, model.labels_) > 0.99


def test_few_different_rows_have_the_graph_of_neighbours():
    frame, _ = customers(199)
    rows = coded(frame)
    few, auto = (GPOD(3, affinity=name).fit(rows) for name in ("mixed", "auto"))
    assert repr(few.affinity_) == repr(auto.affinity_) and (few.labels_ == auto.labels_).all()


def test_many_rows_are_decided_on_some(monkeypatch):
    change_auto_policy(monkeypatch, whole_rows=1000)
    frame, clusters = customers(5000)
    model = GPOD(3, affinity="mixed").fit(coded(frame))
    assert model.affinity_.n_rows_ == 5000
    assert adjusted_rand_score(clusters, model.labels_) > 0.99


def test_as_many_landmarks_as_clusters_ask_for():
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(40, 6)) * 4
    X = np.repeat(centers, 30, axis=0) + rng.normal(size=(1200, 6))
    model = GPOD(40, affinity="mixed").fit(X)
    assert model.affinity_.n_landmarks == 160 and model.n_clusters_ == 40


def test_a_stream_has_a_hundred_landmarks():
    frame, _ = customers(2000)
    model = TableModel(GPOD(3)).fit(Rows(lambda: iter([frame])))
    assert model.model_.affinity_.n_landmarks == 100
    assert len(set(model.predict(frame))) == 3


def test_the_number_of_clusters_is_looked_for_through_landmarks():
    rng = np.random.default_rng(0)
    clusters = rng.integers(4, size=2000)
    frame = pd.DataFrame(rng.normal(size=(2000, 3)) + 6 * rng.normal(size=(4, 3))[clusters])
    frame.columns = list("abc")
    frame["town"] = rng.choice(["Rome", "Oslo", "Bonn"], 2000)
    model = TableModel(GPOD("auto")).fit(frame)
    assert model.model_.n_clusters_ == 4
    assert adjusted_rand_score(clusters, model.labels_) > 0.9
    found = select(coded(customers(1000)[0]), range(2, 5), affinity="mixed")
    assert found.best.affinity.n_landmarks == 100


def test_another_affinity_stays():
    frame, _ = customers(300)
    model = TableModel(GPOD(3, affinity="neighbors")).fit(frame)
    assert not isinstance(model.model_.affinity_, Landmarks)
    assert model.model.affinity == "neighbors"


def test_it_is_kept_in_files(tmp_path):
    frame, _ = customers(400)
    model = TableModel(GPOD(3)).fit(frame)
    model.save(tmp_path / "m.eigencut")
    again = load(tmp_path / "m.eigencut")
    assert again.model_.affinity == "mixed" and again.model.affinity == "auto"
    assert (again.predict(frame) == model.labels_).all()
