"""Rows with columns of few values, as words that became points have them: the plain default."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score

from conftest import change_auto_policy
from eigencut import GPOD, Neighbors, Rows, TableModel, load

pytestmark = pytest.mark.filterwarnings("ignore::eigencut.GraphWarning")


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


@pytest.mark.parametrize("n", [200, 600, 1000, 6000])
@pytest.mark.parametrize("seed", [0, 1])
def test_words_that_tell_nothing_do_not_hide_clusters(n, seed):
    """A graph of neighbours falls into nine cells of equal words."""
    frame, clusters = customers(n, seed)
    model = TableModel(GPOD(3)).fit(frame)
    assert adjusted_rand_score(clusters, model.labels_) > 0.97
    assert (model.predict(frame) == model.labels_).all()
    new, truth = customers(500, seed + 10)
    assert adjusted_rand_score(truth, model.predict(new)) > 0.99


def test_many_rows_are_decided_on_some(monkeypatch):
    change_auto_policy(monkeypatch, whole_rows=1000)
    frame, clusters = customers(5000)
    model = TableModel(GPOD(3)).fit(frame)
    assert adjusted_rand_score(clusters, model.labels_) > 0.99


def test_a_stream_is_clustered_through_landmarks():
    frame, clusters = customers(2000)
    model = TableModel(GPOD(3)).fit(Rows(lambda: iter([frame])))
    assert adjusted_rand_score(clusters, model.predict(frame)) > 0.99


def test_the_number_of_clusters_is_found():
    rng = np.random.default_rng(0)
    clusters = rng.integers(4, size=2000)
    frame = pd.DataFrame(rng.normal(size=(2000, 3)) + 6 * rng.normal(size=(4, 3))[clusters])
    frame.columns = list("abc")
    frame["town"] = rng.choice(["Rome", "Oslo", "Bonn"], 2000)
    model = TableModel(GPOD("auto")).fit(frame)
    assert model.model_.n_clusters_ == 4
    assert adjusted_rand_score(clusters, model.labels_) > 0.9


def test_another_affinity_stays():
    frame, _ = customers(300)
    model = TableModel(GPOD(3, affinity="neighbors")).fit(frame)
    assert repr(model.model_.affinity_) == repr(Neighbors())
    assert model.model.affinity == "neighbors"


def test_it_is_kept_in_files(tmp_path):
    frame, _ = customers(400)
    model = TableModel(GPOD(3)).fit(frame)
    model.save(tmp_path / "m.eigencut")
    again = load(tmp_path / "m.eigencut")
    assert again.model_.affinity == again.model.affinity == "auto"
    assert (again.predict(frame) == model.labels_).all()
