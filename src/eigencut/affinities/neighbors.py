"""The sparse graph of nearest neighbours, and its weights at rows it has never seen.

With r(x) the distance from x to its k-th nearest training row (a training row is its own first),

    w(x, y) = 1/2 (1[|x - y| <= r(x)] + 1[|x - y| <= r(y)]) h(x, y)      in the symmetric graph,
    w(x, y) = 1[|x - y| <= r(x)] 1[|x - y| <= r(y)] h(x, y)              in the mutual one,

functions of any two rows. The graph holds the pairs of which one is among the k nearest of the
other. For a new row those that it is near to are found by search, and those that would have it
among their own k nearest, its reverse neighbours, are looked for where its nearest training row
has them (``neighbor_sums`` of the kernels).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from inspect import signature
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from eigencut import kernels
from eigencut._utils.arrays import TINY, Array, Indices, blocks_of_cost, row_blocks
from eigencut._utils.threads import for_each
from eigencut._utils.validation import check_choice, is_integer, is_real
from eigencut._utils.warn import warn_user
from eigencut.affinities.base import Affinity, Product, refuse_without_rows, whole_or_real
from eigencut.affinities.density import DensityContrast, check_contrast
from eigencut.affinities.fit_memory import FitSizes, neighbors_bytes
from eigencut.exceptions import invalid
from eigencut.graphs.base import Graph
from eigencut.graphs.sparse import SparseGraph, edges_to, index_type
from eigencut.io.state_reader import StateReader, csr_state
from eigencut.kernels.numpy_kernels import EdgeWeight, NeighborGraph, Width
from eigencut.neighbors.brute import brute_index
from eigencut.neighbors.build import INDEXES, SearchedPoints, SearchedRows, allowed_indexes
from eigencut.neighbors.distinct_rows import distinct_rows, row_keys
from eigencut.neighbors.index import neighbors_together
from eigencut.neighbors.metrics import METRICS, in_form_of, warn_about_radians


def check_neighbor_parameters(affinity: Any, X: Any) -> None:
    """Refuse parameters of ``Neighbors`` that are none, or none for rows like X."""
    k, scale, metric, index = (
        getattr(affinity, name) for name in ("n_neighbors", "scale", "metric", "index")
    )
    if k != "auto" and (not is_integer(k) or k < 2):
        expected = "be 'auto' or an integer of at least 2 (a row is its own first neighbour)"
        raise invalid("n_neighbors", expected, repr(k), "use 'auto' if unsure")
    if not (is_real(scale) and 0 < scale < np.inf):
        raise invalid("scale", "be a positive number", repr(scale), "use 1")
    check_contrast(affinity.density_contrast)
    check_choice("graph", affinity.graph, ("symmetric", "mutual"))
    check_choice("weights", affinity.weights, tuple(WIDTH_RULES))
    check_choice("metric", metric, tuple(METRICS))
    check_choice("index", index, INDEXES)
    if index not in ("auto", *allowed_indexes(metric, is_sparse=False)):
        possible = [name for name in METRICS if index in allowed_indexes(name, False)]
        expected = f"be {' or '.join(map(repr, possible))} with index={index!r}"
        raise invalid("metric", expected, repr(metric), "use index='brute'")
    if sparse.issparse(X) and not (METRICS[metric].takes_sparse and index in ("auto", "brute")):
        got = f"a sparse X with metric={metric!r} and index={index!r}"
        remedy = "use metric='euclidean' or 'cosine' and index='brute', or X.toarray()"
        raise invalid("X", "be dense with this metric and index", got, remedy)


def warn_about_many_neighbors(given: Any, n_vertices: int) -> None:
    """A warning where a user asked for more neighbours than there are different rows."""
    asked, sigma = getattr(given, "n_neighbors", None), getattr(given, "sigma", "auto")
    uses_it = isinstance(sigma, str) and sigma != "median"
    if isinstance(given, str) or not isinstance(asked, Integral) or not uses_it:
        return
    is_default = asked == signature(type(given)).parameters["n_neighbors"].default
    if int(asked) > n_vertices and not is_default:
        warn_user(
            f"n_neighbors is {asked}, but there are only {n_vertices} different rows: all of them "
            f"are neighbours of each other, as with n_neighbors={n_vertices}."
        )


# How h(x, y) = exp(-|x - y|^2 / (2 sigma(x) sigma(y))) gets its widths; "binary" is h = 1.
WIDTH_RULES: dict[str, Callable[[Array, float], Width | None]] = {
    # At least a tenth of the median one: rows that nearly coincide see more than each other.
    "local": lambda r, scale: Width.limited(scale, 0.1 * float(np.median(r)), float(r.max())),
    "gaussian": lambda r, scale: Width.limited(scale, float(r.mean()), float(r.mean())),
    "binary": lambda r, scale: None,
}


class Neighbors(Affinity):
    """Weights between nearest neighbours only: a sparse graph, for many rows.

    Parameters
    ----------
    n_neighbors : int or "auto", default="auto"
        k. A row counts as its own first neighbour, and identical rows count once. "auto" grows
        with the logarithm of the number of rows; see ``benchmarks/studies/neighbors.md``.
    graph : {"symmetric", "mutual"}, default="symmetric"
        Two rows are connected if one is among the k nearest of the other, with half the weight if
        only one is; or if both are. The mutual graph does not bridge gaps between clusters, but
        leaves many rows of overlapping clusters alone.
    weights : {"local", "binary", "gaussian"}, default="local"
        h(x, y): with sigma(x) = ``scale`` r(x), with one sigma, ``scale`` times the mean of r, or
        1 for every edge.
    metric : str, default="euclidean"
        The distance: "euclidean", "cosine", "manhattan", "chebyshev", "hamming", "jaccard" or
        "haversine". "cosine" is the Euclidean distance of rows scaled to unit length; of the
        others see ``docs/metrics.md``.
    index : {"auto", "kdtree", "brute", "approximate"}, default="auto"
        How neighbours are found. "kdtree" and "brute" are exact and give the same graph;
        "approximate" finds nearly all of them, and is faster for many rows of many features. With
        "hamming" and "jaccard" there is "brute" only.
    scale : float, default=0.7
        Factor on sigma.
    density_contrast : float, default=0.0
        beta >= 0: weights are multiplied by ``(rho(x) rho(y))^beta``, with rho the density around a
        row, so that cuts avoid dense places, whatever n. 1 is a good value where clusters are
        told apart by gaps; 0 is no contrast. See ``docs/defaults.md``.

    Attributes
    ----------
    n_neighbors_ : int
        k.
    index_ : str
        The index in use.
    rows_ : array or sparse array of shape (n_vertices, n_features)
        The distinct training rows.
    radii_ : array of shape (n_vertices,)
        r of each of them, in the units of the index.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [3.0], [7.0]])
    >>> Neighbors(n_neighbors=2, graph="symmetric", weights="binary").fit_graph(X).dense()
    array([[1. , 1. , 0. , 0. ],
           [1. , 1. , 0.5, 0. ],
           [0. , 0.5, 1. , 0.5],
           [0. , 0. , 0.5, 1. ]])
    """

    _saved_as: ClassVar[str] = "Neighbors"
    chunk_rows: ClassVar[int] = 1 << 16  # new rows searched for at a time,
    chunk_elements: ClassVar[int] = 1 << 22  # and numbers of them, at most
    block_elements: ClassVar[int] = 1 << 19  # coordinates of pairs held at a time, per thread
    far_search: ClassVar[int] = 1000  # neighbours among which similar vertices are looked for

    accepts_sparse = True
    keeps = "rows"

    def __init__(
        self,
        n_neighbors: int | str = "auto",
        *,
        graph: str = "symmetric",
        weights: str = "local",
        metric: str = "euclidean",
        index: str = "auto",
        scale: float = 0.7,
        density_contrast: float = 0.0,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.graph = graph
        self.weights = weights
        self.metric = metric
        self.index = index
        self.scale = scale
        self.density_contrast = density_contrast

    def search(self, X: Any, sample_weight: Array | None = None) -> SearchedRows:
        """Look for the neighbours of the rows, for this graph and others of the same metric.

        Parameters
        ----------
        X : array or sparse array of shape (n_samples, n_features)
        sample_weight : array of shape (n_samples,), optional

        Returns
        -------
        SearchedRows
        """
        check_neighbor_parameters(self, X)
        if self.metric == "haversine":
            warn_about_radians(X)
        return SearchedRows.search(distinct_rows(X, sample_weight), self.metric, self.index)

    def fit_graph(self, X: Any, sample_weight: Array | None = None) -> Graph:
        return self.graph_of(self.search(X, sample_weight))

    def graph_of(self, searched: SearchedRows) -> Graph:
        """The graph on rows of which ``search`` has found the neighbours already.

        Parameters
        ----------
        searched : SearchedRows

        Returns
        -------
        Graph
        """
        distinct = searched.distinct
        self.multiplicity_ = distinct.multiplicity
        self.n_rows_ = whole_or_real(distinct.multiplicity.sum())
        n = len(distinct.multiplicity)
        self.n_neighbors_ = self._neighbors_among(n)
        self._place(distinct.rows, searched.points)
        distances, numbers = searched.points.nearest(self.n_neighbors_)
        self.radii_ = distances[:, -1].copy()
        # A radius of zero, of a single row or among parallel rows ("cosine"), tells no scale.
        spread = self.radii_[self.radii_ > 0] if self.radii_.any() else np.ones(1)
        self._width = WIDTH_RULES[self.weights](spread, float(self.scale))
        self._reverse = edges_to(numbers, n).T.tocsr()
        weights = self._training_weights(distances, numbers)
        self._contrast = self._fitted_contrast(numbers)
        self.largest_weight_ = 1.0
        if self._contrast is not None:
            factors = self._contrast.factors
            weights.data *= np.repeat(factors, np.diff(weights.indptr))
            weights.data *= factors[weights.indices]
            self.largest_weight_ = float(factors.max()) ** 2
        self.self_weights_ = weights.diagonal()
        return SparseGraph(weights, distinct.multiplicity, distinct.vertex_of_row)

    def _fitted_contrast(self, numbers: Indices) -> DensityContrast | None:
        if not self.density_contrast:
            return None
        beta = float(self.density_contrast)
        return DensityContrast.fit(self.radii_, numbers, self.n_columns_, beta)

    def _neighbors_among(self, n: int) -> int:
        """k."""
        asked = default_n_neighbors(n) if self.n_neighbors == "auto" else int(self.n_neighbors)
        return min(n, asked)

    def memory_bytes(self, sizes: FitSizes) -> float | None:
        check_neighbor_parameters(self, None)
        return neighbors_bytes(sizes, self._neighbors_among(sizes.n_vertices or 1))

    def _place(self, rows: Any, searched: SearchedPoints) -> None:
        """Keep the rows, as points that can be searched."""
        self.rows_ = rows
        self._vertex_at: dict[bytes, int] | None = None
        self._space, self._points = searched.space, searched.points
        self.index_, self._index = searched.index_name, searched.index

    def __getstate__(self) -> dict[str, Any]:
        # The places of rows are quickly found anew, and have keys that skops cannot keep.
        return {**super().__getstate__(), "_vertex_at": None}

    def _training_weights(self, distances: Array, numbers: Indices) -> Any:
        """The weights of all pairs of which one is among the nearest of the other."""
        order = np.argsort(numbers, axis=1)
        distances = np.take_along_axis(distances, order, axis=1).ravel()
        # Each pair holds where its distance is found, in one direction or the other.
        found_at = edges_to(numbers, len(numbers), np.arange(1, numbers.size + 1))
        edges = found_at.maximum(found_at.T.tocsr())
        weights = np.empty(edges.nnz)

        def fill(rows: slice) -> None:
            of_rows = slice(*edges.indptr[[rows.start, rows.stop]])
            origin = np.repeat(self.radii_[rows], np.diff(edges.indptr[rows.start : rows.stop + 1]))
            far = distances[edges.data[of_rows] - 1]
            share, exponent = self._weight(far, origin, self.radii_[edges.indices[of_rows]])
            weights[of_rows] = share * np.exp(exponent)

        for_each(fill, self._blocks(np.diff(edges.indptr)), "blocks of weights")
        graph = sparse.csr_array((weights, edges.indices, edges.indptr), shape=edges.shape)
        graph.eliminate_zeros()
        return graph

    @property
    def _weight(self) -> EdgeWeight:
        return EdgeWeight(self.graph == "mutual", self._width)

    def _blocks(self, n_edges: Indices) -> list[slice]:
        """Slices of rows whose edges fit in memory, however many a single row may have."""
        return blocks_of_cost(n_edges * self._points.shape[1], self.block_elements)

    @property
    def n_columns_(self) -> int:
        return int(self.rows_.shape[1])

    def _state(self, include_training_data: bool = True) -> dict[str, Any]:
        refuse_without_rows(self, include_training_data)
        own = {
            "rows": csr_state(self.rows_) if sparse.issparse(self.rows_) else self.rows_,
            "n_neighbors": self.n_neighbors_,
            "index": self.index_,
            "radii": self.radii_,
            "reverse": csr_state(self._reverse),
        }
        if self._width is not None:
            own["width"] = asdict(self._width)
        if self._contrast is not None:
            own["contrast"] = self._contrast._state()
        return super()._state() | own

    def _restore(self, state: StateReader) -> None:
        super()._restore(state)
        n = len(self.multiplicity_)
        is_sparse = "rows" in state.groups()
        rows = state.csr("rows", n) if is_sparse else state.coordinates("rows", (n, None))
        check_neighbor_parameters(self, rows)
        self.n_neighbors_ = state.integer("n_neighbors", 1, n)
        index = state.word("index", allowed_indexes(self.metric, is_sparse))
        self._place(rows, SearchedPoints.build(rows, self.metric, index))
        self.radii_ = state.array("radii", (n,), least=0.0)
        reverse = state.csr("reverse", n, n)
        kind = index_type(reverse.nnz)
        edges = (reverse.data, reverse.indices.astype(kind), reverse.indptr.astype(kind))
        self._reverse = sparse.csr_array(edges, shape=(n, n))
        self._width = None
        if "width" in state:
            width = state.part("width")
            least, scale = width.number("least", least=0.0), width.number("scale", TINY)
            self._width = Width.limited(scale, least, width.number("most", least=least))
        self._contrast = None
        if "contrast" in state:
            self._contrast = DensityContrast._restored(state.part("contrast"), n)

    def apply(self, X: Any, V: Array) -> Product:
        # A last column of ones gives the degrees in the same product.
        weighted = np.column_stack([V, np.ones(len(V))])
        weighted *= self.multiplicity_[:, np.newaxis] / self.n_rows_
        if self._contrast is not None:
            weighted *= self._contrast.factors[:, np.newaxis]
        product = np.empty((X.shape[0], weighted.shape[1]))
        log_scale = np.empty(X.shape[0])
        least = max(1, self.chunk_elements // self.chunk_rows)
        for rows in row_blocks(X.shape[0], max(least, X.shape[1]), self.chunk_elements):
            points = self._points_of(X[rows])
            order = neighbors_together(points)
            found = self._products(points[order], weighted)
            product[rows.start + order], log_scale[rows.start + order] = found
        return Product(product[:, :-1], product[:, -1], log_scale)

    def _points_of(self, X: Any) -> Any:
        return self._space.points(in_form_of(self.rows_, X))

    def _products(self, points: Any, weighted: Array) -> tuple[Array, Array]:
        """Products and log scales of some points."""
        points, (distances, numbers) = self._index.query_rounded(points, self.n_neighbors_)
        product = np.empty((len(numbers), weighted.shape[1]))
        log_scale = np.empty(len(numbers))
        graph = self._neighbor_graph()

        def fill(rows: slice) -> None:
            product[rows], log_scale[rows] = kernels.chosen.neighbor_sums(
                graph, points[rows], distances[rows], numbers[rows], weighted
            )

        n_edges = self.n_neighbors_ + np.diff(self._reverse.indptr)[numbers[:, 0]]
        for_each(fill, self._blocks(n_edges))
        if self._contrast is not None:
            log_scale += np.log(self._contrast.at(numbers))
        return product, log_scale

    def _neighbor_graph(self) -> NeighborGraph:
        is_sparse, is_euclidean = sparse.issparse(self._points), METRICS[self.metric].is_flat
        points = self._points if is_sparse else np.ascontiguousarray(self._points)
        between = self._space.between
        return NeighborGraph(
            points, self.radii_, self._reverse, self._weight, between, is_euclidean
        )

    def within(self, X: Any, V: Array) -> Array:
        points = self._points_of(X)
        distances, numbers = self._index.query(points, self.n_neighbors_)
        radii, product = distances[:, -1], np.empty(V.shape)
        factors = np.ones(len(V)) if self._contrast is None else self._contrast.at(numbers)

        def fill(rows: slice) -> None:
            distances = self._space.all_pairs(points[rows], points)
            share, exponent = self._weight(distances, radii[rows, np.newaxis], radii)
            weights = share * np.exp(exponent) * factors[rows, np.newaxis]
            product[rows] = weights @ (factors[:, np.newaxis] * V)

        for_each(fill, row_blocks(len(radii), len(radii), self.block_elements))
        return product

    def identical_vertices(self, X: Any) -> Indices:
        if self._vertex_at is None:
            self._vertex_at = {key: i for i, key in enumerate(row_keys(self.rows_))}
        keys = row_keys(in_form_of(self.rows_, X))
        return np.array([self._vertex_at.get(key, -1) for key in keys], dtype=np.intp)

    def nearest_vertices(self, X: Any) -> Indices:
        if not X.shape[0]:
            return np.empty(0, dtype=np.intp)
        return self._index.query(self._points_of(X), 1)[1][:, 0]

    def most_similar_vertices(self, vertices: Indices, among: Indices) -> Indices:
        is_wanted = np.zeros(len(self.multiplicity_), dtype=bool)
        is_wanted[among] = True
        found = np.full(len(vertices), -1, dtype=np.intp)
        asked = 2 * self.n_neighbors_
        while asked < self.far_search and (found < 0).any():
            open_rows = np.flatnonzero(found < 0)
            _, numbers = self._index.query(self._points[vertices[open_rows]], asked)
            hit = is_wanted[numbers]
            first = numbers[np.arange(len(numbers)), np.argmax(hit, axis=1)]
            found[open_rows] = np.where(hit.any(axis=1), first, -1)
            asked *= 4
        far = np.flatnonzero(found < 0)  # pieces of the graph larger than the search went
        if len(far):
            rest = brute_index(self._points[among], self._space)
            found[far] = among[rest.query(self._points[vertices[far]], 1)[1][:, 0]]
        return found

    def connection_hint(self) -> str:
        hint = f"Raise n_neighbors (now {self.n_neighbors_})"
        return hint + (", or use graph='symmetric'." if self.graph == "mutual" else ".")


def default_n_neighbors(n_vertices: int) -> int:
    """k for so many vertices; see ``benchmarks/studies/neighbors.md``."""
    return max(10, round(np.log2(n_vertices)))


class SharedNeighbors(Neighbors):
    """Affinity by shared neighbours: a sparse graph for embeddings and other wide rows.

    With N(x) the k nearest training rows of x (itself among them, if it is one),
    ``J(x, y) = |N(x) & N(y)| / |N(x) | N(y)|`` and
    ``W(x, y) = max(0, J(x, y) - t) / (1 - t)`` with t = 1/15: rows that share no more than about
    an eighth of their neighbours have no weight, for so many are shared by chance where clusters
    overlap. It is what ``affinity="auto"`` cuts where many neighbours of a row are about as far as
    few, as between embeddings.

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
        return neighbors_bytes(sizes, min(8 * k, sizes.n_vertices or 1))

    def _shared(self, numbers: Indices, reverse: Any) -> list[Any]:
        """Weights of rows with these neighbours, in blocks.

        ``reverse`` says of every vertex whose neighbour it is.
        """
        members = edges_to(numbers, reverse.shape[0]).astype(np.float64)
        reverse, k = reverse.astype(np.float64), numbers.shape[1]
        n_pairs = int(np.ceil(np.diff(reverse.indptr)[numbers].sum(axis=1).mean()))
        blocks = list(row_blocks(len(numbers), n_pairs, 1 << 22))
        found: list[Any] = [None] * len(blocks)

        def fill(place: int) -> None:
            shared = members[blocks[place]] @ reverse
            alike, t = shared.data / (2 * k - shared.data), 1 / 15
            shared.data = np.maximum(alike - t, 0.0) / (1 - t)
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
