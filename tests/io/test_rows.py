"""Streams: the same model as from memory, whatever the source and its blocks."""

import mmap
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_blobs

import eigencut.io.rows
from eigencut import GPOD, Landmarks
from eigencut.io.rows import Rows

pytestmark = pytest.mark.filterwarnings("ignore::eigencut.exceptions.GraphWarning")

AFFINITY = Landmarks(60)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Many blocks of few rows, where the library has blocks of 131072."""
    monkeypatch.setattr(eigencut.io.rows, "BLOCK_ROWS", 256)


@pytest.fixture
def X():
    return make_blobs(1500, 3, centers=3, cluster_std=2.5, random_state=0)[0]


@pytest.fixture
def expected(X):
    return GPOD(3, affinity=AFFINITY).fit(X)


def pieces_of(X, sizes):
    ends = np.minimum(np.cumsum(sizes), len(X))
    return lambda: iter(np.split(X, ends))


def sources(X, folder):
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    (folder / "parts").mkdir()
    for i, start in enumerate(range(0, len(X), 400)):
        frame[start : start + 400].to_parquet(folder / "parts" / f"{i}.parquet")
    frame.to_parquet(folder / "rows.parquet")
    frame.to_csv(folder / "rows.csv", index=False)
    np.save(folder / "rows.npy", X)
    return {
        "array": Rows.from_array(X),
        "memory map": Rows.from_file(folder / "rows.npy"),
        "parquet": Rows.from_file(folder / "rows.parquet"),
        "folder": Rows.from_file(folder / "parts"),
        "csv": Rows.from_file(folder / "rows.csv"),
        "one by one": Rows(lambda: (row[np.newaxis] for row in X)),
        "uneven": Rows(pieces_of(X, [1, 0, 700, 3, 600])),
        "frames": Rows(lambda: iter([frame[:100], frame[100:]])),
    }


def test_every_source_gives_the_model_of_the_array(X, expected, tmp_path):
    for name, rows in sources(X, tmp_path).items():
        model = GPOD(3, affinity=AFFINITY).fit(rows)
        assert (model.affinity_.landmarks_ == expected.affinity_.landmarks_).all(), name
        assert (model.eigenvalues_ == expected.eigenvalues_).all(), name
        assert (model.transform(X) == expected.transform(X)).all(), name
        assert (model.predict(X) == expected.labels_).all(), name
        assert not hasattr(model, "labels_") and not hasattr(model, "embedding_")
        assert model.affinity_.n_rows_ == len(X)


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_rows_of_a_npy_file_that_were_read_do_not_stay_in_memory(tmp_path, monkeypatch):
    def resident_mb():
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * mmap.PAGESIZE / 1e6

    monkeypatch.setattr(eigencut.io.rows, "BLOCK_ROWS", 1 << 17)
    np.save(tmp_path / "rows.npy", np.ones((4_000_000, 2)))  # 64 MB
    rows = Rows.from_file(tmp_path / "rows.npy")
    before, highest = resident_mb(), 0.0
    for _ in rows:
        highest = max(highest, resident_mb() - before)
    assert highest < 20


def test_names_of_columns_are_kept(X, tmp_path):
    rows = sources(X, tmp_path)
    model = GPOD(3, affinity=AFFINITY).fit(rows["parquet"])
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    two = GPOD(3, affinity=AFFINITY).fit(Rows.from_file(tmp_path / "parts", ["c", "a"]))
    assert two.feature_names_in_.tolist() == ["c", "a"]
    again = GPOD(3, affinity=AFFINITY).fit(X[:, [2, 0]])
    assert (two.affinity_.landmarks_ == again.affinity_.landmarks_).all()


def test_the_default_affinity_of_a_stream_is_landmarks(X):
    model = GPOD(3).fit(Rows.from_array(X))
    assert isinstance(model.affinity_, Landmarks)
    with pytest.raises(ValueError, match="use affinity='landmarks'"):
        GPOD(3, affinity="gaussian").fit(Rows.from_array(X))


def test_the_number_of_clusters_can_be_chosen():
    X = make_blobs(3000, 2, centers=4, cluster_std=0.6, random_state=3)[0]
    assert GPOD("auto", affinity=AFFINITY).fit(Rows.from_array(X)).n_clusters_ == 4


def test_labels_are_written_block_by_block(X, expected, tmp_path):
    path = tmp_path / "labels.npy"
    assert expected.predict_stream(Rows.from_array(X), path) == len(X)
    labels = np.load(path, mmap_mode="r")
    assert labels.dtype == np.int8
    assert (labels == expected.labels_).all()


def test_probabilities_are_written_block_by_block(X, expected, tmp_path):
    path = tmp_path / "probabilities.npy"
    rows = Rows(lambda: iter([X[:100], X[100:101], X[101:]]))
    assert expected.predict_proba_stream(rows, path) == len(X)
    found = np.load(path, mmap_mode="r")
    assert found.dtype == np.float64
    assert found == pytest.approx(expected.predict_proba(X), abs=1e-10)
    assert (found.argmax(axis=1) == expected.labels_).all()


@pytest.mark.parametrize("name", ["labels.parquet", "labels.csv", "labels.npy.gz"])
def test_labels_are_not_written_under_a_name_of_something_else(X, expected, tmp_path, name):
    def never():
        raise AssertionError("work has begun")

    rows = Rows(never)
    rows.n_features = 3
    with pytest.raises(ValueError, match=r"path must end in .npy, for that is what is written"):
        expected.predict_stream(rows, tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_a_fraction_after_many_whole_numbers(tmp_path):
    """Types are those of numbers, whatever the first blocks hold."""
    (tmp_path / "t.csv").write_text("a,b\n" + "1,2\n" * 700 + "1.5,2\n")
    (block,) = (table.values for table in list(Rows.from_file(tmp_path / "t.csv").tables())[2:])
    assert block[-1].tolist() == [1.5, 2.0]


def test_a_stream_must_have_the_columns_of_the_fit(X, tmp_path):
    model = GPOD(3, affinity=AFFINITY).fit(sources(X, tmp_path)["parquet"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict_stream(Rows.from_file(tmp_path / "rows.csv"), tmp_path / "labels.npy")
    for rows in (Rows.from_file(tmp_path / "rows.csv", ["b", "a", "c"]), Rows.from_array(X[:, :2])):
        with pytest.raises(ValueError, match="rows must have the columns of the fit"):
            model.predict_stream(rows, tmp_path / "other.npy")
    assert not (tmp_path / "other.npy").exists()


def test_interrupted_work_leaves_what_was_there(X, expected, tmp_path):
    path = tmp_path / "labels.npy"
    expected.predict_stream(Rows.from_array(X[:300]), path)

    def breaks():
        yield X[:700]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        expected.predict_stream(Rows(breaks), path)
    assert (np.load(path) == expected.labels_[:300]).all()
    assert [file.name for file in tmp_path.iterdir()] == ["labels.npy"]


def test_a_fit_never_holds_more_than_a_few_blocks(monkeypatch):
    """Blocks are made on demand, two passes: the first block is freed long before the last."""
    alive, most = set(), 0

    class Block(np.ndarray):
        def __del__(self):
            alive.discard(id(self))

    def blocks():
        nonlocal most
        for seed in range(40):
            block = np.random.default_rng(seed).normal(size=(256, 2)).view(Block)
            alive.add(id(block))
            most = max(most, len(alive))
            yield block

    GPOD(2, affinity=AFFINITY).fit(Rows(blocks))
    assert most <= 4


@pytest.mark.parametrize(
    "blocks, message",
    [
        (lambda: [], "X must have at least one row"),
        (lambda: [np.ones((3, 2)), np.ones((3, 3))], "blocks of 2 columns. Got shape .3, 3. after"),
        (lambda: [np.ones(3)], "two-dimensional blocks"),
        (
            lambda: [np.ones((5, 2)), [[1.0, np.nan]]],
            "Got NaN, .* in row 5, column 1; use Tab",
        ),
        (lambda: [[["a", "b"]]], "numbers only. Got 'a' in row 0, column 0"),
        (lambda: [np.ones((5, 2)), np.ones((2, 2)) * 1j], "numbers only. .* after row 5"),
        (
            lambda: [np.ones((5, 2)), np.full((2, 2), "2020", "M8[D]")],
            r"numbers only. Got datetime.date\(2020, 1, 1\) in row 5, column 0",
        ),
        (lambda: [np.ones((5, 2)), [[1.0, np.inf]]], "Got infinity in row 5, column 1"),
        (
            lambda: [np.ones((5, 2)), np.array([[1.0, "tall"]], dtype=object)],
            "X must hold numbers only. Got 'tall' in row 5, column 1; drop or encode it",
        ),
        (
            lambda: [np.ones((5, 2)), pd.DataFrame({"a": [1.0], "town": ["Rome"]})],
            r"Got the non-numeric column\(s\) 'town' after row 5; drop or encode them",
        ),
    ],
)
def test_bad_blocks(blocks, message):
    with pytest.raises(ValueError, match=message):
        GPOD(2, affinity=AFFINITY).fit(Rows(blocks))


def test_bad_sources(X, tmp_path):
    with pytest.raises(TypeError, match="blocks must be a function"):
        Rows(iter([X]))
    with pytest.raises(FileNotFoundError, match="file, or a folder of such"):
        Rows.from_file(tmp_path)
    pd.DataFrame(X, columns=["a", "b", "c"]).to_parquet(tmp_path / "rows.parquet")
    with pytest.raises(
        ValueError, match=r"columns must be among those of .*, 'a', 'b', 'c'\. Got 'd'"
    ):
        GPOD(2).fit(Rows.from_file(tmp_path / "rows.parquet", ["a", "d"]))
