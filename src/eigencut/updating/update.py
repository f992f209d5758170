"""Updating a fitted model with more rows: it is cut again, and its clusters keep their numbers.

Landmarks add the new rows to their sums. Other affinities are fitted again on the rows that they
keep, with their counts, and on the new rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import starmap
from numbers import Integral
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse import coo_array, issparse, vstack

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.json_ready import JsonReady
from eigencut._utils.validation import is_real
from eigencut.affinities.landmarks import grown
from eigencut.auto.choose import choose, choose_for_graph
from eigencut.exceptions import invalid
from eigencut.extension.eigenfunctions import CombinedFunctions
from eigencut.extension.labelling import ClusterNumbers
from eigencut.fitted import FittedCut
from eigencut.graphs.base import Graph, RowGraph
from eigencut.io.rows import Rows
from eigencut.io.validation import check_rows, check_stream, rows_that_count
from eigencut.pipeline import extend_cut, task_of

NEW = -1  # in place of an earlier cluster


def rows_of_update(model: Any, X: Any) -> Any:
    """Check that rows, in memory or a stream, have the columns of the fit; return them scaled."""
    refuse_nothing(X, "update by")
    if not isinstance(X, Rows):
        return model.from_units(check_rows(model, X, reset=False))
    check_stream(model, X)
    if not model.affinity_.streams:
        expected = f"be rows in memory for a model with {type(model.affinity_).__name__}"
        raise invalid("X", expected, "eigencut.Rows", "use affinity='landmarks'", TypeError)
    if model.column_scales_ is None:
        return X

    def scaled(rows: Array, weight: Array | None) -> Any:
        rows = model.from_units(rows)
        return (rows, weight) if X.is_weighted else rows

    return Rows(lambda: starmap(scaled, X.weighted()), weighted=X.is_weighted)


def refuse_nothing(X: Any, purpose: str) -> None:
    """Raise an error if X has no rows, or if it is a stream and the purpose is "compare"."""
    if isinstance(X, Rows) and purpose == "compare":
        got, remedy = "a stream, eigencut.Rows", "pass the table, or a few thousand of its rows"
        raise invalid("X", "be rows in memory to compare", got, remedy, TypeError)
    shape = getattr(X, "shape", None) or np.shape(X if isinstance(X, (list, tuple)) else 0)
    if shape and isinstance(shape[0], int) and shape[0] == 0:
        raise invalid("X", f"have at least one row to {purpose}", "none", "leave such a table out")


def what_is_kept(affinity: Any, purpose: str, remedy: str) -> str:
    """Return "rows" or "sums", which the affinity keeps; raise an error if it keeps neither."""
    if affinity.keeps is None:
        got = f"one with {type(affinity).__name__}, which has neither"
        raise invalid("model", f"keep rows, or sums over rows, {purpose}", got, remedy)
    return str(affinity.keeps)


def checked_decay(decay: Any) -> float:
    """Return the decay as a float; raise an error unless it is above 0 and at most 1."""
    if not (is_real(decay) and 0 < decay <= 1):
        expected = "be a number above 0 and at most 1"
        raise invalid("decay", expected, repr(decay), "use 1 to forget nothing")
    return float(decay)


def rows_in_common(before: Indices, after: Indices, weight: Array, shape: tuple[int, int]) -> Array:
    """Return the weight that each later cluster (a row) shares with each earlier one."""
    return np.asarray(coo_array((weight, (after, before)), shape=shape).toarray())


def match_clusters(in_common: Array, sizes_after: Array) -> Indices:
    """Return the earlier cluster that each later one continues, or ``NEW``.

    Clusters are matched one to one, with the most rows in common. A pair counts as one cluster if
    it shares more than half of the rows of the smaller. ``sizes_after`` includes new rows.
    """
    smaller = np.minimum.outer(sizes_after, in_common.sum(axis=0))
    after, before = linear_sum_assignment(in_common, maximize=True)
    is_one = in_common[after, before] > smaller[after, before] / 2
    matched = np.full(len(sizes_after), NEW)
    matched[after[is_one]] = before[is_one]
    return matched


def continued(
    numbers: ClusterNumbers, matched: Indices, sizes: Array
) -> tuple[Indices, ClusterNumbers]:
    """Number later clusters; return the order of columns by number, and the numbers."""
    is_new = matched == NEW
    given = np.where(is_new, 0, numbers.numbers[matched])
    by_size = np.argsort(-sizes[is_new], kind="stable")
    given[np.flatnonzero(is_new)[by_size]] = numbers.n_given + np.arange(is_new.sum())
    columns = np.argsort(given)
    return columns, ClusterNumbers(given[columns], numbers.n_given + int(is_new.sum()))


@dataclass(frozen=True)
class Updated(JsonReady):
    """Which clusters were kept, which are new and which have gone. ``print`` it to read it."""

    kept: tuple[int, ...]  # numbers of clusters
    new: tuple[int, ...]
    retired: tuple[int, ...]  # whose numbers are not used again
    sizes: dict[int, float]  # rows of each present cluster, after decay
    n_rows: float  # of all clusters
    n_new_landmarks: int = 0  # placed for rows far from all others; 0 without landmarks

    def __str__(self) -> str:
        whole = np.diff(np.rint(np.cumsum([*self.sizes.values()])), prepend=0)  # so they add up
        lines = [f"{whole.sum():.0f} rows, {len(self.sizes)} clusters"]
        rows = {k: f" ({n:.0f} rows)" for k, n in zip(self.sizes, whole, strict=True)}
        for word in ("kept", "new", "retired"):
            listed = ", ".join(f"{k}{rows.get(k, '')}" for k in getattr(self, word))
            lines += [f"  {word:8} {listed}"] if listed else []
        if n := self.n_new_landmarks:
            lines.append(f"  {n} landmarks placed for rows unlike the training rows")
        return "\n".join(lines)


@dataclass(frozen=True)
class Refitted:
    """A graph with more rows, its fitted cut, and ``rows_in_common`` with the cut before."""

    graph: Graph
    fitted: FittedCut
    in_common: Array
    n_new_landmarks: int = 0
    has_new_rows: bool = False  # whether the graph has the new rows only

    @property
    def sizes(self) -> Array:
        """The number of rows of each cluster."""
        labels, K = self.fitted.partition.labels, self.fitted.n_clusters
        return np.asarray(np.bincount(labels, self.graph.multiplicity, K), dtype=np.float64)


def refitted(model: Any, source: Any, sample_weight: Array | None, decay: float) -> Refitted:
    """Cut again with the new rows, and with old rows multiplied by ``decay``."""
    before = model.fitted_cut_
    functions = getattr(before, "functions", None)  # of older files, which lack ``is_guided``
    if before.is_guided or isinstance(functions, CombinedFunctions):
        expected = "be fitted without known labels and pairs to be updated"
        got = "one that was fitted with them, which it does not keep"
        remedy = "fit it again on all rows, with known_labels=-1 for unknown rows"
        raise invalid("model", expected, got, remedy)
    keeps = what_is_kept(model.affinity_, "to be updated", "fit it again on all rows")
    n_new = 0 if isinstance(source, Rows) else source.shape[0]
    source, sample_weight = rows_that_count(source, sample_weight)
    if keeps == "sums":
        return _from_sums(model, source, sample_weight, decay, n_new=n_new)
    return _from_rows(model, source, sample_weight, decay)


def _from_sums(
    model: Any, source: Any, sample_weight: Array | None, decay: float, *, n_new: int
) -> Refitted:
    before, settings = model.fitted_cut_, model._settings()
    clusters = before.partition.labels
    # With a given K, a cluster that goes would force a cut through another one.
    may_go = None if isinstance(model.n_clusters, Integral) else clusters
    more = grown(before.affinity, source, sample_weight, before.outlier_threshold, decay, may_go)
    is_left = more.places >= 0
    K_so_far = len(np.unique(clusters[is_left]))
    chosen = choose_for_graph(more.graph, more.affinity, task_of(settings), K_so_far)
    fit = extend_cut(source, chosen, settings, sample_weight)
    model.choice_, graph, fitted = fit.compared, fit.graph, fit.fitted
    after, weight = fitted.partition.labels[more.places[is_left]], before.affinity.multiplicity_
    shape = fitted.n_clusters, before.n_clusters
    in_common = rows_in_common(clusters[is_left], after, decay * weight[is_left], shape)
    has_new_rows = graph.has_rows and graph.n_labels == n_new
    return Refitted(graph, fitted, in_common, more.n_new_landmarks, has_new_rows)


def _from_rows(model: Any, source: Any, sample_weight: Array | None, decay: float) -> Refitted:
    before, settings = model.fitted_cut_, model._settings()
    counts = decay * before.affinity.multiplicity_
    is_left = counts >= min(1 / 64, counts.max())  # other rows are forgotten
    rows, counts = before.affinity.rows_[is_left], counts[is_left]
    everything = vstack([rows, source], "csr") if issparse(rows) else np.vstack([rows, source])
    of_new = np.ones(source.shape[0]) if sample_weight is None else sample_weight
    weight = np.concatenate([counts, of_new])
    chosen = choose(everything, task_of(settings), weight)
    fit = extend_cut(everything, chosen, settings, weight)
    model.choice_, graph, fitted = fit.compared, fit.graph, fit.fitted
    if isinstance(graph, RowGraph) and not chosen.is_sample:
        after = fitted.partition.labels[graph.vertex_of_row[: len(counts)]]
    else:  # there are so many rows now that landmarks stand for them
        after = fitted.labels(rows)
    labels, shape = before.partition.labels[is_left], (fitted.n_clusters, before.n_clusters)
    return Refitted(graph, fitted, rows_in_common(labels, after, counts, shape))
