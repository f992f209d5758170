"""Exponents of Gaussian weights between points: by a matrix product, or by direct differences."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eigencut.runtime.arrays import Array, Indices
from eigencut.search.metrics import METRICS, Metric

_EXPONENT_ERROR = 1e-11  # tolerated error of an exponent computed by a matrix product
_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Points:
    """Rows in the units of a fitted Gaussian.

    With ``g(x) = 1 / (sqrt(2) sigma(x))`` the exponent of the weight is
    ``-|x - y|^2 g(x) g(y)``, for one sigma and for local ones alike; and it is the plain product of
    ``g(x) [2x, |x|^2, 1]`` and ``g(y) [y, -1, -|y|^2]``, the latter stored as ``factor``.
    ``contrast`` is ``rho(x)^beta``, None without density contrast. Where the metric between points
    is not Euclidean, ``|x - y|`` is its distance, and there is no such product.
    """

    coordinates: Array
    inverse_width: Array
    factor: Array
    contrast: Array | None
    metric: Metric

    @classmethod
    def of(
        cls,
        coordinates: Array,
        inverse_width: Array,
        contrast: Array | None,
        metric: Metric = METRICS["euclidean"],
    ) -> Points:
        squared_norm = np.einsum("ij,ij->i", coordinates, coordinates)
        factor = np.column_stack([coordinates, -np.ones(len(coordinates)), -squared_norm])
        with np.errstate(over="ignore"):  # an infinite factor is never used: see exponents_of
            factor *= inverse_width[:, np.newaxis]
        return cls(coordinates, inverse_width, factor, contrast, metric)

    def __len__(self) -> int:
        return len(self.coordinates)

    def __getitem__(self, rows: slice | Indices) -> Points:
        contrast = None if self.contrast is None else self.contrast[rows]
        of_rows = self.coordinates[rows], self.inverse_width[rows], self.factor[rows]
        return Points(*of_rows, contrast, self.metric)

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
    """Exponents from direct differences: slower than a matrix product, and always accurate."""
    with np.errstate(over="ignore"):
        exponents = _squared_distances(A, B)
        exponents *= -A.inverse_width[:, np.newaxis]
        exponents *= B.inverse_width
    return exponents


def _squared_distances(A: Points, B: Points) -> Array:
    if not A.metric.is_flat:
        return A.metric.all_pairs(A.coordinates, B.coordinates) ** 2
    from scipy.spatial.distance import cdist

    return np.asarray(cdist(A.coordinates, B.coordinates, "sqeuclidean"))


def exponents_of(A: Points, B: Points) -> Array:
    """``-|a - b|^2 g(a) g(b)``, by one matrix product wherever that is accurate.

    ``|a|^2 - 2ab + |b|^2`` cancels when the points are far out compared to sigma. Whether it may be
    used is decided for each row of A by itself, so that a row's weights do not depend on its
    company.
    """
    if not A.metric.is_flat:
        return direct_exponents(A, B)
    with np.errstate(over="ignore"):
        reach = (A.norm + B.norm.max()) ** 2 * A.inverse_width * B.inverse_width.max()
    is_risky = ~(reach * _EPS < _EXPONENT_ERROR)
    if is_risky.all():
        return direct_exponents(A, B)
    with np.errstate(invalid="ignore", over="ignore"):  # in risky rows only
        exponents = A.left_factor @ B.factor.T
    risky = np.flatnonzero(is_risky)
    if len(risky):
        exponents[risky] = direct_exponents(A[risky], B)
    return exponents
