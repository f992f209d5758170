"""The smallest eigenpairs of a sparse Laplacian: never silently wrong.

Eigenvectors of eigenvalue 0 are known, one per connected component; the others are looked for in
their complement, for all components together, so the merged spectrum decides how many pairs each
component gets. Where a probe sees a large eigengap, plain Lanczos is tried, and must stand the test
of step 3. Where no pair needs to be accurate and factors are cheap, it is block Lanczos with the
inverse (``by_inverse_krylov``). If these fail, and everywhere else:

1. A preconditioner and a first block. Where factors of the matrix are cheap, as of graphs in few
   dimensions: its inverse, and random vectors. Else a multilevel hierarchy of the graph, whose
   coarsest level is solved by LAPACK; on every finer one a few steps of the block iteration improve
   the vectors, preconditioned by the hierarchy's cycle.
2. On the graph itself, the iteration ends when all residuals are below the tolerance.
3. Is one missing? A fresh random block, kept orthogonal to everything found, is improved in the
   same way. If a Ritz value comes below the largest wanted eigenvalue, an eigenvalue was missed:
   Ritz values are upper bounds. Then its vector joins the block, and step 2 is repeated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from eigencut._utils.arrays import Array
from eigencut._utils.progress import advance, approach
from eigencut.graphs.sparse import SparseProduct
from eigencut.solvers.block_iteration import (
    Precondition,
    Ritz,
    iterate,
    orthonormalized,
    rayleigh_ritz,
)
from eigencut.solvers.preconditioners import (
    GraphHierarchy,
    Inverse,
    Polynomial,
    by_inverse_krylov,
    is_cheap_to_factor,
)


@dataclass(frozen=True)
class SparseSettings:
    """How far the parts of the sparse solver go."""

    probe_steps: int = 24  # Lanczos steps that look for a gap.
    large_gap: float = 4.0  # Ratio of neighbouring Ritz values; without a gap it is up to 2.5.
    restarts: int = 20  # of ARPACK: about ten are common where the gap is large.
    large: int = 1000  # Plain Lanczos is not tried with fewer vertices.
    extra_columns: int = 3  # in a block; or a quarter of the wanted ones, if that is more.
    coarse_steps: int = 2  # of the iteration on all levels but the finest.
    most_steps: int = 150  # on the finest level; ten to twenty are common.
    challengers: int = 3  # Columns of the random block that looks for missed eigenvalues.
    challenge_steps: int = 60  # Three or four are common.
    caution: float = 5.0  # How many times its last fall a Ritz value may still fall.
    most_rounds: int = 8  # of iteration and challenge.
    rough: float = 0.1  # Residual of a rough pair, relative to its eigenvalue.
    below: float = 1e-6  # Relative difference of eigenvalues that are not equal.


SETTINGS = SparseSettings()


def has_large_gap(matrix: Any, null: Array, rng: np.random.Generator) -> bool:
    """Whether the low end of the spectrum, beyond the null vectors, has a gap.

    After a few Lanczos steps the lowest Ritz values follow each other closely where eigenvalues do.
    Where few of these lie far below the others, no Ritz value falls into the gap.
    """
    n_steps = SETTINGS.probe_steps
    basis = np.empty((n_steps, matrix.shape[0]))
    image = rng.standard_normal(matrix.shape[0])
    projected = np.zeros((n_steps, n_steps))
    for step in range(n_steps):
        image -= null @ (null.T @ image) + basis[:step].T @ (basis[:step] @ image)
        length = np.linalg.norm(image)
        if not length > 0:
            return False
        basis[step] = image / length
        image = matrix @ basis[step]
        projected[: step + 1, step] = basis[: step + 1] @ image
    values = np.linalg.eigvalsh(projected, UPLO="U")[1 : n_steps // 2]
    return bool((values[1:] > SETTINGS.large_gap * values[:-1]).any())


def by_lanczos(
    matrix: Any, null: Array, n_wanted: int, tolerance: float, rng: np.random.Generator
) -> Ritz | None:
    """The smallest pairs beyond the null vectors; None if they are not found soon."""
    from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

    products = count(1)

    def upside_down(v: Array) -> Array:
        advance(next(products), None, "product(s) with the graph")
        # 1 - B, whose null vectors, of eigenvalue 1, are moved to the other end.
        return v - matrix @ v - 2 * (null @ (null.T @ v))

    n = matrix.shape[0]
    operator = LinearOperator((n, n), matvec=upside_down, dtype=np.float64)
    start = rng.standard_normal(n)
    try:
        theta, vectors = eigsh(
            operator, n_wanted, which="LA", v0=start, tol=tolerance / 2, maxiter=SETTINGS.restarts
        )
    except ArpackError:
        return None
    vectors = np.ascontiguousarray(vectors[:, ::-1])
    found = Ritz(1 - theta[::-1], vectors, matrix @ vectors)
    is_accurate = np.linalg.norm(found.residuals(), axis=0).max() <= tolerance
    return found if is_accurate else None


def smallest_pairs(
    matrix: Any,
    known: Array,
    n_pairs: int,
    tolerance: float,
    seed: int = 0,
    n_rough: int = 0,
) -> Ritz:
    """The smallest eigenpairs of a Laplacian ``B = M^(-1/2) L M^(-1/2)``, a csr_array.

    ``known`` are all orthonormal eigenvectors of eigenvalue 0, which count among the pairs. A
    vector is accepted at a residual of ``tolerance`` times the largest diagonal entry; if that is
    missed, the residuals of the result show it. Of the last ``n_rough`` pairs only the eigenvalues
    matter, and only to about a hundredth.

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
    wanted = _Wanted(n_pairs - null.shape[1], min(n_rough, n_pairs - null.shape[1]), tolerance)
    found = _plain(ordered, null, wanted, seed)
    if found is None:
        found = _complete(ordered, null, wanted, seed)
    vectors = np.empty((len(known), n_pairs))
    vectors[order] = np.hstack([null, found.vectors])
    values = np.concatenate([np.zeros(null.shape[1]), unit * found.values])
    return Ritz(values, vectors, matrix @ vectors)


