"""The smallest eigenpairs of a sparse Laplacian: never silently wrong.

Eigenvectors of eigenvalue 0 are known, one per connected component; the others are looked for in
their complement, for all components together. With a large eigengap, plain Lanczos is tried, and
must pass the test of step 3. If no pair needs to be accurate and the matrix is cheap to factor,
block Lanczos with its inverse is tried. If these fail, and in all other cases:

1. A preconditioner, applied to random vectors, gives a start. It is the inverse if that is cheap,
   else the cycle of a multilevel hierarchy of the graph.
2. On the graph itself, the iteration ends when all residuals are below the tolerance.
3. Is one missing? A fresh random block, kept orthogonal to everything found, is improved in the
   same way. If a Ritz value comes below the largest wanted eigenvalue, its vector joins the block,
   and step 2 is repeated.

The iteration is LOBPCG (Knyazev, 2001) with an orthonormal basis in every step, which keeps it
stable where the blocks are nearly dependent; P is made orthogonal to X in coordinates (Duersch,
Shao, Yang, Gu, SIAM Journal on Scientific Computing 40, C655-C676, 2018).

Every level of the hierarchy is a graph whose vertices are small groups of vertices of the level
below. With ``B = M^(-1/2) L M^(-1/2)``, vectors that are constant on groups, in terms of ``M^(-1/2)
v``, are the range of P, whose columns are orthonormal; and ``P^T B P`` is the same for the graph of
groups. So all levels are Laplacians, with eigenvalues by the diagonal in [0, 2]. A cycle damps by
Chebyshev polynomials what varies between neighbours, and solves the rest on the next level by two
steps of conjugate gradients (the K-cycle of Notay, Electronic Transactions on Numerical Analysis
37, 123-146, 2010), in single precision.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from eigencut._utils.arrays import EPS, TINY, Array, Indices
from eigencut._utils.running import advance, approach
from eigencut.graphs.base import SparseProduct


@dataclass(frozen=True)
class SparseSettings:
    """Limits and sizes of the parts of the sparse solver."""

    probe_steps: int = 24  # Lanczos steps that look for a gap.
    large_gap: float = 4.0  # Ratio of neighbouring Ritz values from which on there is a gap.
    restarts: int = 20  # of ARPACK, which needs about ten if the gap is large.
    large: int = 1000  # Plain Lanczos is not tried with fewer vertices.
    extra_columns: int = 3  # in a block; or a quarter of the wanted ones, if that is more.
    most_steps: int = 150  # of the iteration; ten to twenty are common.
    challengers: int = 3  # Columns of the random block that looks for missed eigenvalues.
    challenge_steps: int = 60  # Three or four are common.
    caution: float = 5.0  # A Ritz value may still fall by this times its last fall.
    most_rounds: int = 8  # of iteration and challenge.
    rough: float = 0.1  # Residual of a rough pair, relative to its eigenvalue.
    below: float = 1e-6  # Relative difference of eigenvalues that are not equal.
    # How levels are made, and the polynomials on them: ratio of the spectrum, and degree.
    coarsest: int = 600  # Vertices of the coarsest level, which LAPACK solves.
    largest_dense: int = 3000  # Most vertices of that level where grouping stops early.
    shrinking: int = 4  # How many times fewer vertices a level should have than the one below.
    least_shrinking: float = 0.8  # Stop where more than this share of the vertices is left.
    strong: float = 0.5  # Share of a vertex's largest weight that makes a neighbour a close one.
    hub: int = 8  # times the mean number of close neighbours makes a vertex a hub.
    smoother: tuple[float, int] = (8.0, 2)  # on the upper part of the spectrum, above 2 / 8.
    without_dense: tuple[float, int] = (200.0, 16)  # where the coarsest level is too large.
    without_levels: tuple[float, int] = (20.0, 6)  # where there is a gap.


SETTINGS = SparseSettings()


Precondition = Callable[[Array], Array]


@dataclass(frozen=True)
class Ritz:
    """Approximate eigenpairs, ascending: values, orthonormal vectors and their images B x."""

    values: Array
    vectors: Array
    images: Array

    def residuals(self) -> Array:
        """Return ``B x - theta x``, as columns."""
        return self.images - self.vectors * self.values

    def first(self, n_pairs: int) -> Ritz:
        """Return the ``n_pairs`` smallest pairs."""
        some = slice(n_pairs)
        return Ritz(self.values[some], self.vectors[:, some], self.images[:, some])


def rayleigh_ritz(operator: Any, block: Array, excluded: Array) -> Ritz:
    """Return the best approximate pairs in the span of a block, orthogonal to ``excluded``."""
    X = orthonormalized(block, [excluded])
    images = operator @ X
    values, turn = np.linalg.eigh(X.T @ images)
    return Ritz(values, X @ turn, images @ turn)


def iterate(
    operator: Any,
    start: Ritz,
    precondition: Precondition,
    excluded: Array,
    most_steps: int,
    is_done: Callable[[Array, Array], bool] = lambda values, norms: False,
    settled: float = 0.0,
) -> Ritz:
    """Improve eigenpairs of B, orthogonal to ``excluded``, until ``is_done(values, norms)``."""
    found, width = start, len(start.values)
    basis, images = start.vectors, start.images
    projected = np.diag(start.values)
    for step in count():
        residuals = found.residuals()
        norms = np.linalg.norm(residuals, axis=0)
        active = norms > settled
        if step >= most_steps or is_done(found.values, norms) or not active.any():
            break
        wished = precondition(residuals[:, active] / norms[active])
        new = orthonormalized(wished, [excluded, basis])
        new_images = operator @ new
        corner = basis.T @ new_images
        projected = np.block([[projected, corner], [corner.T, new.T @ new_images]])
        values, coordinates = np.linalg.eigh((projected + projected.T) / 2)
        turn = coordinates[:, :width]
        direction = turn.copy()  # from the old vectors to the new: the part that is added
        direction[:width] = 0.0
        turn = np.hstack([turn, orthonormalized(direction, [turn])])
        n_old = basis.shape[1]
        basis = basis @ turn[:n_old] + new @ turn[n_old:]
        images = images @ turn[:n_old] + new_images @ turn[n_old:]
        projected = turn.T @ projected @ turn
        found = Ritz(values[:width], basis[:, :width], images[:, :width])
    return found


def orthonormalized(block: Array, against: list[Array]) -> Array:
    """Return an orthonormal basis of a block's span, orthogonal to other orthonormal blocks."""
    length = np.linalg.norm(block, axis=0)
    block = block[:, length > 0] / length[length > 0]
    for _ in range(2):  # twice, because rounding leaves a rest the first time
        for other in against:
            block = block - other @ (other.T @ block)
        squares, turn = np.linalg.eigh(block.T @ block)
        kept = squares > 1e-14  # shorter ones are rounding errors
        block = block @ (turn[:, kept] / np.sqrt(squares[kept]))
    return block


