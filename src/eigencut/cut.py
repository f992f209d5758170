"""The two cuts. Relaxed, both are ``L u = lambda M u``; only the mass M differs.

| cut | mass M | constraint | paper |
|---|---|---|---|
| RatioCut | I | U^T U = I | Eq. 6, Algorithm 1 |
| NCut | D | U^T D U = I | Eq. 7, Algorithm 2 |

Nothing else in the library asks which cut it is working on, but whether its mass is the degree.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eigencut._utils.arrays import Array


@dataclass(frozen=True)
class Cut:
    """What distinguishes one cut from another: the mass of a point, given its degree."""

    name: str
    mass_power: float  # m(x) = d(x) ** mass_power: 1 or 0
    paper_extension: str  # the extension that the paper's algorithm for this cut uses

    @property
    def mass_is_degree(self) -> bool:
        """Whether m(x) = d(x); then eigenvalues have no unit."""
        return self.mass_power == 1.0

    def mass(self, degrees: Array) -> Array:
        """m(x) as a function of d(x); on the training rows, the diagonal of M."""
        # A row without any affinity, not even to itself, still is a point.
        return np.where(self.mass_is_degree & (degrees > 0), degrees, 1.0)

    def mass_per_degree(self, log_degrees: Array) -> Array:
        """m(x) / d(x) as a function of log d(x), finite even where d(x) underflows."""
        if self.mass_is_degree:
            return np.ones_like(log_degrees)
        return np.exp(np.minimum(-log_degrees, 690.0))  # exp() of more overflows


CUTS = {
    "ncut": Cut("ncut", 1.0, paper_extension="consistent"),  # Algorithm 2 is Eq. 15
    "ratiocut": Cut("ratiocut", 0.0, paper_extension="algorithm1"),
}
