"""Labels of new rows: in single precision wherever that cannot change a label.

A row's label is the largest coordinate of ``u(x) R``. Where the two largest differ by more than the
error bound of single precision, the label is that of double precision; the other rows, mostly few
of them near the boundary of two clusters, are computed again in double precision.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigencut.discretization import TIE, assign, normalize_rows
from eigencut.extension.eigenfunctions import CHUNK_ROWS, Eigenfunctions, SinglePrecisionValues
from eigencut.runtime.arrays import Array, Indices
from eigencut.runtime.threads import for_each

Mask = NDArray[np.bool_]

OUTLIER = -1

_EXACT_ROWS = 1 << 15  # of a chunk in double precision
_TIE = 1e-8  # relative difference of two scores that double precision might call a tie
_CLOSE_SUPPORT = 1e-8  # likewise of a support and the least support


def scores_and_support(functions: Eigenfunctions, rotation: Array, X: Array) -> tuple[Array, Array]:
    """The coordinate of each row along each cluster, and its support log d(x)."""
    U, support = functions.with_support(X)
    return normalize_rows(U) @ rotation, support


def is_outlier(support: Array, least_support: float) -> Mask:
    """Where the support lies below the least, by more than rounding."""
    return np.asarray(support < least_support - TIE)


def label_rows(
    functions: Eigenfunctions,
    rotation: Array,
    X: Array,
    least_support: float = -math.inf,
) -> Indices:
    """The cluster of each row of X, or ``OUTLIER`` where the support lies below the least."""

    def exact(rows: Array) -> Indices:
        scores, support = scores_and_support(functions, rotation, rows)
        return np.where(is_outlier(support, least_support), OUTLIER, assign(scores))

    def rough(values: SinglePrecisionValues) -> tuple[Indices, Mask]:
        _, labels, is_certain = certain_labels(values, rotation)
        distance = np.abs(values.log_degrees - least_support)
        is_certain &= distance > 2 * values.degree_error + _CLOSE_SUPPORT
        return np.where(is_outlier(values.log_degrees, least_support), OUTLIER, labels), is_certain

    labels = np.empty(X.shape[0], dtype=np.intp)
    return in_cheapest_precision(functions, X, labels, exact, rough)


def in_cheapest_precision(
    functions: Eigenfunctions,
    X: Array,
    answers: NDArray[Any],
    exact: Callable[[Array], NDArray[Any]],
    rough: Callable[[SinglePrecisionValues], tuple[NDArray[Any], Mask]],
) -> NDArray[Any]:
    """Fill ``answers``, one for each row, in single precision where it is as good as double.

    ``exact`` answers for rows; ``rough`` for values in single precision, and says of which it is
    certain. The others, and all rows where single precision does not pay, are answered by
    ``exact``.
    """
    if not functions.single_precision_pays(X.shape[0]):
        return _in_chunks(exact, X, answers)
    is_certain = np.empty(len(X), dtype=bool)

    def fill(start: int) -> None:
        rows = slice(start, start + CHUNK_ROWS)
        answers[rows], is_certain[rows] = rough(functions.single_precision_values(X[rows]))

    for_each(fill, range(0, len(X), CHUNK_ROWS))
    doubtful = np.flatnonzero(~is_certain)
    answers[doubtful] = exact(X[doubtful])
    return answers


def _in_chunks(
    exact: Callable[[Array], NDArray[Any]], X: Array, answers: NDArray[Any]
) -> NDArray[Any]:
    """Answers for few rows at once, for many in chunks, each by one thread."""
    if X.shape[0] <= _EXACT_ROWS:
        return exact(X)

    def fill(start: int) -> None:
        rows = slice(start, start + _EXACT_ROWS)
        answers[rows] = exact(X[rows])

    for_each(fill, range(0, X.shape[0], _EXACT_ROWS))
    return answers


def certain_labels(rough: SinglePrecisionValues, rotation: Array) -> tuple[Array, Indices, Mask]:
    """Scores, not of unit length, and labels in single precision; whether labels are certain."""
    scores = rough.values @ rotation
    every = np.arange(len(scores))
    labels = np.argmax(scores, axis=1)
    best = scores[every, labels]
    scores[every, labels] = -np.inf
    lead = best - scores.max(axis=1)
    scores[every, labels] = best
    # The difference of two columns of a rotation has length sqrt(2).
    doubt = math.sqrt(2) * rough.error + _TIE * np.linalg.norm(rough.values, axis=1)
    return scores, labels, lead > doubt
