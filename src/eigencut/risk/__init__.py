"""How far a clustering can be trusted on data it has not seen: errors, bounds, curves, a summary.

Numbers in, plain dataclasses out. It imports extension and what is below it.
"""

from eigencut.risk.bounds import Bounds, bounds, largest_error
from eigencut.risk.curves import LearningCurve, excess_risk, learning_curve
from eigencut.risk.errors import (
    ErrorEstimate,
    Gap,
    crossed_error,
    dirichlet_error,
    discretization_gap,
    empirical_error,
    population_error,
)
from eigencut.risk.summary import RiskSummary, assess

__all__ = [
    "Bounds",
    "ErrorEstimate",
    "Gap",
    "LearningCurve",
    "RiskSummary",
    "assess",
    "bounds",
    "crossed_error",
    "dirichlet_error",
    "discretization_gap",
    "empirical_error",
    "excess_risk",
    "largest_error",
    "learning_curve",
    "population_error",
]
