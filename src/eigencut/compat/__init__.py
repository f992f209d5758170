"""scikit-learn's names with what is here behind them: for code that is there already."""

from eigencut.compat.neighbors import KNeighborsTransformer
from eigencut.compat.spectral import SpectralClustering

__all__ = ["KNeighborsTransformer", "SpectralClustering"]
