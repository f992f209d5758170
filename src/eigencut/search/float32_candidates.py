"""Which points can be among the k nearest of a query, told by products in float32.

The score ``|y|^2 - 2xy`` orders the points y as the distance to x does. Every point whose score is
not above the k-th smallest one, allowing for the error of float32, is a candidate; so the k nearest
are always among the candidates.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from eigencut import kernels
from eigencut.kernels.layout import STRIP, aligned
from eigencut.runtime.arrays import Array, Indices

_FARTHEST = 1e15  # queries beyond are moved here: products stay finite, and all points candidates
_EPS = float(np.finfo(np.float32).eps)


class ProductSearch:
    """Candidates for the k nearest of some points.

    Parameters
    ----------
    points : array of shape (n_points, n_features)
        Centred, and of a size near 1.
    cell : array of shape (n_points,), optional
        A number of each point, so that a search can be confined to some cells.
    n_cells : int, default=1
        How many cells there are; some may be empty.

    Examples
    --------
    >>> import numpy as np
    >>> points = np.linspace(-1, 1, 9)[:, np.newaxis]
    >>> ProductSearch(points).candidates(np.array([[-0.6]]), k=2, most=5)
    (array([[1, 2]]), array([2]))
    """

    def __init__(self, points: Array, cell: Indices | None = None, n_cells: int = 1) -> None:
        n, d = points.shape
        order = np.random.default_rng(0).permutation(n)  # with which the kernel is fastest
        cell = np.zeros(n, dtype=np.intp) if cell is None else cell
        order = order[np.argsort(cell[order], kind="stable")]
        self.cell_sizes = np.bincount(cell, minlength=n_cells)
        self._first_strip = np.append(0, np.cumsum(-(-self.cell_sizes // STRIP)))
        # Every cell begins a strip of its own; what fills up its last one is infinitely far.
        shift = STRIP * self._first_strip[:-1] - np.cumsum(self.cell_sizes) + self.cell_sizes
        place = np.arange(n) + shift[cell[order]]
        n_strips = int(self._first_strip[-1])
        self._number_at = np.full(n_strips * STRIP + 1, n, dtype=np.intp)  # n is no point
        self._number_at[place] = order
        squares = np.einsum("ij,ij->i", points, points)
        self._longest = float(np.sqrt(squares.max()))
        factor = np.zeros((d + 1, n_strips * STRIP), dtype=np.float32)
        factor[-1] = np.inf
        factor[:, place] = np.vstack([-2 * points.T, squares])[:, order]
        strips = factor.reshape(d + 1, n_strips, STRIP).transpose(1, 0, 2)
        self._strips = aligned(strips)

    def queries_at_a_time(self, most: int, cells: Indices | None = None) -> int:
        """For which what is held stays near the processor."""
        n_points = int(self.cell_sizes[slice(None) if cells is None else cells].sum())
        return kernels.chosen.queries_at_a_time(n_points, most)

    def candidates(
        self, queries: Array, k: int, most: int, cells: Indices | None = None
    ) -> tuple[Indices, Indices]:
        """Numbers of the candidates of each query, ascending, and how many there are.

        At least k and at most ``most``; none where there would be more. Rows with fewer than the
        widest are filled up with n. ``cells`` are those to look into, the nearest first; they must
        hold k points. None is all.
        """
        length = np.minimum(np.sqrt(np.einsum("ij,ij->i", queries, queries)), _FARTHEST)
        near = np.clip(queries, -_FARTHEST, _FARTHEST)
        left = np.column_stack([near, np.ones(len(near))]).astype(np.float32)
        slack = (2 * score_error(queries.shape[1], self._longest, length)).astype(np.float32)
        visits = self._strips_of(cells)
        places, count = kernels.chosen.near_points(left, self._strips, visits, slack, k, most)
        is_filled = np.arange(max(k, count.max(initial=0))) < count[:, np.newaxis]
        places = np.where(is_filled, places[:, : is_filled.shape[1]], -1)
        return np.sort(self._number_at[places], axis=1), count.astype(np.intp)

    def _strips_of(self, cells: Indices | None) -> Any:
        if cells is None:
            return np.arange(len(self._strips), dtype=np.int32)
        first, count = self._first_strip[cells], np.diff(self._first_strip)[cells]
        shift = first - np.cumsum(count) + count
        return (np.arange(count.sum()) + np.repeat(shift, count)).astype(np.int32)


def score_error(n_features: int, longest: float, length: Array) -> Array:
    """Bound on the error of a score ``|y|^2 - 2xy`` in float32.

    It sums n_features + 1 products of two rounded factors; what it is compared with is rounded too.

    Parameters
    ----------
    n_features : int
    longest : float
        The largest |y|.
    length : array
        |x| of each query.
    """
    return (n_features + 5) * _EPS * longest * (2 * length + longest)
