"""Levels as datamapplot takes them."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from eigencut import GPOD
from eigencut.integrations.layers import layers

CENTRES = [[a + b, 5 * c] for a in (0, 40) for b in (0, 9) for c in (0, 1)]
X, _ = make_blobs(400, centers=CENTRES, random_state=0)
X = np.hstack([X, np.zeros((400, 2))])


pytestmark = pytest.mark.filterwarnings("ignore::eigencut.GraphWarning")


def model():
    return GPOD(8, affinity="gaussian").fit(X)


def test_numbers_have_no_gaps_and_stay_nested():
    levels = model().predict_levels(X, (8, 4, 2))
    levels[:, :3] = -1
    fine, middle, coarse = layers(levels)
    for layer, n_groups in ((fine, 8), (middle, 4), (coarse, 2)):
        assert np.unique(layer).tolist() == list(range(-1, n_groups))
    for k in range(8):
        assert len(np.unique(middle[fine == k])) == 1


def test_datamapplot_takes_texts():
    found = layers(model().predict_levels(X, (8, 2)), {0: "north", 1: "south"})
    assert all(layer.dtype.kind == "U" for layer in found) and "north" in found[1]
    datamapplot = pytest.importorskip("datamapplot")
    figure = datamapplot.create_interactive_plot(X[:, :2].astype(np.float32), *found)
    assert "</html>" in str(figure)
