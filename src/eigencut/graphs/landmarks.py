"""The graph on landmarks, each standing for many rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from eigencut._utils.arrays import Array
from eigencut._utils.threads import for_each
from eigencut.graphs.base import JudgedSupport, weighted_quantile
from eigencut.graphs.complete import CompleteGraph
from eigencut.graphs.memberships import Memberships

EMBEDDING_ENTRIES = 10_000_000  # of an embedding that is worth keeping: 80 MB
_NEARER = 40.0  # rows of a landmark by which twice as many others stay below a quantile,
_MOST_NEARER = 8.0  # and so many times as many at most
_ROWS = 16384  # that one thread works on at a time


@dataclass(frozen=True)
class RowSupport:
    """Support of some of the training rows, and how many rows each of them stands for.

    They are those that ``n_landmarks`` landmarks were placed by.
    """

    values: Array
    counts: Array
    n_landmarks: int

    @property
    def one_row(self) -> float:
        """What an ordinary row counts."""
        return float(np.median(self.counts))

    def quantile(self, share: float) -> float:
        return weighted_quantile(self.values, self.counts, share, self.one_row)

    def judged(self, share: float) -> JudgedSupport:
        """The support that this share of the rows stays below, and more of other rows.

        Landmarks lie nearer to the rows that they were placed by: of fresh rows 1.2 to 1.9 times as
        many were seen below where a landmark had 40 rows, up to 2.7 times where it had 10, and up
        to 6 times where it had fewer; where rows are landmarks, up to 1.8 times.
        """
        n_rows = float(self.counts.sum())
        per_landmark = len(self.values) / self.n_landmarks
        of_others = min(share * min(1 + _NEARER / per_landmark, _MOST_NEARER), 1.0)
        return JudgedSupport(self.quantile(share), of_others * n_rows, n_rows, self.one_row)


@dataclass(frozen=True)
class LandmarkGraph(CompleteGraph):
    """The graph on landmarks, each standing for Lambda_j rows; a complete graph with degrees 1.

    Attributes
    ----------
    summed : float
        n, the rows that E is the sum of, or what they count together.
    members : list of Memberships, or None
        Z in blocks of rows, while the rows are in memory.
    sampled : RowSupport or JudgedSupport
        Support of a sample of the rows, or what was decided by one.
    """

    vertices_are: ClassVar[str] = "landmarks"

    summed: float
    members: list[Memberships] | None
    sampled: RowSupport | JudgedSupport

    @cached_property
    def n_rows(self) -> float:
        return self.summed

    @cached_property
    def one_row(self) -> float:  # a vertex stands for many rows here
        return self.sampled.one_row

    @property
    def n_labels(self) -> int:
        return sum(len(block) for block in self.members or [])

    @property
    def has_rows(self) -> bool:
        return self.members is not None

    def keeps_embedding(self, n_columns: int) -> bool:
        return self.has_rows and self.n_labels * n_columns <= EMBEDDING_ENTRIES

    def support_quantile(self, share: float) -> float:
        return self.sampled.quantile(share)

    def judged_support(self, share: float) -> JudgedSupport:
        return self.sampled.judged(share)

    def at_rows(self, values: Array, rule: Callable[[Array], Any]) -> Any:
        pieces = [
            block[start : start + _ROWS]
            for block in self.members or []
            for start in range(0, len(block), _ROWS)
        ]
        found: list[Any] = [None] * len(pieces)

        def fill(place: int) -> None:
            found[place] = rule(pieces[place].average(values))

        for_each(fill, range(len(pieces)), "blocks of rows")
        return np.concatenate(found)
