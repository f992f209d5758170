"""What the paper says: errors, bounds, the cost of discretization, excess risk and its curves.

- ``errors``: errors of eigenfunctions and cut values over pairs of rows (``RowPairs``), the cost of
  discretization, excess risk
- ``bounds``: Theorems 1 to 4 and Corollaries 1 and 2
- ``curves``: ``learning_curve``, the excess risk against the number of rows
- ``betting``: confidence limits of means by bets
"""

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
