"""Models of discrete cuts: what must always be true of them, and the face that all models have."""

import copy
import pickle
from copy import deepcopy

import numpy as np
import pytest
from scipy.sparse import issparse
from sklearn.metrics import adjusted_rand_score

import eigencut
from eigencut import GPOD, Gaussian, ModelFileError, RankedNeighbors, TableModel, load, recluster
from eigencut.exceptions import NoEigenfunctions
from eigencut.inspection import assess, label_sets, significance, stability
from eigencut.inspection.assessment import cut_value
from eigencut.io.model_format import read, write
from eigencut.kernels.numpy_kernels import NumpyKernels
from eigencut.theory import errors

pytestmark = pytest.mark.filterwarnings("ignore::eigencut.GraphWarning")

rng = np.random.default_rng(0)
CENTRES = rng.normal(size=(5, 8)) * 3
X = np.repeat(CENTRES, 60, axis=0) + rng.normal(size=(300, 8))
NEW = np.repeat(CENTRES, 20, axis=0) + rng.normal(size=(100, 8))
FAR = np.vstack([NEW, 1e3 * rng.normal(size=(20, 8)), np.full((1, 8), 1e200)])

MODELS = {
    "ranked": GPOD(5, solver="discrete"),
    "given": GPOD(5, affinity=RankedNeighbors(10)),
    "cosine": GPOD(5, solver="discrete", metric="cosine"),
    "ratiocut": GPOD(5, cut="ratiocut", solver="discrete"),
    "outliers": GPOD(5, solver="discrete", outliers="label"),
    "gaussian": GPOD(5, solver="discrete", affinity=Gaussian()),
    "neighbors": GPOD(5, solver="discrete", affinity="neighbors"),
    "landmarks": GPOD(5, solver="discrete", affinity="landmarks"),
}


FITTED = {}


def fitted(name):
    key = name, eigencut.kernels.chosen.name
    if key not in FITTED:
        FITTED[key] = copy.deepcopy(MODELS[name]).fit(X)
    return copy.deepcopy(FITTED[key])


@pytest.fixture(params=MODELS)
def model(request, kernels):
    return fitted(request.param)


@pytest.fixture(params=MODELS)
def answering(request):
    """For questions to a model whose labels and shares both builds of the kernels agree about."""
    return fitted(request.param)


@pytest.fixture(scope="module")
def embedded():
    """Unit vectors of many columns around sixty directions, and a model of them."""
    rng = np.random.default_rng(4)
    rows = np.repeat(rng.normal(size=(60, 30)), 25, axis=0) + 0.4 * rng.normal(size=(1500, 30))
    rows = rows @ np.linalg.qr(rng.normal(size=(200, 30)))[0].T + 0.1 * rng.normal(size=(1500, 200))
    rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return GPOD(60, metric="cosine").fit(rows), rows


@pytest.fixture(scope="module")
def ranked():
    return GPOD(5, solver="discrete").fit(X)


@pytest.fixture(scope="module")
def many():
    """Three hundred clusters, of which the rows of each are near each other."""
    rng = np.random.default_rng(3)
    rows = np.repeat(rng.normal(size=(300, 6)) * 10, 12, axis=0)
    rows = rows + 0.5 * rng.normal(size=rows.shape)
    return GPOD(300, solver="discrete").fit(rows), rows


# ---------------------------------------------------------------------------- invariants


def test_embeddings_are_seen_along_their_axes(embedded, tmp_path):
    model, rows = embedded
    truth = np.repeat(np.arange(60), 25)
    assert model.affinity_._points.shape == (1500, 64)
    assert adjusted_rand_score(model.labels_, truth) > 0.95
    assert (model.predict(rows) == model.labels_).all()
    new = rows[:40] + 0.01 * rows[40:80]
    together = model.predict_proba(new)
    for i in range(0, 40, 7):
        assert (model.predict_proba(new[[i]]) == together[i]).all()
    model.save(tmp_path / "model")
    assert (load(tmp_path / "model").predict_proba(new) == together).all()
    order = np.random.default_rng(0).permutation(len(rows))
    other = GPOD(60, metric="cosine").fit(rows[order])
    assert adjusted_rand_score(other.labels_, model.labels_[order]) == 1
    narrow = GPOD(60, metric="cosine").fit(rows.astype(np.float16))
    assert adjusted_rand_score(narrow.labels_, truth) > 0.95
    with pytest.raises(ValueError, match=r"no row of zeros.*row 300"):
        model.predict(np.vstack([rows[:300], np.zeros((1, 200))]))


