"""Any function of two rows as an affinity."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from eigencut._utils.arrays import Array
from eigencut.affinities.vectors import VectorAffinity
from eigencut.neighbors.distances import nearest_rows

_SYMMETRY_ROWS = 64


class Kernel(VectorAffinity):
    """Weights from a function ``k(A, B)`` on the complete graph.

    Parameters
    ----------
    function : callable
        Takes arrays of shape (a, d) and (b, d) and returns the (a, b) array of weights between
        their rows: symmetric, non-negative and finite. The functions of
        ``sklearn.metrics.pairwise`` such as ``laplacian_kernel`` have this form.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.metrics.pairwise import laplacian_kernel
    >>> Kernel(laplacian_kernel).fit_graph(np.array([[0.0], [1.0]])).dense().round(3)
    array([[1.   , 0.368],
           [0.368, 1.   ]])
    """

    def __init__(self, function: Callable[[Array, Array], ArrayLike]) -> None:
        self.function = function

    def _fit_rows(self, rows: Array) -> None:
        if not callable(self.function):
            raise ValueError(
                "function must be callable as k(A, B). "
                f"Got {self.function!r}; pass e.g. sklearn.metrics.pairwise.laplacian_kernel."
            )
        some = rows[:: max(1, len(rows) // _SYMMETRY_ROWS)]
        weights = self._weights(some, some)
        asymmetry = np.abs(weights - weights.T).max()
        if asymmetry > 1e-8 * weights.max():
            raise ValueError(
                "function must be symmetric: k(a, b) = k(b, a). "
                f"Got values that differ by up to {asymmetry:.3g}; average k(A, B) and k(B, A).T."
            )

    def _prepare(self, X: Array) -> Array:
        return X

    def _weights(self, A: Array, B: Array) -> Array:
        found: Any = self.function(A, B)
        weights = np.array(found.toarray() if hasattr(found, "toarray") else found)
        if weights.dtype.kind not in "fiub":
            raise ValueError(
                f"function must return real numbers. Got dtype {weights.dtype}; "
                "take the absolute value of complex ones."
            )
        weights = weights.astype(np.float64, copy=False)
        if weights.shape != (len(A), len(B)):
            raise ValueError(
                f"function must return an array of shape {(len(A), len(B))} for that many rows. "
                f"Got shape {weights.shape}; compute all pairs of rows at once."
            )
        if not np.isfinite(weights).all() or weights.min() < 0:
            raise ValueError(
                "function must return finite, non-negative weights. "
                f"Got values from {weights.min():.3g} to {weights.max():.3g}; "
                "use a similarity that grows as rows get closer."
            )
        return weights

    def _underflowed(self, A: Array, weighted: Array) -> tuple[Array, Array]:
        """A row without any weight counts as its nearest training row."""
        return weighted[nearest_rows(A, self.rows_)], np.full(len(A), -np.inf)

    def connection_hint(self) -> str:
        return "Use a kernel that reaches farther."
