"""``consensus``: one partition from many, by the normalized cut of how often two rows agree.

    W = B S^(-1) B^T,    B_ic = 1 if row i is in cluster c,    S = diag(rows of each cluster)

With D the number of labellings of each row, the graph ``B^T D^(-1) B`` on clusters has the
eigenvalues of W (Fern, Brodley, 2004), and the eigenvectors of W are weighted means of its own,
``D^(-1) B V``. So the cost is linear in rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.json_ready import JsonReady
from eigencut._utils.validation import check_count, check_random, shown
from eigencut.discretization import pod
from eigencut.exceptions import invalid
from eigencut.graphs.base import SparseGraph
from eigencut.io.column_kinds import word_of
from eigencut.solvers.relaxed_cut import eigenpairs


@dataclass(frozen=True)
class Consensus(JsonReady):
    """One partition from many.

    Attributes
    ----------
    labels : array of shape (n_rows,)
        From 0 on by decreasing size; -1 for rows without a label in any labelling.
    agreement : array of shape (n_rows,)
        From 0 to 1: the mean, over the clusters that a row was in, of the share of their rows that
        now have its label. 1 means that all rows that ever shared a cluster with it have its label.
    """

    labels: Indices
    agreement: Array


def consensus(labels_list: Sequence[Any], n_clusters: int, *, random_state: int = 0) -> Consensus:
    """Combine the labels from several runs, methods or people into one labelling.

    Parameters
    ----------
    labels_list : sequence of arrays of shape (n_rows,)
        Each with a label for every row: numbers or words. -1 or a missing value means no label.
    n_clusters : int
        The number of clusters of the result. In rare cases you get fewer, if the labels do not show
        that many groups.
    random_state : int, default=0
        The seed of the search for the clusters.

    Returns
    -------
    Consensus

    Examples
    --------
    >>> from eigencut import consensus
    >>> found = consensus([[0, 0, 0, 1, 1], [1, 1, 0, 0, 0], ["b", "b", "b", "a", None]], 2)
    >>> found.labels
    array([0, 0, 0, 1, 1])
    >>> found.agreement.round(2)
    array([1.  , 1.  , 0.78, 0.89, 0.83])
    """
    check_count("n_clusters", n_clusters, "pass how many clusters you want")
    check_random("random_state", random_state)
    given = _checked(labels_list)
    # Group rows with the same labels everywhere: the group of each row, and its first row.
    of_row = np.zeros(given.shape[1], dtype=np.int64)
    for one in given:  # numbers of groups stay small for any number of labellings
        of_row = np.unique(of_row * (int(one.max()) + 2) + one + 1, return_inverse=True)[1].ravel()
    place = np.unique(of_row, return_index=True)[1]
    labels, count = given[:, place], np.bincount(of_row).astype(np.float64)
    is_in = labels >= 0
    n_votes = is_in.sum(axis=0)
    votes = np.flatnonzero(n_votes)
    if n_clusters > len(votes):
        expected = f"be at most the {len(votes)} groups of rows that labels tell apart"
        raise invalid("n_clusters", expected, n_clusters, "use fewer clusters or more labellings")
    labels, is_in, n_votes = labels[:, votes], is_in[:, votes], n_votes[votes]
    starts = np.cumsum([0, *(given.max(axis=1) + 1)])
    clusters = (labels + starts[:-1, np.newaxis]).T
    columns, rows_end = clusters[is_in.T], np.append(0, np.cumsum(n_votes))
    B = csr_array((np.ones(len(columns)), columns, rows_end), (len(votes), starts[-1]))
    own = _cut(B, count[votes], n_clusters, random_state)
    pair = columns * n_clusters + np.repeat(own, n_votes)  # a cluster, and the new label of its row
    inside = np.bincount(pair, np.repeat(count[votes], n_votes), starts[-1] * n_clusters)
    stays = (inside / np.repeat(B.T @ count[votes], n_clusters))[pair]
    clusters_of, agreement = np.full(len(count), -1), np.zeros(len(count))
    clusters_of[votes] = own
    agreement[votes] = np.add.reduceat(stays, rows_end[:-1]) / n_votes
    return Consensus(clusters_of[of_row], agreement[of_row])


def _checked(labels_list: Any) -> Indices:
    """Return labels as (n_labellings, n_rows): from 0 on by decreasing size, or -1."""
    is_list = isinstance(labels_list, (Sequence, np.ndarray)) and not isinstance(labels_list, str)
    if not is_list or not len(labels_list) or np.ndim(labels_list[0]) != 1:
        expected = "be a list of labellings, each with a label for every row"
        raise invalid("labels_list", expected, shown(labels_list), "pass [first, second, ...]")
    ranked, n_rows = [], len(labels_list[0])
    for number, labels in enumerate(labels_list):
        values = np.asarray(labels)
        if values.shape != (n_rows,):
            expected = f"have a label for each of the {n_rows} rows"
            got, remedy = f"shape {values.shape}", "use -1 for rows without a label"
            raise invalid(f"labels_list[{number}]", expected, got, remedy)
        if values.dtype.kind not in "iub":
            words = np.array([word_of(cell) or "-1" for cell in values.tolist()], dtype=object)
            values = np.where(words == "-1", -1, np.unique(words, return_inverse=True)[1])
        values = np.maximum(values.astype(np.int64), -1)
        values = np.unique(values, return_inverse=True)[1] - int(values.min(initial=0) < 0)
        sizes = np.bincount(values + 1)[1:]
        # Numbers by size do not depend on the names of labels or the order of rows.
        rank = np.empty(len(sizes) + 1, dtype=np.int64)
        rank[np.argsort(-sizes, kind="stable")], rank[-1] = np.arange(len(sizes)), -1
        ranked.append(rank[values])
    labels = np.array(ranked)
    if not (labels >= 0).any():
        raise invalid("labels_list", "label some rows", "-1 for all of them", "pass labels")
    return labels


def _cut(B: Any, count: Array, n_clusters: int, random_state: int) -> Indices:
    """Return the clusters of rows by the normalized cut, given indicators B of their clusters."""
    n_votes = np.diff(B.indptr)
    parts = csr_array((np.repeat(count / n_votes, n_votes), B.indices, B.indptr), B.shape)
    weights = csr_array(B.T @ parts)
    n_parts, part = connected_components(weights, directed=False)
    part_of_row = part[B.indices[B.indptr[:-1]]]
    if n_parts >= n_clusters:  # no cut needed: join the smallest parts
        sizes, group = np.zeros(n_clusters), np.zeros(n_parts, dtype=np.intp)
        rows = np.bincount(part_of_row, count)
        for one in np.argsort(-rows, kind="stable"):
            group[one] = np.argmin(sizes)
            sizes[group[one]] += rows[one]
        return np.argsort(np.argsort(-sizes, kind="stable"))[group][part_of_row]
    C = weights.shape[0]
    graph = SparseGraph(weights, np.ones(C), np.arange(C))
    pairs = eigenpairs(graph, graph.degrees, min(n_clusters, C), groups=part)
    scale = np.sqrt(np.maximum(1 - pairs.values, 1e-12))
    vectors = (B @ (pairs.vectors / scale)) / n_votes[:, np.newaxis]
    return pod(vectors, sample_weight=count, random_state=random_state).labels