def is_cheap_to_factor(ordered: Any) -> bool:
    """Return whether few vertices separate a graph, ordered for low bandwidth, into halves."""
    if ordered.shape[0] > 60_000:  # the hierarchy is as fast in the plane, and takes less memory
        return False
    filled = np.flatnonzero(np.diff(ordered.indptr))
    first = np.minimum.reduceat(ordered.indices, ordered.indptr[filled])
    separating = float(np.maximum(filled - first, 0).mean())
    # With more multiplications per vertex, the multilevel iteration is faster.
    return separating**3 <= 12_000 * ordered.shape[0]


class Inverse:
    """Solves ``(B + shift) t = r`` for blocks of columns, up to rounding."""

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
    """Return rough smallest pairs besides the null vectors; None if they take too long."""
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
            # A block finds as many nearly equal eigenvalues as it has columns: look for more.
            taken = np.hstack([null, vectors])
            start = orthonormalized(rng.standard_normal((len(taken), 1)), [taken])
            once = orthonormalized(inverse(start), [taken])
            if (once.T @ inverse(once) > theta[-1]).any():
                return None
            return Ritz(values, vectors, vectors * values)
    return None


Single = NDArray[np.float32]


@dataclass(frozen=True)
class Level:
    """One level: its matrix, and the maps to and from the next, coarser level if there is one."""

    operator: SparseProduct  # float32
    inverse_diagonal: Single
    prolong: Any = None  # P, float32 csr
    restrict: Any = None  # P^T

    @classmethod
    def build(cls, matrix: Any, P: Any = None) -> Level:
        diagonal = matrix.diagonal()
        inverse = np.divide(1.0, diagonal, out=np.ones_like(diagonal), where=diagonal > 0)
        operator = SparseProduct(matrix.astype(np.float32))
        scale = inverse.astype(np.float32)[:, np.newaxis]
        return cls(operator, scale, P, None if P is None else P.T.tocsr())


