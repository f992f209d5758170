"""Sparse graphs of nearest neighbours, weighted by distance or by rank, and weights of new rows.

With r(x) the distance from x to its k-th nearest training row (a training row is its own first),

    w(x, y) = 1/2 (1[|x - y| <= r(x)] + 1[|x - y| <= r(y)]) h(x, y)      in the symmetric graph,
    w(x, y) = 1[|x - y| <= r(x)] 1[|x - y| <= r(y)] h(x, y)              in the mutual one,

which are functions of any two rows. A search finds the k nearest training rows of a new row. Its
reverse neighbours, which would have it among their own k nearest, are looked for only among those
of its nearest training row (``neighbor_sums`` of the kernels).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from eigencut import kernels
from eigencut._utils.arrays import TINY, Array, Indices
from eigencut._utils.memory import MEMORY, FitSizes, sparse_solver_bytes
from eigencut._utils.running import blocks_of_cost, for_each, n_threads, row_blocks
from eigencut._utils.validation import check_choice, is_integer, is_real
from eigencut.affinities.base import DensityContrast, Product, RowAffinity, check_contrast
from eigencut.exceptions import invalid
from eigencut.graphs.base import (
    Graph,
    RankedGraph,
    SparseGraph,
    edges_to,
    index_type,
    shares_of_votes,
)
from eigencut.io.state_reader import StateReader, csr_state
from eigencut.kernels.numpy_kernels import EdgeWeight, NeighborGraph, Width
from eigencut.neighbors.metrics import (
    METRICS,
    Found,
    distinct_rows,
    in_form_of,
    principal_axes,
    warn_about_radians,
)
from eigencut.neighbors.search import (
    INDEXES,
    SearchedPoints,
    SearchedRows,
    allowed_indexes,
    exact_index,
    neighbors_together,
)

# Widths sigma of h(x, y) = exp(-|x - y|^2 / (2 sigma(x) sigma(y))), from radii; "binary": h = 1.
WIDTH_RULES: dict[str, Callable[[Array, float], Width | None]] = {
    # At least a tenth of the median, or rows that nearly coincide would see only each other.
    "local": lambda r, scale: Width.limited(scale, 0.1 * float(np.median(r)), float(r.max())),
    "gaussian": lambda r, scale: Width.limited(scale, float(r.mean()), float(r.mean())),
    "binary": lambda r, scale: None,
}


class Neighbors(RowAffinity):
    """Weights between nearest neighbours only: a sparse graph, for many rows.

    Parameters
    ----------
    n_neighbors : int or "auto", default="auto"
        The number k of neighbours. A row counts as its own first neighbour, and identical rows
        count once. "auto" grows with the logarithm of the number of rows.
    graph : {"symmetric", "mutual"}, default="symmetric"
        "symmetric" connects two rows if one is among the k nearest of the other, with half the
        weight if the other is not; "mutual" only if both are. The mutual graph does not bridge gaps
        between clusters, but leaves many rows of overlapping clusters without edges.
    weights : {"local", "binary", "gaussian"}, default="local"
        "binary" gives every edge the weight 1. The others give Gaussian weights, with a sigma of
        ``scale`` times the distance to the k-th neighbour of each row, or times its mean.
    metric : str, default="euclidean"
        The distance, as for ``GPOD``.
    index : {"auto", "kdtree", "brute", "approximate"}, default="auto"
        How neighbours are found. "kdtree" and "brute" are exact; "approximate" finds nearly all of
        them, and is faster for many rows of many features.
    scale : float, default=0.7
        Factor on sigma.
    density_contrast : float, default=0.0
        beta >= 0: weights are multiplied by ``(rho(x) rho(y))^beta``, rho being the density around
        a row. With a larger beta, clusters meet where rows are sparse. See ``docs/parameters.md``.

    Attributes
    ----------
    n_neighbors_ : int
        The number k in use.
    index_ : str
        The index in use.
    rows_ : array or sparse array of shape (n_vertices, n_features)
        The distinct training rows.
    radii_ : array of shape (n_vertices,)
        The distance from each of them to its k-th neighbour, in the units of the index.

    Notes
    -----
    For new rows the symmetric graph is approximate: training rows that have a new row among their
    nearest, but are not among the nearest of that row, are only looked for around its nearest row.

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
    chunk_rows: ClassVar[int] = 1 << 16  # new rows per search,
    chunk_elements: ClassVar[int] = 1 << 22  # and most numbers in them
    block_elements: ClassVar[int] = 1 << 19  # coordinates of pairs per block of a thread

    accepts_sparse = True

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

    def search(
        self, X: Any, sample_weight: Array | None = None, *, along_axes: bool = False
    ) -> SearchedRows:
        """Look for the neighbours of the rows, for this graph and others of the same metric.

        Parameters
        ----------
        X : array or sparse array of shape (n_samples, n_features)
        sample_weight : array of shape (n_samples,), optional
        along_axes : bool, default=False
            Whether unit vectors of many columns are projected on their principal axes.

        Returns
        -------
        SearchedRows
        """
        self._check_parameters(X)
        warn_about_radians(self.metric, X)
        distinct = distinct_rows(X, sample_weight, self._metric)
        axes = principal_axes(distinct.rows, self._metric) if along_axes else None
        found = SearchedPoints.build(distinct.rows, self.metric, self.index, axes)
        return SearchedRows(distinct, found)

    def fit_graph(self, X: Any, sample_weight: Array | None = None) -> Graph:
        return self.graph_of(self.search(X, sample_weight))

    def graph_of(self, searched: SearchedRows) -> Graph:
        """Build the graph on rows whose neighbours were found; see ``Neighbors.search``."""
        distinct, n = searched.distinct, len(searched.distinct.multiplicity)
        distances, numbers = self._keep_searched(searched, self._neighbors_among(n))
        self._reverse = edges_to(numbers, n).T.tocsr()
        # Radii of zero, such as that of a single row, give no scale.
        spread = self.radii_[self.radii_ > 0] if self.radii_.any() else np.ones(1)
        self._width = WIDTH_RULES[self.weights](spread, float(self.scale))
        weights = self._training_weights(distances, numbers)
        self._contrast, self.largest_weight_ = None, 1.0
        if self.density_contrast:
            beta = float(self.density_contrast)
            self._contrast = DensityContrast.fit(self.radii_, numbers, self.n_columns_, beta)
            factors = self._contrast.factors
            weights.data *= np.repeat(factors, np.diff(weights.indptr))
            weights.data *= factors[weights.indices]
            self.largest_weight_ = float(factors.max()) ** 2
        self.self_weights_ = weights.diagonal()
        return SparseGraph(weights, distinct.multiplicity, distinct.vertex_of_row)

    def _keep_searched(self, searched: SearchedRows, k: int) -> Found:
        """Store the rows and k; return the k nearest of each row."""
        self._keep(searched.distinct)
        self._place(searched.points)
        self.n_neighbors_ = k
        distances, numbers = searched.points.nearest(k)
        self.radii_ = distances[:, -1].copy()
        return distances, numbers

    @property
    def weight_bound_(self) -> float | None:
        return 1.0 if self._contrast is None else self._contrast.bound

    def _neighbors_among(self, n: int) -> int:
        """Return k for n vertices; see ``benchmarks/studies/neighbors.md``."""
        usual = max(10, round(np.log2(n)))
        return min(n, usual if self.n_neighbors == "auto" else int(self.n_neighbors))

    def _check_parameters(self, X: Any = None) -> None:
        """Raise an error for parameters that are invalid, or do not fit rows like X."""
        k: Any = self.n_neighbors
        scale, metric, index = self.scale, self.metric, self.index
        if k != "auto" and (not is_integer(k) or k < 2):
            expected = "be 'auto' or an integer of at least 2 (a row is its own first neighbour)"
            raise invalid("n_neighbors", expected, repr(k), "use 'auto' if unsure")
        if not (is_real(scale) and 0 < scale < np.inf):
            raise invalid("scale", "be a positive number", repr(scale), "use 1")
        check_contrast(self.density_contrast)
        check_choice("graph", self.graph, ("symmetric", "mutual"))
        check_choice("weights", self.weights, tuple(WIDTH_RULES))
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

    def memory_bytes(self, sizes: FitSizes) -> float | None:
        self._check_parameters()
        return neighbors_bytes(sizes, self._neighbors_among(sizes.n_vertices or 1))

    def _place(self, searched: SearchedPoints) -> None:
        """Store the rows as points, and their index."""
        self._space, self._points = searched.space, searched.points
        self.index_, self._index = searched.index_name, searched.index

    def _training_weights(self, distances: Array, numbers: Indices) -> Any:
        """Return the sparse weights of all pairs with one row among the nearest of the other."""
        n, k = numbers.shape
        weights = np.empty((n, k))

        def fill(rows: slice) -> None:
            r_x, r_y = self.radii_[rows, np.newaxis], self.radii_[numbers[rows]]
            share, exponent = self._weight(distances[rows], r_x, r_y)
            weights[rows] = share * np.exp(exponent)

        for_each(fill, row_blocks(n, k, self.block_elements), "blocks of weights")
        is_edge, kind = weights > 0, index_type(2 * n * k)
        starts = np.append(0, np.cumsum(is_edge.sum(axis=1))).astype(kind)
        edges = weights[is_edge], numbers[is_edge].astype(kind), starts
        # A pair is stored in one direction, or in both with weights that may differ by rounding.
        directed = sparse.csr_array(edges, shape=(n, n))
        directed.sort_indices()
        return directed.maximum(directed.T.tocsr())

    @property
    def _weight(self) -> EdgeWeight:
        return EdgeWeight(self.graph == "mutual", self._width)

    def _state(self, include_training_data: bool = True) -> dict[str, Any]:
        own = {"n_neighbors": self.n_neighbors_, "index": self.index_, "radii": self.radii_}
        if self._reverse.nnz:
            own["reverse"] = csr_state(self._reverse)
        if self._width is not None:
            own["width"] = asdict(self._width)
        if self._contrast is not None:
            own["contrast"] = self._contrast._state()
        if self._space.axes is not None:
            own["axes"] = self._space.axes
        return super()._state(include_training_data) | own

    def _restore(self, state: StateReader) -> None:
        super()._restore(state)
        n = len(self.multiplicity_)
        self._check_parameters(self.rows_)
        self.n_neighbors_ = state.integer("n_neighbors", 1, n)
        index = state.word("index", allowed_indexes(self.metric, sparse.issparse(self.rows_)))
        axes = None
        if "axes" in state:
            axes = state.array("axes", (self.rows_.shape[1], None))
        self._place(SearchedPoints.build(self.rows_, self.metric, index, axes))
        self.radii_ = state.array("radii", (n,), least=0.0)
        self._reverse, self._width, self._contrast = sparse.csr_array((n, n)), None, None
        if "reverse" in state:
            reverse = state.csr("reverse", n, n)
            kind = index_type(reverse.nnz)
            edges = (reverse.data, reverse.indices.astype(kind), reverse.indptr.astype(kind))
            self._reverse = sparse.csr_array(edges, shape=(n, n))
        if "width" in state:
            width = state.part("width")
            least, scale = width.number("least", least=0.0), width.number("scale", TINY)
            self._width = Width.limited(scale, least, width.number("most", least=least))
        if "contrast" in state:
            self._contrast = DensityContrast._restored(state.part("contrast"), n)

    def apply(self, X: Any, V: Array) -> Product:
        weighted = self._weighted(V)
        if self._contrast is not None:
            weighted *= self._contrast.factors[:, np.newaxis]
        product, log_scale = np.empty((X.shape[0], weighted.shape[1])), np.empty(X.shape[0])
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
        """Return the products and log scales of points of new rows."""
        points, (distances, numbers) = self._index.query_rounded(points, self.n_neighbors_)
        product, log_scale = np.empty((len(numbers), weighted.shape[1])), np.empty(len(numbers))
        vertices, is_sparse = self._points, sparse.issparse(self._points)
        graph = NeighborGraph(
            vertices=vertices if is_sparse else np.ascontiguousarray(vertices),
            radii=self.radii_,
            reverse=self._reverse,
            weight=self._weight,
            distances=self._space.metric.between,
            is_euclidean=self._space.metric.is_flat,
        )

        def fill(rows: slice) -> None:
            product[rows], log_scale[rows] = kernels.chosen.neighbor_sums(
                graph, points[rows], distances[rows], numbers[rows], weighted
            )

        n_edges = self.n_neighbors_ + np.diff(self._reverse.indptr)[numbers[:, 0]]
        for_each(fill, blocks_of_cost(n_edges * vertices.shape[1], self.block_elements))
        if self._contrast is not None:
            log_scale += np.log(self._contrast.at(numbers))
        return product, log_scale

    def within(self, X: Any, V: Array) -> Array:
        points = self._points_of(X)
        distances, numbers = self._index.query(points, self.n_neighbors_)
        radii, product = distances[:, -1], np.empty(V.shape)
        factors = np.ones(len(V)) if self._contrast is None else self._contrast.at(numbers)

        def fill(rows: slice) -> None:
            distances = self._space.metric.all_pairs(points[rows], points)
            share, exponent = self._weight(distances, radii[rows, np.newaxis], radii)
            weights = share * np.exp(exponent) * factors[rows, np.newaxis]
            product[rows] = weights @ (factors[:, np.newaxis] * V)

        for_each(fill, row_blocks(len(radii), len(radii), self.block_elements))
        return product

    def nearest_vertices(self, X: Any) -> Indices:
        if not X.shape[0]:
            return np.empty(0, dtype=np.intp)
        return self._index.query(self._points_of(X), 1)[1][:, 0]

    def most_similar_vertices(self, vertices: Indices, among: Indices) -> Indices:
        rest = exact_index(self._points[among], self._space)
        return np.asarray(among[rest.query(self._points[vertices], 1)[1][:, 0]])

    def connection_hint(self) -> str:
        hint = f"Raise n_neighbors (now {self.n_neighbors_})"
        return hint + (", or use graph='symmetric'." if self.graph == "mutual" else ".")


