"""Landmarks whatever the units of the data: the same clusters, and no over- or underflow."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score

import eigencut.neighbors.search as search
from eigencut import GPOD, Landmarks, load
from eigencut.neighbors.search import NearestLandmarks, kmeans_centres

pytestmark = [
    pytest.mark.filterwarnings("ignore::eigencut.exceptions.GraphWarning"),
    pytest.mark.filterwarnings("error::RuntimeWarning"),
]

PLANE, MOON = make_moons(2000, noise=0.05, random_state=0)
MANY, BLOB = make_blobs(2000, 9, centers=3, cluster_std=2.0, random_state=0)
EXTREMES = [1e155, 1e150, 1e300, 1e-200, 1e-300]


@pytest.mark.parametrize("X", [PLANE[:300], MANY[:200]], ids=["plane", "many columns"])
@pytest.mark.parametrize("sigma", ["auto", 0.4])
def test_powers_of_two_change_no_bit(X, sigma):
    """With all rows as landmarks, for a sample depends on the bits of the rows."""
    expected = GPOD(3, affinity=Landmarks(300, sigma=sigma)).fit(X)
    centres = kmeans_centres(X, np.ones(len(X)), 20)
    for exponent in (-900, -600, -520, 515, 1015):
        unit = 2.0**exponent
        scaled = Landmarks(300, sigma=sigma if sigma == "auto" else sigma * unit)
        model = GPOD(3, affinity=scaled).fit(X * unit)
        assert (model.labels_ == expected.labels_).all()
        assert (model.embedding_ == expected.embedding_).all()
        assert (model.predict(X * unit) == model.labels_).all()
        assert (model.score_samples(X * unit) == expected.score_samples(X)).all()
        assert (kmeans_centres(X * unit, np.ones(len(X)), 20) == centres * unit).all()


@pytest.mark.parametrize("size", EXTREMES)
def test_any_unit_gives_the_same_clusters(size):
    for X, truth, K in ((PLANE, MOON, 2), (MANY, BLOB, 3)):
        model = GPOD(K, affinity=Landmarks(100)).fit(X * size)
        assert adjusted_rand_score(model.labels_, truth) > 0.98
        assert (model.predict(X * size) == model.labels_).all()
        far = np.vstack([np.full_like(X[:1], 1e308), np.full_like(X[:1], -1e308), 0 * X[:1]])
        assert np.isfinite(model.transform(far)).all()


def test_a_constant_column_of_any_size_changes_nothing():
    for size in (1e200, -1.1e300):
        X = np.column_stack([PLANE, np.full(len(PLANE), size)])
        model = GPOD(2, affinity=Landmarks(100)).fit(X)
        assert adjusted_rand_score(model.labels_, MOON) > 0.98
        assert (model.predict(X) == model.labels_).all()


# ------------------------------------------------------------------------- when cells are made


@pytest.fixture
def soon(monkeypatch):
    """Cells pay from a thousand rows on."""
    monkeypatch.setattr(search, "POLICY", search.Policy(many_rows=1000, rows_per_point=1))


@pytest.mark.usefixtures("kernels", "soon")
@pytest.mark.parametrize("d", [1, 2])
def test_cells_and_tree_agree_where_points_are_equally_far(d):
    """On a lattice, most rows have several landmarks at the distance of the last."""
    axes = [np.arange(15.0)] * d if d == 2 else [np.arange(200.0)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, d)
    rng = np.random.default_rng(0)
    X = rng.integers(0, 60, size=(4000, d)) / 4 + rng.choice([0.0, 1e-14], size=(4000, 1))
    by_cells, by_tree = NearestLandmarks(points, 5, 10**6), NearestLandmarks(points, 5)
    tree = by_tree._search
    found, squared = by_cells(X)
    assert type(by_cells._search) is search.Cells
    for row, near, far in zip(X, found, squared, strict=True):
        by_tree._n_asked = 0
        expected = by_tree(row[np.newaxis])
        assert by_tree._search is tree
        assert (near == expected[0][0]).all() and (far == expected[1][0]).all()


@pytest.mark.usefixtures("soon")
def test_a_loaded_model_makes_cells_when_they_pay_and_answers_the_same(tmp_path):
    X = np.round(make_moons(3000, noise=0.1, random_state=0)[0], 1)  # many ties
    model = GPOD(2, affinity=Landmarks(100)).fit(np.vstack([X, PLANE]))
    assert type(model.affinity_._search._search) is search.Cells
    model.save(tmp_path / "m")
    again = load(tmp_path / "m")
    assert type(again.affinity_._search._search) is not search.Cells
    few = again.transform(X[:500])
    assert type(again.affinity_._search._search) is not search.Cells
    many = again.transform(X)
    assert type(again.affinity_._search._search) is search.Cells
    assert few.tobytes() == many[:500].tobytes()
    assert many.tobytes() == model.transform(X).tobytes()
