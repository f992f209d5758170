"""Weighted rows that are read in blocks, and tables of them."""

from itertools import pairwise

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from eigencut import GPOD, Landmarks, Rows, TableModel

AFFINITY = Landmarks(30)


def data(n=500):
    X, _ = make_blobs(n, centers=3, random_state=0)
    X = np.vstack([X, X[: n // 10]])  # some rows twice
    return X, np.random.default_rng(0).integers(0, 5, len(X))


def in_pieces(X, weight, sizes=(7, 100, 1, 200)):
    bounds = np.minimum(np.cumsum([0, *sizes, len(X)]), len(X))
    spans = [slice(a, b) for a, b in pairwise(bounds)]
    return Rows(lambda: ((X[span], weight[span]) for span in spans), weighted=True)


def assert_same_bits(first, second, X):
    assert np.array_equal(first.predict_proba(X), second.predict_proba(X))
    assert np.array_equal(first.transform(X), second.transform(X))
    assert np.array_equal(first.affinity_.multiplicity_, second.affinity_.multiplicity_)
    assert first.affinity_.n_rows_ == second.affinity_.n_rows_


@pytest.mark.parametrize("contrast", [0.0, 1.0])
@pytest.mark.parametrize("n_clusters", [3, "auto"])
def test_a_weighted_stream_is_a_stream_of_repetitions(n_clusters, contrast):
    X, weight = data()
    affinity = Landmarks(30, density_contrast=contrast)
    repeated = GPOD(n_clusters, affinity=affinity).fit(np.repeat(X, weight, axis=0))
    for stream in (Rows.from_array(X, sample_weight=weight), in_pieces(X, weight)):
        assert_same_bits(GPOD(n_clusters, affinity=affinity).fit(stream), repeated, X)


def test_blocks_do_not_matter_for_real_weights():
    X, _ = data()
    X = np.unique(X, axis=0)  # of identical rows weights are added up in the order they come
    weight = np.random.default_rng(1).lognormal(size=len(X))
    first = GPOD(3, affinity=AFFINITY).fit(X, sample_weight=weight)
    assert_same_bits(GPOD(3, affinity=AFFINITY).fit(in_pieces(X, weight)), first, X)
    order = np.random.default_rng(2).permutation(len(X))
    assert_same_bits(GPOD(3, affinity=AFFINITY).fit(in_pieces(X[order], weight[order])), first, X)


@pytest.mark.parametrize("ending", ["csv", "npy", "parquet"])
def test_weights_are_a_column_of_a_file(tmp_path, ending):
    X, weight = data()
    path = tmp_path / f"table.{ending}"
    names = ["x1", "x2", "x3"]
    table = np.column_stack([X[:, 0], weight, X[:, 1]])
    if ending == "npy":
        np.save(path, table)
    else:
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame(table, columns=names)
        frame.to_csv(path, index=False) if ending == "csv" else frame.to_parquet(path)
    rows = Rows.from_file(path, weights="x2")
    assert rows.n_features == 2
    model = GPOD(3, affinity=AFFINITY).fit(rows)
    assert_same_bits(model, GPOD(3, affinity=AFFINITY).fit(X, sample_weight=weight), X)
    chosen = Rows.from_file(path, ["x3", "x2"], weights="x2")  # unless it is asked for
    assert next(iter(chosen)).tolist() == np.column_stack([X[:, 1], weight]).tolist()


def test_bad_weights_of_streams_are_refused(tmp_path):
    X = np.arange(12.0).reshape(6, 2)
    path = tmp_path / "table.csv"
    path.write_text("a,w\n1,1\n2,-3\n3,1\n")
    model = GPOD(2, affinity=Landmarks(3))
    with pytest.raises(ValueError, match=r"column 'w' must be finite.* Got -3 in line 3; correct"):
        model.fit(Rows.from_file(path, weights="w"))
    path.write_text("a,w\n1,1\n2,\n3,1\n")
    with pytest.raises(ValueError, match=r"column 'w' must be .* Got a missing value in line 3"):
        model.fit(Rows.from_file(path, weights="w"))
    with pytest.raises(ValueError, match=r"columns must be among .* Got 'people'"):
        Rows.from_file(path, weights="people")
    weight = np.array([1, 1, 1, 1, np.nan, 1])
    with pytest.raises(ValueError, match="Got a missing value in row 4; correct it, or use 0"):
        model.fit(in_pieces(X, weight, sizes=(3,)))
    with pytest.raises(ValueError, match=r"each of the 6 rows. Got shape \(5,\)"):
        Rows.from_array(X, sample_weight=np.ones(5))
    for n_clusters in (2, "auto"):
        with pytest.raises(ValueError, match=r"positive for at least one row. Got zeros only"):
            GPOD(n_clusters, affinity=AFFINITY).fit(in_pieces(X, np.zeros(6)))
    with pytest.raises(TypeError, match=r"sample_weight must be left out with eigencut\.Rows"):
        model.fit(Rows.from_array(X), sample_weight=np.ones(6))


def test_a_source_whose_weights_change_is_refused():
    X, weight = data()
    calls = iter(range(9))
    rows = Rows(lambda: iter([(X, weight + next(calls))]), weighted=True)
    with pytest.raises(ValueError, match="the same rows whenever it is read"):
        GPOD(3, affinity=AFFINITY).fit(rows)


@pytest.mark.parametrize("missing", ["drop", "mean", "median"])
@pytest.mark.parametrize("scale", ["standard", "minmax"])
def test_a_table_of_weighted_rows_is_one_of_repetitions(scale, missing):
    X, weight = data(200)
    X[3, 0] = X[20, 1] = np.nan
    table = TableModel(GPOD(3, affinity="gaussian"), scale=scale, missing=missing)
    repeated = table.fit(np.repeat(X, weight, axis=0))
    answers, units = repeated.predict_proba(X), repeated.preparation_
    weighted = table.fit(X, sample_weight=weight)
    for name in ("shift", "scale"):
        assert getattr(weighted.preparation_, name) == pytest.approx(getattr(units, name))
    if missing != "median":  # of an even number of rows: the lower one, or between the two
        assert np.nanmax(np.abs(weighted.predict_proba(X) - answers)) < 1e-6
    assert weighted.labels_.shape == (220,)
    stream = TableModel(GPOD(3, affinity=AFFINITY), scale=scale, missing=missing)
    of_stream = stream.fit(Rows.from_array(X, sample_weight=weight)).preparation_
    assert of_stream.shift == pytest.approx(weighted.preparation_.shift)
    assert of_stream.scale == pytest.approx(weighted.preparation_.scale)
