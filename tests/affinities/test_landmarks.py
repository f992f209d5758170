"""Landmarks: the small problem against the n x n one it stands for, sampling, search, sums."""

import warnings

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score

import eigencut.kernels
from conftest import CUTS, change_auto_policy
from eigencut import GPOD, GraphWarning, Landmarks
from eigencut.extension.eigenfunctions import Algorithm1
from eigencut.graphs.complete import Memberships, MembershipSums
from eigencut.io.sample import RowSample
from eigencut.kernels.numpy_kernels import NumpyKernels
from eigencut.neighbors.search import NearestLandmarks, kmeans_centres

pytestmark = pytest.mark.filterwarnings("ignore::eigencut.exceptions.GraphWarning")


def moons(n=600, seed=0, noise=0.12):
    return make_moons(n, noise=noise, random_state=seed)[0]


def dense_memberships(affinity, X):
    """Z as a full matrix, by brute force and straight from its definition."""
    distances = cdist(X, affinity.landmarks_)
    r = min(affinity.n_nearest, len(affinity.landmarks_))
    Z = np.zeros(distances.shape)
    for i, row in enumerate(distances):
        nearest = np.argsort(row)[:r]
        near = row[nearest]
        local = 0.45 * np.sqrt(near.max() ** 2 - near.min() ** 2)
        sigma = local if affinity.sigma == "auto" else affinity.sigma
        Z[i, nearest] = np.exp(-(row[nearest] ** 2) / (2 * sigma**2))
    return Z / Z.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("sigma", ["auto", 0.15])
@pytest.mark.parametrize("p, r", [(60, 3), (600, 12)], ids=["few", "all rows"])
def test_the_small_problem_solves_the_large_one(cut, sigma, p, r):
    """Eigenpairs of the p x p problem against LAPACK on the n x n graph of the same weights."""
    X = moons()
    options = {"sigma": sigma, "density_contrast": 0.0}
    model = GPOD(3, cut=cut, affinity=Landmarks(p, r, **options)).fit(X)
    Z = dense_memberships(model.affinity_, X)
    W = Z @ np.diag(1 / Z.sum(axis=0)) @ Z.T
    assert np.abs(W.sum(axis=1) - 1).max() < 1e-12
    values, vectors = eigh(np.eye(len(X)) - W)
    assert np.abs(model.eigenvalues_ - values[:3]).max() < 1e-10
    U = model.embedding_
    assert np.abs(U.T @ U - np.eye(3)).max() < 1e-10
    assert np.abs((np.eye(len(X)) - W) @ U - U * model.eigenvalues_).max() < 1e-10
    span = vectors[:, :3]
    assert np.abs(U - span @ (span.T @ U)).max() < 1e-6


@pytest.mark.parametrize("sigma", ["auto", 0.15])
def test_the_extension_is_the_consistent_form_of_all_rows(sigma):
    """u(x) = (1/n) sum_i W(x, x_i) U[i] / (1 - lambda), with the n rows that predict never sees."""
    X, new = moons(), moons(50, seed=1)
    model = GPOD(3, affinity=Landmarks(80, sigma=sigma, density_contrast=0.0)).fit(X)
    Z, Z_new = (dense_memberships(model.affinity_, rows) for rows in (X, new))
    W_new = Z_new @ np.diag(1 / Z.sum(axis=0)) @ Z.T
    expected = W_new @ model.embedding_ / (1 - model.eigenvalues_)
    assert np.abs(model.transform(new) - expected).max() < 1e-10


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("d", [2, 7])
def test_training_rows_are_reproduced(cut, d):
    X = make_blobs(3000, d, centers=4, cluster_std=2.5, random_state=0)[0]
    model = GPOD(4, cut=cut, affinity=Landmarks(200)).fit(X)
    assert np.abs(model.transform(X) - model.embedding_).max() < 1e-12
    assert (model.predict(X) == model.labels_).all()
    singles = [model.predict(X[i : i + 1])[0] for i in range(0, len(X), 97)]
    assert singles == model.labels_[::97].tolist()


