"""Dask: the same model as from memory, on two worker processes, and when one of them dies."""

import os
import signal
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from eigencut import GPOD, Landmarks, Rows, TableModel, select
from eigencut.inspection import assess

da = pytest.importorskip("dask.array")
dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

from eigencut.integrations.dask import DaskRows, fit, predict, predict_proba  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::eigencut.exceptions.GraphWarning")

AFFINITY = Landmarks(60)
X = make_blobs(4000, 6, centers=3, cluster_std=4.0, random_state=0)[0]


@pytest.fixture(scope="module")
def expected():
    return GPOD(3, affinity=AFFINITY).fit(X)


@pytest.fixture(scope="module")
def client():
    """Two worker processes, each with a nanny that starts it again when it dies."""
    options = dict(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None)
    with (
        dask.config.set({"distributed.worker.daemon": False}),
        distributed.LocalCluster(**options) as cluster,
        distributed.Client(cluster) as found,
    ):
        yield found


def assert_same(model, expected):
    assert (model.affinity_.landmarks_ == expected.affinity_.landmarks_).all()
    assert (model.eigenvalues_ == expected.eigenvalues_).all()
    assert np.abs(model.transform(X) - expected.embedding_).max() < 1e-12
    assert (model.predict(X) == expected.labels_).all()


@pytest.mark.parametrize("chunks", [(4000, 6), (1000, 6), (37, 6), ((3, 1997, 2000), (2, 4))])
def test_chunks_do_not_matter(chunks, expected):
    with dask.config.set(scheduler="synchronous"):
        assert_same(fit(GPOD(3, affinity=AFFINITY), da.from_array(X, chunks)), expected)


def test_on_a_cluster(client, expected):
    lazy = da.from_array(X, chunks=(500, 6))
    model = fit(GPOD(3, affinity=AFFINITY), lazy)
    assert_same(model, expected)
    labels, shares = predict(model, lazy), predict_proba(model, lazy)
    assert isinstance(labels, da.Array) and labels.chunks == (lazy.chunks[0],)
    assert (labels.compute() == expected.labels_).all()
    assert shares.shape == (4000, 3)
    assert np.abs(shares.compute() - expected.predict_proba(X)).max() < 1e-10


def test_probabilities_of_chunks(expected):
    whole = expected.predict_proba(X)
    lazy = predict_proba(expected, da.from_array(X, chunks=(700, 2)))
    assert isinstance(lazy, da.Array) and lazy.shape == (4000, 3)
    with dask.config.set(scheduler="synchronous"):
        found = lazy.compute()
        empty = predict_proba(expected, da.from_array(X)[:0]).compute()
    assert found == pytest.approx(whole, abs=1e-10)
    assert (found.argmax(axis=1) == expected.labels_).all()
    assert empty.shape == (0, 3)


def test_data_frames(expected):
    frames = pytest.importorskip("dask.dataframe")
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcdef"))
    lazy = frames.from_pandas(frame, npartitions=5)
    with dask.config.set(scheduler="synchronous"):
        some = fit(GPOD(3, affinity=AFFINITY), lazy[lazy["a"] > frame["a"].quantile(0.9)])
        model = fit(GPOD(3, affinity=AFFINITY), lazy)
        labels = predict(model, lazy).compute()
        probabilities = predict_proba(model, lazy).compute()
    assert probabilities == pytest.approx(expected.predict_proba(X), abs=1e-10)
    assert model.feature_names_in_.tolist() == list("abcdef")
    assert some.affinity_.n_rows_ == 400
    assert (labels == expected.labels_).all()


def fragile(i, marker):
    """Rows of one chunk; the first worker to ask for the last chunk is killed."""
    if i == 7 and not Path(marker).exists():
        Path(marker).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return X[500 * i : 500 * (i + 1)]


def test_a_killed_worker_changes_nothing(client, expected, tmp_path):
    marker = tmp_path / "killed"
    chunks = [
        da.from_delayed(dask.delayed(fragile)(i, str(marker)), (500, 6), float) for i in range(8)
    ]
    model = fit(GPOD(3, affinity=AFFINITY), da.concatenate(chunks))
    assert marker.exists()
    assert_same(model, expected)


