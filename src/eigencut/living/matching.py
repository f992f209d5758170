"""Which clusters of a new fit are those of an older one, and what numbers they have."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from eigencut.extension.cluster_numbers import ClusterNumbers
from eigencut.runtime.arrays import Array, Indices

NEW = -1  # instead of the cluster that one was
_LEAST_SHARED = 0.5  # of the smaller of two clusters that are one


@dataclass(frozen=True)
class Shared:
    """Places that two clusterings both know: vertices, or rows.

    Attributes
    ----------
    before, after : arrays of shape (n_places,)
        The cluster of each place, as a column of the rotation.
    weight : array of shape (n_places,)
        How many rows each stands for.
    """

    before: Indices
    after: Indices
    weight: Array


def most_in_common(shared: Shared, n_before: int, n_after: int) -> Indices:
    """For each later cluster the earlier one that it is: one to one, by the Hungarian method."""
    return np.asarray(linear_sum_assignment(_together(shared, n_before, n_after), maximize=True)[1])


def _together(shared: Shared, n_before: int, n_after: int) -> Array:
    """Rows that each later and each earlier cluster have in common."""
    together = np.zeros((n_after, n_before))
    np.add.at(together, (shared.after, shared.before), shared.weight)
    return together


def match_clusters(shared: Shared, n_before: int, sizes_after: Array) -> Indices:
    """For each cluster of the later clustering, the earlier one that it goes on from, or ``NEW``.

    Of all one-to-one assignments that with the most rows in common (the Hungarian method). Two
    clusters are one if they share more than half of the rows of the smaller: of a cluster that
    falls apart the largest part goes on, and of clusters that become one the largest.

    Parameters
    ----------
    shared : Shared
    n_before : int
        Clusters of the earlier clustering.
    sizes_after : array of shape (n_after,)
        Of the later clusters, with rows that the earlier clustering does not know.

    Examples
    --------
    >>> shared = Shared(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0]), np.ones(4))
    >>> match_clusters(shared, 2, np.array([3.0, 2.0, 9.0]))
    array([ 1,  0, -1])
    """
    together = _together(shared, n_before, len(sizes_after))
    smaller = np.minimum.outer(sizes_after, together.sum(axis=0))
    after, before = linear_sum_assignment(together, maximize=True)
    is_one = together[after, before] > _LEAST_SHARED * smaller[after, before]
    found = np.full(len(sizes_after), NEW)
    found[after[is_one]] = before[is_one]
    return found


def continued(
    numbers: ClusterNumbers, matched: Indices, sizes: Array
) -> tuple[Indices, ClusterNumbers]:
    """The order in which the columns of later clusters have ascending numbers, and these.

    New clusters get numbers that were never given, the largest first.
    """
    is_new = matched == NEW
    given = np.where(is_new, 0, numbers.numbers[matched])
    by_size = np.argsort(-sizes[is_new], kind="stable")
    given[np.flatnonzero(is_new)[by_size]] = numbers.n_given + np.arange(is_new.sum())
    columns = np.argsort(given)
    return columns, ClusterNumbers(given[columns], numbers.n_given + int(is_new.sum()))
