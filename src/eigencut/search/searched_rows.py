"""Rows that were searched: their index and the nearest of each, once for any number of graphs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from eigencut.search.build import build_index
from eigencut.search.distances import Found
from eigencut.search.distinct_rows import DistinctRows
from eigencut.search.index import Index
from eigencut.search.metrics import METRICS, Space


@dataclass(frozen=True)
class SearchedPoints:
    """Rows as points of a metric, in an index.

    Attributes
    ----------
    space : Space
    points : array or sparse array
        The rows, in the units of the index.
    index_name : str
        The index in use, where "auto" was asked for.
    index : Index
    """

    space: Space
    points: Any
    index_name: str
    index: Index
    _nearest: dict[int, Found] = field(default_factory=dict)

    @classmethod
    def of(cls, rows: Any, metric: str, index: str) -> SearchedPoints:
        """Build the index of that name on distinct rows."""
        space = Space(rows, METRICS[metric])
        points = space.points(rows)
        return cls(space, points, *build_index(index, points, space))

    def nearest(self, k: int) -> Found:
        """The k nearest of each of the points, itself the first; found once."""
        if k not in self._nearest:
            self._nearest[k] = self.index.query_itself(k)
        return self._nearest[k]


@dataclass(frozen=True)
class SearchedRows:
    """The distinct rows of a table, searched."""

    distinct: DistinctRows
    points: SearchedPoints

    @classmethod
    def of(cls, distinct: DistinctRows, metric: str, index: str) -> SearchedRows:
        return cls(distinct, SearchedPoints.of(distinct.rows, metric, index))
