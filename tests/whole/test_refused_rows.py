"""A row that a metric refuses is named by its place in what the user gave, whoever refuses it."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from eigencut import GPOD, Gaussian, Neighbors, Rows, TableModel, inspection, select
from eigencut.cli import main
from eigencut.exceptions import RefusedRow
from eigencut.neighbors.metrics import sets_as_rows

pytestmark = pytest.mark.filterwarnings("ignore::eigencut.exceptions.GraphWarning")

NAMES = ["a", "b", "c", "d", "e"]


@pytest.fixture(scope="module")
def zero_row():
    X = np.random.default_rng(0).normal(size=(800, 5))
    X[400] = 0
    return X


@pytest.fixture(scope="module")
def fitted(zero_row):
    return GPOD(2, metric="cosine", affinity="neighbors").fit(np.delete(zero_row, 400, axis=0))


def refused(call):
    with pytest.raises(RefusedRow) as caught:
        call()
    return str(caught.value)


@pytest.mark.parametrize("affinity", ["auto", "gaussian", "neighbors", "landmarks"])
def test_a_fit_names_the_row_of_the_user(zero_row, affinity):
    model = GPOD(2, metric="cosine", affinity=affinity)
    assert "Got zeros in row 400; drop" in refused(lambda: model.fit(zero_row))
    weight = np.ones(800)
    weight[:300] = 0
    assert "in row 400;" in refused(lambda: model.fit(zero_row, sample_weight=weight))


@pytest.mark.parametrize(
    "call",
    [
        lambda X: GPOD(2, metric="cosine", affinity="landmarks").fit(Rows.from_array(X)),
        lambda X: GPOD(2, metric="cosine").fit(sparse.csr_array(X)),
        lambda X: select(X, 2, metric="cosine"),
        lambda X: Neighbors(metric="cosine").fit(X),
        lambda X: Gaussian(metric="cosine").fit(X),
    ],
)
def test_and_so_does_whatever_else_fits(zero_row, call):
    assert "Got zeros in row 400;" in refused(lambda: call(zero_row))


@pytest.mark.parametrize("method", ["predict", "transform", "score", "update", "drift"])
def test_a_row_is_counted_among_all_that_were_asked(zero_row, fitted, method):
    many = np.ones((20_000, 5))
    many[19_000] = 0  # far behind the first block that is worked on
    assert "Got zeros in row 19000;" in refused(lambda: getattr(fitted, method)(many))


@pytest.mark.parametrize("ask", [inspection.assess, inspection.assessment.cut_value])
def test_questions_of_risk_name_it_too(zero_row, fitted, frame, ask):
    assert "Got zeros in row 400;" in refused(lambda: ask(fitted, zero_row))
    assert "Got zeros in row 400;" in refused(lambda: ask(fitted, zero_row.tolist()))
    model = of_table(affinity="neighbors").fit(frame.drop(400))
    assert "Got zeros in row 400;" in refused(lambda: ask(model, frame))


def test_a_stream_counts_through_its_blocks(fitted, tmp_path):
    many = np.ones((300_000, 5))
    many[200_000] = 0
    stream = Rows.from_array(many)
    assert "row 200000;" in refused(lambda: fitted.predict_stream(stream, tmp_path / "l.npy"))


def test_values_are_named_by_row_and_column():
    X = pd.DataFrame(np.eye(30, 5), columns=NAMES)
    X.loc[7, "c"] = 3
    message = refused(lambda: GPOD(2, metric="jaccard").fit(X))
    assert "Got 3 in row 7, column 'c'; pass X > 0" in message
    places = np.column_stack([np.linspace(-80, 80, 60), np.linspace(0, 90, 60)])
    places[33, 0] = 95
    message = refused(lambda: GPOD(2, metric="haversine").fit(places))
    assert "latitude from -90 to 90" in message and "Got 95 in row 33, column 0; give" in message


@pytest.fixture(scope="module")
def frame(zero_row):
    found = pd.DataFrame(zero_row.copy(), columns=NAMES)  # which older pandas writes through
    found.loc[3, "a"] = np.nan
    return found


def of_table(**more):
    return TableModel(GPOD(2, metric="cosine", **more), scale="none", missing="drop")


def test_a_table_counts_rows_that_were_left_out(frame):
    assert "Got zeros in row 400;" in refused(lambda: of_table().fit(frame))
    blocks = Rows(lambda: [frame.iloc[:100], frame.iloc[100:]])
    assert "in row 400;" in refused(lambda: of_table(affinity="landmarks").fit(blocks))


@pytest.mark.parametrize(
    "method", ["predict", "answers", "score", "transform", "drift", "update", "describe"]
)
def test_and_when_it_is_asked(frame, method):
    model = of_table(affinity="neighbors").fit(frame.drop(400))
    assert "Got zeros in row 400;" in refused(lambda: getattr(model, method)(frame))


@pytest.mark.parametrize("model", [GPOD(2, metric="cosine", affinity="neighbors"), of_table()])
def test_rows_are_named_by_the_index_of_a_frame(zero_row, model):
    there = pd.DataFrame(zero_row, columns=NAMES, index=[f"id{i}" for i in range(len(zero_row))])
    assert "Got zeros in row id400;" in refused(lambda: model.fit(there))
    fitted = model.fit(there.drop("id400"))
    assert "Got zeros in row id400;" in refused(lambda: fitted.predict(there))
    assert "Got zeros in row id400;" in refused(lambda: fitted.update(there))


@pytest.mark.parametrize("model", [GPOD(2), TableModel(GPOD(2))])
@pytest.mark.parametrize("cell", [np.nan, np.inf])
def test_and_so_are_cells(model, cell):
    frame = pd.DataFrame({"a": [1.0, 2, cell, 4]}, index=[7, 8, 9, 10])
    with pytest.raises(ValueError, match=r"\brow 9\b"):
        model.fit(frame)


def test_words_are_several_columns_of_a_model():
    X = pd.DataFrame({"n": [0.0, 1] * 20, "w": ["x", "y", "z", "z"] * 10})
    model = TableModel(GPOD(2, metric="jaccard"), scale="none")
    message = refused(lambda: model.fit(X))
    assert "in row 0;" in message


def test_a_refusal_comes_through_processes():
    error = RefusedRow("X must be.", "0", "do", 3, 1, sets_as_rows)
    again = pickle.loads(pickle.dumps(error.at("line 4", "x")))
    assert str(again) == "X must be. Got 0 in line 4, column 'x'; do." and again.row == 3


# ------------------------------------------------------------------------------- the command line


@pytest.fixture
def said(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def run(command):
        assert main(command.split()) == 1
        return capsys.readouterr().err

    return run


def write(path, X, names, blank=()):
    lines = [",".join(names)]
    for i, row in enumerate(X):
        lines += [""] * (i in blank) + [",".join(repr(float(value)) for value in row)]
    path.write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize("options", ["", "--landmarks 40", "--affinity gaussian", "--missing drop"])
def test_a_fit_names_the_line(said, tmp_path, zero_row, options):
    X = zero_row.copy()
    X[12, 1] = np.nan if "drop" in options else 1
    write(tmp_path / "data.csv", X, NAMES, blank=[10])
    message = said(f"fit data.csv -k 2 --metric cosine {options} -o m.eigencut")
    assert "Got zeros in line 403; drop such rows" in message


def test_other_commands_name_the_line(said, tmp_path, zero_row, fitted):
    write(tmp_path / "data.csv", zero_row, NAMES, blank=[10])
    fitted.save(tmp_path / "m.eigencut")
    frame = pd.DataFrame(np.delete(zero_row, 400, axis=0), columns=NAMES)
    of_table(affinity="neighbors").fit(frame).save(tmp_path / "m.eigencut")
    for command in (
        "select data.csv -k 2 --metric cosine",
        "predict m.eigencut data.csv -o l.csv",
        "predict m.eigencut data.csv --margin -o l.csv",
        "assess m.eigencut data.csv",
        "describe m.eigencut data.csv",
        "drift m.eigencut data.csv",
        "update m.eigencut data.csv -o n.eigencut",
    ):
        assert "Got zeros in line 403;" in said(command), command


def test_values_are_named_by_line_and_column(said, tmp_path):
    places = np.column_stack([np.linspace(-80, 80, 60), np.linspace(0, 90, 60)])
    places[33, 0] = 95
    write(tmp_path / "data.csv", places, ["lat", "lon"])
    message = said("fit data.csv -k 2 --metric haversine -o m.eigencut")
    assert "Got 95 in line 35, column 'lat'; give latitude" in message
    sets = np.eye(60, 5)
    sets[7, 2] = 3
    write(tmp_path / "data.csv", sets, NAMES)
    message = said("fit data.csv -k 2 --metric jaccard -o m.eigencut")
    assert "Got 3 in line 9, column 'c'; pass X > 0" in message


@pytest.mark.parametrize("n_rows", [100, 60_000])  # the latter is for pyarrow
@pytest.mark.parametrize("options", ["", "--landmarks 20"])
def test_missing_and_infinite_values_are_named_by_line_and_column(said, tmp_path, n_rows, options):
    X = np.random.default_rng(0).normal(size=(n_rows, 2))
    X[n_rows - 3, 1] = np.inf
    write(tmp_path / "data.csv", X, ["a", "b"], blank=[10, 50])
    message = said(f"fit data.csv -k 2 {options} -o m.eigencut")
    assert f"Got infinity in 'b', line {n_rows + 1};" in message
    X[n_rows - 3, 1] = X[n_rows - 2, 0] = np.nan
    write(tmp_path / "data.csv", X, ["a", "b"], blank=[10, 50])
    message = said(f"fit data.csv -k 2 {options} -o m.eigencut")
    assert f"Got some in 'a', 'b', first in line {n_rows + 1}, column 'b';" in message
