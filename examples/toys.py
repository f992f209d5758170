"""The paper's toy figure: fit on circles and moons, label rows never seen.

    python examples/toys.py [--out toys.png]

Fits both cuts on 2000 rows of each set with default parameters, labels 500 new rows, prints a table
and draws the figure: original and unseen rows, and how each cut clusters them.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.datasets import make_circles, make_moons
from sklearn.metrics import confusion_matrix

from eigencut import GPOD, GraphWarning

N_TRAIN, N_NEW = 2000, 500
CUTS = {"RatioCut": "ratiocut", "NCut": "ncut"}
DATA = {
    "circles": lambda n, seed: make_circles(n, factor=0.5, noise=0.05, random_state=seed),
    "moons": lambda n, seed: make_moons(n, noise=0.05, random_state=seed),
}


def accuracy(truth: np.ndarray, labels: np.ndarray) -> float:
    """Share of rows labelled rightly, under the best matching of clusters to classes."""
    counts = confusion_matrix(truth, labels)
    matched = counts[linear_sum_assignment(-counts)].sum()
    return float(matched / len(truth))


def cluster(name: str, cut: str) -> dict:
    """Fit on one set, predict the unseen rows, and keep what the table and figure need."""
    X, _ = DATA[name](N_TRAIN, 0)
    new, truth = DATA[name](N_NEW, 1)
    start = time.perf_counter()
    model = GPOD(n_clusters=2, cut=cut).fit(X)
    fitted = time.perf_counter()
    labels = model.predict(new)
    return {
        "X": X,
        "new": new,
        "labels": model.labels_,
        "new_labels": labels,
        "accuracy": accuracy(truth, labels),
        "fit": fitted - start,
        "predict": time.perf_counter() - fitted,
    }


def draw(results: dict[tuple[str, str], dict], path: Path) -> None:
    """Rows: the data, RatioCut, NCut. Columns: original circles and moons, unseen ones."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    colors = np.array(["#1f4e79", "#e07b39"])
    figure, axes = plt.subplots(3, 4, figsize=(12, 8), layout="constrained")
    for column, (name, part) in enumerate([(n, p) for p in ("original", "unseen") for n in DATA]):
        for row, title in enumerate(["", *CUTS]):
            axis = axes[row, column]
            result = results[name, title or "NCut"]
            points = result["X" if part == "original" else "new"]
            labels = result["labels" if part == "original" else "new_labels"]
            axis.scatter(*points.T, s=3, c=colors[labels] if title else "#777777")
            axis.set_title(f"{name}, {part}" if row == 0 else "", fontsize=11)
            axis.set(xticks=[], yticks=[], aspect="equal")
            if column == 0:
                axis.set_ylabel(title or "data", fontsize=12)
    figure.savefig(path, dpi=80)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("toys.png"))
    out = parser.parse_args().out
    # Well separated sets can give a graph in two pieces, which is just what is looked for here.
    warnings.simplefilter("ignore", GraphWarning)
    cluster("moons", "ncut")  # so that the first row of the table does not pay for imports
    results = {(name, title): cluster(name, cut) for name in DATA for title, cut in CUTS.items()}
    print(f"Fitted on {N_TRAIN} rows with default parameters, asked about {N_NEW} unseen rows:\n")
    print(f"{'data':10}{'cut':10}{'accuracy on unseen':>20}{'fit':>10}{'predict':>12}")
    for (name, title), result in results.items():
        times = f"{result['fit']:8.2f} s{1000 * result['predict']:9.1f} ms"
        print(f"{name:10}{title:10}{100 * result['accuracy']:18.1f} %{times}")
    draw(results, out)
    print(f"\nThe figure is in {out}")


if __name__ == "__main__":
    main()
