"""Shared neighbours: rows are alike as far as they have the same neighbours.

With N(x) the k nearest training rows of x (itself among them, if it is one),

    J(x, y) = |N(x) & N(y)| / |N(x) | N(y)|,    W(x, y) = max(0, J(x, y) - t) / (1 - t),  t = 1/15.

Where distances hardly differ, as between embeddings, a neighbour more or less says little, and many
rows are neighbours of rows that they have nothing to do with; those share few neighbours with them.
Rows that share no more than about an eighth of their neighbours have no weight: so many are shared
by chance where clusters overlap.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from eigencut._utils.arrays import Array, Indices, row_blocks
from eigencut._utils.threads import for_each
from eigencut.affinities.base import whole_or_real
from eigencut.affinities.fit_memory import FitSizes, neighbors_bytes
from eigencut.affinities.neighbors import Neighbors, check_neighbor_parameters
from eigencut.graphs.base import Graph
from eigencut.graphs.sparse import SparseGraph, edges_to
from eigencut.neighbors.build import SearchedRows

_LEAST_SHARE = 1 / 15  # t
_MOST_ALIKE = 8  # times k: rows that an average row shares more than an eighth of its own with
_PAIRS = 1 << 22  # of a row and a neighbour of its neighbours, held at a time by a thread


class SharedNeighbors(Neighbors):
    """Affinity by shared neighbours: a sparse graph for embeddings and other wide rows.

    It is what ``affinity="auto"`` cuts where many neighbours of a row are about as far as few.

    Parameters
    ----------
    n_neighbors : int or "auto", default="auto"
        k, counting the row itself. Half the rows of an average cluster is a good number.
    metric : str, default="euclidean"
        As of ``Neighbors``.
    index : str, default="auto"
        As of ``Neighbors``.

    Attributes
    ----------
    n_neighbors_ : int
        k.
    rows_ : array or sparse array of shape (n_vertices, n_features)
        The distinct training rows.

    References
    ----------
    .. [1] R. A. Jarvis, E. A. Patrick, "Clustering Using a Similarity Measure Based on Shared Near
       Neighbors", IEEE Transactions on Computers C-22(11), 1025-1034, 1973.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [2.0], [7.0], [8.0]])
    >>> SharedNeighbors(n_neighbors=2).fit_graph(X).dense().round(2)
    array([[1.  , 1.  , 0.29, 0.  , 0.  ],
           [1.  , 1.  , 0.29, 0.  , 0.  ],
           [0.29, 0.29, 1.  , 0.  , 0.  ],
           [0.  , 0.  , 0.  , 1.  , 1.  ],
           [0.  , 0.  , 0.  , 1.  , 1.  ]])
    """

    _saved_as: ClassVar[str] = "SharedNeighbors"

    # What the graph of neighbours can be set to, and this one cannot.
    graph, weights, scale, density_contrast = "symmetric", "binary", 1.0, 0.0

    def __init__(
        self,
        n_neighbors: int | str = "auto",
        *,
        metric: str = "euclidean",
        index: str = "auto",
    ) -> None:
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.index = index

    def graph_of(self, searched: SearchedRows) -> Graph:
        distinct = searched.distinct
        self.multiplicity_ = distinct.multiplicity
        self.n_rows_ = whole_or_real(distinct.multiplicity.sum())
        n = len(distinct.multiplicity)
        self.n_neighbors_ = self._neighbors_among(n)
        self._place(distinct.rows, searched.points)
        distances, numbers = searched.points.nearest(self.n_neighbors_)
        self.radii_ = distances[:, -1].copy()
        self._width, self._contrast = None, None
        self._reverse = edges_to(numbers, n).T.tocsr()
        self.largest_weight_, self.self_weights_ = 1.0, np.ones(n)
        weights = sparse.vstack(self._shared(numbers, self._reverse), format="csr")
        weights.sort_indices()
        return SparseGraph(weights, distinct.multiplicity, distinct.vertex_of_row)

    def memory_bytes(self, sizes: FitSizes) -> float | None:
        check_neighbor_parameters(self, None)
        k = self._neighbors_among(sizes.n_vertices or 1)
        return neighbors_bytes(sizes, min(_MOST_ALIKE * k, sizes.n_vertices or 1))

    def _shared(self, numbers: Indices, reverse: Any) -> list[Any]:
        """Weights of rows with these neighbours, in blocks.

        ``reverse`` says of every vertex whose neighbour it is.
        """
        members = edges_to(numbers, reverse.shape[0]).astype(np.float64)
        reverse, k = reverse.astype(np.float64), numbers.shape[1]
        n_pairs = int(np.ceil(np.diff(reverse.indptr)[numbers].sum(axis=1).mean()))
        blocks = list(row_blocks(len(numbers), n_pairs, _PAIRS))
        found: list[Any] = [None] * len(blocks)

        def fill(place: int) -> None:
            shared = members[blocks[place]] @ reverse
            alike = shared.data / (2 * k - shared.data)
            shared.data = np.maximum(alike - _LEAST_SHARE, 0.0) / (1 - _LEAST_SHARE)
            shared.eliminate_zeros()
            found[place] = shared

        for_each(fill, range(len(blocks)), "blocks of weights")
        return found

    def _products(self, points: Any, weighted: Array) -> tuple[Array, Array]:
        _, numbers = self._index.query(points, self.n_neighbors_)
        blocks = self._shared(numbers, self._reverse)
        product = np.concatenate([block @ weighted for block in blocks])
        # A row that is like none gets the values of the vertex nearest to it.
        isolated = np.concatenate([np.diff(block.indptr) for block in blocks]) == 0
        product[isolated] = weighted[numbers[isolated, 0]]
        return product, np.where(isolated, -np.inf, 0.0)

    def within(self, X: Any, V: Array) -> Array:
        _, numbers = self._index.query(self._points_of(X), self.n_neighbors_)
        reverse = edges_to(numbers, len(self.multiplicity_)).T.tocsr()
        return np.concatenate([block @ V for block in self._shared(numbers, reverse)])

    def connection_hint(self) -> str:
        return f"Raise n_neighbors (now {self.n_neighbors_})."
