"""The nearest of some points as nodes of an ONNX graph."""

from __future__ import annotations

from eigencut._utils.arrays import Array
from eigencut.export.graph import OnnxGraph
from eigencut.neighbors.metrics import middle


def nearest_numbers(graph: OnnxGraph, points: str, vertices: Array, k: int) -> str:
    """Numbers of the k vertices nearest to each point."""
    centre = middle(vertices)  # around which products are most accurate
    moved, points_there = vertices - centre, graph("Sub", points, graph.double(centre))
    product = graph("MatMul", points_there, graph.double(-2 * moved.T))
    partial = graph("Add", product, graph.double((moved**2).sum(axis=1)))  # |y|^2 - 2 x y
    wanted = graph.integers([k])
    _, near = graph.several(2, "TopK", partial, wanted, axis=1, largest=0, sorted=1)
    return near
