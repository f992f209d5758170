"""The pictures of docs/plots.md: every line of its table, drawn as it stands there.

Five overlapping clusters; of the new rows most are like those of the fit, and some are not.
"""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from _style import save
from sklearn.datasets import make_blobs

import eigencut
from eigencut import GPOD, plotting

PAGE = Path(__file__).parents[1] / "plots.md"
LINE = re.compile(r"^\| [^|]+\| `((\w+)Display\..*)` \|$", re.M)


def names() -> dict[str, object]:
    """What the lines of the table speak of."""
    rows, _ = make_blobs(1100, centers=5, cluster_std=1.25, random_state=3)
    X, X_new = rows[:900], rows[900:]
    X_new = np.vstack([np.add(X_new, [0.8, 0.0]), [[-13.0, 3.0], [11.0, -9.0], [-12.5, 9.5]]])
    return {
        "eigencut": eigencut,
        "model": GPOD(5).fit(X),
        "relaxed": GPOD(5, solver="relaxed").fit(X),
        "X": X,
        "X_new": X_new,
        **{name: getattr(plotting, name) for name in plotting.__all__ if name.endswith("Display")},
    }


def main() -> None:
    warnings.simplefilter("ignore")
    known = names()
    for line, name in LINE.findall(PAGE.read_text(encoding="utf-8")):
        display = eval(compile(line, str(PAGE), "eval"), known)
        save(display.figure_, f"plots-{name.lower()}")
        plt.close("all")


if __name__ == "__main__":
    main()
