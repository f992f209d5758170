"""The fitted cut: what answers for new rows, apart from the estimator that made it.

Files keep it, and risk, export, integrations, experiments and the command line use it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.threads import blas_threads
from eigencut._utils.warn import warn_user
from eigencut.affinities.base import Affinity
from eigencut.cut import Cut
from eigencut.discretization import Partition, align, assign, normalize_rows, pod
from eigencut.extension.eigenfunctions import EXTENSIONS, CombinedFunctions, Eigenfunctions
from eigencut.extension.labelling import (
    OUTLIER,
    certainty,
    fitted_temperature,
    is_outlier,
    label_rows,
    margins_of,
    probabilities_of,
    row_probabilities,
    scores_and_support,
)
from eigencut.graphs.base import Graph, OutlierThreshold
from eigencut.io.state_reader import StateReader
from eigencut.solvers.relaxed_cut import EigenPairs

if TYPE_CHECKING:
    from eigencut.semi_supervised.guided_cut import Agreement

_TINY_SHARE = 1 / 20  # of an average cluster
_LISTED = 8  # sizes named in a warning
_UNIT = 1 + 1e-6  # of an entry of a rotation, at most, rounding allowed for
_LEAST_TEMPERATURE = 1e-6
_TINY = 1e-200
_ENOUGH_VERTICES = 1 << 16  # to know the temperature by


@dataclass(frozen=True)
class Answers:
    """What there is to say of some rows: labels, margins, support and probabilities of each."""

    labels: Indices
    margins: Array
    support: Array
    probabilities: Array


@dataclass(frozen=True)
class FittedCut:
    """Eigenfunctions, and how they become labels.

    Attributes
    ----------
    functions : Eigenfunctions
    rotation : array of shape (K, K)
        Carries the values of the eigenfunctions to clusters.
    outlier_threshold : OutlierThreshold
        Rows with less support than this count as outliers; how many of the training rows do.
    partition : Partition
        The discretization of the training vertices.
    n_components : int
        Connected components of the graph.
    temperature : float
        Of the probabilities; see ``extension/probabilities.py``.
    """

    functions: Eigenfunctions
    rotation: Array
    outlier_threshold: OutlierThreshold
    partition: Partition
    n_components: int
    temperature: float

    @classmethod
    def of(
        cls,
        functions: Eigenfunctions,
        graph: Graph,
        n_components: int,
        outlier_quantile: float,
        partition: Partition | None = None,
        **starts: Any,
    ) -> FittedCut:
        """Discretize the eigenvectors on the vertices; ``starts`` are options of ``pod``.

        The ``partition`` is what comes of it, where that is known.
        """
        U, weight = functions.eigenvectors(), graph.multiplicity
        if partition is None:
            with blas_threads(1):
                partition = pod(U, sample_weight=weight, **starts)
        n_found = len(np.unique(partition.labels))
        if n_found < U.shape[1]:
            warn_user(
                f"Only {n_found} of n_clusters={U.shape[1]} clusters are non-empty: the rows "
                "do not fall into more. Lower n_clusters, or try another sigma."
            )
        at_vertices = functions.at_training_vertices()
        rotation = align(at_vertices, partition, U, weight)
        threshold = graph.outlier_threshold(outlier_quantile)
        temperature = _temperature(at_vertices, rotation, weight)
        return cls(functions, rotation, threshold, partition, n_components, temperature)

    def at_training_rows(self, graph: Graph, X: Any) -> tuple[Indices | None, Array | None]:
        """Labels and embedding of the training rows X, where there is room for them."""
        if not graph.has_rows:
            return None, None
        U, labels = self.functions.eigenvectors(), self.labels_at(graph, X)
        embedding = graph.at_rows(U, np.asarray) if graph.keeps_embedding(U.shape[1]) else None
        if embedding is not None:
            rows, values = self.functions.fixed_values(X)
            embedding[rows] = values
        return labels, embedding

    def labels_at(self, graph: Graph, X: Any) -> Indices:
        """Labels of the rows X of the graph."""
        U, rotation = self.functions.eigenvectors(), self.partition.rotation
        labels: Indices = graph.at_rows(U, lambda u: assign(normalize_rows(u) @ rotation))
        rows, values = self.functions.fixed_values(X)
        labels[rows] = assign(normalize_rows(values) @ rotation)
        return labels

    def at_all_rows(
        self, X: Any, known: Indices, labels: Indices, embedding: Array | None
    ) -> tuple[Indices, Array | None]:
        """Labels and embedding of all rows, given those of the ``known`` ones: what was fitted."""
        others = np.setdiff1d(np.arange(X.shape[0]), known)
        if not len(others):
            return labels, embedding
        order = np.argsort(np.concatenate([known, others]))
        labels = np.concatenate([labels, self.labels(X[others])])[order]
        if embedding is not None:
            embedding = np.concatenate([embedding, self.embedding(X[others])])[order]
        return labels, embedding

    @property
    def affinity(self) -> Affinity:
        return self.functions.affinity

    @property
    def least_support(self) -> float:
        """Rows with less support count as outliers."""
        return self.outlier_threshold.least

    @property
    def n_rows(self) -> float:
        """n, the number of training rows; where they have weights, the sum of these."""
        return self.affinity.n_rows_

    def reordered(self, columns: Indices) -> FittedCut:
        """The same clusters in another order."""
        kept, rotation = self.partition, self.partition.rotation[:, columns]
        labels = assign(normalize_rows(self.functions.eigenvectors()) @ rotation)
        partition = replace(kept, labels=labels, rotation=rotation)
        return replace(self, partition=partition, rotation=self.rotation[:, columns])

    def embedding(self, X: Array, dtype: Any = np.float64) -> NDArray[Any]:
        """``u_k(x)`` for each row x of X, in double or in single precision."""
        if np.dtype(dtype) == np.float32:
            return self.functions.in_single_precision(X)
        return self.functions(X)

    def unit_embedding(self, X: Array) -> Array:
        """The same for functions orthonormal on the training rows (the vectors times sqrt(n))."""
        return self.functions.unit(self.functions(X))

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
        """How clearly each row belongs to its cluster, from 0 to 1; 0 without any support."""
        scores, support = scores_and_support(self.functions, self.rotation, X)
        return margins_of(scores, certainty(support, self.least_support))

    def probabilities(self, X: Array) -> Array:
        """The probability of each cluster, for each row; the largest is that of its label."""
        return row_probabilities(
            self.functions, self.rotation, X, self.least_support, self.temperature
        )

    def is_outlier(self, X: Array) -> NDArray[np.bool_]:
        """Which rows ``labels`` marks as outliers, if it does."""
        return is_outlier(self.support(X), self.least_support)

    def margins_at_vertices(self) -> Array:
        """The margin of each training vertex."""
        return margins_of(normalize_rows(self.functions.at_training_vertices()) @ self.rotation)

    def answers(self, X: Array, *, mark_outliers: bool = False) -> Answers:
        """Labels, margins, support and probabilities in one pass over the rows."""
        scores, support = scores_and_support(self.functions, self.rotation, X)
        labels, certain = assign(scores), certainty(support, self.least_support)
        probabilities = probabilities_of(scores, labels, certain, self.temperature)
        if mark_outliers:
            labels = np.where(is_outlier(support, self.least_support), OUTLIER, labels)
        return Answers(labels, margins_of(scores, certain), support, probabilities)

    def _state(self) -> dict[str, Any]:
        """As plain values, arrays and the affinity."""
        functions = self.functions
        return {
            "affinity": self.affinity,
            "n_clusters": len(functions.pairs.values),
            "n_components_found": self.n_components,
            "least_support": self.least_support,
            "n_outside": float(self.outlier_threshold.n_outside),
            "n_judged": float(self.outlier_threshold.n_rows),
            "one_row": float(self.outlier_threshold.one_row),
            "temperature": self.temperature,
            **functions._state(),
            "partition": self.partition._history(),
            "rotation": self.partition.rotation,
            "rotation_of_extension": self.rotation,
        }

    @classmethod
    def _restored(cls, state: StateReader, cut: Cut) -> FittedCut:
        affinity: Affinity = state.fitted("affinity", Affinity)  # type: ignore[type-abstract]
        weight = affinity.multiplicity_
        n_vertices = len(weight)
        K = state.integer("n_clusters", 1, n_vertices)
        functions = _restored_functions(state, affinity, cut, K)
        rotation = state.array("rotation", (K, K), -_UNIT, _UNIT)
        of_extension = state.array("rotation_of_extension", (K, K), -_UNIT, _UNIT)
        labels = assign(normalize_rows(functions.eigenvectors()) @ rotation)
        has_temperature = "temperature" in state  # older files have none
        is_counted = "n_judged" in state  # nor these
        return cls(
            functions,
            of_extension,
            OutlierThreshold(
                state.number("least_support"),
                state.number("n_outside", least=0.0) if is_counted else 0.0,
                state.number("n_judged", least=_TINY) if is_counted else float(affinity.n_rows_),
                state.number("one_row", least=_TINY) if is_counted else 1.0,
            ),
            Partition._restored(state.part("partition"), labels, rotation),
            state.integer("n_components_found", 1, n_vertices),
            state.number("temperature", least=_LEAST_TEMPERATURE)
            if has_temperature
            else _temperature(functions.at_training_vertices(), of_extension, weight),
        )


def _restored_functions(
    state: StateReader, affinity: Affinity, cut: Cut, n_clusters: int
) -> Eigenfunctions:
    """The eigenfunctions, or combinations of them, from their saved ``_state()``."""
    n_vertices = len(affinity.multiplicity_)
    is_combined = "combination" in state
    n_pairs = state.integer("n_combined", n_clusters, n_vertices) if is_combined else n_clusters
    pairs = EigenPairs._restored(state.part("pairs"), n_vertices, n_pairs)
    form = EXTENSIONS[state.word("form", EXTENSIONS)]
    functions = form(affinity, cut, pairs, state.array("degrees", (n_vertices,), least=0.0))
    if not is_combined:
        return functions
    return CombinedFunctions._restored(functions, state, n_clusters)


def _temperature(at_vertices: Array, rotation: Array, weight: Array) -> float:
    """Of probabilities, by the margins of the training vertices; of very many, by some of them."""
    some = slice(None, None, -(-len(weight) // _ENOUGH_VERTICES))
    scores = normalize_rows(at_vertices[some]) @ rotation
    return fitted_temperature(margins_of(scores), weight[some])


class CutGraph(NamedTuple):
    """A graph and its fitted cut; and how well it agrees with known labels, if there are any.

    So many clusters, ``n_clear``, are components that are small, and clearly clusters all the same.
    """

    graph: Graph
    fitted: FittedCut
    agreement: Agreement | None = None
    n_clear: int = 0


def first_without_tiny_clusters(cuts: Iterable[CutGraph]) -> CutGraph:
    """Return the first cut without tiny clusters; if there is none, the first of all, and warn.

    A tiny cluster has less than a twentieth of the rows of an average one: mostly a few odd rows
    that a cut has taken for a cluster. Components that are clearly clusters do not count.
    """
    first = None
    for found in cuts:
        graph, partition = found.graph, found.fitted.partition
        sizes = np.bincount(partition.labels, graph.multiplicity, len(partition.rotation))
        cut_off = np.sort(sizes)[found.n_clear :]
        if cut_off.min() >= _TINY_SHARE * graph.n_rows / len(sizes):
            return found
        first = first or (found, sizes)
    assert first is not None
    found, sizes = first
    listed = ", ".join(f"{size:.0f}" for size in np.sort(sizes)[:_LISTED])
    warn_user(
        f"The smallest cluster is less than a twentieth of an average one, and may be a few odd "
        f"rows instead of a cluster (sizes, ascending: {listed}). Drop outliers, lower n_clusters, "
        "or try another affinity."
    )
    return found
