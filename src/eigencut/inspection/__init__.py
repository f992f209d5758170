"""How far a clustering can be trusted on data it has not seen.

Cut values, errors, bounds, curves; label sets, significance, stability.

Numbers in, plain dataclasses out. It imports extension and what is below it.
"""

from eigencut.inspection.assessment import assess
from eigencut.inspection.cut_values import CutValue, cut_value
from eigencut.inspection.label_sets import LabelSets, label_sets
from eigencut.inspection.significance import Significance, significance
from eigencut.inspection.stability import Stability, stability
from eigencut.inspection.summary import RiskSummary
from eigencut.theory.bounds import Bounds, bounds, largest_error
from eigencut.theory.curves import (
    LearningCurve,
    RowsNeeded,
    excess_risk,
    learning_curve,
    rows_needed,
)
from eigencut.theory.discretization_cost import DiscretizationCost, discretization_cost
from eigencut.theory.errors import (
    ErrorEstimate,
    Gap,
    crossed_error,
    dirichlet_error,
    discretization_gap,
    empirical_error,
    population_error,
)
from eigencut.theory.measured_excess import MeasuredExcess, measured_excess

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
