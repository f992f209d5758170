"""The two cuts. Relaxed, both are ``L u = lambda M u``; only the mass M differs.

| cut | mass M | constraint | paper |
|---|---|---|---|
| RatioCut | I | U^T U = I | Eq. 6, Algorithm 1 |
| NCut | D | U^T D U = I | Eq. 7, Algorithm 2 |

All other code only asks whether the mass is the degree (``mass_is_degree``), not which cut it is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eigencut._utils.arrays import Array


@dataclass(frozen=True)
class Cut:
    """What distinguishes NCut from RatioCut: the mass of a point as a function of its degree."""

    name: str
    mass_power: float  # m(x) = d(x) ** mass_power: 1 or 0
    paper_extension: str  # the extension that the paper's algorithm for this cut uses

    @property
    def mass_is_degree(self) -> bool:
        """Whether m(x) = d(x); then eigenvalues do not depend on the scale of the weights."""
        return self.mass_power == 1.0

    def mass(self, degrees: Array) -> Array:
        """Return m(x) for degrees d(x); on the training rows, it is the diagonal of M."""
        # A row whose weights are all 0, even the one to itself, has mass 1.
        return np.where(self.mass_is_degree & (degrees > 0), degrees, 1.0)

    def mass_per_degree(self, log_degrees: Array) -> Array:
        """Return m(x) / d(x) for logarithms of d(x), finite even where d(x) underflows."""
        if self.mass_is_degree:
            return np.ones_like(log_degrees)
        return np.exp(np.minimum(-log_degrees, 690.0))  # exp() of more overflows


CUTS = {
    "ncut": Cut("ncut", 1.0, paper_extension="consistent"),  # Algorithm 2 is Eq. 15
    "ratiocut": Cut("ratiocut", 0.0, paper_extension="algorithm1"),
}
