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

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.threads import for_each
from eigencut.discretization import TIE, assign, normalize_rows
from eigencut.extension.eigenfunctions import CHUNK_ROWS, Eigenfunctions, SinglePrecisionValues

Mask = NDArray[np.bool_]

OUTLIER = -1

CLOSE = 1e-8  # relative difference of two scores, or supports, that rounding might decide


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
        is_certain &= distance > 2 * values.degree_error + CLOSE
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
    chunk = 1 << 15
    if X.shape[0] <= chunk:
        return exact(X)

    def fill(start: int) -> None:
        rows = slice(start, start + chunk)
        answers[rows] = exact(X[rows])

    for_each(fill, range(0, X.shape[0], chunk))
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
    doubt = math.sqrt(2) * rough.error + CLOSE * np.linalg.norm(rough.values, axis=1)
    return scores, labels, lead > doubt


# From scores to margins and probabilities, which name the same cluster as the label does.
#
# With s_k the coordinate of a row along cluster k, negative ones counting as 0, and a temperature
# T:
#
#     margin = c (s_first - s_second),      p_k = exp(c s_k / T) / sum_l exp(c s_l / T),
#
# so that ``log(p_first / p_second) = margin / T``. The certainty ``c = min(1, d(x) / d_least)``
# is 1 for a row with the support that training rows have, and falls to 0 far away, where scores
# say only which cluster is nearest: there all clusters are equally probable.
#
# The temperature is one number, from the margins of the training rows: the less clear they are, the
# more do labels depend on which rows a model was fitted on.

# How much less probable a cluster before the label is, at least: argmax takes the first of equals.
NUDGE = 1e-12


def certainty(support: Array, least_support: float) -> Array:
    """c(x): the share that a row has of the least support of training rows, at most 1."""
    return np.exp(np.minimum(support - least_support, 0.0))


def margins_of(scores: Array, certain: Array | float = 1.0) -> Array:
    """The lead of the largest score over the second, negative ones counting as 0; times c."""
    ranked = np.sort(np.clip(scores, 0.0, 1.0), axis=1)
    lead = ranked[:, -1] - (ranked[:, -2] if ranked.shape[1] > 1 else 0.0)
    return np.asarray(certain * lead)


def fitted_temperature(margins: Array, weight: Array) -> float:
    """T, from the margins of the training vertices and how many rows each stands for."""
    unclear = 1.0 - float(weight @ margins / weight.sum())
    return 0.12 + 0.2 * unclear  # from generated data, see benchmarks/probabilities.py


def probabilities_of(scores: Array, labels: Indices, certain: Array, temperature: float) -> Array:
    """p_k for each row; the first of the largest is the label, whatever rounding does."""
    logits = np.clip(scores, 0.0, 1.0)
    logits -= logits.max(axis=1, keepdims=True)
    logits *= (certain / temperature)[:, np.newaxis]
    at_label = labels[:, np.newaxis]
    if labels.any():
        is_before = np.arange(scores.shape[1]) < at_label
        np.minimum(logits, np.where(is_before, -NUDGE, 0.0), out=logits)
    np.put_along_axis(logits, at_label, 0.0, axis=1)
    found = np.exp(logits, out=logits)
    found /= found.sum(axis=1, keepdims=True)
    return found


def row_probabilities(
    functions: Eigenfunctions, rotation: Array, X: Array, least_support: float, temperature: float
) -> Array:
    """p_k for each row of X: in single precision where that changes neither label nor digits."""

    def exact(rows: Array) -> Array:
        scores, support = scores_and_support(functions, rotation, rows)
        certain = certainty(support, least_support)
        return probabilities_of(scores, assign(scores), certain, temperature)

    def rough(values: SinglePrecisionValues) -> tuple[Array, Mask]:
        scores, labels, is_certain = certain_labels(values, rotation)
        length = np.linalg.norm(values.values, axis=1)
        length = np.where(length > 0, length, 1.0)
        certain = certainty(values.log_degrees, least_support)
        scores /= length[:, np.newaxis]
        found = probabilities_of(scores, labels, certain, temperature)
        top = found[np.arange(len(found)), labels]
        # Of the difference of two scores of a unit row, and of c; p changes by p (1 - p) c of it.
        off = np.where(is_certain, 2 * np.sqrt(2) * values.error / length + values.degree_error, 0)
        # Bounds are of the worst case: true errors are a thousandth of them.
        return found, is_certain & (top * (1 - top) * certain * off < 0.1 * temperature)

    K = rotation.shape[1]
    return in_cheapest_precision(functions, X, np.empty((X.shape[0], K)), exact, rough)
