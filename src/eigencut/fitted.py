"""``FittedCut``: the result of a fit that labels any row, without the parameters of ``GPOD``.

Relaxed cuts label a row by eigenfunctions, discrete cuts by its total weight to each cluster.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse, vstack

from eigencut._utils.arrays import TIE, Array, Indices
from eigencut._utils.running import blas_threads, warn_user
from eigencut._utils.validation import check_sample_weight
from eigencut.affinities.base import Affinity
from eigencut.cut import Cut
from eigencut.discretization import Partition, align, assign, by_size, normalize_rows, pod
from eigencut.exceptions import ModelFileError, NoEigenfunctions, invalid
from eigencut.extension.eigenfunctions import (
    EXTENSIONS,
    CombinedFunctions,
    Eigenfunctions,
    Mask,
    SinglePrecisionValues,
)
from eigencut.extension.labelling import (
    CLOSE,
    NUDGE,
    OUTLIER,
    certain_labels,
    certainty,
    fitted_temperature,
    is_outlier,
    margins_of,
    probabilities_of,
    scores_and_support,
)
from eigencut.extension.sizes import SizeLimits, price_clusters
from eigencut.graphs.base import Graph, OutlierThreshold, RowGraph
from eigencut.io.state_reader import LARGEST, StateReader, csr_state
from eigencut.solvers.relaxed_cut import EigenPairs

_TINY_SHARE = 1 / 20  # of the average size: smaller clusters cause a warning,
_LISTED = 8  # which lists this many sizes
_UNIT = 1 + 1e-6  # the largest entry of a rotation, with rounding
_LEAST_TEMPERATURE = 1e-6
_TINY = 1e-200
_BY_MEANS = 0.05  # with limits of sizes, the part of a vote that depends on cluster means
_ENOUGH_VERTICES = 1 << 16  # vertices from which the temperature is computed


@dataclass(frozen=True)
class Answers:
    """Labels, margins, support and probabilities of some rows."""

    labels: Indices
    margins: Array
    support: Array
    probabilities: Array


@dataclass(frozen=True)
class FittedCut(ABC):
    """A cut of the training rows, relaxed or discrete, and its extension to any row."""

    outlier_threshold: OutlierThreshold  # rows with less support are outliers
    partition: Partition  # the clusters of the training vertices
    n_components: int  # connected components of the graph
    # Whether the fit used known labels or pairs, even if they changed nothing.
    is_guided: bool = field(default=False, kw_only=True)

    # Both kinds have these,
    affinity: ClassVar[Any]
    cut: ClassVar[Any]
    n_clusters: ClassVar[Any]
    voters: ClassVar[Any]
    directions: ClassVar[Any]  # (K, K): the direction of each cluster in the embedding, a column
    # and only a relaxed cut has these; a discrete one raises ``NoEigenfunctions``.
    functions: ClassVar[Any]
    rotation: ClassVar[Any]
    rotation_of_vectors: ClassVar[Any]
    temperature: ClassVar[Any]

    @property
    def least_support(self) -> float:
        """The support below which rows count as outliers."""
        return self.outlier_threshold.least

    @property
    def n_rows(self) -> float:
        """The number of training rows, or the sum of their weights."""
        return float(self.affinity.n_rows_)

    @abstractmethod
    def embedding(self, X: Array, dtype: Any = np.float64) -> Any:
        """Return the embedding of each row, as ``GPOD.transform`` does."""

    @abstractmethod
    def probabilities_of_labels(self, embedding: Any) -> Array:
        """Return the probability of the label of each training row, given its embedding."""

    @abstractmethod
    def error(self, X: Array, sample_weight: Any = None) -> float:
        """Return minus what ``GPOD.score`` returns for the rows."""

    @abstractmethod
    def at_training_rows(self, graph: Graph, X: Any) -> tuple[Indices | None, Any]:
        """Return labels and embedding of the training rows X, or None if they are not kept."""

    @abstractmethod
    def labels_at(self, graph: Graph, X: Any) -> Indices:
        """Return the labels of the training rows X."""

    @abstractmethod
    def reordered(self, columns: Indices) -> FittedCut:
        """Return the same cut with its clusters in another order."""

    @abstractmethod
    def _scored(self, X: Array) -> tuple[Any, Array]:
        """Return the scores of each row for the clusters, maybe sparse, and its support."""

    @abstractmethod
    def _leading(self, scores: Any) -> tuple[Indices, Array]:
        """Return the cluster of each row, and the lead of its score over the second one."""

    @abstractmethod
    def _probabilities(self, scores: Any, labels: Indices, certain: Array) -> Array:
        """Return the probabilities of clusters, given labels and certainties of rows."""

    def scores_and_support(self, X: Array) -> tuple[Array, Array]:
        """Return the score of each row for each cluster, and the support of the row."""
        scores, support = self._scored(X)
        return scores.toarray() if issparse(scores) else scores, support

    def scores(self, X: Array) -> Array:
        """Return the score of each row for each cluster."""
        return self.scores_and_support(X)[0]

    def support(self, X: Array) -> Array:
        """Return the similarity of each row to the training rows (log d(x) for most affinities)."""
        return self._scored(X)[1]

    def labels(self, X: Array, *, mark_outliers: bool = False) -> Indices:
        """Return the cluster of each row; with ``mark_outliers``, -1 if its support is too low."""
        scores, support = self._scored(X)
        return self._marked(self._leading(scores)[0], support, mark_outliers)

    def margins(self, X: Array) -> Array:
        """Return how clearly each row belongs to its cluster, from 0 (or without support) to 1."""
        scores, support = self._scored(X)
        return certainty(support, self.least_support) * self._leading(scores)[1]

    def probabilities(self, X: Array) -> Array:
        """Return the probability of each cluster, for each row; the label has the largest."""
        scores, support = self._scored(X)
        certain = certainty(support, self.least_support)
        return self._probabilities(scores, self._leading(scores)[0], certain)

    def answers(self, X: Array, *, mark_outliers: bool = False) -> Answers:
        """Return labels, margins, support and probabilities in one pass over the rows."""
        scores, support = self._scored(X)
        labels, leads = self._leading(scores)
        certain = certainty(support, self.least_support)
        probabilities = self._probabilities(scores, labels, certain)
        labels = self._marked(labels, support, mark_outliers)
        return Answers(labels, certain * leads, support, probabilities)

    def _marked(self, labels: Indices, support: Array, mark_outliers: bool) -> Indices:
        """Return labels; with ``mark_outliers``, ``OUTLIER`` where the support is too low."""
        if not mark_outliers:
            return labels
        return np.where(is_outlier(support, self.least_support), OUTLIER, labels)

    def is_outlier(self, X: Array) -> Mask:
        """Return which rows have so little support that they are outliers."""
        return is_outlier(self.support(X), self.least_support)

    def at_all_rows(
        self, X: Any, known: Indices, labels: Indices, embedding: Any
    ) -> tuple[Indices, Any]:
        """Return labels and embedding of all rows, given those of the ``known`` (fitted) rows."""
        others = np.setdiff1d(np.arange(X.shape[0]), known)
        if not len(others):
            return labels, embedding
        order = np.argsort(np.concatenate([known, others]))
        labels = np.concatenate([labels, self.labels(X[others])])[order]
        if embedding is not None:
            join = vstack if issparse(embedding) else np.concatenate
            embedding = join([embedding, self.embedding(X[others])])[order]
        return labels, embedding

    def _state(self) -> dict[str, Any]:
        """Return the cut for a file: plain values, arrays and the affinity."""
        threshold = self.outlier_threshold
        return {
            "affinity": self.affinity,
            "is_guided": self.is_guided,
            "n_clusters": self.n_clusters,
            "n_components_found": self.n_components,
            "least_support": threshold.least,
            "n_outside": float(threshold.n_outside),
            "n_judged": float(threshold.n_rows),
            "one_row": float(threshold.one_row),
        }

    @staticmethod
    def _restored(state: StateReader, cut: Cut) -> FittedCut:
        """Return the cut of a saved ``_state()``."""
        affinity: Affinity = state.fitted("affinity", Affinity)  # type: ignore[type-abstract]
        n_vertices = len(affinity.multiplicity_)
        K, n_judged = state.integer("n_clusters", 1, n_vertices), float(affinity.n_rows_)
        n_outside, one_row = 0.0, 1.0
        if "n_judged" in state:  # older files lack these counts
            n_judged = state.number("n_judged", least=_TINY)
            n_outside = state.number("n_outside", least=0.0, most=n_judged * (1 + 1e-9))
            one_row = state.number("one_row", least=_TINY)
        least = state.number("least_support")
        threshold = OutlierThreshold(least, n_outside, n_judged, one_row)
        n_components = state.integer("n_components_found", 1, n_vertices)
        is_guided = "is_guided" in state and state.flag("is_guided")
        if "voters" in state:
            parts = _restored_clusters(state, n_vertices, K)
            parts |= {"n_components": n_components, "affinity": affinity, "cut": cut}
            return FittedDiscreteCut(threshold, **parts, is_guided=is_guided)
        functions = _restored_functions(state, affinity, cut, K)
        rotation = state.array("rotation", (K, K), -_UNIT, _UNIT)
        of_extension = state.array("rotation_of_extension", (K, K), -_UNIT, _UNIT)
        labels = assign(normalize_rows(functions.eigenvectors()) @ rotation)
        partition = Partition._restored(state.part("partition"), labels, rotation)
        if "temperature" in state:
            temperature = state.number("temperature", least=_LEAST_TEMPERATURE)
        else:  # an older file
            temperature = _temperature(functions, of_extension)
        own = functions, of_extension, temperature
        return FittedRelaxedCut(threshold, partition, n_components, *own, is_guided=is_guided)


def _warn_about_empty_clusters(labels: Indices, n_clusters: int) -> None:
    n_full = len(np.unique(labels))
    if n_full < n_clusters:
        text = f"Only {n_full} of {n_clusters=} clusters have rows."
        warn_user(f"{text} Lower n_clusters, or try another sigma.")


@dataclass(frozen=True)
class FittedRelaxedCut(FittedCut):
    """Eigenfunctions, and the rotation that turns them into scores of clusters."""

    functions: Eigenfunctions  # type: ignore[misc]
    rotation: Array  # type: ignore[misc]  # (K, K): from eigenfunctions to clusters
    temperature: float  # type: ignore[misc]  # of the softmax; see ``extension/labelling.py``

    @classmethod
    def from_functions(
        cls,
        functions: Eigenfunctions,
        graph: Graph,
        n_components: int,
        outlier_quantile: float,
        partition: Partition | None = None,
        **starts: Any,
    ) -> FittedRelaxedCut:
        """Make the fitted cut; ``pod(..., **starts)`` finds the partition if it is None."""
        U, weight = functions.eigenvectors(), graph.multiplicity
        if partition is None:
            with blas_threads(1):
                partition = pod(U, sample_weight=weight, **starts)
        _warn_about_empty_clusters(partition.labels, U.shape[1])
        rotation = align(functions.at_training_vertices(), partition, U, weight)
        threshold = graph.outlier_threshold(outlier_quantile)
        temperature = _temperature(functions, rotation)
        return cls(threshold, partition, n_components, functions, rotation, temperature)

    @property
    def affinity(self) -> Affinity:
        return self.functions.affinity

    @property
    def cut(self) -> Cut:
        return self.functions.cut

    @property
    def voters(self) -> Indices:
        """The cluster of each training vertex."""
        return self.partition.labels

    @property
    def rotation_of_vectors(self) -> Array:
        """The rotation of the eigenvectors; ``rotation`` belongs to the eigenfunctions."""
        return self.partition.rotation

    @property
    def n_clusters(self) -> int:
        return len(self.rotation)

    @property
    def directions(self) -> Array:
        return self.rotation

    def at_training_rows(self, graph: Graph, X: Any) -> tuple[Indices | None, Array | None]:
        if not graph.has_rows:
            return None, None
        U, labels = self.functions.eigenvectors(), self.labels_at(graph, X)
        embedding = graph.at_rows(U, np.asarray) if graph.keeps_embedding(U.shape[1]) else None
        if embedding is not None:
            rows, values = self.functions.fixed_values(X)
            embedding[rows] = values
        return labels, embedding

    def labels_at(self, graph: Graph, X: Any) -> Indices:
        U, rotation = self.functions.eigenvectors(), self.partition.rotation
        labels: Indices = graph.at_rows(U, lambda u: assign(normalize_rows(u) @ rotation))
        rows, values = self.functions.fixed_values(X)
        labels[rows] = assign(normalize_rows(values) @ rotation)
        return labels

    def reordered(self, columns: Indices) -> FittedRelaxedCut:
        rotation = self.partition.rotation[:, columns]
        labels = assign(normalize_rows(self.functions.eigenvectors()) @ rotation)
        partition = replace(self.partition, labels=labels, rotation=rotation)
        return replace(self, partition=partition, rotation=self.rotation[:, columns])

    def embedding(self, X: Array, dtype: Any = np.float64) -> NDArray[Any]:
        """Return ``u_k(x)`` for each row x of X, in double or in single precision."""
        if np.dtype(dtype) == np.float32:
            return self.functions.in_single_precision(X)
        return self.functions(X)

    def _scored(self, X: Array) -> tuple[Array, Array]:
        return scores_and_support(self.functions, self.rotation, X)

    def _leading(self, scores: Array) -> tuple[Indices, Array]:
        return assign(scores), margins_of(scores)

    def _probabilities(self, scores: Array, labels: Indices, certain: Array) -> Array:
        return probabilities_of(scores, labels, certain, self.temperature)

    def support(self, X: Array) -> Array:
        return self.functions.support(X)

    def labels(self, X: Array, *, mark_outliers: bool = False) -> Indices:
        least = self.least_support if mark_outliers else -math.inf

        def exact(rows: Array) -> Indices:
            scores, support = self._scored(rows)
            return np.where(is_outlier(support, least), OUTLIER, assign(scores))

        def rough(values: SinglePrecisionValues) -> tuple[Indices, Mask]:
            _, labels, is_certain = certain_labels(values, self.rotation)
            is_certain &= np.abs(values.log_degrees - least) > 2 * values.degree_error + CLOSE
            return np.where(is_outlier(values.log_degrees, least), OUTLIER, labels), is_certain

        labels = np.empty(X.shape[0], dtype=np.intp)
        return self.functions.in_cheapest_precision(X, labels, exact, rough)

    def probabilities(self, X: Array) -> Array:
        def rough(values: SinglePrecisionValues) -> tuple[Array, Mask]:
            scores, labels, is_certain = certain_labels(values, self.rotation)
            length = np.linalg.norm(values.values, axis=1)
            length = np.where(length > 0, length, 1.0)
            certain = certainty(values.log_degrees, self.least_support)
            scores /= length[:, np.newaxis]
            probabilities = self._probabilities(scores, labels, certain)
            top = probabilities[np.arange(len(labels)), labels]
            # A worst-case bound on the error of a difference of scores and of c; p changes by at
            # most p (1 - p) c times it. True errors are far smaller.
            off = 2 * np.sqrt(2) * values.error / length + values.degree_error
            off = top * (1 - top) * certain * np.where(is_certain, off, 0)
            return probabilities, is_certain & (off < 0.1 * self.temperature)

        out = np.empty((X.shape[0], self.n_clusters))
        return self.functions.in_cheapest_precision(X, out, super().probabilities, rough)

    def probabilities_of_labels(self, embedding: Any) -> Array:
        scores = normalize_rows(embedding) @ self.partition.rotation
        labels = assign(scores)
        probabilities = self._probabilities(scores, labels, np.ones(len(scores)))
        return probabilities[np.arange(len(labels)), labels]

    def error(self, X: Array, sample_weight: Any = None) -> float:
        """Return the mean error of the eigenfunctions on pairs of rows."""
        from eigencut.theory.errors import held_out_error

        return held_out_error(self, X, sample_weight)

    def margins_at_vertices(self) -> Array:
        """Return the margin of each training vertex."""
        return margins_of(normalize_rows(self.functions.at_training_vertices()) @ self.rotation)

    def _state(self) -> dict[str, Any]:
        return super()._state() | {
            "temperature": self.temperature,
            **self.functions._state(),
            "partition": self.partition._history(),
            "rotation": self.partition.rotation,
            "rotation_of_extension": self.rotation,
        }


@dataclass(frozen=True)
class FittedDiscreteCut(FittedCut):
    """Clusters extended to any row by ``h_k(x)``, the share of its weight to rows of cluster k."""

    affinity: Affinity  # type: ignore[misc]
    cut: Cut  # type: ignore[misc]
    voters: Indices  # type: ignore[misc]  # clusters of the training vertices
    links: Any  # (K, K), sparse: the total weight between each two clusters
    # (n_vertices, K): the vote of each vertex for each cluster, with the prices of clusters, if
    # limits of sizes have an effect. Shares are then averages of votes instead of h_k(x).
    votes: Array | None = None
    prices: Array | None = None  # (K,): what the limits add to the score of each cluster

    most_columns: ClassVar[int] = 100  # embeddings with more columns are sparse

    @classmethod
    def from_labels(
        cls,
        labels: Indices,
        graph: Graph,
        affinity: Affinity,
        cut: Cut,
        n_clusters: int,
        outlier_quantile: float,
    ) -> FittedDiscreteCut:
        """Make the fitted cut from the clusters of a graph's vertices."""
        labels = np.argsort(by_size(labels, graph.multiplicity, n_clusters))[labels]
        _warn_about_empty_clusters(labels, n_clusters)
        at_vertices = affinity.shares_at_vertices(graph, labels, n_clusters)
        return cls(
            graph.outlier_threshold(outlier_quantile),
            Partition._without_rotation(leading_clusters(at_vertices)[0], n_clusters),
            n_components=len(np.unique(graph.components())),
            affinity=affinity,
            cut=cut,
            voters=labels,
            links=links_between(graph, labels, n_clusters),
        )

    @property
    def n_clusters(self) -> int:
        return int(self.links.shape[0])

    @property
    def functions(self) -> Eigenfunctions:
        """Raise an error: there are no eigenfunctions."""
        expected = "be 'relaxed' for what eigenvalues and eigenfunctions tell"
        got = "a model of a discrete cut, which has no eigenvalues"
        raise invalid("solver", expected, got, "fit GPOD with solver='relaxed'", NoEigenfunctions)

    rotation = rotation_of_vectors = temperature = functions

    def _scored(self, X: Any) -> tuple[Any, Array]:
        """Return h_k(x) of each row as a sparse array, and its support."""
        if self.votes is None:
            return self.affinity.shares(X, self.voters, self.n_clusters)
        return self.affinity.apply(X, self.votes).shares()

    def at_training_rows(self, graph: Graph, X: Any) -> tuple[Indices | None, Any]:
        if not graph.has_rows:
            return None, None
        at_rows, is_kept = self._at_rows(graph), graph.keeps_embedding(self.n_clusters)
        return leading_clusters(at_rows)[0], self._embedded(at_rows) if is_kept else None

    def labels_at(self, graph: Graph, X: Any) -> Indices:
        return leading_clusters(self._at_rows(graph))[0]

    def _at_rows(self, graph: Graph) -> Any:
        if self.votes is not None:
            return csr_array(_averages_at_rows(self.affinity, graph, self.votes))
        at_vertices = self.affinity.shares_at_vertices(graph, self.voters, self.n_clusters)
        return graph.shares_at_rows(at_vertices, self.voters)

    def _embedded(self, shares: Any) -> Any:
        return shares.toarray() if self.n_clusters <= self.most_columns else shares

    def error(self, X: Array, sample_weight: Any = None) -> float:
        """Return the mean share of a row's weight that leaves its cluster."""
        shares = self.affinity.shares(X, self.voters, self.n_clusters)[0]
        own = shares[np.arange(shares.shape[0]), self.labels(X)]
        weight = check_sample_weight(sample_weight, X.shape[0])
        return float(np.average(1 - np.asarray(own).ravel(), weights=weight))

    def reordered(self, columns: Indices) -> FittedDiscreteCut:
        numbers = np.argsort(columns)
        return replace(
            self,
            partition=replace(self.partition, labels=numbers[self.partition.labels]),
            voters=numbers[self.voters],
            links=self.links[columns][:, columns],
            votes=None if self.votes is None else self.votes[:, columns],
            prices=None if self.prices is None else self.prices[columns],
        )

    @property
    def directions(self) -> Array:
        return np.eye(self.n_clusters)

    def embedding(self, X: Array, dtype: Any = np.float64) -> Any:
        return self._embedded(self._scored(X)[0]).astype(dtype)

    def _leading(self, scores: Any) -> tuple[Indices, Array]:
        return leading_clusters(scores)

    def _probabilities(self, scores: Any, labels: Indices, certain: Array) -> Array:
        """Return ``c h_k(x) + (1 - c) / K``, with the label as the first of the largest."""
        shares, certain = scores.toarray(), certain[:, np.newaxis]
        every = np.arange(len(labels))
        shares[every, labels] = shares.max(axis=1)  # others may be larger by rounding
        odds = certain * shares + (1 - certain) / self.n_clusters
        at_label = odds[every, labels][:, np.newaxis]
        is_before = np.arange(self.n_clusters) < labels[:, np.newaxis]
        np.minimum(odds, np.where(is_before, at_label * (1 - NUDGE), at_label), out=odds)
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))

    def leads(self, embedding: Any) -> Array:
        """Return the lead of the label of each row over the second cluster, given its embedding."""
        shares = csr_array(embedding)
        has_any, leads = np.diff(shares.indptr) > 0, np.zeros(shares.shape[0])
        leads[has_any] = leading_clusters(shares[has_any])[1]
        return leads

    def probabilities_of_labels(self, embedding: Any) -> Array:
        largest = embedding.max(axis=1)
        return np.asarray(largest.toarray() if issparse(largest) else largest).ravel()

    def _state(self) -> dict[str, Any]:
        state = super()._state()
        state |= {"voters": self.voters, "labels_of_vertices": self.partition.labels}
        if self.links.nnz:
            state["links"] = csr_state(self.links)
        if self.votes is not None:
            state |= {"votes": self.votes, "prices": self.prices}
        return state


