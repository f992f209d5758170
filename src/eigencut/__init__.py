"""eigencut: spectral clustering that can be fitted once and then asked about new data.

X ──► affinity ──► cut ──► eigenpairs ──► pod ──► labels_            fit
X_new ─► affinity.apply ─► extension ─► rotation ─► labels           predict
"""

from importlib import import_module
from typing import TYPE_CHECKING

from eigencut._version import __version__

if TYPE_CHECKING:
    from eigencut import (
        compat,
        datasets,
        export,
        image,
        integrations,
        plots,
        report,
        risk,
        scanpy,
        spark,
        spatial,
    )
    from eigencut.affinity import (
        Affinity,
        Gaussian,
        Kernel,
        Landmarks,
        Neighbors,
        Precomputed,
        SharedNeighbors,
    )
    from eigencut.data.rows import Rows
    from eigencut.data.table_model import TableModel
    from eigencut.discretization import Partition, pod
    from eigencut.estimator import GPOD
    from eigencut.exceptions import GraphWarning, MemoryRefusal, ModelFileError
    from eigencut.files.models import load
    from eigencut.known.constraints import Constraints
    from eigencut.living.alignment import align_labels
    from eigencut.nested.recluster import Reclustered, recluster
    from eigencut.selection.select import select

# Public names and the modules that hold them. They are imported when first used: scikit-learn takes
# a second, and imports pandas where that is installed.
_HOME = {
    "Affinity": "eigencut.affinity",
    "Constraints": "eigencut.known.constraints",
    "GPOD": "eigencut.estimator",
    "Gaussian": "eigencut.affinity",
    "GraphWarning": "eigencut.exceptions",
    "Kernel": "eigencut.affinity",
    "Landmarks": "eigencut.affinity",
    "MemoryRefusal": "eigencut.exceptions",
    "ModelFileError": "eigencut.exceptions",
    "Neighbors": "eigencut.affinity",
    "Partition": "eigencut.discretization",
    "Precomputed": "eigencut.affinity",
    "Reclustered": "eigencut.nested.recluster",
    "Rows": "eigencut.data.rows",
    "SharedNeighbors": "eigencut.affinity",
    "TableModel": "eigencut.data.table_model",
    "align_labels": "eigencut.living.alignment",
    "load": "eigencut.files.models",
    "pod": "eigencut.discretization",
    "recluster": "eigencut.nested.recluster",
    "select": "eigencut.selection.select",
}
# Rooms whose names users write, eigencut.risk.assess(model); and partners.
_ROOMS = ("compat", "datasets", "export", "integrations", "plots", "report", "risk")
_PARTNERS = ("image", "scanpy", "spark", "spatial")

__all__ = [
    "GPOD",
    "Affinity",
    "Constraints",
    "Gaussian",
    "GraphWarning",
    "Kernel",
    "Landmarks",
    "MemoryRefusal",
    "ModelFileError",
    "Neighbors",
    "Partition",
    "Precomputed",
    "Reclustered",
    "Rows",
    "SharedNeighbors",
    "TableModel",
    "__version__",
    "align_labels",
    "compat",
    "datasets",
    "export",
    "image",
    "integrations",
    "load",
    "plots",
    "pod",
    "recluster",
    "report",
    "risk",
    "scanpy",
    "select",
    "spark",
    "spatial",
]


def __getattr__(name: str) -> object:
    if name in _ROOMS or name in _PARTNERS:
        return import_module(f"eigencut.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'eigencut' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
