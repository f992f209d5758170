"""Descriptions of models: what they say is so, is plain data, and breaks no terminal."""

import json
import re
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from eigencut import GPOD, Neighbors, Rows, TableModel, inspection, select
from eigencut.io.table import Table
from eigencut.tables.table_model import table_model as table_model_of

RNG = np.random.default_rng(0)
TRUE = RNG.integers(0, 3, 240)
HOSTILE = "km\x1b[31m\n\u202ecolumn"
FRAME = pd.DataFrame(
    {
        HOSTILE: np.array([1e3, 2e3, 4e3])[TRUE] + 50 * RNG.normal(size=240),
        "t": np.array([5.0, 1.0, 5.0])[TRUE] + 0.1 * RNG.normal(size=240),
        "constant": 3.0,
    }
)
X = RNG.normal(size=(240, 2)) + 9 * np.column_stack([TRUE, TRUE == 1])
AFFINITY = Neighbors(10)

pytestmark = pytest.mark.filterwarnings("ignore::eigencut.GraphWarning")


@pytest.fixture(scope="module")
def table_model():
    return TableModel(GPOD(3, affinity=AFFINITY), missing="drop").fit(FRAME)


@pytest.fixture(scope="module")
def model():
    return GPOD(3, affinity=AFFINITY).fit(X)


def test_sizes_shares_and_margins_are_those_of_predict(model):
    found = model.describe(X)
    labels, margins = model.predict(X), model.predict_margin(X)
    for k, cluster in enumerate(found.clusters):
        inside = labels == k
        assert (cluster.cluster, cluster.size) == (k, inside.sum())
        assert cluster.share == pytest.approx(inside.mean())
        assert cluster.margin == pytest.approx(margins[inside].mean())
        assert all(labels[row.row] == k for row in cluster.typical) and len(cluster.typical) == 3
        assert cluster.typical[0].values == {
            "x1": X[cluster.typical[0].row, 0],
            "x2": X[cluster.typical[0].row, 1],
        }
    assert found.n_rows == 240 and found.n_unlabelled == 0


def test_numbers_are_in_the_units_of_the_table(table_model):
    found = table_model.describe(FRAME)
    labels = table_model.predict(FRAME)
    for k, cluster in enumerate(found.clusters):
        assert {c.column for c in cluster.contrasts} <= {HOSTILE, "t"}
        for contrast in cluster.contrasts:
            inside = FRAME[contrast.column][labels == k]
            assert contrast.inside[1] == pytest.approx(inside.median())
        assert cluster.rule.precision > 0.9 and cluster.rule.coverage > 0.9
        assert all(c.column != "constant" for c in cluster.rule.conditions)


def test_it_is_json(table_model):
    text = json.dumps(table_model.describe(FRAME).to_dict(), allow_nan=False)
    found = json.loads(text)
    assert found["clusters"][0]["typical"][0]["values"][HOSTILE] > 500
    assert found["clusters"][0]["rule"]["conditions"][0]["relation"] in ("<=", ">")


def test_names_of_users_move_no_cursor(table_model):
    towns = pd.DataFrame({HOSTILE: np.where(TRUE == 0, "\x1b[2J\nRome", "\u202eOslo")})
    texts = ["\x1b]0;title\x07 \n moon" if k else "sun \r sun" for k in TRUE]
    for text in (
        str(table_model.describe(FRAME)),
        str(table_model.describe(FRAME, columns=towns, documents=texts)),
    ):
        assert all(line.isprintable() for line in text.split("\n"))
        assert "km\\x1b[31m\\n\\u202ecolumn" in text.replace("\n", " ")


def test_rows_in_no_cluster_are_counted(table_model):
    gaps = FRAME.copy()
    gaps.loc[:9, "t"] = np.nan
    found = table_model.describe(gaps)
    assert found.n_unlabelled == 10 and sum(c.size for c in found.clusters) == 230
    assert "10 rows are in no cluster" in str(found)
    assert all(row.row > 9 for cluster in found.clusters for row in cluster.typical)


def test_other_columns_can_describe(model):
    towns, names = np.array(["Rome", "Oslo", "Bonn"])[TRUE], np.arange(240).astype(str)
    found = model.describe(X, columns=pd.DataFrame({"town": towns, "id": names}))
    for cluster in found.clusters:
        best = cluster.contrasts[0]
        assert best.column == "town" and best.share == pytest.approx(1.0, abs=0.05)
        assert cluster.rule.conditions[0].relation == "is"
    assert any("'id' has 240 different values" in note for note in found.notes)


def test_documents_have_words_and_embeddings_no_columns(model):
    texts = [["engine car", "moon orbit", "bread oven"][k] + " the" for k in TRUE]
    found = model.describe(X, documents=texts)
    assert sorted(c.words[0].word for c in found.clusters) == ["bread", "car", "moon"]
    assert all(not c.contrasts and c.rule is None for c in found.clusters)
    assert found.clusters[0].typical[0].document in texts and "words" in str(found)
    named = model.describe(X, documents=texts, columns=pd.DataFrame(X, columns=["a", "b"]))
    assert all(c.contrasts and c.words for c in named.clusters)


def test_clusters_without_rows_are_there(model):
    found = model.describe(X[model.predict(X) == 1])
    assert [c.size > 0 for c in found.clusters] == [False, True, False]
    assert found.clusters[0].to_dict()["margin"] is None and "Cluster 0: 0 rows" in str(found)


