"""Pictures: clusters, doubt and choices as displays of matplotlib, in scikit-learn's convention.

A display holds plain arrays, and draws them: ``XDisplay.from_estimator(model, X)``, ``plot(ax)``.
It imports the estimator and what is below it, and matplotlib (the extra "plot") when it draws.
"""

from eigencut.plotting.clusters import ClusterDisplay, EmbeddingDisplay
from eigencut.plotting.curves import ChoiceDisplay, LearningCurveDisplay
from eigencut.plotting.new_rows import CutValueDisplay, DriftDisplay
from eigencut.plotting.scores import MarginDisplay, SimilarityDisplay, SupportDisplay
from eigencut.plotting.spectrum import ConvergenceDisplay, HierarchyDisplay, SpectrumDisplay

__all__ = [
    "ChoiceDisplay",
    "ClusterDisplay",
    "ConvergenceDisplay",
    "CutValueDisplay",
    "DriftDisplay",
    "EmbeddingDisplay",
    "HierarchyDisplay",
    "LearningCurveDisplay",
    "MarginDisplay",
    "SimilarityDisplay",
    "SpectrumDisplay",
    "SupportDisplay",
]
