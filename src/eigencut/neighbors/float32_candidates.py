"""Which points can be among the k nearest of a query, told by products in float32.

The score ``|y|^2 - 2xy`` orders the points y as the distance to x does. Every point whose score is
not above the k-th smallest one, allowing for the error of float32, is a candidate; so the k nearest
are always among the candidates.

The error grows with the size of x and of y, but a point far beyond x cannot be among its nearest:
``relevant_length`` is how far those that can be may lie. So one outlier does not blur the others.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from eigencut import kernels
from eigencut._utils.arrays import Array, Indices, row_blocks
from eigencut.kernels.layout import STRIP, aligned_empty
from eigencut.neighbors.distances import middle

_FARTHEST = 2.0**40  # points beyond are no candidates, and queries near there told nothing
_FILLED_ELEMENTS = 1 << 18  # coordinates moved at a time
_EPS = float(np.finfo(np.float32).eps)


class ProductSearch:
    """Candidates for the k nearest of some points.

    Parameters
    ----------
    points : array of shape (n_points, n_features)
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
        self._centre = middle(points)
        length = lengths(points, self._centre)
        half = float(np.partition(length, n // 2)[n // 2])
        self._exponent = int(np.frexp(half or length.max())[1])
        length = np.ldexp(length, -self._exponent)
        self._half = float(np.ldexp(half, -self._exponent))  # the radius that half of them are in
        self._longest = np.zeros(len(self.cell_sizes))  # of each cell
        np.maximum.at(self._longest, cell, length)
        self._strips = aligned_empty((n_strips, d + 1, STRIP))
        self._strips[:, :d], self._strips[:, d] = 0.0, np.inf
        is_near = length[order] <= _FARTHEST
        self._fill(points, order[is_near], place[is_near])

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
        left = np.ones((len(queries), queries.shape[1] + 1), dtype=np.float32)
        moved = self._in_units(queries)
        length = np.minimum(np.sqrt(np.einsum("ij,ij->i", moved, moved)), _FARTHEST)
        left[:, :-1] = np.clip(moved, -_FARTHEST, _FARTHEST)
        longest = self._longest[slice(None) if cells is None else cells].max()
        if cells is None:  # of which half, and so k of them, are that near
            longest = np.minimum(longest, relevant_length(length, self._half))
        with np.errstate(over="ignore"):  # then nothing is told below
            slack = (2 * score_error(queries.shape[1], longest, length)).astype(np.float32)
        visits = self._strips_of(cells)
        places, count = kernels.chosen.near_points(left, self._strips, visits, slack, k, most)
        count = np.where(np.maximum(8 * length, longest) <= _FARTHEST, count, 0)
        is_filled = np.arange(max(k, count.max(initial=0))) < count[:, np.newaxis]
        places = np.where(is_filled, places[:, : is_filled.shape[1]], -1)
        return np.sort(self._number_at[places], axis=1), count.astype(np.intp)

    def _in_units(self, rows: Array) -> Array:
        """Rows around the centre; half of the points are about as long as 1."""
        with np.errstate(over="ignore"):
            return np.asarray(np.ldexp(rows - self._centre, -self._exponent))

    def _fill(self, points: Array, numbers: Indices, places: Indices) -> None:
        """Enter the factors of points of these numbers at these places."""
        for some in row_blocks(len(numbers), points.shape[1], _FILLED_ELEMENTS):
            moved = self._in_units(points[numbers[some]])
            strip, lane = np.divmod(places[some], STRIP)
            self._strips[strip, :-1, lane] = -2 * moved
            self._strips[strip, -1, lane] = np.einsum("ij,ij->i", moved, moved)

    def _strips_of(self, cells: Indices | None) -> Any:
        if cells is None:
            return np.arange(len(self._strips), dtype=np.int32)
        first, count = self._first_strip[cells], np.diff(self._first_strip)[cells]
        shift = first - np.cumsum(count) + count
        return (np.arange(count.sum()) + np.repeat(shift, count)).astype(np.int32)


def lengths(points: Array, centre: Array) -> Array:
    """Distances of the points to a centre."""
    found = np.empty(len(points))
    for rows in row_blocks(len(points), points.shape[1], _FILLED_ELEMENTS):
        moved = points[rows] - centre
        found[rows] = np.sqrt(np.einsum("ij,ij->i", moved, moved))
    return found


def relevant_length(length: Array, radius: float) -> Array:
    """How long a point can be that is among the k nearest of a query, generously.

    If k points are not longer than the radius, the k nearest of a query x have scores of at most
    ``(|x| + radius)^2 - |x|^2``; a point longer than this has a larger one, rounding included.

    Parameters
    ----------
    length : array
        |x| of each query.
    radius : float
    """
    return 4 * length + 2 * radius


def score_error(n_features: int, longest: Any, length: Array) -> Array:
    """Bound on the error of a score ``|y|^2 - 2xy`` in float32.

    It sums n_features + 1 products of two rounded factors; what it is compared with is rounded too.

    Parameters
    ----------
    n_features : int
    longest : float or array
        The largest |y| that matters, to each query.
    length : array
        |x| of each query.
    """
    return (n_features + 5) * _EPS * longest * (2 * length + longest)
