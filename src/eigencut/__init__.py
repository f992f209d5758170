"""eigencut: spectral clustering that can be fitted once and then asked about new data.

X ──► affinity ──► cut ──► eigenpairs ──► pod ──► labels_            fit
X_new ─► affinity.apply ─► extension ─► rotation ─► labels           predict
"""

from eigencut._version import __version__
from eigencut.affinity import Affinity, Gaussian, Kernel, Precomputed
from eigencut.components import GraphWarning
from eigencut.estimator import GPOD
from eigencut.pod import Partition, pod

__all__ = [
    "GPOD",
    "Affinity",
    "Gaussian",
    "GraphWarning",
    "Kernel",
    "Partition",
    "Precomputed",
    "__version__",
    "pod",
]