def test_training_rows_are_reproduced(model):
    assert (model.predict(X) == model.labels_).all()
    assert model.labels_.min() >= -1 and len(np.unique(model.partition_.labels)) == 5
    if isinstance(model.affinity_, RankedNeighbors):
        np.testing.assert_array_equal(model.transform(X), model.embedding_)
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-14)


def test_a_row_does_not_depend_on_its_company(model):
    for ask in (model.predict, model.transform, model.predict_proba, model.score_samples):
        together = ask(FAR)
        for i in range(0, len(FAR), 7):
            np.testing.assert_allclose(ask(FAR[i : i + 1])[0], together[i], rtol=1e-12)
    assert [int(model.predict(row[np.newaxis])[0]) for row in FAR] == model.predict(FAR).tolist()


def test_probabilities_agree_with_labels(model):
    shares, probabilities = model.transform(FAR), model.predict_proba(FAR)
    np.testing.assert_allclose(shares.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-12)
    assert (probabilities >= 0).all()
    labels = model.fitted_cut_.labels(FAR)
    assert (probabilities.argmax(axis=1) == labels).all()
    assert (model.predict(FAR)[model.predict(FAR) >= 0] == labels[model.predict(FAR) >= 0]).all()
    top = np.sort(shares, axis=1)
    margins = model.predict_margin(FAR)
    assert (margins <= top[:, -1] - top[:, -2] + 1e-12).all() and (margins >= 0).all()
    if model.metric != "cosine":  # to which no row is far
        assert model.predict_margin(np.full((1, 8), 1e6))[0] < 1e-9


def test_permuting_rows_permutes_labels(model):
    order = np.random.default_rng(1).permutation(len(X))
    again = copy.deepcopy(model).fit(X[order])
    np.testing.assert_array_equal(again.labels_, model.labels_[order])


@pytest.mark.parametrize("name", ["ranked", "given", "outliers", "gaussian", "neighbors"])
def test_integer_weights_are_repeated_rows(name, kernels):
    weight = np.random.default_rng(2).integers(0, 4, size=len(X))
    weighted = copy.deepcopy(MODELS[name]).fit(X, sample_weight=weight)
    repeated = copy.deepcopy(MODELS[name]).fit(np.repeat(X, weight, axis=0))
    np.testing.assert_array_equal(np.repeat(weighted.labels_, weight), repeated.labels_)
    np.testing.assert_array_equal(weighted.predict(FAR), repeated.predict(FAR))
    assert (weighted.predict(X) == weighted.labels_).all()


def test_a_file_keeps_all_of_it(answering, tmp_path):
    answering.save(tmp_path / "m")
    loaded = load(tmp_path / "m")
    for ask in ("predict", "transform", "predict_proba", "score_samples", "predict_margin"):
        np.testing.assert_array_equal(getattr(loaded, ask)(FAR), getattr(answering, ask)(FAR))
    np.testing.assert_array_equal(loaded.labels_, answering.labels_)
    np.testing.assert_array_equal(loaded.embedding_, answering.embedding_)
    np.testing.assert_array_equal(loaded.probabilities_, answering.probabilities_)
    np.testing.assert_array_equal(loaded.hierarchy().cut_values, answering.hierarchy().cut_values)
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "m").read_bytes()


def test_copies_answer_alike(answering):
    for other in (pickle.loads(pickle.dumps(answering)), copy.deepcopy(answering)):
        np.testing.assert_array_equal(other.predict_proba(FAR), answering.predict_proba(FAR))


