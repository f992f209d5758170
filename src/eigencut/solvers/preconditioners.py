"""A multilevel preconditioner for Laplacians, for eigenvalues that lie very close together.

Every level is a graph whose vertices are small groups of vertices of the level below. With
``B = M^(-1/2) L M^(-1/2)``, vectors that are constant on groups, in terms of ``M^(-1/2) v``, are
the range of P, whose columns are orthonormal; and ``P^T B P`` is the same for the graph of groups,
with the sums of weights and masses. So all levels are Laplacians: their eigenvalues, divided by
their diagonal, lie in [0, 2], and nothing has to be estimated.

One cycle solves ``B t = r`` approximately: Chebyshev polynomials damp what varies between
neighbours, and the rest is solved on the next level, by two steps of conjugate gradients
preconditioned by a cycle there (K-cycle; Notay, 2010). All of this is in single precision: it is a
preconditioner, and does not touch the accuracy of the result.

References
----------
.. [1] Y. Notay, "An Aggregation-Based Algebraic Multigrid Method", Electronic Transactions on
   Numerical Analysis 37, 123-146, 2010.
.. [2] M. Luby, "A Simple Parallel Algorithm for the Maximal Independent Set Problem", SIAM Journal
   on Computing 15(4), 1036-1053, 1986.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigencut._utils.arrays import EPS, TINY, Array, Indices
from eigencut._utils.progress import advance
from eigencut.graphs.sparse import SparseProduct
from eigencut.solvers.block_iteration import Ritz, orthonormalized


def is_cheap_to_factor(ordered: Any) -> bool:
    """Whether a matrix in an order of small bandwidth has cheap factors, as in few dimensions.

    Row i has entries from column f_i on; so about as many vertices as ``i - f_i`` on average
    separate the graph into halves, and among these elimination is dense.
    """
    if ordered.shape[0] > 60_000:  # the hierarchy is as fast in the plane, and takes less memory
        return False
    filled = np.flatnonzero(np.diff(ordered.indptr))
    first = np.minimum.reduceat(ordered.indices, ordered.indptr[filled])
    separating = float(np.maximum(filled - first, 0).mean())
    # With more multiplications per vertex the multilevel iteration does without factors.
    return separating**3 <= 12_000 * ordered.shape[0]


class Inverse:
    """Solves ``(B + shift) t = r`` for blocks of columns, exactly but for rounding.

    B is symmetric and positive semidefinite, with a diagonal of at most 1.
    """

    def __init__(self, matrix: Any, shift: float = 1e-5) -> None:
        from scipy.sparse import eye_array
        from scipy.sparse.linalg import splu

        self.shift = shift  # B itself has no inverse
        shifted = (matrix + shift * eye_array(matrix.shape[0])).tocsc()
        # Positive definite: no pivoting, so the order that suits the pattern can be kept.
        self._factors = splu(
            shifted,
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )

    def __call__(self, residual: Array) -> Array:
        return np.asarray(self._factors.solve(residual))


def by_inverse_krylov(
    inverse: Inverse, null: Array, n_pairs: int, rng: np.random.Generator
) -> Ritz | None:
    """The smallest pairs beyond the null vectors, roughly; None if they are not found soon.

    The smallest eigenvalues of B are the largest ones of ``(B + shift)^(-1)``, and far apart there.
    A Krylov space of about twice as many vectors as pairs holds them all to a hundredth; a block
    finds equal eigenvalues, up to its width. Images are as far as the space shows them.
    """
    width_of_block = 8
    n_left = len(null) - null.shape[1]
    most = min(n_left, max(6 * n_pairs, 12 * width_of_block))
    block = orthonormalized(rng.standard_normal((len(null), min(width_of_block, n_left))), [null])
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
        if (residuals <= 0.05 * theta).all():
            values, vectors = np.maximum(1 / theta - inverse.shift, 0.0), basis @ turn
            if _is_one_missing(inverse, np.hstack([null, vectors]), theta[-1], rng):
                return None
            return Ritz(values, vectors, vectors * values)
    return None


def _is_one_missing(
    inverse: Inverse, taken: Array, smallest: float, rng: np.random.Generator
) -> bool:
    """Whether a random vector is led to one that should be among those found, and is not.

    Of more nearly equal eigenvalues than a block is wide, its space shows only so many.
    """
    start = orthonormalized(rng.standard_normal((len(taken), 1)), [taken])
    once = orthonormalized(inverse(start), [taken])
    return bool((once.T @ inverse(once) > smallest).any())


Single = NDArray[np.float32]


@dataclass(frozen=True)
class MultilevelSettings:
    """How levels are made, and the polynomials on them, as ratio of the spectrum and degree."""

    coarsest: int = 600  # Vertices of the coarsest level, which LAPACK solves.
    largest_dense: int = 3000  # Vertices it may have where grouping comes to a standstill.
    shrinking: int = 4  # How many times smaller than the one below a level should be.
    least_shrinking: float = 0.8  # Stop where more than this share of the vertices is left.
    strong: float = 0.5  # Share of a vertex's largest weight that makes a neighbour a close one.
    hub: int = 8  # times the mean number of close neighbours: a vertex of very many.
    smoother: tuple[float, int] = (8.0, 2)  # on the upper part of the spectrum, above 2 / 8.
    without_dense: tuple[float, int] = (200.0, 16)  # where the coarsest level is too large.
    without_levels: tuple[float, int] = (20.0, 6)  # where there is a gap.


SETTINGS = MultilevelSettings()


@dataclass(frozen=True)
class Level:
    """One level: the matrix, and the way to the next, coarser level if there is one."""

    matrix: Any  # float64 csr
    operator: SparseProduct  # float32
    inverse_diagonal: Single
    prolong: Any = None  # P, float32 csr
    restrict: Any = None  # P^T


class GraphHierarchy:
    """Levels of B from fine to coarse, and the cycle over them.

    The null vectors are orthonormal: the square roots of the masses on each connected component.
    """

    def __init__(self, matrix: Any, null_vectors: Array, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        root_mass = np.abs(null_vectors).max(axis=1)
        self.levels: list[Level] = []
        while True:
            step = _coarser(matrix, root_mass, rng) if matrix.shape[0] > SETTINGS.coarsest else None
            if step is None:
                break
            P, coarse, root_mass = step
            self.levels.append(_level(matrix, P.astype(np.float32)))
            matrix = coarse
            advance(len(self.levels), None, "level(s) of smaller graphs")
        self.levels.append(_level(matrix))
        self._n_null = null_vectors.shape[1]
        self._values, self._vectors = np.ones(0), np.ones((matrix.shape[0], 0))
        if matrix.shape[0] <= SETTINGS.largest_dense:
            self._values, self._vectors = np.linalg.eigh(matrix.toarray())
            self._inverse = self._pseudo_inverse()

    def coarsest_vectors(self, n_vectors: int) -> Array:
        """Eigenvectors of the coarsest level after the null vectors: as many as there are."""
        return self._vectors[:, self._n_null : self._n_null + n_vectors]

    def _pseudo_inverse(self) -> Single:
        values, vectors = self._values[self._n_null :], self._vectors[:, self._n_null :]
        values = np.maximum(values, EPS * values.max(initial=EPS))
        return (vectors / values @ vectors.T).astype(np.float32)

    def __call__(self, residual: Array) -> Array:
        return self.from_level(0)(residual)

    def from_level(self, depth: int) -> Callable[[Array], Array]:
        """What approximately solves ``B t = residual`` on a level."""
        return lambda residual: self._cycle(depth, residual.astype(np.float32)).astype(np.float64)

    def _cycle(self, depth: int, residual: Single) -> Single:
        level = self.levels[depth]
        if level.prolong is None:
            if len(self._values):
                return np.asarray(self._inverse @ residual)
            return chebyshev(level, residual, *SETTINGS.without_dense)
        solution = chebyshev(level, residual, *SETTINGS.smoother)
        coarse = level.restrict @ (residual - level.operator @ solution)
        solution += level.prolong @ self._accelerated(depth + 1, coarse)
        solution += chebyshev(level, residual - level.operator @ solution, *SETTINGS.smoother)
        return solution

    def _accelerated(self, depth: int, residual: Single) -> Single:
        """Two steps of flexible conjugate gradients, each column on its own."""
        first = self._cycle(depth, residual)
        level = self.levels[depth]
        if level.prolong is None:
            return first
        image = level.operator @ first
        energy = _positive(_dots(first, image))
        step = _dots(first, residual) / energy
        residual = residual - image * step
        second = self._cycle(depth, residual)
        overlap = _dots(second, image) / energy
        second = second - first * overlap
        second_image = level.operator @ second
        second_step = _dots(second, residual) / _positive(_dots(second, second_image))
        return first * step + second * second_step


class Polynomial:
    """Approximately solves ``B t = r`` without coarser levels: enough where there is a gap."""

    def __init__(self, matrix: Any) -> None:
        self._level = _level(matrix)

    def __call__(self, residual: Array) -> Array:
        solution = chebyshev(self._level, residual.astype(np.float32), *SETTINGS.without_levels)
        return solution.astype(np.float64)


def chebyshev(level: Level, residual: Single, ratio: float, degree: int) -> Single:
    """Damp the part of ``B t = residual`` whose eigenvalues, by the diagonal, are in [2/ratio, 2].

    The polynomial in ``D^-1 B`` of the given degree that is smallest there.
    """
    # No eigenvalue of a Laplacian divided by its diagonal is above 2.
    middle, half = 2.0 * (1 + 1 / ratio) / 2, 2.0 * (1 - 1 / ratio) / 2
    scale = level.inverse_diagonal
    rho = half / middle
    update = (scale * residual) * np.float32(1 / middle)
    solution = update.copy()
    for _ in range(degree - 1):
        residual = residual - level.operator @ update
        next_rho = 1 / (2 * middle / half - rho)
        update = np.float32(next_rho * rho) * update + scale * residual * np.float32(
            2 * next_rho / half
        )
        solution += update
        rho = next_rho
    return solution


def _level(matrix: Any, P: Any = None) -> Level:
    diagonal = matrix.diagonal()
    inverse = np.divide(1.0, diagonal, out=np.ones_like(diagonal), where=diagonal > 0)
    operator = SparseProduct(matrix.astype(np.float32))
    scale = inverse.astype(np.float32)[:, np.newaxis]
    if P is None:
        return Level(matrix, operator, scale)
    return Level(matrix, operator, scale, P, P.T.tocsr())


def _coarser(
    matrix: Any, root_mass: Array, rng: np.random.Generator
) -> tuple[Any, Any, Array] | None:
    """P, the next level's matrix and root masses; None if groups cannot be formed."""
    n, P = matrix.shape[0], None
    while matrix.shape[0] * SETTINGS.shrinking > n:
        group = _groups(matrix, rng)
        if group is None or group.max() + 1 > SETTINGS.least_shrinking * len(group):
            break
        Q, root_mass = _prolongation(group, root_mass)
        P = Q if P is None else (P @ Q).tocsr()
        matrix = (Q.T @ (matrix @ Q)).tocsr()
    return None if P is None else (P, matrix, root_mass)


