"""The two cuts. Relaxed, both are ``L u = lambda M u``; only the mass M differs.

| cut | mass M | constraint | paper |
|---|---|---|---|
| RatioCut | I | U^T U = I | Eq. 6, Algorithm 1 |
| NCut | D | U^T D U = I | Eq. 7, Algorithm 2 |

Nothing else in the library asks which cut it is working on, but whether its mass is the degree.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from eigencut._utils.arrays import Array


class Cut(ABC):
    """What distinguishes one cut from another: the mass of a point, given its degree."""

    name: str
    mass_power: float  # m(x) = d(x) ** mass_power
    mass_is_degree: bool  # then eigenvalues have no unit
    paper_extension: str  # the extension that the paper's algorithm for this cut uses

    @abstractmethod
    def mass(self, degrees: Array) -> Array:
        """m(x) as a function of d(x); on the training rows, the diagonal of M."""

    @abstractmethod
    def mass_per_degree(self, log_degrees: Array) -> Array:
        """m(x) / d(x) as a function of log d(x), finite even where d(x) underflows."""


class NCut(Cut):
    """Normalized cut: points weigh as much as their degree, m(x) = d(x)."""

    name = "ncut"
    mass_power, mass_is_degree = 1.0, True
    paper_extension = "consistent"  # Algorithm 2 is Eq. 15, the consistent form

    def mass(self, degrees: Array) -> Array:
        # A row without any affinity, not even to itself, still is a point.
        return np.where(degrees > 0, degrees, 1.0)

    def mass_per_degree(self, log_degrees: Array) -> Array:
        return np.ones_like(log_degrees)


class RatioCut(Cut):
    """Ratio cut: all points weigh the same, m(x) = 1."""

    name = "ratiocut"
    mass_power, mass_is_degree = 0.0, False
    paper_extension = "algorithm1"

    def mass(self, degrees: Array) -> Array:
        return np.ones_like(degrees)

    def mass_per_degree(self, log_degrees: Array) -> Array:
        return np.exp(np.minimum(-log_degrees, 690.0))  # exp() of more overflows


CUTS: dict[str, Cut] = {cut.name: cut for cut in (NCut(), RatioCut())}
