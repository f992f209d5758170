"""A fit that is refused or interrupted leaves the model that there was, whole."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from eigencut import GPOD, Gaussian, Kernel, Landmarks, Neighbors, Precomputed, Rows, TableModel

pytestmark = [
    pytest.mark.filterwarnings("ignore::eigencut.exceptions.GraphWarning"),
    pytest.mark.filterwarnings("ignore:X does not have valid feature names"),
]

AFFINITIES = {
    "auto": "auto",
    "gaussian": Gaussian(),
    "one sigma": Gaussian(1.0),
    "landmarks": Landmarks(100),
    "tree": Neighbors(index="kdtree"),
    "brute": Neighbors(index="brute"),
    "approximate": Neighbors(index="approximate"),
    "kernel": Kernel(lambda A, B: np.exp(-np.abs(A[:, :1] - B[:, 0]))),
}
WIDTHS = [(1, 40), (6, 2), (3, 3)]


def rows_of(width, n=400, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, width)) + 4 * rng.integers(0, 2, (n, 1))


def interrupted(*given, **named):
    raise KeyboardInterrupt


def same_fitted(before, after):
    assert before.keys() == after.keys()
    assert all(after[name] is value for name, value in before.items())


@pytest.mark.parametrize("affinity", AFFINITIES.values(), ids=AFFINITIES.keys())
@pytest.mark.parametrize(("width", "other"), WIDTHS)
@pytest.mark.parametrize("how", ["refused", "interrupted"])
def test_the_old_model_survives(affinity, width, other, how, monkeypatch):
    model = GPOD(2, affinity=affinity)
    model.fit(pd.DataFrame(rows_of(width), columns=[f"a{i}" for i in range(width)]))
    X = pd.DataFrame(rows_of(width, 1500, seed=1), columns=model.feature_names_in_)
    before, labels = dict(vars(model)), model.predict(X)
    with monkeypatch.context() as patch:
        if how == "interrupted":
            for name in ("graph.cut_of_pieces", "spectrum.cut_of_pieces"):
                patch.setattr(f"eigencut.auto.{name}", interrupted)
            with pytest.raises(KeyboardInterrupt):
                model.fit(rows_of(other))
        else:
            with pytest.raises(ValueError, match="n_clusters must be at most"):
                model.fit(np.ones((50, other)))
    same_fitted(before, vars(model))
    assert (model.predict(X) == labels).all()
    if other != width:
        for method in ("predict", "transform", "score_samples", "predict_margin", "score"):
            with pytest.raises(ValueError, match=f"{other} features.* expecting {width}"):
                getattr(model, method)(rows_of(other, 50))


def test_a_first_fit_that_fails_leaves_nothing():
    model = GPOD(2)
    with pytest.raises(ValueError, match="n_clusters must be at most"):
        model.fit(np.ones((50, 3)))
    assert not [name for name in vars(model) if name.endswith("_")]
    with pytest.raises(NotFittedError):
        check_is_fitted(model)
    with pytest.raises(NotFittedError):
        model.predict(np.ones((5, 3)))


def test_a_refit_without_names_forgets_them():
    model = GPOD(2).fit(pd.DataFrame(rows_of(2), columns=["a", "b"]))
    model.fit(rows_of(3))
    assert model.n_features_in_ == 3 and not hasattr(model, "feature_names_in_")
    model.fit(Rows.from_array(rows_of(2)))
    assert model.n_features_in_ == 2 and not hasattr(model, "labels_")


def test_precomputed_affinities():
    places = np.arange(9.0)
    X = np.exp(-np.abs(places[:, np.newaxis] - places))
    model = GPOD(2, affinity=Precomputed()).fit(X)
    before = dict(vars(model))
    with pytest.raises(ValueError, match="symmetric"):
        model.fit(np.triu(np.ones((12, 12))))
    same_fitted(before, vars(model))
    assert (model.predict(X) == model.labels_).all()


@pytest.mark.parametrize("affinity", list(AFFINITIES.values())[1:], ids=list(AFFINITIES)[1:])
def test_an_affinity_alone_survives_too(affinity, monkeypatch):
    X, V = rows_of(2), np.ones((400, 1))
    affinity = affinity.fit(X)
    V = np.ones((len(affinity.multiplicity_), 1))
    before, degrees = dict(vars(affinity)), affinity.apply(X, V).degrees
    for name in ("complete.DenseGraph", "sparse.SparseGraph", "landmarks.LandmarkGraph"):
        where = {"complete": "base", "sparse": "neighbors", "landmarks": "landmarks"}
        module, kind = name.split(".")
        monkeypatch.setattr(f"eigencut.affinities.{where[module]}.{kind}", interrupted)
    with pytest.raises(KeyboardInterrupt):
        affinity.fit(rows_of(6))
    same_fitted(before, vars(affinity))
    assert (affinity.apply(X, V).degrees == degrees).all()


def test_a_table_model_survives():
    frame = pd.DataFrame(rows_of(2), columns=["a", "b"])
    model = TableModel(GPOD(2), scale="minmax").fit(frame)
    before, labels = dict(vars(model)), model.labels_
    bad = [
        frame.rename(columns={"a": "c"}).assign(c=1.0, b=1.0),
        frame.assign(a=np.nan),
        Rows.from_array(np.ones((20, 7))),
    ]
    for X in bad:
        with pytest.raises(ValueError):
            model.fit(X)
        same_fitted(before, vars(model))
        assert (model.predict(frame) == labels).all() and model.columns_ == ["a", "b"]


def test_a_table_model_says_that_it_is_not_fitted():
    model = TableModel(GPOD(2))
    with pytest.raises(ValueError):
        model.fit(np.ones((20, 3)))
    for method in ("predict", "predict_margin", "score_samples", "transform", "answers"):
        with pytest.raises(NotFittedError):
            getattr(model, method)(np.ones((5, 3)))
