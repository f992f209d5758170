"""What displays draw is what models say: compared with predict, LAPACK, PCA and brute force."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_blobs, make_moons
from sklearn.decomposition import PCA

from eigencut import GPOD, Gaussian, Landmarks, Neighbors, TableModel
from eigencut.discretization import normalize_rows
from eigencut.hierarchy.hierarchy import ClusterWeights, join_all
from eigencut.plotting.displays import Shown, project, regions_around
from eigencut.plotting.style import plain

mpl = pytest.importorskip("matplotlib")
mpl.use("Agg")
from matplotlib import pyplot  # noqa: E402
from matplotlib.text import Text  # noqa: E402

from eigencut.plotting import (  # noqa: E402
    EmbeddingDisplay,
    HierarchyDisplay,
    SpectrumDisplay,
    SplitDisplay,
)

X = make_blobs(150, 4, centers=3, cluster_std=2.0, random_state=5)[0]


@pytest.fixture(autouse=True)
def close_figures():
    yield
    pyplot.close("all")


@pytest.mark.parametrize("affinity", [Gaussian(), Neighbors(), Landmarks(n_landmarks=40)])
def test_the_spectrum_begins_with_the_eigenvalues_of_the_model(affinity):
    model = GPOD(3, affinity=affinity).fit(X)
    found = SpectrumDisplay.from_estimator(model, X).eigenvalues
    assert len(found) == 9 and (np.diff(found) >= -1e-12).all()
    assert_allclose(found[:3], model.eigenvalues_, atol=1e-8)


def test_further_eigenvalues_are_those_of_the_whole_matrix():
    """By LAPACK, from the weights written out."""
    model = GPOD(3, affinity=Gaussian(2.0)).fit(X)
    W = np.exp(-((X[:, np.newaxis] - X) ** 2).sum(axis=-1) / (2 * 2.0**2))
    root = np.sqrt(W.sum(axis=1))
    exact = np.linalg.eigvalsh(np.eye(len(X)) - W / root[:, np.newaxis] / root)
    found = SpectrumDisplay.from_estimator(model)
    assert_allclose(found.eigenvalues, exact[:9], atol=1e-8)


@pytest.mark.parametrize("scaled", [False, True])
def test_regions_are_the_predictions_of_their_cells(scaled):
    rows = make_moons(150, noise=0.07, random_state=0)[0] * [100.0, 1.0]
    model = TableModel(GPOD(2)).fit(rows) if scaled else GPOD(2).fit(rows)
    found = regions_around(model, rows, model.score_samples(rows), 12)
    cells = np.array([[x, y] for y in found.y for x in found.x])
    assert_array_equal(found.labels.ravel(), model.predict(cells))
    assert_allclose(found.support.ravel(), model.score_samples(cells))
    assert (found.x[0], found.y[0]) < tuple(rows.min(axis=0))


def test_principal_components_are_those_of_scikit_learn():
    found = project(GPOD(3).fit(X), X, "pca")
    reference = PCA(2).fit(X)
    assert_allclose(np.abs(found.apply(X)), np.abs(reference.transform(X)), atol=1e-10)
    for label, share in zip(found.axis_labels, reference.explained_variance_ratio_, strict=True):
        assert f"({share:.0%} of variance)" in label


def test_rows_belong_to_the_direction_that_is_nearest():
    rows = make_moons(200, noise=0.1, random_state=0)[0]
    model = GPOD(2, affinity=Gaussian(0.3)).fit(rows)
    found = EmbeddingDisplay.from_estimator(model, rows)
    assert_allclose(found.points, normalize_rows(model.transform(rows)), atol=1e-12)
    assert_array_equal((found.points @ found.directions.T).argmax(axis=1), model.predict(rows))
    assert_allclose(found.directions @ found.directions.T, np.eye(2), atol=1e-12)


@settings(max_examples=20)
@given(st.integers(2, 12), st.integers(0, 1000))
def test_groups_of_every_cut_are_together_in_the_tree(K, seed):
    rng = np.random.default_rng(seed)
    B = rng.uniform(size=(K, K)) ** 4
    B = B + B.T + 3 * np.eye(K)
    hierarchy = join_all(ClusterWeights(B, B.sum(axis=1), rng.uniform(1, 9, K), None, True), "ncut")
    found = HierarchyDisplay._of(hierarchy).plot(_axes())
    assert sorted(found.leaves) == list(range(K))
    for n_groups in range(1, K + 1):
        groups = hierarchy.labels(n_groups)[found.leaves]
        assert (np.diff(groups) != 0).sum() == n_groups - 1
    assert_array_equal(found.forks[:, 0], np.arange(2, K + 1))
    assert (found.ends > found.forks[:, :1]).all()


@settings(max_examples=20)
@given(st.integers(1, 4), st.integers(1, 30), st.integers(0, 1000))
def test_bands_are_the_rows_that_labels_share(n_columns, n, seed):
    rng = np.random.default_rng(seed)
    columns, weight = rng.integers(-1, 5, (n_columns, n)), rng.uniform(1, 3, n)
    found = SplitDisplay._of(list(columns), "clusters", weight).plot(_axes())
    for j, (numbers, sizes) in enumerate(zip(found.numbers, found.sizes, strict=True)):
        assert sorted(numbers) == np.unique(columns[j]).tolist()
        assert_allclose(sizes, [weight[columns[j] == number].sum() for number in numbers])
    for j, flow in enumerate(found.flows):
        assert_allclose(flow.sum(axis=1), found.sizes[j])
        assert_allclose(flow.sum(axis=0), found.sizes[j + 1])
        a, b = found.numbers[j][0], found.numbers[j + 1][-1]
        both = (columns[j] == a) & (columns[j + 1] == b)
        assert_allclose(flow[0, -1], weight[both].sum())
    order = rng.permutation(n)
    moved = SplitDisplay._of(list(columns[:, order]), "clusters", weight[order])
    for ours, theirs in zip(found.numbers, moved.numbers, strict=True):
        assert_array_equal(ours, theirs)


def test_levels_of_a_model_do_not_cross():
    places = 6.0 * np.array([(i, j) for i in range(4) for j in range(3)])
    rows = make_blobs(360, centers=places, random_state=0)[0]
    model = GPOD(12).fit(rows)
    found = SplitDisplay.from_estimator(model)
    assert [len(numbers) for numbers in found.numbers] == [2, 3, 4, 5, 6, 7, 8, 9, 10, 12]
    for flow in found.flows:  # each group has one parent, and parts lie side by side
        assert ((flow > 0).sum(axis=0) == 1).all()
        assert (np.diff(flow.argmax(axis=0)) >= 0).all()
    assert_array_equal(np.sort(found.sizes[-1]), np.sort(model.hierarchy().sizes))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (dict(labels_list=[]), "labels_list must be lists of integers"),
        (dict(labels_list=[[0, 1], [0]]), "labels_list must be lists of integers"),
        (dict(labels_list=[[0.5, 1.0]]), "Got float64 of shape"),
    ],
)
def test_labels_that_cannot_be_drawn_are_refused(wrong, said):
    with pytest.raises(ValueError, match=said):
        SplitDisplay.from_labels(**wrong)


def _axes(kept=[]):  # noqa: B006
    """The same axes for all examples: a figure takes longer than a tree."""
    if not kept:
        kept.append(pyplot.figure().add_subplot())
    kept[0].clear()
    return kept[0]


@given(st.integers(1, 10_000), st.integers(1, 500))
def test_shown_rows_are_different_and_in_order(n_rows, most):
    found = Shown.draw(n_rows, most)
    assert len(found.rows) == min(n_rows, most) and (np.diff(found.rows) > 0).all()
    assert found.rows[0] >= 0 and found.rows[-1] < n_rows
    assert (" of " in found.sentence) == (n_rows > most)
    assert_array_equal(found.rows, Shown.draw(n_rows, most).rows)


@given(st.text(alphabet=st.one_of(st.sampled_from("$\\_^{}\n\t\u202e"), st.characters())))
def test_text_of_users_is_no_formula_and_has_no_control_characters(name):
    shown = plain(name)
    text, is_math = Text(text=shown)._preprocess_math(shown)
    assert not is_math
    assert text.isprintable() and len(text) <= 40
    assert text.count("$") == name.count("$") or "…" in text
