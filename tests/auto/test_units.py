"""Columns of different units: when the default brings them to one scale, and that answers agree."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.metrics import adjusted_rand_score

import eigencut
from eigencut import GPOD, Rows, TableModel, align_labels
from eigencut.export import run_onnx, to_onnx
from eigencut.inspection import assess, stability
from eigencut.inspection.leaving import leaving_share
from eigencut.report import summarize
from eigencut.theory import learning_curve


def mixed_units(seed=0, n=300):
    """Three clusters in five columns, beside one of noise in a unit a thousand times smaller."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    X = 3 * rng.normal(size=(3, 6))[y] + rng.normal(size=(n, 6))
    X[:, 0] = 1000 * rng.normal(size=n)
    return X, y


@pytest.fixture(scope="module")
def fitted():
    X, y = mixed_units()
    return X, y, GPOD(3).fit(X)


def test_columns_of_different_units_are_brought_to_one_scale(fitted):
    X, y, model = fitted
    assert adjusted_rand_score(y, model.labels_) > 0.9
    mantissa, _ = np.frexp(model.column_scales_)
    assert (mantissa == 0.5).all()  # powers of two, so that nothing is rounded
    as_given = GPOD(3, metric="euclidean").fit(X)
    assert as_given.column_scales_ is None
    assert adjusted_rand_score(y, as_given.labels_) < 0.5


@pytest.mark.parametrize(("load", "least"), [(load_wine, 0.85), (load_breast_cancer, 0.6)])
def test_well_known_tables_are_clustered_as_they_come(load, least):
    X, y = load(return_X_y=True)
    model = GPOD(len(np.unique(y))).fit(X)
    assert adjusted_rand_score(y, model.labels_) > least


def test_every_answer_takes_rows_in_their_units(fitted, tmp_path):
    X, _, model = fitted
    new, _ = mixed_units(1, 40)
    labels = model.predict(new)
    assert (model.predict(X) == model.labels_).all()
    assert [model.predict(row[np.newaxis])[0] for row in new[:10]] == labels[:10].tolist()
    assert (np.argmax(model.predict_proba(new), axis=1) == labels).all()
    assert (model.answers(new).labels == labels).all()
    assert (model.in_units(model.prepare(new)[0]) == new).all()
    model.save(tmp_path / "model")
    again = eigencut.load(tmp_path / "model")
    assert (again.column_scales_ == model.column_scales_).all()
    assert (again.predict(new) == labels).all()
    model.predict_stream(Rows.from_array(new), tmp_path / "labels.npy")
    assert (np.load(tmp_path / "labels.npy") == labels).all()
    to_onnx(model, tmp_path / "model.onnx")
    assert (run_onnx(tmp_path / "model.onnx", new)["labels"] == labels).all()


def test_a_scaled_model_is_the_model_of_scaled_rows(fitted):
    X, _, model = fitted
    new, _ = mixed_units(1, 60)
    scales = model.column_scales_
    of_scaled = GPOD(3, metric="euclidean").fit(X / scales)
    shares, expected = leaving_share(model, new), leaving_share(of_scaled, new / scales)
    assert (shares.high == expected.high).all()
    assert assess(model, new).leaving.to_dict() == assess(of_scaled, new / scales).leaving.to_dict()
    told, known = stability(model, X, n_refits=4), stability(of_scaled, X / scales, n_refits=4)
    assert str(told) == str(known)
    curve = learning_curve(model, X, sizes=[60, 90], n_repeats=2)
    on_scaled = learning_curve(of_scaled, X / scales, sizes=[60, 90], n_repeats=2)
    assert (curve.excess == on_scaled.excess).all()
    report = summarize(model, X, X_new=new).to_dict()
    on_scaled = summarize(of_scaled, X / scales, X_new=new / scales).to_dict()
    assert report["stability"] == on_scaled["stability"]


