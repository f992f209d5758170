"""Which index finds the nearest of some points, and building it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from scipy import sparse

from eigencut.neighbors.brute import brute_index
from eigencut.neighbors.cells import CellIndex
from eigencut.neighbors.distances import Found
from eigencut.neighbors.distinct_rows import DistinctRows
from eigencut.neighbors.index import Index
from eigencut.neighbors.metrics import METRICS, Space
from eigencut.neighbors.tree import TreeIndex

TREE_FEATURES = 8  # up to here a tree beats brute force
_BRUTE_PRODUCTS = 3.2e10  # n^2 d, up to which brute force takes half a second

_KINDS: dict[str, Callable[[Any, Space], Index]] = {
    "kdtree": TreeIndex,
    "brute": brute_index,
    "approximate": CellIndex,
}
INDEXES = ("auto", *_KINDS)


def allowed_indexes(metric: str, is_sparse: bool) -> tuple[str, ...]:
    """Those that can find neighbours of dense or of sparse rows by this metric."""
    if is_sparse:
        return ("brute",)
    used = METRICS[metric]
    is_allowed = {"kdtree": used.has_means, "brute": True, "approximate": used.is_flat}
    return tuple(kind for kind in _KINDS if is_allowed[kind])


def build_index(name: str, points: Any, space: Space) -> tuple[str, Index]:
    """The index of that name, or the one that "auto" takes; and its name."""
    kind = _fastest(points, space) if name == "auto" else name
    return kind, _KINDS[kind](points, space)


def _fastest(points: Any, space: Space) -> str:
    """See the measurements in ``benchmarks/studies/neighbors.md``."""
    n, d = points.shape
    if _has_tree(points, space):
        return "kdtree"
    is_plain = space.metric.is_flat and not sparse.issparse(points)
    return "approximate" if is_plain and float(n) ** 2 * d > _BRUTE_PRODUCTS else "brute"


def exact_index(points: Any, space: Space) -> Index:
    """The faster of the exact ones."""
    kind = TreeIndex if _has_tree(points, space) else brute_index
    return kind(points, space)


def _has_tree(points: Any, space: Space) -> bool:
    """Whether a tree finds the nearest sooner than anything else."""
    is_dense = not sparse.issparse(points)
    return is_dense and space.metric.has_means and points.shape[1] <= TREE_FEATURES


# Rows that were searched: their index and the nearest of each, once for any number of graphs.


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
