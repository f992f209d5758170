"""Pairs of rows that must get the same label, or different ones."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from eigencut._utils.arrays import Indices
from eigencut._utils.validation import shown


class Constraints:
    """Pairs of rows that belong together, and pairs that do not.

    ``GPOD.fit(X, constraints=...)`` gives rows that must be linked equal labels, always. Rows that
    cannot be linked get different ones as far as a smooth cut can tell them apart, and a warning
    says how many it could not.

    Parameters
    ----------
    must_link, cannot_link : array-like of shape (n_pairs, 2)
        Numbers of rows, from 0 on.

    Examples
    --------
    >>> Constraints(must_link=[(0, 3), (3, 7)], cannot_link=[(0, 5)])
    Constraints(2 must-link pairs, 1 cannot-link pair)
    """

    def __init__(
        self, must_link: ArrayLike | Sequence[Any] = (), cannot_link: ArrayLike | Sequence[Any] = ()
    ) -> None:
        self.must_link = _checked_pairs("must_link", must_link)
        self.cannot_link = _checked_pairs("cannot_link", cannot_link)

    def __repr__(self) -> str:
        counts = (len(self.must_link), "must-link"), (len(self.cannot_link), "cannot-link")
        listed = (f"{n} {kind} pair{'' if n == 1 else 's'}" for n, kind in counts)
        return f"{type(self).__name__}({', '.join(listed)})"

    def check_rows(self, n_rows: int) -> None:
        """Refuse numbers that no row has.

        Parameters
        ----------
        n_rows : int
        """
        for name in ("must_link", "cannot_link"):
            pairs = getattr(self, name)
            if len(pairs) and pairs.max() >= n_rows:
                raise ValueError(
                    f"{name} must hold numbers of rows, from 0 to {n_rows - 1}. "
                    f"Got {pairs.max()}; rows are counted from 0."
                )

    def among(self, is_there: NDArray[np.bool_]) -> Constraints:
        """The same pairs by the numbers that rows have among those that are there.

        Parameters
        ----------
        is_there : array of bool, one for each row

        Returns
        -------
        constraints : Constraints
        """
        self.check_rows(len(is_there))
        for name in ("must_link", "cannot_link"):
            rows = np.unique(getattr(self, name))
            absent = rows[~is_there[rows]]
            if len(absent):
                raise ValueError(
                    f"{name} must hold rows that take part. Got row {absent[0]}, which has missing "
                    "values; fill them in with missing='median', or drop its pairs."
                )
        number = np.cumsum(is_there) - 1
        return Constraints(number[self.must_link], number[self.cannot_link])


def check_kind(constraints: Any) -> Constraints:
    """Refuse what is no ``Constraints``."""
    if not isinstance(constraints, Constraints):
        raise TypeError(
            f"constraints must be eigencut.Constraints. Got {shown(constraints)}; use "
            "eigencut.Constraints(must_link=pairs, cannot_link=pairs)."
        )
    return constraints


def _checked_pairs(name: str, pairs: Any) -> Indices:
    """Pairs of different, non-negative integers."""
    found = np.asarray(pairs)
    if found.size == 0:
        return np.empty((0, 2), dtype=np.intp)
    if found.ndim != 2 or found.shape[1] != 2 or found.dtype.kind not in "iu":
        raise ValueError(
            f"{name} must be pairs of row numbers, integers of shape (n_pairs, 2). Got shape "
            f"{found.shape} of {found.dtype}; pass pairs like [(0, 3), (2, 5)]."
        )
    if found.min() < 0:
        raise ValueError(
            f"{name} must hold numbers of rows, from 0 on. Got {found.min()}; negative numbers do "
            "not count from the end."
        )
    itself = found[found[:, 0] == found[:, 1]]
    if len(itself):
        raise ValueError(
            f"{name} must hold pairs of different rows. Got row {itself[0, 0]} with itself; drop "
            "it."
        )
    return found.astype(np.intp)


# Constraints that no clustering can satisfy, and the chains of pairs that show it.

_LISTED = 12  # rows of a chain that are named; the middle of a longer one is left out


def linked_groups(n_rows: int, pairs: Indices) -> Indices:
    """The group of every row that pairs, directly or by a chain of them, put together."""
    ones = np.ones(len(pairs), dtype=np.int8)
    links = coo_array((ones, (pairs[:, 0], pairs[:, 1])), shape=(n_rows, n_rows))
    return np.asarray(connected_components(links, directed=False)[1], dtype=np.intp)


def refuse_contradictions(groups: Indices, must: Indices, cannot: Indices, labels: Indices) -> None:
    """An error that names the chain, where pairs contradict each other or the labels.

    Parameters
    ----------
    groups : array of shape (n_rows,)
        As ``linked_groups`` of ``must``.
    must, cannot : arrays of shape (n_pairs, 2)
    labels : array of shape (n_rows,)
        Known classes, -1 for unknown.
    """
    inside = cannot[groups[cannot[:, 0]] == groups[cannot[:, 1]]]
    if len(inside):
        first, last = (int(row) for row in inside[0])
        together = _chain(must, first, last)
        _refuse(f"rows {together} must be together, but {first} and {last} cannot-link")
    # A known row of each group, whose class is then that of the whole group.
    known = np.flatnonzero(labels >= 0)
    speaker = np.full(int(groups.max(initial=-1)) + 1, -1, dtype=np.intp)
    speaker[groups[known[::-1]]] = known[::-1]
    against = known[labels[known] != labels[speaker[groups[known]]]]
    if len(against):
        last = int(against[0])
        first = int(speaker[groups[last]])
        _refuse(
            f"rows {_chain(must, first, last)} must be together, but row {first} is known to be of "
            f"class {labels[first]} and row {last} of class {labels[last]}"
        )
    of_pair = speaker[groups[cannot]]
    has_both = (of_pair >= 0).all(axis=1)
    same = np.flatnonzero(has_both & (labels[of_pair[:, 0]] == labels[of_pair[:, 1]]))
    if len(same):
        first, last = (int(row) for row in cannot[same[0]])
        speakers = [int(row) for row in of_pair[same[0]]]
        reasons = [
            f" (rows {_chain(must, row, knows)} must be together)"
            for row, knows in zip((first, last), speakers, strict=True)
            if row != knows
        ]
        _refuse(
            f"rows {first} and {last} cannot-link, but both are of class {labels[speakers[0]]}"
            + "".join(reasons)
        )


def _refuse(what: str) -> NoReturn:
    raise ValueError(
        f"constraints must not contradict each other or known_labels. Got a contradiction: "
        f"{what}; drop one of them."
    )


def _chain(must: Indices, first: int, last: int) -> str:
    """A shortest chain of must-link pairs from one row to another."""
    beside: dict[int, list[int]] = {}
    for one, other in must.tolist():
        beside.setdefault(one, []).append(other)
        beside.setdefault(other, []).append(one)
    came_from, waiting = {first: first}, deque([first])
    while waiting and last not in came_from:
        here = waiting.popleft()
        for row in beside.get(here, ()):
            if row not in came_from:
                came_from[row] = here
                waiting.append(row)
    chain = [last]
    while chain[-1] != first:
        chain.append(came_from[chain[-1]])
    names = [str(row) for row in reversed(chain)]
    if len(names) > _LISTED:
        names = [*names[: _LISTED // 2], "...", *names[-_LISTED // 2 :]]
    return " - ".join(names)


# How many clusters pairs of rows ask for that cannot be together.

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
