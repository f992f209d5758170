"""How far clusters can be trusted on new data, and what they are.

``assess``, and refits: ``stability``, ``label_sets``, ``significance``. Other modules have the code
of ``model.describe``, ``eigencut.compare`` and ``eigencut.consensus``. Next door: ``theory``.
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
