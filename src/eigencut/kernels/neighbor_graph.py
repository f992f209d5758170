"""A graph of nearest neighbours as the kernels need it, and the weights of its edges."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from eigencut._utils.arrays import Array

SLACK = 1 + 1e-9  # on radii: the k-th neighbour is within, whatever the rounding
_WIDTHS = (1e-140, 1e140)  # least and most: the product of two is neither 0 nor infinite


@dataclass(frozen=True)
class Width:
    """sigma(x) as a function of r(x): the same for all rows, or ``scale`` times r(x)."""

    scale: float
    least: float
    most: float

    @classmethod
    def of(cls, scale: float, least: float, most: float) -> Width:
        """With limits within which products of two widths stay ordinary numbers."""
        with np.errstate(over="ignore"):
            limits = np.maximum(np.divide(_WIDTHS, scale), np.finfo(np.float64).tiny)
        return cls(scale, float(np.clip(least, *limits)), float(np.clip(most, *limits)))

    def __call__(self, radii: Array) -> Array:
        return self.scale * np.clip(radii, self.least, self.most)


@dataclass(frozen=True)
class EdgeWeight:
    """The weight of two rows as a share in [0, 1] times the exponential of an exponent.

    Attributes
    ----------
    is_mutual : bool
        Whether each must have the other within its radius; otherwise one of them is half the share.
    width : Width or None
        None is an exponent of 0.
    """

    is_mutual: bool
    width: Width | None

    def __call__(self, distances: Array, r_x: Array, r_y: Array) -> tuple[Array, Array]:
        """Share and exponent of rows with these distances and radii."""
        in_x, in_y = distances <= r_x * SLACK, distances <= r_y * SLACK
        share = (in_x & in_y).astype(float) if self.is_mutual else (in_x + in_y.astype(float)) / 2
        if self.width is None:
            return share, np.zeros_like(share)
        with np.errstate(over="ignore"):
            return share, -(distances**2) / (2 * self.width(r_x) * self.width(r_y))


@dataclass(frozen=True)
class NeighborGraph:
    """Vertices, and which of them have each other among their nearest.

    Attributes
    ----------
    vertices : array or sparse array of shape (n, n_features)
    radii : array of shape (n,)
        Distance of each vertex to its k-th nearest.
    reverse : sparse array of shape (n, n)
        Of each vertex those that have it among their nearest.
    weight : EdgeWeight
    distances : function
        Of two sets of rows, distances from each row of the one to the same row of the other.
    is_euclidean : bool
        Whether these are the lengths of differences.
    """

    vertices: Any
    radii: Array
    reverse: Any
    weight: EdgeWeight
    distances: Callable[[Any, Any], Array]
    is_euclidean: bool
