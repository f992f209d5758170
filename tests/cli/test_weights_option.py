"""``--weights``: a column of the table says what each row counts."""

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
        ("1.0,-2,3.0", "column 'people' must be finite numbers of at least 0. Got -2 in line 5;"),
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


def repeated_rows(X, people, tmp_path):
    """The same rows as a table without weights, each as often as it counts."""
    path = tmp_path / "repeated.csv"
    lines = [f"{x!r},{y!r}" for x, y in np.repeat(X, people, axis=0).tolist()]
    path.write_text("\n".join(["a,b", *lines]) + "\n")
    return path


def said_by(command, capsys):
    assert main([*map(str, command), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def numbers_in(said):
    """All numbers of a JSON object, one after the other."""
    if isinstance(said, dict):
        said = list(said.values())
    if isinstance(said, list):
        return [number for part in said for number in numbers_in(part)]
    return [said] if isinstance(said, int | float) else []


def test_select_counts_rows_as_often_as_they_weigh(survey, tmp_path, capsys):
    path, X, people = survey
    how = ["-k", "2-4"]
    weighted = said_by(["select", path, "--weights", "people", *how], capsys)
    repeated = said_by(["select", repeated_rows(X, people, tmp_path), *how], capsys)
    assert weighted["n_clusters"] == repeated["n_clusters"] == 2
    for one, other in zip(weighted["choices"], repeated["choices"], strict=True):
        assert one["score"] == pytest.approx(other["score"], rel=1e-6)
    plain = said_by(["select", path, "--drop", "people", *how], capsys)
    assert plain["choices"][0]["score"] != pytest.approx(weighted["choices"][0]["score"])


@pytest.mark.parametrize("how", [["--landmarks", "20"], ["--sigma", "1"]], ids=["stream", "rows"])
def test_update_counts_rows_as_often_as_they_weigh(survey, how, tmp_path, capsys):
    path, X, people = survey
    model, one, other = (tmp_path / f"{name}.eigencut" for name in ("model", "one", "other"))
    first = repeated_rows(X, np.ones(len(X), dtype=int), tmp_path)
    said_by(["fit", first, "-k", "2", *how, "-o", model], capsys)
    said_by(["update", model, path, "--weights", "people", "-o", one], capsys)
    said_by(["update", model, repeated_rows(X, people, tmp_path), "-o", other], capsys)
    one, other = load(one), load(other)
    assert one.model_.affinity_.n_rows_ == 80 + people.sum()
    assert (one.predict_proba(X) == other.predict_proba(X)).all()
