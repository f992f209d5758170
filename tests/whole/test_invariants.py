"""What must always be true of the whole (docs/architecture.md), for both cuts and dtypes."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs, make_circles, make_moons

from conftest import CUTS
from eigencut import GPOD, Gaussian, Kernel, Landmarks, Neighbors, RankedNeighbors
from eigencut.cut import CUTS as CUT_OBJECTS

AFFINITIES = {
    "auto": "auto",
    "number": Gaussian(sigma=0.3),
    "neighbors": Gaussian(sigma="neighbors"),
    "sparse": Neighbors(),
    "mutual": Neighbors(n_neighbors=20, graph="mutual", weights="gaussian"),
    "ranked neighbors": RankedNeighbors(n_neighbors=20),
    "landmarks": Landmarks(n_landmarks=60, density_contrast=0.0),
    "landmarks with contrast": Landmarks(n_landmarks=60),
    "function": Kernel(lambda A, B: 1 / (1 + 30 * ((A[:, None] - B) ** 2).sum(2))),
}


def data(dtype, n=300, seed=0):
    X = np.vstack(
        [
            make_moons(n, noise=0.06, random_state=seed)[0],
            make_blobs(n // 3, 2, centers=[[4, 4]], cluster_std=0.4, random_state=seed)[0],
        ]
    )
    X = np.vstack([X, X[:7], X[3:5]])  # some rows twice, some three times
    return np.random.default_rng(seed).permutation(X).astype(dtype)


@pytest.fixture(params=[np.float32, np.float64], ids=["float32", "float64"])
def X(request):
    return data(request.param)


@pytest.fixture(params=AFFINITIES.values(), ids=AFFINITIES.keys())
def affinity(request):
    return request.param


@pytest.fixture
def model(X, cut, affinity):
    return GPOD(3, cut=cut, affinity=affinity).fit(X)


def test_1_a_label_does_not_depend_on_its_company(model, X):
    new = data(X.dtype, seed=1)
    labels = model.predict(new)
    assert [model.predict(new[i : i + 1])[0] for i in range(0, len(new), 7)] == labels[::7].tolist()
    order = np.random.default_rng(0).permutation(len(new))
    assert (model.predict(new[order]) == labels[order]).all()
    pieces = [model.predict(piece) for piece in np.array_split(new, 13)]
    assert (np.concatenate(pieces) == labels).all()


def test_2_training_rows_are_reproduced(model, X):
    assert np.abs(model.transform(X) - model.embedding_).max() < 1e-8
    assert (model.predict(X) == model.labels_).all()


def test_3_same_seed_same_result_whatever_n_jobs(model, X, cut, affinity):
    for n_jobs in (1, 2, -1):
        again = GPOD(3, cut=cut, affinity=affinity, n_jobs=n_jobs).fit(X)
        assert (again.labels_ == model.labels_).all()
        assert (again.predict(X[::3]) == model.labels_[::3]).all()


def test_3_permuting_rows_permutes_labels(X, cut, affinity):
    order = np.random.default_rng(1).permutation(len(X))
    first = GPOD(3, cut=cut, affinity=affinity).fit(X)
    second = GPOD(3, cut=cut, affinity=affinity).fit(X[order])
    assert (second.labels_ == first.labels_[order]).all()
    assert np.abs(second.embedding_ - first.embedding_[order]).max() < 1e-12


def test_5_eigenpairs_solve_the_problem(model, X, cut):
    """Residual and normalization against the plain n x n matrices, duplicates and all."""
    if cut == "ratiocut" and getattr(model.affinity_, "masses_", None) is not None:
        pytest.skip("solved on the landmarks, and to their resolution: see test_density.py")
    if model.affinity_.solver == "discrete":
        pytest.skip("a discrete cut has no eigenpairs")
    n = len(X)
    W = model.affinity_.within(X.astype(np.float64), np.eye(n)) / n
    D = np.diag(W.sum(axis=1))
    M = np.diag(CUT_OBJECTS[cut].mass(W.sum(axis=1)))
    U = model.embedding_
    residual = (D - W) @ U - M @ U * model.eigenvalues_
    assert np.abs(residual).max() < 1e-10
    assert np.abs(U.T @ M @ U - np.eye(3)).max() < 1e-8
    assert (np.diff(model.eigenvalues_) >= 0).all()
    assert model.eigenvalues_[0] == pytest.approx(0, abs=1e-12)


def test_labels_follow_from_embedding_and_rotation(model):
    if model.affinity_.solver == "discrete":  # shares of weights, which no rotation turns
        assert np.abs(model.embedding_.sum(axis=1) - 1).max() < 1e-12
        best = model.embedding_[np.arange(len(model.labels_)), model.labels_]
        assert (best >= model.embedding_.max(axis=1) - 1e-12).all()
        return
    rows = model.embedding_ / np.linalg.norm(model.embedding_, axis=1, keepdims=True)
    assert (np.argmax(rows @ model.rotation_, axis=1) == model.labels_).all()
    assert np.abs(model.rotation_.T @ model.rotation_ - np.eye(3)).max() < 1e-12


def test_labels_are_numbered_by_size(model):
    assert (np.diff(np.bincount(model.labels_, minlength=3)) <= 0).all()


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("scale", [1e-30, 1e-3, 1e4, 1e100])
@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_units_do_not_matter(cut, scale, offset):
    X = make_circles(300, factor=0.4, noise=0.04, random_state=0)[0]
    expected = GPOD(2, cut=cut).fit(X)
    moved = GPOD(2, cut=cut).fit((X + offset) * scale)
    assert (moved.labels_ == expected.labels_).all()
    new = make_circles(100, factor=0.4, noise=0.04, random_state=1)[0]
    assert (moved.predict((new + offset) * scale) == expected.predict(new)).all()


@pytest.mark.parametrize("cut", CUTS)
def test_large_graphs_reproduce_training_rows_too(cut):
    """Above the size where Lanczos replaces LAPACK."""
    X = make_moons(1500, noise=0.08, random_state=0)[0]
    model = GPOD(3, cut=cut).fit(X)
    assert np.abs(model.transform(X) - model.embedding_).max() < 1e-8
    assert (model.predict(X) == model.labels_).all()
    order = np.random.default_rng(1).permutation(len(X))
    assert (GPOD(3, cut=cut).fit(X[order]).labels_ == model.labels_[order]).all()
