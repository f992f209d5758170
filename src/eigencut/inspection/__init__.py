"""How far a clustering can be trusted on data it has not seen, and what its clusters are.

Numbers in, plain dataclasses out. The paper's errors, bounds and curves are in ``eigencut.theory``.

- ``assessment``: ``assess``, all in one summary
- ``leaving``: the share of a row's weight that leaves its cluster, with limits
- ``refits``: ``stability``, ``label_sets``, ``significance``: the same estimator on other rows
- ``describe``: columns, rules, typical rows and words of clusters, and their names
- ``compare``: several clusterings side by side; ``consensus``: one partition from many
- ``policy``: every threshold
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
