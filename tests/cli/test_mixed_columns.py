"""Words, dates and orders from the command line: as in Python, in memory and as a stream."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score

from eigencut import GPOD, TableModel, load
from eigencut.cli import main

ORDER = ["small", "medium", "large"]
SAYS = ["--ordered", "size=small<medium<large", "--date", "joined", "--categorical", "zip"]


@pytest.fixture
def frame(tmp_path):
    rng = np.random.default_rng(0)
    clusters = np.arange(150) % 3
    frame = pd.DataFrame(
        {
            "who": [f"customer {i}" for i in range(150)],
            "age": (30 + 15.0 * clusters + rng.normal(0, 3, 150)).round(2),
            "size": np.array(ORDER)[clusters],
            "town": np.array(["Rome", "Oslo", "Bonn, Rhine"])[clusters],
            "zip": np.array([100, 200, 300])[rng.permutation(clusters)],
            "member": rng.random(150) < 0.2 + 0.3 * clusters,
            "joined": [f"2020-0{1 + 3 * k}-{10 + i % 9}" for i, k in enumerate(clusters)],
            "cluster": clusters,
        }
    )
    frame.drop(columns="cluster").to_csv(tmp_path / "t.csv", index=False)
    frame.drop(columns="cluster").to_parquet(tmp_path / "t.parquet")
    return frame


def fit(folder, kind, *more):
    line = ["fit", f"{folder}/t.{kind}", "-k", "3", "--id", "who", "--quiet", "--json", *SAYS]
    return main([*line, "-o", f"{folder}/m.eigencut", *more])


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_fit_is_that_of_python(frame, tmp_path, capsys, kind):
    assert fit(tmp_path, kind, "--labels", f"{tmp_path}/l.csv") == 0
    told = json.loads(capsys.readouterr().out)
    kinds = ["numeric", "ordered", "categorical", "categorical", "boolean", "date"]
    assert told["kinds"] == kinds
    columns = {"size": ORDER, "joined": "date", "zip": "categorical"}
    data = frame.drop(columns=["who", "cluster"])
    expected = TableModel(GPOD(3, random_state=0), columns=columns).fit(data)
    labels = pd.read_csv(tmp_path / "l.csv")
    assert (labels["cluster"] == expected.labels_).all()
    assert labels["who"].tolist() == frame["who"].tolist()
    assert adjusted_rand_score(frame["cluster"], labels["cluster"]) > 0.95
    model = load(tmp_path / "m.eigencut")
    assert model.columns == columns and str(model.summary()) == str(expected.summary())


def test_the_summary_is_printed_where_columns_are_not_all_numbers(frame, tmp_path, capsys):
    line = ["fit", f"{tmp_path}/t.csv", "-k", "3", "--drop", "who", "-o", f"{tmp_path}/m"]
    assert main([*line, *SAYS]) == 0
    said = capsys.readouterr().out
    assert "column  kind         found" in said
    assert "town    categorical  Bonn, Rhine, Oslo, Rome" in said
    assert main([*line, "--drop", "size,town,member,joined"]) == 0
    assert "kind" not in capsys.readouterr().out


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_stream_and_new_rows(frame, tmp_path, capsys, kind):
    labels = ["--labels", f"{tmp_path}/l.csv"]
    assert fit(tmp_path, kind, "--landmarks", "40", *labels) == 0
    found = pd.read_csv(tmp_path / "l.csv")["cluster"]
    assert adjusted_rand_score(frame["cluster"], found) > 0.95
    line = ["predict", f"{tmp_path}/m.eigencut", f"{tmp_path}/t.parquet"]
    assert main([*line, "-o", f"{tmp_path}/p.csv", "--quiet"]) == 0
    assert (pd.read_csv(tmp_path / "p.csv")["cluster"] == found).all()
    # A town that nobody has seen is no reason to fail, and changes little.
    frame.assign(town="Lima").drop(columns="cluster").to_csv(tmp_path / "new.csv", index=False)
    line = ["predict", f"{tmp_path}/m.eigencut", f"{tmp_path}/new.csv"]
    assert main([*line, "-o", f"{tmp_path}/p.csv", "--quiet"]) == 0
    assert adjusted_rand_score(found, pd.read_csv(tmp_path / "p.csv")["cluster"]) > 0.9


def test_other_commands_read_words_too(frame, tmp_path, capsys):
    assert fit(tmp_path, "csv") == 0
    capsys.readouterr()
    model, table = f"{tmp_path}/m.eigencut", f"{tmp_path}/t.csv"
    assert main(["info", model]) == 0
    assert "size (ordered), town (categorical), zip (categorical)" in capsys.readouterr().out
    assert main(["assess", model, table, "--quiet"]) == 0
    assert "150 held-out rows" in capsys.readouterr().out
    assert main(["select", table, "-k", "2-3", "--drop", "who", "--quiet", *SAYS, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["n_clusters"] in (2, 3)
    assert main(["describe", model, table, "--quiet"]) == 0
    said = capsys.readouterr().out
    assert "town" in said and ("Rome" in said or "Oslo" in said)
    capsys.readouterr()
    assert main(["export", model, "-o", f"{tmp_path}/m.onnx"]) == 1
    assert "Got other kinds in 'size', 'town'" in capsys.readouterr().err
