"""The smallest eigenpairs of a symmetric matrix by a preconditioned block iteration.

Each step looks for the best vectors in the span of three blocks: the present vectors X, their
preconditioned residuals T (B X - X theta), and the direction P of the last step. This is LOBPCG
(Knyazev, 2001) with an orthonormal basis in every step, which keeps it stable where the blocks are
nearly dependent; P is made orthogonal to X in coordinates (Duersch et al., 2018). Ritz values come
down to the eigenvalues from above. A block finds equal eigenvalues, which a single vector does not.

References
----------
.. [1] A. V. Knyazev, "Toward the Optimal Preconditioned Eigensolver: Locally Optimal Block
   Preconditioned Conjugate Gradient Method", SIAM Journal on Scientific Computing 23(2), 517-541,
   2001.
.. [2] J. A. Duersch, M. Shao, C. Yang, M. Gu, "A Robust and Efficient Implementation of LOBPCG",
   SIAM Journal on Scientific Computing 40(5), C655-C676, 2018.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from eigencut._utils.arrays import Array

Precondition = Callable[[Array], Array]


@dataclass(frozen=True)
class Ritz:
    """Approximate eigenpairs, ascending: values, orthonormal vectors and their images B x."""

    values: Array
    vectors: Array
    images: Array

    def residuals(self) -> Array:
        """``B x - theta x``, as columns."""
        return self.images - self.vectors * self.values

    def first(self, n_pairs: int) -> Ritz:
        """The smallest so many pairs."""
        some = slice(n_pairs)
        return Ritz(self.values[some], self.vectors[:, some], self.images[:, some])

    def followed_by(self, others: Ritz) -> Ritz:
        """These pairs, then others."""
        return Ritz(
            np.append(self.values, others.values),
            np.hstack([self.vectors, others.vectors]),
            np.hstack([self.images, others.images]),
        )


def rayleigh_ritz(operator: Any, block: Array, excluded: Array) -> Ritz:
    """The best approximations in the span of a block, orthogonal to the excluded vectors."""
    X = orthonormalized(block, [excluded])
    images = operator @ X
    values, turn = np.linalg.eigh(X.T @ images)
    return Ritz(values, X @ turn, images @ turn)


def iterate(
    operator: Any,
    start: Ritz,
    precondition: Precondition,
    excluded: Array,
    is_done: Callable[[Array, Array], bool],
    settled: float = 0.0,
) -> Ritz:
    """Improve approximate eigenpairs of B until ``is_done(values, norms of the residuals)``.

    ``precondition`` approximately solves ``B t = r`` for a block r. The search is restricted to
    what is orthogonal to the ``excluded`` orthonormal columns. Vectors whose residual is below
    ``settled`` get no further directions of their own.
    """
    found, width = start, len(start.values)
    basis, images = start.vectors, start.images
    projected = np.diag(start.values)
    while True:
        residuals = found.residuals()
        norms = np.linalg.norm(residuals, axis=0)
        active = norms > settled
        if is_done(found.values, norms) or not active.any():
            return found
        wished = precondition(residuals[:, active] / norms[active])
        new = orthonormalized(wished, [excluded, basis])
        new_images = operator @ new
        corner = basis.T @ new_images
        projected = np.block([[projected, corner], [corner.T, new.T @ new_images]])
        values, coordinates = np.linalg.eigh((projected + projected.T) / 2)
        turn = _with_direction(coordinates[:, :width], width)
        n_old = basis.shape[1]
        basis = basis @ turn[:n_old] + new @ turn[n_old:]
        images = images @ turn[:n_old] + new_images @ turn[n_old:]
        projected = turn.T @ projected @ turn
        found = Ritz(values[:width], basis[:, :width], images[:, :width])


def _with_direction(turn: Array, width: int) -> Array:
    """Coordinates of the new X, and of an orthonormal basis of the direction that led to it."""
    direction = turn.copy()
    direction[:width] = 0.0  # what was added to the old X
    return np.hstack([turn, orthonormalized(direction, [turn])])


def orthonormalized(block: Array, against: list[Array]) -> Array:
    """An orthonormal basis of the block's span, orthogonal to other orthonormal blocks."""
    length = np.linalg.norm(block, axis=0)
    block = block[:, length > 0] / length[length > 0]
    for _ in range(2):  # for what rounding leaves the first time
        for other in against:
            block = block - other @ (other.T @ block)
        squares, turn = np.linalg.eigh(block.T @ block)
        kept = squares > 1e-14  # shorter ones are rounding errors
        block = block @ (turn[:, kept] / np.sqrt(squares[kept]))
    return block
