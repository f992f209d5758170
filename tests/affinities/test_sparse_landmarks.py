"""Landmarks of sparse rows: what dense ones give, without ever being dense."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import cdist

from eigencut import GPOD, Landmarks, load
from eigencut.io.sample import RowSample, random_keys
from eigencut.neighbors.search import NearestLandmarks, kmeans_centres

pytestmark = pytest.mark.filterwarnings("ignore::eigencut.exceptions.GraphWarning")


def texts(n=1200, d=150, K=3, seed=0):
    """Counts of words: K subjects that share a third of what they say."""
    rng = np.random.default_rng(seed)
    subjects = np.random.default_rng(9).dirichlet(np.full(d, 0.1), K + 1)
    shares = 0.65 * subjects[:K] + 0.35 * subjects[K]
    of_row = rng.integers(K, size=n)
    X = np.array([rng.multinomial(25, shares[k]) for k in of_row], dtype=float)
    return X * np.random.default_rng(8).uniform(0.5, 1.5, size=d)


def same_up_to_signs(A, B):
    signs = np.sign((A * B).sum(axis=0))
    return np.abs(A * signs - B).max()


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_the_model_of_dense_rows(metric):
    X, new = texts(), texts(100, seed=1)
    affinity = Landmarks(80, metric=metric)
    dense = GPOD(3, affinity=affinity).fit(X)
    model = GPOD(3, affinity=affinity).fit(sparse.csr_array(X))
    assert sparse.issparse(model.affinity_.landmarks_)
    assert np.allclose(model.eigenvalues_, dense.eigenvalues_, atol=1e-10)
    assert same_up_to_signs(model.embedding_, dense.embedding_) < 1e-8
    assert (model.labels_ == dense.labels_).all()
    rows = sparse.csr_array(new)
    assert (model.predict(rows) == dense.predict(new)).all()
    assert same_up_to_signs(model.transform(rows), dense.transform(new)) < 1e-8
    assert np.allclose(model.predict_proba(rows), dense.predict_proba(new), atol=1e-6)
    assert np.allclose(model.score_samples(rows), dense.score_samples(new))


def test_rows_are_asked_about_in_either_form():
    X, new = texts(), texts(50, seed=2)
    of_sparse = GPOD(3, affinity=Landmarks(60)).fit(sparse.csr_array(X))
    of_dense = GPOD(3, affinity=Landmarks(60)).fit(X)
    for model in (of_sparse, of_dense):
        assert (model.transform(new) == model.transform(sparse.csr_array(new))).all()
        alone = [model.predict(sparse.csr_array(new[[i]]))[0] for i in range(len(new))]
        assert (model.predict(sparse.csr_array(new)) == alone).all()


def test_the_training_rows_are_reproduced_and_their_order_does_not_matter():
    X = sparse.csr_array(texts())
    order = np.random.default_rng(0).permutation(X.shape[0])
    model, shuffled = (GPOD(3, affinity=Landmarks(80)).fit(rows) for rows in (X, X[order]))
    assert np.abs(model.transform(X) - model.embedding_).max() < 1e-12
    assert (model.predict(X) == model.labels_).all()
    assert (shuffled.labels_ == model.labels_[order]).all()
    assert (shuffled.embedding_ == model.embedding_[order]).all()


def test_integer_weights_are_repeated_rows():
    X = sparse.csr_array(texts(600))
    weight = np.random.default_rng(0).integers(1, 4, size=600)
    weighted = GPOD(3, affinity=Landmarks(50)).fit(X, sample_weight=weight)
    repeated = GPOD(3, affinity=Landmarks(50)).fit(X[np.repeat(np.arange(600), weight)])
    assert (weighted.transform(X) == repeated.transform(X)).all()


def test_a_saved_model_answers_the_same_and_can_be_updated(tmp_path):
    X, more = sparse.csr_array(texts()), sparse.csr_array(texts(300, seed=3))
    model = GPOD(3, affinity=Landmarks(80, metric="cosine")).fit(X)
    model.save(tmp_path / "texts.model")
    loaded = load(tmp_path / "texts.model")
    assert (loaded.transform(more) == model.transform(more)).all()
    model.update(more)
    loaded.update(more)
    dense = GPOD(3, affinity=Landmarks(80, metric="cosine")).fit(X.toarray())
    dense.update(more.toarray())
    assert (model.labels_ == loaded.labels_).all() and (model.labels_ == dense.labels_).all()
    assert np.allclose(model.eigenvalues_, dense.eigenvalues_, atol=1e-10)


def test_new_words_get_landmarks():
    """Rows that no landmark represents, in an update: in columns that were empty."""
    X = np.hstack([texts(900), np.zeros((900, 40))])
    odd = np.zeros((300, 190))
    odd[:, 150:] = np.random.default_rng(0).poisson(1.0, size=(300, 40))
    odd[:, 150] += 3
    model, dense = (GPOD(3, affinity=Landmarks(60)).fit(kind(X)) for kind in (csr, np.asarray))
    model.update(csr(odd))
    dense.update(odd)
    n_new = model.updated_.n_new_landmarks
    assert n_new > 0 and n_new == dense.updated_.n_new_landmarks
    assert model.affinity_.landmarks_.shape == dense.affinity_.landmarks_.shape
    assert (model.labels_ == dense.labels_).all()


def csr(X):
    return sparse.csr_array(X)


def test_columns_that_are_stored_twice_count_once_together():
    X = texts(400)
    halves = sparse.vstack([csr(X / 2), csr(X / 2)], format="csr")
    order = np.ravel(np.column_stack([np.arange(400), 400 + np.arange(400)]))
    pairs = halves[order]
    twice = sparse.csr_array((pairs.data, pairs.indices, pairs.indptr[::2]), shape=X.shape)
    before = twice.nnz
    model, plain = (GPOD(3, affinity=Landmarks(50)).fit(rows) for rows in (twice, csr(X)))
    assert twice.nnz == before, "the argument was changed"
    assert (model.labels_ == plain.labels_).all()
    assert np.allclose(model.eigenvalues_, plain.eigenvalues_)
    assert np.allclose(model.transform(twice), plain.transform(csr(X)))


@pytest.mark.parametrize("metric", ["manhattan", "jaccard", "hamming", "chebyshev"])
def test_metrics_of_dense_rows_only(metric):
    model = GPOD(3, affinity=Landmarks(metric=metric))
    with pytest.raises(ValueError, match=f"X must be dense with metric='{metric}'. Got sparse"):
        model.fit(csr(np.eye(30)))


numbers = st.sampled_from([0.0, -0.0, 1.0, -2.5, 1e-300, 1e200])


@given(st.lists(st.lists(numbers, min_size=4, max_size=4), min_size=1, max_size=12))
@settings(max_examples=60, deadline=None)
def test_the_sample_of_sparse_rows_is_that_of_dense_ones(rows):
    X = np.array(rows)
    assert (random_keys(X + 0.0, 3) == random_keys(csr(X), 3)).all()
    dense, found = (RowSample.draw(given, size=5, seed=1) for given in (X, csr(X)))
    assert (found.rows.toarray() == dense.rows).all() and (found.counts == dense.counts).all()
    whole = RowSample.draw(csr(X[:1]), size=5, seed=1).merged(found)
    dense = RowSample.draw(X[:1], size=5, seed=1).merged(dense)
    assert (whole.rows.toarray() == dense.rows).all() and (whole.counts == dense.counts).all()


@given(st.integers(0, 2**32), st.sampled_from([1, 3, 7]), st.sampled_from([0.0, 1e9, 1e-9]))
@settings(max_examples=40, deadline=None)
def test_the_nearest_landmarks_against_all_distances(seed, r, far):
    """Also where a common column is so large that squares cancel, or other numbers so small."""
    rng = np.random.default_rng(seed)
    A, B = (rng.poisson(0.3, size=(n, 20)) * rng.uniform(size=(n, 20)) for n in (60, 25))
    A[:, 0], B[:, 0] = far, far
    A[:5] = B[:5]  # distances of zero
    search = NearestLandmarks(csr(B), r)
    nearest, squared = search(csr(A))
    expected = cdist(A, B)
    found = np.take_along_axis(expected, nearest, axis=1)
    assert np.allclose(np.sort(found, 1), np.sort(expected, 1)[:, :r], rtol=1e-9, atol=1e-15)
    assert np.allclose(np.ldexp(squared, 2 * search.exponent), found**2, rtol=1e-8, atol=1e-30)
    assert (np.diff(nearest, axis=1) > 0).all()


@given(st.integers(0, 2**32))
@settings(max_examples=20, deadline=None)
def test_centres_of_sparse_rows_are_those_of_dense_ones(seed):
    rng = np.random.default_rng(seed)
    X = rng.poisson(0.5, size=(150, 12)) * rng.uniform(size=(150, 12))
    counts = rng.integers(1, 4, size=150).astype(float)
    found = kmeans_centres(csr(X), counts, 9)
    assert np.allclose(found.toarray(), kmeans_centres(X, counts, 9), atol=1e-12)
