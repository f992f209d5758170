"""Units of columns: rows are cut as they are, or with columns of about the same spread.

Distances see the columns with the largest values. Where these are few, both forms of the rows are
cut, and both are compared with one cluster: normal rows of the same covariance. The form whose J
(``auto/graph.py``) is farther below that of one cluster is taken. If K is not given, one form may
show more clusters, which are parts of those of the other: then it is taken.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse

from eigencut._utils.arrays import TINY, Array, Indices
from eigencut._utils.running import for_each, note, row_blocks, stage, warn_user, without_progress
from eigencut.affinities import RankedNeighbors
from eigencut.auto.graph import CutOfGraph, Judges, compared_cuts
from eigencut.auto.n_clusters import some_rows
from eigencut.auto.policy import POLICY
from eigencut.cut import CUTS
from eigencut.inspection.refits import SameCovariance

if TYPE_CHECKING:
    from eigencut.auto.choose import Task


def scales_of_columns(
    X: Any, task: Task, sample_weight: Array | None = None, names: Any = None
) -> Array | None:
    """Return what to divide each column by, a power of two; or None: rows stay as they are.

    A warning names the columns that distances are mostly those of, if rows stay as they are.
    """
    from sklearn.metrics import homogeneity_score

    is_open = task.is_auto and task.metric is None and task.n_clusters != 1
    if not is_open or issparse(X) or X.dtype != np.float64 or X.shape[1] == 1:
        return None
    spread = _spread(X, sample_weight)
    share = np.square(spread / max(float(spread.max()), TINY))
    share /= max(float(share.sum()), TINY)
    n_seen, d = 1 / max(float(np.square(share).sum()), TINY), len(share)
    if n_seen >= 1 + POLICY.seen_columns * d:
        return None
    n_some = POLICY.few_rows
    if isinstance(task.n_clusters, Integral):
        n_some = max(n_some, POLICY.some_rows_per_cluster * int(task.n_clusters))
    rows, count = some_rows(X, n_some, sample_weight)
    spread = _spread(rows, count)
    exponents = np.rint(np.log2(np.where(spread > 0, spread, max(float(spread.max()), TINY))))
    scales = np.exp2(np.clip(exponents, -900, 900))
    with stage("units of columns"), warnings.catch_warnings(), without_progress():
        warnings.simplefilter("ignore")
        both = rows / scales.max(), rows / scales
        forms = [SameCovariance(one, POLICY.tested_columns) for one in both]
        as_given, scaled = (_best_cut(one, _number(one, task), task) for one in forms)
    few, many = sorted((as_given, scaled), key=lambda one: one.labels.max())
    is_finer = many.labels.max() > few.labels.max() and many.clearness > 0
    are_parts = is_finer and homogeneity_score(few.labels, many.labels) >= POLICY.same
    is_scaled = many is scaled if are_parts else scaled.clearness > as_given.clearness
    taken = "divided by their spread" if is_scaled else "left as they are"
    note(f"columns are {taken}: clusters are clearest that way")
    if is_scaled:
        return scales
    largest = np.argsort(-share, kind="stable")[: max(1, d // 8)]
    listed = ", ".join(str(i) if names is None else repr(str(names[i])) for i in largest)
    warn_user(
        f"The column(s) {listed} dominate the distances between rows "
        f"({share[largest].sum():.0%} of all variance). If the columns have different units, "
        "use TableModel(GPOD(...)), which brings them to one scale."
    )
    return None


def _spread(rows: Array, count: Array | None) -> Array:
    """Return the standard deviation of each column, block by block; 0 where it is rounding."""
    weight = np.ones(len(rows)) if count is None else count
    blocks = list(row_blocks(len(rows), rows.shape[1], 1 << 18))

    def over_blocks(function: Callable[[slice], Array], combine: Any = np.sum) -> Array:
        parts = np.empty((len(blocks), rows.shape[1]))

        def fill(place: int) -> None:
            parts[place] = function(blocks[place])

        for_each(fill, range(len(blocks)))
        return np.asarray(combine(parts, axis=0))

    # Divided by the largest, so that no square overflows.
    largest = np.maximum(over_blocks(lambda some: np.abs(rows[some]).max(axis=0), np.max), TINY)
    mean = over_blocks(lambda some: weight[some] @ (rows[some] / largest)) / weight.sum()
    squares = over_blocks(lambda some: weight[some] @ np.square(rows[some] / largest - mean))
    spread = np.sqrt(squares / weight.sum())
    return np.asarray(np.where(spread > 1e-12, spread * largest, 0.0))


def _number(form: SameCovariance, task: Task) -> int:
    """Return K, or how many clusters these rows have."""
    from eigencut.auto.choose import number_of_rows

    is_given = isinstance(task.n_clusters, Integral)
    return int(task.n_clusters) if is_given else number_of_rows(form.sample(form.scores), task)


@dataclass(frozen=True)
class _Cut:
    """The clusters of the rows in one form, and how far their J is below that of one cluster."""

    labels: Indices
    clearness: float


def _best_cut(form: SameCovariance, n_clusters: int, task: Task) -> _Cut:
    """Return the best cut; clusters with wide gaps between them are infinitely clear."""
    own = form.sample(form.scores)
    if not 1 < n_clusters <= len(own) // POLICY.rows_per_cluster:
        return _Cut(np.zeros(len(own), dtype=np.intp), 0.0)
    best, labels = _compared(own, n_clusters, task)
    if best.has_wide_gaps:
        return _Cut(labels, np.inf)
    draw = np.random.RandomState(0).standard_normal(form.scores.shape)
    of_one = _compared(form.sample(draw), n_clusters, task)[0].score
    return _Cut(labels, best.score - of_one)


def _compared(rows: Array, n_clusters: int, task: Task) -> tuple[CutOfGraph, Indices]:
    """Return the best cut of rows, and their labels."""
    searched = RankedNeighbors().search(rows, None)
    judges = Judges(searched, n_clusters, "euclidean")
    best = compared_cuts(judges, cut=CUTS["ncut"], starts=task.starts)[0]
    return best, judges.labels_at_rows(best, CUTS["ncut"])[searched.distinct.vertex_of_row]
