"""What the parameters of a graph of neighbours may be, and errors for what they may not."""

from __future__ import annotations

from inspect import signature
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import sparse

from eigencut.affinity.density import check_contrast
from eigencut.runtime.validation import check_choice
from eigencut.runtime.warn import warn_user
from eigencut.search.build import INDEXES, allowed_indexes
from eigencut.search.metrics import METRICS

GRAPHS = ("symmetric", "mutual")
WIDTHS = ("local", "gaussian", "binary")


def check_neighbor_parameters(affinity: Any, X: Any) -> None:
    """Refuse parameters of ``Neighbors`` that are none, or none for rows like X."""
    k, is_auto = affinity.n_neighbors, affinity.n_neighbors == "auto"
    if not is_auto and (not isinstance(k, Integral) or isinstance(k, bool) or k < 2):
        raise ValueError(
            "n_neighbors must be 'auto' or an integer of at least 2 (a row is its own first "
            f"neighbour). Got {k!r}; use 'auto' if unsure."
        )
    is_number = isinstance(affinity.scale, Real) and not isinstance(affinity.scale, bool)
    if not (is_number and 0 < affinity.scale < np.inf):
        raise ValueError(f"scale must be a positive number. Got {affinity.scale!r}; use 1.")
    check_contrast(affinity.density_contrast)
    for name, choices in (
        ("graph", GRAPHS),
        ("weights", WIDTHS),
        ("metric", tuple(METRICS)),
        ("index", INDEXES),
    ):
        check_choice(name, getattr(affinity, name), choices)
    if affinity.index not in ("auto", *allowed_indexes(affinity.metric, is_sparse=False)):
        possible = [name for name in METRICS if affinity.index in allowed_indexes(name, False)]
        raise ValueError(
            f"metric must be {' or '.join(map(repr, possible))} with index={affinity.index!r}. "
            f"Got {affinity.metric!r}; use index='brute'."
        )
    takes_sparse = METRICS[affinity.metric].takes_sparse
    if sparse.issparse(X) and not (takes_sparse and affinity.index in ("auto", "brute")):
        raise ValueError(
            "X must be dense with this metric and index. Got a sparse X with "
            f"metric={affinity.metric!r} and index={affinity.index!r}; use metric='euclidean' or "
            "'cosine' and index='brute', or X.toarray()."
        )


def warn_about_many_neighbors(given: Any, n_vertices: int) -> None:
    """A warning where a user asked for more neighbours than there are different rows."""
    asked, sigma = getattr(given, "n_neighbors", None), getattr(given, "sigma", "auto")
    uses_it = isinstance(sigma, str) and sigma != "median"
    if isinstance(given, str) or not isinstance(asked, Integral) or not uses_it:
        return
    is_default = asked == signature(type(given)).parameters["n_neighbors"].default
    if int(asked) > n_vertices and not is_default:
        warn_user(
            f"n_neighbors is {asked}, but there are only {n_vertices} different rows: all of them "
            f"are neighbours of each other, as with n_neighbors={n_vertices}."
        )
