"""The complete graph: edges between all vertices, their weights in tiles."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eigencut.graph.base import EDGE, Graph, RowGraph
from eigencut.graph.tiles import SymmetricTiles
from eigencut.runtime.arrays import Array, Indices

_ROWS = 128  # searched for edges at a time


@dataclass(frozen=True)
class CompleteGraph(Graph):
    """Edges between all vertices, their weights in tiles."""

    weights: SymmetricTiles

    def matmat(self, V: Array) -> Array:
        return self.weights.matmat(V / self.n_rows)

    def dense(self, vertices: Indices | None = None) -> Array:
        if vertices is None:
            return self.weights.dense()
        return self.weights.rows(vertices)[:, vertices]

    def components(self) -> Indices:
        root_degree = np.sqrt(self.degrees)
        label = np.full(self.n_vertices, -1, dtype=np.intp)
        unseen = np.arange(self.n_vertices)
        n_found = 0
        while len(unseen):
            frontier, unseen = unseen[:1], unseen[1:]
            label[frontier] = n_found
            while len(frontier) and len(unseen):
                some, frontier = frontier[:_ROWS], frontier[_ROWS:]
                threshold = EDGE * root_degree[some, np.newaxis] * root_degree[unseen]
                reached = (self.weights.rows(some)[:, unseen] > threshold).any(axis=0)
                label[unseen[reached]] = n_found
                frontier = np.concatenate([frontier, unseen[reached]])
                unseen = unseen[~reached]
            n_found += 1
        return label


@dataclass(frozen=True)
class DenseGraph(CompleteGraph, RowGraph):
    """The complete graph on rows."""
