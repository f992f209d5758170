"""Pictures: clusters, doubt and choices as displays of matplotlib, in scikit-learn's convention.

A display holds plain arrays, and draws them: ``XDisplay.from_estimator(model, X)``, ``plot(ax)``.
It imports the estimator and what is below it, and matplotlib (the extra "plot") when it draws.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eigencut.plotting.choices import ChoiceDisplay
    from eigencut.plotting.clusters import ClusterDisplay
    from eigencut.plotting.convergence import ConvergenceDisplay
    from eigencut.plotting.cut_values import CutValueDisplay
    from eigencut.plotting.drift import DriftDisplay
    from eigencut.plotting.embedding import EmbeddingDisplay
    from eigencut.plotting.hierarchy import HierarchyDisplay
    from eigencut.plotting.learning_curve import LearningCurveDisplay
    from eigencut.plotting.margins import MarginDisplay
    from eigencut.plotting.similarity import SimilarityDisplay
    from eigencut.plotting.spectrum import SpectrumDisplay
    from eigencut.plotting.support import SupportDisplay

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
        raise AttributeError(f"module 'eigencut.plotting' has no attribute {name!r}")
    return getattr(import_module(f"eigencut.plotting.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return __all__
