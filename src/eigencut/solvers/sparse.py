"""The smallest eigenpairs of a sparse Laplacian: never silently wrong.

Eigenvectors of eigenvalue 0 are known, one per connected component; the others are looked for in
their complement, for all components together, so the merged spectrum decides how many pairs each
component gets. Where a probe sees a large eigengap, plain Lanczos is tried; if it fails, or fails
the test of step 3, and everywhere else:

1. A multilevel hierarchy of the graph. The coarsest level is solved by LAPACK; on every finer one
   a few steps of the block iteration improve the vectors, preconditioned by the hierarchy's cycle.
2. On the graph itself, the iteration ends when all residuals are below the tolerance.
3. Is one missing? A fresh random block, kept orthogonal to everything found, is improved in the
   same way. If a Ritz value comes below the largest wanted eigenvalue, an eigenvalue was missed:
   Ritz values are upper bounds. Then its vector joins the block, and step 2 is repeated.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np

from eigencut.graph.sparse_product import SparseProduct
from eigencut.runtime.arrays import Array
from eigencut.runtime.progress import advance, approach
from eigencut.solvers.block_iteration import (
    Precondition,
    Ritz,
    iterate,
    orthonormalized,
    rayleigh_ritz,
)
from eigencut.solvers.multilevel import Hierarchy, Polynomial
from eigencut.solvers.plain_lanczos import by_lanczos, has_large_gap

_LARGE = 1000  # vertices; Lanczos is not tried with fewer
_EXTRA_COLUMNS = 4  # in a block, beyond the wanted ones; or a quarter of these, if that is more
_COARSE_STEPS = 2  # of the iteration on all levels but the finest
_MOST_STEPS = 150  # on the finest level; ten to twenty are common
_CHALLENGERS = 3  # columns of the random block that looks for missed eigenvalues
_CHALLENGE_STEPS = 60  # three or four are common
_CAUTION = 5.0  # how many times its last fall a Ritz value may still fall
_MOST_ROUNDS = 8  # of iteration and challenge
_BELOW = 1e-6  # relative difference of eigenvalues that are not equal


def smallest_pairs(
    matrix: Any,
    known: Array,
    n_pairs: int,
    tolerance: float,
    seed: int = 0,
) -> Ritz:
    """The smallest eigenpairs of a Laplacian ``B = M^(-1/2) L M^(-1/2)``.

    Parameters
    ----------
    matrix : csr_array
        B, symmetric and positive semidefinite.
    known : array of shape (n, n_components)
        Orthonormal eigenvectors of eigenvalue 0: all there are.
    n_pairs : int
        Including the known ones.
    tolerance : float
        Residual at which a vector is accepted, relative to the largest diagonal entry. If it
        is missed, the residuals of the result show it.
    seed : int
        Of the hierarchy and the random block.

    Examples
    --------
    The path of three vertices:

    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> L = csr_array(np.array([[1.0, -1, 0], [-1, 2, -1], [0, -1, 1]]))
    >>> pairs = smallest_pairs(L, np.full((3, 1), 3**-0.5), n_pairs=2, tolerance=1e-10)
    >>> pairs.values.round(6)
    array([0., 1.])
    """
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    unit = float(matrix.diagonal().max())
    # Neighbours with numbers close by make products with the matrix up to three times faster.
    order = reverse_cuthill_mckee(matrix, symmetric_mode=True)
    ordered = matrix[order][:, order] / unit
    null = known[order]
    n_wanted = n_pairs - null.shape[1]
    found = _plain(ordered, null, n_wanted, tolerance, seed)
    if found is None:
        hierarchy = Hierarchy(ordered, null, seed)
        operator = SparseProduct(ordered)
        found = _complete(operator, hierarchy, null, n_wanted, tolerance, seed)
    vectors = np.empty((len(known), n_pairs))
    vectors[order] = np.hstack([null, found.vectors])
    values = np.concatenate([np.zeros(null.shape[1]), unit * found.values])
    return Ritz(values, vectors, matrix @ vectors)


def _plain(matrix: Any, null: Array, n_wanted: int, tolerance: float, seed: int) -> Ritz | None:
    """The wanted pairs by plain Lanczos if there is a gap, it converges, and none is missing."""
    rng = np.random.default_rng(seed)
    if len(null) < _LARGE or not has_large_gap(matrix, null, rng):
        return None
    found = by_lanczos(matrix, null, n_wanted, tolerance, rng)
    if found is None:
        return None
    operator, taken = SparseProduct(matrix), np.hstack([null, found.vectors])
    block = rng.standard_normal((len(null), 1))  # one is enough to see that some are missing
    precondition = Polynomial(matrix)
    missed = _missed(operator, precondition, taken, block, found.values[-1], tolerance)
    return found if missed is None else None


def _complete(
    operator: SparseProduct,
    hierarchy: Hierarchy,
    null: Array,
    n_wanted: int,
    tolerance: float,
    seed: int,
) -> Ritz:
    """The wanted pairs beyond the null vectors, challenged until none is missing."""
    rng = np.random.default_rng(seed)
    width = n_wanted + max(_EXTRA_COLUMNS, n_wanted // 4)
    start = orthonormalized(_from_coarse_levels(hierarchy, null, width), [null])
    missing = rng.standard_normal((len(null), width - start.shape[1]))
    found = rayleigh_ritz(operator, np.hstack([start, missing]), null)
    steps = count()

    def is_accurate(_: Array, norms: Array) -> bool:
        residual = norms[:n_wanted].max()
        approach(next(steps), residual, tolerance)
        return bool(residual <= tolerance)

    for _ in range(_MOST_ROUNDS):
        found = iterate(
            operator,
            found,
            hierarchy,
            null,
            _Until(_MOST_STEPS, is_accurate),
            settled=tolerance / 2,
        )
        taken = np.hstack([null, found.vectors])
        largest = found.values[n_wanted - 1]
        block = rng.standard_normal((len(null), _CHALLENGERS))
        missed = _missed(operator, hierarchy, taken, block, largest, tolerance)
        if missed is None:
            break
        found = rayleigh_ritz(operator, np.hstack([found.vectors, missed]), null)
    wanted = slice(n_wanted)
    return Ritz(found.values[wanted], found.vectors[:, wanted], found.images[:, wanted])


def _from_coarse_levels(hierarchy: Hierarchy, null: Array, width: int) -> Array:
    """A block to start from: solved on the coarsest level, improved on the way to the finest.

    It has fewer columns than asked for if the coarsest level has too few vertices.
    """
    nulls = [null]
    for level in hierarchy.levels[:-1]:
        nulls.append(np.linalg.qr(level.restrict @ nulls[-1])[0])
    block = hierarchy.coarsest_vectors(width)
    for depth in range(len(hierarchy.levels) - 2, -1, -1):
        level = hierarchy.levels[depth]
        block = level.prolong @ block
        if depth > 0:
            operator = SparseProduct(level.matrix)
            start = rayleigh_ritz(operator, block, nulls[depth])
            cycle, steps = hierarchy.from_level(depth), _Until(_COARSE_STEPS)
            block = iterate(operator, start, cycle, nulls[depth], steps).vectors
    return block


def _missed(
    operator: SparseProduct,
    precondition: Precondition,
    taken: Array,
    block: Array,
    largest: float,
    tolerance: float,
) -> Array | None:
    """Vectors with an eigenvalue below the largest one that was accepted; None if there are none.

    The random block, made orthogonal to what is taken, is improved until its lowest Ritz value is
    below, or will stay above: it falls from one step to the next by less than a fifth of what it
    is above, and the norm of its residual, within which an eigenvalue lies, is less than that too.
    """
    start = rayleigh_ritz(operator, precondition(block), taken)
    if not len(start.values):
        return None
    below = largest * (1 - _BELOW)
    lowest = [np.inf]

    def is_decided(values: Array, norms: Array) -> bool:
        advance(len(lowest) - 1, None, "step(s) of the search for missed ones")
        lowest.append(float(values[0]))
        above = lowest[-1] - largest
        # A slow fall alone can be a rest on the way down, beside an eigenvector that is not it.
        stays_above = max(_CAUTION * (lowest[-2] - lowest[-1]), norms[0]) < above
        return lowest[-1] < below or norms[0] <= tolerance or stays_above

    steps = _Until(_CHALLENGE_STEPS, is_decided)
    challenger = iterate(operator, start, precondition, taken, steps)
    return challenger.vectors if challenger.values[0] < below else None


class _Until:
    """Ends an iteration on a condition, or after so many steps."""

    def __init__(
        self, most_steps: int, condition: Callable[[Array, Array], bool] | None = None
    ) -> None:
        self._left = most_steps
        self._condition = condition

    def __call__(self, values: Array, norms: Array) -> bool:
        self._left -= 1
        return self._left < 0 or (self._condition is not None and self._condition(values, norms))
