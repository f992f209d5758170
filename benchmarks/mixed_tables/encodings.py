"""Ways to turn words into coordinates that were tried; numbers have variance 1 in all of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.linalg import eigh

from benchmarks.data import Array
from benchmarks.mixed_tables.families import MixedTable
from benchmarks.mixed_tables.methods import indicators, numbers_and_words

Encoding = Callable[[Array, list[Array]], Array]


def _shares(H: Array) -> Array:
    return np.asarray(H.mean(axis=0))


def _corners(step: float, numbers: Array, words: list[Array]) -> Array:
    return np.hstack([numbers, *(step * H for H in words)])


def _unit_variance(numbers: Array, words: list[Array]) -> Array:
    return np.hstack([numbers, *(H / np.sqrt(1 - (_shares(H) ** 2).sum()) for H in words)])


def _correspondence(numbers: Array, words: list[Array]) -> Array:
    """Chi-squared distances, each column of inertia 1."""
    scaled = [H / np.sqrt(_shares(H) * max(1, H.shape[1] - 1)) for H in words]
    return np.hstack([numbers, *scaled])


def _frequencies(numbers: Array, words: list[Array]) -> Array:
    """A word is how often it comes."""
    columns = [H @ _shares(H) for H in words]
    return np.column_stack([numbers, *((c - c.mean()) / max(c.std(), 1e-9) for c in columns)])


def _conditional_means(numbers: Array, words: list[Array]) -> Array:
    """A word is the mean of all other columns where it comes."""
    units = [(H - _shares(H)) / np.sqrt(1 - (_shares(H) ** 2).sum()) for H in words]
    found = [numbers]
    for j, H in enumerate(words):
        others = np.hstack([numbers, *units[:j], *units[j + 1 :]])
        found.append(H @ (H.T @ others / (H.sum(axis=0)[:, None] + 10)))
    return np.hstack(found)


def _factors(numbers: Array, words: list[Array]) -> tuple[Array, Array, int]:
    """Indicators of a factor analysis of mixed data, and the vectors that stand out."""
    scaled = [(H - _shares(H)) / np.sqrt(_shares(H)) for H in words]
    rows = np.hstack([numbers, *scaled])
    values, vectors = eigh(rows.T @ rows / len(rows))
    rank = rows.shape[1] - len(words)
    edge = (1 + np.sqrt(rank / len(rows))) ** 2
    return rows, vectors[:, values > edge], numbers.shape[1]


def _components(numbers: Array, words: list[Array]) -> Array:
    """Factors of all columns, instead of the columns."""
    rows, vectors, _ = _factors(numbers, words)
    return rows @ vectors if vectors.shape[1] else numbers


def _both(corner: float, factor: float, numbers: Array, words: list[Array]) -> Array:
    rows, vectors, d = _factors(numbers, words)
    return np.hstack([numbers, *(corner * H for H in words), factor * rows[:, d:] @ vectors[d:]])


ENCODINGS: dict[str, Encoding] = {
    "one-hot, variance 1 for each column": _unit_variance,
    "one-hot, 0 and 1": partial(_corners, 1.0),
    "one-hot, step of Gower (0.71)": partial(_corners, np.sqrt(0.5)),
    "one-hot, 0.4": partial(_corners, 0.4),
    "correspondence analysis, inertia 1": _correspondence,
    "frequency of the word": _frequencies,
    "mean of the other columns": _conditional_means,
    "factors instead of all columns": _components,
    "factors instead of words, 0.7": partial(_both, 0.0, 0.7),
    "factors instead of words, 0.5": partial(_both, 0.0, 0.5),
    "one-hot 0.5 and factors 0.35": partial(_both, 0.5, 0.35),
    "one-hot 0.35 and factors 0.7": partial(_both, 0.35, 0.7),
    "one-hot 0.4 and factors 0.5": partial(_both, 0.4, 0.5),
}
CHOSEN = "one-hot 0.4 and factors 0.5"


def encoded(table: MixedTable, encoding: Encoding) -> Array:
    """The rows of a table, by one of them."""
    numbers, words = numbers_and_words(table)
    return encoding(numbers, indicators(words))
