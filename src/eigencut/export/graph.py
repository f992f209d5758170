"""ONNX graphs: nodes are calls that return the name of their output; nodes that all models have."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from eigencut._utils.arrays import Array
from eigencut._utils.validation import needed
from eigencut.discretization import TIE
from eigencut.extension.eigenfunctions import SUPPORT, Eigenfunctions
from eigencut.extension.labelling import NUDGE
from eigencut.fitted import FittedCut
from eigencut.neighbors.metrics import EARTH_RADIUS, middle


@dataclass(frozen=True)
class Precision:
    """Limits of a floating-point type."""

    lowest_exponent: float  # exp() of less is nothing
    lowest_finite: float  # of an exponent before the largest is subtracted
    largest_log: float  # exp() of more overflows
    tie: float  # scores that differ by less are equal
    exponent_error: float  # of a matrix product, tolerated
    nudge: float  # of the logarithm of a probability that must not equal the label's


PRECISIONS = {
    "float64": Precision(-700.0, -1e300, 690.0, TIE, 1e-11, NUDGE),
    "float32": Precision(-80.0, -1e37, 80.0, 1e-6, 1e-5, 1e-6),
}


def import_onnx() -> Any:
    """The onnx package, or how to get it."""
    needed("onnxruntime", "onnx")
    return needed("onnx", "onnx")


class OnnxGraph:
    """A graph with the input ``X``: ``graph("Add", a, b)`` adds a node and returns its output."""

    def __init__(self, dtype: str) -> None:
        onnx = import_onnx()
        self.dtype, self.precision = np.dtype(dtype), PRECISIONS[dtype]
        self.DOUBLE, self.INT32 = onnx.TensorProto.DOUBLE, onnx.TensorProto.INT32
        self._onnx = onnx
        self._type = onnx.helper.np_dtype_to_tensor_dtype(self.dtype)
        self._nodes: list[Any] = []
        self._constants: dict[tuple[Any, ...], Any] = {}

    def __call__(self, operator: str, *inputs: str, **attributes: Any) -> str:
        return self.several(1, operator, *inputs, **attributes)[0]

    def several(self, n: int, operator: str, *inputs: str, **attributes: Any) -> list[str]:
        """A node with n outputs."""
        outputs = [f"{operator.lower()}_{len(self._nodes)}_{i}" for i in range(n)]
        node = self._onnx.helper.make_node(operator, list(inputs), outputs, **attributes)
        self._nodes.append(node)
        return outputs

    def reduce(self, kind: str, name: str) -> str:
        """Sum, Max, L2, ... over each row, as a column."""
        return self(f"Reduce{kind}", name, self.integers([1]), keepdims=1)

    def smallest(self, name: str, k: int) -> list[str]:
        """The k smallest values of each row, ascending, and their places."""
        wanted = self.integers([k])
        return self.several(2, "TopK", name, wanted, axis=1, largest=0, sorted=1)

    def cast(self, name: str) -> str:
        """To the type of this graph."""
        return self("Cast", name, to=self._type)

    def in_units(self, rows: str, center: ArrayLike | None, exponent: int, farthest: float) -> str:
        """Rows, around a center, in units of a power of two; in float64, lest digits be lost."""
        moved = rows if center is None else self("Sub", rows, self.double(center))
        first = -exponent // 2  # two factors, for one power of two can be beyond float64
        for power in (first, -exponent - first):
            moved = self("Mul", moved, self.double(math.ldexp(1.0, power)))
        return self("Clip", moved, self.double(-farthest), self.double(farthest))

    def number(self, value: ArrayLike) -> str:
        """A constant in the type of this graph."""
        return self._constant(np.asarray(value, dtype=self.dtype))

    def double(self, value: ArrayLike) -> str:
        return self._constant(np.asarray(value, dtype=np.float64))

    def integers(self, value: ArrayLike) -> str:
        return self._constant(np.asarray(value, dtype=np.int64))

    def _constant(self, value: Any) -> str:
        value = np.ascontiguousarray(value) if value.ndim else value
        key = (value.dtype.str, value.shape, value.tobytes())
        if key not in self._constants:
            name = f"constant_{len(self._constants)}"
            self._constants[key] = self._onnx.numpy_helper.from_array(value, name)
        return str(self._constants[key].name)

    def model(
        self,
        n_columns: int,
        outputs: dict[str, str],
        n_clusters: int,
        n_numbers: int,
        properties: dict[str, str],
    ) -> Any:
        """The checked model, for batches of any size."""
        helper, proto = self._onnx.helper, self._onnx.TensorProto
        per_cluster = ["n", n_clusters]
        # Of the others, a column per cluster.
        shapes = {"labels": ["n"], "support": ["n"], "probabilities": ["n", n_numbers]}
        types = {"labels": proto.INT64}  # of the others, that of this graph
        for name, inner in outputs.items():
            self._nodes.append(helper.make_node("Identity", [inner], [name]))
        graph = helper.make_graph(
            self._nodes,
            "eigencut",
            [helper.make_tensor_value_info("X", self._type, ["n", n_columns])],
            [
                helper.make_tensor_value_info(
                    name, types.get(name, self._type), shapes.get(name, per_cluster)
                )
                for name in outputs
            ],
            list(self._constants.values()),
        )
        model = helper.make_model(
            graph,
            producer_name="eigencut",
            ir_version=8,  # of 2022, like the operators: old enough for every runtime in use
            opset_imports=[helper.make_opsetid("", 18)],
        )
        helper.set_model_props(model, properties)
        self._onnx.checker.check_model(model)
        return model


# ------------------------------------------------------------ rows as points of a metric

EXPORTED = ("euclidean", "cosine", "haversine")  # metrics


def point_nodes(graph: OnnxGraph, metric: str, rows: str) -> str:
    """The points that stand for rows, in float64; any numbers for rows that have none."""
    if metric == "cosine":
        return _unit_rows(graph, rows)
    return _places_on_earth(graph, rows) if metric == "haversine" else rows


def has_point_nodes(graph: OnnxGraph, metric: str, rows: str) -> str | None:
    """Whether each row has a point, a column; None where all have."""
    if metric == "cosine":
        return graph("Greater", graph.reduce("Max", graph("Abs", rows)), graph.double(0.0))
    if metric != "haversine":
        return None
    latitude, longitude = (_column(graph, rows, place) for place in (0, 1))
    within = graph("LessOrEqual", graph("Abs", latitude), graph.double(90.0))
    for condition, limit in (("GreaterOrEqual", -180.0), ("LessOrEqual", 360.0)):
        within = graph("And", within, graph(condition, longitude, graph.double(limit)))
    return within


def _unit_rows(graph: OnnxGraph, rows: str) -> str:
    zero, one = graph.double(0.0), graph.double(1.0)
    largest = graph.reduce("Max", graph("Abs", rows))
    largest = graph("Where", graph("Greater", largest, zero), largest, one)
    scaled = graph("Div", rows, largest)
    length = graph("Sqrt", graph.reduce("SumSquare", scaled))
    return graph("Div", scaled, graph("Max", length, one))  # the largest number is 1 by now


def _places_on_earth(graph: OnnxGraph, rows: str) -> str:
    radians = graph("Mul", rows, graph.double(math.pi / 180))
    phi, lam = (_column(graph, radians, place) for place in (0, 1))
    around = graph("Cos", phi)
    of_lam = [graph("Mul", around, graph(name, lam)) for name in ("Cos", "Sin")]
    points = graph("Concat", *of_lam, graph("Sin", phi), axis=1)
    return graph("Mul", points, graph.double(EARTH_RADIUS))


def _column(graph: OnnxGraph, rows: str, place: int) -> str:
    return graph("Gather", rows, graph.integers([place]), axis=1)


def nearest_vertices(graph: OnnxGraph, points: str, vertices: Array, k: int) -> tuple[str, str]:
    """Numbers of the k vertices nearest to each point, and squared distances to them."""
    centre = middle(vertices)  # around which products are most accurate
    moved, points_there = vertices - centre, graph("Sub", points, graph.double(centre))
    product = graph("MatMul", points_there, graph.double(-2 * moved.T))
    partial = graph("Add", product, graph.double((moved**2).sum(axis=1)))  # |y|^2 - 2 x y
    near = graph.smallest(partial, k)[1]
    return near, squared_distances(graph, points, vertices, near)


def squared_distances(graph: OnnxGraph, points: str, vertices: Array, numbers: str) -> str:
    """From each point to the vertices of these numbers, by differences."""
    there = graph("Gather", graph.double(vertices), numbers)  # rows x edges x features
    difference = graph("Sub", there, graph("Unsqueeze", points, graph.integers([1])))
    return graph("ReduceSumSquare", difference, graph.integers([2]), keepdims=0)


# ------------------------------------------------------- eigenfunctions and probabilities


def eigenfunction_nodes(
    graph: OnnxGraph,
    functions: Eigenfunctions,
    *,
    average: str,
    of_small: str | None,
    support: str,
    rows: str,
    training_rows: Array,
    nearest: str,
) -> str:
    """``u_k(x)``, see ``eigencut.extension.eigenfunctions``.

    ``average`` is ``sum_j W(x, x_j) u[j] / d(x)``, ``of_small`` the share of small components in
    d(x), None where there are none, and ``support`` is log d(x). A row that is a training row
    without similar ones, or is alone, has the values of the ``nearest`` training row.
    """
    power = functions.cut.mass_power - 1  # m(x) / d(x) = d(x) ** power
    exponent = graph("Mul", support, graph.number(power))
    exponent = graph("Min", exponent, graph.number(graph.precision.largest_log))
    mass_per_degree = graph("Exp", exponent)
    if of_small is not None:
        others = graph("Sub", graph.number(1.0), of_small)
        mass_per_degree = graph("Mul", mass_per_degree, others)
    scaled = graph("Mul", mass_per_degree, graph.number(functions.pairs.values))
    denominator = graph("Sub", graph.number(1.0), scaled)
    least = graph.number(SUPPORT)
    is_supported = graph("Greater", graph.reduce("Min", denominator), least)
    consistent = graph("Div", average, graph("Max", denominator, least))
    values = graph("Where", is_supported, consistent, average)
    difference = graph("Sub", rows, graph("Gather", graph.double(training_rows), nearest))
    is_itself = graph("Equal", graph.reduce("SumSquare", difference), graph.double(0.0))
    is_alone = graph("Less", support, graph.number(functions.least_log_degree))
    is_vertex = graph("Or", graph("And", is_itself, graph("Not", is_supported)), is_alone)
    at_vertex = graph("Gather", graph.number(functions.pairs.vectors), nearest)
    return graph("Where", is_vertex, at_vertex, values)


def probability_nodes(
    graph: OnnxGraph, scores: str, labels: str, support: str, fitted: FittedCut
) -> str:
    """p_k for each row, a column per cluster; the first of the largest is the label."""
    zero, one = graph.number(0.0), graph.number(1.0)
    clipped = graph("Clip", scores, zero, one)
    behind = graph("Sub", clipped, graph.reduce("Max", clipped))
    excess = graph("Sub", support, graph.number(fitted.least_support))
    certain = graph("Exp", graph("Min", excess, zero))
    logits = graph("Mul", behind, graph("Div", certain, graph.number(fitted.temperature)))
    numbers = graph.integers(np.arange(fitted.rotation.shape[1])[np.newaxis])
    is_before, is_label = graph("Less", numbers, labels), graph("Equal", numbers, labels)
    ceiling = graph("Where", is_before, graph.number(-graph.precision.nudge), zero)
    odds = graph("Exp", graph("Where", is_label, zero, graph("Min", logits, ceiling)))
    return graph("Div", odds, graph.reduce("Sum", odds))
