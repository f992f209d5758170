"""The clusters of a model as a tree: which of them are one group in coarser cuts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from eigencut._utils.arrays import Array, Indices
from eigencut.hierarchy.hierarchy import Hierarchy
from eigencut.model import check_model
from eigencut.plotting.style import (
    MARKERS,
    OUTSIDE_COLOR,
    SIZE,
    Display,
    check_drawable,
    cluster_style,
    height_for,
    spaced,
    tidy,
)


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
