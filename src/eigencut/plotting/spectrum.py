"""How the clusters came out: eigenvalues of the graph, steps of POD, and coarser cuts as a tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.threads import threads
from eigencut._utils.validation import check_count
from eigencut.auto.spectrum import Spectrum
from eigencut.discretization import Partition
from eigencut.hierarchy.hierarchy import Hierarchy
from eigencut.model import check_model
from eigencut.plotting.style import (
    COLORS,
    INK,
    MARKERS,
    OUTSIDE_COLOR,
    PALE,
    SIZE,
    Display,
    check_drawable,
    cluster_style,
    height_for,
    legend_above,
    spaced,
    tidy,
)


@dataclass
class SpectrumDisplay(Display):
    """The smallest eigenvalues, and the gap between those of the clusters and the next.

    A large gap says that the number of clusters is clear.

    Attributes
    ----------
    eigenvalues : array
        Ascending: K of the model, and some more where they are known.
    n_clusters : int
        K.
    cut : str

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from eigencut import GPOD
    >>> from eigencut.plotting import SpectrumDisplay
    >>> X, _ = make_blobs(200, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    >>> display = SpectrumDisplay.from_estimator(GPOD(3).fit(X), n_more=4)
    >>> len(display.eigenvalues), bool(display.gap > 0.05)
    (7, True)
    """

    eigenvalues: Array
    n_clusters: int
    cut: str

    @property
    def gap(self) -> float:
        """The difference of the eigenvalues K + 1 and K; NaN where there is none."""
        K, values = self.n_clusters, self.eigenvalues
        return float(values[K] - values[K - 1]) if len(values) > K else float("nan")

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any = None, *, n_more: int = 6, ax: Any = None
    ) -> SpectrumDisplay:
        """Draw the eigenvalues of a fitted model, and compute some more of its graph.

        Parameters
        ----------
        model : fitted GPOD, TableModel or Reclustered
            Of a ``Reclustered``, the model before the split.
        X : array-like of shape (n_samples, n_features), optional
            The training rows, where the model has not kept them (landmarks, precomputed). Without
            them there are the eigenvalues of the clusters only.
        n_more : int, default=6
            Eigenvalues besides. They take about as long as a fit.
        ax : matplotlib axes, optional

        Returns
        -------
        SpectrumDisplay
        """
        check_count("n_more", n_more, "use the default of 6")
        gpod, functions = check_model(model).gpod, model.gpod.fitted_cut_.functions
        affinity, weight = functions.affinity, None
        rows = None if X is None else model.prepare(X)[0]
        if rows is None and affinity.keeps == "rows":
            rows, weight = affinity.rows_, affinity.multiplicity_
        values = gpod.eigenvalues_
        if rows is not None:
            most = min(len(functions.pairs.values) + n_more, functions.degrees.size)
            with threads(gpod.n_jobs):
                spectrum = Spectrum.from_rows(rows, affinity.frozen(), functions.cut, most, weight)
            values = spectrum.pairs.values
        return cls(np.asarray(values), gpod.n_clusters_, functions.cut.name).plot(ax)

    def _draw(self, ax: Any) -> None:
        K, values = self.n_clusters, self.eigenvalues
        place = np.arange(1, len(values) + 1)
        is_own = place <= K
        for some, color, label in (
            (is_own, COLORS[0], f"of the {K} clusters"),
            (~is_own, OUTSIDE_COLOR, "beyond"),
        ):
            if some.any():
                ax.vlines(place[some], 0, values[some], color=color, linewidth=2, alpha=0.45)
                ax.plot(place[some], values[some], "o", color=color, ms=6, label=label, zorder=3)
        if len(values) > K:
            label = f"gap of {self.gap:.3g} after {K}"
            look = dict(color=COLORS[1], alpha=0.15, linewidth=0, zorder=0, label=label)
            ax.axhspan(values[K - 1], values[K], **look)
            ax.axvline(K + 0.5, color=COLORS[1], linestyle="dashed", linewidth=1.1, zorder=1)
        tidy(ax, "y")
        ax.axhline(0, color=PALE, linewidth=0.8, zorder=0)
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.set(xlabel="number of the eigenvalue", ylabel=f"eigenvalue ({self.cut})")
        ax.set_xlim(0.4, len(values) + 0.6)
        legend_above(ax, 3)


@dataclass
class ConvergenceDisplay(Display):
    """The distance of the rotated rows from indicators after each step of the discretization.

    Attributes
    ----------
    gaps : array of shape (n_iter,)
        ``|| one_hot - rows(U) R ||_F`` after each step of the best start; never rising.
    converged : bool
    largest : float or None
        The gap of rows that belong to all clusters alike, ``sqrt(n (2 - 2 / sqrt(K)))``: what the
        gap of a single step is shown beside.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from eigencut import GPOD
    >>> from eigencut.plotting import ConvergenceDisplay
    >>> X, _ = make_moons(200, noise=0.05, random_state=0)
    >>> ConvergenceDisplay.from_estimator(GPOD(2).fit(X)).converged
    True
    """

    gaps: Array
    converged: bool
    largest: float | None = None

    @classmethod
    def from_estimator(cls, model: Any, *, ax: Any = None) -> ConvergenceDisplay:
        """Draw the discretization of a fitted model.

        Parameters
        ----------
        model : fitted GPOD, TableModel or Reclustered
            Of a ``Reclustered``, the model before the split.
        ax : matplotlib axes, optional

        Returns
        -------
        ConvergenceDisplay
        """
        return cls.from_partition(check_model(model).gpod.fitted_cut_.partition, ax=ax)

    @classmethod
    def from_partition(cls, partition: Partition, *, ax: Any = None) -> ConvergenceDisplay:
        """Draw what ``eigencut.pod`` has found.

        Parameters
        ----------
        partition : Partition
        ax : matplotlib axes, optional

        Returns
        -------
        ConvergenceDisplay
        """
        check_drawable("partition", partition, "Partition", "eigencut.pod")
        n, K = len(partition.labels), len(partition.rotation)
        largest = float(np.sqrt(n * (2 - 2 / np.sqrt(K))))
        return cls(partition.gap_history, partition.converged, largest).plot(ax)

    def _draw(self, ax: Any) -> None:
        steps = np.arange(1, len(self.gaps) + 1)
        end = "converged" if self.converged else "stopped before it converged,"
        many = "step" if len(steps) == 1 else "steps"
        title = f"{end} after {len(steps)} {many}, at {self.gaps[-1]:.4g}"
        ax.set_title(title, loc="left", fontsize=10, color=INK)
        tidy(ax, "y")
        if len(steps) == 1:
            self._draw_step(ax)
        else:
            ax.plot(steps, self.gaps, "o-", color=COLORS[0], markersize=6, linewidth=1.8)
            ax.set_xlim(0.7, max(len(steps), 3) + 0.3)
            ax.xaxis.get_major_locator().set_params(integer=True)
        ax.ticklabel_format(axis="y", useOffset=False)
        ax.set(xlabel="step of the discretization", ylabel="gap to indicators (Frobenius norm)")

    def _draw_step(self, ax: Any) -> None:
        """One step has no course: how small its gap is, beside that of rows without clusters."""
        ax.bar([1], self.gaps, width=0.5, color=COLORS[0], alpha=0.6)
        ax.plot([1], self.gaps, "o", color=COLORS[0], markersize=7, clip_on=False)
        ax.set(xlim=(0, 2), xticks=[1])
        ax.set_ylim(0, 1.25 * max(self.gaps[0], self.largest or 0.0, 1e-3))
        if self.largest:
            ax.axhline(self.largest, color=INK, linestyle="dashed", linewidth=1.1)
            look = dict(textcoords="offset points", ha="left", fontsize=9, color=INK)
            text = f"rows ambiguous between all clusters: {self.largest:.4g}"
            ax.annotate(text, (0.05, self.largest), (0, 5), **look)


@dataclass
class HierarchyDisplay(Display):
    """A tree with the clusters at its right end; a fork stands where two groups part.

    Forks are placed by the number of groups: the first, at the left, parts two groups, the last
    gives all clusters. At each number stands what such a cut costs.

    Attributes
    ----------
    forks : array of shape (K - 1, 4)
        Of each fork, from the root on: the number of groups it gives, its height, and the heights
        of its two branches.
    ends : array of shape (K - 1, 2)
        The numbers of groups at which the two branches end.
    leaves : array of shape (K,)
        The clusters, from the bottom to the top.
    hierarchy : Hierarchy
        What is drawn, with the sizes of clusters and the values of cuts.

    Examples
    --------
    >>> import numpy as np
    >>> from eigencut import GPOD
    >>> from eigencut.plotting import HierarchyDisplay
    >>> places = np.repeat([[0.0, 0], [0, 6], [40, 0]], 30, axis=0)
    >>> X = places + np.random.default_rng(0).normal(size=(90, 2))
    >>> display = HierarchyDisplay.from_estimator(GPOD(3).fit(X))
    >>> display.forks[:, 0]
    array([2., 3.])
    """

    forks: Array
    ends: Array
    leaves: Indices
    hierarchy: Hierarchy

    @classmethod
    def from_estimator(cls, model: Any, *, ax: Any = None) -> HierarchyDisplay:
        """Draw the tree of a fitted model.

        Parameters
        ----------
        model : fitted GPOD, TableModel or Reclustered
        ax : matplotlib axes, optional

        Returns
        -------
        HierarchyDisplay
        """
        return cls.from_hierarchy(check_model(model).hierarchy(), ax=ax)

    @classmethod
    def from_hierarchy(cls, hierarchy: Hierarchy, *, ax: Any = None) -> HierarchyDisplay:
        """Draw what ``model.hierarchy()`` returns.

        Parameters
        ----------
        hierarchy : Hierarchy
        ax : matplotlib axes, optional

        Returns
        -------
        HierarchyDisplay
        """
        check_drawable("hierarchy", hierarchy, "Hierarchy", "model.hierarchy()")
        leaves = _leaf_order(hierarchy)
        forks, ends = _forks(hierarchy, leaves)
        return cls(forks=forks, ends=ends, leaves=leaves, hierarchy=hierarchy).plot(ax)

    def _size(self) -> tuple[float, float]:
        return SIZE[0] + 0.4, height_for(len(self.leaves), 0.24, least=3.0)

    def _draw(self, ax: Any) -> None:
        K, tree = len(self.leaves), self.hierarchy
        lines = dict(color=OUTSIDE_COLOR, linewidth=1.6, solid_capstyle="round", zorder=2)
        root = self.forks[0] if len(self.forks) else np.array([1.0, 0.0, 0.0, 0.0])
        ax.plot([1, root[0]], [root[1]] * 2, **lines)
        for (at, _, low, high), ends in zip(self.forks, self.ends, strict=True):
            ax.plot([at, at], [low, high], **lines)
            for height, end in zip((low, high), ends, strict=True):
                ax.plot([at, end], [height] * 2, **lines)
        for height, number in enumerate(self.leaves):
            style = cluster_style(int(number))
            look = dict(color=style.color, markersize=7, clip_on=False, zorder=3)
            ax.plot(K + 0.5, height, MARKERS[style.marker], **look)
        names = [f"cluster {number} ({spaced(tree.sizes[number])})" for number in self.leaves]
        ax.yaxis.tick_right()
        ax.set_yticks(range(K), names)
        step = -(-K // 12)
        ticks = np.arange(1, K + 1)[::-1][::step][::-1]
        costs = [f"{tick}\n{tree.cut_values[tick - 1]:.2g}" for tick in ticks]
        ax.set_xticks(ticks, costs)
        ax.set(xlim=(0.9, K + 0.5), ylim=(-0.6, K - 0.4))
        tidy(ax, "x")
        ax.spines["left"].set_visible(False)
        ax.tick_params(axis="y", length=0, pad=8)
        about = "" if tree.exact else ", at least"
        ax.set_xlabel(f"number of groups, and what that cut costs ({tree.cut}{about})")


def _leaf_order(hierarchy: Hierarchy) -> Indices:
    """Clusters in an order in which each group is together."""
    members = {number: [number] for number in range(len(hierarchy.sizes))}
    for joining in hierarchy.joinings:
        members[joining.kept] += members.pop(joining.joined)
    return np.array(members[0][::-1], dtype=np.intp)


def _forks(hierarchy: Hierarchy, leaves: Indices) -> tuple[Array, Array]:
    K = len(leaves)
    height = {int(number): float(place) for place, number in enumerate(leaves)}
    begins = dict.fromkeys(height, K + 0.5)
    forks, ends = [], []
    for joining in hierarchy.joinings:
        pair = joining.kept, joining.joined
        low, high = (height[number] for number in pair)
        forks.append([joining.n_groups, (low + high) / 2, low, high])
        ends.append([begins[number] for number in pair])
        height[joining.kept], begins[joining.kept] = (low + high) / 2, float(joining.n_groups)
    return np.reshape(forks, (-1, 4))[::-1], np.reshape(ends, (-1, 2))[::-1]
