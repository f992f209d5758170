"""Which points can be among the k nearest of a query, told by matrix products in float32.

The score ``|y|^2 - 2xy`` orders the points y as the distance to x does. Of every group of points
the least score is taken; the k-th smallest of these is an upper bound of the k-th smallest score,
found without sorting all of them. Every point whose score is not above it, allowing for the error
of float32, is a candidate; so the k nearest are always among the candidates.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from eigencut.affinity.tiles import Array, Indices

_SCORES = 1 << 20  # held at a time
_GROUP = 64  # points in a group, at most; few of the k nearest share one
_GROUPS_PER_NEIGHBOR = 4  # at least
_FARTHEST = 1e15  # queries beyond are moved here: products stay finite, and all points candidates
_EPS = float(np.finfo(np.float32).eps)


class ProductSearch:
    """Candidates for the k nearest of some points.

    Parameters
    ----------
    points : array of shape (n_points, n_features)
        Centred, and of a size near 1.

    Examples
    --------
    >>> import numpy as np
    >>> points = np.linspace(-1, 1, 9)[:, np.newaxis]
    >>> ProductSearch(points).candidates(np.array([[-0.6]]), k=2)
    (array([0, 0]), array([1, 2]))
    """

    def __init__(self, points: Array) -> None:
        squares = np.einsum("ij,ij->i", points, points)
        self._factor = np.vstack([-2 * points.T, squares]).astype(np.float32)
        self._longest = float(np.sqrt(squares.max()))

    @property
    def queries_at_a_time(self) -> int:
        """For which the scores stay near the processor."""
        return max(1, _SCORES // self._factor.shape[1])

    def candidates(self, queries: Array, k: int) -> tuple[Indices, Indices]:
        """Pairs of a query and a point, by their numbers; sorted, and at least k for each query."""
        length = np.minimum(np.sqrt(np.einsum("ij,ij->i", queries, queries)), _FARTHEST)
        near = np.clip(queries, -_FARTHEST, _FARTHEST)
        left = np.column_stack([near, np.ones(len(near))]).astype(np.float32)
        scores = left @ self._factor
        # A score sums n_features + 1 products of two rounded factors; the limit is rounded too.
        n_roundings = len(self._factor) + 4
        error = n_roundings * _EPS * self._longest * (2 * length + self._longest)
        limit = (_kth_smallest_bound(scores, k) + 2 * error).astype(np.float32)
        pairs = np.flatnonzero(scores <= limit[:, np.newaxis])
        origin, numbers = np.divmod(pairs, scores.shape[1])
        return origin, numbers


def _kth_smallest_bound(scores: Any, k: int) -> Any:
    """Of every row a number that is not below its k-th smallest."""
    n_queries, n_points = scores.shape
    size = max(1, min(_GROUP, n_points // (_GROUPS_PER_NEIGHBOR * k)))
    n_groups = n_points // size
    # Points of a group are far apart in their order: neighbours often follow each other.
    groups = scores[:, : n_groups * size].reshape(n_queries, size, n_groups)
    return np.partition(groups.min(axis=1), k - 1, axis=1)[:, k - 1]
