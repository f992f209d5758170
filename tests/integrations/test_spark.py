"""Spark: batches labelled as ``predict`` labels them; with pyspark installed, in a real session."""

import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.datasets import make_moons

from eigencut import GPOD, Landmarks
from eigencut.integrations.spark import label_batches

X = make_moons(600, noise=0.06, random_state=0)[0]
FRAME = pd.DataFrame(X, columns=["x", "y"]).assign(id=np.arange(len(X)))


@pytest.fixture(scope="module", params=["names", "no names"])
def model(request):
    named = request.param == "names"
    return GPOD(2, affinity=Landmarks(60)).fit(FRAME[["x", "y"]] if named else X)


def test_batches(model):
    batches = pa.Table.from_pandas(FRAME).to_batches(max_chunksize=100)
    empty = batches[0].slice(0, 0)
    labelled = list(label_batches(model, ["x", "y"], "cluster")(iter([*batches, empty])))
    assert labelled[0].schema.names == ["x", "y", "id", "cluster"]
    found = np.concatenate([batch["cluster"].to_numpy() for batch in labelled])
    assert (found == model.labels_).all()
    assert labelled[-1].num_rows == 0


def test_batches_with_probabilities(model):
    batches = pa.Table.from_pandas(FRAME).to_batches(max_chunksize=100)
    label = label_batches(model, ["x", "y"], probabilities="p")
    labelled = list(label(iter([*batches, batches[0].slice(0, 0)])))
    assert labelled[0].schema.field("p").type == pa.list_(pa.float64())
    assert labelled[0].schema == labelled[-1].schema
    found = np.vstack([batch["p"].to_pylist() for batch in labelled[:-1]])
    X = FRAME[["x", "y"]]
    rows = X if hasattr(model, "feature_names_in_") else X.to_numpy()
    assert found == pytest.approx(model.predict_proba(rows), abs=1e-12)
    assert (found.argmax(axis=1) == model.labels_).all()


def test_columns_are_those_of_the_fit(model):
    if hasattr(model, "feature_names_in_"):
        label_batches(model)
        wrong = ["y", "x"]
    else:
        wrong = None
    with pytest.raises(ValueError, match="columns must be the features in the order of the fit"):
        label_batches(model, wrong)


def test_in_a_session(model, monkeypatch):
    sql = pytest.importorskip("pyspark.sql")
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    session = sql.SparkSession.builder.master("local[2]").getOrCreate()
    try:
        frame = session.createDataFrame(FRAME).repartition(3)
        schema = "x double, y double, id long, label int"
        labelled = frame.mapInArrow(label_batches(model, ["x", "y"]), schema).toPandas()
    finally:
        session.stop()
    assert (labelled.sort_values("id")["label"].to_numpy() == model.labels_).all()
