"""The relaxed cut: ``L u = lambda M u``, the K smallest eigenvalues (Eqs. 6 and 7).

Identical rows are one vertex of multiplicity c, so the problem on vertices reads
``C (D - W C) u = lambda C M u`` with C = diag(c). With ``u = (C M)^(-1/2) v`` it is symmetric, and
turning it upside down makes the wanted eigenvalues the largest ones of

    A = T W T + diag(s - d/m),    T = diag(sqrt(c/m)),    s = max(d/m),    lambda = s - theta.

For NCut d/m = 1, and A is the normalized affinity; for RatioCut it is the shifted Laplacian.
A sparse graph is solved for the smallest eigenvalues of s - A instead (``solvers.sparse``).
A dense one is solved by LAPACK, or by block Lanczos if it is large.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.memory import MEMORY, lapack_vertices
from eigencut._utils.running import approach, blas_threads, n_threads, stage, warn_user
from eigencut.cut import Cut
from eigencut.graphs.base import (
    Graph,
    Pieces,
    SparseGraph,
    attach,
    connected_components,
    listed,
    pieces_are_known,
    refuse_without_edges,
)
from eigencut.io.state_reader import StateReader
from eigencut.solvers.sparse import smallest_pairs

if TYPE_CHECKING:
    from eigencut.affinities.base import Affinity


@dataclass(frozen=True)
class LanczosSettings:
    """Sizes of the blocks and of the basis in block Lanczos."""

    basis_columns: int = 320  # of the Krylov basis, before it is compressed.
    kept_blocks: int = 3  # of the compressed basis.
    budget: int = 240  # Products with a block: about the cost of LAPACK at some thousand vertices.
    extra_columns: int = 2  # in a block, beyond the wanted ones: they speed up convergence.
    columns_multiple: int = 8  # of columns in a block, which are multiplied eight at a time.


SETTINGS = LanczosSettings()
Solution = tuple[Array, Array, Array]  # theta, v, A v


def largest_by_lapack(A: Array, n_pairs: int) -> tuple[Array, Array]:
    """Return the largest eigenpairs of a symmetric matrix, descending, by LAPACK."""
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
    operator: Callable[[Array], Array], known: Array, n_pairs: int, tolerance: float
) -> Solution | None:
    """Return the largest pairs by block Lanczos with thick restarts; None if LAPACK is as fast."""
    n, n_known = known.shape
    width = n_pairs + SETTINGS.extra_columns
    width += -width % SETTINGS.columns_multiple
    rng = np.random.default_rng(0)
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
        # An image overlaps only with its own block, the previous one and those of a restart.
        lately = slice(max(0, size - (SETTINGS.kept_blocks + 1) * width), size)
        projected[lately, new] = basis[:, lately].T @ image[:, new]
        projected[new, lately] = projected[lately, new].T
        block, first = np.linalg.qr(image[:, new] - basis[:, lately] @ projected[lately, new])
        block, second = np.linalg.qr(block - basis[:, :size] @ (basis[:, :size].T @ block))
        theta, coordinates = np.linalg.eigh(projected[:size, :size])
        theta, coordinates = theta[::-1], coordinates[:, ::-1]
        wanted = coordinates[:, :n_pairs]
        # Only the last block has an image outside the basis: its part is the residual.
        residual = np.linalg.norm((second @ first) @ wanted[-width:], axis=0).max()
        approach(step + 1, residual, tolerance)
        if residual <= tolerance:
            return theta[:n_pairs], basis[:, :size] @ wanted, image[:, :size] @ wanted
        if size + width > capacity:  # keep the best vectors; the next block continues from them
            size, full = SETTINGS.kept_blocks * width, size
            kept = coordinates[:, :size]
            basis[:, :size] = basis[:, :full] @ kept
            image[:, :size] = image[:, :full] @ kept
            projected[:] = 0.0
            projected[:size, :size] = np.diag(theta[:size])
    return None


LARGEST_SAVED = 1e75  # entry of vectors in a file, so that sums of squares stay finite
SOLVERS = ("components", "lapack", "lanczos", "sparse")


@dataclass(frozen=True)
class Policy:
    """Which solver is used for a graph, and which residuals are accepted."""

    tolerance: float = 1e-8  # A vector is accepted at this residual, relative to s.
    slack: float = 1e-7  # A result with a larger residual raises an error.
    threads_vertices: int = 1200  # Above this many vertices, LAPACK uses all threads.
    sparse_vertices: tuple[int, int] = (400, 1200)  # LAPACK solves sparse graphs below 400;
    sparse_vertices_per_pair: int = 60  # below 1200 if they have fewer vertices per pair than this.
    rough_vertices: int = 300  # LAPACK solves sparse graphs below this if all pairs may be rough.
    most_lapack_vertices: int = MEMORY.most_lapack_vertices  # LAPACK replaces a failed iteration.


POLICY = Policy()


@dataclass(frozen=True)
class EigenPairs:
    """The K smallest eigenpairs, ascending."""

    values: Array  # (K,): the eigenvalues lambda, not below 0
    vectors: Array  # (n_vertices, K): U, the largest entry of columns positive; ``U^T C M U = I``
    products: Array  # (n_vertices, K): ``W C U``, for the eigenfunctions
    residual: float  # Largest norm of ``A v - theta v``
    solver: str  # One of ``SOLVERS``
    takes_part: NDArray[np.bool_]  # (n_vertices,): which vertices the problem was solved on

    def first(self, n_pairs: int) -> EigenPairs:
        """Return the ``n_pairs`` smallest pairs."""
        return self.only(slice(n_pairs))

    def only(self, some: Any) -> EigenPairs:
        """Return some of the pairs."""
        return replace(
            self,
            values=self.values[some],
            vectors=self.vectors[:, some],
            products=self.products[:, some],
        )

    def _state(self) -> dict[str, Any]:
        """Return the pairs as plain values and arrays."""
        return {**self.__dict__, "takes_part": self.takes_part.astype(np.uint8)}

    @classmethod
    def _restored(cls, state: StateReader, n_vertices: int, n_pairs: int) -> EigenPairs:
        """Restore saved eigenpairs."""
        shape = (n_vertices, n_pairs)
        return cls(
            values=state.array("values", (n_pairs,)),
            vectors=state.array("vectors", shape, -LARGEST_SAVED, LARGEST_SAVED),
            products=state.array("products", shape, -LARGEST_SAVED, LARGEST_SAVED),
            residual=state.number("residual", least=0.0),
            solver=state.word("solver", SOLVERS),
            takes_part=state.flags("takes_part", (n_vertices,)),
        )


def eigenpairs(
    graph: Graph, mass: Array, n_pairs: int, groups: Indices | None = None, n_rough: int = 0
) -> EigenPairs:
    """Solve the relaxed cut on vertices whose group is not -1; ``mass`` is the diagonal of M."""
    if groups is None:
        groups = np.zeros(graph.n_vertices, dtype=np.intp)
    part = np.flatnonzero(groups >= 0)
    problem = _Problem(graph, part, mass[part])
    # Orthonormal eigenvectors of eigenvalue 0 of the symmetric problem, one per group.
    known = np.zeros((len(part), int(groups.max()) + 1))
    known[np.arange(len(part)), groups[part]] = problem.root_mass
    known /= np.linalg.norm(known, axis=0)
    solver, (theta, vectors, image) = _solve(problem, known, n_pairs, n_rough)
    residuals = np.linalg.norm(image - vectors * theta, axis=0)
    residual = float(residuals[: n_pairs - n_rough].max(initial=0.0))
    _check(residual / problem.shift, solver)
    # Make the largest entry of each vector positive: the first one of nearly equal ones.
    size = np.abs(vectors)
    largest = np.argmax(size >= size.max(axis=0) * (1 - 1e-6), axis=0)
    signs = np.where(vectors[largest, np.arange(n_pairs)] < 0, -1.0, 1.0)
    U = vectors * signs / problem.root_mass[:, np.newaxis]
    products = (image - problem.diagonal * vectors) * signs / problem.to_symmetric
    return EigenPairs(
        np.maximum(problem.shift - theta, 0.0),
        _spread(U, part, graph.n_vertices),
        _spread(products, part, graph.n_vertices),
        residual,
        solver,
        groups >= 0,
    )


class _Problem:
    """The symmetric problem ``A v = theta v`` on the vertices that take part."""

    def __init__(self, graph: Graph, part: Indices, mass: Array) -> None:
        self.graph, self.part = graph, part
        multiplicity = graph.multiplicity[part]
        self.root_mass = np.sqrt(multiplicity * mass)
        self.to_symmetric = np.sqrt(multiplicity / mass)[:, np.newaxis]
        self.level = graph.degrees[part] / mass
        self.shift = float(self.level.max())
        self.diagonal = (self.shift - self.level)[:, np.newaxis]

    @property
    def _some(self) -> Indices | None:
        return None if len(self.part) == self.graph.n_vertices else self.part

    def operator(self, V: Array) -> Array:
        """Return ``A V``."""
        everywhere = _spread(self.to_symmetric * V, self.part, self.graph.n_vertices)
        product = self.graph.matmat(everywhere)
        return self.to_symmetric * product[self.part] + self.diagonal * V

    def dense(self) -> Array:
        """Return A as an array."""
        A = self.graph.dense(self._some) * (self.to_symmetric / self.graph.n_rows)
        A *= self.to_symmetric[:, 0]
        A[np.diag_indices(len(A))] += self.diagonal[:, 0]
        return A

    def laplacian(self) -> Any:
        """Return ``s - A`` as a sparse matrix; the graph must be sparse."""
        assert isinstance(self.graph, SparseGraph)
        laplacian = self.graph.among(self._some) * (-1 / self.graph.n_rows)
        scale = self.to_symmetric[:, 0]
        laplacian.data *= np.repeat(scale, np.diff(laplacian.indptr))
        laplacian.data *= scale[laplacian.indices]
        laplacian.setdiag(laplacian.diagonal() + self.level)
        return laplacian


def _solve(problem: _Problem, known: Array, n_pairs: int, n_rough: int) -> tuple[str, Solution]:
    """Solve by the method for the size and kind of graph; return its name and the solution."""
    if known.shape[1] == n_pairs:
        theta = np.full(n_pairs, problem.shift)
        return "components", (theta, known, problem.operator(known))
    n, is_sparse = len(known), isinstance(problem.graph, SparseGraph)
    few = lapack_vertices(n_pairs)
    if is_sparse:
        least, most = POLICY.sparse_vertices
        few = min(max(least, POLICY.sparse_vertices_per_pair * n_pairs), most)
        few = max(POLICY.rough_vertices if n_rough == n_pairs else few, 8 * n_pairs)
    if n >= few:
        with blas_threads(1):
            if is_sparse:
                solution = _sparse(problem, known, n_pairs, n_rough)
            else:
                tolerance = POLICY.tolerance * problem.shift
                solution = largest_by_lanczos(problem.operator, known, n_pairs, tolerance)
        if solution is not None:
            return "sparse" if is_sparse else "lanczos", solution
    with blas_threads(n_threads() if n > POLICY.threads_vertices else 1):
        theta, vectors = largest_by_lapack(problem.dense(), n_pairs)
        return "lapack", (theta, vectors, problem.operator(vectors))


def _check(residual: float, solver: str) -> None:
    """Warn about eigenvectors that are not as accurate as promised; refuse unusable ones."""
    level = f"accurate{{}} (relative residual {residual:.2g}, expected below {{:.2g}})."
    if solver == "sparse" and residual > POLICY.tolerance:
        warn_user(
            f"The eigenvectors are less {level.format(' than usual', POLICY.tolerance)} Rows "
            "between clusters may get wrong labels. Affinities of more similar sizes would help."
        )
    elif not residual <= POLICY.slack:
        raise ArithmeticError(
            f"The eigenvectors are not {level.format('', POLICY.slack)} Check the affinities for "
            "values of extremely different size."
        )


def _spread(V: Array, part: Indices, n_vertices: int) -> Array:
    """Return V on all vertices, given on some of them: zero on the others."""
    if len(part) == n_vertices:
        return V
    everywhere = np.zeros((n_vertices, V.shape[1]))
    everywhere[part] = V
    return everywhere


def _sparse(problem: _Problem, known: Array, n_pairs: int, n_rough: int) -> Solution | None:
    """Return pairs of A from the smallest ones of ``s - A``; None if LAPACK should solve it."""
    found = smallest_pairs(problem.laplacian(), known, n_pairs, POLICY.tolerance, n_rough)
    residuals = np.linalg.norm(found.residuals(), axis=0)[: n_pairs - n_rough]
    is_missed = residuals.max(initial=0.0) > POLICY.tolerance * problem.shift
    if is_missed and len(known) <= POLICY.most_lapack_vertices:
        return None
    images = problem.shift * found.vectors - found.images
    return problem.shift - found.values, found.vectors, images


@dataclass(frozen=True)
class RelaxedCut:
    """Eigenpairs, the components of the graph, and which of them took part in the solution."""

    pairs: EigenPairs
    components: Indices  # (n_vertices,): numbered by decreasing number of rows
    groups: Indices  # (n_vertices,): the same where a component takes part, and -1 elsewhere
    n_apart: int = 0  # Components that do not take part, but are as large as clusters

    @property
    def n_components(self) -> int:
        return int(self.components.max()) + 1

    def report(self, graph: Graph, affinity: Affinity) -> None:
        """Warn about a graph in pieces; refuse one without any edge."""
        n_components, n_clusters = self.n_components, len(self.pairs.values)
        if n_components == 1 or n_clusters == 1:
            return
        refuse_without_edges(self.components, graph, n_clusters, affinity.connection_hint)
        if pieces_are_known.get():
            return
        sizes = self._sizes(graph)
        message = f"The graph has {n_components} connected components, of {listed(sizes)} rows."
        if n_isolated := int((np.bincount(self.components) == 1).sum()):
            message += f" {n_isolated} distinct row(s) have no affinity to any other."
        n_part, hint = int(self.groups.max()) + 1, affinity.connection_hint()
        hint = f"connect the graph: {hint[0].lower()}{hint[1:]}"
        if n_part < n_components:
            message += (
                f" {f'The {n_part} largest were' if n_part > 1 else 'The largest was'} cut into "
                f"{n_clusters} clusters. The other {sizes[n_part:].sum()} row(s) got the label of "
                f"the nearest cluster. To change that, raise n_clusters, or {hint}"
            )
        else:
            message += f" No cluster contains rows of two of them. If one should, {hint}"
        warn_user(message)

    def report_apart(self, graph: Graph) -> None:
        """Warn about components that joined a cluster, but are large enough to be clusters."""
        n_apart, n_clusters = self.n_apart, len(self.pairs.values)
        if not n_apart:
            return
        n_part, is_one = int(self.groups.max()) + 1, n_apart == 1
        rows = listed(self._sizes(graph)[n_part : n_part + n_apart])
        lie = "A group of {} rows lies" if is_one else f"{n_apart} groups of {{}} rows lie"
        them = "it a cluster" if is_one else "them clusters"
        warn_user(
            f"{lie.format(rows)} apart from the {n_clusters} clusters and got "
            f"the label of the nearest one. Use n_clusters={n_clusters + n_apart} to make {them}."
        )

    def _sizes(self, graph: Graph) -> NDArray[np.int_]:
        """Return the number of rows of each component, as integers."""
        return np.rint(np.bincount(self.components, weights=graph.multiplicity)).astype(int)


def relaxed_cut(
    graph: Graph, affinity: Affinity, cut: Cut, n_clusters: int, n_rough: int = 0
) -> RelaxedCut:
    """Return the K smallest eigenpairs of ``L u = lambda M u`` (Eqs. 6, 7) of any graph."""
    pieces = pieces_of(graph, affinity)
    return cut_of_pieces(pieces, affinity, cut, n_clusters, pieces.n_large(n_clusters), n_rough)


def pieces_of(graph: Graph, affinity: Affinity) -> Pieces:
    """Return the components of a graph; refuse a graph without any weights."""
    with stage("connected components"):
        components = connected_components(graph)
        if not graph.degrees.any():  # no self-weights either: divisions by degrees would fail
            refuse_without_edges(components, graph, 0, affinity.connection_hint)
        return Pieces(components, graph)


def cut_of_pieces(
    pieces: Pieces, affinity: Affinity, cut: Cut, n_pairs: int, n_pieces: int, n_rough: int = 0
) -> RelaxedCut:
    """Return the smallest pairs on the ``n_pieces`` largest components, extended to the others."""
    components, groups = pieces.component, pieces.first(n_pieces)
    pairs = pairs_of_groups(
        pieces.graph, affinity, cut, n_pairs, components=components, groups=groups, n_rough=n_rough
    )
    return RelaxedCut(pairs, components, groups)


def pairs_of_groups(
    graph: Graph,
    affinity: Affinity,
    cut: Cut,
    n_pairs: int,
    *,
    components: Indices,
    groups: Indices,
    n_rough: int = 0,
) -> EigenPairs:
    """Return the smallest pairs on vertices whose group is not -1, extended to the others."""
    with stage(f"{n_pairs} eigenpairs"):
        pairs = eigenpairs(graph, cut.mass(graph.degrees), n_pairs, groups, n_rough=n_rough)
        aside = np.flatnonzero(~pairs.takes_part)
        if not len(aside):
            return pairs
        nearest = affinity.most_similar_vertices(aside, np.flatnonzero(pairs.takes_part))
        vectors = attach(pairs.vectors, aside, components[aside], nearest)
        products = graph.matmat(graph.multiplicity[:, np.newaxis] * vectors)
        return replace(pairs, vectors=vectors, products=products)
