"""Data sets that workloads and studies share. Everything is generated, or read from elsewhere.

A module with a function ``rows(n, seed, *, d, K, **options)`` can be named in a workload.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

Array = NDArray[np.float64]
Labels = NDArray[Any]  # of integers
Sample = tuple[Array, Labels, int]  # X, y, K; y = -1 marks noise, which no score looks at


class NoData(Exception):
    """A data set is not there; its workloads are then left out, and said to be."""


def ari(y: Labels, labels: Labels) -> float:
    """The adjusted Rand index of the rows that are not noise."""
    known = y >= 0
    return float(adjusted_rand_score(y[known], labels[known]))