class GraphHierarchy:
    """A preconditioner: levels of B from fine to coarse, and the cycle over them."""

    def __init__(self, matrix: Any, null_vectors: Array) -> None:
        rng = np.random.default_rng(0)
        root_mass = np.abs(null_vectors).max(axis=1)
        self.levels: list[Level] = []
        while step := _coarser(matrix, root_mass, rng):
            P, coarse, root_mass = step
            self.levels.append(Level.build(matrix, P.astype(np.float32)))
            matrix = coarse
            advance(len(self.levels), None, "level(s) of smaller graphs")
        self.levels.append(Level.build(matrix))
        self._inverse = None  # pseudo-inverse of the coarsest level, unless it is too large
        if matrix.shape[0] <= SETTINGS.largest_dense:
            values, vectors = np.linalg.eigh(matrix.toarray())
            values, vectors = (each[..., null_vectors.shape[1] :] for each in (values, vectors))
            values = np.maximum(values, EPS * values.max(initial=EPS))
            self._inverse = (vectors / values @ vectors.T).astype(np.float32)

    def __call__(self, residual: Array) -> Array:
        return self._cycle(0, residual.astype(np.float32)).astype(np.float64)

    def _cycle(self, depth: int, residual: Single) -> Single:
        level = self.levels[depth]
        if level.prolong is None:
            if self._inverse is not None:
                return np.asarray(self._inverse @ residual)
            return chebyshev(level, residual, *SETTINGS.without_dense)
        solution = chebyshev(level, residual, *SETTINGS.smoother)
        coarse = level.restrict @ (residual - level.operator @ solution)
        solution += level.prolong @ self._accelerated(depth + 1, coarse)
        solution += chebyshev(level, residual - level.operator @ solution, *SETTINGS.smoother)
        return solution

    def _accelerated(self, depth: int, residual: Single) -> Single:
        """Solve on a level by two steps of flexible conjugate gradients, column by column."""
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


def chebyshev(level: Level, residual: Single, ratio: float, degree: int) -> Single:
    """Solve ``B t = residual`` for the part with eigenvalues, by the diagonal, in [2/ratio, 2]."""
    # No eigenvalue of a Laplacian divided by its diagonal is above 2.
    middle, half = 2.0 * (1 + 1 / ratio) / 2, 2.0 * (1 - 1 / ratio) / 2
    scale = level.inverse_diagonal
    rho = half / middle
    update = (scale * residual) * np.float32(1 / middle)
    solution = update.copy()
    for _ in range(degree - 1):
        residual = residual - level.operator @ update
        next_rho = 1 / (2 * middle / half - rho)
        addition = scale * residual * np.float32(2 * next_rho / half)
        update = np.float32(next_rho * rho) * update + addition
        solution += update
        rho = next_rho
    return solution


