"""Which points can be among the k nearest of a query, told by products in float32.

The score ``|y|^2 - 2xy`` orders the points y as the distance to x does. Every point whose score is
not above the k-th smallest one, allowing for the error of float32, is a candidate; so the k nearest
are always among the candidates. By numpy, or by the kernel in C.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

import eigencut.native as native
from eigencut.affinity.tiles import Array, Indices

Pairs = tuple[Indices, Indices]  # numbers of queries and of points, in the order of the queries

_QUERIES = 256  # at a time, by the kernel
_ROOM = 1 << 21  # candidates that it may keep
_SCORES = 1 << 20  # held at a time by numpy
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
    >>> queries, found = ProductSearch(points).candidates(np.array([[-0.6]]), k=2, most=5)
    >>> queries, np.sort(found)
    (array([0, 0]), array([1, 2]))
    """

    def __init__(self, points: Array) -> None:
        squares = np.einsum("ij,ij->i", points, points)
        self._factor = np.vstack([-2 * points.T, squares]).astype(np.float32)
        self._longest = float(np.sqrt(squares.max()))

    def queries_at_a_time(self, most: int) -> int:
        """For which what is held stays near the processor."""
        if native.library() is None:
            return max(1, _SCORES // self._factor.shape[1])
        return max(1, min(_QUERIES, _ROOM // most))

    def candidates(self, queries: Array, k: int, most: int) -> Pairs:
        """At least k and at most ``most`` for each query; none where there would be more."""
        length = np.minimum(np.sqrt(np.einsum("ij,ij->i", queries, queries)), _FARTHEST)
        near = np.clip(queries, -_FARTHEST, _FARTHEST)
        left = np.column_stack([near, np.ones(len(near))]).astype(np.float32)
        # A score sums n_features + 1 products of two rounded factors; the limit is rounded too.
        n_roundings = len(self._factor) + 4
        error = n_roundings * _EPS * self._longest * (2 * length + self._longest)
        slack = (2 * error).astype(np.float32)
        found = self._by_kernel(left, slack, k, most)
        return self._by_numpy(left, slack, k, most) if found is None else found

    def _by_numpy(self, left: Any, slack: Any, k: int, most: int) -> Pairs:
        scores = left @ self._factor
        limit = _kth_smallest_bound(scores, k) + slack
        pairs = np.flatnonzero(scores <= limit[:, np.newaxis])
        origin, numbers = np.divmod(pairs, scores.shape[1])
        fit = (np.bincount(origin, minlength=len(left)) <= most)[origin]
        return origin[fit], numbers[fit]

    def _by_kernel(self, left: Any, slack: Any, k: int, most: int) -> Pairs | None:
        """The same, or None where there is no kernel for this processor."""
        kernel = native.library()
        if kernel is None:
            return None
        order, strips = self._strips
        found = native.near_points(kernel, left, strips, slack, k, most + 1)
        if found is None:
            return None
        numbers, count = found
        is_filled = np.arange(most + 1) < count[:, np.newaxis]
        return np.repeat(np.arange(len(left)), count), order[numbers[is_filled]]

    @cached_property
    def _strips(self) -> tuple[Indices, Any]:
        """The points in random order, which the kernel is fastest with, and that order."""
        p, n = self._factor.shape
        order = np.random.default_rng(0).permutation(n)
        n_strips = -(-n // native.STRIP)
        padded = np.zeros((p, n_strips * native.STRIP), dtype=np.float32)
        padded[-1, n:] = np.inf
        padded[:, :n] = self._factor[:, order]
        strips = padded.reshape(p, n_strips, native.STRIP).transpose(1, 0, 2)
        return order, native.aligned(strips)


def _kth_smallest_bound(scores: Any, k: int) -> Any:
    """Of every row a number that is not below its k-th smallest.

    The k-th smallest of the least scores of groups of points: found without sorting all of them.
    """
    n_queries, n_points = scores.shape
    size = max(1, min(_GROUP, n_points // (_GROUPS_PER_NEIGHBOR * k)))
    n_groups = n_points // size
    # Points of a group are far apart in their order: neighbours often follow each other.
    groups = scores[:, : n_groups * size].reshape(n_queries, size, n_groups)
    return np.partition(groups.min(axis=1), k - 1, axis=1)[:, k - 1]
