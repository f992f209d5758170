"""The nightly job: ``eigencut drift`` and ``eigencut update``, from the command line only."""

import json

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
    assert run(["update", model, monday, "-o", model, "--decay", "2"]) == 2
    assert "must be a number above 0 and at most 1" in capsys.readouterr().err
    (night / "other.csv").write_text("income\n1\n2\n")
    content = (night / "model.eigencut").read_bytes()
    assert run(["update", model, str(night / "other.csv"), "-o", model]) == 1
    assert "It has no 'age'" in capsys.readouterr().err
    assert (night / "model.eigencut").read_bytes() == content
