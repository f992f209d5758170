"""The consistent form of eigenfunctions in ONNX, from averages over the training rows."""

from __future__ import annotations

from eigencut._utils.arrays import Array
from eigencut.export.graph import OnnxGraph
from eigencut.export.precision import Precision
from eigencut.extension.eigenfunctions import SUPPORT, Eigenfunctions


def consistent_values(
    graph: OnnxGraph,
    precision: Precision,
    functions: Eigenfunctions,
    average: str,
    of_small: str | None,
    support: str,
) -> tuple[str, str]:
    """``u_k(x)`` and whether it is supported; see ``eigencut.extension.eigenfunctions``.

    ``average`` is ``sum_j W(x, x_j) u[j] / d(x)``, ``of_small`` the share of small components in
    d(x), None where there are none, and ``support`` is log d(x).
    """
    power = functions.cut.mass_power - 1  # m(x) / d(x) = d(x) ** power
    exponent = graph("Mul", support, graph.number(power))
    exponent = graph("Min", exponent, graph.number(precision.largest_log))
    mass_per_degree = graph("Exp", exponent)
    if of_small is not None:
        others = graph("Sub", graph.number(1.0), of_small)
        mass_per_degree = graph("Mul", mass_per_degree, others)
    scaled = graph("Mul", mass_per_degree, graph.number(functions.pairs.values))
    denominator = graph("Sub", graph.number(1.0), scaled)
    least = graph.number(SUPPORT)
    is_supported = graph("Greater", graph.reduce("Min", denominator), least)
    consistent = graph("Div", average, graph("Max", denominator, least))
    return graph("Where", is_supported, consistent, average), is_supported


def with_training_rows(
    graph: OnnxGraph,
    functions: Eigenfunctions,
    values: str,
    is_supported: str,
    support: str,
    rows: str,
    training_rows: Array,
    nearest: str,
) -> str:
    """The values, but those of a vertex where a row is one without support, or alone."""
    apart = graph.reduce(
        "SumSquare", graph("Sub", rows, graph("Gather", graph.double(training_rows), nearest))
    )
    is_itself = graph("Equal", apart, graph.double(0.0))
    is_alone = graph("Less", support, graph.number(functions.least_log_degree))
    is_vertex = graph("Or", graph("And", is_itself, graph("Not", is_supported)), is_alone)
    at_vertex = graph("Gather", graph.number(functions.pairs.vectors), nearest)
    return graph("Where", is_vertex, at_vertex, values)
