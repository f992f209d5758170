"""How far to trust a clustering: the figure and the reports of docs/guide/uncertainty.md.

    python examples/risk.py [--out learning_curve.png] [--repeats 32]

Prints the assessment of a model on held-out rows and the learning curves of both cuts on two
distributions, and draws the curves next to the theory's slope of -1/2.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from sklearn.datasets import make_moons

from eigencut import GPOD, Gaussian
from eigencut.inspection import assess
from eigencut.plotting import LearningCurveDisplay
from eigencut.theory import LearningCurve, learning_curve

N_ROWS = 2000
SIZES = [100, 160, 250, 400, 640]


def moons(seed: int) -> np.ndarray:
    return make_moons(N_ROWS, noise=0.1, random_state=seed)[0]


def rectangle(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).uniform(size=(N_ROWS, 2)) * [3.0, 1.0]


DATA = {"moons": moons, "rectangle 3 x 1": rectangle}
CUTS = {"NCut": "ncut", "RatioCut": "ratiocut"}


def curves(repeats: int) -> dict[tuple[str, str], LearningCurve]:
    """The learning curve of each cut on each distribution, sigma = 0.4, K = 2."""
    return {
        (name, title): learning_curve(
            GPOD(2, cut=cut, affinity=Gaussian(sigma=0.4)),
            make(0),
            sizes=SIZES,
            n_repeats=repeats,
        )
        for name, make in DATA.items()
        for title, cut in CUTS.items()
    }


def draw(measured: dict[tuple[str, str], LearningCurve], path: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 2, figsize=(10, 7), sharex=True, layout="constrained")
    for axis, ((name, title), curve) in zip(axes.flat, measured.items(), strict=True):
        LearningCurveDisplay.from_curve(curve, ax=axis)
        axis.set_title(f"{name}, {title}", fontsize=11)
        if axis not in axes[-1]:
            axis.set_xlabel("")
    figure.savefig(path, dpi=100)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("learning_curve.png"))
    parser.add_argument("--repeats", type=int, default=32)
    arguments = parser.parse_args()
    X = moons(0)
    print(assess(GPOD(2, affinity=Gaussian(sigma=0.4)).fit(X[:1500]), X[1500:], theory=True))
    measured = curves(arguments.repeats)
    print(f"\n{'data':18}{'cut':10}{'slope':>7}  95 % interval")
    for (name, title), curve in measured.items():
        low, high = curve.slope_interval
        print(f"{name:18}{title:10}{curve.slope:7.2f}  {low:.2f} to {high:.2f}")
    print(f"\n{measured['moons', 'NCut']}")
    draw(measured, arguments.out)
    print(f"\nThe figure is in {arguments.out}")


if __name__ == "__main__":
    main()
