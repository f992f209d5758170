"""Probabilities in ONNX; see ``eigencut.extension.labelling``."""

from __future__ import annotations

import numpy as np

from eigencut.export.graph import OnnxGraph
from eigencut.export.precision import Precision
from eigencut.fitted import FittedCut


def probability_nodes(
    graph: OnnxGraph,
    scores: str,
    labels: str,
    support: str,
    fitted: FittedCut,
    precision: Precision,
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
    ceiling = graph("Where", is_before, graph.number(-precision.nudge), zero)
    odds = graph("Exp", graph("Where", is_label, zero, graph("Min", logits, ceiling)))
    return graph("Div", odds, graph.reduce("Sum", odds))
