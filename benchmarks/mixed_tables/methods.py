"""What clusters a mixed table: ours, and what people use otherwise.

Peers are handed what they need: gaps filled by medians and most frequent words, dates as days,
ordered words as ranks, and numbers of variance 1.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans, SpectralClustering

from benchmarks.data import Array
from benchmarks.mixed_tables.families import MixedTable
from eigencut import GPOD, TableModel

Labels = Any
Method = Callable[[MixedTable, int], Labels]


def numbers_and_words(table: MixedTable) -> tuple[Array, Any]:
    """Standardized numbers, and words, both without gaps."""
    numbers, words = [], []
    for name, column in table.frame.items():
        said = table.columns.get(str(name))
        if isinstance(said, list):
            column = column.map({word: float(rank) for rank, word in enumerate(said)})
        elif pd.api.types.is_datetime64_any_dtype(column):
            column = (column - pd.Timestamp("1970-01-01")) / pd.Timedelta("1D")
        if said is None or isinstance(said, list):
            as_number = pd.to_numeric(column, errors="coerce")
            is_truth = column.dropna().map(type).eq(bool).all()
            if as_number.notna().sum() == column.notna().sum() and not is_truth:
                numbers.append(as_number.fillna(as_number.median()).to_numpy(dtype=float))
                continue
        words.append(column.fillna(column.mode()[0]).astype(str).to_numpy(dtype=object))
    nothing = np.empty((len(table.frame), 0))
    rows = np.column_stack([nothing, *numbers])
    rows = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    return rows, np.column_stack(words) if words else nothing.astype(object)


def indicators(words: Any) -> list[Array]:
    """For each column, 0 and 1 for its words."""
    return [pd.get_dummies(column).to_numpy(dtype=float) for column in words.T]


def _ours(table: MixedTable, seed: int) -> Labels:
    model = GPOD(table.n_clusters, n_jobs=1, random_state=seed)
    return TableModel(model, columns=table.columns, missing="median").fit_predict(table.frame)


def _kmeans(table: MixedTable, seed: int) -> Labels:
    numbers, words = numbers_and_words(table)
    rows = np.hstack([numbers, *indicators(words)])
    return KMeans(table.n_clusters, n_init=10, random_state=seed).fit_predict(rows)


def _gower(table: MixedTable, seed: int) -> Labels:
    numbers, words = numbers_and_words(table)
    width = np.ptp(numbers, axis=0)
    distance = np.zeros((len(numbers), len(numbers)))
    for column in (numbers / width).T:
        distance += np.abs(column[:, None] - column)
    for column in indicators(words):
        distance += 1 - column @ column.T
    distance /= numbers.shape[1] + words.shape[1]
    how = {"affinity": "precomputed", "random_state": seed}
    return SpectralClustering(table.n_clusters, **how).fit_predict(1 - distance)


def _prototypes(table: MixedTable, seed: int) -> Labels:
    """Where there are no words it is k-means, and where there are no numbers k-modes."""
    numbers, words = numbers_and_words(table)
    how = {"n_init": 5, "random_state": seed}
    if not words.shape[1]:
        return _kmeans(table, seed)
    if not numbers.shape[1]:
        modes = import_module("kmodes.kmodes")
        return modes.KModes(table.n_clusters, **how).fit_predict(words)
    prototypes = import_module("kmodes.kprototypes")
    rows = np.hstack([numbers.astype(object), words])
    places = list(range(numbers.shape[1], rows.shape[1]))
    model = prototypes.KPrototypes(table.n_clusters, **how)
    return model.fit_predict(rows, categorical=places)


METHODS: dict[str, Method] = {
    "eigencut": _ours,
    "k-prototypes": _prototypes,
    "k-means, one-hot": _kmeans,
    "Gower, spectral": _gower,
}
