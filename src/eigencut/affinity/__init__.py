"""Affinities: weights as a function of two rows, which make the graph and answer for new rows.

``base`` is the contract. It imports graphs, searches, data and what is below them.
"""

from __future__ import annotations

from collections.abc import Callable

from eigencut.affinity.base import Affinity, Product
from eigencut.affinity.gaussian import Gaussian
from eigencut.affinity.kernel import Kernel
from eigencut.affinity.landmarks import Landmarks
from eigencut.affinity.neighbors import Neighbors
from eigencut.affinity.precomputed import Precomputed
from eigencut.runtime.validation import shown

__all__ = [
    "Affinity",
    "Gaussian",
    "Kernel",
    "Landmarks",
    "Neighbors",
    "Precomputed",
    "Product",
    "named_affinity",
]

# A name stands for an affinity with its defaults.
NAMES: dict[str, Callable[[], Affinity]] = {
    "auto": Gaussian,
    "gaussian": Gaussian,
    "landmarks": Landmarks,
    "neighbors": Neighbors,
    "precomputed": Precomputed,
}


def named_affinity(affinity: object) -> Affinity:
    """Turn what a user may pass as ``affinity=`` into an affinity object.

    Parameters
    ----------
    affinity : str, Affinity or callable
        One of the names in ``NAMES``, an affinity object (returned as it is), or a function
        ``k(A, B)`` that returns the matrix of weights between the rows of A and B.

    Examples
    --------
    >>> named_affinity("gaussian")
    Gaussian()
    """
    if isinstance(affinity, Affinity):
        return affinity
    if isinstance(affinity, str) and affinity in NAMES:
        return NAMES[affinity]()
    if callable(affinity) and not isinstance(affinity, type):
        return Kernel(affinity)
    names = ", ".join(repr(name) for name in NAMES)
    raise ValueError(
        f"affinity must be one of {names}, an affinity object such as Gaussian(sigma=0.5), "
        f"or a function k(A, B). Got {shown(affinity)}; use affinity='auto' if unsure."
    )
