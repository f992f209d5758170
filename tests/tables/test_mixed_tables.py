"""Tables of numbers, words, dates and gaps: whatever they come in, they become the same rows."""

import datetime
import json
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import pdist
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

import eigencut.io.readers
import eigencut.io.rows
import eigencut.io.table
from eigencut import GPOD, Landmarks, ModelFileError, Rows, TableModel, load
from eigencut.io.table import Coding, Table
from eigencut.tables.categories import POLICY, WordPlaces
from eigencut.tables.preparation import learn_preparation

ORDER = ["small", "medium", "large"]
SAID = {"size": ORDER}
SCALES = ["standard", "minmax", "none"]


def customers(n_rows=240, seed=0, gaps=0.0):
    """Three clusters that numbers, an order, words, a truth value and a date tell."""
    rng = np.random.default_rng(seed)
    clusters = np.arange(n_rows) % 3
    towns = np.array(["Rome", "Oslo", "Bonn", "Lima"], dtype=object)
    often = np.where(rng.random(n_rows) < 0.8, clusters, rng.integers(4, size=n_rows))
    days = np.round(400 * clusters + rng.normal(0, 40, n_rows))
    frame = pd.DataFrame(
        {
            "age": 30 + 15.0 * clusters + rng.normal(0, 3, n_rows),
            "size": np.array(ORDER, dtype=object)[clusters],
            "town": towns[often],
            "member": rng.random(n_rows) < 0.2 + 0.3 * clusters,
            "joined": pd.Timestamp("2020-01-01") + pd.to_timedelta(days, unit="D"),
        }
    )
    if gaps:
        frame["member"] = frame["member"].astype(object)
        for name in frame:
            frame.loc[rng.random(n_rows) < gaps, name] = None
    return frame, clusters


def prepared(frame, columns=None, scale="standard", missing="refuse"):
    table = Table.from_data(frame, coding=Coding(columns=columns))
    preparation = learn_preparation(table, scale, missing)
    return preparation, preparation.apply(table)[0]


# -------------------------------------------------------------------------------------- the kinds


def test_kinds_are_found_from_dtypes_and_contents():
    frame = pd.DataFrame(
        {
            "number": [1, 2, 3],
            "gappy": [1.5, None, 3],
            "truth": [True, False, True],
            "word": ["a", "b", "a"],
            "listed": pd.Categorical(["a", "b", "a"]),
            "ordered": pd.Categorical(["b", "a", "b"], ["b", "a"], ordered=True),
            "day": pd.to_datetime(["2020-01-01", None, "2020-01-03"]),
            "zoned": pd.to_datetime(["2020-01-01"] * 3).tz_localize("Europe/Oslo"),
            "iso": ["2020-01-01", "2020-01-02T12:00", "2020-01-03"],
            "digits": ["1", "2.5", ""],
            "objects": [datetime.date(2020, 1, 1), None, datetime.date(2020, 1, 2)],
            "length": pd.to_timedelta(["1D", "12h", None]),
        }
    )
    table = Table.from_data(frame)
    kinds = {name: table.kind(name).name for name in table.names}
    assert kinds == {
        "number": "numeric",
        "gappy": "numeric",
        "truth": "boolean",
        "word": "categorical",
        "listed": "categorical",
        "ordered": "ordered",
        "day": "date",
        "zoned": "date",
        "iso": "date",
        "digits": "numeric",
        "objects": "date",
        "length": "numeric",
    }
    assert table.kind("ordered").order == ("b", "a")
    values = dict(zip(table.names, table.values.T, strict=True))
    assert values["zoned"][0] == pytest.approx(18262 - 1 / 24)  # midnight in Oslo is 23:00 UTC
    assert np.diff(values["iso"]).tolist() == [1.5, 0.5]
    assert values["length"][:2].tolist() == [1.0, 0.5] and np.isnan(values["length"][2])
    assert np.isnan(values["day"][1]) and np.isnan(values["digits"][2])


@pytest.mark.parametrize(
    "convert",
    [pl.from_pandas, pa.Table.from_pandas, lambda frame: frame.convert_dtypes()],
    ids=["polars", "pyarrow", "pandas' own dtypes"],
)
def test_other_data_frames_give_the_same_rows(convert):
    frame, _ = customers(60, gaps=0.1)
    expected, rows = prepared(frame, SAID, missing="median")
    found, others = prepared(convert(frame), SAID, missing="median")
    assert [kind.name for kind in found.kinds] == [kind.name for kind in expected.kinds]
    assert np.array_equal(others, rows)
    assert np.array_equal(expected.apply(convert(frame))[0], rows)
    model = TableModel(GPOD(3), columns=SAID, missing="median")
    labels = clone(model).fit(frame).labels_
    assert (model.fit(convert(frame)).labels_ == labels).all()
    assert list(model.feature_names_in_) == list(frame.columns)


