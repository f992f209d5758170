"""How far a clustering can be trusted: errors, bounds, curves, label sets, significance, stability.

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
from eigencut.risk.label_sets import LabelSets, label_sets
from eigencut.risk.rows_needed import RowsNeeded, rows_needed
from eigencut.risk.significance import Significance, significance
from eigencut.risk.stability import Stability, stability
from eigencut.risk.summary import RiskSummary, assess

__all__ = [
    "Bounds",
    "ErrorEstimate",
    "Gap",
    "LabelSets",
    "LearningCurve",
    "RiskSummary",
    "RowsNeeded",
    "Significance",
    "Stability",
    "assess",
    "bounds",
    "crossed_error",
    "dirichlet_error",
    "discretization_gap",
    "empirical_error",
    "excess_risk",
    "label_sets",
    "largest_error",
    "learning_curve",
    "population_error",
    "rows_needed",
    "significance",
    "stability",
]
