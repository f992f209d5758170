"""Rough eigenpairs of a sparse Laplacian, many at once: block Lanczos with its inverse.

The smallest eigenvalues of B are the largest ones of ``(B + shift)^(-1)``, and far apart there. A
Krylov space of about twice as many vectors as pairs holds them all to a hundredth, so it takes far
fewer products with the inverse than improving a block of that many columns does. A block finds
equal eigenvalues, up to its width, which a single vector does not.
"""

from __future__ import annotations

import numpy as np

from eigencut.runtime.arrays import Array
from eigencut.solvers.block_iteration import Ritz, orthonormalized
from eigencut.solvers.factorization import SHIFT, Inverse

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
