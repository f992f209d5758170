"""Colours and axes that the pictures of the pages share; legible on light and dark pages."""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap

matplotlib.use("agg")
# Okabe and Ito's colours, told apart by nearly everybody; the yellow is left out on white.
COLORS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"]
plt.rcParams.update(
    {"font.size": 10, "axes.titlesize": 11, "figure.dpi": 110, "savefig.facecolor": "white"}
)


def colors(labels: np.ndarray) -> list[str]:
    return [COLORS[k % len(COLORS)] if k >= 0 else "#888888" for k in labels]


def bare(ax: plt.Axes, title: str = "") -> plt.Axes:
    """Axes of a plane whose numbers do not matter."""
    ax.set(xticks=[], yticks=[], title=title, aspect="equal")
    return ax


def plane(X: np.ndarray, margin: float = 0.6, n: int = 220) -> tuple[np.ndarray, np.ndarray]:
    """Rows of a grid around X, and the grid's two coordinates."""
    low, high = X.min(axis=0) - margin, X.max(axis=0) + margin
    a, b = np.meshgrid(np.linspace(low[0], high[0], n), np.linspace(low[1], high[1], n))
    return np.column_stack([a.ravel(), b.ravel()]), np.array([a, b])


def regions(ax: plt.Axes, model: object, X: np.ndarray, margin: float = 0.6) -> None:
    """Colour the plane by the label of its rows; pale where the training rows say little."""
    rows, grid = plane(X, margin)
    labels = model.predict(rows).reshape(grid[0].shape)
    support = model.score_samples(rows).reshape(grid[0].shape)
    usual = np.quantile(model.score_samples(X), [0.01, 0.5])
    strength = np.clip((support - usual[0]) / (usual[1] - usual[0]), 0, 1)
    K = int(labels.max()) + 1
    shown = ListedColormap(colors(np.arange(K)))(labels)
    shown[..., 3] = 0.08 + 0.37 * strength
    extent = (grid[0].min(), grid[0].max(), grid[1].min(), grid[1].max())
    ax.imshow(shown, extent=extent, origin="lower", interpolation="bilinear", aspect="auto")
    ax.contour(*grid, support, levels=[usual[0]], colors="#444444", linewidths=0.9)


def save(figure: plt.Figure, name: str) -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "_pictures"
    figure.savefig(folder / f"{name}.png", bbox_inches="tight", dpi=150)
    plt.close(figure)
