"""Pictures: clusters, doubt and choices as displays of matplotlib, in scikit-learn's convention.

A display holds plain arrays, and draws them: ``XDisplay.from_estimator(model, X)``, ``plot(ax)``.
It imports the estimator and what is below it, and matplotlib (the extra "plot") when it draws.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eigencut.plots.choices import ChoiceDisplay
    from eigencut.plots.clusters import ClusterDisplay
    from eigencut.plots.convergence import ConvergenceDisplay
    from eigencut.plots.cut_values import CutValueDisplay
    from eigencut.plots.drift import DriftDisplay
    from eigencut.plots.embedding import EmbeddingDisplay
    from eigencut.plots.hierarchy import HierarchyDisplay
    from eigencut.plots.learning_curve import LearningCurveDisplay
    from eigencut.plots.margins import MarginDisplay
    from eigencut.plots.similarity import SimilarityDisplay
    from eigencut.plots.spectrum import SpectrumDisplay
    from eigencut.plots.support import SupportDisplay

# Displays and the modules that hold them, imported when first used.
_HOME = {
    "ChoiceDisplay": "choices",
    "ClusterDisplay": "clusters",
    "ConvergenceDisplay": "convergence",
    "CutValueDisplay": "cut_values",
    "DriftDisplay": "drift",
    "EmbeddingDisplay": "embedding",
    "HierarchyDisplay": "hierarchy",
    "LearningCurveDisplay": "learning_curve",
    "MarginDisplay": "margins",
    "SimilarityDisplay": "similarity",
    "SpectrumDisplay": "spectrum",
    "SupportDisplay": "support",
}

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


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'eigencut.plots' has no attribute {name!r}")
    return getattr(import_module(f"eigencut.plots.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return __all__
