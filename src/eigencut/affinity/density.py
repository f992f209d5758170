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

from eigencut.files.state_reader import StateReader
from eigencut.runtime.arrays import Array, Indices

_LIMITS = (1e-6, 1e6)  # of densities, in units of the median: no row counts for all, or for nothing
_MOST_SAVED = 8.0  # of beta in a file, so that products of weights stay ordinary numbers
_WIDER = (-1e-6, 1e-6)  # than the limits, by rounding
_MOST_POWER = 2.0  # of a distance that a density is made of, however many features there are


@dataclass(frozen=True)
class DensityContrast:
    """``rho(x)^beta`` as a function of any row, from its k nearest training rows.

    rho(x) is the mean of ``r_j^-min(d, 2)`` over the k nearest vertices, r_j the distance from
    vertex j to its own k-th nearest: an estimate of the density, smoothed over the neighbours.

    Attributes
    ----------
    beta : float
    densities : array of shape (n_vertices,)
        ``r_j^-min(d, 2)`` of each vertex, in units of the median.
    factors : array of shape (n_vertices,)
        ``rho^beta`` of each vertex.
    """

    beta: float
    densities: Array
    factors: Array

    @classmethod
    def of(cls, radii: Array, numbers: Indices, n_features: int, beta: float) -> DensityContrast:
        """From the distance of each vertex to its k-th nearest, and the k nearest of each."""
        unit = float(np.median(radii[radii > 0])) if radii.any() else 1.0
        with np.errstate(divide="ignore", over="ignore"):
            raw = (radii / unit) ** -min(float(n_features), _MOST_POWER)
        densities = np.clip(raw, *_LIMITS)
        found = cls(beta, densities, np.empty(0))
        return cls(beta, densities, found.at(numbers))

    def at(self, numbers: Indices) -> Array:
        """``rho(x)^beta`` of rows whose k nearest vertices have these numbers."""
        return np.asarray(self.densities[numbers].mean(axis=1) ** self.beta)

    def _state(self) -> dict[str, Any]:
        return {"beta": self.beta, "densities": self.densities, "factors": self.factors}

    @classmethod
    def _restored(cls, state: StateReader, n_vertices: int) -> DensityContrast:
        beta = state.number("beta", 0.0, _MOST_SAVED)
        densities = state.array("densities", (n_vertices,), *_LIMITS)
        least, most = (
            limit**beta * (1 + wide) for limit, wide in zip(_LIMITS, _WIDER, strict=True)
        )
        return cls(beta, densities, state.array("factors", (n_vertices,), least, most))