def test_names_that_data_frames_have_for_themselves():
    frame = pd.DataFrame({"column_names": list("ab") * 10, "columns": range(20), "cat": 1.5})
    assert TableModel(GPOD(2)).fit(frame).columns_ == ["column_names", "columns", "cat"]


def test_what_is_said_goes_before_what_is_found():
    frame = pd.DataFrame({"zip": [10, 20, 10, 30] * 5, "when": [1.0, 2, 3, 4] * 5, "x": range(20)})
    model = TableModel(GPOD(2), columns={"zip": "categorical", "x": "ignore"}).fit(frame)
    assert model.columns_ == ["zip", "when"] and model.n_features_in_ == 3
    assert [line.kind for line in model.summary().columns] == ["categorical", "numeric"]
    assert "10, 20, 30 (the kind is given)" in str(model.summary())
    assert TableModel(GPOD(2), columns=["when", "x"]).fit(frame).columns_ == ["when", "x"]


# ------------------------------------------------------------------------------------- the points


def test_words_become_corners_and_factors():
    """Against the formula, by numpy alone."""
    frame, _ = customers(240)
    frame = frame[["age", "town", "member"]]
    preparation, rows = prepared(frame)
    z = ((frame["age"] - frame["age"].mean()) / frame["age"].std(ddof=0)).to_numpy()[:, None]
    H = [pd.get_dummies(frame[name]).to_numpy(float) for name in ("town", "member")]
    x = np.hstack([z, *((h - h.mean(0)) / np.sqrt(h.mean(0)) for h in H)])
    values, vectors = np.linalg.eigh(x.T @ x / len(x))
    stands_out = values > (1 + np.sqrt((1 + 3 + 1) / len(x))) ** 2
    assert stands_out.sum() >= 1
    expected = np.hstack([z, *(POLICY.corner * h for h in H)])
    factors = POLICY.factor * x[:, 1:] @ vectors[1:, stands_out]
    assert pdist(rows) == pytest.approx(pdist(np.hstack([expected, factors])), abs=1e-7)
    assert preparation.width == rows.shape[1] == 1 + 4 + 2 + stands_out.sum()


def test_words_that_have_nothing_to_do_with_the_rest_have_corners_only():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=3000), "w": rng.choice(list("abc"), 3000)})
    preparation, rows = prepared(frame)
    assert rows.shape[1] == 1 + 3
    apart = np.linalg.norm(preparation.categories.points[0] - preparation.categories.points[1])
    assert apart == pytest.approx(POLICY.corner * np.sqrt(2))


@pytest.mark.parametrize("scale", ["standard", "minmax", "none"])
def test_words_count_in_the_units_of_numbers(scale):
    """Twice as large units of all numbers are the same geometry, twice as large or not at all."""
    frame, _ = customers(120)
    frame = frame[["age", "town"]]
    larger = frame.assign(age=2 * frame["age"])
    _, rows = prepared(frame, scale=scale)
    _, others = prepared(larger, scale=scale)
    factor = 2.0 if scale == "none" else 1.0
    assert pdist(others) == pytest.approx(factor * pdist(rows), rel=1e-9)


@settings(max_examples=25, deadline=None)
@given(st.permutations(range(5)), st.permutations(range(60)), st.randoms(use_true_random=False))
def test_orders_of_columns_rows_and_names_of_words_do_not_matter(columns, rows, random):
    frame, _ = customers(60, gaps=0.1)
    _, expected = prepared(frame, SAID, missing="median")
    names = ["Rome", "Oslo", "Bonn", "Lima"]
    other = dict(zip(names, random.sample(["p", "q", "r", "s"], 4), strict=True))
    turned = frame.assign(town=frame["town"].map(other, na_action="ignore"))
    turned = turned.iloc[rows, columns]
    _, found = prepared(turned, SAID, missing="mean")
    _, expected = prepared(frame.iloc[rows], SAID, missing="mean")
    assert pdist(found) == pytest.approx(pdist(expected), abs=1e-8)


