"""Functions for other packages, each of which is imported only when it is used.

- ``dask``, ``spark``: fit and predict on a cluster; both sum over rows by ``partial_sums``
- ``image`` (scikit-image), ``scanpy``, ``spatial`` (libpysal): cluster their kinds of data
- ``bertopic``: probabilities of topics; ``layers``: levels for toponymy and datamapplot
"""

from importlib import import_module
from types import ModuleType

__all__ = ["bertopic", "dask", "image", "layers", "scanpy", "spark", "spatial"]


def __getattr__(name: str) -> ModuleType:
    if name not in __all__:
        raise AttributeError(f"module 'eigencut.integrations' has no attribute {name!r}")
    return import_module(f"eigencut.integrations.{name}")
