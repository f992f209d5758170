"""Tools of scikit-learn around a model: output containers, inspection, arrays from elsewhere."""

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.datasets import make_blobs
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from eigencut import GPOD

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