def test_rare_words_share_a_place_and_unseen_ones_go_there():
    words = ["a"] * 60 + ["b"] * 35 + [f"rare{i}" for i in range(5)]
    frame = pd.DataFrame({"w": words, "x": np.arange(100.0)})
    preparation, rows = prepared(frame)
    assert preparation.categories.columns[0].words == ("a", "b")
    assert preparation.categories.columns[0].n_rare == 5
    assert (rows[95:, 1:] == rows[95, 1:]).all() and (rows[95, 1:] != rows[0, 1:]).any()
    unseen, _ = preparation.apply(pd.DataFrame({"w": ["new"], "x": [3.0]}))
    assert (unseen[0, 1:] == rows[95, 1:]).all()


def test_without_rare_words_unseen_ones_are_in_the_middle():
    frame = pd.DataFrame({"w": ["a"] * 30 + ["b"] * 10, "x": np.arange(40.0)})
    preparation, rows = prepared(frame)
    unseen, _ = preparation.apply(pd.DataFrame({"w": ["new"], "x": [3.0]}))
    assert unseen[0, 1:] == pytest.approx(rows[:, 1:].mean(axis=0))


def test_the_rule_for_rare_words():
    def kept(n_rows, **counts):
        return WordPlaces.from_counts("w", counts, n_rows).words

    assert kept(50, a=48, b=1, c=1) == ("a",)
    assert kept(50, a=48, b=2) == ("a", "b")
    assert kept(600, a=590, b=6, c=4) == ("a", "b")
    assert kept(10**6, a=10**6 - 20, b=10, c=9, d=1) == ("a", "b")
    many = WordPlaces.from_counts("w", {f"w{i:03}": 100 - i % 7 for i in range(100)}, 10_000)
    assert len(many.words) == 64 and many.n_rare == 36 and many.shares.sum() == pytest.approx(1)


# ------------------------------------------------------------------------------------ missing ones


def test_missing_words():
    frame = pd.DataFrame({"w": ["a"] * 6 + ["b"] * 3 + [None], "x": np.arange(10.0)})
    _, middle = prepared(frame, missing="mean")
    assert middle[9, 1:] == pytest.approx(middle[:9, 1:].mean(axis=0))
    _, usual = prepared(frame, missing="median")
    assert (usual[9, 1:] == usual[0, 1:]).all()
    preparation, dropped = prepared(frame, missing="drop")
    assert len(dropped) == 9
    assert preparation.apply(frame)[1].tolist() == [True] * 9 + [False]
    with pytest.raises(ValueError, match=r"no missing values \(NaN\). Got some in 'w', first in"):
        prepared(frame)


@pytest.mark.parametrize("missing", ["mean", "median", "drop"])
def test_gaps_in_every_kind(missing):
    frame, clusters = customers(240, gaps=0.05)
    model = TableModel(GPOD(3), columns=SAID, missing=missing).fit(frame)
    labelled = model.labels_ >= 0
    assert labelled.all() == (missing != "drop")
    assert adjusted_rand_score(clusters[labelled], model.labels_[labelled]) > 0.8
    assert (model.predict(frame) == model.labels_).all()


def test_words_outside_of_an_order_are_missing_for_predict():
    frame, _ = customers(60)
    strange = frame.iloc[:2].assign(size=["huge", "small"])
    model = TableModel(GPOD(3), columns=SAID, missing="drop").fit(frame)
    assert (model.predict(strange) == [-1, model.labels_[1]]).tolist()[0]
    with pytest.raises(
        ValueError, match=r"'size' must hold small < medium < large. Got 'huge' in r"
    ):
        TableModel(GPOD(3), columns=SAID).fit(frame).predict(strange)
    with pytest.raises(ValueError, match=r"'size' must hold small < medium. Got 'large' in row 2"):
        TableModel(GPOD(3), columns={"size": ORDER[:2]}, missing="drop").fit(frame)


# --------------------------------------------------------------------------------------- in blocks


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(eigencut.io.rows, "BLOCK_ROWS", 50)
    monkeypatch.setattr(eigencut.io.readers, "BLOCK_BYTES", 700)


