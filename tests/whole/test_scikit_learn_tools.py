"""Tools of scikit-learn around a model: output containers, inspection, arrays from elsewhere."""

from types import ModuleType

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from eigencut import GPOD, TableModel, inspection
from eigencut.compat import SpectralClustering

X, Y = make_blobs(120, 3, centers=[[0, 0, 0], [9, 0, 0], [0, 9, 0]], random_state=0)
FRAME = pd.DataFrame(X, columns=["a", "b", "noise"])


class Exported:
    """An array of another library: what numpy asks for, and nothing else."""

    def __init__(self, values, through):
        self._values = values
        self.shape, self.ndim, self.dtype = values.shape, values.ndim, values.dtype
        if through == "__array__":
            self.__class__ = type("Tensor", (Exported,), {"__array__": Exported._array})
        else:
            methods = {"__dlpack__": Exported._dlpack, "__dlpack_device__": Exported._device}
            self.__class__ = type("Tensor", (Exported,), methods)

    def __len__(self):
        return len(self._values)

    def _array(self, dtype=None, copy=None):
        return np.array(self._values, dtype=dtype)

    def _dlpack(self, **how):
        return self._values.__dlpack__(**how)

    def _device(self):
        return self._values.__dlpack_device__()


class OfTheStandard:
    """An array of the array API standard whose library can do nothing."""

    device = "cpu"

    def __init__(self, values):
        self._values = values
        self.shape, self.ndim, self.dtype = values.shape, values.ndim, object()

    def __array_namespace__(self, api_version=None):
        return ModuleType("of_the_standard")

    def __dlpack__(self, **how):
        return self._values.__dlpack__(**how)

    def __dlpack_device__(self):
        return self._values.__dlpack_device__()


@pytest.mark.parametrize("through", ["__array__", "__dlpack__"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_arrays_of_other_libraries(through, dtype):
    """Torch tensors on the processor have both; arrays of the standard have the second."""
    values = X.astype(dtype)
    expected = GPOD(3).fit(values)
    model = GPOD(3).fit(Exported(values, through))
    assert (model.labels_ == expected.labels_).all()
    assert (model.predict(Exported(values[:7], through)) == expected.labels_[:7]).all()
    assert (model.predict_proba(Exported(values, through)) == expected.predict_proba(values)).all()


@pytest.mark.parametrize("library", ["stand-in", "torch", "array_api_strict"])
def test_array_api_dispatch(library, monkeypatch):
    """Set, scikit-learn computes with the library of an array: rows are numpy's before it asks."""
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    try:
        with config_context(array_api_dispatch=True):
            pass
    except ImportError as error:  # of older versions of scikit-learn or scipy
        pytest.skip(str(error))
    if library == "stand-in":
        make = OfTheStandard
    else:
        make = pytest.importorskip(library).asarray
    weight = np.arange(len(X)) % 3 + 1.0
    estimators = (
        GPOD(3),
        GPOD(3, affinity="gaussian"),
        GPOD(3, affinity="landmarks"),
        TableModel(GPOD(3)),
        SpectralClustering(3, random_state=0),
    )
    for estimator in estimators:
        how = {} if isinstance(estimator, SpectralClustering) else {"sample_weight": weight}
        expected = clone(estimator).fit(X, **how)
        given = {name: make(value) for name, value in how.items()}
        with config_context(array_api_dispatch=True):
            model = clone(estimator).fit(make(X), **given)
            labels = model.predict(make(X))
        assert isinstance(labels, np.ndarray)
        assert (model.labels_ == expected.labels_).all() and (labels == expected.labels_).all()


@pytest.mark.parametrize("through", ["__array__", "__dlpack__"])
def test_arrays_of_other_libraries_everywhere(through):
    """Tables, weights, scikit-learn's names, risk: each has a door of its own."""
    weight = np.arange(len(X)) % 3 + 1.0
    given, of_rows = Exported(X, through), Exported(weight, through)
    expected = GPOD(3).fit(X, sample_weight=weight)
    found = GPOD(3).fit(given, sample_weight=of_rows)
    assert (found.eigenvalues_ == expected.eigenvalues_).all()
    table = TableModel(GPOD(3)).fit(given, sample_weight=of_rows)
    assert (table.predict(given) == TableModel(GPOD(3)).fit(X, sample_weight=weight).labels_).all()
    model = SpectralClustering(3, random_state=0)
    assert (clone(model).fit(given).predict(given) == clone(model).fit(X).predict(X)).all()
    ours = inspection.assessment.cut_value(found, given, sample_weight=of_rows).value
    assert ours == inspection.assessment.cut_value(expected, X, sample_weight=weight).value


@pytest.mark.parametrize("container", ["pandas", "polars", "default"])
def test_output_in_other_containers(container):
    model = make_pipeline(StandardScaler(), GPOD(3)).fit(FRAME)
    with config_context(transform_output=container):
        out = model.transform(FRAME)
    expected = model[-1].embedding_
    assert np.asarray(out) == pytest.approx(expected)
    if container != "default":
        assert list(out.columns) == ["gpod0", "gpod1", "gpod2"]


def test_inspection():
    """Columns that tell clusters apart matter, noise does not; probabilities follow a column."""
    model = GPOD(3).fit(FRAME)
    agreement = lambda model, X, y: adjusted_rand_score(y, model.predict(X))  # noqa: E731
    found = permutation_importance(
        model, FRAME, model.labels_, scoring=agreement, n_repeats=3, random_state=0
    )
    assert found.importances_mean[:2].min() > 0.3 and abs(found.importances_mean[2]) < 0.05


def test_partial_dependence_has_no_kind_for_a_clusterer():
    """scikit-learn takes classifiers and regressors only, and says so."""
    with pytest.raises(ValueError, match="fitted regressor or classifier"):
        partial_dependence(GPOD(3).fit(FRAME), FRAME, ["a"], kind="average")
