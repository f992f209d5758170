"""eigencut report: a page, a text and JSON from files; mistakes by name."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from eigencut import GPOD, Gaussian, TableModel, load, recluster
from eigencut.cli import main
from eigencut.report import summarize

pytestmark = pytest.mark.filterwarnings("ignore::eigencut.GraphWarning")

RNG = np.random.default_rng(0)
TRUE = RNG.integers(0, 3, 120)
FRAME = pd.DataFrame(
    {
        "km": (np.array([0.0, 9, 40])[TRUE] + RNG.normal(size=120)).round(3),
        "t": (np.array([0.0, 5, 5])[TRUE] + RNG.normal(size=120)).round(3),
        "text": [["engine car", "moon orbit", "bread, oven"][k] for k in TRUE],
    }
)
COLUMNS = ["km", "t"]


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    FRAME[:80].to_csv("data.csv", index=False)
    FRAME[80:].to_csv("new.csv", index=False)
    TableModel(GPOD(3, affinity=Gaussian(0.5))).fit(FRAME[COLUMNS][:80]).save("m.eigencut")


def printed(capsys, *arguments):
    code = main(list(arguments))
    found = capsys.readouterr()
    return code, found.out, found.err


ON_DATA = ["m.eigencut", "data.csv"]
QUICK = ["--refits", "0"]


def test_it_prints_what_the_library_says(capsys):
    how = dict(title="m", n_refits=0, data="rows data.csv, new rows new.csv")
    # Rows are named by their lines, and the header is line 1.
    old, new = (part.set_axis(range(2, len(part) + 2)) for part in (FRAME[:80], FRAME[80:]))
    known = summarize(load("m.eigencut"), old, X_new=new, **how)
    arguments = ["report", *ON_DATA, "--new", "new.csv", *QUICK]
    code, out, err = printed(capsys, *arguments)
    text = re.sub(r"\brow (?=\d)", "line ", str(known))
    assert (code, out.split(), err) == (0, text.split(), "")
    code, out, _ = printed(capsys, *arguments, "--json")
    as_json = json.dumps(known.to_dict()).replace('"row ', '"line ')
    assert code == 0 and json.loads(out) == json.loads(as_json)


def test_it_writes_what_the_name_says(capsys, tmp_path):
    more = ["--documents", "text", "--name", "0=a=b", "--title", "Spring", "--refits", "1"]
    code, out, err = printed(capsys, "report", *ON_DATA, *more, "-o", "r.html", "--quiet")
    assert code == 0 and not err and out.endswith("The report is in r.html\n")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>") and "<title>Spring</title>" in page
    assert "a=b" in page and "oven" in page and "stay in 1 refit on samples" in page
    assert printed(capsys, "report", *ON_DATA, *QUICK, "-o", "r.json")[0] == 0
    assert json.loads((tmp_path / "r.json").read_text())["n_rows"] == 80
    assert printed(capsys, "report", *ON_DATA, *QUICK, "-o", "r.txt")[0] == 0
    assert "3 clusters of 80 rows" in (tmp_path / "r.txt").read_text()


def test_a_model_alone_and_one_whose_clusters_were_split(capsys):
    code, out, _ = printed(capsys, "report", "m.eigencut", *QUICK)
    assert code == 0 and "3 clusters of 80 rows" in out
    recluster(load("m.eigencut"), FRAME[COLUMNS], cluster=2).save("finer.eigencut")
    code, out, _ = printed(capsys, "report", "finer.eigencut", "data.csv")
    assert code == 0 and "4 clusters of 80 rows" in out and "Clusters were split" in out


def test_hostile_names_move_no_cursor(capsys):
    frame = FRAME[COLUMNS].rename(columns={"km": "km\x1b[2J", "t": "t\u202e"})
    frame.to_csv("h.csv", index=False)
    TableModel(GPOD(3, affinity=Gaussian(0.5))).fit(frame).save("h.eigencut")
    for more in ([], ["--json"]):
        arguments = ["report", "h.eigencut", "h.csv", *QUICK, "--name", "0=a\x1b[2J", *more]
        code, out, _ = printed(capsys, *arguments)
        assert code == 0 and all(line.isprintable() for line in out.split("\n"))


MISTAKES = [
    (["none.eigencut"], 1, "no such file"),
    (["data.csv"], 1, "it is not a model saved by eigencut"),
    (["m.eigencut", "other.csv"], 1, "It lacks 'km'"),
    ([*ON_DATA, "--new", "other.csv"], 1, "It lacks 'km'"),
    ([*ON_DATA, "-o", "r.pdf"], 2, "let the name end in .html or .json or .txt"),
    ([*ON_DATA, "-o", "-"], 2, "let the name end in .html or .json or .txt"),
    ([*ON_DATA, "-o", "missing/r.html"], 1, "no such file or directory"),
    ([*ON_DATA, "--name", "regulars"], 2, "like 0=regulars. Got 'regulars'"),
    ([*ON_DATA, "--name", "x=regulars"], 2, "like 0=regulars"),
    ([*ON_DATA, "--name", "0="], 2, "like 0=regulars"),
    ([*ON_DATA, "--name", "7=a"], 1, "names must be of clusters of the model, 0, 1, 2. Got a name"),
    ([*ON_DATA, "--refits", "-1"], 2, "-1 is not in the range x>=0"),
    ([*ON_DATA, "--seed", "x"], 2, "not a valid integer"),
    ([*ON_DATA, "--documents", "body"], 1, "no column 'body', which --documents names"),
    (["m.eigencut", "--documents", "text"], 2, "--documents names a column of TABLE"),
    (["m.eigencut", "-", "--new", "-"], 2, "cannot both be standard input"),
]


@pytest.mark.parametrize(("arguments", "code", "said"), MISTAKES)
def test_mistakes_are_named(arguments, code, said, capsys, tmp_path):
    pd.DataFrame({"t": [1.0], "x": [2.0]}).to_csv("other.csv", index=False)
    before = sorted(path.name for path in tmp_path.iterdir())
    found, out, err = printed(capsys, "report", *arguments)
    assert found == code and said in err and not out
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_two_clusters_of_one_name_are_refused(capsys):
    code, _, err = printed(capsys, "report", *ON_DATA, "--name", "0=a", "--name", "1=a", *QUICK)
    assert code != 0 and "names must be different. Got 'a' for clusters 0 and 1" in err