@pytest.mark.parametrize("missing", ["drop", "mean"])
@pytest.mark.parametrize("kind", ["csv", "parquet", "frames"])
def test_a_stream_is_memory(kind, missing, tmp_path, small_blocks):
    frame, _ = customers(240, gaps=0.05)
    expected, rows = prepared(frame, SAID, missing=missing)
    if kind == "csv":
        frame.to_csv(tmp_path / "t.csv", index=False)
        stream = Rows.from_file(tmp_path / "t.csv")
    elif kind == "parquet":
        frame.to_parquet(tmp_path / "t.parquet")
        stream = Rows.from_file(tmp_path / "t.parquet")
    else:
        stream = Rows(lambda: (frame.iloc[i : i + 70] for i in range(0, 240, 70)))
    found = learn_preparation(stream, "standard", missing, SAID)
    assert found.kinds == expected.kinds and found.columns == expected.columns
    assert [c.words for c in found.categories.columns] == [
        c.words for c in expected.categories.columns
    ]
    again = np.concatenate(list(found.stream(stream)))
    assert pdist(again) == pytest.approx(pdist(rows), abs=1e-8)
    of_rows = GPOD(3, affinity=Landmarks(60))
    model = TableModel(of_rows, columns=SAID, scale="standard", missing=missing)
    model.fit(stream)
    labels = clone(model).fit(frame).labels_
    assert adjusted_rand_score(model.predict(frame), labels) > 0.98


@pytest.mark.parametrize("kind", ["csv", "frames"])
def test_ignored_columns_of_a_stream_are_never_read(kind, tmp_path, small_blocks, monkeypatch):
    monkeypatch.setattr(eigencut.io.table, "MOST_WORDS", 50)
    frame, _ = customers(120)
    frame.insert(1, "name", [f"customer {i}" for i in range(120)])
    frame.to_csv(tmp_path / "t.csv", index=False)
    frames = Rows(lambda: (frame.iloc[i : i + 50] for i in range(0, 120, 50)))
    stream = Rows.from_file(tmp_path / "t.csv") if kind == "csv" else frames
    columns = SAID | {"name": "ignore"}
    model = TableModel(GPOD(3, affinity=Landmarks(40)), columns=columns).fit(stream)
    assert model.columns_ == ["age", "size", "town", "member", "joined"]
    assert adjusted_rand_score(model.predict(frame), np.arange(120) % 3) > 0.9
    with pytest.raises(ValueError, match="'name' must have at most 50 different words"):
        TableModel(GPOD(3), columns=SAID | {"name": "categorical"}).fit(stream)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.lists(st.integers(1, 119), max_size=4), st.sampled_from(SCALES))
def test_any_blocks_are_the_whole_table(seed, cuts, scale):
    """Also with words that only some blocks have, and rare ones."""
    frame, _ = customers(120, seed=seed, gaps=0.05)
    rng = np.random.default_rng(seed)
    frame["code"] = rng.choice([*"abcdefgh", None], 120, p=[0.4, 0.3, 0.1, *[0.03] * 5, 0.05])
    expected, rows = prepared(frame, SAID, scale, "mean")
    bounds = [0, *sorted(set(cuts)), 120]
    stream = Rows(lambda: (frame.iloc[a:b] for a, b in pairwise(bounds)))
    found = learn_preparation(stream, scale, "mean", SAID)
    assert [c.words for c in found.categories.columns] == [
        c.words for c in expected.categories.columns
    ]
    assert pdist(np.concatenate(list(found.stream(stream)))) == pytest.approx(pdist(rows), rel=1e-7)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["a", "B b", "c,d", 'q"', "é", "1", "01", ""]), st.booleans()),
        min_size=2,
        max_size=40,
    )
)
def test_csv_and_frames_have_the_same_words(tmp_path_factory, rows):
    """Also numbers among words, and words that must be quoted."""
    path = tmp_path_factory.mktemp("t") / "t.csv"
    frame = pd.DataFrame({"w": [w for w, _ in rows], "t": [t for _, t in rows], "x": 1.5})
    frame.to_csv(path, index=False)
    columns = {"w": "categorical"}
    expected = Table.from_data(frame, coding=Coding(columns=columns))
    found = next(Rows.from_file(path).tables(Coding(columns=columns)))
    assert np.array_equal(found.values, expected.values, equal_nan=True)
    if "w" in expected.coding.words:
        assert list(found.words("w")) == list(expected.words("w"))
    assert found.kind("t").name == "boolean"


def test_words_for_missing_values_are_those_of_csv_files(tmp_path):
    """In a data frame what is missing is not a word."""
    frame = pd.DataFrame({"w": ["None", "NA", "a", "?", None, " "]})
    assert np.isnan(Table.from_data(frame).values[:, 0]).tolist() == [False] * 4 + [True] * 2
    assert list(Table.from_data(frame).words("w")) == ["None", "NA", "a", "?"]
    frame.to_csv(tmp_path / "t.csv", index=False)
    table = next(Rows.from_file(tmp_path / "t.csv", header=True).tables(Coding()))
    assert list(table.words("w")) == ["a"] and np.isnan(table.values).sum() == len(table.values) - 1


