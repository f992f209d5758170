"""Rows as points of a metric, as nodes of an ONNX graph: ``Metric.points``."""

from __future__ import annotations

import math

from eigencut.export.graph import OnnxGraph
from eigencut.neighbors.metrics import EARTH_RADIUS

_NORTH, _WEST, _EAST = 90.0, -180.0, 360.0

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
    within = graph("LessOrEqual", graph("Abs", latitude), graph.double(_NORTH))
    for condition, limit in (("GreaterOrEqual", _WEST), ("LessOrEqual", _EAST)):
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
