"""Displays of matplotlib, as in scikit-learn: ``ClusterDisplay.from_estimator(model, X)``.

A display holds plain arrays; ``plot(ax)`` draws them again. ``style`` has colours and axes.
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