def _restored_clusters(state: StateReader, n_vertices: int, K: int) -> dict[str, Any]:
    """Return the fields that only a discrete cut has, from its saved ``_state()``."""
    labels = state.indices("labels_of_vertices", (n_vertices,), below=K)
    links = state.csr("links", K, K) if "links" in state else csr_array((K, K))
    if links.nnz and not 0 <= links.data.min() <= links.data.max() <= LARGEST:
        raise ModelFileError("links must be weights from 0 on.")
    voters = state.indices("voters", (n_vertices,), below=K)
    partition = Partition._without_rotation(labels, K)
    parts: dict[str, Any] = {"partition": partition, "voters": voters, "links": links}
    if "votes" in state:
        votes = parts["votes"] = state.array("votes", (n_vertices, K), 0.0, 1.0)
        if not (votes.sum(axis=1) > 0.5).all():
            raise ModelFileError("votes of a vertex must add up to 1.")
        parts["prices"] = state.array("prices", (K,), -LARGEST, LARGEST)
    return parts


def leading_clusters(shares: Any) -> tuple[Indices, Array]:
    """Return the cluster with the largest share of each (sparse) row, and its lead."""
    starts, columns, data = shares.indptr[:-1], shares.indices, shares.data
    if not len(starts):
        return np.empty(0, dtype=np.intp), np.empty(0)
    n_entries = np.diff(shares.indptr)
    largest = np.maximum.reduceat(data, starts)
    is_largest = data >= np.repeat(largest, n_entries) - TIE
    labels = np.minimum.reduceat(np.where(is_largest, columns, shares.shape[1]), starts)
    others = np.where(columns == np.repeat(labels, n_entries), 0.0, data)
    return labels.astype(np.intp), np.maximum(largest - np.maximum.reduceat(others, starts), 0.0)


