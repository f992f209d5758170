"""Spark: batches labelled as ``predict`` labels them; with pyspark installed, in a real session."""

import os
import signal
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.datasets import make_moons
from sklearn.exceptions import NotFittedError

from eigencut import GPOD, Landmarks, Rows, TableModel
from eigencut.integrations.spark import SparkRows, _label_batches, fit, predict

X = make_moons(600, noise=0.06, random_state=0)[0]
FRAME = pd.DataFrame(X, columns=["x", "y"]).assign(id=np.arange(len(X)))


def label_batches(model, columns=None, name="label", probabilities=None):
    return _label_batches(model, columns, name, probabilities)


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
    with pytest.raises(ValueError, match=r"columns must be the features in the order of the fit"):
        label_batches(model, wrong)


def table_model():
    kinds = np.where(X[:, 0] > 0.5, "east", "west")
    frame = FRAME.assign(**{"a.b": X[:, 1], "side": kinds})
    return TableModel(GPOD(2, affinity=Landmarks(60)), columns=["x", "a.b", "side"]).fit(
        frame
    ), frame


def test_batches_by_a_table_model():
    """Words, and columns that the model leaves out."""
    model, frame = table_model()
    batches = pa.Table.from_pandas(frame).to_batches(max_chunksize=100)
    labelled = list(
        label_batches(model, probabilities="p")(iter([batches[0].slice(0, 0), *batches]))
    )
    assert labelled[0].schema == labelled[1].schema
    found = np.concatenate([batch["label"].to_numpy() for batch in labelled])
    assert (found == model.labels_).all()
    shares = np.vstack([batch["p"].to_pylist() for batch in labelled[1:]])
    assert shares == pytest.approx(model.predict_proba(frame), abs=1e-12)
    assert model.model_.n_jobs is None  # its own threads are as they were


class Frame:
    """What of a Spark data frame is asked before anything runs."""

    def __init__(self, *columns):
        self.columns = list(columns)

    def mapInArrow(self, *given):
        raise AssertionError("nothing is to be run")

    def select(self, *names):
        return self

    toDF = select


@pytest.mark.parametrize(
    ("columns", "weights", "message"),
    [
        ("xy", None, r"columns must be a list of names\. Got 'xy'; write it as"),
        (5, None, r"columns must be a list of names\. Got 5; write it as"),
        ([], None, r"columns must name at least one feature\. Got none"),
        (["x", "x"], None, r"Columns must have different names\. Got 'x' more than once"),
        (["x", "w"], "w", r"weights must be a column that is not a feature\. Got 'w'"),
        (["x"], "v", r"among those of the frame \('x', 'y', 'w'\)\. Got 'v'"),
    ],
)
def test_columns_that_are_none(columns, weights, message):
    with pytest.raises(ValueError, match=message):
        SparkRows(Frame("x", "y", "w"), columns, weights=weights)
    assert SparkRows(Frame("x", "y", "w"), weights="w").feature_names == ["x", "y"]
    with pytest.raises(ValueError, match=r"at least one feature\. Got none"):
        SparkRows(Frame("w"), weights="w")


def test_questions_that_cannot_be_answered(model):
    unfitted = GPOD(2)
    with pytest.raises(NotFittedError):
        predict(unfitted, Frame("x", "y"), ["x", "y"])
    with pytest.raises(ValueError, match=r"those of the frame \('x'\)\. Got 'y'; correct"):
        predict(model, Frame("x"), ["x", "y"])
    with pytest.raises(ValueError, match=r"columns must be a list of names\. Got 'xy'"):
        predict(model, Frame("x", "y"), "xy")
    with pytest.raises(ValueError, match=r"frame must be a Spark data frame\. Got DataFrame"):
        predict(model, FRAME)
    with pytest.raises(ValueError, match=r"model must be a GPOD, .* Got dict; pass a fitted"):
        predict({}, Frame("x", "y"))
    batch = pa.RecordBatch.from_pandas(FRAME[["x"]])
    with pytest.raises(ValueError, match=r"among those of the frame \('x'\)\. Got 'y'"):
        list(label_batches(model, ["x", "y"])(iter([batch])))


def session_on(master, monkeypatch):
    """A real Spark, whose Python workers are this Python and import what this one imports."""
    sql = pytest.importorskip("pyspark.sql", reason="make test-spark installs it")
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path for path in sys.path if path))
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    return (
        sql.SparkSession.builder.master(master)
        .config("spark.ui.enabled", "false")
        .config("spark.executorEnv.PYTHONPATH", os.environ["PYTHONPATH"])
        .config("spark.executorEnv.OMP_NUM_THREADS", "1")
        .config("spark.sql.shuffle.partitions", "4")
        .getOrCreate()
    )


@pytest.fixture(scope="module")
def session():
    with pytest.MonkeyPatch.context() as monkeypatch:
        found = session_on("local[2]", monkeypatch)
        yield found
        found.stop()


def bits_of(model):
    return model.transform(X).tobytes(), model.eigenvalues_.tobytes(), model.predict(X).tobytes()


