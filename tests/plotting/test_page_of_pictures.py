"""Every line of the table of docs/plots.md draws a picture that is not empty."""

import re
from pathlib import Path

import matplotlib.pyplot as plt
import pytest
from sklearn.datasets import make_moons

import eigencut
from eigencut import GPOD, plotting
from pictures import check_picture

PAGE = (Path(__file__).parents[2] / "docs" / "plots.md").read_text(encoding="utf-8")
LINES = re.findall(r"^\| [^|]+\| `(\w+Display\..*)` \|$", PAGE, re.M)
X, _ = make_moons(400, noise=0.07, random_state=0)
NAMES = {
    "eigencut": eigencut,
    "model": GPOD(2).fit(X),
    "relaxed": GPOD(2, solver="relaxed").fit(X),
    "X": X,
    "X_new": make_moons(80, noise=0.15, random_state=1)[0],
    **{name: getattr(plotting, name) for name in plotting.__all__ if name.endswith("Display")},
}


@pytest.mark.parametrize("line", LINES)
def test_a_line_of_the_table_draws_a_picture(line):
    display = eval(compile(line, "docs/plots.md", "eval"), dict(NAMES))
    check_picture(display.figure_)
    plt.close(display.figure_)


def test_every_display_has_a_line():
    assert {line.split(".")[0] for line in LINES} == {n for n in NAMES if n.endswith("Display")}