def test_affinities_have_no_columns():
    W = np.exp(-((X[:, np.newaxis] - X) ** 2).sum(2) / 8)
    model = GPOD(3, affinity="precomputed").fit(W)
    with pytest.raises(ValueError, match="columns must be given for a model of affinities"):
        model.describe(W)
    found = model.describe(W, columns=pd.DataFrame({"k": TRUE.astype(str)}))
    assert found.clusters[0].contrasts and not found.clusters[0].typical


def test_sparse_rows():
    dense = np.abs(X) * (np.abs(X) > 1)
    rows = sparse.csr_array(dense)
    found = GPOD(3, affinity=AFFINITY).fit(rows).describe(rows).to_dict()
    known = GPOD(3, affinity=AFFINITY).fit(dense).describe(dense).to_dict()
    for one, other in zip(found["clusters"], known["clusters"], strict=True):
        assert one["rule"] == other["rule"] and one["contrasts"] == other["contrasts"]
        assert [row["row"] for row in one["typical"]] == [row["row"] for row in other["typical"]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"documents": ["a"]}, "documents must hold one text for each of the 240 rows. Got 1;"),
        ({"documents": "a text"}, "Got one text"),
        ({"documents": [1] * 240}, "documents must be texts. Got int in row 0"),
        ({"columns": np.eye(3)}, "columns must have one row for each of the 240 rows of X. Got 3"),
        ({"n_typical": -1}, "n_typical must be an integer of at least 0. Got -1"),
        ({"n_columns": "five"}, "n_columns must be an integer"),
    ],
)
def test_what_is_refused(model, options, message):
    with pytest.raises(ValueError, match=message):
        model.describe(X, **options)


def test_streams_are_refused(model):
    with pytest.raises(TypeError, match="X must be rows in memory"):
        model.describe(Rows.from_array(X))


def test_missing_documents_are_empty(model):
    texts = [None if i % 2 else "moon" for i in range(240)]
    assert model.describe(X, documents=texts).n_rows == 240


def test_typical_rows_may_be_left_out(table_model):
    without, found = (table_model.describe(FRAME, n_typical=n) for n in (0, 3))
    assert all(cluster.typical == () for cluster in without.clusters)
    assert "typical" not in str(without) and "typical" in str(found)
    assert [c.rule for c in without.clusters] == [c.rule for c in found.clusters]


def test_a_table_has_a_row_for_each_cluster_and_contrast(table_model):
    found = table_model.describe(FRAME)
    frame = found.to_frame()
    pairs = [(c.cluster, one) for c in found.clusters for one in c.contrasts]
    assert len(frame) == len(pairs) and frame.effect.tolist() == [one.effect for _, one in pairs]
    assert frame.cluster.tolist() == [number for number, _ in pairs]
    labels = table_model.predict(FRAME)
    numbers = [row for row in frame.itertuples() if row.column in FRAME.select_dtypes("number")]
    assert numbers
    for row in numbers:
        own = FRAME[row.column][labels == row.cluster]
        assert row.median == pytest.approx(own.median()) and row.mean == pytest.approx(own.mean())
        assert row.low <= row.effect <= row.high
    of_texts = table_model.describe(FRAME, documents=["a word"] * len(FRAME)).to_frame()
    assert of_texts.columns.tolist() == frame.columns.tolist()


def test_brackets_say_what_they_hold(table_model):
    text = " ".join(str(table_model.describe(FRAME)).split())
    assert "(IQR " in text and "(CI " in text
    assert re.search(r"\((?!IQR|CI|[\d.]+%\))[-+\d]", text) is None


def test_results_are_shown_as_they_are_printed_and_as_tables(table_model):
    results = (
        table_model.describe(FRAME),
        table_model.hierarchy(),
        table_model.drift(FRAME),
        inspection.assess(table_model, FRAME, theory=True),
        select(X, [2, 3]),
        table_model.explain_outliers(FRAME),
    )
    for result in results:
        assert repr(result) == str(result)
        html = result._repr_html_()
        tree = ElementTree.fromstring(f"<div>{html}</div>")
        assert {child.tag for child in tree} == {"pre" if result is results[-1] else "table"}
        shown = " ".join(" ".join(tree.itertext()).split())
        for word in re.findall(r"[A-Za-z_]{4,}", str(result)):
            assert word in shown


def test_markup_in_columns_is_text():
    frame = FRAME.rename(columns={FRAME.columns[0]: "<script>"})
    model = TableModel(GPOD(3)).fit(frame)
    for result in (model.describe(frame), model.drift(frame), model.explain_outliers(frame)):
        assert "<script>" not in result._repr_html_()


def test_rows_are_named_as_their_reader_knows_them():
    X = np.vstack([np.random.default_rng(0).normal(size=(40, 2)) + 9 * k for k in range(2)])
    model = GPOD(2).fit(X)
    frame = pd.DataFrame(X, columns=["a", "b"], index=[f"id{i}" for i in range(80)])
    lines = Table(("x1", "x2"), X, row_place=lambda row: f"line {row + 2}")
    first = model.describe(X).clusters[0].typical[0].row
    for given, place in ((X, f"row {first}"), (frame, f"row id{first}")):
        text = str(model.describe(X, columns=given).clusters[0].typical[0])
        assert text.startswith(f"{place}: ")
    typical = table_model_of(model).describe(lines).clusters[0].typical[0]
    assert typical.place == f"line {first + 2}" and str(typical).startswith(typical.place)


def test_lists_are_described_as_arrays_are(model, table_model):
    assert str(model.describe(X.tolist())) == str(model.describe(X))
    words = [[float(x), "ab"[k % 2]] for x, k in zip(X[:, 0], TRUE, strict=True)]
    mixed = TableModel(GPOD(3, affinity=AFFINITY)).fit(words)
    assert "x2 is a" in str(mixed.describe(words))
