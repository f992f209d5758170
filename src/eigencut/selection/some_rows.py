"""Some of the rows, to decide on: the same ones whatever their order."""

from __future__ import annotations

from functools import partial
from typing import Any

from scipy.sparse import issparse

from eigencut.data.rows import as_rows
from eigencut.data.sample import RowSample
from eigencut.runtime.arrays import Array
from eigencut.search.distinct_rows import count_distinct_rows, distinct_rows

_SORTED_ROWS = 100_000  # of which some are chosen by their order; more take long to sort


def some_rows(X: Any, n_rows: int, sample_weight: Array | None = None) -> tuple[Any, Array]:
    """At most ``n_rows`` of the different rows, and what each counts; their order does not matter.

    They are evenly spaced in lexicographic order, or, where sorting all rows would take long, those
    of the smallest random keys.
    """
    if not issparse(X) and count_distinct_rows(X) > _SORTED_ROWS:
        draw = partial(RowSample.of, size=n_rows, seed=0)
        sample: RowSample = as_rows(X, sample_weight).reduce(draw, RowSample.merged)
        return sample.rows, sample.counts
    distinct = distinct_rows(X, sample_weight)
    some = slice(None, None, -(-len(distinct.multiplicity) // n_rows))
    return distinct.rows[some], distinct.multiplicity[some]
