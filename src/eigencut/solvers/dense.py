"""The largest eigenpairs of a dense symmetric problem: LAPACK, and block Lanczos for large ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from eigencut._utils.arrays import Array
from eigencut._utils.progress import approach


@dataclass(frozen=True)
class LanczosSettings:
    """How large the blocks and the basis of block Lanczos are."""

    basis_columns: int = 320  # of the Krylov basis, before it is compressed.
    kept_blocks: int = 3  # of the compressed basis.
    budget: int = 240  # Products with a block: about the cost of LAPACK at some thousand vertices.
    extra_columns: int = 2  # in a block, beyond the wanted ones: they speed up convergence.
    columns_multiple: int = 8  # in a block: fewer cost as much, being done eight at a time.


SETTINGS = LanczosSettings()
Solution = tuple[Array, Array, Array]  # theta, v, A v


def largest_by_lapack(A: Array, n_pairs: int) -> tuple[Array, Array]:
    """The largest eigenpairs of a symmetric matrix, descending, by LAPACK."""
    from scipy.linalg import LinAlgError, eigh

    n = len(A)
    try:
        theta, vectors = eigh(A, subset_by_index=[n - n_pairs, n - 1], check_finite=False)
        is_complete = len(theta) == n_pairs
    except LinAlgError:
        is_complete = False
    if not is_complete:
        # Several equal eigenvalues can make the subset driver fail, or silently return too few.
        theta, vectors = eigh(A, driver="evd", check_finite=False)
    return theta[-n_pairs:][::-1], vectors[:, -n_pairs:][:, ::-1]


def largest_by_lanczos(
    operator: Callable[[Array], Array], known: Array, n_pairs: int, tolerance: float, seed: int
) -> Solution | None:
    """Largest eigenpairs by block Lanczos with full reorthogonalization and thick restarts.

    A block of more than K columns finds eigenvalues of any multiplicity up to K, which one vector
    does not; and a product with a block costs hardly more than with a vector, because reading the
    matrix dominates. Returns None if it does not converge within what LAPACK would cost.
    """
    n, n_known = known.shape
    width = n_pairs + SETTINGS.extra_columns
    width += -width % SETTINGS.columns_multiple
    rng = np.random.default_rng(seed)
    block, _ = np.linalg.qr(np.column_stack([known, rng.standard_normal((n, width - n_known))]))
    capacity = max(SETTINGS.basis_columns, 4 * width) + width
    basis, image = (np.empty((n, capacity), order="F") for _ in range(2))
    projected = np.zeros((capacity, capacity))
    size = 0
    for step in range(SETTINGS.budget):
        new = slice(size, size + width)
        basis[:, new] = block
        image[:, new] = operator(block)
        size += width
        # An image overlaps with its own block, the last one and what a restart has kept.
        lately = slice(max(0, size - (SETTINGS.kept_blocks + 1) * width), size)
        projected[lately, new] = basis[:, lately].T @ image[:, new]
        projected[new, lately] = projected[lately, new].T
        rest = image[:, new] - basis[:, lately] @ projected[lately, new]
        block, leaving = _orthonormal_block(rest, basis[:, :size])
        theta, coordinates = np.linalg.eigh(projected[:size, :size])
        theta, coordinates = theta[::-1], coordinates[:, ::-1]
        wanted = coordinates[:, :n_pairs]
        # Only the last block has an image outside the basis: its part is the residual.
        residual = np.linalg.norm(leaving @ wanted[-width:], axis=0).max()
        approach(step + 1, residual, tolerance)
        if residual <= tolerance:
            return theta[:n_pairs], basis[:, :size] @ wanted, image[:, :size] @ wanted
        if size + width > capacity:  # keep the best; the next block continues it as before
            size, full = SETTINGS.kept_blocks * width, size
            kept = coordinates[:, :size]
            basis[:, :size] = basis[:, :full] @ kept
            image[:, :size] = image[:, :full] @ kept
            projected[:] = 0.0
            projected[:size, :size] = np.diag(theta[:size])
    return None


def _orthonormal_block(rest: Array, basis: Array) -> tuple[Array, Array]:
    """An orthonormal block orthogonal to the basis, and ``rest`` in terms of it."""
    block, first = np.linalg.qr(rest)
    block, second = np.linalg.qr(block - basis @ (basis.T @ block))
    return block, second @ first
