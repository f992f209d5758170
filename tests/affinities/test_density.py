"""Density contrast of graphs of neighbours and of landmarks."""

import numpy as np
import pytest
from scipy.linalg import eigh, subspace_angles
from scipy.spatial import cKDTree
from sklearn.datasets import make_circles, make_moons
from sklearn.metrics import adjusted_rand_score

from eigencut import GPOD, Landmarks, Neighbors, Rows, load
from eigencut.affinities.base import landmark_masses

BETAS = [0.5, 1.0, 2.0]
# With eight neighbours and a contrast, which graphs of rows have.
OF_ROWS = {
    "symmetric": lambda beta: Neighbors(8, density_contrast=beta),
    "mutual": lambda beta: Neighbors(8, graph="mutual", density_contrast=beta),
}


def rows(n, seed, d=2):
    rng = np.random.default_rng(seed)
    return np.vstack([rng.normal(size=(n // 2, d)), 4 + 0.3 * rng.normal(size=(n - n // 2, d))])


def factors_by_loops(X, new, k, beta):
    """``rho(x)^beta`` in units of the median density, straight from its definition."""
    tree = cKDTree(X)
    radii = tree.query(X, k)[0][:, -1]
    density = (radii / np.median(radii)) ** -min(X.shape[1], 2)
    return np.array([density[tree.query(x, k)[1]].mean() for x in new]) ** beta


@pytest.mark.parametrize("beta", BETAS)
@pytest.mark.parametrize("affinity", OF_ROWS.values(), ids=OF_ROWS)
@pytest.mark.parametrize("d", [1, 2, 5])
def test_weights_are_multiplied_by_the_densities(beta, affinity, d):
    X = rows(120, 0, d)
    X = X[np.lexsort(X.T[::-1])]  # the order of vertices
    plain = affinity(0.0).fit_graph(X).dense()
    found = affinity(beta).fit_graph(X).dense()
    f = factors_by_loops(X, X, 8, beta)
    assert np.allclose(found, plain * f * f[:, np.newaxis], rtol=1e-10)


@pytest.mark.parametrize("beta", BETAS)
@pytest.mark.parametrize("affinity", OF_ROWS.values(), ids=OF_ROWS)
def test_new_rows_have_the_weights_of_the_same_function(beta, affinity):
    X, new = rows(120, 0), rows(40, 1)
    V = np.random.default_rng(2).normal(size=(120, 3))
    plain, contrast = affinity(0.0), affinity(beta)
    order = np.lexsort(X.T[::-1])
    plain.fit_graph(X)
    contrast.fit_graph(X)
    f, f_new = factors_by_loops(X, X[order], 8, beta), factors_by_loops(X, new, 8, beta)
    expected = plain.apply(new, V * f[:, np.newaxis])
    found = contrast.apply(new, V)
    near = np.isfinite(expected.log_scale)  # a mutual graph can leave a row alone
    assert near.sum() > 20
    scale = np.exp(found.log_scale[near] - expected.log_scale[near] - np.log(f_new[near]))
    assert np.allclose(found.values[near] * scale[:, np.newaxis], expected.values[near])
    within = contrast.within(new, np.eye(len(new)))
    assert np.allclose(within, plain.within(new, np.eye(len(new))) * f_new * f_new[:, np.newaxis])


MODELS = OF_ROWS | {"landmarks": lambda beta: Landmarks(60, density_contrast=beta)}


@pytest.mark.parametrize("affinity", MODELS.values(), ids=MODELS)
def test_training_rows_are_reproduced(cut, affinity):
    X = make_moons(400, noise=0.1, random_state=0)[0]
    X = np.vstack([X, X[:20]])
    model = GPOD(2, cut=cut, affinity=affinity(1.0)).fit(X)
    assert (model.predict(X) == model.labels_).all()
    assert [model.predict(x[np.newaxis])[0] for x in X[::23]] == model.labels_[::23].tolist()
    assert np.abs(model.transform(X) - model.embedding_).max() < 1e-8


@pytest.mark.parametrize("scale", [2.0**-330, 2.0**-10, 2.0**260])
@pytest.mark.parametrize("name", ["mutual"])
def test_units_do_not_matter(scale, name):
    X = make_moons(300, noise=0.08, random_state=0)[0]
    model, other = (GPOD(2, affinity=MODELS[name](1.0)).fit(rows) for rows in (X, X * scale))
    assert (model.labels_ == other.labels_).all()


@pytest.mark.parametrize("affinity", MODELS.values(), ids=MODELS)
def test_a_saved_model_predicts_the_same_bits(tmp_path, affinity, cut):
    X, new = rows(200, 0), rows(60, 1)
    model = GPOD(2, cut=cut, affinity=affinity(1.5)).fit(X)
    model.save(tmp_path / "m")
    again = load(tmp_path / "m")
    assert again.affinity_.density_contrast == 1.5
    V = np.random.default_rng(0).normal(size=(len(new), 2))
    assert (again.affinity_.within(new, V) == model.affinity_.within(new, V)).all()
    assert (again.transform(new) == model.transform(new)).all()
    assert (again.score_samples(new) == model.score_samples(new)).all()


def test_many_equal_distances_are_no_infinite_density():
    grid = np.stack(np.meshgrid(np.arange(12.0), np.arange(12.0)), -1).reshape(-1, 2)
    X = np.vstack([grid, grid[:40], grid[:40]])
    labels = GPOD(2, affinity=Neighbors(6, density_contrast=2.0)).fit_predict(X)
    assert len(np.unique(labels)) == 2


@pytest.mark.parametrize("beta", [-1, np.nan, 5, "much", True])
@pytest.mark.parametrize("name", ["symmetric", "landmarks"])
def test_what_is_no_contrast_is_refused(beta, name):
    with pytest.raises(ValueError, match=r"density_contrast must be a number from 0 to 4. Got"):
        MODELS[name](beta).fit_graph(rows(30, 0))


@pytest.mark.parametrize(
    ("draw", "noise"), [(make_moons, 0.10), (make_moons, 0.13), (make_circles, 0.08)]
)
@pytest.mark.parametrize("kind", [Neighbors, Landmarks])
def test_contrast_cures_what_more_rows_do(draw, noise, kind):
    """Without it, the cut of ten thousand rows goes through a dense neck."""
    options = {"factor": 0.5} if draw is make_circles else {}
    X, y = draw(10_000, noise=noise, random_state=1, **options)
    size = {Neighbors: 15, Landmarks: 500}[kind]
    scores = [
        adjusted_rand_score(y, GPOD(2, affinity=kind(size, density_contrast=b)).fit_predict(X))
        for b in (0.0, 1.0)
    ]
    assert scores[0] < 0.9 and scores[1] > 0.93


# ---------------------------------------------------------------------- landmarks


def landmark_problem(affinity, X):
    """Memberships, masses and volumes of rows, straight from their definitions."""
    Y, r = affinity.landmarks_, affinity.n_nearest
    squared = ((X[:, np.newaxis] - Y) ** 2).sum(axis=2)
    farthest = np.sort(squared, axis=1)[:, r - 1 : r]
    excess = squared - squared.min(axis=1, keepdims=True)
    spread = farthest - squared.min(axis=1, keepdims=True)
    Z = np.where(squared <= farthest, np.exp(-excess / (2 * 0.45**2 * spread)), 0.0)
    Z /= Z.sum(axis=1, keepdims=True)
    return Z, Z @ affinity.masses_


@pytest.mark.parametrize("beta", BETAS)
@pytest.mark.parametrize("d", [1, 2, 5])
def test_masses_of_landmarks_are_densities(beta, d):
    """All rows are in the sample, so that their counts are those of the whole."""
    X = rows(401, 0, d)
    affinity = Landmarks(40, density_contrast=beta).fit(X)
    Z, _ = landmark_problem(affinity, X)
    spacing = cKDTree(affinity.landmarks_).query(affinity.landmarks_, 5)[0][:, -1]
    rho = Z.sum(axis=0) ** min(1, 2 / d) / spacing ** min(d, 2)
    order = np.argsort(rho)
    half = np.cumsum(Z.sum(axis=0)[order]) >= len(X) / 2
    expected = np.clip((rho / rho[order][half][0]) ** (2 * beta), 1e-3, 1e3)
    assert np.allclose(affinity.masses_, expected / expected.max(), rtol=1e-9)


def test_no_landmark_counts_for_all_or_for_nothing():
    """Neither a row with a million copies nor one far out decides the masses of the others."""
    counts, spacing = np.full(50, 10.0), np.ones(50)
    counts[0], spacing[1] = 1e9, 1e9
    masses = landmark_masses(counts, spacing, 2, beta=1.0)
    assert (masses >= 1e-6).all() and masses.max() == 1.0
    assert np.ptp(masses[2:]) == 0.0


@pytest.mark.parametrize("beta", BETAS)
def test_the_small_problem_solves_the_large_one(beta):
    """NCut of the p x p problem against LAPACK on the n x n graph of the same weights."""
    X, new = (make_moons(n, noise=0.12, random_state=n)[0] for n in (600, 50))
    model = GPOD(3, affinity=Landmarks(60, density_contrast=beta)).fit(X)
    Z, m = landmark_problem(model.affinity_, X)
    W = m[:, np.newaxis] * (Z / (m @ Z)) @ (Z.T * m)
    assert np.abs(W.sum(axis=1) - m).max() < 1e-12
    L, U = np.diag(m) - W, model.embedding_
    values, vectors = eigh(L, np.diag(m))
    assert np.abs(model.eigenvalues_ - values[:3]).max() < 1e-7  # sums are of rounded products
    assert np.abs(U.T @ (m[:, np.newaxis] * U) - np.eye(3)).max() < 1e-6
    assert (
        subspace_angles(
            np.sqrt(m)[:, np.newaxis] * U, np.sqrt(m)[:, np.newaxis] * vectors[:, :3]
        ).max()
        < 1e-5
    )
    Z_new, m_new = landmark_problem(model.affinity_, new)
    W_new = m_new[:, np.newaxis] * (Z_new / (m @ Z)) @ (Z.T * m)
    expected = W_new @ U / (m_new[:, np.newaxis] * (1 - model.eigenvalues_))
    assert np.abs(model.transform(new) - expected).max() < 1e-6 * np.abs(expected).max()
    product = model.affinity_.apply(new, np.empty((60, 0)))
    assert np.allclose(product.log_degrees, np.log(m_new), atol=1e-12)
    W_among = len(X) * m_new[:, np.newaxis] * (Z_new / (m @ Z)) @ (Z_new.T * m_new)
    assert np.allclose(model.affinity_.within(new, np.eye(50)), W_among, rtol=1e-6, atol=1e-9)


def test_ratiocut_of_landmarks_is_that_of_rows_to_their_resolution():
    """There the rows' own eigenvectors are no averages over landmarks, but close to such."""
    X = make_moons(1500, noise=0.1, random_state=0)[0]
    model = GPOD(2, cut="ratiocut", affinity=Landmarks(200)).fit(X)
    Z, m = landmark_problem(model.affinity_, X)
    values, vectors = eigh(np.diag(m) - m[:, np.newaxis] * (Z / (m @ Z)) @ (Z.T * m))
    assert model.eigenvalues_[1] == pytest.approx(values[1], rel=0.02)
    assert np.degrees(subspace_angles(model.embedding_, vectors[:, :2]).max()) < 1.0
    assert np.abs(model.embedding_.T @ model.embedding_ - np.eye(2)).max() < 0.02


def test_a_stream_gives_the_same_bits(cut):
    X = rows(2000, 0)
    affinity = Landmarks(50, density_contrast=2.0)
    model = GPOD(2, cut=cut, affinity=affinity).fit(X)
    blocks = np.array_split(X[::-1], 7)
    stream = GPOD(2, cut=cut, affinity=affinity).fit(Rows(lambda: iter(blocks)))
    assert (stream.affinity_.masses_ == model.affinity_.masses_).all()
    assert (stream.affinity_.multiplicity_ == model.affinity_.multiplicity_).all()
    assert (stream.transform(X) == model.transform(X)).all()
    assert model.affinity_.multiplicity_.sum() == pytest.approx(2000, rel=1e-9)


@pytest.mark.parametrize("name", ["masses", "volumes"])
def test_a_file_with_masses_that_are_none_is_refused(tmp_path, name):
    from eigencut.io.state_reader import StateReader

    affinity = Landmarks(10).fit(rows(100, 0))
    state = affinity._state()
    state["contrast"] = state["contrast"] | {name: np.zeros(10)}
    with pytest.raises(ValueError, match=f"contrast.{name} must be from"):
        Landmarks(10)._restore(StateReader(state))
