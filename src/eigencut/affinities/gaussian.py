"""The Gaussian weight function of the paper, on the complete graph."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from eigencut._utils.arrays import EPS, SQUARABLE, Array, Indices
from eigencut._utils.validation import check_choice, is_integer, is_real
from eigencut.affinities.base import VectorAffinity
from eigencut.exceptions import invalid
from eigencut.graphs.complete import SymmetricTiles
from eigencut.io.state_reader import StateReader
from eigencut.kernels.numpy_kernels import Width
from eigencut.neighbors.metrics import METRICS, Metric, Space, warn_about_radians
from eigencut.neighbors.search import Index, exact_index

Bandwidth = float | str | Callable[[Array], Array]

RULES = ("auto", "median", "neighbors", "local")


def median_distance(points: Array, metric: Metric) -> float:
    """Return the median distance between two of at most 2000 evenly spaced points."""
    from scipy.spatial.distance import pdist

    if len(points) < 2:
        return 1.0
    some = points[:: -(-len(points) // 2000)]
    upper = np.triu_indices(len(some), 1)
    pairs = pdist(some) if metric.is_flat else metric.all_pairs(some, some)[upper]
    return float(np.median(pairs))


class NeighborDistances:
    """Computes distances from rows to their k-th nearest point; a point is its own first."""

    def __init__(self, points: Array, k: int, metric: Metric) -> None:
        self._points, self._k, self._metric = points, min(k, len(points)), metric

    @cached_property
    def _index(self) -> Index:
        return exact_index(self._points, Space(self._points, self._metric))

    def __getstate__(self) -> dict[str, Any]:
        # The index is quick to build again, and skops cannot store it.
        return {"_points": self._points, "_k": self._k, "_metric": self._metric}

    def __call__(self, queries: Array) -> Array:
        if len(self._points) == 1:  # no distance to learn a scale from
            return np.ones(len(queries))
        if len(queries) * len(self._points) < 1 << 15:  # faster than an index
            distances = self._metric.all_pairs(queries, self._points)
            return np.partition(distances, self._k - 1, axis=1)[:, self._k - 1]
        _, nearest = self._index.query(queries, self._k)
        kth = np.zeros(len(queries))
        for column in nearest.T:
            near = self._points[column]
            if self._metric.is_flat:
                lengths = np.linalg.norm(queries - near, axis=1)
            else:
                lengths = self._metric.between(queries, near)
            np.maximum(kth, lengths, out=kth)
        return kth


@dataclass(frozen=True)
class Points:
    """Rows in the units of a fitted Gaussian.

    With ``g(x) = 1 / (sqrt(2) sigma(x))`` the exponent of the weight is
    ``-|x - y|^2 g(x) g(y)``, for one sigma and for local ones alike. It is the scalar product of
    ``g(x) [2x, |x|^2, 1]`` and ``g(y) [y, -1, -|y|^2]``, the latter stored as ``factor``.
    If the metric of points is not Euclidean, ``|x - y|`` is their distance in it, and this product
    does not exist.
    """

    coordinates: Array
    inverse_width: Array
    factor: Array
    metric: Metric

    @classmethod
    def prepare(cls, coordinates: Array, inverse_width: Array, metric: Metric) -> Points:
        squared_norm = np.einsum("ij,ij->i", coordinates, coordinates)
        factor = np.column_stack([coordinates, -np.ones(len(coordinates)), -squared_norm])
        with np.errstate(over="ignore"):  # an infinite factor is never used: see exponents_of
            factor *= inverse_width[:, np.newaxis]
        return cls(coordinates, inverse_width, factor, metric)

    def __len__(self) -> int:
        return len(self.coordinates)

    def __getitem__(self, rows: slice | Indices) -> Points:
        return replace(
            self,
            coordinates=self.coordinates[rows],
            inverse_width=self.inverse_width[rows],
            factor=self.factor[rows],
        )

    @property
    def left_factor(self) -> Array:
        left = np.empty_like(self.factor)
        left[:, :-2] = 2 * self.factor[:, :-2]
        left[:, -2] = -self.factor[:, -1]
        left[:, -1] = -self.factor[:, -2]
        return left

    @property
    def norm(self) -> Array:
        return np.sqrt(self.factor[:, -1] / self.factor[:, -2])


def direct_exponents(A: Points, B: Points) -> Array:
    """Compute exponents from differences: slower than a matrix product, but always accurate."""
    from scipy.spatial.distance import cdist

    with np.errstate(over="ignore"):
        if A.metric.is_flat:
            exponents = np.asarray(cdist(A.coordinates, B.coordinates, "sqeuclidean"))
        else:
            exponents = A.metric.all_pairs(A.coordinates, B.coordinates) ** 2
        exponents *= -A.inverse_width[:, np.newaxis]
        exponents *= B.inverse_width
    return exponents


def exponents_of(A: Points, B: Points) -> Array:
    """Return ``-|a - b|^2 g(a) g(b)``, by a matrix product for rows of A where it is accurate."""
    if not A.metric.is_flat:
        return direct_exponents(A, B)
    with np.errstate(over="ignore"):
        reach = (A.norm + B.norm.max()) ** 2 * A.inverse_width * B.inverse_width.max()
    is_risky = ~(reach * EPS < 1e-11)  # the largest error of an exponent
    if is_risky.all():
        return direct_exponents(A, B)
    with np.errstate(invalid="ignore", over="ignore"):  # in risky rows only
        exponents = A.left_factor @ B.factor.T
    risky = np.flatnonzero(is_risky)
    if len(risky):
        exponents[risky] = direct_exponents(A[risky], B)
    return exponents


class Gaussian(VectorAffinity):
    """Gaussian weights ``W(x, y) = exp(-|x - y|^2 / (2 sigma^2))`` on the complete graph.

    Parameters
    ----------
    sigma : float, callable or {"auto", "median", "neighbors", "local"}, default="auto"
        The bandwidth, a function ``sigma(X)`` that returns one for each row, or a rule:

        - ``"median"``: ``scale`` times the median distance between two rows;
        - ``"neighbors"``: ``scale`` times the mean distance from a row to its
          ``n_neighbors``-th nearest row (itself counted as the first);
        - ``"local"``: every row has its own sigma(x), ``scale`` times the distance to its
          ``n_neighbors``-th nearest training row, and ``2 sigma^2`` becomes
          ``2 sigma(x) sigma(y)`` (self-tuning; Zelnik-Manor and Perona, 2004);
        - ``"auto"``: ``"local"``.
    n_neighbors : int, default=10
        Used by the rules "neighbors" and "local". Identical rows count once.
    scale : float or None, default=None
        Factor on the bandwidth of a rule. None is 1/2 for "local" and 1 for the others. A sigma
        given as a number is not scaled.
    metric : str, default="euclidean"
        As for ``GPOD``. Sigma is in its units.

    Attributes
    ----------
    sigma_ : float
        The bandwidth in use (the median one if it is local).
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
    _retired_parameters: ClassVar[dict[str, Any]] = {"density_contrast": 0.0}
    _lowest_exponent: ClassVar[float] = -700.0  # exp() gives normal numbers, and is fast, above
    _complete: ClassVar[float] = 1e-6  # weights that all lie within this of 1 carry no structure

    sigma_: float
    # sigma(x) of the local rule. It is at least a tenth of the median, or rows that nearly coincide
    # would see only each other, and at most the largest, or far rows would see everything.
    _local: Width | None
    _near: Any  # distances of new rows to their k-th nearest point, if sigma is local

    def __init__(
        self,
        sigma: Bandwidth = "auto",
        *,
        n_neighbors: int = 10,
        scale: float | None = None,
        metric: str = "euclidean",
    ) -> None:
        self.sigma = sigma
        self.n_neighbors = n_neighbors
        self.scale = scale
        self.metric = metric

    def _check_parameters(self) -> Bandwidth:
        if not is_integer(self.n_neighbors) or self.n_neighbors < 2:
            expected = "be an integer of at least 2 (a row is its own first neighbour)"
            raise invalid("n_neighbors", expected, repr(self.n_neighbors), "use the default of 10")
        scale: Any = self.scale
        sigma: Any = self.sigma
        if scale is not None and not (is_real(scale) and 0 < scale < math.inf):
            raise invalid("scale", "be a positive number", repr(scale), "leave it out if unsure")
        check_choice("metric", self.metric, tuple(METRICS))
        if (isinstance(sigma, str) and sigma in RULES) or callable(sigma):
            return sigma
        if is_real(sigma) and 0 < sigma <= sys.float_info.max:
            return float(sigma)
        expected = f"be a positive number or one of {', '.join(map(repr, RULES))}"
        raise invalid("sigma", expected, repr(sigma), "use sigma='auto' if unsure")

    def _fit_rows(self, rows: Array) -> None:
        sigma = self._check_parameters()
        warn_about_radians(self.metric, rows)
        # Centring keeps matrix products accurate; scaling by a power of two is exact. Sets and
        # codes are not scaled.
        points = self._metric.points(rows)
        self._center, self._exponent = np.zeros(points.shape[1]), 0
        if self._metric.has_means:
            lowest, highest = points.min(axis=0), points.max(axis=0)
            self._center = lowest / 2 + highest / 2
            self._exponent = int(np.frexp(np.abs(points - self._center).max())[1])
        coordinates = self._in_units(points)
        metric, self._local = self._metric.of_points, None
        factor = 1.0 if self.scale is None else self.scale
        near = NeighborDistances(coordinates, self.n_neighbors, metric)
        if callable(sigma):
            width = float(np.median(self._width_of(rows)))
        elif sigma == "median":
            width = factor * median_distance(coordinates, metric)
        elif sigma == "neighbors":
            width = factor * float(near(coordinates).mean())
        elif sigma in ("local", "auto"):
            distances = near(coordinates)
            least, most = 0.1 * float(np.median(distances)), float(distances.max())
            # For the scale see ``benchmarks/studies/bandwidth.md``.
            self._local = Width(0.5 if self.scale is None else self.scale, least, most)
            width = float(np.median(np.clip(self._local(distances), *SQUARABLE)))
        else:
            width = float(np.ldexp(sigma, -self._exponent))
        self._width = float(np.clip(width, *SQUARABLE))
        self.sigma_ = float(np.ldexp(self._width, self._exponent))
        diagonal = metric.diameter(coordinates)
        if len(self.rows_) > 1 and diagonal**2 / (2 * self._width**2) < self._complete:
            # No cut of a graph whose weights are all 1 is better than another.
            largest = float(np.ldexp(diagonal, self._exponent))
            raise ValueError(
                f"sigma must be small enough to tell rows apart. Got {self._given_sigma:.3g}, "
                f"with which every weight is within {self._complete:g} of 1 (no two rows are "
                f"farther apart than {largest:.3g}); lower it, or use sigma='auto'."
            )
        self._near = near if self._local else None

    @property
    def _given_sigma(self) -> float:
        """The sigma that the user gave as a number, or else the one in use."""
        return float(self.sigma) if isinstance(self.sigma, Real) else self.sigma_

    def _to_units(self, X: Array) -> Array:
        return self._in_units(self._metric.points(X))

    def _in_units(self, points: Array) -> Array:
        if not self._metric.has_means:
            return points
        with np.errstate(over="ignore"):
            coordinates = np.ldexp(points - self._center, -self._exponent)
        return np.asarray(np.clip(coordinates, -SQUARABLE[1], SQUARABLE[1]))

    def _prepare(self, X: Array) -> Points:
        return Points.prepare(
            self._to_units(X),
            inverse_width=1 / (math.sqrt(2) * self._width_of(X)),
            metric=self._metric.of_points,
        )

    def _weights(self, A: Points, B: Points) -> Array:
        weights = exponents_of(A, B)
        np.clip(weights, self._lowest_exponent, 0.0, out=weights)
        np.exp(weights, out=weights)
        return weights

    def exponent_factors(self, X: Array | None = None) -> Array | None:
        if not self._metric.is_flat:  # then exponents are not products
            return None
        return self._training.factor if X is None else self._prepare(X).left_factor

    def _underflowed(self, A: Points, weighted: Array) -> tuple[Array, Array]:
        """Subtract the largest exponent, so that averages tend to the nearest row."""
        exponents = direct_exponents(A, self._training)
        largest = exponents.max(axis=1, keepdims=True)
        largest[~np.isfinite(largest)] = -np.finfo(np.float64).max
        exponents = np.maximum(exponents, largest + self._lowest_exponent) - largest
        return np.exp(exponents) @ weighted, largest[:, 0]

    def _largest_weight(self, weights: SymmetricTiles) -> float:
        return 1.0

    def _state(self, include_training_data: bool = True) -> dict[str, Any]:
        if callable(self.sigma):
            expected = "be a number or a rule for a model to be saved or exported"
            remedy = "fit with sigma='local' or a number"
            raise invalid("sigma", expected, "a function, which is Python code", remedy)
        own = {"center": self._center, "exponent": self._exponent, "width": self._width}
        if self._local is not None:
            limits = {"least": self._local.least, "most": self._local.most}
            own["local"] = limits | {"k": self.n_neighbors, "scale": float(self._local.scale)}
        return super()._state(include_training_data) | own

    def _restore(self, state: StateReader) -> None:
        self._check_parameters()
        super()._restore(state)
        n_coordinates = self._metric.n_coordinates or self.n_columns_
        self._center = state.coordinates("center", (n_coordinates,))
        self._exponent = state.integer("exponent", -1100, 1100)  # beyond every float64
        self._width = float(np.clip(state.number("width"), *SQUARABLE))
        self.sigma_ = float(np.ldexp(self._width, self._exponent))
        self._local, k = None, self.n_neighbors
        if "local" in state:
            local = state.part("local")
            least, scale = local.number("least", least=0.0), local.number("scale", least=0.0)
            k = local.integer("k", 2)  # which can be more than there are rows
            self._local = Width(scale, least, local.number("most", least=least))
        near = NeighborDistances(self._to_units(self.rows_), k, self._metric.of_points)
        self._near = near if self._local else None
        self._training = self._prepare(self.rows_)

    def frozen(self) -> Gaussian:
        sigma: Bandwidth = self.sigma_ if self._local is None else self.local_sigma
        return Gaussian(sigma=sigma, metric=self.metric)

    def local_sigma(self, X: Array) -> Array:
        """Return sigma(x) of each row of X."""
        return np.asarray(np.ldexp(self._width_of(X), self._exponent))

    def _width_of(self, X: Array) -> Array:
        """Return sigma(x), in the units of the coordinates."""
        if callable(self.sigma):
            return np.asarray(np.clip(np.ldexp(self.sigma(X), -self._exponent), *SQUARABLE))
        if self._local is None:
            return np.full(len(X), self._width)
        return np.clip(self._local(self._near(self._to_units(X))), *SQUARABLE)

    def connection_hint(self) -> str:
        if self._local is not None or callable(self.sigma):
            return "Raise n_neighbors or scale, or use a number for sigma."
        return f"Raise sigma (now {self._given_sigma:.3g}), or use sigma='auto'."
