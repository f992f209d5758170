"""Which rows are equal: the distinct rows of a table, dense or sparse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from eigencut.runtime.arrays import Array, Indices
from eigencut.runtime.blocks import row_blocks

_ELEMENTS = 1 << 20  # compared at a time


@dataclass(frozen=True)
class DistinctRows:
    """The distinct rows of X in lexicographic order, and how X is made of them."""

    rows: Array
    multiplicity: Array
    vertex_of_row: Indices

    @classmethod
    def of(cls, X: Array) -> DistinctRows:
        X = X + 0.0  # -0.0 and 0.0 are the same place
        order = np.argsort(X[:, 0], kind="stable")
        if (np.diff(X[order, 0]) == 0).any():  # else the first column decides alone
            order = np.lexsort(X.T[::-1])
        is_new = np.ones(len(X), dtype=bool)
        for rows in row_blocks(len(X) - 1, X.shape[1], _ELEMENTS):
            after = slice(rows.start + 1, rows.stop + 1)
            is_new[after] = (X[order[after]] != X[order[rows]]).any(axis=1)
        vertex_of_row = np.empty(len(X), dtype=np.intp)
        vertex_of_row[order] = np.cumsum(is_new) - 1
        multiplicity = np.bincount(vertex_of_row).astype(np.float64)
        return cls(X[order[is_new]], multiplicity, vertex_of_row)


def distinct_rows(X: Any) -> DistinctRows:
    """The distinct rows, in an order that does not depend on that of X."""
    if not sparse.issparse(X):
        return DistinctRows.of(X)
    keys = row_keys(X)
    vertex_at = {key: vertex for vertex, key in enumerate(sorted(set(keys)))}
    vertex_of_row = np.array([vertex_at[key] for key in keys], dtype=np.intp)
    _, first_row, count = np.unique(vertex_of_row, return_index=True, return_counts=True)
    return DistinctRows(X[first_row], count.astype(np.float64), vertex_of_row)


def row_keys(X: Any) -> list[bytes]:
    """For each row bytes that are the same if and only if the rows are."""
    if not sparse.issparse(X):
        return [row.tobytes() for row in X + 0.0]  # -0.0 and 0.0 are the same place
    X = X.astype(np.float64, copy=True)
    X.sum_duplicates()
    X.eliminate_zeros()
    columns, limits = X.indices.astype(np.int64), X.indptr
    pieces = (slice(*limits[i : i + 2]) for i in range(X.shape[0]))
    return [columns[piece].tobytes() + X.data[piece].tobytes() for piece in pieces]
