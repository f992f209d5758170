"""Splitting a cluster: others stay, any row is labelled, files hold it, and nonsense is refused."""

from copy import deepcopy

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from conftest import same_partition
from eigencut import (
    GPOD,
    Gaussian,
    Landmarks,
    ModelFileError,
    Neighbors,
    Reclustered,
    Rows,
    TableModel,
    inspection,
    load,
    recluster,
)
from eigencut.export import to_onnx
from eigencut.io.model_format import read, write

pytestmark = pytest.mark.filterwarnings("ignore::eigencut.GraphWarning")

RNG = np.random.default_rng(0)
CENTRES = np.array([[0.0, 0], [0, 8], [40, 0], [40, 8]])
TRUE = RNG.integers(0, 4, 300)
X = CENTRES[TRUE] + RNG.normal(size=(300, 2))
FRAME = pd.DataFrame({"km": 1000 * X[:, 0], "t": X[:, 1]})
NEW = CENTRES[RNG.integers(0, 4, 60)] + 1.5 * RNG.normal(size=(60, 2))
AFFINITIES = {"gaussian": Gaussian(6.0), "neighbors": Neighbors(25), "landmarks": Landmarks(80)}


@pytest.fixture(scope="module", params=AFFINITIES)
def model(request):
    return GPOD(2, affinity=AFFINITIES[request.param]).fit(X)


def test_only_the_cluster_is_split(model):
    found = recluster(model, X, cluster=1, n_clusters=2)
    before, after = model.predict(NEW), found.predict(NEW)
    assert found.n_clusters_ == 3
    np.testing.assert_array_equal(after[before == 0], 0)
    assert set(after[before == 1].tolist()) == {1, 2}
    inside = model.predict(X) == 1
    assert same_partition(found.predict(X)[inside], TRUE[inside])
    sizes = np.bincount(found.predict(X))
    assert sizes[1] >= sizes[2]  # the largest part keeps the number


def test_a_row_does_not_depend_on_its_company(model):
    found = recluster(model, X, cluster=0)
    alone = [found.predict(row[np.newaxis])[0] for row in NEW[:12]]
    assert found.predict(NEW[:12]).tolist() == alone


def test_parts_can_be_split_again(model):
    found = recluster(recluster(model, X, cluster=0), X, cluster=1)
    assert found.n_clusters_ == 4 and same_partition(found.predict(X), TRUE)
    assert [split.numbers.tolist() for split in found.splits_] == [[0, 2], [1, 3]]
    again = recluster(found, X, cluster=3)
    assert again.n_clusters_ == 5 and again.splits_[2].numbers.tolist() == [3, 4]
    assert found.n_clusters_ == 4  # what it was made of stays as it is


def test_probabilities_keep_odds_and_agree_with_labels(model):
    found = recluster(model, X, cluster=1)
    rows = np.vstack([NEW, [[20.0, 0.0], [20.0, 4.0], [0.0, 4.0], [1e5, -1e5]]])
    base, all_of = model.predict_proba(rows), found.predict_proba(rows)
    np.testing.assert_allclose(all_of.sum(axis=1), 1)
    np.testing.assert_array_equal(all_of.argmax(axis=1), found.predict(rows))
    part = found.splits_[0].part.predict_proba(rows)
    np.testing.assert_allclose(all_of[:, 1] * part[:, 1], all_of[:, 2] * part[:, 0], rtol=1e-9)
    best = all_of[:, 1:].max(axis=1)
    np.testing.assert_allclose(best * base[:, 0], all_of[:, 0] * base[:, 1], rtol=1e-9)


def test_margins_are_of_the_less_certain_stage(model):
    found = recluster(model, X, cluster=0)
    inside, part = model.predict(NEW) == 0, found.splits_[0].part
    both = np.minimum(model.predict_margin(NEW), part.predict_margin(NEW))
    np.testing.assert_allclose(found.predict_margin(NEW)[inside], both[inside])
    np.testing.assert_allclose(
        found.predict_margin(NEW)[~inside], model.predict_margin(NEW)[~inside]
    )
    np.testing.assert_array_equal(found.score_samples(NEW), model.score_samples(NEW))


def test_files_hold_it(model, tmp_path):
    found = recluster(recluster(model, X, cluster=0), X, cluster=2)
    found.save(tmp_path / "finer.eigencut")
    again = load(tmp_path / "finer.eigencut")
    assert isinstance(again, Reclustered) and again.n_clusters_ == 4
    np.testing.assert_array_equal(again.predict(NEW), found.predict(NEW))
    np.testing.assert_array_equal(again.predict_proba(NEW), found.predict_proba(NEW))