class _Wanted(NamedTuple):
    """How many pairs beyond the null vectors, of which the last ones roughly, and how accurate."""

    n_pairs: int
    n_rough: int
    tolerance: float

    @property
    def n_accurate(self) -> int:
        return self.n_pairs - self.n_rough

    def are_accurate(self, values: Array, norms: Array) -> bool:
        """Whether residuals of these norms will do."""
        # The error of an eigenvalue is about the square of the residual over the distance to the
        # next one, which is rarely much smaller than the eigenvalue itself.
        is_rough = slice(self.n_accurate, self.n_pairs)
        rough = norms[is_rough] <= np.maximum(SETTINGS.rough * values[is_rough], self.tolerance)
        return bool((norms[: self.n_accurate] <= self.tolerance).all() and rough.all())


def _plain(matrix: Any, null: Array, wanted: _Wanted, seed: int) -> Ritz | None:
    """The wanted pairs by plain Lanczos if there is a gap, it converges, and none is missing."""
    rng = np.random.default_rng(seed)
    if len(null) < SETTINGS.large or wanted.n_accurate < 1 or wanted.n_rough > 1:
        return None
    if not has_large_gap(matrix, null, rng):
        return None
    found = by_lanczos(matrix, null, wanted.n_accurate, wanted.tolerance, rng)
    if found is None:
        return None
    operator, taken = SparseProduct(matrix), np.hstack([null, found.vectors])
    block = rng.standard_normal((len(null), 1))  # one is enough to see that some are missing
    following = _challenge(operator, Polynomial(matrix), taken, block, found.values[-1], wanted)
    if _is_missed(following, found.values[-1]) or len(following.values) < wanted.n_rough:
        return None
    return found.followed_by(following.first(wanted.n_rough))


