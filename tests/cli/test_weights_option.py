"""``eigencut fit --weights``: a column of the table says what each row counts."""

import json

import numpy as np
import pytest

from eigencut import GPOD, Landmarks, TableModel, load
from eigencut.cli import main


@pytest.fixture
def survey(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2)) + 6 * (np.arange(80) % 2)[:, np.newaxis]
    people = rng.integers(0, 9, 80)
    path = tmp_path / "survey.csv"
    lines = [f"{x!r},{w},{y!r}" for (x, y), w in zip(X.tolist(), people, strict=True)]
    path.write_text("\n".join(["a,people,b", *lines]) + "\n")
    return path, X, people


@pytest.mark.parametrize("landmarks", [None, 20])
def test_weights_of_a_table(survey, landmarks, tmp_path, capsys):
    path, X, people = survey
    model = tmp_path / "model.eigencut"
    how = [] if landmarks is None else ["--landmarks", str(landmarks)]
    command = ["fit", str(path), "--weights", "people", "-k", "2", "-o", str(model), "--json"]
    labels = tmp_path / "labels.csv"
    assert main([*command, "--labels", str(labels), *how]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["columns"] == ["a", "b"] and said["rows"] == 80
    assert said["rows_fitted"] == people.sum()
    affinity = "auto" if landmarks is None else Landmarks(landmarks)
    expected = TableModel(GPOD(2, affinity=affinity, random_state=0)).fit(X, sample_weight=people)
    loaded = load(model)
    assert loaded.predict_proba(X) == pytest.approx(expected.predict_proba(X), abs=1e-12)
    written = np.loadtxt(labels, skiprows=1)
    assert len(written) == 80 and (written == expected.labels_).all()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("1.0,-2,3.0", "column 'people' must be finite numbers of at least 0. Got -2 in row 4;"),
        ("1.0,,3.0", "column 'people' must be finite numbers of at least 0. Got a missing value"),
        ("1.0,many,3.0", "people"),
    ],
)
@pytest.mark.parametrize("how", [[], ["--landmarks", "20"]], ids=["memory", "stream"])
def test_bad_weights_are_named(survey, line, said, how, tmp_path, capsys):
    path, _, _ = survey
    lines = path.read_text().splitlines()
    lines[4] = line
    path.write_text("\n".join(lines) + "\n")
    output = tmp_path / "model.eigencut"
    assert main(["fit", str(path), "--weights", "people", "-k", "2", "-o", str(output), *how]) != 0
    assert said in capsys.readouterr().err and not output.exists()


def test_a_column_that_is_not_there_is_named(survey, tmp_path, capsys):
    path, _, _ = survey
    output = tmp_path / "model.eigencut"
    assert main(["fit", str(path), "--weights", "persons", "-k", "2", "-o", str(output)]) != 0
    assert "has no column 'persons', which --weights names" in capsys.readouterr().err
