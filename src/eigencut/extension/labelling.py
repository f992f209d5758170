"""Labels, margins and probabilities of rows from their eigenfunctions; numbers of clusters."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from eigencut._utils.arrays import TIE, Array, Indices
from eigencut.discretization import normalize_rows
from eigencut.exceptions import invalid
from eigencut.extension.eigenfunctions import Eigenfunctions, Mask, SinglePrecisionValues
from eigencut.io.state_reader import StateReader

OUTLIER = -1

CLOSE = 1e-8  # relative difference of scores, or supports, below which rounding might decide


def scores_and_support(functions: Eigenfunctions, rotation: Array, X: Array) -> tuple[Array, Array]:
    """Return the score of each row for each cluster, and its support log d(x)."""
    U, support = functions.with_support(X)
    return normalize_rows(U) @ rotation, support


def is_outlier(support: Array, least_support: float) -> Mask:
    """Return which rows have support below the least, by more than rounding."""
    return np.asarray(support < least_support - TIE)


def certain_labels(rough: SinglePrecisionValues, rotation: Array) -> tuple[Array, Indices, Mask]:
    """Return scores (not normalized) and labels in single precision, and which are certain."""
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


# From scores to margins and probabilities. With s_k the coordinate of a row along cluster k,
# negative ones counting as 0, and a temperature T, higher the less clear training rows are:
#
#     margin = c (s_first - s_second),      p_k = exp(c s_k / T) / sum_l exp(c s_l / T).
#
# The certainty ``c = min(1, d(x) / d_least)`` falls to 0 far from the training rows: there all
# clusters are equally probable.

# Clusters before the label have logits lower by this: argmax would take the first of equals.
NUDGE = 1e-12


def certainty(support: Array, least_support: float) -> Array:
    """Return ``c(x) = min(1, d(x) / d_least)``, given logarithms."""
    return np.exp(np.minimum(support - least_support, 0.0))


def margins_of(scores: Array) -> Array:
    """Return the lead of the largest score over the second; negative scores count as 0."""
    ranked = np.sort(np.clip(scores, 0.0, 1.0), axis=1)
    return np.asarray(ranked[:, -1] - (ranked[:, -2] if ranked.shape[1] > 1 else 0.0))


def fitted_temperature(margins: Array, weight: Array) -> float:
    """Return T, from the margins of the training vertices and their multiplicities."""
    unclear = 1.0 - float(weight @ margins / weight.sum())
    return 0.12 + 0.2 * unclear  # from generated data, see benchmarks/probabilities.py


def probabilities_of(scores: Array, labels: Indices, certain: Array, temperature: float) -> Array:
    """Return p_k for each row; argmax gives the label, whatever rounding does."""
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


@dataclass(frozen=True)
class ClusterNumbers:
    """The number of each cluster: after updates, numbers of clusters that have gone are missing."""

    numbers: Indices  # (K,), ascending: that of each column of the rotation
    # How many numbers were given so far, to these clusters or to others that have gone.
    n_given: int

    @classmethod
    def of_fit(cls, n_clusters: int) -> ClusterNumbers:
        """Return the numbers after a fit: 0, 1, ..., K-1."""
        return cls(np.arange(n_clusters), n_clusters)

    @property
    def is_plain(self) -> bool:
        """Whether column k is cluster k, and no cluster has gone."""
        return self.n_given == len(self.numbers)

    def of_labels(self, labels: Indices) -> Indices:
        """Convert columns to numbers of clusters; negative labels stay."""
        if self.is_plain:
            return labels
        return np.where(labels < 0, labels, self.numbers[labels])

    def of_columns(self, values: Array) -> Array:
        """Return a column for each number ever given: zeros for clusters that have gone."""
        if self.is_plain:
            return values
        spread = np.zeros((len(values), self.n_given), dtype=values.dtype)
        spread[:, self.numbers] = values
        return spread

    def refuse_gaps(self, what: str) -> None:
        """Raise an error if clusters have other numbers than 0 to K-1, which ``what`` needs."""
        if not self.is_plain:
            got = f"clusters {', '.join(map(str, self.numbers))}, since others have gone in updates"
            expected = f"have the clusters 0 to K-1 for {what}"
            raise invalid("model", expected, got, "fit it again on all rows")

    def _state(self) -> dict[str, object]:
        return {"numbers": self.numbers.astype(np.int64), "n_given": self.n_given}

    @classmethod
    def _restored(cls, state: StateReader, n_clusters: int) -> ClusterNumbers:
        n_given = state.integer("n_given", n_clusters, 1 << 16)  # columns of probabilities
        numbers = state.indices("numbers", (n_clusters,), below=n_given)
        if (np.diff(numbers) <= 0).any():
            raise ValueError("numbers of clusters must be ascending.")
        return cls(numbers, n_given)
