"""Some of the rows, to decide on: the same ones whatever their order."""

from __future__ import annotations

from functools import partial

from scipy.sparse import issparse

from eigencut.data.rows import as_rows
from eigencut.data.sample import RowSample
from eigencut.runtime.arrays import Array
from eigencut.search.distinct_rows import distinct_rows

_SORTED_ROWS = 100_000  # of which some are chosen by their order; more take long to sort


def some_rows(X: Array, n_rows: int) -> Array:
    """At most ``n_rows`` of the different rows; the order of the rows of X does not matter.

    They are evenly spaced in lexicographic order, or, where sorting all rows would take long, those
    of the smallest random keys.
    """
    if X.shape[0] > _SORTED_ROWS and not issparse(X):
        draw = partial(RowSample.of, size=n_rows, seed=0)
        sample: RowSample = as_rows(X).reduce(draw, RowSample.merged)
        return sample.rows
    rows = distinct_rows(X).rows
    return rows[:: -(-rows.shape[0] // n_rows)]
