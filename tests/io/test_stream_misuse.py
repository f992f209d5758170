"""Streams where rows in memory are expected, and the other way round."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from eigencut import GPOD, Rows, inspection

X = make_blobs(500, centers=3, random_state=0)[0]


@pytest.fixture(scope="module")
def model():
    return GPOD(3, affinity="landmarks").fit(Rows.from_array(X[:400]))


def test_a_stream_is_not_predicted_in_memory(model):
    for ask in (model.predict, model.transform, model.predict_proba, model.predict_margin):
        with pytest.raises(TypeError, match=r"Got a stream, eigencut.Rows; use predict_stream"):
            ask(Rows.from_array(X))


def test_rows_in_memory_are_no_stream(model, tmp_path):
    with pytest.raises(TypeError, match=r"rows must be eigencut.Rows. Got ndarray; use predict"):
        model.predict_stream(X, tmp_path / "labels.npy")
    assert not list(tmp_path.iterdir())


def test_labels_of_a_stream_are_not_returned():
    model = GPOD(3, affinity="landmarks")
    with pytest.raises(TypeError, match=r"the model is fitted: use predict_stream"):
        model.fit_predict(Rows.from_array(X))
    assert model.predict(X[:5]).shape == (5,)


@pytest.mark.parametrize("way", ["itself", "link", "in a folder"])
def test_labels_do_not_replace_the_rows_they_are_of(model, tmp_path, way):
    folder = tmp_path / "rows"
    folder.mkdir()
    source = folder / "a.npy"
    np.save(source, X)
    before, target = source.read_bytes(), source
    if way == "link":
        target = tmp_path / "other.npy"
        target.symlink_to(source)
    rows = Rows.from_file(folder if way == "in a folder" else source)
    with pytest.raises(ValueError, match=r"another file than those the rows are read from"):
        model.predict_stream(rows, target)
    assert source.read_bytes() == before
    assert model.predict_stream(rows, tmp_path / "labels.npy") == 500


def test_a_model_of_a_stream_is_assessed_on_new_rows(model):
    found = inspection.assess(model, X[400:])
    assert "cut" in str(found) and found.cut_training is None and found.cut_heldout.n_rows == 100
    with pytest.raises(ValueError, match=r"X_heldout must be given for a model that has not kept"):
        inspection.assess(model)


@pytest.mark.parametrize("cut", ["ncut", "ratiocut"])
@pytest.mark.parametrize("K", [2, 9])
def test_affinities_of_zero_connect_nothing(cut, K):
    with pytest.raises(ValueError, match=r"affinity must connect the rows"):
        GPOD(K, cut=cut, affinity="precomputed").fit(np.zeros((9, 9)))


def test_the_number_of_clusters_is_looked_at_before_memory():
    with pytest.raises(ValueError, match=r"at most the number of different rows, 500. Got 10000"):
        GPOD(10**9).fit(X)
