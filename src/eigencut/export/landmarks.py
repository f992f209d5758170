"""Eigenfunctions of landmarks in ONNX: ``u(x) = z(x)^T c``, z(x) on the r nearest landmarks."""

from __future__ import annotations

import numpy as np

from eigencut.affinities.landmarks import LEAST_WIDTH
from eigencut.export.graph import OnnxGraph
from eigencut.export.nearest import nearest_numbers
from eigencut.export.points import point_nodes
from eigencut.export.precision import Precision
from eigencut.gpod import GPOD
from eigencut.neighbors.metrics import FARTHEST


class LandmarkNodes:
    """The eigenfunctions of one GPOD with landmarks, as nodes of a graph."""

    def __init__(self, graph: OnnxGraph, model: GPOD, precision: Precision) -> None:
        self._graph = graph
        self._affinity = affinity = model.affinity_
        search = affinity._search
        self._space, self._points, self._r = search.space, search.points, search.n_nearest
        self._local_scale = affinity.local_scale
        self._spacing = affinity._spacing
        self._table = model.fitted_cut_.functions.base.eigenvectors()

    def __call__(self, rows: str) -> tuple[str, str]:
        """The eigenfunctions at rows, and the support of the rows."""
        graph = self._graph
        points = point_nodes(graph, self._affinity.metric, rows)
        given = (None, self._space.exponent, FARTHEST)
        nearest, squared = self._nearest(graph.in_units(points, *given))
        weights = graph.cast(self._weights(squared))
        table = graph("Gather", graph.number(self._table), nearest)  # rows x r x K
        one = graph.integers([1])
        weighted = graph("MatMul", graph("Unsqueeze", weights, one), table)
        return graph("Squeeze", weighted, one), graph.cast(self._support(nearest, squared))

    def _nearest(self, rows: str) -> tuple[str, str]:
        """Numbers of the r nearest landmarks, and squared distances from direct differences."""
        graph = self._graph
        nearest = nearest_numbers(graph, rows, self._points, self._r)
        points = graph("Gather", graph.double(self._points), nearest)  # rows x r x features
        difference = graph("Sub", points, graph("Unsqueeze", rows, graph.integers([1])))
        return nearest, graph("ReduceSumSquare", difference, graph.integers([2]), keepdims=0)

    def _weights(self, squared: str) -> str:
        """z(x), from squared distances to the r nearest landmarks; in float64 throughout."""
        graph = self._graph
        excess = graph("Sub", squared, graph.reduce("Min", squared))
        if self._affinity.sigma == "auto":
            width = farthest = graph.reduce("Max", squared)
            if self._affinity.from_nearest:
                least = graph("Mul", farthest, graph.double(LEAST_WIDTH))
                width = graph("Max", graph.reduce("Max", excess), least)
            width = graph("Mul", width, graph.double(self._local_scale**2))
        else:
            width = graph.double(self._affinity._sigma_in_units() ** 2)
        width = graph("Max", width, graph.double(float(np.finfo(np.float64).tiny)))
        exponents = graph("Mul", graph("Div", excess, width), graph.double(-0.5))
        weights = graph("Exp", exponents)
        return graph("Div", weights, graph.reduce("Sum", weights))

    def _support(self, nearest: str, squared: str) -> str:
        """``-1/2 (d_r(x) / d_r(y))^2``, y the nearest landmark."""
        graph = self._graph
        place = graph("ArgMin", squared, axis=1, keepdims=1)
        first = graph("GatherElements", nearest, place, axis=1)
        spacing = graph("Gather", graph.double(self._spacing), first)
        ratio = graph("Div", graph.reduce("Max", squared), spacing)
        return graph("Mul", ratio, graph.double(-0.5))