def test_rows_that_the_model_keeps_are_enough():
    twice = np.vstack([X, X[:40]])
    model = GPOD(2, affinity=Gaussian(6.0)).fit(twice)
    kept, given = recluster(model, cluster=1), recluster(model, twice, cluster=1)
    np.testing.assert_array_equal(kept.predict(NEW), given.predict(NEW))
    weighted = GPOD(2, affinity=Gaussian(6.0)).fit(X, sample_weight=1 + (np.arange(300) < 40))
    np.testing.assert_array_equal(recluster(weighted, cluster=1).predict(NEW), given.predict(NEW))
    with pytest.raises(ValueError, match="X must be given for a model that has not kept its rows"):
        recluster(GPOD(2, affinity=Landmarks(50)).fit(X), cluster=1)


def test_tables_keep_units_and_gaps(tmp_path):
    model = TableModel(GPOD(2, affinity=Gaussian(0.5)), missing="drop").fit(FRAME)
    found = recluster(model, FRAME, cluster=0)
    assert found.columns_ == ["km", "t"]
    gaps = FRAME.copy()
    gaps.loc[3, "t"] = np.nan
    labels = found.predict(gaps[["t", "km"]])
    assert labels[3] == -1 and (np.delete(labels, 3) == np.delete(found.predict(FRAME), 3)).all()
    assert np.isnan(found.predict_margin(gaps)[3]) and np.isnan(found.predict_proba(gaps)[3]).all()
    described = found.describe(gaps)
    assert described.n_unlabelled == 1 and len(described.clusters) == 3
    assert {c.column for c in described.clusters[2].contrasts} <= {"km", "t"}
    assert found.predict(FRAME[:0]).shape == (0,)
    found.save(tmp_path / "t.eigencut")
    np.testing.assert_array_equal(
        load(tmp_path / "t.eigencut").predict(FRAME), found.predict(FRAME)
    )


def test_outliers_stay_outliers():
    model = GPOD(2, affinity=Gaussian(6.0), outliers="label", outlier_quantile=0.05).fit(X)
    found = recluster(model, X, cluster=0)
    np.testing.assert_array_equal(found.predict(X) == -1, model.predict(X) == -1)
    assert (found.predict(X) == -1).any()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cluster": 2}, "cluster must be the number of a cluster, from 0 to 1. Got 2"),
        ({"cluster": -1}, "Got -1"),
        ({"cluster": "0"}, "Got '0'"),
        ({"cluster": True}, "Got True"),
        ({"cluster": 0, "n_clusters": 1}, "n_clusters must be an integer of at least 2. Got 1"),
        ({"cluster": 0, "n_clusters": 10**6}, "n_clusters must be at most"),
    ],
)
def test_what_is_refused(options, message):
    model = GPOD(2, affinity=Gaussian(6.0)).fit(X)
    with pytest.raises(ValueError, match=message):
        recluster(model, X, **options)


def test_models_that_cannot_be_split():
    with pytest.raises(ValueError, match="model must be a GPOD, a TableModel"):
        recluster("model", X, cluster=0)
    with pytest.raises(NotFittedError):
        recluster(GPOD(2), X, cluster=0)
    with pytest.raises(NotFittedError, match=r"use eigencut.recluster"):
        Reclustered().predict(X)
    W = np.exp(-((X[:, np.newaxis] - X) ** 2).sum(2))
    with pytest.raises(ValueError, match="precomputed affinities"):
        recluster(GPOD(2, affinity="precomputed").fit(W), W, cluster=0)
    model = GPOD(2, affinity=Gaussian(6.0)).fit(X)
    only = X[model.predict(X) == 0]
    with pytest.raises(ValueError, match=r"X must hold rows of cluster 1 to split it. Got 0 among"):
        recluster(model, only, cluster=1)


def crafted(change, tmp_path):
    model = GPOD(2, affinity=Gaussian(6.0)).fit(X[:60])
    path = tmp_path / "m.eigencut"
    recluster(model, X[:60], cluster=1).save(path)
    header, arrays = read(path)
    content, arrays = deepcopy(header.content), dict(arrays)
    change(content["model"], arrays)
    write(path, content, arrays)
    return path


@pytest.mark.parametrize(
    "change",
    [
        lambda tree, arrays: arrays.update({"state.clusters": np.array([2])}),
        lambda tree, arrays: arrays.update({"state.clusters": np.array([-1])}),
        lambda tree, arrays: arrays.update({"state.clusters": np.array([1, 1])}),
        lambda tree, arrays: arrays.update({"state.clusters": np.zeros(20_000, dtype=np.int64)}),
        lambda tree, arrays: arrays.pop("state.clusters"),
        lambda tree, arrays: tree["state"]["part_a"]["parameters"].update(outliers="label"),
        lambda tree, arrays: tree["state"]["base"].update({"class": "Reclustered"}),
        lambda tree, arrays: tree["state"]["base"].update({"class": "Gaussian"}),
        lambda tree, arrays: tree["state"]["part_a"].update({"class": "TableModel"}),
    ],
)
def test_hostile_files_are_refused(change, tmp_path):
    with pytest.raises(ModelFileError) as caught:
        load(crafted(change, tmp_path))
    assert "\n" not in str(caught.value)


