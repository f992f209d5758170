"""Labels in single precision are those of double precision, however hard the rows are."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs, make_moons

from eigencut import GPOD, Gaussian
from eigencut.discretization import assign
from eigencut.extension.labelling import OUTLIER, certain_labels, scores_and_support

pytestmark = pytest.mark.usefixtures("kernels")


def in_double(model, X):
    """Labels by the plain float64 path, and how many rows single precision was sure of."""
    functions, rotation = model.fitted_cut_.functions, model.fitted_cut_.rotation
    assert functions.single_precision_pays(len(X))
    scores, _ = scores_and_support(functions, rotation, X)
    *_, is_certain = certain_labels(functions.single_precision_values(X), rotation)
    return assign(scores), is_certain.mean()


def on_the_boundary(model, X, rng, n_rows):
    """Rows within 1e-6 of where the label changes, by bisection between rows of two clusters."""
    a, b = X[rng.integers(len(X), size=n_rows)], X[rng.integers(len(X), size=n_rows)]
    differ = model.predict(a) != model.predict(b)
    a, b = a[differ], b[differ]
    labels_of_a = model.predict(a)
    while np.abs(a - b).max() > 1e-7:
        middle = (a + b) / 2
        same = (model.predict(middle) == labels_of_a)[:, np.newaxis]
        a, b = np.where(same, middle, a), np.where(same, b, middle)
    return np.vstack([a, b])


DATA = {
    "blobs 16": lambda: make_blobs(1500, 16, centers=5, cluster_std=4.0, random_state=0)[0],
    "blobs 2": lambda: make_blobs(1500, 2, centers=4, cluster_std=1.0, random_state=1)[0],
    "moons": lambda: make_moons(1500, noise=0.1, random_state=0)[0],
}


@pytest.mark.parametrize("affinity", [Gaussian("median", scale=0.3), Gaussian()], ids=str)
@pytest.mark.parametrize("data", DATA)
def test_rows_on_the_boundary_get_the_labels_of_double_precision(data, affinity, cut):
    X = DATA[data]()
    model = GPOD(3, cut=cut, affinity=affinity).fit(X[:500])
    rows = on_the_boundary(model, X, np.random.default_rng(0), 2000)
    assert len(rows) > 600
    expected, certain = in_double(model, rows)
    assert (model.predict(rows) == expected).all()
    assert certain < 0.01, "rows on a boundary are left to double precision"
    expected, certain = in_double(model, X)
    assert (model.predict(X) == expected).all()
    assert certain > 0.9, "ordinary rows are not"


@pytest.mark.parametrize("offset", [0.0, 1e4, 1e8])
@pytest.mark.parametrize("scale", [1e-3, 1e-2, 0.3, 3.0, 100.0])
@pytest.mark.filterwarnings("ignore::eigencut.GraphWarning")
def test_offsets_and_any_sigma_leave_the_labels_alone(offset, scale, cut):
    X = DATA["moons"]() + offset
    model = GPOD(3, cut=cut, affinity=Gaussian("median", scale=scale)).fit(X[:400])
    spread = np.random.default_rng(1).uniform(-3, 3, (1000, 2)) + offset
    rows = np.vstack([X, spread, offset + 50 * (spread - offset)])
    assert (model.predict(rows) == in_double(model, rows)[0]).all()


def test_outliers_are_those_of_double_precision():
    X = DATA["moons"]()
    model = GPOD(2, affinity=Gaussian(0.2), outliers="label", outlier_quantile=0.1).fit(X[:400])
    labels = model.predict(X)
    assert ((labels == OUTLIER) == (model.score_samples(X) < model.fitted_cut_.least_support)).all()
    assert 0.05 < (labels == OUTLIER).mean() < 0.2


def test_labels_do_not_depend_on_threads_or_company():
    X = DATA["blobs 16"]()
    model = GPOD(5, affinity=Gaussian("median", scale=0.3)).fit(X[:600])
    labels = model.predict(X)
    assert (model.set_params(n_jobs=1).predict(X) == labels).all()
    assert (
        np.concatenate([model.predict(X[i : i + 7]) for i in range(0, 1500, 7)]) == labels
    ).all()


def test_the_error_bound_holds():
    X = DATA["blobs 16"]()
    for affinity in (Gaussian("median", scale=0.3), Gaussian("median"), Gaussian()):
        functions = GPOD(5, cut="ratiocut", affinity=affinity).fit(X[:600]).fitted_cut_.functions
        rough = functions.single_precision_values(X)
        exact, support = functions.with_support(X)
        usable = np.isfinite(rough.error)
        assert usable.mean() > 0.9
        error = np.linalg.norm(rough.values - exact, axis=1)
        assert (error <= rough.error)[usable].all()
        assert (np.abs(rough.log_degrees - support) <= rough.degree_error)[usable].all()


def test_transform_to_single_precision():
    X = DATA["blobs 16"]()
    model = GPOD(5, affinity=Gaussian("median", scale=0.3)).fit(X[:600])
    exact, single = model.transform(X), model.transform(X, dtype=np.float32)
    assert single.dtype == np.float32 and exact.dtype == np.float64
    assert 0 < np.abs(single - exact).max() < 1e-5 * np.linalg.norm(exact, axis=1).max()
    with pytest.raises(ValueError, match=r"dtype must be float64 or float32. Got 'int64'"):
        model.transform(X, dtype="int64")


def test_a_model_that_has_predicted_pickles_without_its_working_copies():
    import pickle

    X = DATA["blobs 16"]()
    model = GPOD(5, affinity=Gaussian("median", scale=0.3)).fit(X[:600])
    before = len(pickle.dumps(model))
    labels = model.predict(X)
    assert len(pickle.dumps(model)) == before
    assert (pickle.loads(pickle.dumps(model)).predict(X) == labels).all()