def _groups(matrix: Any, rng: np.random.Generator) -> Indices | None:
    """Groups of close neighbours: around vertices no two of which are close neighbours.

    The centres are a maximal independent set of the graph of close neighbours, by random
    priorities (Luby, 1986); every other vertex joins the closest centre next to it. Vertices of
    very many neighbours come first, for otherwise all the neighbours would be centres.
    """
    n = matrix.shape[0]
    row, column, weight = _close_neighbours(matrix)
    if not len(row):
        return None
    starts = np.flatnonzero(np.diff(row, prepend=-1))
    at = row[starts]
    priority = rng.permutation(n)
    degree = np.bincount(row, minlength=n)
    priority += n * (degree > SETTINGS.hub * degree.mean())
    undecided = np.ones(n, dtype=bool)
    is_centre = np.zeros(n, dtype=bool)
    while undecided.any():
        rank = np.where(undecided, priority, -1)
        highest = np.full(n, -1)
        highest[at] = np.maximum.reduceat(rank[column], starts)
        chosen = undecided & (rank > highest)
        is_centre |= chosen
        covered = np.zeros(n, dtype=bool)
        covered[at] = np.logical_or.reduceat(chosen[column], starts)
        undecided &= ~(chosen | covered)
    centre = np.arange(n)
    to_centre = np.where(is_centre[column], weight, 0.0)
    best = np.zeros(n)
    best[at] = np.maximum.reduceat(to_centre, starts)
    joins = np.flatnonzero((to_centre > 0) & (to_centre == best[row]) & ~is_centre[row])
    centre[row[joins]] = column[joins]
    number = np.cumsum(is_centre) - 1
    return np.asarray(number[centre], dtype=np.intp)


