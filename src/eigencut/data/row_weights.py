"""Weights of rows that are read in blocks: checked, and carried as one more column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from eigencut.data.table import Table
from eigencut.runtime.arrays import Array
from eigencut.runtime.validation import refuse_weights, weights_of_rows


def weights_of(weight: ArrayLike | None, n_rows: int, n_before: int = 0) -> Any:
    """The weights of a block of rows, finite and not negative; None for None.

    All of a block may be zero. Rows are numbered from the first of the stream in errors.
    """
    if weight is None:
        return None
    return weights_of_rows(weight, n_rows, lambda row: f"in row {row + n_before}")


def with_weights(rows: Array, weight: Array | None) -> Array:
    """The rows with one more column, if they have weights."""
    return rows if weight is None else np.column_stack([rows, weight])


def with_weight_column(
    table: Table, names: Sequence[str], weights: str | None, source: str
) -> Table:
    """The columns of a table that are data, and as weights the column that is named for these."""
    if weights is None:
        return table.choose(names)
    weight = table.values[:, table.names.index(weights)].copy()
    named = f"{source}: the weights in column {weights!r}"
    refuse_weights(weight, named, lambda row: f"in {table.place(row)}")
    return replace(table.choose(names), weight=weight)


def refuse_all_zero(n_positive: int) -> None:
    """An error if no row has a weight."""
    if not n_positive:
        raise ValueError(
            "sample_weight must be positive for at least one row. Got zeros only; leave it out to "
            "weigh all rows equally."
        )
