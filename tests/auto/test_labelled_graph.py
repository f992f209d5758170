"""Known labels that clusters do not explain choose the graph too."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from eigencut import GPOD, Neighbors

pytestmark = pytest.mark.filterwarnings("ignore::eigencut.GraphWarning")


def overlapping(n=300, seed=0):
    """Two classes that overlap in three columns, and a column of 0 and 1 that knows neither."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    X = np.round(2 * (rng.normal(size=(n, 4)) + np.where(y, 0.9, -0.9)[:, np.newaxis])) / 2
    X[:, 3] = 3 * (rng.random(n) < 0.12)
    return X, y


def some_known(y, n_known, seed):
    known = np.full(len(y), -1)
    rows = np.random.default_rng(seed).choice(len(y), n_known, replace=False)
    known[rows] = y[rows]
    return known


def test_labels_prefer_a_graph_without_the_clear_cut():
    X, y = overlapping(600)
    plain = GPOD(2).fit(X)
    assert abs(adjusted_rand_score(y, plain.labels_)) < 0.05  # the column of 0 and 1 decides
    of_first, chosen = [], []
    for seed in range(3):
        known = some_known(y, 25, seed)
        others = known < 0
        for found, affinity in ((of_first, plain.affinity_), (chosen, "auto")):
            model = GPOD(2, affinity=affinity).fit(X, known_labels=known)
            found.append(adjusted_rand_score(y[others], model.labels_[others]))
            assert (model.predict(X) == model.labels_).all()
    assert np.mean(chosen) > max(0.5, np.mean(of_first) + 0.05)


def test_clusters_that_explain_labels_stay():
    rng = np.random.default_rng(0)
    y = np.arange(300) % 3
    X = rng.normal(size=(300, 2)) + 9 * np.column_stack([y == 1, y == 2])
    plain, guided = GPOD(3).fit(X), GPOD(3).fit(X, known_labels=some_known(y, 30, 0))
    assert adjusted_rand_score(y, plain.labels_) == 1 and (guided.labels_ == y).all()


def test_a_graph_that_was_given_stays():
    X, y = overlapping(200)
    model = GPOD(2, affinity=Neighbors(7)).fit(X, known_labels=some_known(y, 20, 0))
    assert model.affinity_.n_neighbors == 7


def test_auto_finds_as_many_clusters_as_classes_at_least():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2)) + 12 * (np.arange(200) % 2)[:, np.newaxis]
    half = np.where(X[:, 0] > X[:, 1], 2, 0)  # of one of the two clusters
    known = some_known(np.where(np.arange(200) % 2, 1, half), 60, 0)
    assert GPOD("auto").fit(X).n_clusters_ == 2 and known.max() == 2
    assert GPOD("auto").fit(X, known_labels=known).n_clusters_ == 3
