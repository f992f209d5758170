"""``eigencut fit --known``: a column of the table has the classes of some rows."""

import csv
import json
import re

import numpy as np
import pytest

from eigencut import GPOD, TableModel, load
from eigencut.cli import main


@pytest.fixture
def mails():
    """Rows of three kinds, and the classes of some of them."""
    rng = np.random.default_rng(0)
    kind = np.arange(120) % 3
    X = rng.normal(size=(120, 2)) + 8 * np.column_stack([kind == 1, kind == 2])
    return X, np.where(rng.random(120) < 0.2, kind, -1), kind


def write(path, X, cells):
    lines = [f"{a!r},{c},{b!r}" for (a, b), c in zip(X.tolist(), cells, strict=True)]
    path.write_text("\n".join(["a,kind,b", *lines]) + "\n")


def fit(folder, *more):
    command = ["fit", str(folder / "mails.csv"), "--known", "kind", "-o", str(folder / "model")]
    return main([*command, *more])


def test_words_are_kept(mails, tmp_path, capsys):
    X, known, _ = mails
    names = ["ham", "spam", "zine"]
    write(tmp_path / "mails.csv", X, [names[k] if k >= 0 else "" for k in known])
    labels = tmp_path / "labels.csv"
    assert fit(tmp_path, "-k", "4", "--labels", str(labels), "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert said["columns"] == ["a", "b"] and said["class_names"] == names
    expected = TableModel(GPOD(4, random_state=0)).fit(X, known_labels=known)
    model = load(tmp_path / "model")
    assert model.class_names_ == names
    assert (model.predict(X) == expected.predict(X)).all()
    with labels.open() as file:
        written = list(csv.DictReader(file))
    named = [*names, ""]  # of the fourth cluster nothing is known
    assert [row["cluster_name"] for row in written] == [named[k] for k in expected.labels_]
    assert main(["predict", str(tmp_path / "model"), str(tmp_path / "mails.csv"), "--margin"]) == 0
    found = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    assert [row["cluster_name"] for row in found] == [row["cluster_name"] for row in written]


@pytest.mark.parametrize("how", [[], ["--landmarks", "30"]])
def test_numbers_are_the_numbers_of_clusters(mails, how, tmp_path, capsys):
    X, known, kind = mails
    write(tmp_path / "mails.csv", X, known)
    assert fit(tmp_path, "-k", "3", *how) == 0
    model = load(tmp_path / "model")
    assert (model.predict(X) == kind).mean() > 0.95 and model.class_names_ == []
    path = str(tmp_path / "mails.csv")
    assert main(["predict", str(tmp_path / "model"), path, "-o", str(tmp_path / "found.csv")]) == 0
    assert (tmp_path / "found.csv").read_text().startswith("cluster\n")


def test_one_class_and_gaps(mails, tmp_path):
    X, known, kind = mails
    write(tmp_path / "mails.csv", X, ["1" if k == 1 else "" for k in known])
    assert fit(tmp_path, "-k", "3") == 0
    assert (load(tmp_path / "model").predict(X[kind == 1]) == 1).mean() > 0.95


@pytest.mark.parametrize(
    ("cells", "more", "said"),
    [
        ([0.5, -1], [], "which --known names, must hold whole numbers from 0 on.*Got 0.5"),
        (["", -1], [], "must hold the classes of some rows.*Got no class at all"),
        (["x", "y", "z", ""], ["-k", "2"], r"-k must be at least.*3 \(x, y, z\). Got 2"),
        (["x", ""], ["--weights", "kind"], "--weights and --known both name 'kind'"),
        (["x", ""], ["--known", "sort"], "has no column 'sort', which --known names"),
    ],
)
def test_mistakes_are_named(mails, cells, more, said, tmp_path, capsys):
    write(tmp_path / "mails.csv", mails[0], [cells[i % len(cells)] for i in range(120)])
    assert fit(tmp_path, *more) != 0
    assert re.search(said, capsys.readouterr().err) and not (tmp_path / "model").exists()
