"""Pictures: clusters, doubt and choices as displays of matplotlib, in scikit-learn's convention.

A display holds plain arrays, and draws them: ``XDisplay.from_estimator(model, X)``, ``plot(ax)``.
It imports the estimator and what is below it, and matplotlib (the extra "plot") when it draws.

- ``displays``: all pictures of a fitted model, and how rows become points (``prepared_rows``,
  ``project``)
- ``curves``: what ``select`` has compared, and learning curves
- ``style``: colours and markers of clusters, the base class ``Display``, legends
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
