"""Models of tables: units of a stream are those of its rows in memory, and so are the labels."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

import eigencut.io.rows
import eigencut.tables.preparation
from eigencut import GPOD, Landmarks, Rows, TableModel, load
from eigencut.io.table import Table
from eigencut.tables.preparation import (
    ColumnStatistics,
    learn_preparation,
)

SCALES = ["standard", "minmax", "none"]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(eigencut.io.rows, "BLOCK_ROWS", 100)


@pytest.fixture
def X():
    X = make_blobs(1201, 3, centers=3, cluster_std=1.5, random_state=0)[0]
    return X * [1.0, 1e4, 1e-3] + [0.0, 1e6, 5.0]


def with_gaps(X):
    X = X.copy()
    X[np.random.default_rng(1).random(X.shape) < 0.1] = np.nan
    return X


def test_statistics_of_blocks_are_those_of_numpy(X):
    whole = ColumnStatistics.measure(X)
    assert (whole.mean == X.mean(axis=0)).all() and (whole.deviation == X.std(axis=0)).all()
    gaps = with_gaps(X)
    first, *others = [ColumnStatistics.measure(part) for part in np.array_split(gaps, 7)]
    for other in others:
        first = first.merged(other)
    assert first.mean == pytest.approx(np.nanmean(gaps, axis=0), rel=1e-13)
    assert first.deviation == pytest.approx(np.nanstd(gaps, axis=0), rel=1e-13)
    assert (first.low == np.nanmin(gaps, axis=0)).all()
    assert (first.count == (~np.isnan(gaps)).sum(axis=0)).all() and first.n_rows == len(X)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("missing", ["drop", "mean", "median"])
def test_a_stream_is_prepared_as_in_memory(X, scale, missing):
    gaps = with_gaps(X)
    expected = learn_preparation(Table.from_data(gaps), scale, missing)
    found = learn_preparation(Rows.from_array(gaps), scale, missing)
    # The median of a stream is a value that occurs, not the mean of two: they are close.
    rel = 1e-3 if missing == "median" else 1e-12
    for name in ("shift", "scale", "fill"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name), rel=rel)
    assert found.columns == expected.columns


def test_the_median_of_a_stream_is_that_of_a_sample_of_any_order(X, monkeypatch):
    policy = replace(eigencut.tables.preparation.POLICY, sampled_rows=300)
    monkeypatch.setattr(eigencut.tables.preparation, "POLICY", policy)
    found = learn_preparation(Rows.from_array(X), "none", "median").fill
    turned = learn_preparation(Rows.from_array(X[::-1]), "none", "median").fill
    assert (found == turned).all()
    rank = (found > X).mean(axis=0)
    assert (np.abs(rank - 0.5) < 0.1).all() and not (found == np.median(X, axis=0)).all()


@pytest.mark.parametrize("scale", SCALES)
def test_a_stream_and_memory_give_the_same_labels(X, scale, tmp_path):
    """Means are the same up to rounding only, so that the sample for the landmarks is another."""
    gaps = with_gaps(X)
    model = TableModel(GPOD(3, affinity=Landmarks(60)), scale=scale, missing="drop")
    frame = pd.DataFrame(gaps, columns=["a", "b", "c"])
    frame.to_csv(tmp_path / "t.csv", index=False)
    expected = model.fit(frame).labels_
    model.fit(Rows.from_file(tmp_path / "t.csv"))
    assert model.columns_ == ["a", "b", "c"] and not hasattr(model, "labels_")
    found = model.predict(frame)
    if scale == "standard":  # clusters of nearly equal size can be numbered otherwise
        assert adjusted_rand_score(expected, found) > 0.9
    else:
        assert (found == expected).all()
    model.save(tmp_path / "m")
    assert (load(tmp_path / "m").predict(frame) == model.predict(frame)).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {(150, 1): np.nan},
            "must have no missing values (NaN). Got some in 'x2', first in ",
        ),
        ({(150, 1): np.inf}, "The table must hold finite numbers. Got infinity in 'x2', row 150"),
    ],
)
def test_what_a_stream_must_not_hold_is_named_with_its_row(X, change, message):
    for place, value in change.items():
        X[place] = value
    with pytest.raises(ValueError, match="row 150") as caught:
        TableModel(GPOD(3)).fit(Rows.from_array(X))
    assert message in str(caught.value)


def test_a_stream_without_complete_rows():
    rows = Rows.from_array(np.array([[np.nan, 1.0], [1.0, np.nan]]))
    with pytest.raises(ValueError, match="must have rows without missing values"):
        TableModel(GPOD(2), missing="drop").fit(rows)
    with pytest.raises(ValueError, match="Got none in 'x2'"):
        empty = Rows.from_array(np.array([[1.0, np.nan], [2.0, np.nan]]))
        TableModel(GPOD(2), missing="median").fit(empty)


def test_answers_are_those_of_three_questions_in_one_pass(X, monkeypatch):
    gaps = with_gaps(X)
    gpod = GPOD(3, affinity=Landmarks(60), outliers="label", outlier_quantile=0.05)
    model = TableModel(gpod, missing="drop").fit(gaps)
    expected = model.predict(gaps), model.predict_margin(gaps), model.score_samples(gaps)
    passes = []
    apply = Landmarks.apply

    def counted(self, rows, V):
        passes.append(len(rows))
        return apply(self, rows, V)

    monkeypatch.setattr(Landmarks, "apply", counted)
    found = model.answers(gaps)
    assert passes == [len(model.prepare(gaps)[0])]
    assert (found.labels == expected[0]).all() and (found.labels[~np.isnan(gaps).any(1)] < 0).any()
    assert np.array_equal(found.margins, expected[1], equal_nan=True)
    assert found.support == pytest.approx(expected[2], rel=1e-12, nan_ok=True)
    probabilities = model.predict_proba(gaps)
    assert found.probabilities == pytest.approx(probabilities, abs=1e-12, nan_ok=True)
    is_gap = np.isnan(gaps).any(axis=1)
    assert (np.isnan(probabilities).all(axis=1) == is_gap).all()
    inside = found.labels >= 0
    assert (probabilities[inside].argmax(axis=1) == found.labels[inside]).all()


def test_rows_without_a_complete_one_can_be_asked_about(X):
    model = TableModel(GPOD(3, affinity=Landmarks(60)), missing="drop").fit(X)
    nothing = np.full((2, 3), np.nan)
    assert model.predict(nothing).tolist() == [-1, -1]
    assert np.isnan(model.answers(nothing).margins).all()
    assert model.transform(nothing).shape == (2, 3)


FIT = """
import pathlib, sys
from eigencut.cli import main
assert main(["fit", sys.argv[1], "-k", "2", "--landmarks", "50", "-o", sys.argv[2]]) == 0
print(pathlib.Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
@pytest.mark.parametrize("kind", ["npy", "parquet"])
def test_the_memory_of_a_fit_does_not_grow_with_the_table(tmp_path, kind):
    def peak_mb(n_rows):
        X = np.random.default_rng(0).normal(size=(n_rows, 8)) + 9 * (np.arange(n_rows) % 2)[:, None]
        if kind == "npy":
            np.save(tmp_path / "t.npy", X)
        else:
            frame = pd.DataFrame(X, columns=list("abcdefgh"))
            frame.to_parquet(tmp_path / "t.parquet", row_group_size=100_000)
        line = [sys.executable, "-c", FIT, f"{tmp_path}/t.{kind}", f"{tmp_path}/m"]
        done = subprocess.run(line, capture_output=True, text=True, check=True)
        return float(done.stdout.split()[-1]) / 1024

    few, many = peak_mb(200_000), peak_mb(1_000_000)  # 13 and 64 MB
    assert many - few < 45  # pages that pyarrow keeps vary by some


def test_a_summary_is_a_table_and_names_constant_columns(tmp_path):
    frame = pd.DataFrame({"x": [1.0, 2, 9, 10], "one": 7.0})
    TableModel(GPOD(2)).fit(frame).save(tmp_path / "m.eigencut")
    found = load(tmp_path / "m.eigencut").summary()
    assert found.to_frame()["detail"].tolist()[1:] == ["always 7"]
    assert repr(found) == str(found) and "always 7" in found._repr_html_()


def test_an_update_leaves_what_changed():
    X = np.array([[0.0], [0.1], [5.0], [5.1]])
    model = TableModel(GPOD(2)).fit(X)
    assert not hasattr(model, "updated_")
    assert model.update(X).updated_.n_rows == 8


def test_a_summary_moves_no_cursor_and_fills_no_screen():
    name = "red \x1b[31m" + "x" * 100_000
    frame = pd.DataFrame({name: [1.0, 2, 3, 40], "words": ["\x1b[2J", "b", "\x1b[2J", "b"]})
    said = str(TableModel(GPOD(2)).fit(frame).summary())
    assert "\x1b" not in said and "\\x1b[2J" in said
    assert max(map(len, said.splitlines())) < 500


@pytest.mark.parametrize("unit", [1e-200, 1e-310, 5e-324])
def test_numbers_whose_squares_vanish_are_taken_for_constant(unit):
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(40, 3)), rng.normal(size=(40, 3)) + 9])
    X[:, 2] *= unit
    model = TableModel(GPOD(2)).fit(X)
    assert np.bincount(model.labels_).tolist() == [40, 40]