@pytest.mark.parametrize("name", MODELS)
def test_both_builds_of_the_kernels_find_the_same_clusters(name, monkeypatch):
    first = copy.deepcopy(MODELS[name]).fit(X)
    monkeypatch.setattr(eigencut.kernels, "chosen", NumpyKernels())
    second = copy.deepcopy(MODELS[name]).fit(X)
    np.testing.assert_array_equal(second.labels_, first.labels_)
    np.testing.assert_array_equal(second.predict(FAR), first.predict(FAR))


def test_many_clusters(many, tmp_path):
    model, rows = many
    shares = model.transform(rows[::7])
    assert issparse(shares) and shares.shape == (len(rows[::7]), 300)
    assert issparse(model.embedding_) and (model.transform(rows) != model.embedding_).nnz == 0
    assert (model.predict(rows) == model.labels_).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1, rtol=1e-12)
    assert (model.predict_proba(rows[:50]).argmax(axis=1) == model.labels_[:50]).all()
    assert -1 <= model.score(rows) <= 0
    assert (model.hierarchy().labels(300) == np.arange(300)).all()
    model.save(tmp_path / "m")
    loaded = load(tmp_path / "m")
    assert (loaded.embedding_ != model.embedding_).nnz == 0
    assert (loaded.transform(rows[:9]) != model.transform(rows[:9])).nnz == 0
    assert model.transform(rows[:9], dtype=np.float32).dtype == np.float32


# ------------------------------------------------------------------------ hostile files


def changed(path, **arrays_or_numbers):
    """Write the model of a file again, with other numbers under some names."""
    header, arrays = read(path)
    content, arrays = deepcopy(header.content), dict(arrays)
    for name, value in arrays_or_numbers.items():
        places = [place for place in arrays if place.split(".", 1)[1].replace(".", "_") == name]
        assert len(places) == 1, (name, list(arrays))
        arrays[places[0]] = value(arrays[places[0]].copy())
    write(path, content, arrays)


def with_first(value):
    def change(array):
        array.reshape(-1)[0] = value
        return array

    return change


@pytest.mark.parametrize(
    ("name", "change"),
    [
        *[(name, with_first(5)) for name in ("voters", "labels_of_vertices", "labels")],
        *[(name, with_first(-1)) for name in ("voters", "labels_of_vertices", "labels")],
        *[(name, lambda a: a[:-1]) for name in ("voters", "labels_of_vertices")],
        *[("links_data", with_first(value)) for value in (-1.0, np.nan, np.inf, 1e300)],
        ("links_columns", with_first(5)),
        ("links_starts", with_first(3)),
        ("links_starts", lambda a: a[:-1]),
        *[
            ("affinity_state_scaling", with_first(value))
            for value in (0.0, -1.0, np.nan, np.inf, 1e-320, 1e300)
        ],
        ("affinity_state_scaling", lambda a: a[:-1]),
        ("embedding", lambda a: a[:, :-1]),
    ],
)
def test_hostile_files_are_refused(ranked, tmp_path, name, change):
    ranked.save(tmp_path / "m")
    changed(tmp_path / "m", **{name: change})
    with pytest.raises(ModelFileError) as refused:
        load(tmp_path / "m")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("number", [0.0, -1.0, 1e-320, 1e-90, 1e90, 3e155, -1e308, 1e308])
def test_numbers_of_a_file_are_refused_or_harmless(ranked, tmp_path, number):
    ranked.save(tmp_path / "m")
    header, arrays = read(tmp_path / "m")
    content, arrays = deepcopy(header.content), dict(arrays)
    for place, array in arrays.items():
        for where in (slice(None), slice(1)):
            other = array.copy()
            with np.errstate(all="ignore"):
                other.reshape(-1)[where] = np.asarray(number).astype(array.dtype)
            write(tmp_path / "c", content, {**arrays, place: other})
            try:
                model = load(tmp_path / "c")
                labels, shares = model.predict(FAR), model.transform(FAR)
            except ValueError as error:
                assert "\n" not in str(error)
                continue
            assert 0 <= labels.min() <= labels.max() < 5, place
            assert np.isfinite(shares).all() and not np.isnan(model.score_samples(FAR)).any(), place
            assert np.isfinite(model.predict_proba(FAR)).all(), place
            model.hierarchy()