def test_models_of_different_scales_are_aligned(fitted):
    X, _, model = fitted
    other = GPOD(3, metric="euclidean").fit(X)
    by_kept_rows, by_rows = align_labels(model, other), align_labels(model, other, X)
    assert (by_kept_rows.predict(X) == by_rows.predict(X)).all()


def test_a_column_of_huge_numbers_is_scaled_and_saved(tmp_path):
    X, _ = mixed_units()
    X[:, 0] *= 1e240
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        model = GPOD(3).fit(X)
    model.save(tmp_path / "model")
    assert (eigencut.load(tmp_path / "model").predict(X) == model.labels_).all()


@pytest.mark.parametrize(
    "options", [{"solver": "discrete"}, {"solver": "relaxed"}, {"cut": "ratiocut"}]
)
def test_how_a_graph_is_cut_changes_no_units(fitted, options):
    X, _, model = fitted
    assert (GPOD(3, **options).fit(X).column_scales_ == model.column_scales_).all()


def test_select_looks_at_the_rows_of_the_default():
    X, _ = mixed_units(2, 400)
    assert eigencut.select(X).best.n_clusters == 3


def test_updates_and_parts_keep_the_scale(fitted):
    X, _, _ = fitted
    new, y = mixed_units(0, 600)
    model = GPOD(3).fit(X)
    scales = model.column_scales_
    model.update(new[300:])
    assert (model.column_scales_ == scales).all()
    assert adjusted_rand_score(y[300:], model.predict(new[300:])) > 0.9
    parts = eigencut.recluster(GPOD(3).fit(X), X, cluster=0)
    assert (parts.predict(X) == parts.labels_).all()


def test_a_stream_updates_landmarks_in_the_scale_of_the_fit():
    X, _ = mixed_units(0, 600)
    scales = np.exp2(np.rint(np.log2(X.std(axis=0))))
    scaled = GPOD(3, affinity=eigencut.Landmarks(50)).fit(X / scales)
    model = GPOD(3, affinity=eigencut.Landmarks(50)).fit(X / scales)
    model.column_scales_ = scales  # as if the default had taken landmarks for so few rows
    model.update(Rows.from_array(X, sample_weight=np.full(600, 2.0)))
    scaled.update(Rows.from_array(X / scales, sample_weight=np.full(600, 2.0)))
    assert (model.predict(X) == scaled.predict(X / scales)).all()


def test_principal_components_stay_as_they_are():
    """Clusters in the columns of largest values, noise in others: distances are right already."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=400)
    X = rng.normal(size=(400, 12))
    X[:, 0] = 20 * (4 * y + X[:, 0])
    with pytest.warns(UserWarning, match=r"column\(s\) 0 dominate the distances"):
        model = GPOD(2).fit(X)
    assert model.column_scales_ is None
    assert adjusted_rand_score(y, model.labels_) > 0.8


def test_comparable_columns_are_not_looked_at():
    rng = np.random.default_rng(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = GPOD(2).fit(np.vstack([rng.normal(size=(50, 3)), 9 + rng.normal(size=(50, 3))]))
    assert model.column_scales_ is None


def test_weights_and_order_change_nothing(fitted):
    X, _, model = fitted
    order = np.random.default_rng(3).permutation(len(X))
    assert (GPOD(3).fit(X[order]).labels_ == model.labels_[order]).all()
    doubled = GPOD(3).fit(X, sample_weight=np.full(len(X), 2.0))
    assert (doubled.labels_ == GPOD(3).fit(np.repeat(X, 2, axis=0)).labels_[::2]).all()


def test_the_number_of_clusters_is_found_in_the_scale_that_is_taken():
    X, y = mixed_units(2, 400)
    model = GPOD("auto").fit(X)
    assert model.column_scales_ is not None
    assert model.n_clusters_ == 3
    assert adjusted_rand_score(y, model.labels_) > 0.9


def test_a_table_decides_on_units_itself():
    X, _ = mixed_units()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = TableModel(GPOD(3), scale="none").fit(X)
    assert model.gpod.column_scales_ is None
    assert (model.predict(X) == model.labels_).all()
