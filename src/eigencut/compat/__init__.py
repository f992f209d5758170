"""scikit-learn's names with what is here behind them: for code that is there already.

It imports the estimator and what is below it.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eigencut.compat.neighbors import KNeighborsTransformer
    from eigencut.compat.spectral import SpectralClustering

__all__ = ["KNeighborsTransformer", "SpectralClustering"]

_HOME = {
    "KNeighborsTransformer": "eigencut.compat.neighbors",
    "SpectralClustering": "eigencut.compat.spectral",
}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'eigencut.compat' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)