def test_it_has_the_labels_of_the_rows_it_was_made_with(model, tmp_path):
    finer = recluster(model, X, cluster=0)
    assert (finer.labels_ == finer.predict(X)).all() and len(set(finer.labels_)) == 3
    assert (recluster(finer, NEW, cluster=1).labels_.shape) == (len(NEW),)
    finer.save(tmp_path / "m.eigencut")
    assert (load(tmp_path / "m.eigencut").labels_ == finer.labels_).all()


def test_labels_of_incomplete_rows():
    frame = FRAME.copy()
    frame.loc[7, "t"] = np.nan
    base = TableModel(GPOD(2, affinity=Neighbors(25)), missing="drop").fit(frame)
    finer = recluster(base, frame, cluster=0)
    assert finer.labels_[7] == -1 and (finer.labels_ == finer.predict(frame)).all()


@pytest.fixture(scope="module")
def halves():
    """A model of the left and the right half, and the same with cluster 0 split."""
    model = GPOD(2, affinity=Neighbors(25)).fit(X)
    return model, recluster(model, X, cluster=0)


def test_the_embedding_and_the_error_are_those_of_the_cut_before_the_split(halves):
    model, finer = halves
    assert np.array_equal(finer.transform(X), model.transform(X))
    assert finer.score(X) == model.score(X)


def test_drift_is_that_of_the_cut_before_the_split(halves):
    model, finer = halves
    assert finer.drift(X[:100] + 3).to_dict() == model.drift(X[:100] + 3).to_dict()


def test_the_tree_joins_the_parts_of_a_split_first(halves):
    model, finer = halves
    tree = finer.hierarchy()
    assert np.array_equal(tree.sizes, np.bincount(finer.predict(X)))
    assert np.array_equal(tree.labels(2)[finer.predict(X)], model.predict(X))
    assert set(tree.labels(1)) == {0}
    assert len(tree.joinings) == len(tree.cut_values) - 1 == 2
    assert [joining.n_groups for joining in tree.joinings] == [3, 2]
    assert str(tree).count("rows") == 5


def test_an_update_keeps_the_numbers_of_clusters_and_parts(halves):
    _, finer = halves
    more = X[::3] + 0.01
    updated = deepcopy(finer).update(more)
    assert np.array_equal(updated.predict(X), finer.predict(X))
    assert np.array_equal(updated.labels_, updated.predict(more))
    n_seen = [split.part.affinity_.n_rows_ for split in (finer.splits_[0], updated.splits_[0])]
    assert n_seen[1] == n_seen[0] + (finer.predict(more) != 1).sum()


def test_an_update_in_which_clusters_come_changes_nothing():
    model = GPOD("auto", affinity=Neighbors(25)).fit(X[TRUE != 3])
    finer = recluster(model, X[TRUE != 3], cluster=0)
    before = finer.predict(X)
    with pytest.raises(ValueError, match=r"add or remove clusters; update .* model.unsplit"):
        finer.update(RNG.normal(400.0, 1.0, size=(200, 2)))
    assert np.array_equal(finer.predict(X), before)


@pytest.mark.parametrize("of_table", [False, True])
def test_a_stream_is_labelled_as_rows_in_memory(of_table, tmp_path):
    model = (TableModel(GPOD(2)) if of_table else GPOD(2)).fit(X)
    rows, given = Rows.from_array(X), X
    with pytest.raises(TypeError, match=r"rows must be eigencut.Rows. Got ndarray; use predict"):
        model.predict_stream(X, tmp_path / "labels.npy")
    for one in (model, recluster(model, X, cluster=0)):
        assert one.predict_stream(rows, tmp_path / "labels.npy") == len(X)
        assert np.array_equal(np.load(tmp_path / "labels.npy"), one.predict(given))
        one.predict_proba_stream(rows, tmp_path / "p.npy")
        np.testing.assert_allclose(np.load(tmp_path / "p.npy"), one.predict_proba(given), atol=1e-3)


def test_label_sets_need_one_cut(halves):
    with pytest.raises(TypeError, match=r"clusters were split; ask .* model.unsplit, or a part"):
        halves[1].predict_set(X, calibration=X)


@pytest.mark.parametrize(
    "ask", [inspection.assess, inspection.stability, lambda m: to_onnx(m, "m.onnx")]
)
def test_questions_about_one_cut_are_refused(ask):
    finer = recluster(GPOD(2, affinity=Neighbors(25)).fit(X), cluster=0)
    with pytest.raises(TypeError, match=r"clusters were split; ask .* or a part"):
        ask(finer)
