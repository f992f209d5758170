"""What fits take in memory: formulas, with constants measured by ``benchmarks/fit_memory.py``.

They count what a fit adds to the rows themselves at its peak, in bytes, and are bounds from above:
mostly up to twice what was measured (``docs/scale.md``). Not in them is LAPACK on more than 1200
vertices, which takes over where an iteration does not converge.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from eigencut import kernels
from eigencut._utils.threads import n_threads
from eigencut.io.rows import BLOCK_ROWS, rows_of_block
from eigencut.neighbors.nearest_landmarks import POLICY


@dataclass(frozen=True)
class Memory:
    """Bytes that parts of a fit take, and up to how many vertices LAPACK solves a problem."""

    imports: float = 12e6  # What a first fit loads.
    copies: int = 64  # For every number of the rows.
    sparse_edge: int = 130  # For every affinity of a sparse matrix, factors included.
    sparse_centre: float = 80.0  # For every number of a sparse row that becomes one of a centre.
    search_block: float = 6e6  # Of distances and coordinates, of a thread.
    basis_columns: int = 320  # Of a Krylov basis and its image.
    lapack_vertices: int = 1200  # Below, LAPACK is as fast as anything,
    lapack_vertices_per_pair: int = 35  # or below so many for each pair.
    most_lapack_vertices: int = 5000  # Here it takes over from an iteration without convergence.


MEMORY = Memory()


@dataclass(frozen=True)
class FitSizes:
    """What the memory of a fit depends on."""

    n_rows: int | None  # None is a stream of any number of rows
    n_features: float  # Numbers stored per row
    n_clusters: int
    is_sparse: bool = False
    # Different rows, which are the vertices of a graph. Default: all are.
    n_distinct: int | None = None

    @property
    def n_vertices(self) -> int | None:
        """Of a graph on rows."""
        return self.n_rows if self.n_distinct is None else self.n_distinct


def complete_graph_bytes(sizes: FitSizes) -> float | None:
    """The complete graph, half of n^2 weights in tiles, and what the eigensolver works on."""
    n, d, K = sizes.n_vertices, sizes.n_features, sizes.n_clusters
    if n is None or sizes.n_rows is None:
        return None
    of_rows = 48 * sizes.n_rows * d
    return MEMORY.imports + 2e6 * n_threads() + 4 * n * (n + 400) + _dense_solver(n, K) + of_rows


def lapack_vertices(n_pairs: int) -> int:
    """Below which LAPACK solves a dense problem."""
    per_pair = min(MEMORY.lapack_vertices_per_pair * n_pairs, MEMORY.most_lapack_vertices)
    return max(MEMORY.lapack_vertices, per_pair, 8 * n_pairs)


def _dense_solver(n: int, K: int) -> float:
    if n < lapack_vertices(K):
        return 32.0 * n * n
    width = max(8, K + 2)
    return 8.0 * n * (2 * (max(MEMORY.basis_columns, 4 * width) + width) + 40 * width + 500)


def given_graph_bytes(sizes: FitSizes) -> float | None:
    """A matrix of affinities, dense or sparse, as a graph; the matrix itself is not counted."""
    n, K = sizes.n_rows, sizes.n_clusters
    if n is None:
        return None
    if not sizes.is_sparse:
        return complete_graph_bytes(FitSizes(n, 0, K))
    return MEMORY.imports + MEMORY.sparse_edge * n * sizes.n_features + _sparse_solver(n, K)


def _sparse_solver(n: int, K: int) -> float:
    width = K - 1 + max(4, (K - 1) // 4)
    return 184.0 * n * width + (32.0 * n * n if n < max(MEMORY.lapack_vertices, 8 * K) else 0.0)


def neighbors_bytes(sizes: FitSizes, k: int) -> float | None:
    """Rows and their copies, pairs of neighbours in the forms of the graph, and the eigensolver."""
    n, d, K = sizes.n_vertices, sizes.n_features, sizes.n_clusters
    if n is None or sizes.n_rows is None:
        return None
    of_search = (kernels.chosen.search_bytes + MEMORY.search_block) * min(n_threads(), n / 1000)
    of_rows = MEMORY.copies * sizes.n_rows * d
    return MEMORY.imports + of_search + of_rows + 104.0 * n * k + _sparse_solver(n, K)


def landmarks_bytes(sizes: FitSizes, p: int, r: int, embeds: bool) -> float:
    """Sums of p^2 numbers, a sample, one block; and of n rows in memory what is kept of them."""
    n, d, K = sizes.n_rows, sizes.n_features, sizes.n_clusters
    sums = 8.0 * p * p + _dense_solver(p, K)
    # Centres of sparse rows have, all together, at most the columns that the sample has.
    of_centres = MEMORY.sparse_centre if sizes.is_sparse else 0.0
    of_sample = min(n or math.inf, 40 * p) * ((24 + of_centres) * d + 100)
    has_cells = d <= POLICY.cell_features and (n is None or n >= POLICY.many_rows)
    of_search = 3e6 * n_threads() + (20e3 * p if has_cells else 0.0)
    block = BLOCK_ROWS if n is None else min(n, rows_of_block(d))
    of_block = block * (32 * d + 24 * r + 48)
    of_block += kernels.chosen.membership_sums_bytes(block, r)
    of_rows = (n or 0) * (10 * r + 16 + (16 * K if embeds else 0))
    return MEMORY.imports + sums + of_sample + of_search + of_block + of_rows
