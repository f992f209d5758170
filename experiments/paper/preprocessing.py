"""The scalings that are compared. All are fitted on training rows only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from eigencut._utils.arrays import Array


def _identity() -> Any:
    from sklearn.preprocessing import FunctionTransformer

    return FunctionTransformer()


def _minmax() -> Any:
    from sklearn.preprocessing import MinMaxScaler

    return MinMaxScaler()


def _standardize() -> Any:
    from sklearn.preprocessing import StandardScaler

    return StandardScaler()


def _unit_rows() -> Any:
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import Normalizer, StandardScaler

    return make_pipeline(StandardScaler(), Normalizer())


PREPROCESSINGS: dict[str, Callable[[], Any]] = {
    "none": _identity,
    "min-max": _minmax,
    "standardize": _standardize,
    "unit rows": _unit_rows,
}


def prepare(name: str, train: Array, test: Array) -> tuple[Array, Array]:
    """Both parts, scaled. Missing values become the median of the column's training rows."""
    median = np.nanmedian(train, axis=0)
    train, test = (np.where(np.isnan(part), median, part) for part in (train, test))
    scaler = PREPROCESSINGS[name]()
    return np.asarray(scaler.fit_transform(train)), np.asarray(scaler.transform(test))
