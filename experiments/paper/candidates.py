"""The label-free candidates: a preprocessing, a rule for sigma, and a scale on a regular grid."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from eigencut.affinities import Gaussian

# The scales of each rule: from graphs in pieces to graphs in which a row sees most others.
SCALES = {"local": (1 / 8, 2.0), "neighbors": (1 / 16, 2.0)}
STANDARDIZE, UNIT_ROWS = "standardize", "unit rows"

# Ratio of two scales of the grid, for each preprocessing: fine for the one to use where features
# have different units, coarse for those that the choice never takes.
FULL_RATIOS = {"none": 8.0, "min-max": 8.0, STANDARDIZE: 2**0.5, UNIT_ROWS: 2.0}
QUICK_RATIOS = {"none": 16.0, "min-max": 16.0, STANDARDIZE: 2.0, UNIT_ROWS: 4.0}


class Candidate(NamedTuple):
    """One way to make the graph that needs no labels."""

    preprocessing: str
    kind: str  # "local" or "neighbors"; see ``Gaussian``
    scale: float

    @property
    def rule(self) -> str:
        """Its name in the tables.

        Examples
        --------
        >>> Candidate("standardize", "local", 0.5).rule
        'local, scale 0.5'
        """
        return f"{self.kind}, scale {self.scale:.3g}"

    def affinity(self) -> Gaussian:
        return Gaussian(self.kind, scale=self.scale)


def candidates(ratios: Mapping[str, float]) -> tuple[Candidate, ...]:
    """Every preprocessing with every rule and every scale of its grid.

    Examples
    --------
    >>> [c.rule for c in candidates({"none": 4.0})][:3]
    ['local, scale 0.125', 'local, scale 0.5', 'local, scale 2']
    """
    return tuple(
        Candidate(preprocessing, kind, round(float(scale), 4))
        for preprocessing, ratio in ratios.items()
        for kind, (lowest, highest) in SCALES.items()
        for scale in lowest * ratio ** np.arange(_steps(highest / lowest, ratio) + 1)
    )


def _steps(span: float, ratio: float) -> int:
    return int(np.log(span) / np.log(ratio) + 1e-9)
