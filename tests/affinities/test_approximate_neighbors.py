"""An index that does not find all neighbours: new rows and training rows agree all the same."""

import numpy as np
import pytest

from eigencut import GPOD, Neighbors

pytestmark = [
    pytest.mark.usefixtures("kernels"),
    pytest.mark.filterwarnings("ignore::eigencut.exceptions.GraphWarning"),
]

RNG = np.random.default_rng(0)


def n_missed(affinity, X):
    """How many pairs nearer than the farthest neighbour found were not found."""
    distances, numbers = affinity._index.query_itself(affinity.n_neighbors_)
    missed = 0
    for row in range(0, len(X), 10):
        direct = np.linalg.norm(affinity._points - affinity._points[row], axis=1)
        nearer = np.flatnonzero(direct < distances[row, -1] * (1 - 1e-9))
        missed += len(np.setdiff1d(nearer, numbers[row]))
    return missed


@pytest.mark.parametrize("graph", ["symmetric", "mutual"])
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("beta", [0.0, 1.0])
def test_weights_at_training_rows_are_those_of_the_graph(graph, metric, beta):
    X = np.random.default_rng(0).random((1200, 10))
    affinity = Neighbors(12, graph=graph, metric=metric, index="approximate", density_contrast=beta)
    built, V = affinity.fit_graph(X), np.random.default_rng(1).normal(size=(1200, 2))
    order = built.vertex_of_row
    assert n_missed(affinity, X) > 0  # or it would show nothing
    found = affinity.apply(X, V)
    values = found.values * np.exp(found.log_scale)[:, np.newaxis]
    expected = built.matmat(V)[order]
    assert np.abs(values - expected).max() < 1e-12 * np.abs(expected).max()
    degrees = found.degrees * np.exp(found.log_scale)
    assert np.allclose(degrees, built.degrees[order], rtol=1e-12)


@pytest.mark.parametrize("cut", ["ncut", "ratiocut"])
def test_labels_and_embedding_are_those_of_the_fit(cut):
    X = np.random.default_rng(0).random((1200, 10))
    model = GPOD(4, cut=cut, affinity=Neighbors(index="approximate")).fit(X)
    assert (model.predict(X) == model.labels_).all()
    assert np.abs(model.transform(X) - model.embedding_).max() < 1e-10


ODD = {
    "constant": np.ones((50, 3)),
    "one row": np.ones((1, 3)),
    "two rows": np.array([[0.0], [1.0]]),
    "few rows": RNG.normal(size=(7, 2)),
    "powers": 2.0 ** np.arange(-60, 60)[:, np.newaxis],
    "powers beyond float32": 2.0 ** np.arange(-300, 300)[:, np.newaxis],
    "powers in many columns": 10.0 ** np.linspace(-30, 30, 900)[:, np.newaxis] * np.ones((1, 10)),
    "lattice": RNG.integers(0, 4, (600, 3)).astype(float),
    "an outlier": np.vstack([RNG.normal(size=(900, 4)), [[1e9] * 4]]),
    "two places": np.repeat([[0.0], [1.0]], 400, axis=0) + 1e-12 * RNG.normal(size=(800, 1)),
    "tiny": 1e-300 * RNG.normal(size=(600, 4)),
    "huge": 1e300 * RNG.normal(size=(600, 4)),
}


@pytest.mark.parametrize("X", ODD.values(), ids=ODD.keys())
def test_odd_data(X):
    for K in (1, 2):
        affinity = Neighbors(index="approximate")
        if len(np.unique(X, axis=0)) < K:
            with pytest.raises(ValueError, match="n_clusters must be at most"):
                GPOD(K, affinity=affinity).fit(X)
            continue
        model = GPOD(K, affinity=affinity).fit(X)
        exact = GPOD(K, affinity=Neighbors(index="brute")).fit(X)
        assert (model.predict(X) == model.labels_).all()
        assert np.isfinite(model.transform(np.vstack([X[:3], X[:1] * 2]))).all()
        assert sorted(np.bincount(model.labels_)) == sorted(np.bincount(exact.labels_))
