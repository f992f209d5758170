"""How far a clustering can be trusted on data it has not seen.

Cut values, errors, bounds, curves; label sets, significance, stability.

Numbers in, plain dataclasses out. It imports extension and what is below it.
"""

from eigencut.risk.assessment import assess
from eigencut.risk.bounds import Bounds, bounds, largest_error
from eigencut.risk.curves import LearningCurve, excess_risk, learning_curve
from eigencut.risk.cut_values import CutValue, cut_value
from eigencut.risk.discrete import DiscretizationCost, discretization_cost
from eigencut.risk.errors import (
    ErrorEstimate,
    Gap,
    crossed_error,
    dirichlet_error,
    discretization_gap,
    empirical_error,
    population_error,
)
from eigencut.risk.label_sets import LabelSets, label_sets
from eigencut.risk.measured_excess import MeasuredExcess, measured_excess
from eigencut.risk.rows_needed import RowsNeeded, rows_needed
from eigencut.risk.significance import Significance, significance
from eigencut.risk.stability import Stability, stability
from eigencut.risk.summary import RiskSummary

__all__ = [
    "Bounds",
    "CutValue",
    "DiscretizationCost",
    "ErrorEstimate",
    "Gap",
    "LabelSets",
    "LearningCurve",
    "MeasuredExcess",
    "RiskSummary",
    "RowsNeeded",
    "Significance",
    "Stability",
    "assess",
    "bounds",
    "crossed_error",
    "cut_value",
    "dirichlet_error",
    "discretization_cost",
    "discretization_gap",
    "empirical_error",
    "excess_risk",
    "label_sets",
    "largest_error",
    "learning_curve",
    "measured_excess",
    "population_error",
    "rows_needed",
    "significance",
    "stability",
]