@pytest.mark.parametrize("missing", ["drop", "mean", "median"])
def test_integer_weights_are_repeated_rows(missing):
    frame, _ = customers(60, gaps=0.05)
    times = np.random.default_rng(0).integers(0, 4, size=60)
    repeated = frame.iloc[np.repeat(np.arange(60), times)].reset_index(drop=True)
    model = TableModel(GPOD(3), columns=SAID, scale="standard", missing=missing)
    if missing != "median":  # of two middle values in memory, of one with weights
        expected, rows = prepared(repeated, SAID, missing=missing)
        weighted = clone(model).fit(frame, sample_weight=times)
        assert pdist(weighted.preparation_.apply(repeated)[0]) == pytest.approx(pdist(rows))
        words = weighted.preparation_.categories.columns
        for column, other in zip(words, expected.categories.columns, strict=True):
            assert column.words == other.words and column.shares == pytest.approx(other.shares)
    pairs = [(frame.iloc[:35], times[:35]), (frame.iloc[35:], times[35:])]
    stream = Rows(lambda: iter(pairs), weighted=True)
    whole = Rows(lambda: iter([repeated]))
    found = learn_preparation(stream, "standard", missing, SAID)
    other = learn_preparation(whole, "standard", missing, SAID)
    assert found.shift == pytest.approx(other.shift) and found.fill == pytest.approx(other.fill)
    assert pdist(found.apply(frame)[0]) == pytest.approx(pdist(other.apply(frame)[0]))


# ------------------------------------------------------------------------------------ what is wrong


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("town", "columns must be None, a list of different names, or a dict"),
        ([], "columns must be None, a list of different names, or a dict"),
        (["age", "age"], "columns must be None, a list of different names, or a dict"),
        ({"age": "number"}, r"columns\['age'\] must be 'numeric'.* Got 'number'; correct it"),
        ({"size": ["small"]}, r"columns\['size'\] must be .* Got \['small'\]"),
        ({"size": ["a", "a"]}, r"columns\['size'\] must be"),
        ({"sise": "categorical"}, "columns must name columns of the table, 'age', .* Got 'sise'"),
        ({"town": "numeric"}, "Column 'town' must hold numbers. Got 'Rome' in row 0; correct it"),
        ({"town": "date"}, "Column 'town' must hold dates. Got 'Rome' in row 0; correct it"),
        ({"joined": "numeric"}, "Column 'joined' must hold numbers. Got datetime64"),
    ],
)
def test_what_cannot_be_said_of_columns(columns, message):
    with pytest.raises(ValueError, match=message):
        TableModel(GPOD(3), columns=columns).fit(customers(60)[0])


def test_text_of_many_values_is_refused_by_name():
    frame, _ = customers(60)
    frame["name"] = [f"customer {i}" for i in range(60)]
    with pytest.raises(ValueError, match=r"'name' must .* 20 different words in 60 rows. Got 60"):
        TableModel(GPOD(3), columns=SAID).fit(frame)
    said = TableModel(GPOD(3), columns=SAID | {"name": "categorical"}).fit(frame)
    assert said.preparation_.categories.columns[-1].n_rare == 60


def test_a_few_words_among_numbers_are_mistakes():
    frame = pd.DataFrame({"x": ["1", "2", "3", "4o", "5"]})
    with pytest.raises(ValueError, match=r"Column 'x' must hold numbers. Got '4o' in row 3"):
        TableModel(GPOD(2)).fit(frame)


# ----------------------------------------------------------------------------- files and estimators


def test_saved_and_loaded(tmp_path):
    frame, _ = customers(120, gaps=0.05)
    columns = SAID | {"joined": "date", "age": "numeric"}
    model = TableModel(GPOD(3), columns=columns, missing="median").fit(frame)
    model.save(tmp_path / "m")
    again = load(tmp_path / "m")
    assert again.columns == columns and str(again.summary()) == str(model.summary())
    assert (again.predict_proba(frame) == model.predict_proba(frame)).all()
    assert (again.labels_ == model.labels_).all()
    assert (again.feature_names_in_ == model.feature_names_in_).all()
    unseen = frame.iloc[:5].assign(town="Atlantis")
    assert (again.transform(unseen) == model.transform(unseen)).all()
    assert (clone(again).fit(frame).labels_ == model.labels_).all()


