"""A cell that is no date among dates is a mistake, and named by line or row."""

import pandas as pd
import pytest

from eigencut import GPOD, TableModel
from eigencut.cli import main

pytestmark = pytest.mark.filterwarnings("ignore::eigencut.exceptions.GraphWarning")


@pytest.fixture
def days(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(n_days, wrong="2024-13-01"):
        cells = [f"2024-{1 + i % n_days // 28:02d}-{1 + i % n_days % 28:02d}" for i in range(300)]
        cells[240] = wrong
        frame = pd.DataFrame({"x": [i % 17 / 7 for i in range(300)], "joined": cells})
        frame.to_csv("d.csv", index=False)
        return frame

    return write


@pytest.mark.parametrize("n_days", [4, 280])  # few different words would pass for categories
@pytest.mark.parametrize("options", ["", "--date joined", "--landmarks 20"])
@pytest.mark.parametrize("wrong", ["2024-13-01", "unknown", "1,5"])
def test_the_bad_cell_is_named(days, n_days, options, wrong, capsys):
    days(n_days, wrong)
    assert main(f"fit d.csv -k 2 {options} -o m.eigencut".split()) == 1
    said = capsys.readouterr().err
    assert f"d.csv: Column 'joined' must hold dates. Got '{wrong}' in line 242;" in said


def test_a_data_frame_names_the_row(days):
    with pytest.raises(ValueError, match=r"'joined' must hold dates. Got '2024-13-01' in row 240"):
        TableModel(GPOD(2)).fit(days(4))


def test_it_may_be_said_that_they_are_words(days, capsys):
    days(4)
    assert main(["fit", "d.csv", "-k", "2", "--categorical", "joined", "-o", "m.eigencut"]) == 0
    days(4, "2024-01-01")
    assert main(["fit", "d.csv", "-k", "2", "-o", "m.eigencut"]) == 0
    assert "joined  date" in capsys.readouterr().out
