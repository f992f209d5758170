"""Pictures of more rows than are shown, and of more clusters than dimensions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import make_blobs

from eigencut import GPOD, select
from pictures import check_picture

pytest.importorskip("matplotlib").use("Agg")
from matplotlib import pyplot  # noqa: E402

from eigencut.plotting import (  # noqa: E402
    ChoiceDisplay,
    ClusterDisplay,
    EmbeddingDisplay,
)
from eigencut.plotting.displays import evenly_around  # noqa: E402


@pytest.fixture(autouse=True)
def closed():
    yield
    pyplot.close("all")


def test_the_legend_counts_all_rows_where_some_are_shown():
    X = make_blobs(60_000, 2, centers=3, random_state=0)[0]
    model = GPOD(3, affinity="landmarks").fit(X)
    outside = int((model.score_samples(X) < model.fitted_cut_.least_support).sum())
    display = ClusterDisplay.from_estimator(model, X)
    assert display.rows.is_outside.sum() < outside == display.rows.n_unlike
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert f"outside ({outside})" in texts
    assert sum(display.rows.sizes) == 60_000


@pytest.fixture(scope="module")
def thirty():
    X = make_blobs(1500, 5, centers=30, cluster_std=0.8, random_state=0)[0]
    return GPOD(30).fit(X), X


def test_every_one_of_thirty_clusters_has_a_place_in_the_embedding(thirty):
    model, X = thirty
    display = EmbeddingDisplay.from_estimator(model, X)
    assert_allclose(np.hypot(*display.directions.T), 1.0)
    middles = np.array([display.points[display.labels == k].mean(axis=0) for k in range(30)])
    apart = np.linalg.norm(middles[:, None] - middles[None], axis=2) + 9 * np.eye(30)
    assert apart.min() > 0.1  # no two lie on each other
    assert (np.hypot(*middles.T) > 0.7).all()  # and none at the origin
    assert "the plane in which the 30 directions" in display.ax_.get_xlabel()
    numbers = [t.get_text() for t in display.ax_.texts if t.get_text()]
    assert sorted(map(int, numbers)) == list(range(30))
    check_picture(display.figure_)


def test_the_plane_is_a_shadow_and_neighbours_share_rows():
    rng = np.random.default_rng(0)
    rows = np.repeat(np.eye(6), 20, axis=0) + 0.01 * rng.random((120, 6))
    rows[:10, 3] += 0.5  # rows of 0 that are half of 3
    found = evenly_around(rows)
    assert_allclose(found.T @ found, 3 * np.eye(2), atol=1e-12)
    assert_allclose(found[0] @ found[3], np.cos(2 * np.pi / 6))  # beside each other


def test_the_legend_of_a_choice_covers_no_point():
    X = make_blobs(600, centers=5, cluster_std=1.2, random_state=3)[0]
    display = ChoiceDisplay.from_selection(select(X, range(2, 7)))
    check_picture(display.figure_)
    box = display.ax_.get_legend().get_window_extent()
    for line in display.ax_.get_lines():
        for place in display.ax_.transData.transform(line.get_xydata()):
            assert not box.contains(*place)