@pytest.mark.parametrize("d", [2, 7])
def test_threads_and_order_of_rows_do_not_matter(d):
    X = make_blobs(3000, d, centers=4, cluster_std=2.5, random_state=0)[0]
    X = np.vstack([X, X[:100]])
    affinity = Landmarks(100)
    models = [GPOD(4, affinity=affinity, n_jobs=n_jobs).fit(X) for n_jobs in (1, 2, 5)]
    for model in models:
        assert (model.embedding_ == models[0].embedding_).all()
    order = np.random.default_rng(0).permutation(len(X))
    permuted = GPOD(4, affinity=affinity).fit(X[order])
    assert (permuted.affinity_.landmarks_ == models[0].affinity_.landmarks_).all()
    assert (permuted.labels_ == models[0].labels_[order]).all()
    assert (permuted.embedding_ == models[0].embedding_[order]).all()


def test_within_is_the_weight_function_among_rows():
    X, new = moons(), moons(40, seed=1)
    affinity = Landmarks(50, density_contrast=0.0).fit(X)
    Z, Z_new = (dense_memberships(affinity, rows) for rows in (X, new))
    W = len(X) * Z_new @ np.diag(1 / Z.sum(axis=0)) @ Z_new.T
    assert np.abs(affinity.within(new, np.eye(40)) - W).max() < 1e-9 * W.max()  # E is rounded


def test_moons_that_kmeans_cannot_tell_apart():
    X, truth = make_moons(20000, noise=0.07, random_state=0)
    assert adjusted_rand_score(truth, GPOD(2, affinity="landmarks").fit(X).labels_) > 0.99


def test_rows_far_away_have_labels_and_little_support():
    X = moons()
    model = GPOD(2, affinity=Landmarks(100), outliers="label").fit(X)
    far = np.array([[1e3, 0.0], [0.0, -1e9], [1e200, 1e200]])
    labels = GPOD(2, affinity=Landmarks(100)).fit(X).predict(far)
    assert set(labels) <= {0, 1}
    assert np.isfinite(model.transform(far)).all()
    assert (model.predict(far) == -1).all()
    assert (model.score_samples(far) < model.score_samples(X).min()).all()
    assert 0.001 < (model.predict(moons(2000, seed=1)) == -1).mean() < 0.05


@pytest.mark.parametrize("scale", [1e-30, 1e-3, 1e4, 1e100])
def test_units_do_not_matter(scale):
    X = make_blobs(2000, 6, centers=3, cluster_std=3.0, random_state=0)[0]
    expected = GPOD(3, affinity=Landmarks(100)).fit(X)
    moved = GPOD(3, affinity=Landmarks(100)).fit(X * scale)
    assert adjusted_rand_score(expected.labels_, moved.labels_) > 0.9
    assert (moved.predict(X * scale) == moved.labels_).all()


def test_both_cuts_coincide_without_contrast():
    X, affinity = moons(), Landmarks(80, density_contrast=0.0)
    ratio, normal = (GPOD(3, cut=cut, affinity=affinity).fit(X) for cut in CUTS)
    assert (ratio.labels_ == normal.labels_).all()
    paper = GPOD(3, cut="ratiocut", extension="paper", affinity=affinity).fit(X)
    assert not isinstance(paper.fitted_cut_.functions, Algorithm1)
    assert (paper.labels_ == ratio.labels_).all()


def test_few_rows_and_identical_rows():
    X = np.repeat([[0.0, 0.0], [0.0, 1.0], [5.0, 5.0], [5.0, 6.0]], 50, axis=0)
    model = GPOD(2, affinity="landmarks").fit(X)
    assert len(model.affinity_.landmarks_) == 4
    assert adjusted_rand_score(model.labels_, np.repeat([0, 1], 100)) == 1.0
    with pytest.raises(ValueError, match=r"at most the number of landmarks, 4\. Got 5"):
        GPOD(5, affinity="landmarks").fit(X)


def test_a_graph_in_pieces_is_said():
    X = np.vstack([moons(), moons() + 100])
    with pytest.warns(GraphWarning, match="2 connected components, of 600, 600 rows"):
        GPOD(4, affinity=Landmarks(100)).fit(X)


