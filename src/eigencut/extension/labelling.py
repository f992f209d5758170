"""Labels of new rows: in single precision wherever that cannot change a label.

A row's label is the largest coordinate of ``u(x) R``. Where the two largest differ by more than the
error bound of single precision, the label is that of double precision; the other rows, mostly few
of them near the boundary of two clusters, are computed again in double precision.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from eigencut.discretization import assign, normalize_rows
from eigencut.extension.eigenfunctions import CHUNK_ROWS, Eigenfunctions, SinglePrecisionValues
from eigencut.runtime.arrays import Array, Indices
from eigencut.runtime.threads import for_each

OUTLIER = -1

_EXACT_ROWS = 1 << 15  # of a chunk in double precision
_TIE = 1e-8  # relative difference of two scores that double precision might call a tie
_CLOSE_SUPPORT = 1e-8  # likewise of a support and the least support


def scores_and_support(functions: Eigenfunctions, rotation: Array, X: Array) -> tuple[Array, Array]:
    """The coordinate of each row along each cluster, and its support log d(x)."""
    U, support = functions.with_support(X)
    return normalize_rows(U) @ rotation, support


def label_rows(
    functions: Eigenfunctions,
    rotation: Array,
    X: Array,
    least_support: float = -math.inf,
) -> Indices:
    """The cluster of each row of X, or ``OUTLIER`` where the support lies below the least."""

    def exact_labels(rows: Array) -> Indices:
        scores, support = scores_and_support(functions, rotation, rows)
        return np.where(support < least_support, OUTLIER, assign(scores))

    if not functions.single_precision_pays(X.shape[0]):
        return _in_chunks(exact_labels, X)
    labels = np.empty(len(X), dtype=np.intp)
    is_certain = np.empty(len(X), dtype=bool)

    def fill(start: int) -> None:
        rows = slice(start, start + CHUNK_ROWS)
        labels[rows], is_certain[rows] = _single_precision_labels(
            functions.single_precision_values(X[rows]), rotation, least_support
        )

    for_each(fill, range(0, len(X), CHUNK_ROWS))
    doubtful = np.flatnonzero(~is_certain)
    labels[doubtful] = exact_labels(X[doubtful])
    return labels


def _in_chunks(labels_of: Callable[[Array], Indices], X: Array) -> Indices:
    """Labels of few rows at once, of many in chunks, each by one thread."""
    if X.shape[0] <= _EXACT_ROWS:
        return labels_of(X)
    labels = np.empty(X.shape[0], dtype=np.intp)

    def fill(start: int) -> None:
        rows = slice(start, start + _EXACT_ROWS)
        labels[rows] = labels_of(X[rows])

    for_each(fill, range(0, X.shape[0], _EXACT_ROWS))
    return labels


def _single_precision_labels(
    rough: SinglePrecisionValues, rotation: Array, least_support: float
) -> tuple[Indices, Array]:
    """Labels in single precision, and whether they are certain."""
    scores = rough.values @ rotation
    every = np.arange(len(scores))
    labels = np.argmax(scores, axis=1)
    best = scores[every, labels]
    scores[every, labels] = -np.inf
    lead = best - scores.max(axis=1)
    # The difference of two columns of a rotation has length sqrt(2).
    doubt = math.sqrt(2) * rough.error + _TIE * np.linalg.norm(rough.values, axis=1)
    distance = np.abs(rough.log_degrees - least_support)
    is_certain = (lead > doubt) & (distance > 2 * rough.degree_error + _CLOSE_SUPPORT)
    return np.where(rough.log_degrees < least_support, OUTLIER, labels), is_certain
