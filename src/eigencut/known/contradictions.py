"""Constraints that no clustering can satisfy, and the chains of pairs that show it."""

from __future__ import annotations

from collections import deque
from typing import NoReturn

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from eigencut.runtime.arrays import Indices

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
        f"constraints must not contradict each other or y. Got a contradiction: {what}; drop one "
        "of them."
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
