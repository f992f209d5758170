"""Eigenfunctions of a graph of nearest neighbours, and of landmarks, in ONNX.

The edges of a row are those to its k nearest vertices, and to the vertices that have its nearest
vertex among their own (``neighbor_sums`` of the kernels): at most ``k + R`` of them, R being the
most that any vertex has. With landmarks ``u(x) = z(x)^T c``, z(x) on the r nearest landmarks.
Distances to these are taken from differences, in float64.
"""

from __future__ import annotations

import numpy as np

from eigencut._utils.arrays import Array
from eigencut.affinities.landmarks import LEAST_WIDTH
from eigencut.export.graph import (
    OnnxGraph,
    eigenfunction_nodes,
    nearest_vertices,
    point_nodes,
    squared_distances,
)
from eigencut.gpod import GPOD
from eigencut.kernels.numpy_kernels import SLACK
from eigencut.neighbors.metrics import FARTHEST

_NO_EDGE = -1e300  # the exponent of an edge that is none


class NeighborNodes:
    """The eigenfunctions of one GPOD with a graph of neighbours, as nodes of a graph."""

    def __init__(self, graph: OnnxGraph, model: GPOD) -> None:
        self._graph = graph
        self._functions = model.fitted_cut_.functions.base
        self._affinity = affinity = model.affinity_
        self._space = affinity._space
        self._points = affinity._points
        reverse = affinity._reverse
        n_reverse = np.diff(reverse.indptr)
        self._reverse = np.full((len(n_reverse), max(1, n_reverse.max())), -1)
        place = np.arange(reverse.nnz) - np.repeat(reverse.indptr[:-1], n_reverse)
        self._reverse[np.repeat(np.arange(len(n_reverse)), n_reverse), place] = reverse.indices

    def __call__(self, rows: str) -> tuple[str, str]:
        """The eigenfunctions at rows, and the support of the rows."""
        graph = self._graph
        points = point_nodes(graph, self._affinity.metric, rows)
        points = graph.in_units(points, None, self._space.exponent, FARTHEST)
        near, squares = nearest_vertices(graph, points, self._points, self._affinity.n_neighbors_)
        of_near = graph("Sqrt", squares)
        radius = graph.reduce("Max", of_near)
        first = graph("GatherElements", near, graph("ArgMin", of_near, axis=1, keepdims=1), axis=1)
        other, of_other = self._reverse_neighbors(points, first, near)
        numbers = graph("Concat", near, other, axis=1)
        distances = graph("Concat", of_near, of_other, axis=1)
        share, exponent = self._weights(distances, radius, numbers)
        sums, support = self._sums(share, exponent, numbers, first, near)
        nearest = graph("Squeeze", first, graph.integers([1]))
        return self._values(sums, support, rows, nearest), graph.cast(support)

    def _reverse_neighbors(self, points: str, first: str, near: str) -> tuple[str, str]:
        """Vertices that have the nearest one among their own, and distances; far if none."""
        graph, one, two = self._graph, self._graph.integers([1]), self._graph.integers([2])
        listed = graph("Gather", graph.integers(self._reverse), graph("Squeeze", first, one))
        numbers = graph("Max", listed, graph.integers([0]))
        same = graph("Equal", graph("Unsqueeze", listed, two), graph("Unsqueeze", near, one))
        n_same = graph("ReduceSum", graph("Cast", same, to=graph.DOUBLE), two, keepdims=0)
        is_new = graph("Equal", n_same, graph.double(0.0))
        is_listed = graph("GreaterOrEqual", listed, graph.integers([0]))
        distances = graph("Sqrt", squared_distances(graph, points, self._points, numbers))
        is_other = graph("And", is_new, is_listed)
        return numbers, graph("Where", is_other, distances, graph.double(FARTHEST))

    def _weights(self, distances: str, radius: str, numbers: str) -> tuple[str, str]:
        """Share and exponent of each edge, as ``EdgeWeight``."""
        graph, weight = self._graph, self._affinity._weight
        radii = graph("Gather", graph.double(self._affinity.radii_), numbers)
        within = [
            graph(
                "Cast",
                graph("LessOrEqual", distances, graph("Mul", r, graph.double(SLACK))),
                to=graph.DOUBLE,
            )
            for r in (radius, radii)
        ]
        if weight.is_mutual:
            share = graph("Mul", *within)
        else:
            share = graph("Mul", graph("Add", *within), graph.double(0.5))
        exponent = graph("Mul", distances, graph.double(0.0))
        if weight.width is not None:
            of_row, of_vertex = (self._width(r) for r in (radius, radii))
            squares = graph("Mul", graph("Mul", distances, distances), graph.double(-0.5))
            exponent = graph("Div", squares, graph("Mul", of_row, of_vertex))
        is_edge = graph("Greater", share, graph.double(0.0))
        return share, graph("Where", is_edge, exponent, graph.double(_NO_EDGE))

    def _width(self, radii: str) -> str:
        graph, width = self._graph, self._affinity._width
        clipped = graph("Clip", radii, graph.double(width.least), graph.double(width.most))
        return graph("Mul", clipped, graph.double(width.scale))

    def _sums(
        self, share: str, exponent: str, numbers: str, first: str, near: str
    ) -> tuple[str, str]:
        """Sums of the columns of ``_columns`` over the edges of each row, and log d(x)."""
        graph, one = self._graph, self._graph.integers([1])
        largest = graph.reduce("Max", exponent)
        is_alone = graph("LessOrEqual", largest, graph.double(_NO_EDGE))
        relative = graph("Max", graph("Sub", exponent, largest), graph.double(-700.0))
        weights = graph("Mul", share, graph("Exp", relative))
        # A row without a neighbour is as good as the training row nearest to it.
        is_first = graph("Cast", graph("Equal", numbers, first), to=graph.DOUBLE)
        weights = graph("Where", is_alone, is_first, weights)
        columns = graph("Gather", graph.double(self._columns()), numbers)
        product = graph("MatMul", graph("Unsqueeze", weights, one), columns)
        sums = graph("Squeeze", product, one)
        degrees = self._column(sums, len(self._functions.pairs.values))
        support = graph("Add", largest, graph("Log", degrees))
        contrast = self._affinity._contrast
        if contrast is not None:
            densities = graph("Gather", graph.double(contrast.densities), near)
            mean = graph.reduce("Mean", densities)
            log_factor = graph("Mul", graph("Log", mean), graph.double(contrast.beta))
            support = graph("Add", support, log_factor)
        return sums, graph("Where", is_alone, graph.double(-np.inf), support)

    def _columns(self) -> Array:
        """What is summed: the eigenvectors, ones, and the indicator of small components."""
        affinity, pairs = self._affinity, self._functions.pairs
        weight = affinity.multiplicity_ / affinity.n_rows_
        if affinity._contrast is not None:
            weight = weight * affinity._contrast.factors
        columns = np.column_stack([pairs.vectors, np.ones(len(weight)), ~pairs.takes_part])
        return np.asarray(columns * weight[:, np.newaxis])

    def _column(self, sums: str, *places: int) -> str:
        return self._graph("Gather", sums, self._graph.integers(places), axis=1)

    def _values(self, sums: str, support: str, rows: str, nearest: str) -> str:
        graph, functions = self._graph, self._functions
        K = len(functions.pairs.values)
        degrees = self._column(sums, K)
        average = graph.cast(graph("Div", self._column(sums, *range(K)), degrees))
        of_small = None
        if not functions.pairs.takes_part.all():
            of_small = graph.cast(graph("Div", self._column(sums, K + 1), degrees))
        least = graph.double(graph.precision.lowest_finite)
        return eigenfunction_nodes(
            graph,
            functions,
            average=average,
            of_small=of_small,
            support=graph.cast(graph("Max", support, least)),
            rows=rows,
            training_rows=self._affinity.rows_,
            nearest=nearest,
        )


