"""The two types of array that nearly everything is made of, and others as these."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

EPS = float(np.finfo(np.float64).eps)
TINY = float(np.finfo(np.float64).tiny)
SQUARABLE = (1e-140, 1e140)  # lengths within, and products of two, neither over- nor underflow


def as_numpy(values: Any) -> Any:
    """Arrays of the array API standard, and tensors, as numpy's; anything else as it is."""
    if isinstance(values, np.ndarray) or not hasattr(values, "__dlpack__"):
        return values
    if hasattr(values, "__array__"):
        return np.asarray(values)
    return np.from_dlpack(values)


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


def blocks_of_cost(costs: Any, most: int) -> list[slice]:
    """Slices of consecutive items whose costs add up to about ``most``; at least one item each.

    Examples
    --------
    >>> blocks_of_cost([1, 1, 9, 2, 2, 2], most=4)
    [slice(0, 2, None), slice(2, 3, None), slice(3, 5, None), slice(5, 6, None)]
    """
    total = np.cumsum(costs)
    starts = [0]
    while starts[-1] < len(total):
        before = total[starts[-1] - 1] if starts[-1] else 0
        end = int(np.searchsorted(total, before + most, side="right"))
        starts.append(max(end, starts[-1] + 1))
    return [slice(*ends) for ends in pairwise(starts)]