def _coarser(
    matrix: Any, root_mass: Array, rng: np.random.Generator
) -> tuple[Any, Any, Array] | None:
    """Return P and the next level's matrix and root masses; None if this level is the last."""
    from scipy.sparse import csr_array

    n, P = matrix.shape[0], None
    while n > SETTINGS.coarsest and matrix.shape[0] * SETTINGS.shrinking > n:
        group = _groups(matrix, rng)
        if group is None or group.max() + 1 > SETTINGS.least_shrinking * len(group):
            break
        # Q has orthonormal columns; masses of groups are sums.
        group_root = np.sqrt(np.bincount(group, weights=root_mass**2))
        share, starts = root_mass / group_root[group], np.arange(len(group) + 1)
        Q = csr_array((share, group, starts), shape=(len(group), len(group_root)))
        root_mass = group_root
        P = Q if P is None else (P @ Q).tocsr()
        matrix = (Q.T @ (matrix @ Q)).tocsr()
    return None if P is None else (P, matrix, root_mass)


def _groups(matrix: Any, rng: np.random.Generator) -> Indices | None:
    """Return groups around a random maximal independent set (Luby, 1986), hubs first."""
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
    return np.asarray((np.cumsum(is_centre) - 1)[centre], dtype=np.intp)


def _close_neighbours(matrix: Any) -> tuple[Indices, Indices, Array]:
    """Return the edges whose weight, scaled by the diagonal, is large for one of the ends."""
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


def _dots(A: Single, B: Single) -> Single:
    return np.asarray(np.einsum("ij,ij->j", A, B))


def _positive(energy: Single) -> Single:
    """Replace energies of 0 by 1, so that columns of zeros stay zero when divided."""
    return np.where(energy > 0, energy, np.float32(1.0))


def has_large_gap(matrix: Any, null: Array, rng: np.random.Generator) -> bool:
    """Return whether Ritz values of a few steps show a gap between few eigenvalues and others."""
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
    """Return the smallest pairs besides the null vectors, or None if ARPACK does not converge."""
    from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

    products = count(1)

    def upside_down(v: Array) -> Array:
        advance(next(products), None, "product(s) with the graph")
        # 1 - B, with its null vectors moved from eigenvalue 1 to -1.
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
    matrix: Any, known: Array, n_pairs: int, tolerance: float, n_rough: int = 0
) -> Ritz:
    """Return the smallest eigenpairs of a Laplacian; ``known`` are all eigenvectors of 0.

    Residuals are below ``tolerance`` times the largest diagonal entry, but for the last ``n_rough``
    pairs.
    """
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    unit = float(matrix.diagonal().max())
    # Products with the matrix are faster if neighbours have close numbers.
    order = reverse_cuthill_mckee(matrix, symmetric_mode=True)
    ordered = matrix[order][:, order] / unit
    null = known[order]
    wanted = _Wanted(n_pairs - null.shape[1], min(n_rough, n_pairs - null.shape[1]), tolerance)
    found = _plain(ordered, null, wanted) or _complete(ordered, null, wanted)
    vectors = np.empty((len(known), n_pairs))
    vectors[order] = np.hstack([null, found.vectors])
    values = np.concatenate([np.zeros(null.shape[1]), unit * found.values])
    return Ritz(values, vectors, matrix @ vectors)


class _Wanted(NamedTuple):
    """The number of pairs besides the null vectors, of which the last may be rough; tolerance."""

    n_pairs: int
    n_rough: int
    tolerance: float

    @property
    def n_accurate(self) -> int:
        return self.n_pairs - self.n_rough


def _plain(matrix: Any, null: Array, wanted: _Wanted) -> Ritz | None:
    """Return pairs by plain Lanczos; None without a gap, if it fails, or if a pair is missing."""
    rng = np.random.default_rng(0)
    is_tried = len(null) >= SETTINGS.large and wanted.n_accurate >= 1 and wanted.n_rough <= 1
    if not is_tried or not has_large_gap(matrix, null, rng):
        return None
    found = by_lanczos(matrix, null, wanted.n_accurate, wanted.tolerance, rng)
    if found is None:
        return None
    operator, taken = SparseProduct(matrix), np.hstack([null, found.vectors])
    block = rng.standard_normal((len(null), 1))  # one is enough to see that some are missing
    level = Level.build(matrix)

    def precondition(residual: Array) -> Array:  # where there is a gap, no coarser level is needed
        solution = chebyshev(level, residual.astype(np.float32), *SETTINGS.without_levels)
        return solution.astype(np.float64)

    following = _challenge(operator, precondition, taken, block, found.values[-1], wanted)
    if _is_missed(following, found.values[-1]) or len(following.values) < wanted.n_rough:
        return None
    more = following.first(wanted.n_rough)
    return Ritz(
        np.append(found.values, more.values),
        np.hstack([found.vectors, more.vectors]),
        np.hstack([found.images, more.images]),
    )


