"""The graph on landmarks, each standing for many rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from eigencut.graph.base import weighted_quantile
from eigencut.graph.complete import CompleteGraph
from eigencut.graph.memberships import Memberships
from eigencut.runtime.arrays import Array
from eigencut.runtime.threads import for_each

EMBEDDING_ENTRIES = 10_000_000  # of an embedding that is worth keeping: 80 MB
_ROWS = 16384  # that one thread works on at a time


@dataclass(frozen=True)
class RowSupport:
    """Support of some of the training rows, and how many rows each of them stands for."""

    values: Array
    counts: Array

    def quantile(self, share: float) -> float:
        one = float(np.median(self.counts))
        return weighted_quantile(self.values, self.counts, share, one)


@dataclass(frozen=True)
class LandmarkGraph(CompleteGraph):
    """The graph on landmarks, each standing for Lambda_j rows; a complete graph with degrees 1.

    Attributes
    ----------
    summed : float
        n, the rows that E is the sum of, or what they count together.
    members : list of Memberships, or None
        Z in blocks of rows, while the rows are in memory.
    sampled : RowSupport
        Support of a sample of the rows.
    """

    vertices_are: ClassVar[str] = "landmarks"

    summed: float
    members: list[Memberships] | None
    sampled: RowSupport

    @cached_property
    def n_rows(self) -> float:
        return self.summed

    @cached_property
    def one_row(self) -> float:  # a vertex stands for many rows here
        return float(np.median(self.sampled.counts))

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