def with_size_limits(
    fitted: FittedCut,
    graph: Graph,
    X: Any,
    *,
    low: Any,
    high: Any,
    sample_weight: Array | None = None,
    is_sample: bool = False,
) -> FittedCut:
    """Return a cut whose clusters satisfy limits of sizes, or ``fitted`` if its clusters do.

    The vertices vote for clusters. The score of a row for a cluster is the weighted average of
    these votes, plus a price of the cluster that changes its size (``extension/sizes.py``).
    """
    # X has the rows of the graph, or (``is_sample``) all rows, if the graph has only a sample.
    # Sizes count the rows of X if possible, and otherwise the weights of landmarks.
    affinity, K, weight = fitted.affinity, fitted.n_clusters, graph.multiplicity
    of_rows = is_sample or (graph.has_rows and not isinstance(graph, RowGraph))
    if of_rows:
        counted = np.ones(X.shape[0]) if sample_weight is None else sample_weight
        # After an update, landmarks also stand for rows that are no longer in memory.
        of_rows = is_sample or math.isclose(counted.sum(), graph.n_rows)
        weight = counted if of_rows else weight
    limits = SizeLimits.from_parameters(low, high, K, weight)
    if limits is None:
        return fitted
    labels = fitted.partition.labels
    if of_rows:
        labels = fitted.labels(X) if is_sample else fitted.labels_at(graph, X)
    if not limits.excess(np.bincount(labels, weight, K)).any():
        return fitted
    votes = _votes_of_vertices(fitted)
    at_vertices = affinity.averages_at_vertices(graph, votes)
    scores = at_vertices
    if is_sample:
        values = affinity.apply(X, votes).values
        scores = values / values.sum(axis=1, keepdims=True)
    elif of_rows:
        scores = _averages_at_rows(affinity, graph, votes)
    prices, _ = price_clusters(scores, weight, limits)
    prices = prices - prices.min()
    # As ``labels`` will compute it: shares that add up to 1, with ties within rounding.
    given = assign((scores + prices) / (1 + prices.sum()))
    excess = limits.excess(np.bincount(given, weight, K))
    if excess.any():
        warn_user(
            f"Some clusters miss the limits of {limits.low:g} to {limits.high:g} rows by up to "
            f"{np.abs(excess).max():g}, because a weighted row, or rows with the same neighbours, "
            "cannot be divided."
        )
    priced = votes + prices
    labels = assign(at_vertices + prices)
    discrete = FittedDiscreteCut(
        fitted.outlier_threshold,
        Partition._without_rotation(labels, K),
        fitted.n_components,
        affinity=affinity,
        cut=fitted.cut,
        voters=labels,
        links=links_between(graph, labels, K),
        votes=priced / priced.sum(axis=1, keepdims=True),
        prices=prices,
        is_guided=fitted.is_guided,
    )
    if fitted.is_guided:  # clusters keep the numbers of their classes
        return discrete
    return discrete.reordered(by_size(labels, graph.multiplicity, K))