def _complete(matrix: Any, null: Array, wanted: _Wanted) -> Ritz:
    """Return the wanted pairs, after searches for missed ones until none is missing."""
    rng = np.random.default_rng(0)
    operator = SparseProduct(matrix)
    width = wanted.n_pairs + max(SETTINGS.extra_columns, wanted.n_pairs // 4)
    if is_cheap_to_factor(matrix):
        inverse = Inverse(matrix)
        if not wanted.n_accurate:
            rough = by_inverse_krylov(inverse, null, wanted.n_pairs, rng)
            if rough is not None:
                return rough
        precondition: Precondition = inverse
        n_challengers = 1
    else:
        precondition, n_challengers = GraphHierarchy(matrix, null), SETTINGS.challengers
    # Random vectors, dominated by eigenvectors of small eigenvalues.
    block = rng.standard_normal((len(null), width))
    start = orthonormalized(precondition(block - null @ (null.T @ block)), [null])
    missing = rng.standard_normal((len(null), width - start.shape[1]))
    found = rayleigh_ritz(operator, np.hstack([start, missing]), null)
    steps = count()

    def is_accurate(values: Array, norms: Array) -> bool:
        accurate, rough = norms[: wanted.n_accurate], slice(wanted.n_accurate, wanted.n_pairs)
        approach(next(steps), accurate.max(initial=0.0), wanted.tolerance)
        # The error of an eigenvalue is about the square of the residual over the distance to the
        # next one, which is rarely much smaller than the eigenvalue itself.
        enough = np.maximum(SETTINGS.rough * values[rough], wanted.tolerance)
        return bool((accurate <= wanted.tolerance).all() and (norms[rough] <= enough).all())

    for _ in range(SETTINGS.most_rounds):
        found = iterate(
            operator,
            found,
            precondition,
            null,
            most_steps=SETTINGS.most_steps,
            is_done=is_accurate,
            settled=wanted.tolerance / 2,
        )
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


def _challenge(
    operator: SparseProduct,
    precondition: Precondition,
    taken: Array,
    block: Array,
    largest: float,
    wanted: _Wanted,
) -> Ritz:
    """Search pairs orthogonal to ``taken``, until one is below ``largest`` or none will be."""
    start = rayleigh_ritz(operator, precondition(block), taken)
    if not len(start.values):
        return start
    lowest = [np.inf]

    def is_decided(values: Array, norms: Array) -> bool:
        advance(len(lowest) - 1, None, "step(s) of the search for missed ones")
        lowest.append(float(values[0]))
        above = lowest[-1] - largest
        # A slow fall alone can be a pause, near an eigenvector that is not the lowest.
        stays_above = max(SETTINGS.caution * (lowest[-2] - lowest[-1]), norms[0]) < above
        if wanted.n_rough:
            stays_above &= norms[0] <= SETTINGS.rough * values[0]
        is_below = lowest[-1] < largest * (1 - SETTINGS.below)
        return bool(is_below or norms[0] <= wanted.tolerance or stays_above)

    steps = SETTINGS.challenge_steps
    return iterate(operator, start, precondition, taken, most_steps=steps, is_done=is_decided)


def _is_missed(challenger: Ritz, largest: float) -> bool:
    """Return whether the search found an eigenvalue below the largest accepted one."""
    return bool((challenger.values[:1] < largest * (1 - SETTINGS.below)).any())
