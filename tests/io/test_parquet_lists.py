"""Lists of numbers in Parquet: embeddings, one list in each cell."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from eigencut import GPOD, Rows, TableModel, load
from eigencut.cli import main

pytestmark = pytest.mark.filterwarnings("ignore::eigencut.exceptions.GraphWarning")

NAMES = [f"e[{i}]" for i in range(4)]


@pytest.fixture
def embeddings(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    centres = np.repeat([0.0, 9, 20], 30)[:, None]
    return np.random.default_rng(0).normal(size=(90, 4)) + centres


def write(kind, X, path="t.parquet"):
    width = X.shape[1]
    lists = {
        "fixed": lambda: pa.FixedSizeListArray.from_arrays(pa.array(X.ravel()), width),
        "list": lambda: pa.array(list(X)),
        "float32": lambda: pa.array(list(X.astype(np.float32))),
    }[kind]()
    pq.write_table(pa.table({"e": lists, "id": [f"r{i}" for i in range(len(X))]}), path)


@pytest.mark.parametrize("kind", ["fixed", "list", "float32"])
@pytest.mark.parametrize(
    "options", ["--id id", "--columns e", "--drop id", "--landmarks 30 --id id"]
)
def test_lists_are_columns(embeddings, kind, options):
    write(kind, embeddings)
    assert main(f"fit t.parquet -k 3 {options} --labels fitted.csv -o m.eigencut".split()) == 0
    assert load("m.eigencut").columns_ == NAMES
    labels = pd.read_csv("fitted.csv")["cluster"]
    assert all(labels[start : start + 30].nunique() == 1 for start in (0, 30, 60))
    assert main(["predict", "m.eigencut", "t.parquet", "-o", "labels.csv"]) == 0
    assert (pd.read_csv("labels.csv")["cluster"] == labels).all()


def test_they_have_the_numbers_of_the_lists(embeddings):
    write("list", embeddings)
    rows = Rows.from_file("t.parquet", ["e"])
    assert rows.feature_names == NAMES and (next(iter(rows)) == embeddings).all()
    assert (next(iter(Rows.from_file("t.parquet", ["e[2]"])))[:, 0] == embeddings[:, 2]).all()
    frame = pd.DataFrame(embeddings, columns=NAMES)
    model = TableModel(GPOD(3, affinity="landmarks"))
    assert (model.fit(rows).predict(frame) == model.fit(frame).labels_).all()


@pytest.mark.parametrize("kind", ["fixed", "list"])
def test_a_cell_without_a_list_is_missing(embeddings, kind, capsys):
    cells = [None if i == 5 else row for i, row in enumerate(embeddings.tolist())]
    kinds = {"fixed": pa.list_(pa.float64(), 4), "list": pa.list_(pa.float64())}
    pq.write_table(pa.table({"e": pa.array(cells, kinds[kind])}), "t.parquet")
    assert main(["fit", "t.parquet", "-k", "3", "-o", "m.eigencut"]) == 1
    assert "Got some in 'e[0]', 'e[1]'" in (said := capsys.readouterr().err) and "row 5" in said
    assert main(["fit", "t.parquet", "-k", "3", "--missing", "drop", "-o", "m.eigencut"]) == 0
    assert load("m.eigencut").labels_[5] == -1


@pytest.mark.parametrize(
    "cells, sentence",
    [
        (
            [[1.0, 2], [3], [4, 5]],
            "the lists of column 'e' must all have 2 numbers, as the first one has. Got 1 in row "
            "1; make them of one length, or fit without the column (drop 'e').",
        ),
        ([["a"], ["b"]], "Got 'e' (list<element: string>). Fit without these columns (drop"),
        ([{"a": 1}], "Got 'e' (struct<a: int64>). Fit without these columns (drop 'e'), or"),
        ([[], []], "Got 'e' (list<element: null>)"),
    ],
)
def test_other_nested_cells_are_refused(tmp_path, monkeypatch, capsys, cells, sentence):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"x": 1.0, "e": cells}).to_parquet("t.parquet")
    assert main(["fit", "t.parquet", "-k", "2", "-o", "m.eigencut"]) == 1
    assert sentence in capsys.readouterr().err


def test_names_of_elements_may_be_taken(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"e": [[1.0], [2.0]], "e[0]": [1, 2]}).to_parquet("t.parquet")
    assert main(["fit", "t.parquet", "-k", "2", "-o", "m.eigencut"]) == 1
    assert "different names. Got 'e[0]' more than once" in capsys.readouterr().err
