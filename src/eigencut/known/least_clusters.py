"""How many clusters pairs of rows ask for that cannot be together."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

import numpy as np

from eigencut.runtime.arrays import Indices

_STARTS = 50  # of a search for rows that are all apart from each other


def least_apart(labels: Indices, groups: Iterable[Indices], apart: Indices) -> int:
    """A number of clusters below which some pair must be broken; 1 where there are none.

    Rows that must be together, and rows of one class, count as one; classes are apart. Rows that
    are all apart from each other need a cluster each, and an odd ring of pairs needs three. The
    least number is that of colours of a graph, which nobody can compute quickly; more than this
    may be needed.

    Parameters
    ----------
    labels : array of shape (n_rows,)
        Known classes, -1 for unknown; of rows that must be together one.
    groups : iterable of arrays
        Rows that must be together.
    apart : array of shape (n_pairs, 2)

    Examples
    --------
    >>> least_apart(np.full(4, -1), [], np.array([(0, 1), (1, 2), (0, 2), (2, 3)]))
    3
    """
    if not len(apart):
        return 1
    one = np.arange(len(labels))
    for group in groups:
        one[group] = group[0]
    one = np.where(labels >= 0, len(labels) + labels, one)
    classes = (len(labels) + np.unique(labels[labels >= 0])).tolist()
    beside: dict[int, set[int]] = {}
    for a, b in [*one[apart].tolist(), *combinations(classes, 2)]:
        beside.setdefault(a, set()).add(b)
        beside.setdefault(b, set()).add(a)
    return max(_clique(beside), 2 if _has_two_colours(beside) else 3)


def _clique(beside: dict[int, set[int]]) -> int:
    """Of nodes that are all beside each other: the most that greed finds from any start."""
    by_degree = sorted(beside, key=lambda node: (-len(beside[node]), node))
    best = 0
    for start in by_degree[:_STARTS]:
        if len(beside[start]) < best:
            break  # and so have all that follow
        size, left = 1, set(beside[start])
        while left:
            node = max(left, key=lambda other: (len(beside[other] & left), -other))
            size, left = size + 1, left & beside[node]
        best = max(best, size)
    return best


def _has_two_colours(beside: dict[int, set[int]]) -> bool:
    colour: dict[int, int] = {}
    for start in beside:
        waiting = [] if start in colour else [start]
        colour.setdefault(start, 0)
        while waiting:
            here = waiting.pop()
            for node in beside[here]:
                if node not in colour:
                    colour[node] = 1 - colour[here]
                    waiting.append(node)
                elif colour[node] == colour[here]:
                    return False
    return True
