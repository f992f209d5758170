"""The picture of the README: new rows, labelled by eigencut and by scikit-learn.

    python examples/readme_picture.py [--out docs/images/readme.png]

Both cluster the same rows of two moons. GPOD then says of any place which cluster it belongs to,
and whether it has seen anything like it; SpectralClustering has labels for the rows of its fit
only, and no ``predict``.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np
from sklearn.cluster import SpectralClustering
from sklearn.datasets import make_moons

from eigencut import GPOD
from eigencut.plotting import ClusterDisplay
from eigencut.plotting.style import COLORS, OUTSIDE_COLOR

INK = "#2b2f36"
MOST_BYTES = 150_000


def data() -> tuple[np.ndarray, np.ndarray]:
    """Rows to fit on, and new ones, of which some are unlike any of them."""
    X, _ = make_moons(500, noise=0.07, random_state=0)
    alike, _ = make_moons(60, noise=0.07, random_state=1)
    unlike = np.array([[-0.9, -0.7], [0.55, 1.45], [2.1, 1.1], [-1.3, 1.2], [1.9, -0.95]])
    return X, np.vstack([alike, unlike])


def draw(path: Path) -> None:
    """Two panels: what each of them says of the new rows."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt
    from PIL import Image

    X, new = data()
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 4.1), layout="constrained")
    draw_without_new_labels(left, X, new)
    draw_with_new_labels(right, X, new)
    left.set(xlim=right.get_xlim(), ylim=right.get_ylim())
    for ax in (left, right):
        ax.set(xticks=[], yticks=[], xlabel="", ylabel="")
        ax.spines[:].set_visible(False)
    figure.set_dpi(110)
    figure.canvas.draw()
    # A hundred colours are enough for a picture that people load with a page.
    drawn = Image.fromarray(np.asarray(figure.canvas.buffer_rgba())[..., :3])
    drawn.quantize(100).save(path, optimize=True)
    print(f"wrote {path}, {path.stat().st_size / 1000:.0f} kB")
    assert path.stat().st_size < MOST_BYTES


def draw_with_new_labels(ax, X: np.ndarray, new: np.ndarray) -> None:
    """What GPOD says of the new rows, with rings around those that are like nothing it has seen."""
    from matplotlib.figure import Figure

    elsewhere = Figure().add_subplot()
    asked = ClusterDisplay.from_estimator(GPOD(2).fit(X), X, X_new=new, ax=elsewhere)
    # A hundredth of the rows of a fit is outside by definition: rings are for new rows here.
    rows = replace(asked.rows, is_outside=np.zeros(len(X), dtype=bool), n_unlike=0)
    replace(asked, rows=rows).plot(ax)
    ax.set_title("eigencut: labels for any row, and where to trust them", **TITLE)
    n_outside = int(asked.new_rows.is_outside.sum())
    text = f"{len(new)} new rows labelled; {n_outside} of them outside what it has seen (rings)"
    ax.text(0.5, -0.05, text, transform=ax.transAxes, **CAPTION)
    ax.get_legend().remove()


TITLE = dict(fontsize=11, color=INK, loc="center")
CAPTION = dict(fontsize=9, color=INK, ha="center", va="top")


def draw_without_new_labels(ax, X: np.ndarray, new: np.ndarray) -> None:
    """What SpectralClustering knows: the labels of its own rows."""
    found = SpectralClustering(2, affinity="nearest_neighbors", random_state=0).fit(X)
    assert not hasattr(found, "predict")
    first = found.labels_[X[:, 1].argmax()]  # the upper moon has the first colour in both panels
    colors = np.where(found.labels_ == first, COLORS[0], COLORS[1])
    ax.scatter(*X.T, c=colors, s=24, linewidths=0.3, edgecolors="white", alpha=0.55)
    look = dict(s=58, marker="P", facecolors="white", edgecolors=OUTSIDE_COLOR, linewidths=1)
    ax.scatter(*new.T, zorder=3, **look)
    for x, y in new[-5:]:
        ax.annotate("?", (x, y), (0, 9), textcoords="offset points", ha="center", color=INK)
    ax.set_title("scikit-learn's SpectralClustering: no predict", **TITLE)
    ax.text(0.5, -0.05, f"{len(new)} new rows: no labels", transform=ax.transAxes, **CAPTION)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("docs/images/readme.png"))
    draw(parser.parse_args().out)
