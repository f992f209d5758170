"""What parameters of landmarks may be."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from scipy.sparse import issparse

from eigencut.affinity.density import check_contrast
from eigencut.runtime.validation import check_choice, check_count
from eigencut.search.metrics import METRICS


def check_landmark_parameters(landmarks: Any) -> None:
    """An error if one of the parameters of ``Landmarks`` is not what it must be."""
    check_count("n_landmarks", landmarks.n_landmarks, "use the default of 1000")
    check_count("n_nearest", landmarks.n_nearest, "use the default of 5")
    check_choice("selection", landmarks.selection, ("kmeans", "random"))
    check_choice("metric", landmarks.metric, tuple(METRICS))
    check_contrast(landmarks.density_contrast)
    seed = landmarks.random_state
    is_integer = isinstance(seed, (int, np.integer)) and not isinstance(seed, bool)
    if seed is not None and not (is_integer and seed >= 0):
        raise ValueError(
            f"random_state of Landmarks must be a non-negative integer or None. Got {seed!r}; "
            "use random_state=0."
        )
    sigma: Any = landmarks.sigma
    is_number = isinstance(sigma, Real) and not isinstance(sigma, bool)
    if sigma != "auto" and not (is_number and 0 < sigma < np.inf):
        raise ValueError(
            f"sigma of Landmarks must be a positive number or 'auto'. Got {sigma!r}; use "
            "sigma='auto' if unsure."
        )


def refuse_sparse(landmarks: Any, X: Any) -> None:
    """An error if X is sparse, and the metric has no use for such rows."""
    if issparse(X) and not METRICS[landmarks.metric].takes_sparse:
        raise ValueError(
            f"X must be dense with metric={landmarks.metric!r}. Got sparse rows; use "
            "metric='euclidean' or 'cosine', or X.toarray()."
        )
