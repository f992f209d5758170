"""Eigenfunctions of a Gaussian affinity in ONNX.

The weights are ``exp(-|x - x_j|^2 g(x) g(x_j))``. The largest exponent of a row is always
subtracted before ``exp``, so nothing underflows. Distances come from centred rows, by a matrix
product where that is accurate enough, and from differences otherwise.
"""

from __future__ import annotations

import math

import numpy as np

from eigencut._utils.arrays import SQUARABLE
from eigencut.export.graph import OnnxGraph, eigenfunction_nodes, point_nodes
from eigencut.extension.eigenfunctions import SUPPORT
from eigencut.gpod import GPOD
from eigencut.io.state_reader import StateReader


class GaussianNodes:
    """The eigenfunctions of one GPOD with a Gaussian affinity, as nodes of a graph."""

    def __init__(self, graph: OnnxGraph, model: GPOD) -> None:
        self._graph = graph
        self._model = model
        self._functions = model.fitted_cut_.functions.base
        state = StateReader(model.affinity_._state())
        n_rows = len(model.affinity_.multiplicity_)
        self._rows = state.array("rows", (n_rows, None))
        self._center = state.array("center", (None,))
        self._exponent = state.integer("exponent", -1100, 1100)
        self._local = state.part("local") if "local" in state else None
        self._contrast = model.affinity_._contrast
        widths = np.ldexp(model.affinity_.local_sigma(self._rows), -self._exponent)
        self._inverse_widths = 1 / (math.sqrt(2) * widths)
        self._metric = model.affinity_.metric
        self._points = model.affinity_._to_units(self._rows)

    def __call__(self, rows: str) -> tuple[str, str]:
        """The eigenfunctions at rows, and the support of the rows."""
        squared, nearest = self._squared_distances(self._to_units(rows))
        average, of_small, support = self._weighted_averages(squared)
        values = eigenfunction_nodes(
            self._graph,
            self._functions,
            average=average,
            of_small=of_small,
            support=support,
            rows=rows,
            training_rows=self._rows,
            nearest=nearest,
        )
        return values, support

    def _to_units(self, rows: str) -> str:
        """Centred, in units of the data."""
        graph = self._graph
        points = point_nodes(graph, self._metric, rows)
        moved = graph.in_units(points, self._center, self._exponent, SQUARABLE[1])
        limit = math.sqrt(-graph.precision.lowest_finite)
        moved = graph("Clip", moved, graph.double(-limit), graph.double(limit))
        return graph.cast(moved)

    def _squared_distances(self, u: str) -> tuple[str, str]:
        """``|u - u_j|^2`` to all training rows, and the number of the nearest of them."""
        graph = self._graph
        if self._is_product_accurate():
            norms = (self._points**2).sum(axis=1)
            product = graph("MatMul", u, graph.number(-2 * self._points.T))
            partial = graph("Add", product, graph.number(norms))  # |u_j|^2 - 2 u u_j
            own = graph.reduce("SumSquare", u)
            squared = graph("Max", graph("Add", partial, own), graph.number(0.0))
        else:
            squared = partial = self._by_differences(u)
        return squared, graph("ArgMin", partial, axis=1, keepdims=0)

    def _by_differences(self, u: str) -> str:
        graph, total = self._graph, ""
        for i, column in enumerate(self._points.T):
            difference = graph(
                "Sub", graph("Gather", u, graph.integers([i]), axis=1), graph.number(column)
            )
            square = graph("Mul", difference, difference)
            total = graph("Add", total, square) if total else square
        return total

    def _is_product_accurate(self) -> bool:
        """Whether ``|x|^2 - 2xy + |y|^2`` gives exponents and nearest rows without harm."""
        functions, largest = self._functions, np.linalg.norm(self._points, axis=1).max()
        reach = (2 * largest * self._inverse_widths.max()) ** 2
        epsilon = np.finfo(self._graph.dtype).eps
        if not reach * epsilon < self._graph.precision.exponent_error:
            return False
        log_degrees = np.log(np.maximum(functions.degrees, np.finfo(np.float64).tiny))
        mass_per_degree = functions.cut.mass_per_degree(log_degrees) * functions.pairs.takes_part
        denominator = 1 - mass_per_degree[:, np.newaxis] * functions.pairs.values
        # Training rows without similar ones are recognized by a distance of zero: by differences.
        return bool((denominator > SUPPORT).all())

    def _weighted_averages(self, squared: str) -> tuple[str, str | None, str]:
        """``sum_j W(x, x_j) u[j] / d(x)``, the share of small components, and log d(x)."""
        graph, affinity, limits = self._graph, self._model.affinity_, self._graph.precision
        exponents = graph("Mul", squared, graph.number(-self._inverse_widths))
        exponents = graph("Mul", exponents, self._inverse_width(squared))
        exponents = graph("Max", exponents, graph.number(limits.lowest_finite))
        largest = graph.reduce("Max", exponents)
        relative = graph("Sub", exponents, largest)
        relative = graph("Max", relative, graph.number(limits.lowest_exponent))
        U = self._functions.pairs.vectors
        share = affinity.multiplicity_[:, np.newaxis] / affinity.n_rows_
        if self._contrast is not None:
            share = share * self._contrast.factors[:, np.newaxis]
        weights = graph("Exp", relative)
        degrees = graph("MatMul", weights, graph.number(share))
        average = graph("Div", graph("MatMul", weights, graph.number(U * share)), degrees)
        is_small, of_small = ~self._functions.pairs.takes_part[:, np.newaxis], None
        if is_small.any():
            small = graph("MatMul", weights, graph.number(is_small * share))
            of_small = graph("Div", small, degrees)
        support = graph("Add", largest, graph("Log", degrees))
        if self._contrast is not None:
            support = graph("Add", support, self._log_contrast(squared))
        return average, of_small, support

    def _log_contrast(self, squared: str) -> str:
        """``beta log rho(x)``, rho being the mean over the vertices nearest to a row."""
        graph, contrast = self._graph, self._contrast
        k = min(self._model.affinity_.n_neighbors, len(self._rows))
        near = graph.smallest(squared, k)[1]
        mean = graph.reduce("Mean", graph("Gather", graph.number(contrast.densities), near))
        return graph("Mul", graph("Log", mean), graph.number(contrast.beta))

    def _inverse_width(self, squared: str) -> str:
        """g(x) = 1 / (sqrt(2) sigma(x)), a column; one number where sigma is one."""
        graph = self._graph
        if self._local is None or len(self._rows) == 1:  # no distance to learn a scale from
            return graph.number(self._inverse_widths[0])
        k = min(self._local.integer("k", 2), len(self._rows))
        closest = graph.smallest(squared, k)[0]
        distance = graph("Sqrt", graph.reduce("Max", closest))
        least, most = self._local.number("least"), self._local.number("most")
        within = graph("Clip", distance, graph.number(least), graph.number(most))
        width = graph("Mul", within, graph.number(self._local.number("scale")))
        lowest, highest = (float(np.clip(limit, 1e-37, 1e37)) for limit in SQUARABLE)
        if graph.dtype == np.float64:
            lowest, highest = SQUARABLE
        width = graph("Clip", width, graph.number(lowest), graph.number(highest))
        return graph("Div", graph.number(1 / math.sqrt(2)), width)
