"""Which rows are equal: the distinct rows of a table, dense or sparse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from eigencut._utils.arrays import Array, Indices, row_blocks
from eigencut.io.sample import random_keys, summed_weights

_ELEMENTS = 1 << 20  # compared at a time


@dataclass(frozen=True)
class DistinctRows:
    """The distinct rows of X in lexicographic order, and how X is made of them."""

    rows: Array  # (n_vertices, n_features)
    # (n_vertices,): how many times each is there; of weighted rows the sum of their weights.
    multiplicity: Array
    vertex_of_row: Indices  # (n_rows,): which of them every row is

    @classmethod
    def from_rows(cls, X: Array, sample_weight: Array | None = None) -> DistinctRows:
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
        multiplicity = summed_weights(vertex_of_row, sample_weight)
        return cls(X[order[is_new]], multiplicity, vertex_of_row)


def distinct_rows(X: Any, sample_weight: Array | None = None) -> DistinctRows:
    """The distinct rows, in an order that does not depend on that of X."""
    if not sparse.issparse(X):
        return DistinctRows.from_rows(X, sample_weight)
    keys = row_keys(X)
    vertex_at = {key: vertex for vertex, key in enumerate(sorted(set(keys)))}
    vertex_of_row = np.array([vertex_at[key] for key in keys], dtype=np.intp)
    _, first_row = np.unique(vertex_of_row, return_index=True)
    return DistinctRows(X[first_row], summed_weights(vertex_of_row, sample_weight), vertex_of_row)


def count_distinct_rows(X: Any) -> int:
    """How many different rows there are.

    By the random keys of rows (``eigencut.io.sample``), which are sorted sooner than rows.
    """
    if sparse.issparse(X):
        return len(set(row_keys(X)))
    keys = np.empty(len(X), dtype=np.uint64)
    for rows in row_blocks(len(X), X.shape[1], _ELEMENTS):
        keys[rows] = random_keys(np.asarray(X[rows], dtype=np.float64) + 0.0)
    keys.sort()
    return int(np.count_nonzero(keys[1:] != keys[:-1])) + min(1, len(X))


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