def test_a_damaged_file_is_refused(ranked, tmp_path):
    ranked.save(tmp_path / "m")
    content = bytearray((tmp_path / "m").read_bytes())
    for place in range(100, len(content), 997):
        damaged = content.copy()
        damaged[place] ^= 255
        (tmp_path / "d").write_bytes(damaged)
        with pytest.raises(ModelFileError):
            load(tmp_path / "d")


# ------------------------------------------------------------ the face of every model


def test_score_is_the_share_that_stays(answering):
    shares, labels = answering.transform(NEW), answering.fitted_cut_.labels(NEW)
    leaves = 1 - shares[np.arange(len(NEW)), labels]
    assert answering.score(NEW) == pytest.approx(-leaves.mean())
    weight = np.random.default_rng(0).integers(1, 4, size=len(NEW))
    expected = answering.score(np.repeat(NEW, weight, axis=0))
    assert answering.score(NEW, sample_weight=weight) == pytest.approx(expected)
    blurred = answering.score(NEW + np.random.default_rng(1).normal(size=NEW.shape) * 6)
    assert blurred < answering.score(NEW) <= 0


def test_links_are_the_weights_of_the_graph(ranked):
    """Of every two clusters, by the graph itself."""
    affinity = RankedNeighbors(ranked.affinity_.n_neighbors_)
    graph, voters = affinity.fit_graph(X), ranked.fitted_cut_.voters
    Z = np.eye(5)[voters] * graph.multiplicity[:, np.newaxis]
    np.testing.assert_allclose(ranked.fitted_cut_.links.toarray(), Z.T @ graph.dense() @ Z)


def test_the_tree_has_the_cuts_of_the_graph(answering):
    tree = answering.hierarchy()
    links = answering.fitted_cut_.links.toarray() / answering.fitted_cut_.n_rows
    leaves = links.sum(axis=1) - links.diagonal()
    sizes = np.bincount(
        answering.fitted_cut_.partition.labels, answering.affinity_.multiplicity_, 5
    )
    mass = links.sum(axis=1) if answering.cut == "ncut" else sizes
    assert tree.exact and tree.cut_values[-1] == pytest.approx((leaves / mass).sum())
    assert (np.diff(tree.cut_values) >= -1e-12).all() and tree.cut_values[0] == 0
    assert len(np.unique(tree.labels(2))) == 2


def test_cut_of_the_training_rows_is_that_of_the_graph(ranked):
    graph = RankedNeighbors(ranked.affinity_.n_neighbors_).fit_graph(X)
    Z = np.eye(5)[ranked.fitted_cut_.partition.labels]
    B = Z.T @ graph.dense() @ Z
    expected = 1 - B.diagonal() / B.sum(axis=1)
    np.testing.assert_allclose(cut_value(ranked).per_cluster, expected, atol=1e-12)


def test_weights_among_new_rows_are_those_of_their_own_graph(ranked):
    rows = np.vstack([NEW, NEW[:30]])  # some of them twice
    V = np.random.default_rng(0).normal(size=(len(rows), 2))
    graph = RankedNeighbors(ranked.affinity_.n_neighbors_).fit_graph(rows)
    W = graph.dense()[np.ix_(graph.vertex_of_row, graph.vertex_of_row)]
    np.testing.assert_allclose(ranked.affinity_.within(rows, V), W @ V, rtol=1e-10)
    assert cut_value(ranked, rows).value < 1.0


