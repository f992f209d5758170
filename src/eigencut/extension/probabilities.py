"""From scores to margins and probabilities, which name the same cluster as the label does.

With s_k the coordinate of a row along cluster k, negative ones counting as 0, and a temperature T:

    margin = c (s_first - s_second),      p_k = exp(c s_k / T) / sum_l exp(c s_l / T),

so that ``log(p_first / p_second) = margin / T``. The certainty ``c = min(1, d(x) / d_least)`` is 1
for a row with the support that training rows have, and falls to 0 far away, where scores say only
which cluster is nearest: there all clusters are equally probable.

The temperature is one number, from the margins of the training rows: the less clear they are, the
more do labels depend on which rows a model was fitted on.
"""

from __future__ import annotations

import numpy as np

from eigencut.discretization import assign
from eigencut.extension.eigenfunctions import Eigenfunctions, SinglePrecisionValues
from eigencut.extension.labelling import (
    Mask,
    certain_labels,
    in_cheapest_precision,
    scores_and_support,
)
from eigencut.runtime.arrays import Array, Indices

# How much less probable a cluster before the label is, at least: argmax takes the first of equals.
NUDGE = 1e-12
# T of perfectly clear clusters, and how it grows with 1 - the mean margin: from generated data, see
# benchmarks/probabilities.py.
CLEAREST_TEMPERATURE, TEMPERATURE_SLOPE = 0.12, 0.2
# Bound on the error of a probability in single precision, beyond which double is used. Bounds are
# of the worst case: true errors were a thousand times smaller, and 5e-5 at most.
_ERROR = 0.1


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
    return CLEAREST_TEMPERATURE + TEMPERATURE_SLOPE * unclear


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
        return found, is_certain & (top * (1 - top) * certain * off < _ERROR * temperature)

    K = rotation.shape[1]
    return in_cheapest_precision(functions, X, np.empty((X.shape[0], K)), exact, rough)
