"""Whether rows that show no clear clusters may be one: a quick form of ``risk.significance``.

The relaxed cut of some of the rows is compared with that of samples of the same two nulls. The
first sample that has a cut as small ends the test: of 19 samples of each, none may.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone

from eigencut.affinity import Affinity
from eigencut.cut import CUTS
from eigencut.exceptions import GraphWarning
from eigencut.runtime.arrays import Array
from eigencut.runtime.progress import without_progress
from eigencut.selection.some_rows import some_rows
from eigencut.selection.spectrum import Spectrum
from eigencut.solvers.relaxed_cut import relaxed_cut

_MANY_ROWS = 1000  # of these noise was not seen to have a score above 0.4, of 200 above 1.6;
SURE, _SURE_OF_MANY = 2.0, 0.8  # from these scores on, rows are not taken for one cluster
_ROWS = 1000  # that are compared, at most
_COLUMNS = 30  # principal components that are compared, at most
_SAMPLES = 19  # of each null: p = 0.05 if none has as small a cut
_ROUNDING = 1e-12  # cut values that differ by less are equal


def is_sure(score: float, n_rows: int) -> bool:
    """Whether a number of clusters is too clear for noise, so that no test is needed."""
    return score >= (SURE if n_rows < _MANY_ROWS else _SURE_OF_MANY)


def may_be_one_cluster(X: Array, affinity: Affinity, n_clusters: int, seed: int = 0) -> bool:
    """Whether a sample of one cluster was cut as easily into K as the rows of X.

    Parameters
    ----------
    X : array of shape (n, n_features)
    affinity : Affinity
        Not fitted here, but copies of it.
    n_clusters : int
    seed : int

    Notes
    -----
    Principal axes are functions of the covariance, which samples share; so the test of the
    Gaussian null is as exact on some principal components as on all columns.
    """
    from eigencut.risk.significance import SameCovariance, smoothed_cluster

    rows, _ = some_rows(X, _ROWS)
    rows = rows[np.lexsort(rows.T)]  # samples are drawn of rows by number
    if n_clusters >= len(rows):
        return False
    null = SameCovariance(rows, _COLUMNS)
    rng = np.random.RandomState(seed)
    with warnings.catch_warnings(), without_progress():
        warnings.simplefilter("ignore", GraphWarning)
        rows = null.sample(null.scores)
        own = Spectrum.of(rows, clone(affinity), CUTS["ncut"], n_clusters)
        own.partition(n_clusters, n_init=2)
        labels = own.predict(rows, n_clusters)
        most = float(own.pairs.values.sum()) + _ROUNDING
        for _ in range(_SAMPLES):
            for draw in (
                smoothed_cluster(null.scores, labels, rng),
                rng.standard_normal(null.scores.shape),
            ):
                if _cut(null.sample(draw), affinity, n_clusters) <= most:
                    return True
    return False


def _cut(rows: Array, affinity: Affinity, n_clusters: int) -> float:
    copy: Any = clone(affinity)
    graph = copy.fit_graph(rows)
    return float(relaxed_cut(graph, copy, CUTS["ncut"], n_clusters).pairs.values.sum())
