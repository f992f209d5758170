"""The pictures of docs/how-it-works.md, and that of the first page."""

from __future__ import annotations

import warnings

import matplotlib.pyplot as plt
import numpy as np
from _style import COLORS, bare, colors, plane, regions, save
from matplotlib.collections import LineCollection
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.datasets import make_moons

from eigencut import GPOD, Neighbors
from eigencut.discretization import normalize_rows

warnings.filterwarnings("ignore", message="Graph is not fully connected")  # of scikit-learn
X, _ = make_moons(300, noise=0.09, random_state=0)
X_new, _ = make_moons(400, noise=0.09, random_state=4)
model = GPOD(2, affinity=Neighbors(10, density_contrast=1.0)).fit(X)

graph = model.affinity_.fit_graph(X)
rows = model.affinity_.rows_
of_vertex = np.empty(len(rows), dtype=int)
of_vertex[graph.vertex_of_row] = model.labels_
edges = graph.weights.tocoo()
once = edges.row < edges.col
a, b, weight = edges.row[once], edges.col[once], edges.data[once]


def edge_lines(chosen: np.ndarray, **options: object) -> LineCollection:
    return LineCollection(np.stack([rows[a[chosen]], rows[b[chosen]]], axis=1), **options)


def normalized_cut(labels: np.ndarray) -> float:
    """The weight that leaves a cluster over its degrees, summed over the clusters."""
    between = labels[a] != labels[b]
    degrees = np.bincount(a, weight, len(rows)) + np.bincount(b, weight, len(rows))
    return sum(weight[between].sum() / degrees[labels == k].sum() for k in range(2))


def draw_graph() -> None:
    figure, axes = plt.subplots(1, 2, figsize=(9.5, 3.4), layout="constrained")
    bare(axes[0], "300 rows").scatter(*X.T, s=14, c="#444444")
    ax = bare(axes[1], f"their graph: {len(a)} edges")
    widths = 0.3 + 1.6 * weight / weight.max()
    ax.add_collection(edge_lines(np.full(len(a), True), linewidths=widths, colors="#7f8c9a"))
    ax.scatter(*rows.T, s=10, c="#444444", zorder=3)
    save(figure, "how-graph")


def draw_cuts() -> None:
    halves = KMeans(2, n_init=10, random_state=0).fit_predict(rows)
    figure, axes = plt.subplots(1, 2, figsize=(9.5, 3.5), layout="constrained")
    for ax, labels, name in zip(axes, (halves, of_vertex), ("k-means", "GPOD"), strict=True):
        between = labels[a] != labels[b]
        bare(ax, f"{name}: {between.sum()} edges cut, normalized cut {normalized_cut(labels):.3f}")
        ax.add_collection(edge_lines(~between, linewidths=0.4, colors="#c5ccd3"))
        ax.add_collection(edge_lines(between, linewidths=1.6, colors="black", zorder=4))
        ax.scatter(*rows.T, s=14, c=colors(labels), zorder=3)
    save(figure, "how-cut")


def draw_functions() -> None:
    at, grid = plane(X)
    values = model.transform(at)[:, 1].reshape(grid[0].shape)
    most = np.abs(model.embedding_[:, 1]).max()
    figure, axes = plt.subplots(1, 2, figsize=(9.5, 3.4), layout="constrained")
    ax = bare(axes[0], "second eigenvector: a number for each row")
    ax.scatter(*X.T, s=18, c=model.embedding_[:, 1], cmap="PuOr", vmin=-most, vmax=most)
    ax = bare(axes[1], "its eigenfunction: a number for every place")
    drawn = ax.contourf(
        *grid, values, levels=np.linspace(-most, most, 21), cmap="PuOr", extend="both"
    )
    ax.scatter(*X.T, s=4, c="#444444")
    figure.colorbar(
        drawn, ax=axes, shrink=0.8, label="value", ticks=[-most, 0, most], format="%.1f"
    )
    save(figure, "how-functions")


def draw_rotation() -> None:
    unit = normalize_rows(model.embedding_)
    figure, axes = plt.subplots(1, 2, figsize=(8, 3.7), layout="constrained")
    for ax, points, axis_vectors, title in (
        (axes[0], unit, model.rotation_.T, "rows of the embedding, at length 1"),
        (axes[1], unit @ model.rotation_, np.eye(2), "turned until they lie along the axes"),
    ):
        bare(ax, title)
        turn = np.linspace(0, 2 * np.pi, 200)
        ax.plot(np.cos(turn), np.sin(turn), lw=0.6, c="#aaaaaa")
        for k, end in enumerate(axis_vectors):
            ax.annotate("", end * 1.25, (0, 0), arrowprops={"arrowstyle": "->", "color": COLORS[k]})
            ax.text(*(end * 1.55), f"cluster {k}", color=COLORS[k], ha="center", va="center")
        ax.scatter(*points.T, s=16, c=colors(model.labels_), alpha=0.7)
        ax.set(xlim=(-1.3, 2.1), ylim=(-1.3, 1.8))
    save(figure, "how-rotation")


def draw_new_rows() -> None:
    figure, ax = plt.subplots(figsize=(7.2, 4), layout="constrained")
    regions(ax, model, X, margin=0.9)
    margins = model.predict_margin(X_new)
    labels = model.predict(X_new)
    ax.scatter(*X_new.T, s=16, c=colors(labels), edgecolors="white", linewidths=0.4)
    ambiguous = margins < 0.3
    ax.scatter(
        *X_new[ambiguous].T, s=60, facecolors="none", edgecolors="black", label="margin below 0.3"
    )
    bare(ax, "400 new rows; inside the line rows are similar to the training rows").legend(
        loc="upper right"
    )
    save(figure, "how-new-rows")


def draw_first_page() -> None:
    X, _ = make_moons(2000, noise=0.08, random_state=0)
    X_new = np.vstack([make_moons(300, noise=0.08, random_state=1)[0], [[2.6, 1.5], [-1.5, -0.8]]])
    figure, axes = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
    labels = SpectralClustering(2, affinity="nearest_neighbors", random_state=0).fit_predict(X)
    fitted = GPOD(2).fit(X)
    top = X[:, 1].argmax()  # of the moon that has the same colour in both panels
    labels = np.where(labels == labels[top], fitted.labels_[top], 1 - fitted.labels_[top])
    bare(axes[0], "scikit-learn: labels of the rows it was given").scatter(
        *X.T, s=5, c=colors(labels)
    )
    labels, known = fitted.predict(X_new), fitted.score_samples(X_new)
    far = known < np.quantile(fitted.score_samples(X), 0.01)  # beyond the line of the regions
    bare(axes[1], "eigencut: labels of 302 new rows, and how far to trust them")
    regions(axes[1], fitted, X, margin=1.1)
    axes[1].scatter(*X_new.T, s=12, c=colors(labels), edgecolors="white", linewidths=0.3)
    axes[1].scatter(
        *X_new[far].T,
        s=110,
        facecolors="none",
        edgecolors="black",
        label="unlike these",
    )
    axes[1].legend(loc="lower right")
    for ax in axes:
        ax.set(xlim=(-1.8, 2.9), ylim=(-1.1, 1.75), aspect="equal")
    save(figure, "regions")


if __name__ == "__main__":
    for draw in (
        draw_graph,
        draw_cuts,
        draw_functions,
        draw_rotation,
        draw_new_rows,
        draw_first_page,
    ):
        draw()