def test_labels_of_a_frame(session, model):
    frame = session.createDataFrame(FRAME).repartition(3)
    labelled = predict(model, frame, ["x", "y"], probabilities="p").toPandas().sort_values("id")
    assert list(labelled) == ["x", "y", "id", "label", "p"]
    assert (labelled["label"].to_numpy() == model.labels_).all()
    assert np.vstack(labelled["p"].tolist()) == pytest.approx(model.predict_proba(X), abs=1e-12)
    with pytest.raises(ValueError, match=r"Got 'id', and the columns 'x', 'y', 'id'; choose"):
        predict(model, frame, ["x", "y"], "id")


@pytest.mark.parametrize("n_partitions", [1, 5, 40])
def test_a_fit_is_that_of_a_stream_to_the_last_bit(session, n_partitions):
    """However the rows lie: 40 partitions of 600 rows, some of them empty."""
    expected = GPOD(2, affinity=Landmarks(60)).fit(Rows.from_array(X))
    frame = session.createDataFrame(FRAME).repartition(n_partitions, "id")
    found = fit(GPOD(2, affinity=Landmarks(60)), frame, ["x", "y"])
    assert list(found.feature_names_in_) == ["x", "y"]
    del found.feature_names_in_
    assert bits_of(found) == bits_of(expected)


def test_weights_are_a_column(session):
    counts = 1 + np.arange(len(X)) % 3
    frame = session.createDataFrame(FRAME.assign(people=counts))
    found = fit(GPOD(2, affinity=Landmarks(60)), frame, ["x", "y"], weights="people")
    repeated = session.createDataFrame(FRAME.loc[np.repeat(FRAME.index, counts)])
    expected = fit(GPOD(2, affinity=Landmarks(60)), repeated, ["x", "y"])
    del found.feature_names_in_, expected.feature_names_in_
    assert bits_of(found) == bits_of(expected)
    rows = SparkRows(frame.drop("id"), weights="people")
    assert rows.feature_names == ["x", "y"]
    assert sum(weight.sum() for _, weight in rows.weighted()) == counts.sum()


def test_bad_frames_are_refused(session):
    frame = session.createDataFrame(FRAME)
    model = GPOD(2, affinity=Landmarks(60))
    with pytest.raises(ValueError, match=r"frame must be a Spark data frame. Got DataFrame"):
        fit(model, FRAME)
    with pytest.raises(ValueError, match=r"among those of the frame .*. Got 'z'; correct it"):
        fit(model, frame, ["x", "z"])
    with pytest.raises(ValueError, match=r"Got 'people'; correct it"):
        fit(model, frame, ["x", "y"], weights="people")
    with pytest.raises(ValueError, match=r"at least one row. Got none"):
        fit(model, frame.where("id < 0"), ["x", "y"])
    with pytest.raises(Exception, match=r"X must not contain NaN|missing|infinit"):
        fit(model, session.createDataFrame([(1.0, None), (2.0, 3.0)], "x double, y double"))


def test_a_frame_of_spark_is_pointed_to_what_fits_it(session):
    frame = session.createDataFrame(FRAME[["x", "y"]])
    for model in (GPOD(2), TableModel(GPOD(2))):
        with pytest.raises(ValueError, match=r"Got a pyspark DataFrame; .* eigencut\.spark\.fit\("):
            model.fit(frame)


def test_names_with_dots_and_tables_of_words(session):
    model, frame = table_model()
    there = session.createDataFrame(frame).repartition(3)
    labelled = predict(model, there, probabilities="p").toPandas().sort_values("id")
    assert (labelled["label"].to_numpy() == model.labels_).all()
    numbers = fit(GPOD(2, affinity=Landmarks(60)), there, ["x", "a.b"])
    found = predict(numbers, there).toPandas().sort_values("id")
    assert (found["label"].to_numpy() == numbers.predict(frame[["x", "a.b"]])).all()


def executors():
    """The numbers of the processes that are executors of Spark."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = path.read_bytes()
        except OSError:  # it ended
            continue
        if b"CoarseGrainedExecutorBackend" in command:
            found.append(int(path.parent.name))
    return found


@pytest.mark.skipif(not Path("/proc").exists(), reason="processes are listed by Linux")
def test_an_executor_that_is_killed_changes_nothing(session, monkeypatch):
    expected = GPOD(2, affinity=Landmarks(60)).fit(Rows.from_array(X))
    session.stop()  # a process has one Spark at a time; this is the last test of this file
    cluster = session_on("local-cluster[2,1,1024]", monkeypatch)
    try:
        frame = cluster.createDataFrame(FRAME).repartition(8, "id")
        frame.count()
        there = executors()
        assert len(there) == 2
        begun = threading.Event()

        def kill():
            begun.wait()
            time.sleep(0.3)
            os.kill(there[0], signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        begun.set()
        found = fit(GPOD(2, affinity=Landmarks(60)), frame, ["x", "y"])
        killer.join()
        assert there[0] not in executors()
    finally:
        cluster.stop()
    del found.feature_names_in_
    assert bits_of(found) == bits_of(expected)
