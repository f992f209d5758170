"""Affinities: weights as a function of two rows, which make the graph and answer for new rows.

- ``base``: the contract (``Affinity``), what affinities of rows share, density contrast
- ``gaussian``: the paper's Gaussian on the complete graph, and its bandwidths
- ``neighbors``: ``Neighbors`` and ``RankedNeighbors``, sparse graphs of nearest rows
- ``landmarks``: ``Landmarks``, for streams and very many rows; how they grow with more rows
- ``given``: weights that a user gives: ``Kernel``, ``Precomputed``
"""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches

from eigencut._utils.validation import check_choice, shown
from eigencut.affinities.base import Affinity, Product
from eigencut.affinities.gaussian import Gaussian
from eigencut.affinities.given import Kernel, Precomputed
from eigencut.affinities.landmarks import Landmarks
from eigencut.affinities.neighbors import Neighbors, RankedNeighbors
from eigencut.neighbors.metrics import METRICS

__all__ = [
    "Affinity",
    "Gaussian",
    "Kernel",
    "Landmarks",
    "Neighbors",
    "Precomputed",
    "Product",
    "RankedNeighbors",
    "named_affinity",
    "refuse_metric_of_no_numbers",
]

# A name stands for an affinity with its defaults; "auto" is decided by the rows (``auto.choose``).
NAMES: dict[str, Callable[..., Affinity]] = {
    "gaussian": Gaussian,
    "landmarks": Landmarks,
    "neighbors": Neighbors,
    "precomputed": Precomputed,
}


def named_affinity(affinity: object, metric: str | None = None) -> Affinity:
    """Turn what a user may pass as ``affinity=`` into an affinity object.

    Parameters
    ----------
    affinity : str, Affinity or callable
        One of the names in ``NAMES``, an affinity object (returned as it is), or a function
        ``k(A, B)`` that returns the matrix of weights between the rows of A and B. "auto" is
        ``Neighbors`` here, where there are no rows to decide by.
    metric : str, optional
        Of the affinity that a name stands for; an object must have the same.
    """
    if metric is not None:
        check_choice("metric", metric, tuple(METRICS))
        _refuse_other_metric(affinity, metric)
    if isinstance(affinity, Affinity):
        return affinity
    if isinstance(affinity, str) and affinity in (*NAMES, "auto"):
        kind = NAMES.get(affinity, Neighbors)
        return kind() if metric is None else kind(metric=metric)
    if callable(affinity) and not isinstance(affinity, type):
        return Kernel(affinity)
    names = ", ".join(repr(name) for name in ("auto", *NAMES))
    remedy = "use affinity='auto' if unsure"
    if isinstance(affinity, str) and (meant := _meant(affinity)):
        remedy = f"use affinity={meant!r}"
    raise ValueError(
        f"affinity must be one of {names}, an affinity object such as Gaussian(sigma=0.5), "
        f"or a function k(A, B). Got {shown(affinity)}; {remedy}."
    )


def _meant(name: str) -> str | None:
    """Return the name that other packages, or a slip of the keyboard, have for an affinity."""
    elsewhere = {
        "rbf": "gaussian",
        "nearest_neighbors": "neighbors",
        "knn": "neighbors",
        "precomputed_nearest_neighbors": "precomputed",
    }
    near = get_close_matches(name.lower(), ("auto", *NAMES), n=1)
    return elsewhere.get(name.lower(), near[0] if near else None)


def _refuse_other_metric(affinity: object, metric: str) -> None:
    """An error where an affinity has another metric, or none."""
    if isinstance(affinity, str) and affinity in ({*NAMES, "auto"} - {"precomputed"}):
        return
    own = getattr(affinity, "metric", None)
    if own is None:
        raise ValueError(
            "metric must be None with an affinity that has no metric: a matrix, or a function. "
            f"Got {metric!r}; leave it out, or use affinity='neighbors'."
        )
    if own != metric:
        name = type(affinity).__name__
        raise ValueError(
            f"metric must be that of the affinity, {own!r}, or None. Got {metric!r}; use "
            f"affinity={name}(..., metric={metric!r})."
        )


def refuse_metric_of_no_numbers(affinity: object, what: str, remedy: str) -> None:
    """An error where ``what`` compares rows with normal ones, and these are sets or codes."""
    metric = getattr(affinity, "metric", "euclidean")
    if metric in METRICS and not METRICS[metric].of_numbers:
        possible = " or ".join(repr(name) for name, one in METRICS.items() if one.of_numbers)
        raise ValueError(
            f"metric must be {possible} for {what}, which compares the rows with normal ones. "
            f"Got {metric!r}; use {remedy}."
        )
