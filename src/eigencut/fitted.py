"""The fitted cut: what answers for new rows, apart from the estimator that made it.

Files keep it, and risk, export, integrations, experiments and the command line use it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigencut.affinity.base import Affinity
from eigencut.cut import Cut
from eigencut.discretization import Partition, align, assign
from eigencut.extension.eigenfunctions import EXTENSIONS, Eigenfunctions
from eigencut.extension.labelling import OUTLIER, label_rows, scores_and_support
from eigencut.files.reader import StateReader
from eigencut.runtime.arrays import Array, Indices
from eigencut.solvers.eigenpairs import EigenPairs


@dataclass(frozen=True)
class Answers:
    """What there is to say of some rows: ``labels``, ``margins`` and ``support`` of each."""

    labels: Indices
    margins: Array
    support: Array


@dataclass(frozen=True)
class FittedCut:
    """Eigenfunctions, and how they become labels.

    Attributes
    ----------
    functions : Eigenfunctions
    rotation : array of shape (K, K)
        Carries the values of the eigenfunctions to clusters.
    least_support : float
        Rows with less support count as outliers.
    """

    functions: Eigenfunctions
    rotation: Array
    least_support: float

    @classmethod
    def of(
        cls,
        functions: Eigenfunctions,
        partition: Partition,
        multiplicity: Array,
        least_support: float,
    ) -> FittedCut:
        """With the rotation that leads from these functions to the clusters of the vertices."""
        reference = functions.eigenvectors()
        rotation = align(functions.at_training_vertices(), partition, reference, multiplicity)
        return cls(functions, rotation, least_support)

    @property
    def affinity(self) -> Affinity:
        return self.functions.affinity

    @property
    def n_rows(self) -> int:
        """n, the number of training rows."""
        return self.affinity.n_rows_

    def embedding(self, X: Array, dtype: Any = np.float64) -> NDArray[Any]:
        """``u_k(x)`` for each row x of X, in double or in single precision."""
        if np.dtype(dtype) == np.float32:
            return self.functions.in_single_precision(X)
        return self.functions(X)

    def unit_embedding(self, X: Array) -> Array:
        """The same for functions of unit norm on the training rows: the vectors times sqrt(n)."""
        return math.sqrt(self.n_rows) * self.functions(X)

    def scores(self, X: Array) -> Array:
        """The coordinate of each row along each cluster."""
        return scores_and_support(self.functions, self.rotation, X)[0]

    def support(self, X: Array) -> Array:
        """How well the data support each row: log d(x), or what the affinity has instead."""
        return self.functions.support(X)

    def labels(self, X: Array, *, mark_outliers: bool = False) -> Indices:
        """The cluster of each row; with ``mark_outliers``, -1 where the support is too low."""
        least = self.least_support if mark_outliers else -math.inf
        return label_rows(self.functions, self.rotation, X, least)

    def margins(self, X: Array) -> Array:
        """How clearly each row belongs to its cluster, from 0 to 1."""
        return _margins(self.scores(X))

    def answers(self, X: Array, *, mark_outliers: bool = False) -> Answers:
        """Labels, margins and support in one pass over the rows."""
        scores, support = scores_and_support(self.functions, self.rotation, X)
        labels = assign(scores)
        if mark_outliers:
            labels = np.where(support < self.least_support, OUTLIER, labels)
        return Answers(labels, _margins(scores), support)

    def _state(self) -> dict[str, Any]:
        """As plain values and arrays, but for the affinity and the rotation."""
        functions = self.functions
        return {
            "least_support": self.least_support,
            "form": functions.form,
            "degrees": functions.degrees,
            "pairs": functions.pairs._state(),
        }

    @classmethod
    def _restored(cls, state: StateReader, affinity: Affinity, cut: Cut, K: int) -> FittedCut:
        n_vertices = len(affinity.multiplicity_)
        least_support = state.number("least_support")
        pairs = EigenPairs._restored(state.part("pairs"), n_vertices, K)
        form = EXTENSIONS[state.word("form", EXTENSIONS)]
        degrees = state.array("degrees", (n_vertices,))
        rotation = state.array("rotation_of_extension", (K, K))
        return cls(form(affinity, cut, pairs, degrees), rotation, least_support)


def _margins(scores: Array) -> Array:
    """The lead of the largest score over the second, negative ones counting as 0."""
    ranked = np.sort(np.clip(scores, 0.0, 1.0), axis=1)
    return ranked[:, -1] - (ranked[:, -2] if ranked.shape[1] > 1 else 0.0)
