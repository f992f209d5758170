"""Landmarks by k-means on a sample of rows: Lloyd's steps, the same on any number of threads."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from eigencut._utils.arrays import Array, Indices, row_blocks
from eigencut._utils.progress import counted
from eigencut._utils.threads import for_each
from eigencut.neighbors.metrics import METRICS, Space, with_data
from eigencut.neighbors.nearest_landmarks import NearestLandmarks


def kmeans_centres(rows: Any, counts: Array, n_centres: int, steps: int = 30) -> Any:
    """Centres of ``n_centres`` groups of rows, starting from the first so many rows.

    Parameters
    ----------
    rows : array or sparse array of shape (n_rows, n_features)
        Different rows in random order. Centres are sparse where rows are.
    counts : array of shape (n_rows,)
        How many times each row counts.
    n_centres : int
    steps : int, default=30
        At most.
    """
    if n_centres == rows.shape[0]:
        return rows.copy()
    # Sums stay finite in these units, and around one of the rows a mean does not lose the digits of
    # a column that is far from zero compared with its width.
    space = Space(rows, METRICS["euclidean"])
    points = space.points(rows)
    if sparse.issparse(rows):
        centres = _moved(points, counts, n_centres, steps)
        return with_data(centres, space.rows(centres.data))
    first = points[0].copy()
    points -= first
    return space.rows(_moved(points, counts, n_centres, steps) + first)


def _moved(rows: Any, counts: Array, n_centres: int, steps: int) -> Any:
    """The centres after some steps."""
    centres = rows[:n_centres].copy()
    previous = None
    for _ in counted(range(steps), "steps of k-means"):
        group = nearest_centres(rows, NearestLandmarks(centres, 1))
        if previous is not None and (group == previous).all():
            break
        previous = group
        size = np.bincount(group, weights=counts, minlength=n_centres)
        centres = _means(rows, counts, group, size, centres)
    return centres


def _means(rows: Any, counts: Array, group: Indices, size: Any, centres: Any) -> Any:
    """The mean of each group of rows; that of no rows stays where it is."""
    kept, n_centres = size > 0, len(size)
    if sparse.issparse(rows):
        shares, shape = counts / size[group], (n_centres, len(group))
        means = sparse.csr_array((shares, (group, np.arange(len(group)))), shape) @ rows
        means += sparse.diags_array(np.where(kept, 0.0, 1.0)) @ centres
        means.eliminate_zeros()
        return means
    sums = np.column_stack(
        [np.bincount(group, weights=column * counts, minlength=n_centres) for column in rows.T]
    )
    centres[kept] = sums[kept] / size[kept, np.newaxis]
    return centres


def nearest_centres(rows: Any, search: NearestLandmarks) -> Indices:
    """The centre nearest to each row, by a search among the centres."""
    group = np.empty(rows.shape[0], dtype=np.intp)
    # One thread works on at most 2048 rows, and 2^19 numbers, at a time.
    width = max(0 if sparse.issparse(rows) else rows.shape[1], (1 << 19) // 2048)

    def fill(some: slice) -> None:
        group[some] = search(rows[some])[0][:, 0]

    for_each(fill, row_blocks(rows.shape[0], width, 1 << 19))
    return group
