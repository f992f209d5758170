"""Affinities, the weights of two rows: Gaussian, Kernel, Neighbors, Landmarks, Precomputed."""

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

__all__ = ["Affinity", "Gaussian", "Kernel", "Landmarks", "Neighbors", "Precomputed"]
__all__ += ["Product", "RankedNeighbors", "named_affinity", "refuse_metric_of_no_numbers"]

# A name stands for an affinity with its defaults; ``auto.choose`` replaces "auto", given rows.
NAMES: dict[str, Callable[..., Affinity]] = {
    "gaussian": Gaussian,
    "landmarks": Landmarks,
    "neighbors": Neighbors,
    "precomputed": Precomputed,
}


def named_affinity(affinity: object, metric: str | None = None) -> Affinity:
    """Turn what a user may pass as ``affinity=`` into an affinity object.

    Without rows to choose by, "auto" becomes ``Neighbors``. A named affinity gets ``metric``; an
    affinity object must have this metric already.
    """
    if metric is not None:
        check_choice("metric", metric, tuple(METRICS))
        own = getattr(affinity, "metric", None)
        if isinstance(affinity, str) and affinity in ({*NAMES, "auto"} - {"precomputed"}):
            own = metric
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
    if isinstance(affinity, Affinity):
        return affinity
    if isinstance(affinity, str) and affinity in (*NAMES, "auto"):
        kind = NAMES.get(affinity, Neighbors)
        return kind() if metric is None else kind(metric=metric)
    if callable(affinity) and not isinstance(affinity, type):
        return Kernel(affinity)
    names = ", ".join(repr(name) for name in ("auto", *NAMES))
    word = "gaussian" if affinity == "rbf" else str(affinity).lower()  # scikit-learn's name
    near = get_close_matches(word, ("auto", *NAMES), n=1)
    remedy = f"use affinity={near[0]!r}" if near else "use affinity='auto' if unsure"
    if isinstance(affinity, type) and issubclass(affinity, Affinity):
        remedy = f"write affinity={affinity.__name__}()"
    raise ValueError(
        f"affinity must be one of {names}, an affinity object such as Gaussian(sigma=0.5), "
        f"or a function k(A, B). Got {shown(affinity)}; {remedy}."
    )


def refuse_metric_of_no_numbers(affinity: object) -> None:
    """Raise an error for sets and codes, which ``significance`` cannot compare with normal rows."""
    metric = getattr(affinity, "metric", "euclidean")
    if metric in METRICS and not METRICS[metric].of_numbers:
        possible = " or ".join(repr(name) for name, one in METRICS.items() if one.of_numbers)
        raise ValueError(
            f"metric must be {possible} for significance, which compares the rows with normal "
            f"ones. Got {metric!r}; use eigencut.inspection.stability."
        )
