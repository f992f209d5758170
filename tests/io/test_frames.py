"""Frames of every library: the same answers, and sentences for what cannot be read."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from eigencut import GPOD, Landmarks, ModelFileError, Rows, TableModel, load, report
from eigencut.io.model_format import read, write

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 2)) + 6 * rng.integers(0, 2, size=(60, 1))
FRAME = pd.DataFrame(X, columns=["a", "b"]).assign(town=["Rome", "Oslo", "Lima"] * 20)


@pytest.mark.parametrize("kind", [pyarrow.parquet.write_table, pyarrow.feather.write_feather])
def test_a_file_with_two_columns_of_one_name(tmp_path, kind):
    twice = pa.Table.from_arrays([pa.array(X[:, 0]), pa.array(X[:, 1])], names=["a", "a"])
    kind(twice, tmp_path / "t")
    with pytest.raises(ValueError, match=r"Columns must have different names\. Got 'a' more than"):
        Rows.from_file(tmp_path / "t")


def test_a_table_of_pyarrow_is_described_and_reported_as_one_of_pandas(tmp_path):
    table = pa.Table.from_pandas(FRAME)
    model = TableModel(GPOD(2)).fit(table)
    assert str(model.describe(table)) == str(model.describe(FRAME))
    texts = []
    for number, frame in enumerate((table, FRAME)):
        report.write(model, frame, tmp_path / f"{number}.txt", n_refits=0)
        texts.append((tmp_path / f"{number}.txt").read_text(encoding="utf-8"))
    assert texts[0] == texts[1]


def test_structs_of_polars_are_refused_by_the_name_of_their_column():
    frame = pl.DataFrame({"a": X[:, 0], "s": [{"u": i, "v": 0.5} for i in range(60)]})
    for model in (GPOD(2), TableModel(GPOD(2))):
        with pytest.raises((TypeError, ValueError), match=r"olumn.* 's'.*; .*drop"):
            model.fit(frame)


def test_a_long_name_is_clipped_in_an_error():
    with pytest.raises(TypeError, match=r"Column 'xxx.*\.\.\.") as error:
        TableModel(GPOD(2)).fit(FRAME.assign(**{"x" * 100_000: [[1, 2]] * 60}))
    assert len(str(error.value)) < 3000


@pytest.mark.parametrize("name", ["n_landmarks", "n_nearest", "n_init", "n_jobs", "random_state"])
def test_a_file_whose_parameter_counts_too_many_is_refused(tmp_path, name):
    GPOD(2, affinity=Landmarks(10)).fit(X).save(tmp_path / "m")
    header, arrays = read(tmp_path / "m")
    parameters = header.content["model"]["parameters"]
    (parameters if name in parameters else parameters["affinity"]["parameters"])[name] = 2**62
    write(tmp_path / "m", header.content, arrays)
    with pytest.raises(ModelFileError, match=rf"{name} must be an integer below 2\^32. Got 4611"):
        load(tmp_path / "m")


def test_landmarks_that_are_no_sets_are_refused(tmp_path):
    sets = (rng.random(size=(60, 5)) < 0.5).astype(float)
    GPOD(2, affinity=Landmarks(10, metric="jaccard")).fit(sets).save(tmp_path / "m")
    header, arrays = read(tmp_path / "m")
    name = next(name for name in arrays if name.endswith("landmarks"))
    for wrong in (0.5, np.nan):
        changed = arrays[name].copy()
        changed[0, 0] = wrong
        write(tmp_path / "m", header.content, {**arrays, name: changed})
        with pytest.raises(ModelFileError, match=r"must hold 0 and 1|NaN or infinity"):
            load(tmp_path / "m")
