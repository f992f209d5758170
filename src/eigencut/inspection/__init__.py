"""How far a clustering can be trusted on data it has not seen, and what its clusters are.

Leaving shares, cut values, label sets, significance, stability and all of them in one summary:
numbers in, plain dataclasses out. The paper's errors, bounds and curves are in ``eigencut.theory``.
"""

from eigencut.inspection.assessment import RiskSummary, assess, cut_value
from eigencut.inspection.certificate import Certificate, certificate
from eigencut.inspection.leaving import LeavingShares, leaving_share
from eigencut.inspection.refits import (
    LabelSets,
    Significance,
    Stability,
    label_sets,
    significance,
    stability,
)

__all__ = [
    "Certificate",
    "LabelSets",
    "LeavingShares",
    "RiskSummary",
    "Significance",
    "Stability",
    "assess",
    "certificate",
    "cut_value",
    "label_sets",
    "leaving_share",
    "significance",
    "stability",
]
