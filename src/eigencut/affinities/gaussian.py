"""The Gaussian weight function of the paper, on the complete graph."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from functools import cached_property
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.validation import check_choice
from eigencut.affinities.density import DensityContrast, check_contrast
from eigencut.affinities.kernel import Points, VectorAffinity, direct_exponents, exponents_of
from eigencut.graphs.complete import SymmetricTiles
from eigencut.io.state_reader import StateReader
from eigencut.neighbors.build import exact_index
from eigencut.neighbors.index import Index
from eigencut.neighbors.metrics import METRICS, Metric, Space, warn_about_radians

# Rules for the bandwidth sigma of a Gaussian weight: median, neighbours, local, or a number.

Bandwidth = float | str | Callable[[Array], Array]

# Widths are kept within these, in units of the data, so that their squares stay finite.
WIDTH_LIMITS = (1e-140, 1e140)

RULES = ("auto", "median", "neighbors", "local")

_FEW_DISTANCES = 1 << 15  # so many are measured sooner than a search begins
_LEAST_WIDTH = 0.1
_MEDIAN_ROWS = 2000  # rows whose pairwise distances are enough to know the median


def check_bandwidth(sigma: object) -> Bandwidth:
    """Return sigma as a float, a function or the name of a rule, or say what is wrong with it."""
    if (isinstance(sigma, str) and sigma in RULES) or callable(sigma):
        return sigma
    is_number = isinstance(sigma, Real) and not isinstance(sigma, bool)
    if is_number and 0 < sigma <= sys.float_info.max:  # type: ignore[operator]
        return float(sigma)  # type: ignore[arg-type]
    rules = ", ".join(repr(rule) for rule in RULES)
    raise ValueError(
        f"sigma must be a positive number or one of {rules}. Got {sigma!r}; "
        "use sigma='auto' if unsure."
    )


def median_distance(points: Array, metric: Metric = METRICS["euclidean"]) -> float:
    """Median distance between two different rows (of at most 2000 evenly spaced ones)."""
    from scipy.spatial.distance import pdist

    if len(points) < 2:
        return 1.0
    some = points[:: -(-len(points) // _MEDIAN_ROWS)]
    if metric.is_flat:
        return float(np.median(pdist(some)))
    return float(np.median(metric.all_pairs(some, some)[np.triu_indices(len(some), 1)]))


class NeighborDistances:
    """Distance from any row to the k-th nearest of the given points.

    A row that is itself one of the points counts itself as the first. So one function holds for
    training rows and for new rows, without a jump where a new row meets a training row.
    """

    def __init__(self, points: Array, k: int, metric: Metric = METRICS["euclidean"]) -> None:
        self._points = points
        self._k = min(k, len(points))
        self._metric = metric

    @cached_property
    def _index(self) -> Index:
        return exact_index(self._points, Space(self._points, self._metric))

    def __getstate__(self) -> dict[str, Any]:
        # The index is quickly built anew, and has parts that skops cannot keep.
        return {"_points": self._points, "_k": self._k, "_metric": self._metric}

    def __call__(self, queries: Array) -> Array:
        if len(self._points) == 1:  # no distance to learn a scale from
            return np.ones(len(queries))
        if len(queries) * len(self._points) < _FEW_DISTANCES:
            distances = self._metric.all_pairs(queries, self._points)
            return np.partition(distances, self._k - 1, axis=1)[:, self._k - 1]
        _, nearest = self._index.query(queries, self._k)
        kth = np.zeros(len(queries))
        for column in nearest.T:
            np.maximum(kth, _lengths(queries, self._points[column], self._metric), out=kth)
        return kth

    def nearest(self, queries: Array) -> Indices:
        """Numbers of the k nearest points of each row."""
        return self._index.query(queries, self._k)[1]


def _lengths(A: Array, B: Array, metric: Metric) -> Array:
    """Distances from each point of A to the one of B in the same place, or to the only one."""
    return np.linalg.norm(A - B, axis=1) if metric.is_flat else metric.between(A, B)


class LocalWidth:
    """sigma(x) of the local rule: ``scale`` times the distance to the k-th nearest point.

    It is at least a tenth of the median over the points, lest a few rows that nearly coincide see
    nothing but each other; and at most the largest over the points, so that rows far from all of
    them do not see everything.
    """

    at_points: Array  # known after ``of``

    def __init__(
        self, neighbors: NeighborDistances, scale: float, least: float, most: float
    ) -> None:
        self._neighbors = neighbors
        self._scale = scale
        self.least = least
        self.most = most

    @classmethod
    def of(
        cls, points: Array, k: int, scale: float, metric: Metric = METRICS["euclidean"]
    ) -> LocalWidth:
        """With the limits that the points give."""
        neighbors = NeighborDistances(points, k, metric)
        distances = neighbors(points)
        least = _LEAST_WIDTH * float(np.median(distances))
        found = cls(neighbors, scale, least, float(distances.max()))
        found.at_points = found._width(distances)
        return found

    def __call__(self, queries: Array) -> Array:
        return self._width(self._neighbors(queries))

    def _width(self, distances: Array) -> Array:
        return np.clip(self._scale * np.clip(distances, self.least, self.most), *WIDTH_LIMITS)


def longest_spanning_edge(points: Array, metric: Metric = METRICS["euclidean"]) -> float:
    """Longest edge of the minimum spanning tree (Prim): the gap that must be bridged."""
    to_tree = _lengths(points, points[0], metric)
    in_tree = np.zeros(len(points), dtype=bool)
    in_tree[0] = True
    longest = 0.0
    for _ in range(len(points) - 1):
        closest = int(np.argmin(np.where(in_tree, np.inf, to_tree)))
        longest = max(longest, float(to_tree[closest]))
        in_tree[closest] = True
        np.minimum(to_tree, _lengths(points, points[closest], metric), out=to_tree)
    return longest


_LOWEST_EXPONENT = -700.0  # exp() gives normal numbers, and is fast, above this
_COMPLETE = 1e-6  # weights that all lie within this of 1 carry no structure
_LOCAL_SCALE = 0.5  # see benchmarks/studies/bandwidth.md
_EPS = float(np.finfo(np.float64).eps)
_MOST_EXPONENT = 1100  # of two, in a file: beyond every float64
_FARTHEST = 1e140  # coordinates are clipped here, so that squares stay finite


class Gaussian(VectorAffinity):
    """Gaussian weights ``W(x, y) = exp(-|x - y|^2 / (2 sigma^2))`` on the complete graph.

    Parameters
    ----------
    sigma : float, callable or {"auto", "median", "neighbors", "local"}, default="auto"
        The bandwidth, a function ``sigma(X)`` that gives one to each row, or a rule:

        - ``"median"``: ``scale`` times the median distance between two rows;
        - ``"neighbors"``: ``scale`` times the mean distance from a row to its
          ``n_neighbors``-th nearest row (itself counted as the first);
        - ``"local"``: every row has its own sigma(x), ``scale`` times the distance to its
          ``n_neighbors``-th nearest training row, and ``2 sigma^2`` becomes
          ``2 sigma(x) sigma(y)`` (self-tuning; Zelnik-Manor and Perona, 2004);
        - ``"auto"``: ``"local"``, which did best in the measurements of
          ``benchmarks/studies/bandwidth.md``.
    n_neighbors : int, default=10
        Used by the rules "neighbors" and "local". Identical rows count once.
    scale : float or None, default=None
        Factor on what a rule gives. None is 1/2 for "local" and 1 for the others. A sigma given
        as a number is used as it is.
    density_contrast : float or callable, default=0.0
        beta >= 0: weights are multiplied by ``(rho(x) rho(y))^beta``, with rho the density around a
        row, the mean of ``r_j^-min(d, 2)`` over its ``n_neighbors`` nearest training rows, r_j the
        distance from row j to the farthest of its own. 0 is no contrast, and the paper's form. Or a
        function that gives ``rho(x)^beta`` of each row of X.
    metric : str, default="euclidean"
        What ``|x - y|`` is: "euclidean", "cosine", "manhattan", "chebyshev", "hamming", "jaccard"
        or "haversine"; see ``docs/metrics.md``. Sigma is in its units.

    Attributes
    ----------
    sigma_ : float
        The bandwidth in use (the median one where they are local).
    rows_ : array of shape (n_vertices, n_features)
        The distinct training rows.

    References
    ----------
    .. [1] L. Zelnik-Manor, P. Perona, "Self-Tuning Spectral Clustering", Advances in Neural
       Information Processing Systems 17, 2004.

    Examples
    --------
    >>> import numpy as np
    >>> graph = Gaussian(sigma=1.0).fit_graph(np.array([[0.0], [1.0]]))
    >>> graph.dense().round(3)
    array([[1.   , 0.607],
           [0.607, 1.   ]])
    """

    _saved_as: ClassVar[str] = "Gaussian"

    sigma_: float

    def __init__(
        self,
        sigma: Bandwidth = "auto",
        *,
        n_neighbors: int = 10,
        scale: float | None = None,
        density_contrast: float | Callable[[Array], Array] = 0.0,
        metric: str = "euclidean",
    ) -> None:
        self.sigma = sigma
        self.n_neighbors = n_neighbors
        self.scale = scale
        self.density_contrast = density_contrast
        self.metric = metric

    @property
    def _metric(self) -> Metric:
        return METRICS[self.metric]

    def _check_parameters(self) -> Bandwidth:
        if not isinstance(self.n_neighbors, Integral) or self.n_neighbors < 2:
            raise ValueError(
                "n_neighbors must be an integer of at least 2 (a row is its own first neighbour). "
                f"Got {self.n_neighbors!r}; use the default of 10."
            )
        is_number = isinstance(self.scale, Real) and not isinstance(self.scale, bool)
        if self.scale is not None and not (is_number and 0 < self.scale < math.inf):
            raise ValueError(
                f"scale must be a positive number. Got {self.scale!r}; leave it out if unsure."
            )
        if not callable(self.density_contrast):
            check_contrast(self.density_contrast)
        check_choice("metric", self.metric, tuple(METRICS))
        return check_bandwidth(self.sigma)

    def _fit_rows(self, rows: Array) -> None:
        sigma = self._check_parameters()
        if self.metric == "haversine":
            warn_about_radians(rows)
        coordinates = self._fitted_units(rows)
        metric = self._metric.of_points
        self._local: LocalWidth | None = None
        factor = 1.0 if self.scale is None else self.scale
        if callable(sigma):
            width = float(np.median(self._width_of(rows)))
        elif sigma == "median":
            width = factor * median_distance(coordinates, metric)
        elif sigma == "neighbors":
            distances = self._neighbor_distances(coordinates, self.n_neighbors)(coordinates)
            width = factor * float(distances.mean())
        elif sigma in ("local", "auto"):
            self._local = LocalWidth.of(coordinates, self.n_neighbors, self._local_scale, metric)
            width = float(np.median(self._local.at_points))
        else:
            width = float(np.ldexp(sigma, -self._exponent))
        self._width = float(np.clip(width, *WIDTH_LIMITS))
        self.sigma_ = float(np.ldexp(self._width, self._exponent))
        self._refuse_complete_graph(metric.diameter(coordinates))
        self._contrast = self._fitted_contrast(coordinates)

    def _fitted_units(self, rows: Array) -> Array:
        """Choose the units, and return the points of the rows in them.

        Centring keeps matrix products accurate; scaling by a power of two is exact and keeps
        squares away from overflow and underflow whatever the user's units. Sets and codes have
        neither.
        """
        points = self._metric.points(rows)
        self._center, self._exponent = np.zeros(points.shape[1]), 0
        if self._metric.has_means:
            lowest, highest = points.min(axis=0), points.max(axis=0)
            self._center = lowest / 2 + highest / 2
            self._exponent = int(np.frexp(np.abs(points - self._center).max())[1])
        return self._in_units(points)

    def _fitted_contrast(self, coordinates: Array) -> DensityContrast | None:
        """rho, from the distances to ``n_neighbors`` rows, whatever the bandwidth."""
        if callable(self.density_contrast) or not self.density_contrast:
            return None
        self._near = self._neighbor_distances(coordinates, self.n_neighbors)
        radii, numbers = self._near(coordinates), self._near.nearest(coordinates)
        beta = float(self.density_contrast)
        return DensityContrast.of(radii, numbers, self.n_columns_, beta)

    def _neighbor_distances(self, coordinates: Array, k: int) -> NeighborDistances:
        return NeighborDistances(coordinates, k, self._metric.of_points)

    def _contrast_of(self, X: Array) -> Array | None:
        """``rho(x)^beta`` of each row of X; None without contrast."""
        if callable(self.density_contrast):
            given = np.asarray(self.density_contrast(X), dtype=np.float64)
            if not (given.shape == (len(X),) and (given > 0).all() and np.isfinite(given).all()):
                raise ValueError(
                    "density_contrast must give a positive number for each row, if it is a "
                    f"function. Got {given!r:.60}; use density_contrast=1."
                )
            return given
        if self._contrast is None:
            return None
        return self._contrast.at(self._near.nearest(self._to_units(X)))

    @property
    def _local_scale(self) -> float:
        return _LOCAL_SCALE if self.scale is None else self.scale

    @property
    def _asked(self) -> float:
        """The sigma in the user's words, where it was given as a number."""
        return float(self.sigma) if isinstance(self.sigma, Real) else self.sigma_

    def _refuse_complete_graph(self, diagonal: float) -> None:
        """An error if all weights are 1: no cut of such a graph is better than another."""
        if len(self.rows_) > 1 and diagonal**2 / (2 * self._width**2) < _COMPLETE:
            largest = float(np.ldexp(diagonal, self._exponent))
            raise ValueError(
                f"sigma must be small enough to tell rows apart. Got {self._asked:.3g}, with which "
                f"every weight is within {_COMPLETE:g} of 1 (no two rows are farther apart than "
                f"{largest:.3g}); lower it, or use sigma='auto'."
            )

    def _to_units(self, X: Array) -> Array:
        return self._in_units(self._metric.points(X))

    def _in_units(self, points: Array) -> Array:
        if not self._metric.has_means:
            return points
        with np.errstate(over="ignore"):
            coordinates = np.ldexp(points - self._center, -self._exponent)
        return np.asarray(np.clip(coordinates, -_FARTHEST, _FARTHEST))

    def _prepare(self, X: Array) -> Points:
        inverse_width = 1 / (math.sqrt(2) * self._width_of(X))
        given = self._to_units(X), inverse_width, self._contrast_of(X)
        return Points.of(*given, self._metric.of_points)

    def _weights(self, A: Points, B: Points) -> Array:
        weights = exponents_of(A, B)
        np.clip(weights, _LOWEST_EXPONENT, 0.0, out=weights)
        np.exp(weights, out=weights)
        if A.contrast is not None and B.contrast is not None:
            weights *= A.contrast[:, np.newaxis]
            weights *= B.contrast
        return weights

    def exponent_factors(self, X: Array | None = None) -> Array | None:
        is_product = self._metric.is_flat and self._training.contrast is None
        if not is_product:  # the weights are no bare exponentials of products
            return None
        return self._training.factor if X is None else self._prepare(X).left_factor

    def _underflowed(self, A: Points, weighted: Array) -> tuple[Array, Array]:
        """Subtract the largest exponent: the weighted average tends to the nearest row."""
        exponents = direct_exponents(A, self._training)
        largest = exponents.max(axis=1, keepdims=True)
        largest[~np.isfinite(largest)] = -np.finfo(np.float64).max
        exponents = np.maximum(exponents, largest + _LOWEST_EXPONENT) - largest
        if A.contrast is None or self._training.contrast is None:
            return np.exp(exponents) @ weighted, largest[:, 0]
        product = np.exp(exponents) @ (self._training.contrast[:, np.newaxis] * weighted)
        return product, largest[:, 0] + np.log(A.contrast)

    def _largest_weight(self, weights: SymmetricTiles) -> float:
        if self._contrast is not None:  # no mean of densities is above the largest
            return float(self._contrast.densities.max() ** (2 * self._contrast.beta))
        contrast = self._training.contrast
        return 1.0 if contrast is None else float(contrast.max()) ** 2

    def _state(self, include_training_data: bool = True) -> dict[str, Any]:
        if callable(self.sigma):
            raise ValueError(
                "sigma must be a number or a rule for a model to be saved or exported. Got a "
                "function, which is Python code; fit with sigma='local' or a number."
            )
        if callable(self.density_contrast):
            raise ValueError(
                "density_contrast must be a number for a model to be saved or exported. Got a "
                "function, which is Python code; fit with density_contrast=1."
            )
        own = {"center": self._center, "exponent": self._exponent, "width": self._width}
        if self._local is not None:
            limits = {"least": self._local.least, "most": self._local.most}
            own["local"] = limits | {"k": self.n_neighbors, "scale": float(self._local_scale)}
        if self._contrast is not None:
            own["contrast"] = self._contrast._state()
        return super()._state(include_training_data) | own

    def _restore(self, state: StateReader) -> None:
        self._check_parameters()
        super()._restore(state)
        n_coordinates = self._metric.n_coordinates or self.n_columns_
        self._center = state.coordinates("center", (n_coordinates,))
        self._exponent = state.integer("exponent", -_MOST_EXPONENT, _MOST_EXPONENT)
        self._width = float(np.clip(state.number("width"), *WIDTH_LIMITS))
        self.sigma_ = float(np.ldexp(self._width, self._exponent))
        self._local = None
        if "local" in state:
            local = state.part("local")
            least, scale = local.number("least", least=0.0), local.number("scale", least=0.0)
            points, k = self._to_units(self.rows_), local.integer("k", least=2)
            distances = self._neighbor_distances(points, k)
            self._local = LocalWidth(distances, scale, least, local.number("most", least=least))
        self._contrast = None
        if "contrast" in state:
            points = self._to_units(self.rows_)
            self._near = self._neighbor_distances(points, self.n_neighbors)
            self._contrast = DensityContrast._restored(state.part("contrast"), len(self.rows_))
        self._training = self._prepare(self.rows_)

    def frozen(self) -> Gaussian:
        sigma: Bandwidth = self.sigma_ if self._local is None else self.local_sigma
        contrast = 0.0 if self._training.contrast is None else self.contrast_factors
        return Gaussian(sigma=sigma, density_contrast=contrast, metric=self.metric)

    def contrast_factors(self, X: Array) -> Array:
        """``rho(x)^beta`` of each row of X."""
        factors = self._contrast_of(X)
        return np.ones(len(X)) if factors is None else factors

    def local_sigma(self, X: Array) -> Array:
        """sigma(x) of each row of X."""
        return np.asarray(np.ldexp(self._width_of(X), self._exponent))

    def _width_of(self, X: Array) -> Array:
        """sigma(x) in units."""
        if callable(self.sigma):
            given = np.ldexp(self.sigma(X), -self._exponent)
            return np.asarray(np.clip(given, *WIDTH_LIMITS))
        if self._local is None:
            return np.full(len(X), self._width)
        return self._local(self._to_units(X))

    def nearest_vertices(self, X: Array) -> Indices:
        points = self._metric.points(self.rows_)
        return self._metric.nearest(self._metric.points(X), points)

    def most_similar_vertices(self, vertices: Indices, among: Indices) -> Indices:
        points = self._metric.points(self.rows_)
        return among[self._metric.nearest(points[vertices], points[among])]

    def connection_hint(self) -> str:
        if self._local is not None or callable(self.sigma):
            return "Raise n_neighbors or scale, or use a number for sigma."
        edge = longest_spanning_edge(self._training.coordinates, self._metric.of_points)
        connecting = float(np.ldexp(edge, self._exponent)) / math.sqrt(-2 * math.log(_EPS))
        return (
            f"Any sigma above {connecting:.3g} connects them (now {self._asked:.3g}); "
            "sigma='auto' chooses one."
        )
