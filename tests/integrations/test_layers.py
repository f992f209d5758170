"""Levels as toponymy and datamapplot take them."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from eigencut import GPOD
from eigencut.integrations.layers import LevelsClusterer, layers

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


def test_a_clusterer_has_layers_and_their_tree():
    def layer(labels, means, layer_id, **options):
        return SimpleNamespace(labels=labels, means=means, layer_id=layer_id, options=options)

    clusterer = LevelsClusterer(GPOD(8, affinity="gaussian"), (8, 3), min_children=2)
    found, tree = clusterer.fit_predict(X, 2 * X, layer, verbose=True)
    assert [one.layer_id for one in found] == [0, 1] and found[0].options == {"verbose": True}
    for one in found:
        for k, mean in enumerate(one.means):
            assert mean == pytest.approx(2 * X[one.labels == k].mean(axis=0))
    assert sorted(tree) == [(1, 0), (1, 1), (1, 2), (2, 0)] and len(tree[2, 0]) == 3
    for k in range(3):
        own = {(0, int(child)) for child in found[0].labels[found[1].labels == k]}
        assert set(tree[1, k]) == own and len(own) >= 2


def test_toponymy_takes_a_clusterer():
    pytest.importorskip("toponymy")
    from toponymy.cluster_layer import ClusterLayerText
    from toponymy.clustering import build_cluster_tree

    clusterer = LevelsClusterer(GPOD(8, affinity="gaussian"), (8, 2), min_children=3)
    found, tree = clusterer.fit_predict(X, X, ClusterLayerText)
    assert [layer.cluster_labels.max() + 1 for layer in found] == [8, 2]
    assert found[0].centroid_vectors.shape == (8, 4)
    theirs = build_cluster_tree([layer.cluster_labels for layer in found])
    assert {k: sorted(v) for k, v in theirs.items()} == {k: sorted(v) for k, v in tree.items()}
    children = [set(tree[1, k]) for k in range(2)]
    assert children[0] | children[1] == {(0, k) for k in range(8)}
    assert not children[0] & children[1] and min(map(len, children)) >= 3
