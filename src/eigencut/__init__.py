"""eigencut: spectral clustering that is fitted once and then labels new rows.

X ──► affinity ──► cut ──► eigenpairs ──► pod ──► labels_            fit
X_new ─► affinity.apply ─► extension ─► rotation ─► labels           predict

Files beside the folders: ``gpod`` (the estimator), ``model`` (the methods of all models),
``pipeline`` (the steps of a fit), ``fitted`` (labels, margins and probabilities of any row),
``cut`` (NCut and RatioCut), ``discretization`` (POD), ``loading`` (models from files), and
``exceptions`` (warnings, errors, and ``invalid``, which words all errors about arguments).
"""

from importlib import import_module
from typing import TYPE_CHECKING

from eigencut._version import __version__

if TYPE_CHECKING:
    from eigencut import (
        compat,
        export,
        image,
        inspection,
        integrations,
        plotting,
        report,
        scanpy,
        spark,
        spatial,
        theory,
    )
    from eigencut.affinities import (
        Affinity,
        Gaussian,
        Kernel,
        Landmarks,
        Neighbors,
        Precomputed,
        RankedNeighbors,
    )
    from eigencut.auto.select import select
    from eigencut.discretization import Partition, pod
    from eigencut.exceptions import GraphWarning, MemoryRefusal, ModelFileError
    from eigencut.gpod import GPOD
    from eigencut.hierarchy.recluster import Reclustered, recluster
    from eigencut.inspection.compare import compare
    from eigencut.inspection.consensus import consensus
    from eigencut.io.rows import Rows
    from eigencut.loading import load
    from eigencut.semi_supervised.known_labels import Constraints
    from eigencut.tables.table_model import TableModel
    from eigencut.updating.alignment import align_labels

# Modules and their public names, which are imported when they are first used: importing
# scikit-learn, and pandas through it, takes a second.
_NAMES = {
    "affinities": "Affinity Gaussian Kernel Landmarks Neighbors Precomputed RankedNeighbors",
    "auto.select": "select",
    "discretization": "Partition pod",
    "exceptions": "GraphWarning MemoryRefusal ModelFileError",
    "gpod": "GPOD",
    "hierarchy.recluster": "Reclustered recluster",
    "inspection.compare": "compare",
    "inspection.consensus": "consensus",
    "io.rows": "Rows",
    "loading": "load",
    "semi_supervised.known_labels": "Constraints",
    "tables.table_model": "TableModel",
    "updating.alignment": "align_labels",
}
_HOME = {name: f"eigencut.{module}" for module, names in _NAMES.items() for name in names.split()}
# Folders whose functions users call as eigencut.inspection.assess(model), and partner packages.
_ROOMS = ("compat", "export", "integrations", "plotting", "report", "inspection", "theory")
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
    "RankedNeighbors",
    "Reclustered",
    "Rows",
    "TableModel",
    "__version__",
    "align_labels",
    "compare",
    "compat",
    "consensus",
    "export",
    "image",
    "inspection",
    "integrations",
    "load",
    "plotting",
    "pod",
    "recluster",
    "report",
    "scanpy",
    "select",
    "spark",
    "spatial",
    "theory",
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