def neighbors_bytes(sizes: FitSizes, k: int) -> float | None:
    """Return the memory of rows, their copies, search, graph and eigensolver; None if unknown."""
    n, d, K = sizes.n_vertices, sizes.n_features, sizes.n_clusters
    if n is None or sizes.n_rows is None:
        return None
    of_search = (kernels.chosen.search_bytes + MEMORY.search_block) * min(n_threads(), n / 1000)
    of_rows = MEMORY.copies * sizes.n_rows * d
    return MEMORY.imports + of_search + of_rows + 104.0 * n * k + sparse_solver_bytes(n, K)


class RankedNeighbors(Neighbors):
    """Affinity by the order of the nearest rows: a sparse graph for embeddings and tables.

    A row gives the weight ``(r - 1)^-1/2`` to its r-th nearest row, for r = 2 to k (it is its own
    first). The weight of two rows is the mean of what they give each other, scaled so that all rows
    have the same sum of weights [1]_. So weights do not depend on how far apart rows are.
    ``GPOD(solver="discrete")`` uses this graph.

    A new row gives ``r^-1/2`` to its r-th nearest training row, scaled by the factor of that row.

    Parameters
    ----------
    n_neighbors : int or "auto", default="auto"
        The number k of neighbours, including the row. "auto" is 60, or fewer in few dimensions.
    metric : str, default="euclidean"
        As of ``Neighbors``.
    index : str, default="auto"
        As of ``Neighbors``.

    Attributes
    ----------
    n_neighbors_ : int
        The number k in use.
    rows_ : array or sparse array of shape (n_vertices, n_features)
        The distinct training rows.

    References
    ----------
    .. [1] R. Sinkhorn, P. Knopp, "Concerning nonnegative matrices and doubly stochastic matrices",
       Pacific Journal of Mathematics 21(2), 343-348, 1967.
    """

    _saved_as: ClassVar[str] = "RankedNeighbors"
    solver = "discrete"
    scaling_steps: ClassVar[int] = 20
    most_neighbors: ClassVar[int] = 60
    few_neighbors: ClassVar[int] = 15
    many_dimensions: ClassVar[float] = 9.0  # from here on, "auto" is most_neighbors

    weight_bound_ = None  # weights between new rows have another scale
    # Parameters of ``Neighbors`` that are fixed here.
    graph, weights, scale, density_contrast = "symmetric", "binary", 1.0, 0.0

    def __init__(
        self, n_neighbors: int | str = "auto", *, metric: str = "euclidean", index: str = "auto"
    ) -> None:
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.index = index

    def graph_of(self, searched: SearchedRows) -> RankedGraph:
        distinct, n = searched.distinct, len(searched.distinct.multiplicity)
        k = self._neighbors_among(n)
        if self.n_neighbors == "auto":
            k = min(k, self.local_neighbors(searched, k))
        distances, numbers = self._keep_searched(searched, k)
        self._reverse, self._width, self._contrast = sparse.csr_array((n, n)), None, None
        weights = self._ranked(numbers)
        self.scaling_ = self._scaled(weights, self.multiplicity_)
        weights.data *= self.n_rows_
        self.largest_weight_ = float(weights.data.max(initial=0.0)) or 1.0
        self.self_weights_ = np.zeros(n)
        support = self._support(distances[:, min(1, k - 1)], numbers[:, min(1, k - 1)])
        support[self.multiplicity_ > np.median(self.multiplicity_)] = 0.0
        return RankedGraph(weights, distinct.multiplicity, distinct.vertex_of_row, numbers, support)

    def local_neighbors(self, searched: SearchedRows, k: int) -> int:
        """Return k, or fewer if the data have few dimensions; see ``Neighbors.search``."""
        few = min(self.few_neighbors, k)
        if k < 2 * few:
            return k
        d = local_dimension(searched.points.nearest(k)[0], few)
        return int(max(few, round(k * min(1.0, d / self.many_dimensions))))

    def with_few_neighbors(self, graph: Any) -> Any:
        """Return the graph with fewer neighbours, or None if it has few; see ``Affinity.fit``."""
        if self.n_neighbors_ <= 1.5 * self.few_neighbors:
            return None
        numbers = graph.numbers[:, : self.few_neighbors + 1]
        weights = self._ranked(numbers)
        self._scaled(weights, graph.multiplicity)
        return replace(graph, weights=weights, numbers=numbers)

    def _ranked(self, numbers: Indices) -> Any:
        """Return the mean of the weights that two rows give each other, by rank."""
        n, k = numbers.shape
        given = np.tile(np.arange(1, max(k, 2)) ** -0.5, n)[: n * (k - 1)]
        starts = np.arange(0, n * (k - 1) + 1, max(k - 1, 1)) if k > 1 else np.zeros(n + 1, int)
        directed = sparse.csr_array((given, numbers[:, 1:].ravel(), starts), shape=(n, n))
        weights = ((directed + directed.T) / 2).tocsr()
        weights.sort_indices()
        return weights

    def _scaled(self, weights: Any, multiplicity: Array) -> Array:
        """Scale symmetric weights in place so that all degrees are 1; return the factors."""
        factors = np.ones(len(multiplicity))
        for _ in range(self.scaling_steps):
            sums = weights @ (multiplicity * factors)
            factors = np.sqrt(factors / np.where(sums > 0, sums, 1.0))
        weights.data *= np.repeat(factors, np.diff(weights.indptr)) * factors[weights.indices]
        return factors

    def _support(self, distances: Array, numbers: Indices) -> Array:
        """Return ``-1/2 (d / r(y))^2``: d is the distance to the nearest row y, r(y) its radius."""
        with np.errstate(over="ignore"):
            ratio = distances / self.support_radii()[numbers]
        return np.asarray(-0.5 * np.minimum(ratio, 1e150) ** 2)

    def support_radii(self) -> Array:
        """Return the radius of each training row, at least a tenth of the median one."""
        spread = self.radii_[self.radii_ > 0]
        least = 0.1 * float(np.median(spread)) if len(spread) else 1.0
        return np.maximum(self.radii_, least)

    def memory_bytes(self, sizes: FitSizes) -> float | None:
        self._check_parameters()
        one = replace(sizes, n_clusters=1)  # no eigenvectors are computed
        return neighbors_bytes(one, self._neighbors_among(sizes.n_vertices or 1))

    def _neighbors_among(self, n: int) -> int:
        return min(n, self.most_neighbors if self.n_neighbors == "auto" else int(self.n_neighbors))

    def _state(self, include_training_data: bool = True) -> dict[str, Any]:
        return super()._state(include_training_data) | {"scaling": self.scaling_}

    def _restore(self, state: StateReader) -> None:
        super()._restore(state)
        self.scaling_ = state.array("scaling", (len(self.multiplicity_),), least=TINY)

    def _votes_of(self, numbers: Indices) -> Array:
        """Return the weights that each row gives to its nearest training rows, in their order."""
        votes = np.arange(1, numbers.shape[1] + 1) ** -0.5
        return votes * (self.scaling_ * self.multiplicity_)[numbers]

    def shares(self, X: Any, labels: Indices, n_clusters: int) -> tuple[Any, Array]:
        found, supports = [sparse.csr_array((0, n_clusters))], np.empty(X.shape[0])
        for rows, numbers, support in self._nearest(X, 1):
            found.append(shares_of_votes(self._votes_of(numbers), labels[numbers], n_clusters))
            supports[rows] = support
        return sparse.vstack(found, format="csr"), supports

    def _nearest(self, X: Any, width: int) -> Iterator[tuple[slice, Indices, Array]]:
        """Yield blocks of rows, their nearest training rows (``width`` numbers each), support."""
        size = max(self.n_neighbors_ * max(1, width), X.shape[1])
        for rows in row_blocks(X.shape[0], size, self.chunk_elements):
            points = self._points_of(X[rows])
            _, (distances, numbers) = self._index.query_rounded(points, self.n_neighbors_)
            yield rows, numbers, self._support(distances[:, 0], numbers[:, 0])

    def shares_at_vertices(self, graph: Any, labels: Indices, n_clusters: int) -> Any:
        return shares_of_votes(self._votes_of(graph.numbers), labels[graph.numbers], n_clusters)

    def averages_at_vertices(self, graph: Any, V: Array) -> Array:
        votes = self._votes_of(graph.numbers)
        sums = sum(votes[:, [k]] * V[graph.numbers[:, k]] for k in range(votes.shape[1]))
        return np.asarray(sums / votes.sum(axis=1, keepdims=True))

    def apply(self, X: Any, V: Array) -> Product:
        product, degrees = np.empty((X.shape[0], V.shape[1])), np.empty(X.shape[0])
        supports = np.empty(X.shape[0])
        for rows, numbers, support in self._nearest(X, V.shape[1]):
            votes = self._votes_of(numbers)
            product[rows] = np.einsum("ij,ijk->ik", votes, V[numbers])
            degrees[rows], supports[rows] = votes.sum(axis=1), support
        return Product(product, degrees, np.zeros(X.shape[0]), supports)

    def within(self, X: Any, V: Array) -> Array:
        return self._in_own_graph(X, V, np.ones(X.shape[0]), "auto")

    def at_own_rows(self, V: Array) -> Array:
        return self._in_own_graph(self.rows_, V, self.multiplicity_, self.index_)

    def _in_own_graph(self, X: Any, V: Array, counts: Array, index: str) -> Array:
        """Return ``sum_j c_j W(x_i, x_j) V[j]`` in the graph of the rows of X alone."""
        own = RankedNeighbors(max(self.n_neighbors_, 2), metric=self.metric, index=index)
        graph = own.graph_of(own.search(X, counts))
        summed = np.zeros((graph.n_vertices, V.shape[1]))
        np.add.at(summed, graph.vertex_of_row, counts[:, np.newaxis] * V)
        return np.asarray((graph.weights @ summed)[graph.vertex_of_row])

    def connection_hint(self) -> str:
        return f"Raise n_neighbors (now {self.n_neighbors_})."


def local_dimension(distances: Array, few: int) -> float:
    """Return the dimension d of the data: distances to the k-th neighbour grow as k^(1/d)."""
    k = distances.shape[1]
    near, far = np.median(distances[:, few - 1]), np.median(distances[:, -1])
    if not near > 0 or far <= near:
        return np.inf if near > 0 else 1.0
    return float(np.log((k - 1) / max(few - 1, 1)) / np.log(far / near))
