"""Similarities of rows to each other, sorted by cluster: clusters are blocks on the diagonal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.threads import threads
from eigencut.plotting.asked_model import AskedModel
from eigencut.plotting.axes import INK, tidy
from eigencut.plotting.colors import cluster_style
from eigencut.plotting.display import DisplayMixin
from eigencut.plotting.sampling import Shown
from eigencut.plotting.taken_rows import TakenRows

MOST_ROWS = 2000  # of the matrix; more are sampled
_CELLS = 200  # along a side of the picture
_DARKEST = 0.98  # quantile of similarities from which on cells are as dark as can be
_STRIP = 0.025  # width of the strip of clusters, of the picture


@dataclass
class SimilarityDisplay(DisplayMixin):
    """The similarity matrix of rows in the order of their clusters.

    Clear clusters are dark squares on the diagonal; what is dark beside them is shared by two. The
    colours go with the square root of a similarity, lest many small ones vanish. Of more than 2000
    rows some are taken, which the axis says; and where rows are more than 200, a cell is the mean
    over several.

    Attributes
    ----------
    similarities : array of shape (n_cells, n_cells)
        Means over the rows of a cell; a row is not compared with itself.
    labels : array of shape (n_shown,)
        Clusters of the sorted rows.
    rows : array of shape (n_shown,)
        Places of the sorted rows among those that were given.
    shown : Shown
        Which rows take part.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from eigencut import GPOD
    >>> from eigencut.plotting import SimilarityDisplay
    >>> X, _ = make_blobs(90, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    >>> display = SimilarityDisplay.from_estimator(GPOD(3).fit(X), X)
    >>> display.similarities.shape, bool((display.similarities[:30, 30:] < 1e-3).all())
    ((90, 90), True)
    """

    similarities: Array
    labels: Indices
    rows: Indices
    shown: Shown

    @classmethod
    def from_estimator(cls, model: Any, X: Any, *, ax: Any = None) -> SimilarityDisplay:
        """Compare rows by the weights of a fitted model, and draw that.

        Parameters
        ----------
        model : fitted GPOD, TableModel or Reclustered
        X : array-like of shape (n_samples, n_features)
            Of a model of precomputed affinities, the square matrix among its training rows.
        ax : matplotlib axes, optional

        Returns
        -------
        SimilarityDisplay
        """
        asked = AskedModel.of(model)
        taken = TakenRows.of(asked, X, MOST_ROWS)
        some, shown = taken.shown_rows, taken.shown
        labels = asked.labels(some)
        order = np.argsort(labels, kind="stable")
        W = _similarities(asked, some, shown)
        np.fill_diagonal(W, np.nan)  # a row is as similar to itself as can be, which says nothing
        W = _means(W[np.ix_(order, order)])
        return cls(W, labels[order], shown.rows[order], shown).plot(ax)

    def _size(self) -> tuple[float, float]:
        return 6.0, 5.0

    def _draw(self, ax: Any) -> None:
        n, cells = len(self.labels), np.nan_to_num(self.similarities)
        # A few cells that are far darker than all others would leave the others pale.
        largest = float(np.quantile(cells[cells > 0], _DARKEST)) if (cells > 0).any() else 1.0
        extend, cells = "max" if cells.max() > largest else "neither", np.sqrt(cells / largest)
        look = dict(cmap="Blues", vmin=0, vmax=1, interpolation="nearest", origin="upper")
        ax.imshow(cells, extent=(0, n, n, 0), **look)
        numbers, first = np.unique(self.labels, return_index=True)
        bounds = np.append(first, n)
        ax.hlines(bounds[1:-1], 0, n, color=INK, linewidth=0.4, alpha=0.4)
        ax.vlines(bounds[1:-1], 0, n, color=INK, linewidth=0.4, alpha=0.4)
        width = _STRIP * n
        for number, start, end in zip(numbers, bounds[:-1], bounds[1:], strict=True):
            color = cluster_style(int(number)).color
            ax.fill_betweenx([start, end], -width, 0, color=color, linewidth=0)
            ax.fill_between([start, end], n, n + width, color=color, linewidth=0)
        middles = (bounds[:-1] + bounds[1:]) / 2
        names = ["none" if number < 0 else str(number) for number in numbers]
        ax.set_yticks(middles, names)
        ax.set_xticks(middles, names if len(names) <= 12 else [""] * len(names))
        ax.set(xlim=(-width, n), ylim=(n + width, 0))
        tidy(ax)
        ax.spines[["left", "bottom"]].set_visible(False)
        ax.tick_params(length=0, labelsize=8 if len(names) <= 20 else 6)
        cell = -(-n // len(self.similarities))
        means = f", means over {cell} x {cell} of them" if cell > 1 else ""
        ax.set(xlabel=f"{self.shown.sentence}, by cluster{means}", ylabel="cluster")
        bar = ax.figure.colorbar(ax.images[-1], ax=ax, pad=0.02, shrink=0.8, extend=extend)
        ticks = np.linspace(0, 1, 5)
        bar.set_ticks(ticks, labels=[f"{largest * tick**2:.2g}" for tick in ticks])
        bar.set_label("similarity", color=INK)
        bar.outline.set_visible(False)


def _similarities(asked: AskedModel, rows: Any, shown: Shown) -> Array:
    """Weights among rows."""
    if asked.is_pairwise:
        if rows.shape[1] != shown.n_rows:
            raise ValueError(
                "X must be the square matrix of affinities among the training rows. Got shape "
                f"({shown.n_rows}, {rows.shape[1]}), which does not tell affinities among new "
                "rows; pass what the model was fitted on."
            )
        W = rows[:, shown.rows]
        return np.array(W.toarray() if issparse(W) else W, dtype=np.float64)
    with threads(asked.gpod.n_jobs):
        return asked.fitted.affinity.within(rows, np.eye(rows.shape[0]))


def _means(W: Array) -> Array:
    """Means over cells of several rows each, what is not a number left out."""
    size = -(-len(W) // _CELLS)
    if size == 1:
        return W
    n_cells = -(-len(W) // size)
    starts = np.arange(n_cells) * size
    there = np.isfinite(W)
    sums = np.add.reduceat(np.add.reduceat(np.where(there, W, 0.0), starts, 0), starts, 1)
    counts = np.add.reduceat(np.add.reduceat(there.astype(float), starts, 0), starts, 1)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