@pytest.mark.parametrize(
    "parameters, message",
    [
        (
            dict(n_landmarks=0),
            "n_landmarks must be an integer of at least 1 and at most 4294967296. Got 0",
        ),
        (
            dict(n_nearest=1.5),
            "n_nearest must be an integer of at least 1 and at most 4294967296. Got 1.5",
        ),
        (dict(sigma=-1), "sigma of Landmarks must be a positive number or 'auto'. Got -1"),
        (dict(random_state="a"), "random_state of Landmarks must be a non-negative integer"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        GPOD(2, affinity=Landmarks(**parameters)).fit(moons())


# ------------------------------------------------------------------------ its parts


@pytest.mark.parametrize("chunks", [1, 3, 50])
def test_a_sample_ignores_order_and_chunks(chunks):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 12, size=(5000, 3)).astype(float)  # many rows twice or more
    whole = RowSample.draw(X, size=200, seed=3)
    parts = [
        RowSample.draw(part, size=200, seed=3)
        for part in np.array_split(rng.permutation(X), chunks)
    ]
    merged = parts[0]
    for part in parts[1:]:
        merged = merged.merged(part)
    assert (merged.rows == whole.rows).all() and (merged.counts == whole.counts).all()
    assert merged.n_rows == 5000
    counts = [(row == X).all(axis=1).sum() for row in whole.rows]
    assert (whole.counts == counts).all()
    assert (RowSample.draw(X, size=200, seed=4).rows != whole.rows).any()


@pytest.mark.parametrize("factor", [1024.0, 2.0**-30])
@pytest.mark.parametrize(
    "values", [np.random.default_rng(0).normal, np.random.default_rng(0).poisson]
)
def test_powers_of_two_change_no_sample_and_no_label(factor, values):
    X = np.asarray(values(size=(800, 3)), dtype=float)
    one, other = (RowSample.draw(rows, size=50, seed=0) for rows in (X, factor * X))
    assert (factor * one.rows == other.rows).all() and (one.counts == other.counts).all()
    labels = [GPOD(3, affinity=Landmarks(40)).fit(rows).labels_ for rows in (X, factor * X)]
    assert (labels[0] == labels[1]).all()


def test_a_sample_is_fair():
    """Each of 100 different rows is drawn about equally often, over seeds."""
    X = np.arange(100.0)[:, np.newaxis]
    drawn = np.concatenate(
        [RowSample.draw(X, size=10, seed=seed).rows[:, 0] for seed in range(1000)]
    )
    counts = np.bincount(drawn.astype(int), minlength=100)
    assert abs(counts - 100).max() < 5 * np.sqrt(100)


def test_a_sample_of_few_different_rows_holds_them_all():
    X = np.repeat(np.arange(5.0), [1000, 1, 50, 3, 10])[:, np.newaxis]
    sample = RowSample.draw(X, size=20, seed=0)
    assert sorted(zip(sample.rows[:, 0], sample.counts, strict=True)) == [
        (0, 1000), (1, 1), (2, 50), (3, 3), (4, 10),
    ]  # fmt: skip


@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("d", [1, 2, 5, 16])
@pytest.mark.parametrize("r", [1, 4])
def test_nearest_points_are_those_of_brute_force(d, r, offset):
    rng = np.random.default_rng(d)
    points, X = rng.normal(size=(150, d)) + offset, rng.normal(size=(400, d)) + offset
    search = NearestLandmarks(points, r)
    nearest, squared = search(X)
    squared = np.ldexp(squared, 2 * search.exponent)
    distances = cdist(X, points, "sqeuclidean")
    assert (np.sort(nearest) == np.sort(np.argsort(distances, axis=1)[:, :r])).all()
    assert np.allclose(squared, np.take_along_axis(distances, nearest, 1), rtol=1e-12)


@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize("shape", ["square", "line", "clumps", "one dimension"])
def test_cells_find_what_a_tree_finds(shape):
    rng = np.random.default_rng(0)
    points, X = rng.random((300, 2)), 1.4 * rng.random((5000, 2)) - 0.2
    if shape == "line":
        points[:, 1] = 0.5
    if shape == "clumps":  # cells with more candidates than are kept
        points = 1e-3 * points + rng.integers(0, 2, size=(300, 2))
    if shape == "one dimension":
        points, X = points[:, :1], X[:, :1]
    X[0] = 1e150
    by_cells, by_tree = (NearestLandmarks(points, 5, n_rows)(X)[0] for n_rows in (10**7, 0))
    assert (np.sort(by_cells) == np.sort(by_tree)).all()


def test_float32_does_not_decide_between_points_it_cannot_tell_apart():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(100, 8))
    points = np.vstack([points, points + 1e-9 * rng.normal(size=points.shape)])
    X = rng.normal(size=(300, 8))
    nearest, _ = NearestLandmarks(points, 1)(X)
    assert (nearest[:, 0] == cdist(X, points).argmin(axis=1)).all()


@pytest.mark.usefixtures("kernels")
def test_sums_of_memberships():
    rng = np.random.default_rng(0)
    nearest = np.argsort(rng.random((500, 40)), axis=1)[:, :3]
    weights = rng.dirichlet([1, 1, 1], size=500)
    Z = np.zeros((500, 40))
    np.put_along_axis(Z, nearest, weights, axis=1)
    members = Memberships(nearest, weights)
    sums = MembershipSums.compute(members[:200], 40).added(
        MembershipSums.compute(members[200:], 40)
    )
    assert np.abs(sums.gram - Z.T @ Z).max() < 1e-9
    assert np.abs(sums.rows_at_landmarks - Z.sum(axis=0)).max() < 1e-7
    order = rng.permutation(500)
    permuted = MembershipSums.compute(Memberships(nearest[order], weights[order]), 40)
    assert (permuted.units != sums.units).nnz == 0
    many = MembershipSums(csr_array(sums.units.toarray() + (1 << 62)))
    with pytest.raises(OverflowError, match="must not have more than 268435456 rows"):
        many.added(sums)
    V = rng.normal(size=(40, 2))
    assert np.abs(members.average(V) - Z @ V).max() < 1e-14
    assert np.abs(members.compact(40).average(V) - Z @ V).max() < 1e-14
    assert np.abs(members.gather(Z @ V, 40) - Z.T @ (Z @ V)).max() < 1e-12


def test_kernels_in_c_find_the_same(monkeypatch):
    if eigencut.kernels.chosen.name == "numpy":
        pytest.skip("the kernels in C were not compiled here")
    X, _ = make_moons(20_000, noise=0.1, random_state=0)
    points = make_moons(200, noise=0.1, random_state=1)[0]
    in_c = NearestLandmarks(points, 5, n_rows=10**7)(X)[0]
    weights = np.random.default_rng(0).dirichlet(np.ones(5), size=len(X))
    sums_in_c = MembershipSums.compute(Memberships(in_c, weights), 200).units
    monkeypatch.setattr(eigencut.kernels, "chosen", NumpyKernels())
    assert (NearestLandmarks(points, 5, n_rows=10**7)(X)[0] == in_c).all()
    assert (MembershipSums.compute(Memberships(in_c, weights), 200).units != sums_in_c).nnz == 0


def test_kmeans_lowers_the_distance_to_landmarks():
    X = np.unique(moons(3000), axis=0)
    X = np.random.default_rng(0).permutation(X)
    ones = np.ones(len(X))
    centres = kmeans_centres(X, ones, 50)
    before, after = (cdist(X, points).min(axis=1) for points in (X[:50], centres))
    assert (after**2).sum() < 0.7 * (before**2).sum()
    doubled = kmeans_centres(X, 2 * ones, 50)
    assert np.abs(doubled - centres).max() < 1e-12


def test_counts_pull_landmarks():
    X = np.array([[0.0], [10.0], [1.0]])
    centres = kmeans_centres(X, np.array([1.0, 1.0, 3.0]), 2)
    assert sorted(centres[:, 0]) == [0.75, 10.0]


def test_no_warning_on_connected_data():
    with warnings.catch_warnings():
        warnings.simplefilter("error", GraphWarning)
        GPOD(2, affinity=Landmarks(100)).fit(moons())


def test_weights_tell_landmarks_apart_where_all_are_about_as_far():
    """Squared distances in many dimensions: a large common part, and what differs."""
    affinity = Landmarks().fit(np.random.default_rng(0).normal(size=(50, 2)))
    differing = np.array([[0.0, 0.1, 0.2, 0.9, 1.0]])
    near, far = affinity._weights(0.1 + differing), affinity._weights(100.0 + differing)
    assert far == pytest.approx(near)
    assert near[0, 0] > 5 * near[0, 4]


def test_rows_very_far_away_share_their_landmarks():
    affinity = Landmarks().fit(np.random.default_rng(0).normal(size=(50, 2)))
    rounding = 1e20 * np.array([[1.0, 1 + 2e-16, 1 - 2e-16, 1.0, 1.0]])
    assert affinity._weights(rounding) == pytest.approx(np.full((1, 5), 0.2))


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int8, np.uint8])
def test_narrow_numbers_stay_as_they_are(dtype, monkeypatch):
    """Only blocks of them become float64; the model is that of the same numbers in float64."""
    rng = np.random.default_rng(1)
    X = np.vstack([rng.integers(0, 20, (300, 3)), rng.integers(50, 70, (300, 3))]).astype(dtype)
    model = GPOD(2, affinity=Landmarks(40)).fit(X)
    wide = GPOD(2, affinity=Landmarks(40)).fit(X.astype(np.float64))
    assert (model.labels_ == wide.labels_).all()
    assert (model.transform(X) == wide.transform(X.astype(np.float64))).all()
    assert (model.predict_proba(X) == wide.predict_proba(X.astype(np.float64))).all()
    asked = []
    original = Landmarks.apply
    monkeypatch.setattr(Landmarks, "apply", lambda *args: asked.append(args[1]) or original(*args))
    model.predict(X)
    assert asked[0].dtype == dtype


