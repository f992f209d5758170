"""Whether rows that show no clear clusters may be one: a quick form of ``risk.significance``.

The relaxed cut of some of the rows is compared with that of samples of the same two nulls. The
first sample that has a cut as small ends the test: of 19 samples of each, none may. Where the cut
is far below all of the first samples, that ends it too.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.special import stdtrit
from sklearn.base import clone

from eigencut.affinity import Affinity
from eigencut.cut import CUTS
from eigencut.exceptions import GraphWarning
from eigencut.runtime.arrays import Array
from eigencut.runtime.progress import without_progress
from eigencut.selection.criteria import CLEAR
from eigencut.selection.some_rows import some_rows
from eigencut.selection.spectrum import Spectrum
from eigencut.solvers.relaxed_cut import relaxed_cut

# From these scores on, rows are not taken for one cluster. Noise was not seen to have one above 1.6
# with 200 rows, nor above 0.4 with 1000.
SURE, _SURE_OF_MANY = 2.0, 0.6
_FEW_ROWS, _FALL = 200, 0.75  # from which the score falls, and the power of the number of rows
_CLEAR_SHARE = 0.55  # of such a score: less does not stand out. Noisy moons of 150 to 300 rows
# had .6 to .95 for numbers that were wrong, and mostly more than 1 for two
_ROWS = 1000  # that are compared, at most
_COLUMNS = 30  # principal components that are compared, at most
_SAMPLES = 19  # of each null: p = 0.05 if none has as small a cut
_ROUNDING = 1e-12  # cut values that differ by less are equal
_FIRST_SAMPLES = 4  # after which the cut may be far below
_FAR = 0.995  # what a normal cut value is above, given those of the samples


def _sure_score(n_rows: int) -> float:
    by_rows = SURE * (_FEW_ROWS / n_rows) ** _FALL
    return min(max(by_rows, _SURE_OF_MANY), SURE)


def is_sure(score: float, n_rows: int) -> bool:
    """Whether a number of clusters is too clear for noise, so that no test is needed."""
    return score >= _sure_score(n_rows)


def clear_score(n_rows: int) -> float:
    """The score below which a number of clusters does not stand out, more of few rows."""
    return max(CLEAR, _CLEAR_SHARE * _sure_score(n_rows))


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
        most = _cut(rows, affinity, n_clusters) + _ROUNDING
        found: list[list[float]] = []
        while len(found) < _SAMPLES and not is_far_below(most, found):
            found.append([])
            for draw in (
                smoothed_cluster(null.scores, labels, rng),
                rng.standard_normal(null.scores.shape),
            ):
                found[-1].append(_cut(null.sample(draw), affinity, n_clusters))
                if found[-1][-1] <= most:
                    return True
    return False


def _cut(rows: Array, affinity: Affinity, n_clusters: int) -> float:
    """The relaxed cut, roughly: samples of the same null differ by more."""
    copy: Any = clone(affinity)
    graph = copy.fit_graph(rows)
    cut = relaxed_cut(graph, copy, CUTS["ncut"], n_clusters, n_rough=n_clusters)
    return float(cut.pairs.values.sum()) + n_clusters / len(rows)


def is_far_below(cut: float, samples: list[list[float]]) -> bool:
    """Whether a cut is below what the samples of each null make likely for a further one.

    Logarithms of cut values are nearly normal; the bound is that of their prediction interval.
    """
    m = len(samples)
    if m < _FIRST_SAMPLES:
        return False
    logs = np.log(samples)
    spread = logs.std(axis=0, ddof=1) * np.sqrt(1 + 1 / m)
    bounds = logs.mean(axis=0) - stdtrit(m - 1, _FAR) * spread
    return bool((np.log(cut) < bounds).all())
