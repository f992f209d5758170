"""Slices of rows that are worked on at a time, so that memory stays bounded."""

from __future__ import annotations

from collections.abc import Iterator


def row_blocks(n_rows: int, elements_per_row: int, most_elements: int) -> Iterator[slice]:
    """Slices of rows with at most so many elements in all; at least one row each.

    Examples
    --------
    >>> list(row_blocks(5, 10, most_elements=25))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    step = max(1, most_elements // max(1, elements_per_row))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))
