"""What the paper says: errors, bounds, the cost of discretization, excess risk and its curves.

- ``errors``: errors of eigenfunctions and cut values over pairs of rows (``RowPairs``), the cost of
  discretization, excess risk, Rademacher complexity
- ``bounds``: Theorems 1 to 4 and Corollaries 1 and 2
- ``curves``: ``learning_curve``, the excess risk against the number of rows, and ``rows_needed``
- ``betting``: confidence limits of means and of cut values by bets
"""

from eigencut.theory.bounds import Bounds, bounds
from eigencut.theory.curves import LearningCurve, RowsNeeded, learning_curve, rows_needed
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
    "RowsNeeded",
    "bounds",
    "discretization_cost",
    "discretization_gap",
    "empirical_error",
    "excess_risk",
    "excess_terms",
    "learning_curve",
    "measured_excess",
    "population_error",
    "rademacher",
    "rows_needed",
]
