"""What the paper says: errors, bounds, the cost of discretization, excess risk and its curves."""

from eigencut.theory.bounds import Bounds, bounds, largest_error
from eigencut.theory.curves import LearningCurve, learning_curve
from eigencut.theory.errors import (
    CutValue,
    DiscretizationCost,
    ErrorEstimate,
    Gap,
    MeasuredExcess,
    Rademacher,
    discretization_cost,
    discretization_gap,
    empirical_error,
    excess_risk,
    excess_terms,
    measured_excess,
    population_error,
    rademacher,
)

__all__ = [
    "Bounds",
    "CutValue",
    "DiscretizationCost",
    "ErrorEstimate",
    "Gap",
    "LearningCurve",
    "MeasuredExcess",
    "Rademacher",
    "bounds",
    "discretization_cost",
    "discretization_gap",
    "empirical_error",
    "excess_risk",
    "excess_terms",
    "largest_error",
    "learning_curve",
    "measured_excess",
    "population_error",
    "rademacher",
]
