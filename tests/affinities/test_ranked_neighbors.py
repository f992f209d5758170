"""Ranked neighbours: weights straight from their definition, of training and of new rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from eigencut import GPOD, RankedNeighbors, load
from eigencut.exceptions import NoEigenfunctions

pytestmark = pytest.mark.filterwarnings("ignore::eigencut.exceptions.GraphWarning")


def blobs(n=200, d=6, seed=0, spread=2.0):
    return make_blobs(n, d, centers=3, cluster_std=spread, random_state=seed)


def given_weights(rows, k, first=2):
    """What each row gives to the others, one after the other: (r - 1)^-1/2 to its r-th nearest."""
    given = np.zeros((len(rows), len(rows)))
    for i, line in enumerate(cdist(rows, rows)):
        line[i] = -1.0  # it is its own first
        for r, j in enumerate(np.argsort(line, kind="stable")[:k], start=1):
            if r >= first:
                given[i, j] = (r - 1) ** -0.5
    return given


def doubly_stochastic(W, count, steps):
    """Factors f such that row i of f_i W_ij f_j, each j as often as it counts, sums to 1."""
    factors = np.ones(len(W))
    for _ in range(steps):
        for_each = [factors[i] / max(W[i] @ (count * factors), 1e-300) for i in range(len(W))]
        factors = np.sqrt(for_each)
    return factors


@given(st.integers(0, 2**32), st.integers(3, 30), st.integers(8, 60))
@settings(max_examples=25, deadline=None)
def test_weights_of_training_and_of_new_rows(seed, k, n):
    rng = np.random.default_rng(seed)
    X, new, V = rng.normal(size=(n, 3)), rng.normal(size=(9, 3)), rng.normal(size=(n, 2))
    affinity = RankedNeighbors(k)
    W = affinity.fit_graph(X).dense()
    rows, k = affinity.rows_, min(k, n)  # rows in lexicographic order
    directed = given_weights(rows, k)
    mean = (directed + directed.T) / 2
    factors = doubly_stochastic(mean, np.ones(n), affinity.scaling_steps)
    assert np.allclose(affinity.scaling_, factors, rtol=1e-10)
    assert np.allclose(W, n * factors[:, np.newaxis] * mean * factors, atol=1e-10 * n)
    product = affinity.apply(new, V)
    for line, found, degree in zip(cdist(new, rows), product.values, product.degrees, strict=True):
        nearest = np.argsort(line, kind="stable")[:k]
        votes = np.arange(1, k + 1) ** -0.5 * factors[nearest]
        assert np.allclose(found, votes @ V[nearest]) and degree == pytest.approx(votes.sum())


@pytest.mark.parametrize("d", [2, 40])
def test_all_rows_have_the_same_degree(d):
    """Where rows have many columns, some are among the nearest of very many others."""
    X = np.random.default_rng(0).normal(size=(500, d))
    graph = RankedNeighbors(15).fit_graph(X)
    assert np.abs(graph.degrees - 1).max() < 0.01
    directed = given_weights(X, 15)
    assert directed.sum(axis=0).max() > (1.3 if d == 2 else 5) * directed.sum(axis=0).mean()


def test_auto_is_sixty_or_fewer_in_few_dimensions():
    rng = np.random.default_rng(0)
    numbers = []
    for d in (1, 2, 5, 50):
        affinity = RankedNeighbors()
        affinity.fit_graph(rng.normal(size=(600, d)))
        numbers.append(affinity.n_neighbors_)
    assert numbers[0] == RankedNeighbors.few_neighbors and numbers[-1] == 60
    assert numbers == sorted(numbers) and len(set(numbers)) >= 3


def test_the_training_rows_are_reproduced_and_files_keep_the_model(tmp_path):
    X, _ = blobs()
    X = np.vstack([X, X[:7]])
    model = GPOD(3, affinity=RankedNeighbors(20)).fit(X)
    assert np.abs(model.transform(X) - model.embedding_).max() < 1e-12
    assert (model.predict(X) == model.labels_).all()
    new = blobs(80, seed=1)[0]
    alone = [model.predict(new[[i]])[0] for i in range(len(new))]
    assert (model.predict(new) == alone).all()
    assert np.abs(model.transform(new).sum(axis=1) - 1).max() < 1e-12
    model.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert (loaded.transform(new) == model.transform(new)).all()
    order = np.random.default_rng(0).permutation(len(X))
    shuffled = GPOD(3, affinity=RankedNeighbors(20)).fit(X[order])
    assert (shuffled.labels_ == model.labels_[order]).all()


def test_weighted_and_sparse_rows():
    X = np.maximum(blobs(150)[0], 0)  # without distances that are equal up to rounding
    X = X[X.any(axis=1)]
    weight = np.random.default_rng(0).integers(1, 4, size=len(X))
    for metric in ("euclidean", "cosine"):
        affinity = RankedNeighbors(15, metric=metric)
        weighted = GPOD(3, affinity=affinity).fit(X, sample_weight=weight)
        repeated = GPOD(3, affinity=affinity).fit(np.repeat(X, weight, axis=0))
        assert (weighted.transform(X) == repeated.transform(X)).all()
        assert (np.repeat(weighted.labels_, weight) == repeated.labels_).all()
        of_sparse = GPOD(3, affinity=affinity).fit(sparse.csr_array(X), sample_weight=weight)
        assert np.allclose(of_sparse.transform(sparse.csr_array(X)), weighted.transform(X))
        assert (of_sparse.labels_ == weighted.labels_).all()


def test_cosine_sees_directions_only():
    X, _ = blobs()
    lengths = np.random.default_rng(0).uniform(0.1, 10, size=(len(X), 1))
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    model = GPOD(3, affinity=RankedNeighbors(15, metric="cosine")).fit(unit)
    longer = GPOD(3, affinity=RankedNeighbors(15, metric="cosine")).fit(lengths * unit)
    assert adjusted_rand_score(model.labels_, longer.labels_) == 1
    assert (model.predict(lengths * unit) == model.labels_).all()


def test_equal_rows_are_one_vertex():
    X, y = blobs(90, spread=1.0)
    X = np.repeat(X, np.arange(90) % 30 + 1, axis=0)
    model = GPOD(3, affinity=RankedNeighbors(10)).fit(X)
    assert len(model.affinity_.rows_) == 90
    truth = np.repeat(y, np.arange(90) % 30 + 1)
    assert adjusted_rand_score(truth, model.labels_) == 1
    labels_of_row = {tuple(row): set() for row in X}
    for row, label in zip(X, model.labels_, strict=True):
        labels_of_row[tuple(row)].add(label)
    assert all(len(found) == 1 for found in labels_of_row.values())


def test_far_rows_join_the_nearest_cluster():
    X, y = blobs(spread=1.0)
    model = GPOD(3, affinity=RankedNeighbors(20)).fit(X)
    assert adjusted_rand_score(y, model.labels_) == 1
    far = X.mean(axis=0) + 1e3 * (X - X.mean(axis=0))
    nearest = cdist(far, X).argmin(axis=1)
    assert (model.predict(far) == model.labels_[nearest]).mean() > 0.95
    assert np.isfinite(model.score_samples(far)).all()
    assert (model.score_samples(far) < model.score_samples(X).min()).all()


@pytest.mark.parametrize("k", [1, 2.5, True, "many"])
def test_what_is_no_number_of_neighbours(k):
    with pytest.raises(ValueError, match="n_neighbors must be 'auto' or an integer of at least 2"):
        GPOD(3, affinity=RankedNeighbors(k)).fit(blobs()[0])


@pytest.mark.parametrize("asked", ["solver", "known_labels", "extension"])
def test_what_only_a_relaxed_cut_can_do_is_refused(asked):
    X, y = blobs()
    options = {"solver": {"solver": "relaxed"}, "extension": {"extension": "paper"}}
    model = GPOD(3, affinity=RankedNeighbors(10), **options.get(asked, {}))
    known = {"known_labels": y} if asked == "known_labels" else {}
    with pytest.raises(ValueError, match=r"affinity must have relaxed cuts .* Got RankedNeigh"):
        model.fit(X, **known)
    model = GPOD(3, affinity=RankedNeighbors(10)).fit(X)
    with pytest.raises(NoEigenfunctions, match="solver must be 'relaxed'"):
        model.eigenvalues_  # noqa: B018
