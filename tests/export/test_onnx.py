"""ONNX graphs give the labels of the model, in onnxruntime."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits, make_moons
from sklearn.metrics.pairwise import laplacian_kernel

from eigencut import GPOD, Gaussian, Landmarks, Neighbors, RankedNeighbors, TableModel
from eigencut.export import run_onnx, to_onnx
from metric_data import rows_for

pytest.importorskip("onnxruntime")

MOONS = make_moons(200, noise=0.07, random_state=0)[0]
rng = np.random.default_rng(0)
NEW = np.vstack(
    [
        make_moons(2000, noise=0.2, random_state=1)[0],
        rng.uniform(-4, 5, size=(3000, 2)),
        rng.uniform(-1e6, 1e6, size=(50, 2)),
        MOONS[:100],
    ]
)
VARIANTS = {
    "local": GPOD(3, affinity=Gaussian("local")),
    "ratiocut local": GPOD(3, cut="ratiocut", affinity=Gaussian("local")),
    "number": GPOD(2, affinity=Gaussian(0.2)),
    "ratiocut": GPOD(3, cut="ratiocut", affinity=Gaussian(0.1)),
    "outliers": GPOD(2, affinity=Gaussian(0.2), outliers="label"),
    "narrow": GPOD(3, affinity=Gaussian(0.03)),
    "landmarks": GPOD(3, affinity=Landmarks(50), outliers="label"),
    "landmarks with sigma": GPOD(2, affinity=Landmarks(80, 4, sigma=0.1)),
    "differences": GPOD(2, cut="ratiocut", affinity=Gaussian(0.02)),
    "landmarks without contrast": GPOD(3, affinity=Landmarks(50, density_contrast=0.0)),
    "ratiocut with landmarks": GPOD(2, cut="ratiocut", affinity=Landmarks(50)),
    "discrete": GPOD(3, solver="discrete"),
    "discrete with outliers": GPOD(4, affinity=RankedNeighbors(8), outliers="label"),
}
SILENT = pytest.mark.filterwarnings("ignore::eigencut.GraphWarning")


def in_batches(path, X, size=2000):
    parts = [run_onnx(path, X[i : i + size]) for i in range(0, len(X), size)]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


@SILENT
@pytest.mark.parametrize("offset", [0.0, 1000.0])
@pytest.mark.parametrize("model", VARIANTS.values(), ids=VARIANTS.keys())
def test_labels_embedding_and_support(tmp_path, model, offset):
    model.fit(MOONS + offset)
    to_onnx(model, tmp_path / "m.onnx")
    found = in_batches(tmp_path / "m.onnx", NEW + offset)
    assert (found["labels"] == model.predict(NEW + offset)).all()
    U = model.transform(NEW + offset)
    assert np.abs(found["embedding"] - U).max() < 1e-8 * np.abs(U).max()
    assert found["support"] == pytest.approx(model.score_samples(NEW + offset), rel=1e-9, abs=1e-9)
    probabilities = found["probabilities"]
    in_double = model.fitted_cut_.answers(NEW + offset).probabilities
    assert np.abs(probabilities - in_double).max() < 1e-6
    assert np.abs(probabilities - model.predict_proba(NEW + offset)).max() < 1e-4
    assert probabilities.sum(axis=1) == pytest.approx(1, abs=1e-12)
    inside = found["labels"] >= 0
    assert (probabilities.argmax(axis=1) == found["labels"])[inside].all()


@pytest.mark.parametrize("affinity", [Gaussian("local"), Gaussian(0.2), Landmarks(150)], ids=repr)
def test_labels_of_a_hundred_thousand_rows(tmp_path, affinity):
    model = GPOD(2, affinity=affinity).fit(MOONS)
    X = np.vstack([make_moons(60_000, noise=0.3, random_state=2)[0], rng.normal(size=(40_000, 2))])
    to_onnx(model, tmp_path / "m.onnx")
    assert (in_batches(tmp_path / "m.onnx", X, 20_000)["labels"] == model.predict(X)).all()


@SILENT
def test_many_features_and_clusters(tmp_path):
    X = load_digits().data
    model = GPOD(10).fit(X[:400])
    to_onnx(model, tmp_path / "m.onnx")
    assert (in_batches(tmp_path / "m.onnx", X)["labels"] == model.predict(X)).all()


@SILENT
@pytest.mark.parametrize("cut", ["ncut", "ratiocut"])
def test_small_components(tmp_path, cut):
    """Rows that form no cluster of their own; see eigencut.graphs.base."""
    X = np.vstack([MOONS, [[9.0, 9.0], [9.1, 9.0], [-8.0, 3.0]]])
    model = GPOD(2, cut=cut, affinity=Gaussian(0.1)).fit(X)
    assert not model.fitted_cut_.functions.pairs.takes_part.all()
    to_onnx(model, tmp_path / "m.onnx")
    new = np.vstack([NEW, X, rng.normal([9, 9], 0.3, size=(200, 2))])
    assert (in_batches(tmp_path / "m.onnx", new)["labels"] == model.predict(new)).all()


@SILENT
@pytest.mark.parametrize("cut", ["ncut", "ratiocut"])
@pytest.mark.parametrize("graph", ["mutual", "symmetric"])
@pytest.mark.parametrize("weights", ["local", "binary"])
@pytest.mark.parametrize("contrast", [0.0, 1.0])
def test_neighbours_and_their_reverse(tmp_path, cut, graph, weights, contrast):
    """Labels, embedding and support, near the data, far away, and at training rows."""
    affinity = Neighbors(9, graph=graph, weights=weights, density_contrast=contrast)
    X = np.vstack([MOONS[:400], [[9.0, 9.0], [9.1, 9.0], [-8.0, 3.0]]])
    model = GPOD(3, cut=cut, affinity=affinity, outliers="label").fit(X)
    to_onnx(model, tmp_path / "m.onnx")
    new = np.vstack([NEW[:4000], X, 30 * NEW[:50]])
    found, support = in_batches(tmp_path / "m.onnx", new), model.score_samples(new)
    assert (found["labels"] == model.predict(new)).all()
    assert np.abs(found["embedding"] - model.transform(new)).max() < 1e-9
    assert (np.isfinite(found["support"]) == np.isfinite(support)).all()
    near = np.isfinite(support)
    assert np.abs(found["support"][near] - support[near]).max() < 1e-9


EVERY_AFFINITY = [
    Neighbors(9),
    Neighbors(7, weights="binary"),
    Neighbors(9, graph="mutual", weights="binary"),
    Neighbors(9, density_contrast=1.0),
    Gaussian("local"),
    Gaussian("median"),
    Landmarks(40),
    RankedNeighbors(8),
]


def rows_with(what, d):
    """Three groups; of floats, on a lattice (ties), with duplicates, or far from zero."""
    rng = np.random.default_rng(d)
    X = rng.normal(size=(100, d)) + 3 * rng.integers(0, 3, size=(100, 1))
    if what == "ties":
        return np.round(X)
    if what == "duplicates":
        X[50:] = X[rng.integers(0, 50, 50)]
    return X + 1000 * (what == "offset")


@SILENT
@pytest.mark.parametrize("affinity", EVERY_AFFINITY, ids=repr)
@pytest.mark.parametrize("d", [2, 3, 8, 17, 64])
def test_training_rows_ties_and_duplicates_with_and_without_optimizations(tmp_path, affinity, d):
    for what in ("floats", "ties", "duplicates", "offset"):
        X = rows_with(what, d)
        # The same rows as other programs have them, and new ones; on a lattice, halfway too.
        rounded = X.astype(np.float32).astype(np.float64)
        new = np.vstack([X, rounded, X + np.random.default_rng(0).normal(size=X.shape)])
        if what == "ties" and not isinstance(affinity, Landmarks):  # which are means of rows
            new = np.vstack([new, (X[:50] + X[50:]) / 2])
        model = GPOD(3, affinity=affinity, outliers="label").fit(X)
        to_onnx(model, tmp_path / "m.onnx")
        U, support = model.transform(new), model.score_samples(new)
        near = np.isfinite(support)
        for optimize in (True, False):
            found = run_onnx(tmp_path / "m.onnx", new, optimize=optimize)
            assert (found["labels"] == model.predict(new)).all()
            if what == "ties" and isinstance(affinity, Landmarks):
                continue  # the last bits of a mean decide which is nearer
            assert np.abs(found["embedding"] - U).max() < 1e-7 * np.abs(U).max()
            assert (np.isfinite(found["support"]) == near).all()
            assert found["support"][near] == pytest.approx(support[near], rel=1e-7, abs=1e-7)


@SILENT
@pytest.mark.parametrize("affinity", EVERY_AFFINITY[:4] + EVERY_AFFINITY[-1:], ids=repr)
@pytest.mark.parametrize("d", [2, 4, 5, 8])
def test_distances_that_only_rounding_tells_apart(tmp_path, affinity, d):
    """Of decimals, many distances are equal on paper: the same ones are nearer as in the search."""
    rng = np.random.default_rng(d)
    X = np.round(rng.normal(size=(600, d)) + 3 * rng.integers(0, 3, size=(600, 1)), 1)
    model = GPOD(3, affinity=affinity).fit(X[:300])
    to_onnx(model, tmp_path / "m.onnx")
    for optimize in (True, False):
        found = run_onnx(tmp_path / "m.onnx", X, optimize=optimize)
        assert np.exp(found["support"]) == pytest.approx(np.exp(model.score_samples(X)))
        assert np.abs(found["probabilities"] - model.predict_proba(X)).max() < 1e-6


@pytest.mark.parametrize("unit", [1e-290, 1e290])
def test_extreme_units(tmp_path, unit):
    model = GPOD(2).fit(MOONS * unit)
    to_onnx(model, tmp_path / "m.onnx")
    near = NEW[:5000] * unit
    assert (in_batches(tmp_path / "m.onnx", near)["labels"] == model.predict(near)).all()


@pytest.mark.parametrize("missing", ["drop", "median", "refuse"])
@pytest.mark.parametrize("scale", ["standard", "none"])
def test_tables_bring_their_units_and_missing_values(tmp_path, missing, scale):
    model = TableModel(GPOD(2), scale=scale, missing=missing)
    model.fit(pd.DataFrame(MOONS * [1, 50] + 7, columns=["b", "a"]))
    X = NEW[:3000] * [1, 50] + 7
    X[5, 0] = np.nan
    X[7] = np.nan
    to_onnx(model, tmp_path / "m.onnx")
    found = run_onnx(tmp_path / "m.onnx", X)
    if missing == "refuse":
        assert (found["labels"][[5, 7]] == -1).all() and np.isnan(found["support"][[5, 7]]).all()
        X = np.delete(X, [5, 7], axis=0)
        found = {name: np.delete(values, [5, 7], axis=0) for name, values in found.items()}
    assert (found["labels"] == model.predict(X)).all()
    assert np.isnan(found["embedding"]).tolist() == np.isnan(model.transform(X)).tolist()


def test_what_is_not_a_number_gets_no_label(tmp_path):
    to_onnx(GPOD(2).fit(MOONS), tmp_path / "m.onnx")
    X = np.array([[np.nan, 0.0], [0.0, np.inf], [0.0, 0.5]])
    found = run_onnx(tmp_path / "m.onnx", X)
    assert found["labels"].tolist()[:2] == [-1, -1] and found["labels"][2] in (0, 1)
    assert np.isnan(found["embedding"]).all(axis=1).tolist() == [True, True, False]


@SILENT
@pytest.mark.parametrize("metric", ["cosine", "haversine"])
@pytest.mark.parametrize(
    "affinity",
    [Gaussian(), Neighbors(9, density_contrast=1.0), Landmarks(40)],
    ids=["gaussian", "neighbors", "landmarks"],
)
def test_directions_and_places(tmp_path, affinity, metric):
    X, new = (rows_for(metric, 300, seed=seed)[0] for seed in (0, 1))
    affinity = clone(affinity).set_params(metric=metric)
    model = GPOD(3, affinity=affinity).fit(X)
    to_onnx(model, tmp_path / "m.onnx")
    found = run_onnx(tmp_path / "m.onnx", new)
    assert (found["labels"] == model.predict(new)).all()
    U = model.transform(new)
    assert np.abs(found["embedding"] - U).max() < 1e-7 * np.abs(U).max()
    refused = np.zeros((1, 6)) if metric == "cosine" else np.array([[91.0, 0.0], [0.0, -181.0]])
    found = run_onnx(tmp_path / "m.onnx", np.vstack([new[:1], refused]))
    assert (found["labels"][1:] == -1).all() and np.isnan(found["support"][1:]).all()
    assert found["labels"][0] == model.predict(new[:1])


REFUSED = {
    "metric": (
        GPOD(2, metric="manhattan"),
        "metric must be 'euclidean' or 'cosine' or 'haversine' .* Got 'manhattan'; fit",
    ),
    "kernel": (
        GPOD(2, affinity=laplacian_kernel),
        "affinity must be Gaussian, Neighbors, RankedNeighbors or Landmarks .* Got Kernel; fit",
    ),
    "algorithm 1": (
        GPOD(2, cut="ratiocut", extension="paper"),
        "extension must be 'consistent' .* Got 'paper'; fit with extension='consistent'",
    ),
    "function": (
        GPOD(2, affinity=Gaussian(lambda X: np.ones(len(X)))),
        "sigma must be a number or a rule .* Got a function",
    ),
}


@pytest.mark.parametrize(("model", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_what_cannot_be_exported(tmp_path, model, message):
    with pytest.raises(ValueError, match=message):
        to_onnx(model.fit(MOONS), tmp_path / "m.onnx")
    assert not list(tmp_path.iterdir())


def test_a_file_that_cannot_be_written_is_known_before_the_work(tmp_path, monkeypatch):
    model = GPOD(2, affinity="landmarks").fit(np.random.default_rng(0).normal(size=(60, 2)))
    monkeypatch.setattr("eigencut.export.OnnxGraph", None)  # work begins with it
    with pytest.raises(FileNotFoundError):
        to_onnx(model, tmp_path / "none" / "m.onnx")


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_discrete_cuts_of_many_columns(tmp_path, metric):
    X = load_digits().data  # integers: distances are equal, and the first number decides
    model = GPOD(10, solver="discrete", metric=metric).fit(X[:500])
    to_onnx(model, tmp_path / "m.onnx")
    found = run_onnx(tmp_path / "m.onnx", X[500:900])
    assert (found["labels"] == model.predict(X[500:900])).all()
    assert np.abs(found["embedding"] - model.transform(X[500:900])).max() < 1e-6


def test_numbers_of_an_updated_discrete_cut(tmp_path):
    model = GPOD(3, affinity=RankedNeighbors(8)).fit(MOONS).update(MOONS + 30.0)
    to_onnx(model, tmp_path / "m.onnx")
    both = np.vstack([MOONS, MOONS + 30.0])
    assert (run_onnx(tmp_path / "m.onnx", both)["labels"] == model.predict(both)).all()


def test_which_discrete_cuts_cannot_be_exported(tmp_path, monkeypatch):
    model = GPOD(2, affinity=Gaussian(0.2), solver="discrete").fit(MOONS)
    with pytest.raises(ValueError, match=r"solver must be 'relaxed' .* a model of a discrete cut"):
        to_onnx(model, tmp_path / "m.onnx")
    monkeypatch.setattr("eigencut.export._MOST_CLUSTERS", 2)
    model = GPOD(3, solver="discrete").fit(MOONS)
    with pytest.raises(ValueError, match=r"model must have at most 2 clusters .* Got 3; keep to"):
        to_onnx(model, tmp_path / "m.onnx")


def test_a_folder_is_not_a_file(tmp_path):
    with pytest.raises(IsADirectoryError, match=r"path must name a file. Got '.*', a folder; add"):
        to_onnx(GPOD(2).fit(np.eye(6)), tmp_path)