def test_many_narrow_rows_are_not_widened_by_the_default(monkeypatch):
    change_auto_policy(monkeypatch, most_rows_for_neighbors=500)
    X = make_moons(1000, noise=0.05, random_state=0)[0].astype(np.float32)
    seen = []
    original = Landmarks.fit_graph
    monkeypatch.setattr(
        Landmarks, "fit_graph", lambda self, X, *more: seen.append(X) or original(self, X, *more)
    )
    model = GPOD(2).fit(X)
    assert seen[0] is X
    assert (model.labels_ == GPOD(2).fit(X.astype(np.float64)).labels_).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_narrow_numbers_are_checked(bad):
    X = np.ones((10, 2), dtype=np.float16)
    X[3, 1] = bad
    with pytest.raises(ValueError, match="row 3, column 1"):
        GPOD(2, affinity="landmarks").fit(X)


@pytest.mark.parametrize("p", [400, 250, 100])
def test_few_new_rows_are_without_support_however_many_landmarks_there_are(p):
    """A row that is a landmark is judged without it: no new row lies on one."""
    rng = np.random.default_rng(0)
    affinity = Landmarks(p)
    judged = affinity.fit_graph(rng.normal(size=(400, 3))).outlier_threshold(0.01)
    fresh = rng.normal(size=(4000, 3))
    support = affinity.apply(fresh, np.zeros((len(affinity.landmarks_), 1))).support
    assert (support < judged.least).mean() < judged.share <= 0.08
    far = affinity.apply(fresh[:5] + 50, np.zeros((len(affinity.landmarks_), 1))).support
    assert (far < judged.least).all()


def test_identical_rows_keep_their_landmark():
    X = np.repeat(np.arange(20.0)[:, np.newaxis], 3, axis=0)
    affinity = Landmarks(20)
    least = affinity.fit_graph(X).outlier_threshold(0.01).least
    assert (affinity.apply(X, np.zeros((20, 1))).support >= least).all()


@pytest.mark.filterwarnings("ignore::eigencut.GraphWarning")
def test_one_huge_value_leaves_no_probability_undefined():
    X = np.random.default_rng(0).normal(size=(200, 2))
    X[7, 0] = 1e160
    for affinity in (Landmarks(20), Landmarks(20, sigma=0.01)):
        assert np.isfinite(GPOD(2, affinity=affinity).fit(X).predict_proba(X)).all()


def test_few_rows_beside_many_of_one_place_are_a_cluster():
    X = np.vstack([[[0.0, 0.0], [1.0, 1.0]], np.full((50, 2), 5.0)])
    for n_landmarks in (2, 3, 1000):
        labels = GPOD(2, affinity=Landmarks(n_landmarks)).fit_predict(X)
        assert labels.tolist() == [1, 1] + [0] * 50
