"""What a partition costs: RatioCut and NCut of clusters, on training and on new rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from eigencut._utils.arrays import Array, Indices, as_numpy
from eigencut._utils.json_ready import JsonReady
from eigencut._utils.threads import threads
from eigencut._utils.validation import check_choice, check_fraction
from eigencut.affinities import named_affinity
from eigencut.cut import CUTS, Cut
from eigencut.discretization import assign
from eigencut.graphs.base import RowGraph
from eigencut.io.of_tables import takes_tables
from eigencut.io.validation import check_rows
from eigencut.theory.errors import RowPairs, refuse_weights_alone, row_counts


@dataclass(frozen=True)
class CutValue(JsonReady):
    """The value of the discrete cut, Eqs. 4 and 5.

    Attributes
    ----------
    cut : str
    value : float
        The sum of ``per_cluster``.
    standard_error : float
        Of ``value``, by the jackknife: each row left out in turn, the labels of the others kept.
    per_cluster : array of shape (K,)
        What leaves a cluster, over its size: NCut's is the conductance, the share of the weight
        of its rows that goes to others, from 0 to 1. NaN, and not in the sum, for a cluster
        without a row, or without any weight.
    sizes : array of shape (K,)
        Rows of each cluster.
    interval : tuple of float, or None
        Holds the value of the population with probability ``confidence``, whatever the
        distribution; of held-out rows only.
    confidence : float
    n_rows : float
        Rows, or what they count together.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from eigencut import GPOD, Gaussian
    >>> from eigencut.inspection import cut_value
    >>> X, _ = make_moons(150, noise=0.05, random_state=0)
    >>> model = GPOD(2, affinity=Gaussian(sigma=0.3)).fit(X[:100])
    >>> found = cut_value(model, X[100:])
    >>> found.per_cluster.shape, found.sizes.tolist()
    ((2,), [27, 23])
    """

    cut: str
    value: float
    standard_error: float
    per_cluster: Array
    sizes: Array
    interval: tuple[float, float] | None
    confidence: float
    n_rows: float


@takes_tables
def cut_value(
    model_or_labels: Any,
    X: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    cut: str | None = None,
    affinity: Any = None,
    self_weights: bool | None = None,
    confidence: float = 0.95,
) -> CutValue:
    """RatioCut or NCut of a partition: how much of the weights leaves its clusters.

        sum_k c_k / v_k,    c_k = E W(x, y) 1[x in k, y not in k],
                            v_k = E W(x, y) 1[x in k]  (NCut),  P(x in k)  (RatioCut)

    as means over pairs of rows. It is the F of the indicators of clusters scaled to unit norm: the
    F(u-ddot) of Theorems 2 and 4. On the graph of a fit, self-weights included, it is
    ``tr((Z^T M Z)^-1 Z^T L Z)`` with Z the indicators, and not below the sum of the eigenvalues.

    Parameters
    ----------
    model_or_labels : fitted GPOD, or array of shape (n_rows,)
        A model labels the rows itself, those without support too.
    X : array-like of shape (n_rows, n_features), optional
        Rows. With a model: rows that played no part in the fit; default: the training rows. With
        labels: the rows they belong to, or with ``affinity="precomputed"`` their affinities.
    sample_weight : array-like of shape (n_rows,), optional
        How many times each row of X counts; weights that are no integers count together as many
        rows as ``(sum w)^2 / sum w^2``.
    cut : {"ncut", "ratiocut"}, optional
        Default: the model's; "ncut" for labels.
    affinity : str, Affinity or callable, optional
        For labels: the weights, as in ``GPOD``, fitted on X. Default: "gaussian".
    self_weights : bool, optional
        Whether a row makes a pair with itself. Default: on the graph of a fit, as the fit does; not
        on new rows, where means over different rows estimate the population without bias. To
        compare both, pass False for both.
    confidence : float, default=0.95
        Of the interval.

    Returns
    -------
    CutValue

    Notes
    -----
    The interval is of Bernstein's kind, with variances bounded by what was measured. The kernel h
    of a mean over pairs lies between 0 and b, so its variance is at most ``b E h``, and by
    Hoeffding's decomposition of U-statistics, with ``N = floor(m / 2)``::

        |mean - E h| <= sqrt(2 b E(h) log(4 K / alpha) / N) + b log(4 K / alpha) / (3 N)

    holds for all c_k and v_k together, with probability 1 - alpha. It needs no assumption but that
    rows are independent, and is wide for few rows; the standard error is what to expect.

    References
    ----------
    .. [1] W. Hoeffding, "Probability Inequalities for Sums of Bounded Random Variables", Journal
       of the American Statistical Association 58, 13-30, 1963.
    .. [2] T. Peel, S. Anthoine, L. Ralaivola, "Empirical Bernstein Inequalities for U-Statistics",
       Advances in Neural Information Processing Systems 23, 2010.

    Examples
    --------
    >>> import numpy as np
    >>> W = np.array([[1, 1, 0, 0], [1, 1, 0.5, 0], [0, 0.5, 1, 1], [0, 0, 1, 1]])
    >>> found = cut_value([0, 0, 1, 1], W, affinity="precomputed", self_weights=True)
    >>> found.per_cluster.round(3), round(found.value, 3)
    (array([0.111, 0.111]), 0.222)
    """
    confidence = check_fraction("confidence", confidence, 0.95)
    if hasattr(model_or_labels, "predict"):
        how = (cut, affinity, self_weights, confidence)
        return _of_model(model_or_labels, X, sample_weight, *how)
    cut = "ncut" if cut is None else cut
    check_choice("cut", cut, tuple(CUTS))
    of_labels = (model_or_labels, X, sample_weight, affinity)
    labels, pairs = _labelled_pairs(*of_labels, self_weights is not False)
    return measure(pairs, labels, CUTS[cut], int(labels.max()) + 1, confidence=confidence)


def _of_model(
    model: Any,
    X: ArrayLike | None,
    sample_weight: ArrayLike | None,
    cut: str | None,
    affinity: Any,
    self_weights: bool | None,
    confidence: float,
) -> CutValue:
    check_is_fitted(model)
    if affinity is not None:
        raise ValueError(
            f"affinity must be left out with a model, which has one. Got {affinity!r}; pass "
            "labels instead of the model."
        )
    name = model.cut if cut is None else cut
    check_choice("cut", name, tuple(CUTS))
    fitted, K = model.fitted_cut_, len(model.eigenvalues_)
    with threads(model.n_jobs):
        if X is None:
            refuse_weights_alone(sample_weight)
            pairs = RowPairs.of_training_rows(fitted.affinity, self_weights is not False)
            return measure(pairs, fitted.partition.labels, CUTS[name], K, confidence=confidence)
        rows = check_rows(model, X, reset=False)
        counts = row_counts(sample_weight, rows.shape[0])
        pairs = RowPairs.of_rows(fitted.affinity, rows, bool(self_weights), counts)
        # Not predict(): a row that it leaves out still has a place in the population.
        labels, largest = assign(fitted.scores(rows)), float(fitted.affinity.largest_weight_)
        return measure(pairs, labels, CUTS[name], K, largest, confidence)


def _labelled_pairs(
    labels: ArrayLike,
    X: Any,
    sample_weight: ArrayLike | None,
    affinity: Any,
    with_itself: bool,
) -> tuple[Indices, RowPairs]:
    """The pairs of the graph of an affinity on X, and labels numbered from 0."""
    if X is None:
        raise ValueError("X must be given with labels. Got None; pass the rows they belong to.")
    own = clone(named_affinity("gaussian" if affinity is None else affinity))
    sparse_form = "csr" if own.accepts_sparse else False
    rows = check_array(as_numpy(X), accept_sparse=sparse_form, dtype=np.float64)
    given = np.asarray(as_numpy(labels))
    if given.shape != (rows.shape[0],):
        raise ValueError(
            f"labels must hold one label for each of the {rows.shape[0]} rows of X. Got shape "
            f"{given.shape}; pass both for the same rows."
        )
    counts = row_counts(sample_weight, rows.shape[0])
    if counts is not None and not counts.all():
        raise ValueError(
            "sample_weight must be positive with labels. Got zeros; leave out these rows."
        )
    numbers = np.unique(given, return_inverse=True)[1].reshape(-1)
    graph = own.fit_graph(rows, counts)
    if not isinstance(graph, RowGraph):  # landmarks stand between the rows
        return numbers, RowPairs.of_rows(own, rows, with_itself, counts)
    # Rows at one place may have different labels, so each row is a place of its own here.
    at, n = graph.vertex_of_row, graph.n_rows
    of_each = np.ones(len(at)) if counts is None else counts

    def all_sums(V: Array) -> Array:
        summed = np.zeros((graph.n_vertices, V.shape[1]))
        np.add.at(summed, at, of_each[:, np.newaxis] * V)
        return n * graph.matmat(summed)[at]

    return numbers, RowPairs(of_each, graph.self_weights[at], all_sums, with_itself)


def measure(
    pairs: RowPairs,
    labels: Indices,
    cut: Cut,
    n_clusters: int,
    largest_weight: float | None = None,
    confidence: float = 0.95,
) -> CutValue:
    """The value of a partition on pairs of rows; given the largest weight, with an interval."""
    is_in = labels[:, np.newaxis] == np.arange(n_clusters)
    to = pairs.sums(is_in.astype(np.float64))  # weight from each row to each cluster
    count, total = pairs.counts[:, np.newaxis], to.sum(axis=1, keepdims=True)
    leaves = np.where(is_in, total - to, to)  # what a cluster's cut loses with a row
    sizes = (count * is_in).sum(axis=0)
    cuts = (count * is_in * leaves).sum(axis=0)
    if cut.mass_is_degree:  # the mass of a row is its degree
        itself = pairs.self_weights[:, np.newaxis] if pairs.with_itself else 0.0
        volumes = (count * is_in * total).sum(axis=0)
        left = volumes - np.where(is_in, total + to - itself, to)
    else:
        volumes = pairs.n_partners * sizes
        left = (pairs.n_partners - 1) * (sizes - is_in)
    per_cluster = _ratio(cuts, volumes)
    without = np.nansum(_ratio(np.maximum(cuts - leaves, 0.0), left), axis=1)
    n = pairs.n_rows
    mean = pairs.counts @ without / n
    spread = (n - 1) / n * (pairs.counts @ (without - mean) ** 2)
    interval = None
    if largest_weight is not None and not pairs.with_itself:
        all_pairs = n * pairs.n_partners
        interval = _interval(
            cut, cuts / all_pairs, volumes / all_pairs, n, largest_weight, confidence
        )
    return CutValue(
        cut=cut.name,
        value=float(np.nansum(per_cluster)),
        standard_error=math.sqrt(spread),
        per_cluster=per_cluster,
        sizes=np.round(sizes).astype(np.intp),
        interval=interval,
        confidence=confidence,
        n_rows=n,
    )


def _ratio(above: Array, below: Array) -> Array:
    """above / below, and NaN where there is nothing below."""
    is_there = below > 0
    return np.where(is_there, above / np.where(is_there, below, 1.0), np.nan)


def _interval(
    cut: Cut, cuts: Array, volumes: Array, n_rows: float, largest: float, confidence: float
) -> tuple[float, float]:
    """Bernstein's for c_k and v_k at once, and what that leaves of their ratios."""
    exponent = math.log(4 * len(cuts) / (1 - confidence))
    lowest_cut, highest_cut = _bernstein(cuts, largest / 2, exponent / (n_rows // 2))
    # Of degrees a mean over pairs; of rows a mean over rows.
    b, n = (largest, n_rows // 2) if cut.mass_is_degree else (1.0, n_rows)
    lowest_volume, highest_volume = _bernstein(volumes, b, exponent / n)
    most = 1.0 if cut.mass_is_degree else largest
    low = lowest_cut / np.maximum(highest_volume, np.finfo(np.float64).tiny)
    is_there = lowest_volume > 0
    high = np.where(is_there, highest_cut / np.where(is_there, lowest_volume, 1.0), most)
    return float(low.sum()), float(np.minimum(high, most).sum())


def _bernstein(mean: Array, b: float, rate: float) -> tuple[Array, Array]:
    """All t with ``|mean - t| <= sqrt(2 b t rate) + b rate / 3``: from, to."""
    a, shift = 2 * b * rate, b * rate / 3
    low = (np.sqrt(a + 4 * np.maximum(mean - shift, 0.0)) - math.sqrt(a)) / 2
    high = (np.sqrt(a + 4 * (mean + shift)) + math.sqrt(a)) / 2
    return low**2, high**2
