"""The two types of array that nearly everything is made of, and others as these."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


def as_numpy(values: Any) -> Any:
    """Arrays of the array API standard, and tensors, as numpy's; anything else as it is.

    So that whoever asks an array for its library (scikit-learn, with ``array_api_dispatch``) is
    answered numpy, which is what all of this computes with.
    """
    if isinstance(values, np.ndarray) or not hasattr(values, "__dlpack__"):
        return values
    if hasattr(values, "__array__"):
        return np.asarray(values)
    return np.from_dlpack(values)
