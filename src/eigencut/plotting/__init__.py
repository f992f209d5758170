"""Pictures: clusters, doubt and choices as displays of matplotlib, in scikit-learn's convention.

A display holds plain arrays, and draws them: ``XDisplay.from_estimator(model, X)``, ``plot(ax)``.
"""

from eigencut.plotting.curves import ChoiceDisplay, LearningCurveDisplay
from eigencut.plotting.displays import (
    ClusterDisplay,
    CutValueDisplay,
    DriftDisplay,
    EmbeddingDisplay,
    HierarchyDisplay,
    MarginDisplay,
    SimilarityDisplay,
    SpectrumDisplay,
    SplitDisplay,
    SupportDisplay,
)

__all__ = [
    "ChoiceDisplay",
    "ClusterDisplay",
    "CutValueDisplay",
    "DriftDisplay",
    "EmbeddingDisplay",
    "HierarchyDisplay",
    "LearningCurveDisplay",
    "MarginDisplay",
    "SimilarityDisplay",
    "SpectrumDisplay",
    "SplitDisplay",
    "SupportDisplay",
]
