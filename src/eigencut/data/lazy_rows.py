"""Rows that are not in memory, in containers that numpy would silently gather."""

from __future__ import annotations

from typing import Any

_INSTEAD = {
    "dask": "on the cluster write eigencut.integrations.dask.fit(model, X), or predict, transform; "
    "if it fits in memory, X.compute()",
    "pyspark": "on the cluster write eigencut.spark.fit(model, X, columns), and then "
    "eigencut.spark.predict(model, X); if it fits in memory, X.toPandas()",
    "polars": "call .collect() first",
}


def refuse_lazy(X: Any) -> None:
    """An error with the line to write instead, for containers of Dask, Spark and polars.

    Examples
    --------
    >>> import dask.array
    >>> refuse_lazy(dask.array.ones((10, 2)))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: X must be rows in memory. Got a dask Array; on the cluster write ...
    """
    package, name = type(X).__module__.partition(".")[0], type(X).__name__
    package = {"dask_expr": "dask"}.get(package, package)
    if package in _INSTEAD and not (package == "polars" and name != "LazyFrame"):
        raise ValueError(f"X must be rows in memory. Got a {package} {name}; {_INSTEAD[package]}.")
