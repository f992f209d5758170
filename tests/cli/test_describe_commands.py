"""describe, hierarchy and recluster on files: what the library says, and mistakes by name."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from eigencut import GPOD, Gaussian, Landmarks, TableModel, load, recluster
from eigencut.cli import main

pytestmark = pytest.mark.filterwarnings("ignore::eigencut.GraphWarning")

RNG = np.random.default_rng(0)
TRUE = RNG.integers(0, 3, 90)
FRAME = pd.DataFrame(
    {
        "km": np.array([0.0, 9, 40])[TRUE] + RNG.normal(size=90).round(3),
        "t": np.array([0.0, 5, 5])[TRUE] + RNG.normal(size=90).round(3),
        "text": [["engine car", "moon orbit", "bread, oven"][k] for k in TRUE],
    }
)
COLUMNS = ["km", "t"]


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    FRAME.to_csv("data.csv", index=False)
    TableModel(GPOD(3, affinity=Gaussian(0.5))).fit(FRAME[COLUMNS]).save("m.eigencut")


def printed(capsys, *arguments):
    code = main(list(arguments))
    found = capsys.readouterr()
    return code, found.out, found.err


def on_lines(description):
    """The same with rows named as the command line names them: the header is line 1."""
    clusters = []
    for one in description.clusters:
        typical = [replace(row, place=f"line {row.row + 2}") for row in one.typical]
        clusters.append(replace(one, typical=tuple(typical)))
    return replace(description, clusters=tuple(clusters))


def test_describe_explains_outliers(capsys):
    new = FRAME[COLUMNS].copy()
    new.loc[4, COLUMNS[0]] = 1e6
    new.to_csv("new.csv", index=False)
    code, out, _ = printed(capsys, "describe", "m.eigencut", "new.csv", "--outliers")
    assert code == 0 and "  line 6, nearest to cluster" in out and f"{COLUMNS[0]} 1000000 (" in out
    arguments = ["describe", "m.eigencut", "new.csv", "--outliers", "--json"]
    rows = json.loads(printed(capsys, *arguments)[1])["outliers"]["rows"]
    assert rows[0]["row"] == 4 and rows[0]["values"] == {COLUMNS[0]: 1e6}


def test_describe_says_what_the_library_says(capsys):
    known = on_lines(load("m.eigencut").describe(FRAME[COLUMNS]))
    code, out, err = printed(capsys, "describe", "m.eigencut", "data.csv")
    assert (code, out, err) == (0, f"{known}\n", "")
    code, out, _ = printed(capsys, "describe", "m.eigencut", "data.csv", "--json")
    assert code == 0 and json.loads(out) == json.loads(json.dumps(known.to_dict()))


def test_describe_with_documents(capsys):
    options = ["--documents", "text", "--json"]
    code, out, _ = printed(capsys, "describe", "m.eigencut", "data.csv", *options)
    found = json.loads(out)
    assert code == 0
    words = sorted(cluster["words"][0]["word"] for cluster in found["clusters"])
    assert words == ["bread", "car", "moon"]


def test_hostile_names_move_no_cursor(capsys):
    hostile = {"km": "km\x1b[2J", "t": "t\u202e"}
    frame = FRAME[COLUMNS].rename(columns=hostile)
    frame.to_csv("h.csv", index=False)
    TableModel(GPOD(3, affinity=Gaussian(0.5))).fit(frame).save("h.eigencut")
    for more in ([], ["--json"]):
        code, out, _ = printed(capsys, "describe", "h.eigencut", "h.csv", *more)
        assert code == 0 and all(line.isprintable() for line in out.split("\n"))


def test_hierarchy_needs_no_table(capsys):
    known = load("m.eigencut").hierarchy()
    code, out, _ = printed(capsys, "hierarchy", "m.eigencut")
    assert (code, out) == (0, f"{known}\n")
    code, out, _ = printed(capsys, "hierarchy", "m.eigencut", "--json")
    found = json.loads(out)
    assert found["groups"]["2"] == known.labels(2).tolist() and found["exact"] is True


def test_recluster_predict_describe_and_info(capsys):
    arguments = ["recluster", "m.eigencut", "data.csv", "--cluster", "2", "-o", "finer.eigencut"]
    code, out, _ = printed(capsys, *arguments)
    known = recluster(load("m.eigencut"), FRAME[COLUMNS], cluster=2)
    assert code == 0 and out.startswith("Cluster 2 is now 2 (") and "3 (" in out
    labels = known.predict(FRAME[COLUMNS])
    options = ["--margin", "--proba", "--support", "-o", "labels.csv"]
    assert printed(capsys, "predict", "finer.eigencut", "data.csv", *options)[0] == 0
    written = pd.read_csv("labels.csv")
    assert written["cluster"].tolist() == labels.tolist()
    assert list(written) == ["cluster", "margin", "support", "p0", "p1", "p2", "p3"]
    code, out, _ = printed(capsys, "describe", "finer.eigencut", "data.csv", "--json")
    sizes = [cluster["size"] for cluster in json.loads(out)["clusters"]]
    assert sizes == np.bincount(labels, minlength=4).tolist()
    code, out, _ = printed(capsys, "info", "finer.eigencut", "--json")
    found = json.loads(out)
    assert found["n_clusters"] == 4 and found["columns"] == COLUMNS
    assert found["class"] == "Reclustered"


def test_recluster_of_a_model_from_python(capsys):
    recluster(GPOD(3, affinity=Gaussian(3.0)).fit(FRAME[COLUMNS]), cluster=0).save("p.eigencut")
    code, out, _ = printed(capsys, "predict", "p.eigencut", "data.csv")
    known = load("p.eigencut").predict(FRAME[COLUMNS])
    assert code == 0 and list(map(int, out.split()[1:])) == known.tolist()


ON_DATA = ["m.eigencut", "data.csv"]
MISTAKES = [
    ("describe", [*ON_DATA, "--documents", "body"], 1, "no column 'body', which --documents names"),
    ("describe", ["m.eigencut", "other.csv"], 1, "It lacks 'km'"),
    (
        "describe",
        ["m.eigencut", "bad.csv"],
        1,
        "must hold numbers. Got 'far' in line 3",
    ),
    ("describe", ["m.eigencut"], 2, "Missing argument 'TABLE'"),
    ("describe", ["data.csv", "data.csv"], 1, "it is not a model saved by eigencut"),
    ("hierarchy", ["none.eigencut"], 1, "there is no such file"),
    ("recluster", [*ON_DATA, "-o", "f.eigencut"], 2, "--cluster"),
    ("recluster", [*ON_DATA, "--cluster", "7", "-o", "f.eigencut"], 1, "from 0 to 2. Got 7"),
    ("recluster", [*ON_DATA, "--cluster", "0", "-o", "m.eigencut"], 2, "is the input"),
    ("recluster", ["l.eigencut", "--cluster", "0", "-o", "f.eigencut"], 1, "command line: a TABLE"),
    ("assess", ["finer.eigencut"], 1, "a model whose clusters were split"),
    ("export", ["finer.eigencut", "-o", "f.onnx"], 1, "a model whose clusters were split"),
]


@pytest.mark.parametrize(("command", "arguments", "code", "said"), MISTAKES)
def test_mistakes_are_named(command, arguments, code, said, capsys, tmp_path):
    pd.DataFrame({"t": [1.0], "x": [2.0]}).to_csv("other.csv", index=False)
    pd.DataFrame({"km": ["1", "far"], "t": [1, 2]}).to_csv("bad.csv", index=False)
    recluster(load("m.eigencut"), FRAME[COLUMNS], cluster=2).save("finer.eigencut")
    TableModel(GPOD(3, affinity=Landmarks(20))).fit(FRAME[COLUMNS]).save("l.eigencut")
    found, out, err = printed(capsys, command, *arguments)
    assert found == code and said in err and not out
    assert not (tmp_path / "f.eigencut").exists()


def test_recluster_needs_no_table_where_the_model_has_its_rows(capsys):
    named = printed(capsys, "recluster", *ON_DATA, "--cluster", "2", "-o", "a.eigencut", "--json")
    kept = printed(
        capsys, "recluster", "m.eigencut", "--cluster", "2", "-o", "b.eigencut", "--json"
    )
    assert named[0] == kept[0] == 0
    named, kept = json.loads(named[1]), json.loads(kept[1])
    assert (named["parts"], named["sizes"]) == (kept["parts"], kept["sizes"])
    found = [load(f"{name}.eigencut").predict(FRAME[COLUMNS]) for name in "ab"]
    assert (found[0] == found[1]).all()
