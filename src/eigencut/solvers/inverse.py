"""The inverse of a sparse Laplacian by its factors, where these are cheap.

Vertices of a neighbour graph in few dimensions can be eliminated one after the other with little
fill-in: parts of the graph are separated by few vertices. In many dimensions everything is close to
everything, and factors are nearly dense; there the multilevel hierarchy is better.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from eigencut._utils.arrays import Array
from eigencut.solvers.block_iteration import Ritz, orthonormalized

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


# Rough eigenpairs of a sparse Laplacian, many at once: block Lanczos with its inverse.
#
# The smallest eigenvalues of B are the largest ones of ``(B + shift)^(-1)``, and far apart there.
# A Krylov space of about twice as many vectors as pairs holds them all to a hundredth, so it
# takes far fewer products with the inverse than improving a block of that many columns does. A
# block finds equal eigenvalues, up to its width, which a single vector does not.

_WIDTH = 8  # of a block
_MOST_PER_PAIR = 6  # vectors in the basis; three are common
_LEAST_BLOCKS = 12  # which the basis may have in any case
_ROUGH = 0.05  # residual of a pair of the inverse, relative to its eigenvalue


def by_inverse_krylov(
    inverse: Inverse, null: Array, n_pairs: int, rng: np.random.Generator
) -> Ritz | None:
    """The smallest pairs beyond the null vectors, roughly; None if they are not found soon.

    Parameters
    ----------
    inverse : Inverse
        Of B, shifted a little.
    null : array of shape (n, n_null)
        Orthonormal eigenvectors of eigenvalue 0, which are left out.
    n_pairs : int
    rng : Generator

    Returns
    -------
    Ritz or None
        Images are as far as the space shows them.
    """
    n_left = len(null) - null.shape[1]
    most = min(n_left, max(_MOST_PER_PAIR * n_pairs, _LEAST_BLOCKS * _WIDTH))
    block = orthonormalized(rng.standard_normal((len(null), min(_WIDTH, n_left))), [null])
    basis, projected = np.empty((len(null), 0)), np.empty((0, 0))
    while block.shape[1] and basis.shape[1] + block.shape[1] <= most:
        basis, size = np.hstack([basis, block]), basis.shape[1]
        image = inverse(block)
        image -= null @ (null.T @ image)
        overlap = basis.T @ image
        projected = np.block([[projected, overlap[:size]], [overlap[:size].T, overlap[size:]]])
        rest = image - basis @ overlap
        width, block = block.shape[1], orthonormalized(rest, [null, basis])
        if basis.shape[1] < n_pairs:
            continue
        theta, turn = np.linalg.eigh((projected + projected.T) / 2)
        theta, turn = theta[: -n_pairs - 1 : -1], turn[:, : -n_pairs - 1 : -1]
        # Only the last block has an image outside the basis: its part is the residual.
        residuals = np.linalg.norm((block.T @ rest) @ turn[-width:], axis=0)
        if (residuals <= _ROUGH * theta).all():
            values, vectors = np.maximum(1 / theta - SHIFT, 0.0), basis @ turn
            if _is_one_missing(inverse, np.hstack([null, vectors]), theta[-1], rng):
                return None
            return Ritz(values, vectors, vectors * values)
    return None


def _is_one_missing(
    inverse: Inverse, taken: Array, smallest: float, rng: np.random.Generator
) -> bool:
    """Whether a random vector, orthogonal to those found, is led to one that should be among them.

    Where more eigenvalues are nearly equal than a block is wide, as of many clusters that hardly
    touch, a space from one block shows only as many of them.
    """
    start = orthonormalized(rng.standard_normal((len(taken), 1)), [taken])
    once = orthonormalized(inverse(start), [taken])
    return bool((once.T @ inverse(once) > smallest).any())
