"""How clearly rows belong to clusters, how similar they are to each other and to known rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.validation import check_choice
from eigencut.exceptions import invalid
from eigencut.plotting.rows import PreparedRows, Shown, prepared_rows
from eigencut.plotting.style import (
    COLORS,
    INK,
    PALE,
    SIZE,
    Display,
    cluster_style,
    colorbar,
    height_for,
    legend_above,
    point_area,
    spaced,
    tidy,
)


@dataclass
class MarginDisplay(Display):
    """The margins, or the probabilities of labels, of the rows of each cluster.

    Rows at the right end clearly belong to their cluster; those at the left are ambiguous. The bar
    holds the middle half of a cluster's rows, the dot is the median.

    Attributes
    ----------
    values : array of shape (n_shown,)
        Margin or probability of each row.
    labels : array of shape (n_shown,)
    numbers : array of shape (K,)
        Of the clusters.
    kind : {"margin", "probability"}
    shown : Shown
        Which rows these are.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from eigencut import GPOD
    >>> from eigencut.plotting import MarginDisplay
    >>> X, _ = make_moons(200, noise=0.05, random_state=0)
    >>> display = MarginDisplay.from_estimator(GPOD(2).fit(X), X, kind="probability")
    >>> bool((display.values >= 0.5).all())
    True
    """

    values: Array
    labels: Indices
    numbers: Indices
    kind: str
    shown: Shown

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any, *, kind: str = "margin", ax: Any = None
    ) -> MarginDisplay:
        """Ask a fitted model how sure it is of rows, and draw that.

        Parameters
        ----------
        model : fitted GPOD, TableModel or Reclustered
        X : array-like of shape (n_samples, n_features)
        kind : {"margin", "probability"}, default="margin"
            As of ``predict_margin``, or the largest of ``predict_proba``.
        ax : matplotlib axes, optional

        Returns
        -------
        MarginDisplay
        """
        check_choice("kind", kind, ("margin", "probability"))
        with prepared_rows(model, X) as taken:
            answers = model.answers_of(taken.some)
        values = answers.margins if kind == "margin" else answers.probabilities.max(axis=1)
        return cls(
            values=values,
            labels=answers.labels,
            numbers=model.cluster_numbers_,
            kind=kind,
            shown=taken.shown,
        ).plot(ax)

    def _size(self) -> tuple[float, float]:
        return SIZE[0], height_for(len(self.numbers), 0.3)

    def _draw(self, ax: Any) -> None:
        n, rng = len(self.numbers), np.random.default_rng(0)
        area, names = 2.0 * point_area(len(self.values)) ** 0.5, []
        for place, number in enumerate(self.numbers):
            own = self.values[self.labels == number]
            names.append(f"cluster {number} ({spaced(len(own))})")
            height, color = n - 1 - place, cluster_style(int(number)).color
            ax.axhline(height, color=PALE, linewidth=0.6, zorder=0)
            if not len(own):
                continue
            at = height + rng.uniform(-0.34, 0.34, len(own))
            ax.scatter(own, at, s=area, color=color, linewidths=0, alpha=0.5, zorder=2)
            low, middle, high = np.quantile(own, (0.25, 0.5, 0.75))
            ax.plot([low, high], [height] * 2, color=INK, linewidth=3, zorder=3)
            ax.plot(middle, height, "o", color="white", markeredgecolor=INK, ms=5, zorder=4)
        ax.set_yticks(range(n - 1, -1, -1), names)
        least, what = 0.0, "margin (0 is ambiguous, 1 is certain)"
        if self.kind == "probability":
            least, what = 1.0 / max(n, 1), "probability of the label"
        ax.set(xlim=(least - 0.01, 1.01), ylim=(-0.6, n - 0.4))
        tidy(ax)
        ax.spines["left"].set_visible(False)
        ax.tick_params(axis="y", length=0)
        ax.set_xlabel(f"{what}, {self.shown.sentence}", color=INK)


@dataclass
class SupportDisplay(Display):
    """Histograms of the similarity of training and of new rows to the training rows.

    What is left of the dashed line is less similar than training rows are: the model has seen
    nothing like it. The first bar holds all rows that are still further to the left. A training
    row is similar to itself too, which a new row is not.

    Attributes
    ----------
    support : array of shape (n_shown,)
        Of training rows, as of ``score_samples``.
    new_support : array of shape (m_shown,) or None
        Of new rows.
    least_support : float
    shown : Shown
        Which training rows these are.
    new_shown : Shown or None
        Which new rows.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from eigencut import GPOD
    >>> from eigencut.plotting import SupportDisplay
    >>> X, _ = make_moons(200, noise=0.05, random_state=0)
    >>> display = SupportDisplay.from_estimator(GPOD(2).fit(X), X, X_new=X + 5)
    >>> float(display.share_outside(new=True))
    1.0
    """

    support: Array
    new_support: Array | None
    least_support: float
    shown: Shown
    new_shown: Shown | None

    def share_outside(self, new: bool = False) -> float:
        """Return the share of rows that are less similar than training rows are.

        Parameters
        ----------
        new : bool
            Of new rows, or of training rows.

        Returns
        -------
        float
        """
        values = self.new_support if new else self.support
        assert values is not None
        return float((values < self.least_support).mean())

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any, *, X_new: Any = None, ax: Any = None
    ) -> SupportDisplay:
        """Ask a fitted model how similar rows are to its training rows, and draw that.

        Parameters
        ----------
        model : fitted GPOD, TableModel or Reclustered
        X : array-like of shape (n_samples, n_features)
            The training rows, or some of them.
        X_new : array-like of shape (m, n_features), optional
            Rows to compare with them.
        ax : matplotlib axes, optional

        Returns
        -------
        SupportDisplay
        """
        support, shown = _support(model, X)
        new_support, new_shown = (None, None) if X_new is None else _support(model, X_new)
        return cls(
            support=support,
            new_support=new_support,
            least_support=model.gpod.fitted_cut_.least_support,
            shown=shown,
            new_shown=new_shown,
        ).plot(ax)

    def _draw(self, ax: Any) -> None:
        groups = [(self.support, self.shown, "training", COLORS[0])]
        if self.new_support is not None and self.new_shown is not None:
            groups.append((self.new_support, self.new_shown, "new", COLORS[1]))
        together = np.concatenate([values for values, *_ in groups])
        edges = _edges(together, self.least_support)
        for values, shown, kind, color in groups:
            sentence = shown.sentence.replace(" rows", f" {kind} rows")
            label = f"{sentence}, {self.share_outside(kind == 'new'):.1%} outside"
            weights = np.full(len(values), 100 / max(len(values), 1))
            look = dict(histtype="stepfilled", color=color, alpha=0.35, zorder=2)
            ax.hist(np.maximum(values, edges[0]), edges, weights=weights, label=label, **look)
            look = dict(histtype="step", color=color, linewidth=1.4, zorder=3)
            ax.hist(np.maximum(values, edges[0]), edges, weights=weights, **look)
        label = "least similarity of training rows"
        ax.axvline(self.least_support, color=INK, linestyle="dashed", linewidth=1.1, label=label)
        below = "; first bar: and below" if (together < edges[0]).any() else ""
        ax.set_xlabel(f"similarity to the training rows (log of the mean affinity){below}")
        ax.set_ylabel("rows in %")
        tidy(ax, "y")
        legend_above(ax, 1)


def _support(model: Any, X: Any) -> tuple[Array, Shown]:
    with prepared_rows(model, X) as taken:
        return model.gpod.fitted_cut_.support(taken.some), taken.shown


def _edges(values: Array, least: float) -> Array:
    """Return edges of 45 bars: all but the farthest rows, the least similarity being within."""
    finite = values[np.isfinite(values)]
    most = max([*finite, least])
    inside = finite[finite >= least]
    width = max(float(np.ptp(inside)) if len(inside) else 0.0, 1e-6 * max(abs(most), 1.0))
    low = max(float(np.quantile(finite, 0.02)), least - width) if len(finite) else least - width
    return np.linspace(min(low, least - 0.25 * width), most, 46)


@dataclass
class SimilarityDisplay(Display):
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
        with prepared_rows(model, X, most=2000) as taken:
            labels, W = model.labels_of(taken.some), _similarities(taken)
        order, shown = np.argsort(labels, kind="stable"), taken.shown
        np.fill_diagonal(W, np.nan)  # a row is as similar to itself as can be, which says nothing
        W = _means(W[np.ix_(order, order)])
        return cls(W, labels[order], shown.rows[order], shown).plot(ax)

    def _size(self) -> tuple[float, float]:
        return 6.0, 5.0

    def _draw(self, ax: Any) -> None:
        n, cells = len(self.labels), np.nan_to_num(self.similarities)
        # A few cells that are far darker than all others would leave the others pale.
        largest = float(np.quantile(cells[cells > 0], 0.98)) if (cells > 0).any() else 1.0
        extend, cells = "max" if cells.max() > largest else "neither", np.sqrt(cells / largest)
        look = dict(cmap="Blues", vmin=0, vmax=1, interpolation="nearest", origin="upper")
        ax.imshow(cells, extent=(0, n, n, 0), **look)
        numbers, first = np.unique(self.labels, return_index=True)
        bounds = np.append(first, n)
        ax.hlines(bounds[1:-1], 0, n, color=INK, linewidth=0.4, alpha=0.4)
        ax.vlines(bounds[1:-1], 0, n, color=INK, linewidth=0.4, alpha=0.4)
        width = 0.025 * n
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
        bar = colorbar(ax, "similarity", shrink=0.8, extend=extend)
        ticks = np.linspace(0, 1, 5)
        bar.set_ticks(ticks, labels=[f"{largest * tick**2:.2g}" for tick in ticks])


def _similarities(taken: PreparedRows) -> Array:
    """Return the weights among the rows that are shown."""
    affinity, rows, n = taken.model.gpod.affinity_, taken.some, taken.shown.n_rows
    if not affinity.pairwise:
        return taken.model.gpod.fitted_cut_.affinity.within(rows, np.eye(rows.shape[0]))
    if rows.shape[1] != n:
        raise invalid(
            "X",
            "be the square matrix of affinities among the training rows",
            f"shape ({n}, {rows.shape[1]}), which does not tell affinities among new rows",
            "pass what the model was fitted on",
        )
    W = rows[:, taken.shown.rows]
    return np.array(W.toarray() if issparse(W) else W, dtype=np.float64)


def _means(W: Array) -> Array:
    """Return means over cells of several rows, at most 200 along a side; NaN is left out."""
    size = -(-len(W) // 200)
    if size == 1:
        return W
    n_cells = -(-len(W) // size)
    starts = np.arange(n_cells) * size
    there = np.isfinite(W)
    sums = np.add.reduceat(np.add.reduceat(np.where(there, W, 0.0), starts, 0), starts, 1)
    counts = np.add.reduceat(np.add.reduceat(there.astype(float), starts, 0), starts, 1)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