def _votes_of_vertices(fitted: FittedCut) -> Array:
    """Return the vote of each vertex for each cluster; a small part is by distance to its mean."""
    affinity, K, labels = fitted.affinity, fitted.n_clusters, fitted.partition.labels
    if isinstance(fitted, FittedDiscreteCut):
        votes = np.eye(K)[fitted.voters]
    else:
        scores = normalize_rows(fitted.functions.at_training_vertices()) @ fitted.rotation
        votes = np.exp((scores - scores.max(axis=1, keepdims=True)) / fitted.temperature)
        votes /= votes.sum(axis=1, keepdims=True)
    places = getattr(affinity, "rows_", getattr(affinity, "landmark_rows_", None))
    if places is None:
        return votes
    members = csr_array((affinity.multiplicity_, labels, np.arange(len(labels) + 1)), votes.shape)
    sizes = np.asarray(members.sum(axis=0))
    places = places / (abs(places).max() or 1.0)  # so that squares are finite
    means = members.T @ places
    means = (means.toarray() if issparse(means) else means) / np.maximum(sizes, 1)[:, np.newaxis]
    own = places.multiply(places).sum(axis=1) if issparse(places) else (places**2).sum(axis=1)
    squared = np.asarray(own)[:, np.newaxis] - 2 * (places @ means.T) + (means**2).sum(axis=1)
    squared[:, sizes == 0] = squared.max()
    # Linear in the squared distance: borders between means are straight, and prices move them.
    near = squared.mean(axis=1, keepdims=True) - squared
    near = (1 + near / (np.abs(near).max() or 1.0)) / fitted.n_clusters
    return (1 - _BY_MEANS) * votes + _BY_MEANS * near


