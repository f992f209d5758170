"""A graph of everything a model has seen and some new rows, cut anew.

Landmarks go on from their sums; affinities that keep their rows are fitted again on these, each
counting as often as it was seen, and the new ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse, vstack

from eigencut.affinity.landmark_growth import grown
from eigencut.data.rows import Rows
from eigencut.data.validation import rows_that_count
from eigencut.extension.combined import CombinedFunctions
from eigencut.fitted import FittedCut
from eigencut.graph.base import Graph, RowGraph
from eigencut.living.matching import Shared
from eigencut.runtime.arrays import Array
from eigencut.selection.automatic import choose_for_graph
from eigencut.selection.candidates import is_number

_LEAST_WEIGHT = 1 / 64  # of a row; one that has decayed to less is forgotten


@dataclass(frozen=True)
class Refitted:
    """A graph with more rows, its fitted cut, and the places that the one before knew too.

    The rows of the graph are the new ones alone if ``has_new_rows``.
    """

    graph: Graph
    fitted: FittedCut
    shared: Shared
    n_new_landmarks: int = 0
    has_new_rows: bool = False

    @property
    def sizes(self) -> Array:
        """Rows of each cluster."""
        labels, K = self.fitted.partition.labels, len(self.fitted.rotation)
        return np.asarray(np.bincount(labels, self.graph.multiplicity, K), dtype=np.float64)


def refitted(model: Any, source: Any, sample_weight: Array | None, decay: float) -> Refitted:
    """The model's cut, as if it had seen these rows too.

    Parameters
    ----------
    model : fitted GPOD
    source : array, sparse array or Rows
    sample_weight : array of shape (n_rows,), or None
    decay : float
        What each row that was seen before counts from now on.
    """
    if isinstance(model.fitted_cut_.functions, CombinedFunctions):
        raise ValueError(
            "model must be fitted without known labels and pairs to be updated, since it does not "
            "keep these. Got one that was fitted with them; fit it anew on all rows, with "
            "y = -1 for rows that nothing is known of."
        )
    keeps = model.affinity_.keeps
    if keeps == "sums":
        return _from_sums(model, source, sample_weight, decay)
    if keeps == "rows":
        return _from_rows(model, source, sample_weight, decay)
    raise ValueError(
        "model must keep rows, or sums over rows, to be updated. Got one with "
        f"{type(model.affinity_).__name__}, which has neither; fit it anew on all rows."
    )


def _from_sums(model: Any, source: Any, sample_weight: Array | None, decay: float) -> Refitted:
    before, n_new = model.fitted_cut_, 0 if isinstance(source, Rows) else source.shape[0]
    source, sample_weight = rows_that_count(model, source, sample_weight)
    clusters = before.partition.labels
    # With K given, one of the others would have to be cut in place of a cluster that has gone.
    may_go = None if is_number(model.n_clusters) else clusters
    found = grown(before.affinity, source, sample_weight, before.judged, decay, may_go)
    is_left = found.places >= 0
    K_so_far = len(np.unique(clusters[is_left]))
    chosen = choose_for_graph(found.graph, found.affinity, model.n_clusters, K_so_far)
    graph, fitted = model._cut_graph(source, sample_weight, chosen)
    shared = Shared(
        clusters[is_left],
        fitted.partition.labels[found.places[is_left]],
        decay * before.affinity.multiplicity_[is_left],
    )
    has_new_rows = graph.has_rows and graph.n_labels == n_new
    return Refitted(graph, fitted, shared, found.n_new_landmarks, has_new_rows)


def _from_rows(model: Any, source: Any, sample_weight: Array | None, decay: float) -> Refitted:
    before = model.fitted_cut_
    counts = decay * before.affinity.multiplicity_
    is_left = counts >= min(_LEAST_WEIGHT, counts.max())
    rows, counts = before.affinity.rows_[is_left], counts[is_left]
    source, sample_weight = rows_that_count(model, source, sample_weight)
    everything = vstack([rows, source], "csr") if issparse(rows) else np.vstack([rows, source])
    of_new = np.ones(source.shape[0]) if sample_weight is None else sample_weight
    weight = np.concatenate([counts, of_new])
    chosen = model._choices(everything, weight)
    graph, fitted = model._cut_graph(everything, weight, chosen)
    if isinstance(graph, RowGraph):
        after = fitted.partition.labels[graph.vertex_of_row[: len(counts)]]
    else:  # so many rows by now that landmarks stand for them
        after = fitted.labels(rows)
    return Refitted(graph, fitted, Shared(before.partition.labels[is_left], after, counts))
