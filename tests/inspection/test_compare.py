"""Clusterings side by side."""

import json

import numpy as np
import pytest
from sklearn.cluster import DBSCAN, KMeans
from sklearn.datasets import make_moons

import eigencut
from eigencut import GPOD

pytestmark = pytest.mark.filterwarnings("ignore::eigencut.GraphWarning")

X, MOON = make_moons(400, noise=0.06, random_state=0)


def test_scores_of_methods_and_labels():
    methods = {
        "gpod": GPOD(2),
        "kmeans": KMeans(2, random_state=0),
        "dbscan": DBSCAN(eps=0.15),
        "mine": MOON,
        "random": np.random.default_rng(0).integers(0, 2, 400),
    }
    found = eigencut.compare(X, methods, y=MOON, n_refits=2)
    gpod, kmeans, mine = (found.methods[name] for name in ("gpod", "kmeans", "mine"))
    assert gpod.ari == 1 and mine.ari == mine.nmi == mine.ami == 1
    assert gpod.leaves < kmeans.leaves < found.methods["random"].leaves
    assert kmeans.silhouette > gpod.silhouette  # which rewards round clusters
    assert gpod.leaves <= gpod.leaves_at_most <= 1
    assert np.isnan(mine.leaves_at_most) and np.isnan(mine.stability)
    assert found.methods["random"].leaves == pytest.approx(0.5, abs=0.05)
    assert mine.n_clusters == 2 and kmeans.nmi < 0.9 > kmeans.ami
    assert gpod.stability > 0.9 and gpod.labelled == 1
    assert found.agreement.shape == (5, 5) and found.agreement[0, 3] == 1
    assert found.agreement == pytest.approx(found.agreement.T)
    frame = found.to_frame()
    assert list(frame.index) == list(methods) and "silhouette" in frame
    assert "kmeans" in str(found) and json.dumps(found.to_dict())


def test_numbers_of_clusters_and_rows_without_labels():
    some = np.where(np.arange(400) % 4, MOON, -1)
    found = eigencut.compare(
        X, {"a": MOON, "b": 7 - 3 * MOON, "c": some, "none": -np.ones(400, int)}
    )
    a, b, c, none = found.methods.values()
    assert (a.leaves, a.silhouette) == (b.leaves, b.silhouette)
    assert c.n_clusters == 2
    assert c.labelled == 0.75 and c.leaves == pytest.approx(0.25, abs=0.05)
    assert none.n_clusters == 0 and np.isnan(none.leaves)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((X[:5], {"a": MOON[:5]}), "20 rows or more"),
        ((X, {}), "methods must be a dict"),
        ((X, {"a": MOON[:7]}), "integer label for each of the 400 rows"),
        ((X, {"a": MOON / 2}), "integer label"),
        ((np.where(X > 1, np.nan, X), {"a": MOON}), "finite"),
    ],
)
def test_wrong_inputs_are_refused(arguments, said):
    with pytest.raises(ValueError, match=said):
        eigencut.compare(*arguments)
