"""What the paper says: errors, bounds, the cost of discretization, excess risk and its curves."""

from eigencut.theory.bounds import Bounds, bounds, largest_error
from eigencut.theory.curves import LearningCurve, RowsNeeded, learning_curve, rows_needed
from eigencut.theory.errors import (
    CutValue,
    ErrorEstimate,
    Gap,
    discretization_gap,
    empirical_error,
    population_error,
)
from eigencut.theory.excess import (
    DiscretizationCost,
    MeasuredExcess,
    discretization_cost,
    excess_risk,
    measured_excess,
)

__all__ = [
    "Bounds",
    "CutValue",
    "DiscretizationCost",
    "ErrorEstimate",
    "Gap",
    "LearningCurve",
    "MeasuredExcess",
    "RowsNeeded",
    "bounds",
    "discretization_cost",
    "discretization_gap",
    "empirical_error",
    "excess_risk",
    "largest_error",
    "learning_curve",
    "measured_excess",
    "population_error",
    "rows_needed",
]
