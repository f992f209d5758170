"""Density contrast of graphs of neighbours."""

import numpy as np
import pytest
from scipy.spatial import cKDTree
from sklearn.datasets import make_circles, make_moons
from sklearn.metrics import adjusted_rand_score

from eigencut import GPOD, Neighbors, load

BETAS = [0.5, 1.0, 2.0]


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
@pytest.mark.parametrize("graph", ["symmetric", "mutual"])
@pytest.mark.parametrize("d", [1, 2, 5])
def test_weights_are_multiplied_by_the_densities(beta, graph, d):
    X = rows(120, 0, d)
    X = X[np.lexsort(X.T[::-1])]  # the order of vertices
    plain = Neighbors(8, graph=graph).fit_graph(X).dense()
    found = Neighbors(8, graph=graph, density_contrast=beta).fit_graph(X).dense()
    f = factors_by_loops(X, X, 8, beta)
    assert np.allclose(found, plain * f * f[:, np.newaxis], rtol=1e-10)


@pytest.mark.parametrize("beta", BETAS)
def test_new_rows_have_the_weights_of_the_same_function(beta):
    X, new = rows(120, 0), rows(40, 1)
    V = np.random.default_rng(2).normal(size=(120, 3))
    plain, contrast = Neighbors(8), Neighbors(8, density_contrast=beta)
    order = np.lexsort(X.T[::-1])
    plain.fit_graph(X)
    contrast.fit_graph(X)
    f, f_new = factors_by_loops(X, X[order], 8, beta), factors_by_loops(X, new, 8, beta)
    expected = plain.apply(new, V * f[:, np.newaxis])
    found = contrast.apply(new, V)
    scale = np.exp(found.log_scale - expected.log_scale)
    assert np.allclose(found.values * scale[:, np.newaxis], expected.values * f_new[:, np.newaxis])
    within = contrast.within(new, np.eye(len(new)))
    assert np.allclose(within, plain.within(new, np.eye(len(new))) * f_new * f_new[:, np.newaxis])


def test_training_rows_are_reproduced(cut):
    X = make_moons(400, noise=0.1, random_state=0)[0]
    X = np.vstack([X, X[:20]])
    model = GPOD(2, cut=cut, affinity=Neighbors(12, density_contrast=1.0)).fit(X)
    assert (model.predict(X) == model.labels_).all()
    assert np.abs(model.transform(X) - model.embedding_).max() < 1e-8


@pytest.mark.parametrize("scale", [1e-100, 1e-3, 1e80])
def test_units_do_not_matter(scale):
    X = make_moons(300, noise=0.08, random_state=0)[0]
    labels = GPOD(2, affinity=Neighbors(12, density_contrast=1.0)).fit_predict(X)
    assert (
        GPOD(2, affinity=Neighbors(12, density_contrast=1.0)).fit_predict(X * scale) == labels
    ).all()


def test_a_saved_model_predicts_the_same_bits(tmp_path):
    X, new = rows(200, 0), rows(60, 1)
    model = GPOD(2, affinity=Neighbors(10, graph="mutual", density_contrast=1.5)).fit(X)
    model.save(tmp_path / "m")
    again = load(tmp_path / "m")
    assert (again.transform(new) == model.transform(new)).all()
    assert (again.score_samples(new) == model.score_samples(new)).all()


def test_many_equal_distances_are_no_infinite_density():
    grid = np.stack(np.meshgrid(np.arange(12.0), np.arange(12.0)), -1).reshape(-1, 2)
    X = np.vstack([grid, grid[:40], grid[:40]])
    labels = GPOD(2, affinity=Neighbors(6, density_contrast=2.0)).fit_predict(X)
    assert len(np.unique(labels)) == 2


@pytest.mark.parametrize("beta", [-1, np.nan, 5, "much", True])
def test_what_is_no_contrast_is_refused(beta):
    with pytest.raises(ValueError, match=r"density_contrast must be a number from 0 to 4. Got"):
        Neighbors(5, density_contrast=beta).fit_graph(rows(30, 0))


@pytest.mark.parametrize(
    ("draw", "noise"), [(make_moons, 0.10), (make_moons, 0.13), (make_circles, 0.08)]
)
def test_contrast_cures_what_more_rows_do_to_neighbour_graphs(draw, noise):
    """Without it, the cut of ten thousand rows goes through a dense neck."""
    options = {"factor": 0.5} if draw is make_circles else {}
    X, y = draw(10_000, noise=noise, random_state=1, **options)
    scores = [
        adjusted_rand_score(y, GPOD(2, affinity=Neighbors(15, density_contrast=b)).fit_predict(X))
        for b in (0.0, 1.0)
    ]
    assert scores[0] < 0.6 and scores[1] > 0.93
