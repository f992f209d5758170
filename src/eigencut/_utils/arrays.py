"""The two types of array that nearly everything is made of, and others as these."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

EPS = float(np.finfo(np.float64).eps)
TINY = float(np.finfo(np.float64).tiny)
TIE = 1e-9  # scores that differ by less are equal: rounding must not decide a label
SQUARABLE = (1e-140, 1e140)  # lengths within, and products of two, neither over- nor underflow


def are_counts(weight: Array) -> bool:
    """Whether weights are numbers of rows, few enough (2^24) to write out every row."""
    return bool((weight == np.rint(weight)).all() and weight.sum() <= 1 << 24)
