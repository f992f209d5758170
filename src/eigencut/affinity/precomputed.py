"""The user's own matrix of affinities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, NoReturn

import numpy as np
from scipy import sparse

from eigencut.affinity.base import Affinity, Product
from eigencut.affinity.fit_memory import FitSizes, given_graph_bytes
from eigencut.files.state_reader import StateReader
from eigencut.graph.base import Graph
from eigencut.graph.complete import DenseGraph
from eigencut.graph.sparse import SparseGraph
from eigencut.graph.tiles import SymmetricTiles
from eigencut.runtime.arrays import Array, Indices
from eigencut.runtime.blocks import row_blocks

_SMALL, _LARGE = 1e-100, 1e100  # sums and square roots of affinities between stay accurate
_ASYMMETRY = 1e-8  # relative to the largest affinity
_BLOCK_ELEMENTS = 1 << 20  # affinities compared at a time


class Precomputed(Affinity):
    """Affinities computed elsewhere.

    ``fit`` takes the symmetric, non-negative n x n matrix of affinities among the training rows;
    everything for new rows takes the m x n matrix of affinities from the new to the training rows.
    The matrix is used as it is, its diagonal (self-weights) included. Either may be a scipy.sparse
    array, whose missing entries are affinities of zero.

    Examples
    --------
    >>> import numpy as np
    >>> Precomputed().fit_graph(np.array([[1.0, 0.5], [0.5, 1.0]])).degrees
    array([0.75, 0.75])
    """

    _saved_as: ClassVar[str] = "Precomputed"

    pairwise = True
    accepts_sparse = True

    def fit_graph(self, X: Any) -> Graph:
        n = X.shape[0]
        if n != X.shape[1]:
            raise ValueError(
                "X must be a square matrix of affinities with affinity='precomputed'. "
                f"Got shape {X.shape}; pass the n x n matrix among the training rows, or "
                "affinity='auto' for rows of features."
            )
        self._check_values(X)
        difference, (i, j) = _asymmetry(X)
        if difference > _ASYMMETRY * _entries(X).max(initial=0.0):
            raise ValueError(
                "X must be symmetric with affinity='precomputed'. "
                f"Got X[{i}, {j}] = {X[i, j]:.6g} and X[{j}, {i}] = {X[j, i]:.6g}; "
                "use (X + X.T) / 2."
            )
        self.n_rows_ = n
        self.multiplicity_ = np.ones(n)
        graph = self._graph(X)
        self.self_weights_ = graph.self_weights
        self.largest_weight_ = float(graph.weights.max())
        self._degrees = graph.degrees
        return graph

    def _graph(self, X: Any) -> Graph:
        every = np.arange(self.n_rows_)
        if sparse.issparse(X):
            return SparseGraph(sparse.csr_array((X + X.T) / 2), self.multiplicity_, every)
        weights = SymmetricTiles.compute(
            len(X), lambda rows, columns: (X[rows, columns] + X[columns, rows].T) / 2
        )
        return DenseGraph(weights, self.multiplicity_, every)

    def memory_bytes(self, sizes: FitSizes) -> float | None:
        return given_graph_bytes(sizes)

    @property
    def n_columns_(self) -> int:
        return self.n_rows_

    def _state(self, include_training_data: bool = True) -> dict[str, Any]:
        return super()._state(include_training_data) | {"degrees": self._degrees}

    def _restore(self, state: StateReader) -> None:
        super()._restore(state)
        self.n_rows_ = state.integer("n_rows", *2 * (len(self.multiplicity_),))
        self._degrees = state.array("degrees", (self.n_rows_,), least=0.0)

    @staticmethod
    def _check_values(X: Any) -> None:
        entries = _entries(X)
        largest = entries.max(initial=0.0)
        if largest > 0 and not _SMALL < largest < _LARGE:
            raise ValueError(
                "X must hold affinities of ordinary size with affinity='precomputed'. "
                f"Got {largest:.3g} as the largest; divide them by it."
            )
        if entries.min(initial=0.0) < 0:
            i, j = _place(X, np.argmin)
            raise ValueError(
                "X must hold non-negative affinities with affinity='precomputed'. "
                f"Got X[{i}, {j}] = {X[i, j]:.6g}; use a similarity such as exp(-distance**2)."
            )

    def apply(self, X: Any, V: Array) -> Product:
        self._check_values(X)
        values, degrees = X @ V / self.n_rows_, X.sum(axis=1) / self.n_rows_
        log_scale = np.zeros(X.shape[0])
        # A row without any affinity says nothing; it counts as the best connected training row.
        alone = degrees == 0
        values[alone], degrees[alone], log_scale[alone] = V[np.argmax(self._degrees)], 1.0, -np.inf
        return Product(values, degrees, log_scale)

    def within(self, X: Array, V: Array) -> NoReturn:
        raise ValueError(
            "X must be rows of features to measure an error among new rows. Got affinities to the "
            "training rows (affinity='precomputed'), which do not tell those among the new ones; "
            "use affinity='gaussian' or a function k(A, B)."
        )

    def most_similar_vertices(self, vertices: Indices, among: Indices) -> Indices:
        # Parts of the graph that have no affinity to each other: the best connected vertex.
        return np.full(len(vertices), among[np.argmax(self._degrees[among])])

    def connection_hint(self) -> str:
        return "Add affinities between its parts."


def _asymmetry(X: Any) -> tuple[float, tuple[int, int]]:
    """The largest difference between two affinities of one pair of rows, and the pair."""
    if sparse.issparse(X):
        differences = abs(X - X.T)
        is_symmetric = not differences.nnz  # nothing is stored that could be the largest
        return float(differences.max()), (0, 0) if is_symmetric else _place(differences, np.argmax)
    largest, pair = -1.0, (0, 0)
    for rows in row_blocks(len(X), len(X), _BLOCK_ELEMENTS):
        differences = np.abs(X[rows] - X[:, rows].T)
        i, j = _place(differences, np.argmax)
        if differences[i, j] > largest:
            largest, pair = float(differences[i, j]), (rows.start + i, j)
    return largest, pair


def _entries(X: Any) -> Array:
    return np.asarray(X.data if sparse.issparse(X) else X)


def _place(X: Any, extreme: Callable[[Array], Any]) -> tuple[int, int]:
    """Row and column of the largest or smallest entry."""
    if sparse.issparse(X):
        found = X.tocoo()
        where = extreme(found.data)
        return int(found.row[where]), int(found.col[where])
    i, j = np.unravel_index(extreme(X), X.shape)
    return int(i), int(j)
