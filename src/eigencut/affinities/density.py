"""Density contrast: weights that count more where rows are dense.

    W'(x, y) = W(x, y) (rho(x) rho(y))^beta

is again a symmetric, positive weight function, so all of the paper applies to it. As n grows, a
cut of a graph of neighbours weighs the density p along its border only like ``p^(1 - 1/d)``: a
short border through a dense neck becomes cheaper than a long one through a sparse gap. The contrast
raises the power, and gaps win (Hoffmann, Hosseini, Oberai and Stuart, 2022).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.validation import is_real
from eigencut.exceptions import invalid
from eigencut.io.state_reader import StateReader

LIMITS = (1e-6, 1e6)  # of densities, in units of the median: no row counts for all, or for nothing
MOST_POWER = 2.0  # of a distance that a density is made of, however many features there are
LEAST_MASS = 0.99e-6  # of a landmark, in units of the largest: the limits, but for rounding


def check_contrast(beta: Any) -> float:
    """Return beta as a float, or say what is wrong with it."""
    most = 4.0  # beyond, a few rows carry all weight
    if not (is_real(beta) and 0 <= beta <= most):
        expected = f"be a number from 0 to {most:g}"
        raise invalid("density_contrast", expected, repr(beta), "use 1, or 0 for none")
    return float(beta)


@dataclass(frozen=True)
class DensityContrast:
    """``rho(x)^beta`` as a function of any row, from its k nearest training rows.

    rho(x) is the mean of ``r_j^-min(d, 2)`` over the k nearest vertices, r_j the distance from
    vertex j to its own k-th nearest: an estimate of the density, smoothed over the neighbours.
    """

    beta: float
    densities: Array  # (n_vertices,): ``r_j^-min(d, 2)`` of each vertex, in units of the median
    factors: Array  # (n_vertices,): ``rho^beta`` of each vertex

    @classmethod
    def fit(cls, radii: Array, numbers: Indices, n_features: int, beta: float) -> DensityContrast:
        """From the distance of each vertex to its k-th nearest, and the k nearest of each."""
        unit = float(np.median(radii[radii > 0])) if radii.any() else 1.0
        with np.errstate(divide="ignore", over="ignore"):
            raw = (radii / unit) ** -min(float(n_features), MOST_POWER)
        densities = np.clip(raw, *LIMITS)
        found = cls(beta, densities, np.empty(0))
        return cls(beta, densities, found.at(numbers))

    def at(self, numbers: Indices) -> Array:
        """``rho(x)^beta`` of rows whose k nearest vertices have these numbers."""
        return np.asarray(self.densities[numbers].mean(axis=1) ** self.beta)

    def _state(self) -> dict[str, Any]:
        return {"beta": self.beta, "densities": self.densities, "factors": self.factors}

    @classmethod
    def _restored(cls, state: StateReader, n_vertices: int) -> DensityContrast:
        beta = state.number("beta", 0.0, 8.0)  # products of weights stay ordinary numbers
        densities = state.array("densities", (n_vertices,), *LIMITS)
        least, most = LIMITS[0] ** beta * (1 - 1e-6), LIMITS[1] ** beta * (1 + 1e-6)
        return cls(beta, densities, state.array("factors", (n_vertices,), least, most))


def landmark_masses(counts: Array, spacing: Array, n_features: int, beta: float) -> Array:
    """``rho^(2 beta)`` at landmarks, at most 1.

    In d dimensions ``counts / s^d`` rows are at a landmark, s being the distance to the landmarks
    around it. As with neighbours rho is the power ``min(d, 2) / d`` of it, of which s is the
    smaller part: what a landmark counts is an average already. ``spacing`` is ``s^2``.

    Examples
    --------
    >>> landmark_masses(np.array([1.0, 2.0, 2.0]), np.array([1.0, 1.0, 2.0]), 2, beta=0.5)
    array([0.5, 1. , 0.5])
    """
    power = min(float(n_features), MOST_POWER)
    with np.errstate(over="ignore", divide="ignore"):
        rho = (counts / np.median(counts)) ** (power / n_features)
        rho *= (spacing / np.median(spacing)) ** (-power / 2)
        rho = np.clip(rho, *LIMITS)
        middle = np.quantile(rho, 0.5, weights=counts, method="inverted_cdf")
        masses = np.clip((rho / middle) ** (2 * beta), 1e-3, 1e3)  # sums have digits
    return np.asarray(masses / masses.max())
