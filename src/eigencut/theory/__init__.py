"""Theory of the paper: errors and excess risk, cost of discretization, bounds, learning curves."""

from eigencut.theory.bounds import Bounds, bounds
from eigencut.theory.curves import LearningCurve, learning_curve
from eigencut.theory.errors import (
    CutValue,
    DiscretizationCost,
    ErrorEstimate,
    MeasuredExcess,
    excess_risk,
)

__all__ = [
    "Bounds",
    "CutValue",
    "DiscretizationCost",
    "ErrorEstimate",
    "LearningCurve",
    "MeasuredExcess",
    "bounds",
    "excess_risk",
    "learning_curve",
]