def _close_neighbours(matrix: Any) -> tuple[Indices, Indices, Array]:
    """The edges whose weight, by the diagonal, is large for at least one of its ends."""
    n = matrix.shape[0]
    row = np.repeat(np.arange(n), np.diff(matrix.indptr))
    diagonal = np.sqrt(np.maximum(matrix.diagonal(), TINY))
    weight = -matrix.data / (diagonal[row] * diagonal[matrix.indices])
    weight[row == matrix.indices] = 0.0
    largest = np.zeros(n)
    filled = np.flatnonzero(np.diff(matrix.indptr))
    largest[filled] = np.maximum.reduceat(weight, matrix.indptr[filled])
    least = SETTINGS.strong * np.minimum(largest[row], largest[matrix.indices])
    close = np.flatnonzero((weight >= least) & (weight > 0))
    return row[close], matrix.indices[close], weight[close]


def _prolongation(group: Indices, root_mass: Array) -> tuple[Any, Array]:
    """P with orthonormal columns, and the square roots of the groups' masses."""
    from scipy.sparse import csr_array

    n, n_groups = len(group), int(group.max()) + 1
    group_root = np.sqrt(np.bincount(group, weights=root_mass**2, minlength=n_groups))
    share = root_mass / group_root[group]
    return csr_array((share, group, np.arange(n + 1)), shape=(n, n_groups)), group_root


def _dots(A: Single, B: Single) -> Single:
    return np.asarray(np.einsum("ij,ij->j", A, B))


def _positive(energy: Single) -> Single:
    """Energies, or 1 where a column is zero: such a column stays zero."""
    return np.where(energy > 0, energy, np.float32(1.0))
