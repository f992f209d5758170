"""How far a clustering can be trusted on data it has not seen, and what its clusters are.

Cut values, label sets, significance, stability and all of them in one summary: numbers in, plain
dataclasses out. The paper's errors, bounds and curves are in ``eigencut.theory``.
"""

from eigencut.inspection.assessment import RiskSummary, assess
from eigencut.inspection.cut_values import cut_value
from eigencut.inspection.refits import LabelSets, Stability, label_sets, stability
from eigencut.inspection.significance import Significance, significance

__all__ = [
    "LabelSets",
    "RiskSummary",
    "Significance",
    "Stability",
    "assess",
    "cut_value",
    "label_sets",
    "significance",
    "stability",
]