class LandmarkNodes:
    """The eigenfunctions of one GPOD with landmarks, as nodes of a graph."""

    def __init__(self, graph: OnnxGraph, model: GPOD) -> None:
        self._graph = graph
        self._affinity = affinity = model.affinity_
        search = affinity._search
        self._space, self._points, self._r = search.space, search.points, search.n_nearest
        self._table = model.fitted_cut_.functions.base.eigenvectors()

    def __call__(self, rows: str) -> tuple[str, str]:
        """The eigenfunctions at rows, and the support of the rows."""
        graph = self._graph
        points = point_nodes(graph, self._affinity.metric, rows)
        points = graph.in_units(points, None, self._space.exponent, FARTHEST)
        nearest, squared = nearest_vertices(graph, points, self._points, self._r)
        weights = graph.cast(self._weights(squared))
        table = graph("Gather", graph.number(self._table), nearest)  # rows x r x K
        one = graph.integers([1])
        weighted = graph("MatMul", graph("Unsqueeze", weights, one), table)
        return graph("Squeeze", weighted, one), graph.cast(self._support(nearest, squared))

    def _weights(self, squared: str) -> str:
        """z(x), from squared distances to the r nearest landmarks; in float64 throughout."""
        graph = self._graph
        excess = graph("Sub", squared, graph.reduce("Min", squared))
        if self._affinity.sigma == "auto":
            width = farthest = graph.reduce("Max", squared)
            if self._affinity.from_nearest:
                least = graph("Mul", farthest, graph.double(LEAST_WIDTH))
                width = graph("Max", graph.reduce("Max", excess), least)
            width = graph("Mul", width, graph.double(self._affinity.local_scale**2))
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
        spacing = graph("Gather", graph.double(self._affinity._spacing), first)
        ratio = graph("Div", graph.reduce("Max", squared), spacing)
        return graph("Mul", ratio, graph.double(-0.5))
