"""The two array types of most signatures, and constants of float64 arithmetic."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

EPS = float(np.finfo(np.float64).eps)
TINY = float(np.finfo(np.float64).tiny)
TIE = 1e-9  # scores that differ by less count as equal: rounding must not decide a label
SQUARABLE = (1e-140, 1e140)  # the product of two lengths in here neither over- nor underflows


def rounded(numbers: Any, unit: Any) -> Array:
    """Return multiples of about 2^-30 ``unit``: sums of rows in another order give the same."""
    step = np.exp2(np.rint(np.log2(unit)) - 30)
    return np.asarray(np.rint(numbers / step) * step)


def are_counts(weight: Array) -> bool:
    """Return whether all weights are integers whose sum is at most 2^24: rows can be repeated."""
    return bool((weight == np.rint(weight)).all() and weight.sum() <= 1 << 24)