def links_between(graph: Graph, labels: Indices, n_clusters: int) -> Any:
    """Return the total weight of edges between each two clusters of a graph."""
    n, count = graph.n_vertices, graph.multiplicity
    indicators = csr_array((count, labels, np.arange(n + 1)), shape=(n, n_clusters))
    if not issparse(graph.weights):
        return csr_array(indicators.T @ (graph.n_rows * graph.matmat(indicators.toarray())))
    return csr_array(indicators.T @ graph.weights @ indicators)


def _averages_at_rows(affinity: Affinity, graph: Graph, V: Array) -> Array:
    """Return the averages of values at vertices that training rows get, as new rows would."""
    return np.asarray(graph.at_rows(affinity.averages_at_vertices(graph, V), np.asarray))


def _restored_functions(
    state: StateReader, affinity: Affinity, cut: Cut, n_clusters: int
) -> Eigenfunctions:
    """Return the eigenfunctions of a fitted cut, or combinations of them, from a file."""
    n_vertices = len(affinity.multiplicity_)
    is_combined = "combination" in state
    n_pairs = state.integer("n_combined", n_clusters, n_vertices) if is_combined else n_clusters
    pairs = EigenPairs._restored(state.part("pairs"), n_vertices, n_pairs)
    degrees = state.array("degrees", (n_vertices,), 0.0, 1e140)
    if (np.abs(pairs.products) > 2 * np.outer(degrees, np.abs(pairs.vectors).max(axis=0))).any():
        raise ModelFileError("products must be averages of vectors, times degrees.")
    functions = EXTENSIONS[state.word("form", EXTENSIONS)](affinity, cut, pairs, degrees)
    return CombinedFunctions._restored(functions, state, n_clusters) if is_combined else functions


def _temperature(functions: Eigenfunctions, rotation: Array) -> float:
    """Return the temperature of probabilities that suits the margins of training vertices."""
    at_vertices, weight = functions.at_training_vertices(), functions.affinity.multiplicity_
    some = slice(None, None, -(-len(weight) // _ENOUGH_VERTICES))
    scores = normalize_rows(at_vertices[some]) @ rotation
    return fitted_temperature(margins_of(scores), weight[some])


def warn_about_tiny_clusters(fitted: FittedCut, graph: Graph) -> None:
    """Warn if a cluster has less than a twentieth of the rows of an average cluster."""
    sizes = np.bincount(fitted.partition.labels, graph.multiplicity, fitted.n_clusters)
    if sizes.min() >= _TINY_SHARE * graph.n_rows / len(sizes):
        return
    listed = ", ".join(f"{size:.0f}" for size in np.sort(sizes)[:_LISTED])
    warn_user(
        "The smallest cluster may be a few outliers: it is less than a twentieth of an average one "
        f"(sizes, ascending: {listed}). Drop outliers, lower n_clusters, or try another affinity."
    )
