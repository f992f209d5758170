"""``eigencut align``: numbers of clusters as another model has them."""

import json

import numpy as np
import pytest

from eigencut import load
from eigencut.cli.run import run

CENTRES = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]])


@pytest.fixture
def months(tmp_path):
    """Two months with clusters of other sizes, columns in another order; and their models."""
    for month, sizes, header in (("may", [90, 60, 30], "a,b"), ("june", [30, 60, 90], "b,a")):
        rng = np.random.default_rng(len(month))
        X = np.repeat(CENTRES, sizes, axis=0) + rng.normal(size=(180, 2))
        path = tmp_path / f"{month}.csv"
        columns = X if header == "a,b" else X[:, ::-1]
        np.savetxt(path, columns, delimiter=",", header=header, comments="")
        assert run(["fit", str(path), "-k", "3", "-o", str(tmp_path / month)]) == 0
    return tmp_path


@pytest.mark.parametrize("table", [[], ["june.csv"]], ids=["kept rows", "table"])
def test_clusters_get_the_numbers_of_the_reference(months, table, capsys):
    may, june = str(months / "may"), str(months / "june")
    capsys.readouterr()
    given = [str(months / name) for name in table]
    assert run(["align", june, may, *given, "-o", june, "--json"]) == 0  # onto itself
    said = json.loads(capsys.readouterr().out)
    assert said["numbers"] == {"0": 2, "1": 1, "2": 0} and said["new"] == []
    places = CENTRES[:, ::-1]  # b, a
    assert load(june).predict(places).tolist() == load(may).predict(CENTRES).tolist() == [0, 1, 2]


def test_mistakes_are_said(months, capsys):
    may, june = str(months / "may"), str(months / "june")
    assert run(["align", june, may, "-o", may]) == 2
    assert "is the input" in capsys.readouterr().err
    (months / "other.csv").write_text("a,c\n" + "".join(f"{i},{i % 7}\n" for i in range(40)))
    other = str(months / "other")
    assert run(["fit", str(months / "other.csv"), "-k", "2", "-o", other]) == 0
    assert run(["align", other, may, "-o", other]) == 1
    assert "Got a TableModel of 'a', 'c' and a TableModel of 'a', 'b'" in capsys.readouterr().err
