"""Shared neighbours: weights straight from their definition, of training and of new rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from eigencut import GPOD, SharedNeighbors, load

pytestmark = pytest.mark.filterwarnings("ignore::eigencut.exceptions.GraphWarning")


def sets_of(queries, rows, k):
    """The k nearest rows of each query, by sorting all distances."""
    return [set(np.argsort(line, kind="stable")[:k].tolist()) for line in cdist(queries, rows)]


def weights_of(first, second):
    """By the definition, one pair after the other."""
    alike = [[len(a & b) / len(a | b) for b in second] for a in first]
    return np.maximum(np.array(alike) - 1 / 15, 0) / (1 - 1 / 15)


def blobs(n=200, d=6, seed=0, spread=2.0):
    return make_blobs(n, d, centers=3, cluster_std=spread, random_state=seed)


@given(st.integers(0, 2**32), st.integers(2, 30), st.integers(5, 60))
@settings(max_examples=25, deadline=None)
def test_weights_of_training_and_of_new_rows(seed, k, n):
    rng = np.random.default_rng(seed)
    X, new, V = rng.normal(size=(n, 3)), rng.normal(size=(9, 3)), rng.normal(size=(n, 2))
    affinity = SharedNeighbors(k)
    W = affinity.fit_graph(X).dense()
    rows = affinity.rows_  # in lexicographic order
    own, of_new = (sets_of(some, rows, min(k, n)) for some in (rows, new))
    assert np.allclose(W, weights_of(own, own), atol=1e-14)
    expected = weights_of(of_new, own)
    found = affinity.apply(new, V)
    is_like_none = ~expected.any(axis=1)
    assert (np.isneginf(found.log_scale) == is_like_none).all()
    values = np.exp(found.log_scale)[:, np.newaxis] * found.values
    assert np.allclose(values, expected @ V / n, atol=1e-14)
    degrees = np.exp(found.log_scale) * found.degrees
    assert np.allclose(degrees, expected.sum(axis=1) / n, atol=1e-14)
    among, U = weights_of(of_new, of_new), rng.normal(size=(9, 2))
    assert np.allclose(affinity.within(new, U), among @ U)


def test_the_training_rows_are_reproduced_and_files_keep_the_model(tmp_path):
    X, _ = blobs()
    X = np.vstack([X, X[:7]])
    model = GPOD(3, affinity=SharedNeighbors(20)).fit(X)
    assert np.abs(model.transform(X) - model.embedding_).max() < 1e-8
    assert (model.predict(X) == model.labels_).all()
    new = blobs(80, seed=1)[0]
    alone = [model.predict(new[[i]])[0] for i in range(len(new))]
    assert (model.predict(new) == alone).all()
    model.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert (loaded.transform(new) == model.transform(new)).all()
    order = np.random.default_rng(0).permutation(len(X))
    shuffled = GPOD(3, affinity=SharedNeighbors(20)).fit(X[order])
    assert (shuffled.labels_ == model.labels_[order]).all()


def test_weighted_and_sparse_rows():
    X = np.maximum(blobs(150)[0], 0).round(1)
    weight = np.random.default_rng(0).integers(1, 4, size=len(X))
    affinity = SharedNeighbors(15, metric="cosine")
    X = X[X.any(axis=1)]
    weight = weight[: len(X)]
    weighted = GPOD(3, affinity=affinity).fit(X, sample_weight=weight)
    repeated = GPOD(3, affinity=affinity).fit(np.repeat(X, weight, axis=0))
    assert (weighted.transform(X) == repeated.transform(X)).all()
    of_sparse = GPOD(3, affinity=affinity).fit(sparse.csr_array(X), sample_weight=weight)
    assert np.allclose(of_sparse.eigenvalues_, weighted.eigenvalues_)
    assert (of_sparse.labels_ == weighted.labels_).all()


def test_far_rows_join_the_nearest_cluster():
    X, y = blobs(spread=1.0)
    model = GPOD(3, affinity=SharedNeighbors(20)).fit(X)
    assert adjusted_rand_score(y, model.labels_) == 1
    far = X + 1e3 * (X - X.mean(axis=0))
    assert np.isfinite(model.transform(far)).all()


@pytest.mark.parametrize("k", [1, 2.5, True, "many"])
def test_what_is_no_number_of_neighbours(k):
    with pytest.raises(ValueError, match="n_neighbors must be 'auto' or an integer of at least 2"):
        GPOD(3, affinity=SharedNeighbors(k)).fit(blobs()[0])
