"""The nightly job: ``eigencut drift`` and ``eigencut update``, from the command line only."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from eigencut import TableModel, load
from eigencut.cli.run import run

CENTRES = np.array([[0.0, 0.0], [7.0, 0.0], [0.0, 7.0]])


def write(path, n, seed, centres=CENTRES):
    rng = np.random.default_rng(seed)
    X = centres[rng.integers(len(centres), size=n)] + rng.normal(size=(n, 2))
    table = X * [100, 1] + [5000, 40]
    np.savetxt(path, table, delimiter=",", header="income,age", comments="")
    return str(path)


@pytest.fixture
def night(tmp_path):
    write(tmp_path / "monday.csv", 900, 0)
    write(tmp_path / "tuesday.csv", 300, 1)
    write(tmp_path / "wednesday.csv", 400, 2, np.vstack([CENTRES, [[20.0, 20.0]]]))
    return tmp_path


@pytest.mark.filterwarnings("ignore::eigencut.exceptions.GraphWarning")
@pytest.mark.parametrize("landmarks", [["--landmarks", "40"], []], ids=["landmarks", "rows"])
def test_a_nightly_job(night, capsys, landmarks):
    model, new = str(night / "model.eigencut"), str(night / "new.eigencut")
    assert run(["fit", str(night / "monday.csv"), "-k", "auto", *landmarks, "-o", model]) == 0
    before = load(model).predict(CENTRES * [100, 1] + [5000, 40])
    capsys.readouterr()
    tuesday, wednesday = str(night / "tuesday.csv"), str(night / "wednesday.csv")
    assert run(["drift", model, tuesday, "--alarm", "0.001"]) == 0
    assert "No sign of drift" in capsys.readouterr().out
    assert run(["drift", model, wednesday, "--alarm", "0.001", "--json"]) == 3
    found = json.loads(capsys.readouterr().out)
    assert found["has_drifted"] and abs(found["new_cluster"]["centre"][0] - 7000) < 50
    assert run(["update", model, tuesday, "-o", model]) == 0  # onto itself
    assert "The model is in" in capsys.readouterr().out
    assert run(["update", model, wednesday, "-o", new, "--decay", "0.9", "--json"]) == 0
    updated = json.loads(capsys.readouterr().out)
    assert updated["new"] == [3] and updated["kept"] == [0, 1, 2] and not updated["retired"]
    after = load(new)
    assert isinstance(after, TableModel)
    assert (after.predict(CENTRES * [100, 1] + [5000, 40]) == before).all()
    assert after.predict([[7000, 60]]) == 3


def test_mistakes_are_said(night, capsys):
    model = str(night / "model.eigencut")
    monday = str(night / "monday.csv")
    assert run(["fit", monday, "-k", "3", "--landmarks", "20", "-o", model]) == 0
    assert run(["update", model, monday, "-o", monday]) == 2
    assert run(["update", model, monday, "-o", model, "--decay", "2"]) == 1
    assert "must be a number above 0 and at most 1" in capsys.readouterr().err
    (night / "other.csv").write_text("income\n1\n2\n")
    content = (night / "model.eigencut").read_bytes()
    assert run(["update", model, str(night / "other.csv"), "-o", model]) == 1
    assert "It lacks 'age'" in capsys.readouterr().err
    assert (night / "model.eigencut").read_bytes() == content


@pytest.fixture
def script(tmp_path):
    """The script of the page, with ``eigencut`` and ``mail`` that it finds."""
    page = Path(__file__).parents[2] / "docs" / "guide" / "updates.md"
    (text,) = re.findall(r"```sh\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "nightly.sh").write_text(text)
    commands = {"eigencut": f'exec {sys.executable} -m eigencut "$@"', "mail": "cat > mail.txt"}
    (tmp_path / "bin").mkdir()
    for name, line in commands.items():
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{line}\n")
        (tmp_path / "bin" / name).chmod(0o755)
    path = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"

    def nightly(table):
        command = ["sh", "nightly.sh", str(table)]
        environment = os.environ | {"PATH": path}
        return subprocess.run(
            command, cwd=tmp_path, env=environment, check=False, capture_output=True, text=True
        )

    return nightly


@pytest.mark.skipif(os.name == "nt", reason="a script of a shell")
def test_the_script_of_the_page_goes_on_whatever_the_night(script, tmp_path):
    def night(name, n, seed, centres=CENTRES):
        write(tmp_path / name, n, seed, centres)
        lines = (tmp_path / name).read_text().splitlines()
        named = ["customer," + lines[0], *(f"c{i},{line}" for i, line in enumerate(lines[1:]))]
        (tmp_path / name).write_text("\n".join(named) + "\n")
        return str(tmp_path / name)

    (tmp_path / "in").mkdir()
    model = ["-k", "auto", "--landmarks", "40", "--id", "customer", "--missing", "median"]
    january = night("january.csv", 1500, 0)
    assert run(["fit", january, *model, "-o", str(tmp_path / "model.eigencut")]) == 0
    usual, one = night("in/usual.csv", 200, 1), night("in/one.csv", 1, 2)
    for name, table in (("usual", usual), ("one", one)):
        found = script(table)
        assert found.returncode == 0, found.stderr
        assert (tmp_path / f"labels-{name}.csv").exists() and not (tmp_path / "mail.txt").exists()
    before = (tmp_path / "model.eigencut").read_bytes()
    for text in ("customer,income,age\n", ""):
        (tmp_path / "in" / "empty.csv").write_text(text)
        found = script("in/empty.csv")
        assert found.returncode == 0 and re.search("has no rows|is empty", found.stderr)
        assert (
            run(
                [
                    "update",
                    str(tmp_path / "model.eigencut"),
                    str(tmp_path / "in/empty.csv"),
                    "-o",
                    str(tmp_path / "model.eigencut"),
                ]
            )
            == 2
        )
    assert (tmp_path / "model.eigencut").read_bytes() == before
    assert script("in/missing.csv").returncode == 1
    assert script(night("in/new.csv", 400, 3, CENTRES + 30)).returncode == 0
    assert "The rows have drifted" in (tmp_path / "mail.txt").read_text()


def test_no_alarm_by_p_values_that_do_not_hold(night, capsys):
    model = str(night / "model.eigencut")
    assert run(["fit", str(night / "monday.csv"), "-k", "3", "--landmarks", "90", "-o", model]) == 0
    capsys.readouterr()
    assert run(["drift", model, str(night / "wednesday.csv"), "--alarm", "0.001"]) == 0
    said = capsys.readouterr()
    assert "Too few rows for each landmark" in said.out and "fewer landmarks" in said.err