def _complete(matrix: Any, null: Array, wanted: _Wanted, seed: int) -> Ritz:
    """The wanted pairs beyond the null vectors, challenged until none is missing."""
    rng = np.random.default_rng(seed)
    operator = SparseProduct(matrix)
    width = wanted.n_pairs + max(SETTINGS.extra_columns, wanted.n_pairs // 4)
    if is_cheap_to_factor(matrix):
        inverse = Inverse(matrix)
        if not wanted.n_accurate:
            rough = by_inverse_krylov(inverse, null, wanted.n_pairs, rng)
            if rough is not None:
                return rough
        precondition: Precondition = inverse
        block, n_challengers = _random_block(rng, null, width, precondition), 1
    else:
        precondition = hierarchy = GraphHierarchy(matrix, null, seed)
        block, n_challengers = _from_coarse_levels(hierarchy, null, width), SETTINGS.challengers
    start = orthonormalized(block, [null])
    missing = rng.standard_normal((len(null), width - start.shape[1]))
    found = rayleigh_ritz(operator, np.hstack([start, missing]), null)
    steps = count()

    def is_accurate(values: Array, norms: Array) -> bool:
        approach(next(steps), norms[: wanted.n_accurate].max(initial=0.0), wanted.tolerance)
        return wanted.are_accurate(values, norms)

    for _ in range(SETTINGS.most_rounds):
        until = _Until(SETTINGS.most_steps, is_accurate)
        settled = wanted.tolerance / 2
        found = iterate(operator, found, precondition, null, until, settled)
        if not wanted.n_accurate:
            break
        taken = np.hstack([null, found.vectors])
        largest = found.values[wanted.n_accurate - 1]
        block = rng.standard_normal((len(null), n_challengers))
        challenger = _challenge(operator, precondition, taken, block, largest, wanted)
        if not _is_missed(challenger, largest):
            break
        found = rayleigh_ritz(operator, np.hstack([found.vectors, challenger.vectors]), null)
    return found.first(wanted.n_pairs)


def _random_block(
    rng: np.random.Generator, null: Array, width: int, precondition: Precondition
) -> Array:
    """Random vectors in which what has small eigenvalues is stressed."""
    block = rng.standard_normal((len(null), width))
    return precondition(block - null @ (null.T @ block))


def _from_coarse_levels(hierarchy: GraphHierarchy, null: Array, width: int) -> Array:
    """A block to start from: solved on the coarsest level, improved on the way to the finest."""
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
            cycle, steps = hierarchy.from_level(depth), _Until(SETTINGS.coarse_steps)
            block = iterate(operator, start, cycle, nulls[depth], steps).vectors
    return block


def _challenge(
    operator: SparseProduct,
    precondition: Precondition,
    taken: Array,
    block: Array,
    largest: float,
    wanted: _Wanted,
) -> Ritz:
    """The best approximations to eigenvectors that are orthogonal to what is taken.

    The random block is improved until its lowest Ritz value is below the largest one that was
    accepted, or will stay above: it falls from one step to the next by less than a fifth of what it
    is above, and the norm of its residual, within which an eigenvalue lies, is less than that too.
    """
    start = rayleigh_ritz(operator, precondition(block), taken)
    if not len(start.values):
        return start
    lowest = [np.inf]

    def is_decided(values: Array, norms: Array) -> bool:
        advance(len(lowest) - 1, None, "step(s) of the search for missed ones")
        lowest.append(float(values[0]))
        above = lowest[-1] - largest
        # A slow fall alone can be a rest on the way down, beside an eigenvector that is not it.
        stays_above = max(SETTINGS.caution * (lowest[-2] - lowest[-1]), norms[0]) < above
        if wanted.n_rough:
            stays_above &= norms[0] <= SETTINGS.rough * values[0]
        return bool(
            lowest[-1] < largest * (1 - SETTINGS.below)
            or norms[0] <= wanted.tolerance
            or stays_above
        )

    return iterate(
        operator, start, precondition, taken, _Until(SETTINGS.challenge_steps, is_decided)
    )


def _is_missed(challenger: Ritz, largest: float) -> bool:
    """Whether it has an eigenvalue below the largest one that was accepted."""
    return len(challenger.values) > 0 and bool(
        challenger.values[0] < largest * (1 - SETTINGS.below)
    )


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