@pytest.mark.parametrize(
    "change",
    [
        {"kinds": "numeric"},
        {"kinds": [{"kind": "ordered", "order": [], "given": False}] * 2},
        {"kinds": []},
        {"words": []},
        {"words": [{"column": "age", "words": ["a"], "n_rare": 0}]},
        {"words": [{"column": "town", "words": ["a", "a"], "n_rare": 0}]},
        {"words": [{"column": "town", "words": ["a", "b"], "n_rare": -1}]},
    ],
)
def test_a_file_that_was_tampered_with_is_refused(change, tmp_path):
    from eigencut.io.model_format import read, write

    frame, _ = customers(60)
    TableModel(GPOD(3)).fit(frame[["age", "town"]]).save(tmp_path / "m")
    header, arrays = read(tmp_path / "m")
    content = json.loads(json.dumps(header.content))
    content["model"]["state"] |= change
    write(tmp_path / "m", content, arrays)
    with pytest.raises(ModelFileError, match="cannot be loaded"):
        load(tmp_path / "m")


@pytest.mark.parametrize("text", ["[" * 100_000, "7", "{", '{"age": "moons"}', '{"age": {}}'])
def test_columns_of_a_file_are_not_trusted(text, tmp_path):
    from eigencut.io.model_format import read, write

    TableModel(GPOD(3)).fit(customers(60)[0][["age", "town"]]).save(tmp_path / "m")
    header, arrays = read(tmp_path / "m")
    content = json.loads(json.dumps(header.content))
    content["model"]["parameters"]["columns"] = text
    write(tmp_path / "m", content, arrays)
    with pytest.raises(ModelFileError, match="cannot be loaded"):
        load(tmp_path / "m")


def test_it_is_an_estimator_with_all_answers():
    frame, clusters = customers(240)
    model = TableModel(GPOD(3), columns=SAID).set_output(transform="pandas").fit(frame)
    assert adjusted_rand_score(clusters, model.labels_) > 0.95
    embedding = model.transform(frame)
    assert list(embedding.columns) == ["tablemodel0", "tablemodel1", "tablemodel2"]
    assert (embedding.index == frame.index).all()
    assert (model.predict_proba(frame).argmax(axis=1) == model.labels_).all()
    assert model.score(frame) == model.model_.score(model.prepare(frame)[0])
    assert list(model.feature_names_in_) == list(frame.columns)
    with pytest.raises(TypeError, match="X must be rows in memory"):
        clone(model).set_params(model__affinity=Landmarks(20)).fit_predict(
            Rows(lambda: iter([frame]))
        )


def test_one_row_is_labelled_as_among_others():
    frame, _ = customers(90, gaps=0.1)
    model = TableModel(GPOD(3), columns=SAID, missing="median").fit(frame)
    alone = [model.predict(frame.iloc[i : i + 1])[0] for i in range(0, 90, 7)]
    assert alone == model.labels_[::7].tolist()


def test_a_table_of_words_alone():
    rng = np.random.default_rng(0)
    clusters = np.arange(150) % 3
    frame = pd.DataFrame(
        {
            f"q{j}": np.array(list("abc"), dtype=object)[
                np.where(rng.random(150) < 0.9, clusters, rng.integers(3, size=150))
            ]
            for j in range(5)
        }
    )
    assert adjusted_rand_score(clusters, TableModel(GPOD(3)).fit_predict(frame)) > 0.9


@pytest.mark.parametrize("options", [{}, {"scale": "standard"}, {"missing": "mean"}])
@pytest.mark.filterwarnings("ignore::eigencut.GraphWarning")
def test_the_order_of_rows_changes_no_label(options):
    """Means, deviations and factors are sums of rows, which another order rounds differently."""
    for seed in range(1, 5):
        rng = np.random.default_rng(seed)
        true = rng.integers(0, 3, 700)
        frame = pd.DataFrame(
            {
                "age": rng.normal(np.array([30, 50, 70])[true], 10).round(1),
                "income": np.exp(rng.normal(np.array([9, 10.5, 10])[true], 0.5)).round(),
                "member": rng.integers(0, 2, 700),
            }
        )
        if "missing" in options:
            frame.loc[rng.random(700) < 0.1, "age"] = np.nan
        order = rng.permutation(700)
        one = TableModel(GPOD(3), **options).fit(frame)
        other = TableModel(GPOD(3), **options).fit(frame.iloc[order].reset_index(drop=True))
        assert (other.labels_ == one.labels_[order]).all()
