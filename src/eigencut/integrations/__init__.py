"""Partner packages: BERTopic, Dask, datamapplot, libpysal, scanpy, scikit-image, Spark.

The only room that knows them; a partner is imported when it is used.
"""

from importlib import import_module
from types import ModuleType

__all__ = ["bertopic", "dask", "image", "layers", "scanpy", "spark", "spatial"]


def __getattr__(name: str) -> ModuleType:
    if name not in __all__:
        raise AttributeError(f"module 'eigencut.integrations' has no attribute {name!r}")
    return import_module(f"eigencut.integrations.{name}")