def test_rows_stay_on_the_cluster(client):
    """What a reduction brings to the client is no larger than landmarks and sums."""
    rows = DaskRows(da.from_array(X, chunks=(500, 6)))
    brought = []
    reduce = rows.reduce
    rows.reduce = lambda *args: brought.append(reduce(*args)) or brought[-1]
    GPOD(3, affinity=AFFINITY).fit(rows)
    (landmarks, _, support, *_), sums = brought
    assert landmarks.shape == (60, 6) and sums.gram.shape == (60, 60)
    assert support.values.ndim == 1


def test_bad_input():
    with pytest.raises(ValueError, match="X must be a dask array with two dimensions"):
        fit(GPOD(3), X)
    with (
        dask.config.set(scheduler="synchronous"),
        pytest.raises(ValueError, match="NaN, a missing value, in row 1, column 0"),
    ):
        fit(GPOD(3), da.from_array(np.array([[1.0], [np.nan]])))


@pytest.mark.parametrize("answer", [predict, predict_proba])
def test_rows_in_memory_are_refused_with_a_sentence(answer, expected):
    name = answer.__name__
    said = f"X must be a dask array .* Got ndarray; use dask.array.from_array, or GPOD.{name} in"
    with pytest.raises(ValueError, match=said):
        answer(expected, X)


@pytest.mark.parametrize("kind", ["array", "frame"])
def test_rows_on_a_cluster_are_not_gathered(expected, kind):
    """``GPOD.fit`` would fetch them all, where ``fit`` of this module takes seconds."""
    computed = []
    rows = da.from_array(X, chunks=(500, 6)).map_blocks(lambda x: computed.append(1) or x)
    if kind == "frame":
        frames = pytest.importorskip("dask.dataframe")
        rows = frames.from_dask_array(rows, columns=list("abcdef"))
    computed.clear()  # dask itself tries the function on an empty array
    calls = {
        "fit": GPOD(3).fit,
        "fit_predict": GPOD(3).fit_predict,
        "predict": expected.predict,
        "transform": expected.transform,
        "table": TableModel(GPOD(3)).fit,
        "select": select,
        "stream": Rows.from_array,
        "assess": lambda found: assess(expected, found),
    }
    for name, call in calls.items():
        with pytest.raises(ValueError, match=r"write eigencut.integrations.dask.fit\(model, X\)"):
            call(rows)
        assert not computed, name


def test_weights_on_a_cluster():
    weight = np.random.default_rng(0).integers(0, 4, 4000)
    expected = GPOD(3, affinity=AFFINITY).fit(X, sample_weight=weight)
    lazy, of_rows = da.from_array(X, chunks=(700, 2)), da.from_array(weight, chunks=700)
    with dask.config.set(scheduler="synchronous"):
        model = fit(GPOD(3, affinity=AFFINITY), lazy, sample_weight=of_rows)
        assert_same(model, expected)
        assert model.affinity_.n_rows_ == weight.sum()
        with pytest.raises(ValueError, match=r"each of the 500 rows. Got shape \(499,\)"):
            fit(GPOD(3, affinity=AFFINITY), lazy, sample_weight=of_rows[:-1])
        with pytest.raises(ValueError, match=r"a dask array with one dimension .* Got ndarray"):
            fit(GPOD(3, affinity=AFFINITY), lazy, sample_weight=weight)
        with pytest.raises(ValueError, match="Got -1 in row 0; correct it, or use 0"):
            fit(GPOD(3, affinity=AFFINITY), lazy, sample_weight=0 * of_rows - 1)


def test_weights_in_a_column_of_a_data_frame():
    frames = pytest.importorskip("dask.dataframe")
    pandas = pytest.importorskip("pandas")
    weight = np.random.default_rng(0).uniform(0.5, 2.0, 4000)
    frame = pandas.DataFrame(X, columns=list("abcdef"))
    frame.insert(2, "people", weight)
    expected = GPOD(3, affinity=AFFINITY).fit(X, sample_weight=weight)
    with dask.config.set(scheduler="synchronous"):
        lazy = frames.from_pandas(frame, npartitions=5)
        model = fit(
            GPOD(3, affinity=AFFINITY), lazy.drop(columns="people"), sample_weight=lazy["people"]
        )
        assert_same(model, expected)
        assert model.feature_names_in_.tolist() == list("abcdef")
