"""The Gaussian weight function of the paper, on the complete graph."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from eigencut.affinity.bandwidth import (
    WIDTH_LIMITS,
    Bandwidth,
    LocalWidth,
    NeighborDistances,
    check_bandwidth,
    longest_spanning_edge,
    median_distance,
)
from eigencut.affinity.density import DensityContrast, check_contrast
from eigencut.affinity.vectors import VectorAffinity
from eigencut.files.state_reader import StateReader
from eigencut.graph.tiles import SymmetricTiles
from eigencut.runtime.arrays import Array, Indices

_LOWEST_EXPONENT = -700.0  # exp() gives normal numbers, and is fast, above this
_EXPONENT_ERROR = 1e-11  # tolerated error of an exponent computed by a matrix product
_COMPLETE = 1e-6  # weights that all lie within this of 1 carry no structure
_LOCAL_SCALE = 0.5  # see benchmarks/studies/bandwidth.md
_EPS = float(np.finfo(np.float64).eps)
_MOST_EXPONENT = 1100  # of two, in a file: beyond every float64
_FARTHEST = 1e140  # coordinates are clipped here, so that squares stay finite


@dataclass(frozen=True)
class _Points:
    """Rows in the units of a fitted Gaussian.

    With ``g(x) = 1 / (sqrt(2) sigma(x))`` the exponent of the weight is
    ``-|x - y|^2 g(x) g(y)``, for one sigma and for local ones alike; and it is the plain product of
    ``g(x) [2x, |x|^2, 1]`` and ``g(y) [y, -1, -|y|^2]``, the latter stored as ``factor``.
    ``contrast`` is ``rho(x)^beta``, None without density contrast.
    """

    coordinates: Array
    inverse_width: Array
    factor: Array
    contrast: Array | None

    @classmethod
    def of(cls, coordinates: Array, inverse_width: Array, contrast: Array | None) -> _Points:
        squared_norm = np.einsum("ij,ij->i", coordinates, coordinates)
        factor = np.column_stack([coordinates, -np.ones(len(coordinates)), -squared_norm])
        with np.errstate(over="ignore"):  # an infinite factor is never used: see _exponents
            factor *= inverse_width[:, np.newaxis]
        return cls(coordinates, inverse_width, factor, contrast)

    def __len__(self) -> int:
        return len(self.coordinates)

    def __getitem__(self, rows: slice | Indices) -> _Points:
        contrast = None if self.contrast is None else self.contrast[rows]
        of_rows = self.coordinates[rows], self.inverse_width[rows], self.factor[rows]
        return _Points(*of_rows, contrast)

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


def _direct_exponents(A: _Points, B: _Points) -> Array:
    """Exponents from direct differences: slower than a matrix product, and always accurate."""
    from scipy.spatial.distance import cdist

    with np.errstate(over="ignore"):
        exponents = cdist(A.coordinates, B.coordinates, "sqeuclidean")
        exponents *= -A.inverse_width[:, np.newaxis]
        exponents *= B.inverse_width
    return np.asarray(exponents)


def _exponents(A: _Points, B: _Points) -> Array:
    """``-|a - b|^2 g(a) g(b)``, by one matrix product wherever that is accurate.

    ``|a|^2 - 2ab + |b|^2`` cancels when the points are far out compared to sigma. Whether it may be
    used is decided for each row of A by itself, so that a row's weights do not depend on its
    company.
    """
    with np.errstate(over="ignore"):
        reach = (A.norm + B.norm.max()) ** 2 * A.inverse_width * B.inverse_width.max()
    is_risky = ~(reach * _EPS < _EXPONENT_ERROR)
    if is_risky.all():
        return _direct_exponents(A, B)
    with np.errstate(invalid="ignore", over="ignore"):  # in risky rows only
        exponents = A.left_factor @ B.factor.T
    risky = np.flatnonzero(is_risky)
    if len(risky):
        exponents[risky] = _direct_exponents(A[risky], B)
    return exponents


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
    ) -> None:
        self.sigma = sigma
        self.n_neighbors = n_neighbors
        self.scale = scale
        self.density_contrast = density_contrast

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
        return check_bandwidth(self.sigma)

    def _fit_rows(self, rows: Array) -> None:
        sigma = self._check_parameters()
        # Centring keeps matrix products accurate; scaling by a power of two is exact and keeps
        # squares away from overflow and underflow whatever the user's units.
        lowest, highest = rows.min(axis=0), rows.max(axis=0)
        self._center = lowest / 2 + highest / 2
        self._exponent = int(np.frexp(np.abs(rows - self._center).max())[1])
        coordinates = self._to_units(rows)
        self._local: LocalWidth | None = None
        factor = 1.0 if self.scale is None else self.scale
        if callable(sigma):
            width = float(np.median(self._width_of(rows)))
        elif sigma == "median":
            width = factor * median_distance(coordinates)
        elif sigma == "neighbors":
            distances = NeighborDistances(coordinates, self.n_neighbors)(coordinates)
            width = factor * float(distances.mean())
        elif sigma in ("local", "auto"):
            self._local = LocalWidth.of(coordinates, self.n_neighbors, self._local_scale)
            width = float(np.median(self._local.at_points))
        else:
            width = float(np.ldexp(sigma, -self._exponent))
        self._width = float(np.clip(width, *WIDTH_LIMITS))
        self.sigma_ = float(np.ldexp(self._width, self._exponent))
        self._refuse_complete_graph(float(np.linalg.norm(np.ptp(coordinates, axis=0))))
        self._contrast = self._fitted_contrast(coordinates)

    def _fitted_contrast(self, coordinates: Array) -> DensityContrast | None:
        """rho, from the distances to ``n_neighbors`` rows, whatever the bandwidth."""
        if callable(self.density_contrast) or not self.density_contrast:
            return None
        self._near = NeighborDistances(coordinates, self.n_neighbors)
        radii, numbers = self._near(coordinates), self._near.nearest(coordinates)
        beta = float(self.density_contrast)
        return DensityContrast.of(radii, numbers, coordinates.shape[1], beta)

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
        with np.errstate(over="ignore"):
            coordinates = np.ldexp(X - self._center, -self._exponent)
        return np.asarray(np.clip(coordinates, -_FARTHEST, _FARTHEST))

    def _prepare(self, X: Array) -> _Points:
        inverse_width = 1 / (math.sqrt(2) * self._width_of(X))
        return _Points.of(self._to_units(X), inverse_width, self._contrast_of(X))

    def _weights(self, A: _Points, B: _Points) -> Array:
        weights = _exponents(A, B)
        np.clip(weights, _LOWEST_EXPONENT, 0.0, out=weights)
        np.exp(weights, out=weights)
        if A.contrast is not None and B.contrast is not None:
            weights *= A.contrast[:, np.newaxis]
            weights *= B.contrast
        return weights

    def exponent_factors(self, X: Array | None = None) -> Array | None:
        if self._training.contrast is not None:  # the weights are no bare exponentials
            return None
        return self._training.factor if X is None else self._prepare(X).left_factor

    def _underflowed(self, A: _Points, weighted: Array) -> tuple[Array, Array]:
        """Subtract the largest exponent: the weighted average tends to the nearest row."""
        exponents = _direct_exponents(A, self._training)
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
        self._center = state.coordinates("center", (self.n_columns_,))
        self._exponent = state.integer("exponent", -_MOST_EXPONENT, _MOST_EXPONENT)
        self._width = float(np.clip(state.number("width"), *WIDTH_LIMITS))
        self.sigma_ = float(np.ldexp(self._width, self._exponent))
        self._local = None
        if "local" in state:
            local = state.part("local")
            least, scale = local.number("least", least=0.0), local.number("scale", least=0.0)
            distances = NeighborDistances(self._to_units(self.rows_), local.integer("k", least=2))
            self._local = LocalWidth(distances, scale, least, local.number("most", least=least))
        self._contrast = None
        if "contrast" in state:
            self._near = NeighborDistances(self._to_units(self.rows_), self.n_neighbors)
            self._contrast = DensityContrast._restored(state.part("contrast"), len(self.rows_))
        self._training = self._prepare(self.rows_)

    def frozen(self) -> Gaussian:
        sigma: Bandwidth = self.sigma_ if self._local is None else self.local_sigma
        contrast = 0.0 if self._training.contrast is None else self.contrast_factors
        return Gaussian(sigma=sigma, density_contrast=contrast)

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

    def connection_hint(self) -> str:
        if self._local is not None or callable(self.sigma):
            return "Raise n_neighbors or scale, or use a number for sigma."
        edge = longest_spanning_edge(self._training.coordinates)
        connecting = float(np.ldexp(edge, self._exponent)) / math.sqrt(-2 * math.log(_EPS))
        return (
            f"Any sigma above {connecting:.3g} connects them (now {self._asked:.3g}); "
            "sigma='auto' chooses one."
        )