def test_drift(answering):
    assert not answering.drift(NEW).has_drifted
    moved = answering.drift(NEW + 30)
    assert moved.without_support.now == 1.0 and set(moved.shares) == set(range(5))
    assert moved.has_drifted == moved.p_values_hold


def test_updates_keep_numbers(answering):
    before = answering.fitted_cut_.labels(X)
    answering.update(NEW)
    assert (answering.labels_ == answering.predict(NEW)).all()
    assert answering.updated_.kept == (0, 1, 2, 3, 4)
    assert (answering.fitted_cut_.labels(X) == before).mean() > 0.85


def test_reclustered(ranked):
    split = recluster(ranked, cluster=0)
    assert split.n_clusters_ == 6 and len(np.unique(split.predict(X))) == 6


def test_other_numbers_are_found_again(answering):
    other = copy.deepcopy(answering).fit(X[::-1] + 1e-9)
    aligned = eigencut.align_labels(other, answering)
    before, after = (one.fitted_cut_.labels(NEW).tolist() for one in (other, aligned))
    renamed = set(zip(before, after, strict=True))
    assert len(renamed) == len(set(before)) == len(set(after)) > 1


def test_risk_without_eigenfunctions(answering):
    summary = assess(answering, NEW)
    text = str(summary)
    assert summary.eigenvalues is None is summary.bounds_paper and summary.cut_heldout.value < 5
    assert "relaxed cut" not in text.split("Notes")[0] and "Bounds" not in text
    assert len(summary.notes) == 1 and "solver='relaxed'" in summary.notes[0]
    assert 0 <= summary.ambiguous <= 1 and summary.to_dict()["eigenvalues"] is None
    assert 0 <= assess(answering).ambiguous <= 1


def test_refits(ranked):
    assert stability(ranked, n_refits=3).mean > 0.9
    sets = label_sets(ranked, NEW)
    found = ranked.predict_set(NEW, calibration=sets)
    assert found[np.arange(len(NEW)), ranked.predict(NEW)].all()
    assert significance(ranked, n_null=19).p_value == 0.05
    given = GPOD(2, affinity=RankedNeighbors(10)).fit(X[:60])  # of one cluster
    assert significance(given, n_null=19).p_value > 0.05


def test_tables_words_and_reports(tmp_path):
    import pandas as pd

    frame = pd.DataFrame(X[:, :4], columns=list("abcd"))
    frame["kind"] = np.where(X[:, 4] > 0, "x", "y")
    table = TableModel(GPOD(5, solver="discrete")).fit(frame)
    assert (table.predict(frame) == table.labels_).all()
    table.save(tmp_path / "t")
    loaded = load(tmp_path / "t")
    np.testing.assert_array_equal(loaded.predict_proba(frame), table.predict_proba(frame))
    assert not table.drift(frame).has_drifted
    assert len(table.describe(frame).clusters) == 5
    path = tmp_path / "report.html"
    eigencut.report.write(table, frame, path, X_new=frame[:50])
    assert "eigenvalue" not in path.read_text()


# ------------------------------------------------------------ what only relaxed cuts have


@pytest.mark.parametrize(
    "ask",
    [
        lambda m: m.eigenvalues_,
        lambda m: m.rotation_,
        lambda m: m.predict_batch(NEW),
        lambda m: m.fitted_cut_.temperature,
        errors.empirical_error,
        lambda m: errors.excess_risk(m, m),
        lambda m: errors.excess_risk(GPOD(5, affinity=Gaussian()).fit(X), m),
        lambda m: eigencut.theory.learning_curve(m, X),
    ],
)
def test_what_needs_eigenfunctions_is_refused_in_a_sentence(ask):
    model = GPOD(5, solver="discrete", affinity=Gaussian()).fit(X)
    with pytest.raises(NoEigenfunctions, match="solver='relaxed'") as refused:
        ask(model)
    assert isinstance(refused.value, ValueError) and isinstance(refused.value, AttributeError)
    assert "\n" not in str(refused.value)
    assert not hasattr(model, "eigenvalues_") and not hasattr(model, "rotation_")
