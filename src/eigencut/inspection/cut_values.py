"""What a partition costs, ``sum_k c_k / v_k``: RatioCut and NCut on training and on new rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import check_array

from eigencut._utils.arrays import Array, Indices, as_numpy
from eigencut._utils.validation import check_choice, check_fraction
from eigencut.affinities import named_affinity
from eigencut.cut import CUTS
from eigencut.exceptions import invalid
from eigencut.graphs.base import RowGraph
from eigencut.theory.errors import (
    CutValue,
    RowPairs,
    cut_of_pairs,
    measured_on,
    pairs_of_cut,
    row_counts,
)


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
    """Return RatioCut or NCut of a partition: how much of the weights leaves its clusters.

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
    >>> result = cut_value([0, 0, 1, 1], W, affinity="precomputed", self_weights=True)
    >>> result.per_cluster.round(3), round(result.value, 3)
    (array([0.111, 0.111]), 0.222)
    """
    confidence = check_fraction("confidence", confidence, 0.95)
    is_model = hasattr(model_or_labels, "predict")
    if cut is not None or not is_model:
        cut = "ncut" if cut is None else cut
        check_choice("cut", cut, tuple(CUTS))
    if not is_model:
        labels, pairs = _labelled_pairs(
            model_or_labels, X, sample_weight, affinity, with_itself=self_weights is not False
        )
        K = int(labels.max()) + 1
        return cut_of_pairs(pairs, labels, CUTS[str(cut)], K, confidence=confidence)
    if affinity is not None:
        expected, remedy = "be left out with a model, which has one", "pass labels instead of it"
        raise invalid("affinity", expected, repr(affinity), remedy)
    with measured_on(model_or_labels, X, sample_weight) as (gpod, rows, counts):
        pairs, labels = pairs_of_cut(gpod.fitted_cut_, rows, counts, self_weights)
        largest = None if rows is None else float(gpod.fitted_cut_.affinity.largest_weight_)
        which, K = CUTS[cut or gpod.cut], len(gpod.eigenvalues_)
        return cut_of_pairs(pairs, labels, which, K, largest, confidence)


def _labelled_pairs(
    labels: ArrayLike, X: Any, sample_weight: ArrayLike | None, affinity: Any, with_itself: bool
) -> tuple[Indices, RowPairs]:
    """Return labels numbered from 0, and the pairs of the graph of an affinity on X."""
    if X is None:
        raise invalid("X", "be given with labels", None, "pass the rows they belong to")
    own = clone(named_affinity("gaussian" if affinity is None else affinity))
    sparse_form = "csr" if own.accepts_sparse else False
    rows = check_array(as_numpy(X), accept_sparse=sparse_form, dtype=np.float64)
    given = np.asarray(as_numpy(labels))
    if given.shape != (rows.shape[0],):
        expected = f"hold one label for each of the {rows.shape[0]} rows of X"
        raise invalid("labels", expected, f"shape {given.shape}", "pass both for the same rows")
    counts = row_counts(sample_weight, rows.shape[0])
    if counts is not None and not counts.all():
        raise invalid("sample_weight", "be positive with labels", "zeros", "leave out these rows")
    numbers = np.unique(given, return_inverse=True)[1].reshape(-1)
    graph = own.fit_graph(rows, counts)
    if not isinstance(graph, RowGraph):  # landmarks stand between the rows
        return numbers, RowPairs.from_rows(own, rows, counts, with_itself)
    # Rows at one place may have different labels, so each row is a place of its own here.
    at, n = graph.vertex_of_row, graph.n_rows
    of_each = np.ones(len(at)) if counts is None else counts

    def all_sums(V: Array) -> Array:
        summed = np.zeros((graph.n_vertices, V.shape[1]))
        np.add.at(summed, at, of_each[:, np.newaxis] * V)
        return n * graph.matmat(summed)[at]

    return numbers, RowPairs(of_each, graph.self_weights[at], all_sums, with_itself)
