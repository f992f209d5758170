"""How many rows weighted ones stand for, where rows are counted: in errors and their spread."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from eigencut.runtime.arrays import Array
from eigencut.runtime.validation import check_sample_weight


def row_counts(sample_weight: ArrayLike | None, n_rows: int) -> Array | None:
    """Weights of held-out rows as numbers of independent rows; None for None.

    Integers are numbers of identical rows, as they are. Other weights say only what rows count
    relative to each other; their sum becomes ``(sum w)^2 / sum w^2``, the number of rows of equal
    weight that estimate a mean as well (Kish, 1965).

    Examples
    --------
    >>> row_counts([1, 3], 2), row_counts([0.5, 1.5], 2)
    (array([1., 3.]), array([0.4, 1.2]))
    """
    weight = check_sample_weight(sample_weight, n_rows)
    if weight is None or (weight == np.rint(weight)).all():
        return weight
    return np.asarray(weight * (weight.sum() / (weight @ weight)))


def refuse_weights_alone(sample_weight: ArrayLike | None) -> None:
    """An error for weights of no rows: training rows have those of the fit."""
    if sample_weight is not None:
        raise ValueError(
            "sample_weight must be left out without X, for training rows have the weights of the "
            "fit. Got some; pass the rows that they belong to."
        )
