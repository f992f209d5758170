"""How far a clustering can be trusted on data it has not seen, and what its clusters are.

Numbers in, plain dataclasses out. The paper's errors, bounds and curves are in ``eigencut.theory``.
"""

from eigencut.inspection.assessment import RiskSummary, assess
from eigencut.inspection.leaving import LeavingShares
from eigencut.inspection.refits import (
    LabelSets,
    Significance,
    Stability,
    label_sets,
    significance,
    stability,
)

__all__ = [
    "LabelSets",
    "LeavingShares",
    "RiskSummary",
    "Significance",
    "Stability",
    "assess",
    "label_sets",
    "significance",
    "stability",
]
