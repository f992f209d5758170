"""Every display on toys, digits and thirty clusters: marks in each panel, no text cut off."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, make_blobs, make_moons

from eigencut import GPOD, Gaussian, Neighbors, TableModel, load, plotting, recluster, select
from eigencut.exceptions import NoEigenfunctions
from eigencut.plotting import displays
from eigencut.theory.curves import learning_curve
from pictures import check_picture

mpl = pytest.importorskip("matplotlib")
mpl.use("Agg")
from matplotlib import pyplot  # noqa: E402

GRID = np.array([(i, j) for i in range(6) for j in range(5)]) * 6.0
DATA = {
    "moons": lambda: (2, make_moons(300, noise=0.07, random_state=0)[0]),
    "blobs": lambda: (3, make_blobs(300, centers=3, random_state=3)[0]),
    "digits": lambda: (10, load_digits().data[::3]),
    "thirty": lambda: (30, make_blobs(900, centers=GRID, random_state=0)[0]),
}
# Displays of a fitted model, its rows and rows held out.
OF_MODEL = {
    "ClusterDisplay": lambda d, m, X, Y: d.from_estimator(m, X, X_new=Y),
    "SpectrumDisplay": lambda d, m, X, Y: d.from_estimator(m),
    "EmbeddingDisplay": lambda d, m, X, Y: d.from_estimator(m, X),
    "MarginDisplay": lambda d, m, X, Y: d.from_estimator(m, X),
    "SupportDisplay": lambda d, m, X, Y: d.from_estimator(m, X, X_new=Y),
    "CutValueDisplay": lambda d, m, X, Y: d.from_estimator(m, Y),
    "SimilarityDisplay": lambda d, m, X, Y: d.from_estimator(m, X),
    "DriftDisplay": lambda d, m, X, Y: d.from_estimator(m, Y),
    "HierarchyDisplay": lambda d, m, X, Y: d.from_estimator(m),
    "SplitDisplay": lambda d, m, X, Y: d.from_estimator(m),
}


SOLVERS = ("relaxed", "discrete")
OF_RELAXED_CUTS = ("SpectrumDisplay",)


@pytest.fixture(autouse=True)
def small_figures(monkeypatch):
    monkeypatch.setattr(displays, "GRID", 30)
    with mpl.rc_context({"figure.dpi": 60}):
        yield
    pyplot.close("all")


@pytest.fixture(scope="module", params=DATA)
def fitted(request):
    K, X = DATA[request.param]()
    return {solver: GPOD(K, solver=solver).fit(X[::2]) for solver in SOLVERS}, X[::2], X[1::2]


def check_display(display):
    assert display.figure_ is display.ax_.figure
    assert display.ax_.get_xlabel()
    check_picture(display.figure_)


@pytest.mark.parametrize("name", OF_MODEL)
@pytest.mark.parametrize("solver", SOLVERS)
def test_pictures_of_models(fitted, name, solver):
    models, *rows = fitted
    if solver == "discrete" and name in OF_RELAXED_CUTS:
        with pytest.raises(NoEigenfunctions, match="fit GPOD with solver='relaxed'"):
            OF_MODEL[name](getattr(plotting, name), models[solver], *rows)
    else:
        check_display(OF_MODEL[name](getattr(plotting, name), models[solver], *rows))


def test_every_display_has_a_test():
    assert set(plotting.__all__) == {*OF_MODEL, "ChoiceDisplay", "LearningCurveDisplay"}


@pytest.mark.parametrize(
    "affinity", [Gaussian(), [Gaussian(), Neighbors(), Neighbors(graph="mutual")]]
)
@pytest.mark.parametrize("numbers", [range(2, 5), range(2, 26)])
def test_picture_of_a_selection(affinity, numbers):
    X = make_blobs(200, centers=3, random_state=3)[0]
    found = select(X, numbers, affinity)
    display = plotting.ChoiceDisplay.from_selection(found)
    check_display(display)
    for choice in found.choices:
        place = display.graphs.index(repr(choice.affinity))
        column = list(display.n_clusters).index(choice.n_clusters)
        assert display.scores[place, column] == choice.score
    row, column = display.chosen
    assert display.n_clusters[column] == found.best.n_clusters
    assert display.graphs[row] == repr(found.best.affinity)


def test_a_selection_has_a_line_for_each_graph():
    X = make_blobs(120, centers=3, random_state=3)[0]
    for graphs in ([Gaussian()], [Gaussian(), Neighbors()]):
        found = select(X, range(2, 5), graphs).plot()
        assert len(found.lines) == len(graphs) + 1  # and the ring


def test_a_selection_of_one_number_says_how_to_compare_more():
    X = make_blobs(200, centers=[[0, 0], [9, 0], [0, 9]], random_state=3)[0]
    found = select(X, 3)
    assert {choice.n_clusters for choice in found.choices} == {3}  # on two graphs
    texts = [text.get_text() for text in found.plot().texts]
    assert texts == ["the only number with a score; select(X, range(2, 11)) compares more"]
    assert not select(X, range(2, 5)).plot().texts


def test_picture_of_a_learning_curve():
    X = make_moons(300, noise=0.07, random_state=0)[0]
    curve = learning_curve(GPOD(2, affinity=Gaussian(0.4)), X, [30, 60, 90], n_repeats=4)
    display = plotting.LearningCurveDisplay.from_curve(curve)
    check_display(display)
    assert display.ax_.get_xscale() == display.ax_.get_yscale() == "log"
    line = display.ax_.lines[1].get_ydata()
    assert line[0] == pytest.approx(curve._excess_at(30))


def test_a_learning_curve_without_excess_is_drawn_all_the_same():
    X = np.repeat([[0.0, 0.0], [0.0, 9.0]], 100, axis=0)
    curve = learning_curve(GPOD(2, affinity=Gaussian(1.0)), X, [20, 40], n_repeats=2)
    assert np.isnan(curve.slope)
    check_display(plotting.LearningCurveDisplay.from_curve(curve))


# ------------------------------------------------------------- axes of users


@pytest.mark.parametrize("name", OF_MODEL)
def test_displays_draw_on_given_axes_and_leave_others_alone(name):
    K, X = DATA["moons"]()
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(14, 5), layout="constrained")
    model = GPOD(K).fit(X[::2])
    display = OF_MODEL[name](getattr(plotting, name), model, X[::2], X[1::2])
    again = display.plot(left)
    assert again is display and display.ax_ is left and display.figure_ is figure
    assert not right.lines and not right.collections and not right.images
    display.plot(right)
    check_picture(figure)


def test_figures_without_a_layout_have_their_legend_inside():
    K, X = DATA["blobs"]()
    _, ax = pyplot.subplots()
    check_display(plotting.ClusterDisplay.from_estimator(GPOD(K).fit(X), X, ax=ax))


# ------------------------------------------------------------ kinds of models


def test_models_of_tables_are_drawn_in_the_units_of_their_columns():
    pandas = pytest.importorskip("pandas")
    X = make_moons(200, noise=0.07, random_state=0)[0] * [1000.0, 0.01] + [5000.0, 3.0]
    frame = pandas.DataFrame(X.copy(), columns=["price in $ and $", "rate\nof ten"])
    frame.loc[3, "price in $ and $"] = np.nan
    model = TableModel(GPOD(2), missing="drop").fit(frame)
    display = plotting.ClusterDisplay.from_estimator(model, frame, X_new=frame[:9])
    check_display(display)
    np.testing.assert_allclose(display.rows.points, np.delete(X, 3, axis=0))
    assert display.rows.n_incomplete == 1
    assert "1 with missing" in display.ax_.get_legend().get_title().get_text()
    assert display.ax_.get_xlabel() == r"price in \$ and \$"
    assert display.ax_.get_ylabel() == r"rate\nof ten"
    np.testing.assert_array_equal(display.rows.labels, np.delete(model.labels_, 3))
    given = plotting.ClusterDisplay.from_estimator(model, frame, projection=X[:, ::-1])
    np.testing.assert_array_equal(given.rows.points, np.delete(X[:, ::-1], 3, axis=0))
    for how in ("pca", "eigenfunctions"):
        both = dict(X_new=frame[:9], projection=how)
        found = plotting.ClusterDisplay.from_estimator(model, frame, **both)
        assert found.kind == how and found.regions is None
        check_display(found)
    for name in OF_MODEL.keys() - {"ClusterDisplay"}:
        check_display(OF_MODEL[name](getattr(plotting, name), model, frame, frame[:50]))


def test_mixed_tables_are_drawn_by_principal_components():
    pandas = pytest.importorskip("pandas")
    X = make_blobs(90, centers=3, random_state=3)[0]
    frame = pandas.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": ["red", "blue", "green"] * 30})
    display = plotting.ClusterDisplay.from_estimator(TableModel(GPOD(3)).fit(frame), frame)
    assert display.kind == "pca" and display.regions is None
    check_display(display)


def test_loaded_models_are_drawn_as_they_were(tmp_path):
    K, X = DATA["blobs"]()
    model = GPOD(K).fit(X)
    model.save(tmp_path / "model.eigencut")
    loaded = load(tmp_path / "model.eigencut")
    for name in OF_MODEL:
        display = getattr(plotting, name)
        ours, theirs = (OF_MODEL[name](display, one, X, X[:60]) for one in (model, loaded))
        for ours_drawn, theirs_drawn in zip(ours.ax_.lines, theirs.ax_.lines, strict=True):
            np.testing.assert_allclose(ours_drawn.get_xydata(), theirs_drawn.get_xydata())
        pyplot.close("all")


def test_split_clusters():
    X = make_blobs(300, centers=[[0, 0], [0, 6], [40, 0]], random_state=0)[0]
    finer = recluster(GPOD(2).fit(X), X, cluster=0)
    display = plotting.ClusterDisplay.from_estimator(finer, X)
    check_display(display)
    np.testing.assert_array_equal(display.rows.labels, finer.predict(X))
    assert sorted(np.unique(display.regions.labels)) == [0, 1, 2]
    for name in OF_MODEL.keys() - {"CutValueDisplay"}:
        check_display(OF_MODEL[name](getattr(plotting, name), finer, X, X[:50]))
    with pytest.raises(TypeError, match=r"model must be one whose clusters all come from one cut"):
        plotting.CutValueDisplay.from_estimator(finer, X[:50])


@pytest.mark.parametrize("sparse", [False, True])
def test_precomputed_affinities(sparse):
    from scipy.sparse import csr_array

    X = make_blobs(120, centers=3, cluster_std=2.0, random_state=3)[0]
    W = np.exp(-((X[:, np.newaxis] - X) ** 2).sum(axis=-1) / 4)
    W = csr_array(np.where(W > 1e-3, W, 0.0)) if sparse else W
    model = GPOD(3, affinity="precomputed").fit(W)
    display = plotting.ClusterDisplay.from_estimator(model, W)
    assert display.kind == "eigenfunctions" and "eigenfunction" in display.ax_.get_xlabel()
    check_display(display)
    similarity = plotting.SimilarityDisplay.from_estimator(model, W)
    check_display(similarity)
    dense = W.toarray() if sparse else W
    expected = dense[np.ix_(similarity.rows, similarity.rows)]
    np.fill_diagonal(expected, np.nan)
    np.testing.assert_array_equal(similarity.similarities, expected)
    check_display(plotting.SpectrumDisplay.from_estimator(model, W))
    given = plotting.ClusterDisplay.from_estimator(model, W, projection=X)
    assert given.kind == "given" and given.regions is None
    check_display(given)
    np.testing.assert_array_equal(given.rows.points, X)
    for name, got in (("pca", "affinities"), ("columns", "120 columns")):
        with pytest.raises(ValueError, match=f"projection='{name}' must have rows.*Got {got}; pas"):
            plotting.ClusterDisplay.from_estimator(model, W, projection=name)
    with pytest.raises(ValueError, match="square matrix of affinities"):
        plotting.SimilarityDisplay.from_estimator(model, W[:20])


def test_sparse_rows():
    from scipy.sparse import csr_array

    cells = np.random.default_rng(0).random((150, 40))
    X = csr_array(np.where(cells < 0.2, 5 * cells, 0.0))
    X[:75, :5] = 1.0
    model = GPOD(2, affinity="neighbors").fit(X)
    check_display(plotting.ClusterDisplay.from_estimator(model, X))
    with pytest.raises(ValueError, match="sparse rows"):
        plotting.ClusterDisplay.from_estimator(model, X, projection="pca")


def test_landmarks_keep_no_rows():
    K, X = DATA["blobs"]()
    model = GPOD(K, affinity="landmarks").fit(X)
    assert len(plotting.SpectrumDisplay.from_estimator(model).eigenvalues) == K
    check_display(plotting.SpectrumDisplay.from_estimator(model))
    check_display(plotting.SpectrumDisplay.from_estimator(model, X))
    check_display(plotting.CutValueDisplay.from_estimator(model, X[:90]))
    with pytest.raises(ValueError, match="model must have kept its training rows"):
        plotting.CutValueDisplay.from_estimator(model)
    check_display(plotting.SimilarityDisplay.from_estimator(model, X))


def test_one_cluster_and_rows_without_any():
    X = make_blobs(100, centers=1, random_state=0)[0]
    for name in OF_MODEL.keys() - {"EmbeddingDisplay", "DriftDisplay"}:
        check_display(OF_MODEL[name](getattr(plotting, name), GPOD(1).fit(X), X, X[:40] + 0.01))
    with pytest.raises(ValueError, match=r"at least two clusters.*Got one of 1 cluster; draw"):
        plotting.EmbeddingDisplay.from_estimator(GPOD(1).fit(X), X)
    for rows, how in ((X, "eigenfunctions"), (X[:, :1], "auto")):
        with pytest.raises(ValueError, match=r"at least two clusters.*Got one of 1; pass points"):
            plotting.ClusterDisplay.from_estimator(GPOD(1).fit(rows), rows, projection=how)
    marked = GPOD(2, outliers="label", outlier_quantile=0.2).fit(X)
    display = plotting.ClusterDisplay.from_estimator(marked, X, X_new=[[99.0, 99.0]])
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert f"no cluster ({(marked.labels_ < 0).sum()})" in texts
    check_display(display)


def test_more_rows_than_can_be_seen_are_sampled_and_that_is_said():
    X = np.random.default_rng(0).normal(size=(displays.MOST_SHOWN + 10_000, 2))
    X[::2] += 9.0
    model = GPOD(2, affinity="landmarks").fit(X[:2000])
    display = plotting.ClusterDisplay.from_estimator(model, X)
    assert len(display.rows.points) == displays.MOST_SHOWN
    assert display.rows.sizes.sum() == len(X)  # those that are not shown are counted
    title = display.ax_.get_legend().get_title().get_text()
    assert title == "50 000 of 60 000 rows"
    support = plotting.SupportDisplay.from_estimator(model, X)
    texts = [text.get_text() for text in support.ax_.get_legend().get_texts()]
    assert texts[0].startswith("50 000 of 60 000 training rows")
    similarity = plotting.SimilarityDisplay.from_estimator(model, X)
    assert "2000 of 60 000 rows" in similarity.ax_.get_xlabel()


# ------------------------------------------------------------------ mistakes


@pytest.mark.parametrize("name", OF_MODEL)
def test_what_is_no_model_is_refused(name):
    with pytest.raises(ValueError, match="model must be a GPOD, a TableModel"):
        OF_MODEL[name](getattr(plotting, name), "model", np.ones((5, 2)), np.ones((5, 2)))


def test_projections_that_do_not_suit_are_refused():
    K, X = DATA["blobs"]()
    model, draw = GPOD(K).fit(X), plotting.ClusterDisplay.from_estimator
    for wrong in ("umap", 3):
        with pytest.raises(ValueError, match="projection must be"):
            draw(model, X, projection=wrong)
    with pytest.raises(ValueError, match=r"points of shape \(300, 2\).*Got shape \(5, 2\)"):
        draw(model, X, projection=X[:5])
    with pytest.raises(ValueError, match="X_new must be left out where projection is an array"):
        draw(model, X, projection=X, X_new=X[:5])
    with pytest.raises(ValueError, match="projection='columns' must have rows of two numbers"):
        draw(GPOD(3).fit(np.hstack([X, X])), np.hstack([X, X]), projection="columns")


@pytest.mark.parametrize("wrong", [np.nan, np.inf, None])
def test_points_that_are_no_numbers(wrong):
    K, X = DATA["blobs"]()
    points = np.full(X.shape, 2.0, dtype=object)
    points[3, 0] = points[7, 1] = wrong
    got = f"projection must be finite real numbers.*Got {wrong or np.nan} and 2.0 in row 3"
    with pytest.raises(ValueError, match=got):
        plotting.ClusterDisplay.from_estimator(GPOD(K).fit(X), X, projection=points)


@pytest.mark.parametrize(
    ("wrong", "got"),
    [
        (np.full((300, 2), "no"), "a ndarray of something else"),
        (np.full((300, 2), 1j), "a ndarray of something else"),
        (None, "shape .*; pass two"),
        ([[1.0], [1.0, 2.0]], "a list of something else"),
    ],
)
def test_projections_that_are_no_points(wrong, got):
    K, X = DATA["blobs"]()
    with pytest.raises(ValueError, match=f"projection must .*Got {got}"):
        plotting.ClusterDisplay.from_estimator(GPOD(K).fit(X), X, projection=wrong)


def test_displays_that_are_not_there_are_named():
    with pytest.raises(AttributeError, match="no attribute 'PieDisplay'"):
        plotting.PieDisplay  # noqa: B018


@pytest.mark.parametrize("name", ["SplitDisplay", "HierarchyDisplay"])
def test_what_are_no_axes_is_refused(name):
    K, X = DATA["blobs"]()
    model = GPOD(K).fit(X)
    figure, both = pyplot.subplots(1, 2)
    for wrong, got in ((5, "5"), (figure, "Figure"), (both, "ndarray"), (pyplot.Axes, "<class")):
        with pytest.raises(ValueError, match=f"ax must be one Axes of matplotlib. Got {got}.*pass"):
            getattr(plotting, name).from_estimator(model, ax=wrong)


@pytest.mark.parametrize(
    ("draw", "expected"),
    [
        (
            plotting.ChoiceDisplay.from_selection,
            "selection must be a Selection, which eigencut.selec",
        ),
        (
            plotting.LearningCurveDisplay.from_curve,
            "curve must be a LearningCurve, which eigencut.th",
        ),
    ],
)
def test_what_another_function_returns_is_refused(draw, expected):
    for wrong, got in ((None, "None"), (5, "5"), (np.ones(3), "ndarray"), (GPOD(2), "GPOD")):
        with pytest.raises(ValueError, match=f"{expected}.* returns. Got {got}; pass that"):
            draw(wrong)


@pytest.mark.filterwarnings("error")
def test_cut_values_of_a_data_frame_come_without_warnings():
    pandas = pytest.importorskip("pandas")
    K, X = DATA["blobs"]()
    frame = pandas.DataFrame(X, columns=["a", "b"])
    ours = plotting.CutValueDisplay.from_estimator(GPOD(K).fit(frame[::2]), frame[1::2])
    theirs = plotting.CutValueDisplay.from_estimator(GPOD(K).fit(X[::2]), X[1::2])
    np.testing.assert_array_equal(ours.held_out.per_cluster, theirs.held_out.per_cluster)


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    import sys

    K, X = DATA["blobs"]()
    model = GPOD(K).fit(X)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"pip install 'eigencut\[plot\]'"):
        plotting.HierarchyDisplay.from_estimator(model)
