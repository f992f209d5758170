"""A source of rows that changes between two passes is refused, by a fit and by predict_stream."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

import eigencut.io.rows
from eigencut import GPOD, Landmarks, TableModel
from eigencut.io.rows import Rows, _measure

pytestmark = pytest.mark.filterwarnings("ignore::eigencut.exceptions.GraphWarning")

X = np.random.default_rng(0).normal(size=(900, 2)) + 5 * (np.arange(900) % 2)[:, np.newaxis]
MODEL = GPOD(2, affinity=Landmarks(20))


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(eigencut.io.rows, "BLOCK_ROWS", 256)


def changing(*passes):
    """Rows that are other ones in each pass; the last ones from then on."""
    left = list(passes)
    return Rows(lambda: iter([left.pop(0) if len(left) > 1 else left[0]]))


OTHERS = {
    "wider": (np.hstack([X, X]), "blocks of 2 columns. Got shape .[0-9]+, 4. after row 0"),
    "narrower": (X[:, :1], "blocks of 2 columns. Got shape .[0-9]+, 1. after row 0"),
    "longer": (np.vstack([X, X]), "Got 900 rows at first and more later"),
    "a row longer": (np.vstack([X, X[:1]]), "Got 900 rows at first and (901|more) later"),
    "shorter": (X[:-1], "Got 900 rows at first and 899 later"),
    "other values": (X + np.array([0.0, 0.1]), "Got other values in column 1 later"),
}
SAME = pytest.mark.parametrize(("other", "message"), OTHERS.values(), ids=OTHERS.keys())


@SAME
@pytest.mark.parametrize("model", [MODEL, TableModel(MODEL), GPOD("auto", affinity=Landmarks(20))])
def test_a_fit_refuses(model, other, message):
    model = clone(model)
    with pytest.raises(ValueError, match=message):
        model.fit(changing(X, X, other))  # columns are counted, then landmarks and units found
    assert not hasattr(model, "fitted_cut_") and not hasattr(model, "model_")


@SAME
def test_predict_stream_refuses(other, message, tmp_path):
    model = GPOD(2, affinity=Landmarks(20)).fit(X)
    rows = changing(X, X, other)
    assert model.predict_stream(rows, tmp_path / "labels.npy") == len(X)
    with pytest.raises(ValueError, match=message):
        model.predict_stream(rows, tmp_path / "labels.npy")
    assert (np.load(tmp_path / "labels.npy") == model.labels_).all()
    assert [file.name for file in tmp_path.iterdir()] == ["labels.npy"]


def test_a_stream_that_widens_in_the_first_pass_is_refused(tmp_path):
    model = GPOD(2, affinity=Landmarks(20)).fit(X)
    with pytest.raises(ValueError, match="blocks of 2 columns"):
        model.predict_stream(changing(X, np.hstack([X, X, X])), tmp_path / "labels.npy")


def test_another_order_and_other_blocks_are_the_same_rows():
    expected = GPOD(2, affinity=Landmarks(20)).fit(X)
    model = GPOD(2, affinity=Landmarks(20)).fit(changing(X, X[::-1], X[np.lexsort(X.T)], X))
    assert (model.predict(X) == expected.labels_).all()


def test_a_file_that_grows_is_refused(tmp_path):
    path = tmp_path / "rows.csv"
    frame = pd.DataFrame(X, columns=["a", "b"])
    frame.to_csv(path, index=False)
    rows = Rows.from_file(path)
    model = GPOD(2, affinity=Landmarks(20)).fit(rows)
    frame.to_csv(path, index=False, header=False, mode="a")
    with pytest.raises(ValueError, match="copy the source before it changes, or make a new Rows"):
        model.fit(rows)
    assert model.affinity_.n_rows_ == 900
    assert model.fit(Rows.from_file(path)).affinity_.n_rows_ == 1800


def test_missing_values_are_compared_by_what_is_there(tmp_path):
    holes = X.copy()
    holes[5, 0] = np.nan
    TableModel(MODEL, missing="median").fit(changing(holes, holes))
    holes, other = holes.copy(), holes.copy()
    other[6, 1] += 9.0
    with pytest.raises(ValueError, match="other values in column 1 later"):
        TableModel(MODEL, missing="median").fit(changing(holes, holes, other))


NUMBERS = st.floats(allow_nan=True, allow_infinity=False)


@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=30), st.randoms())
def test_any_numbers_in_any_order_are_the_same(rows, random):
    passes = Rows(list)
    passes._keep_seen(_measure(np.array(rows)))
    random.shuffle(rows)
    cut = random.randrange(len(rows)) if len(rows) > 1 else 0
    pieces = [np.array(piece).reshape(-1, 2) for piece in (rows[:cut], rows[cut:])]
    with np.errstate(over="ignore", invalid="ignore"):
        passes._keep_seen(_measure(pieces[0]) + _measure(pieces[1]))


def test_dask_refuses_too():
    da, dask = pytest.importorskip("dask.array"), pytest.importorskip("dask")
    from eigencut.integrations.dask import fit

    for other, message in OTHERS.values():
        if message.startswith("Got"):
            message = message.replace("more", "(more|[0-9]+)")
        left = [X[450:], other[450:]]

        def chunk(left=left):
            return left.pop(0) if len(left) > 1 else left[0]

        half = da.from_delayed(dask.delayed(chunk, pure=False)(), (np.nan, 2), float)
        lazy = da.concatenate([da.from_array(X[:450]), half], allow_unknown_chunksizes=True)
        with dask.config.set(scheduler="synchronous"), pytest.raises(ValueError, match=message):
            fit(GPOD(2, affinity=Landmarks(20)), lazy)
