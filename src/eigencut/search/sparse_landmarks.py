"""The nearest landmarks of sparse rows, which are sparse themselves.

A centre of a few dozen rows with a few dozen words each has few of all words: products of sparse
rows with sparse landmarks take a fraction of the time, and of the memory, of dense ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from eigencut.runtime.arrays import Array, Indices
from eigencut.runtime.blocks import row_blocks
from eigencut.search.metrics import Space
from eigencut.search.sparse_rows import SparseIndex, row_squares

_ENTRIES = 512 * 1024  # of a matrix of distances: it stays in the cache of a core
_PRECISE = 1e-9  # relative error that a squared distance may have
_EPS = float(np.finfo(np.float64).eps)


class SparseLandmarks:
    """Finds the ``n_nearest`` of sparse points, by products in float64.

    Where ``|x|^2 - 2xy + |y|^2`` does not tell which are nearest, or cancels, distances are taken
    directly.

    Parameters
    ----------
    points : sparse array of shape (n_points, n_features)
    n_nearest : int
        At most ``n_points``.
    space : Space
        In whose units points and rows are.
    """

    def __init__(self, points: Any, n_nearest: int, space: Space) -> None:
        self._index, self._n_nearest = SparseIndex(points, space), n_nearest
        self._columns = points.T.tocsr()
        self._squares = row_squares(points)
        self._longest = float(np.sqrt(self._squares.max()))

    def __call__(self, X: Any) -> tuple[Indices, Array]:
        """Numbers of the nearest points, ascending, and squared distances to them."""
        nearest = np.empty((X.shape[0], self._n_nearest), dtype=np.intp)
        squared, in_doubt = np.empty(nearest.shape), np.empty(len(nearest), dtype=bool)
        for rows in row_blocks(len(nearest), self._index.size, _ENTRIES):
            nearest[rows], squared[rows], in_doubt[rows] = self._pick(X[rows])
        again = np.flatnonzero(in_doubt)
        if len(again):
            distances, nearest[again] = self._index.query(X[again], self._n_nearest)
            squared[again] = np.square(distances)
        order = np.argsort(nearest, axis=1)  # in which dense rows have them
        return np.take_along_axis(nearest, order, 1), np.take_along_axis(squared, order, 1)

    def _pick(self, X: Any) -> tuple[Indices, Array, Any]:
        """The nearest points, squared distances, and whether these may be wrong."""
        of_rows = row_squares(X)
        scores = (X @ self._columns).toarray()
        scores *= -2
        scores += self._squares
        every = np.arange(len(scores))
        nearest = np.empty((len(scores), self._n_nearest), dtype=np.intp)
        found = np.empty(nearest.shape)
        for place in range(self._n_nearest):
            nearest[:, place] = best = scores.argmin(axis=1)
            found[:, place] = scores[every, best]
            scores[every, best] = np.inf
        following = scores.min(axis=1)
        n_terms = np.diff(X.indptr) + 8
        error = n_terms * _EPS * np.square(np.sqrt(of_rows) + self._longest)
        squared = found + of_rows[:, np.newaxis]
        is_near = following - found[:, -1] <= 2 * error
        return nearest, squared, is_near | (_PRECISE * squared.min(axis=1) <= error)
