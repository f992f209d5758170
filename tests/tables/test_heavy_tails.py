"""Columns with long tails are logged, the same way in memory, from streams, files and ONNX."""

import numpy as np
import pandas as pd
import pytest
from benchmarks.mixed_tables.families import HEAVY_TAILS
from sklearn.metrics import adjusted_rand_score

from eigencut import GPOD, GraphWarning, Landmarks, Rows, TableModel, load
from eigencut.export import run_onnx, to_onnx
from eigencut.io.table import Table
from eigencut.tables.preparation import (
    learn_preparation,
    logged,
    unlogged,
)

RNG = np.random.default_rng(3)
LEVEL = RNG.integers(3, size=600)
FRAME = pd.DataFrame(
    {
        "income": np.exp(10 + 1.1 * LEVEL + RNG.normal(0, 0.4, 600)),
        "wealth": np.exp(9 + 1.2 * LEVEL + RNG.normal(0, 1.0, 600)),
        "visits": np.floor(np.exp(LEVEL + RNG.normal(0, 1.2, 600))),
        "age": 40 + 6 * LEVEL + RNG.normal(0, 8, 600),
        "balance": np.sinh(RNG.normal(0, 3, 600)),
    }
)
HEAVY = [True, True, True, False, False]


def test_long_tails_without_negative_numbers_are_logged():
    model = TableModel(GPOD(3)).fit(FRAME)
    assert (model.preparation_.floor > 0).tolist() == HEAVY
    assert [column.is_logged for column in model.summary().columns] == HEAVY
    assert str(model.summary()).count("long tail, so the logarithm is used") == 3
    rows, _ = model.prepare(FRAME)
    np.testing.assert_allclose(rows.mean(axis=0), 0, atol=1e-8)
    np.testing.assert_allclose(rows.std(axis=0), 1, rtol=1e-8)
    np.testing.assert_allclose(model.in_units(rows), FRAME.to_numpy(), atol=1e-9)


def test_it_finds_clusters_that_standard_units_do_not():
    table = HEAVY_TAILS["households"](100)
    found, before = (
        adjusted_rand_score(
            table.clusters, TableModel(GPOD(3), scale=scale).fit_predict(table.frame)
        )
        for scale in ("auto", "standard")
    )
    assert found > before + 0.2


def test_zeros_and_negative_numbers_have_a_place_beyond_the_floor():
    values, floor = np.array([[-3.0], [0.0], [2.0], [2.1], [1e300]]), np.array([2.0])
    found = logged(values, floor)
    assert (np.diff(found[:, 0]) > 0).all() and found[2, 0] == np.log(2.0)
    np.testing.assert_allclose(unlogged(found, floor), values, atol=1e-12)


@pytest.mark.parametrize("missing", ["mean", "median", "drop"])
@pytest.mark.parametrize("scale", ["auto", "robust"])
def test_a_stream_is_memory(scale, missing):
    gaps = FRAME.copy()
    for name in gaps:
        gaps.loc[RNG.random(600) < 0.05, name] = None
    expected = learn_preparation(Table.from_data(gaps), scale, missing)
    stream = Rows(lambda: (gaps.iloc[i : i + 170] for i in range(0, 600, 170)))
    found = learn_preparation(stream, scale, missing)
    np.testing.assert_array_equal(found.floor > 0, expected.floor > 0)
    assert (found.floor > 0).tolist() == (HEAVY if scale == "auto" else [False] * 5)
    np.testing.assert_allclose(found.missing_shares, gaps.isna().mean())
    if missing != "median":  # of two middle values in memory, of one in a stream
        for name in ("shift", "scale", "floor"):
            of_stream, of_memory = getattr(found, name), getattr(expected, name)
            np.testing.assert_allclose(of_stream, of_memory, rtol=2e-2 if scale != "auto" else 1e-9)


def test_robust_units_are_those_of_the_quartiles():
    preparation = learn_preparation(Table.from_data(FRAME), "robust", "refuse")
    rows, _ = preparation.apply(FRAME)
    low, middle, high = np.quantile(rows, (0.25, 0.5, 0.75), axis=0)
    np.testing.assert_allclose(middle, 0, atol=0.02)
    np.testing.assert_allclose(high - low, 1.349, atol=0.02)
    far = FRAME.copy()
    far.loc[0, "age"] = 1e9
    moved = learn_preparation(Table.from_data(far), "robust", "refuse")
    np.testing.assert_allclose(moved.scale, preparation.scale, rtol=0.02)


def test_files_and_onnx_take_the_same_logarithms(tmp_path):
    pytest.importorskip("onnxruntime")
    model = TableModel(GPOD(3, affinity=Landmarks(50))).fit(FRAME)
    model.save(tmp_path / "m.eigencut")
    again = load(tmp_path / "m.eigencut")
    new = FRAME.iloc[::3] * RNG.uniform(-0.1, 2, size=(200, 5))
    np.testing.assert_array_equal(again.predict(new), model.predict(new))
    assert str(again.summary()) == str(model.summary())
    to_onnx(model, tmp_path / "m.onnx")
    found = run_onnx(tmp_path / "m.onnx", new.to_numpy())["labels"]
    np.testing.assert_array_equal(found, model.predict(new))


def test_much_missing_is_warned_of_and_shares_are_told():
    gaps = FRAME[["income", "age"]].copy()
    gaps.loc[RNG.random(600) < 0.5, "age"] = None
    with pytest.warns(GraphWarning, match="% of column 'age' is missing"):
        model = TableModel(GPOD(2), missing="median").fit(gaps)
    age = model.summary().columns[1]
    assert age.missing == pytest.approx(gaps["age"].isna().mean())
    assert age.mean == pytest.approx(gaps["age"].mean()) and "% missing" in age.detail
