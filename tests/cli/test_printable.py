"""What files say cannot move a cursor, hide a line, or run in a spreadsheet."""

import json
import os
import pty
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eigencut import GPOD, TableModel
from eigencut.cli import main
from eigencut.cli.outputs import json_text, spreadsheet_safe
from eigencut.exceptions import printable

HOSTILE = ["a\x1b[2J\x1b[31mred", "b\nclusters     99\x07", "c\u202etxt\x0b\x9b5A\u2028d"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    X = np.random.default_rng(0).normal(size=(40, 3)) + 6 * (np.arange(40) % 2)[:, np.newaxis]
    frame = pd.DataFrame(X, columns=HOSTILE)
    TableModel(GPOD(2)).fit(frame).save(folder / "hostile")
    plain = pd.DataFrame(X[:, :2], columns=["x", "y"])
    TableModel(GPOD(2)).fit(plain).save(folder / "plain")
    names = ["=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(1)", "\t=1", "-12.5", "x\x1b[31m"]
    plain.insert(0, "=id", [*names, *map(str, range(33))])
    plain.to_csv(folder / "t.csv", index=False)
    frame.to_csv(folder / "h.csv", index=False)
    return folder


@pytest.mark.parametrize(
    "line",
    [
        "info hostile",
        "info hostile --json",
        "assess hostile",
        "assess hostile h.csv --json",
        "export hostile -o x.onnx",
        "export hostile -o x.onnx --json",
        "fit h.csv -k 2 -o new",
        "fit h.csv -k 2 -o new --json",
        "predict hostile t.csv",
        "predict plain h.csv",
        "info no\x1b[31mthing",
        "info \x1b[31m --x\x1b[31m",
        "f\x1b[31mit",
        "fit t.csv -k \x1b[31m -o new",
        "fit t.csv --columns \x1b[31m -o new",
    ],
)
def test_nothing_but_text_reaches_a_terminal(folder, monkeypatch, capfd, line):
    monkeypatch.chdir(folder)
    main(line.split(" "))
    said = capfd.readouterr()
    assert all(part.isprintable() for part in (said.out + said.err).split("\n"))
    if line == "info hostile":
        assert len(said.out.splitlines()) == 8  # no line is a name's
    if line.endswith("--json"):
        assert json.loads(said.out)


def test_long_names_fill_no_screen(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{i % 7},{3 * i % 11}\n" for i in range(60))
    (tmp_path / "long.csv").write_text(f"{'a' * 100_000},b\n{rows}", encoding="utf-8")
    assert main(["fit", "long.csv", "-k", "2", "-o", "m"]) == 0
    for line in (["info", "m"], ["describe", "m", "long.csv"], ["drift", "m", "long.csv"]):
        assert main(line) == 0
    said = capfd.readouterr()
    assert "aaa..." in said.out and len(said.out + said.err) < 10_000


def test_json_means_the_same(folder, monkeypatch, capfd):
    monkeypatch.chdir(folder)
    assert main(["info", "hostile", "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["columns"] == HOSTILE


@given(st.text())
def test_escapes(text):
    assert printable(text).isprintable()
    assert printable(text, also="\n").replace("\n", "").isprintable()
    line = json_text({text: [text]})
    assert line.isprintable() and json.loads(line) == {text: [text]}
    if text.isprintable():
        assert printable(text) == text


def test_names_of_rows_are_as_they_are_in_files_and_escaped_on_a_terminal(folder, monkeypatch):
    monkeypatch.chdir(folder)
    assert main(["predict", "plain", "t.csv", "--id", "=id", "-o", "labels.csv"]) == 0
    expected = pd.read_csv("t.csv", dtype=str)["=id"]
    assert pd.read_csv("labels.csv", dtype=str)["=id"].tolist() == expected.tolist()
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "w") as terminal:
        monkeypatch.setattr(sys, "stdout", terminal)
        assert main(["predict", "plain", "t.csv", "--id", "=id"]) == 0
        shown = os.read(ours, 1 << 16).decode()
    os.close(ours)
    assert "x\\x1b[31m," in shown and "\x1b" not in shown


@pytest.mark.parametrize(
    "line",
    [
        "predict plain t.csv --id =id --margin --spreadsheet -o labels.csv",
        "fit t.csv -k 2 --id =id --spreadsheet -o new --labels labels.csv",
        "predict plain t.csv --id =id --spreadsheet -o labels.csv.gz",
    ],
)
def test_formulas_do_not_run_in_spreadsheets(folder, monkeypatch, line):
    monkeypatch.chdir(folder)
    assert main(line.split()) == 0
    found = pd.read_csv(line.split()[-1], dtype=str)
    assert found.columns[0] == "'=id"
    given = pd.read_csv("t.csv", dtype=str)["=id"].tolist()
    expected = [f"'{name}" if name[0] in "=+-@\t" and name != "-12.5" else name for name in given]
    assert found["'=id"].tolist() == expected
    assert set(found["cluster"]) == {"0", "1"}  # numbers stay numbers


@given(st.text())
def test_only_what_may_be_a_formula_is_changed(text):
    safe = spreadsheet_safe(text)
    assert safe in (text, f"'{text}")
    if safe == text and text:
        assert text[0] not in "=@\t\r" and (
            text[0] not in "+-" or text[1:].strip("0123456789.") == ""
        )
