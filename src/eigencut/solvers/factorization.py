"""The inverse of a sparse Laplacian by its factors, where these are cheap.

Vertices of a neighbour graph in few dimensions can be eliminated one after the other with little
fill-in: parts of the graph are separated by few vertices. In many dimensions everything is close to
everything, and factors are nearly dense; there the multilevel hierarchy is better.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from eigencut.runtime.arrays import Array

SHIFT = 1e-5  # of the diagonal, relative: the Laplacian itself has no inverse
_MOST_VERTICES = 60_000  # beyond, the hierarchy is as fast in the plane, and takes less memory
_PER_VERTEX = 12_000  # multiplications for which the multilevel iteration does without factors


def is_cheap_to_factor(ordered: Any) -> bool:
    """Whether a matrix in an order of small bandwidth has cheap factors.

    Row i has entries from column f_i on; so about as many vertices as ``i - f_i`` on average
    separate the graph into halves, and among these elimination is dense.
    """
    if ordered.shape[0] > _MOST_VERTICES:
        return False
    filled = np.flatnonzero(np.diff(ordered.indptr))
    first = np.minimum.reduceat(ordered.indices, ordered.indptr[filled])
    separating = float(np.maximum(filled - first, 0).mean())
    return separating**3 <= _PER_VERTEX * ordered.shape[0]


class Inverse:
    """Solves ``(B + shift) t = r`` for blocks of columns, exactly but for rounding.

    Parameters
    ----------
    matrix : csr_array
        B, symmetric and positive semidefinite, with a diagonal of at most 1.
    shift : float
    """

    def __init__(self, matrix: Any, shift: float = SHIFT) -> None:
        from scipy.sparse import eye_array
        from scipy.sparse.linalg import splu

        shifted = (matrix + shift * eye_array(matrix.shape[0])).tocsc()
        # Positive definite: no pivoting, so the order that suits the pattern can be kept.
        self._factors = splu(
            shifted,
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )

    def __call__(self, residual: Array) -> Array:
        """Solve ``(B + shift) t = residual``."""
        return np.asarray(self._factors.solve(residual))
