"""Numbers of clusters of one model, as another has them."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from eigencut.extension.cluster_numbers import ClusterNumbers
from eigencut.living.matching import Shared, continued, match_clusters
from eigencut.runtime.arrays import Array
from eigencut.runtime.threads import threads


def align_labels(model: Any, reference: Any, X: ArrayLike | None = None) -> Any:
    """The model with the cluster numbers of another model over the same columns.

    A cluster gets the number of the reference's cluster that it shares the most rows with, one to
    one, if these are more than half of the smaller of the two. Other clusters get numbers that the
    reference has never given, as at an ``update``; so numbers can have gaps.

    Parameters
    ----------
    model : fitted GPOD
        Stays as it is.
    reference : fitted GPOD
    X : array-like of shape (n_samples, n_features), optional
        Rows to compare labels on. Default: what the reference keeps of the rows that it has seen,
        its distinct rows or its landmarks, each counting as many rows as it stands for.

    Returns
    -------
    GPOD
        A copy; all but the numbers is the model's.

    Examples
    --------
    >>> import numpy as np
    >>> from eigencut import GPOD, align_labels
    >>> X = np.random.default_rng(0).normal(size=(60, 2)) + np.repeat([[0, 0], [9, 9]], 30, axis=0)
    >>> monday, tuesday = GPOD(2).fit(X), GPOD(2).fit(np.vstack([X, X[30:] + 0.1]))
    >>> monday.predict([[0, 0]]), tuesday.predict([[0, 0]])
    (array([0]), array([1]))
    >>> align_labels(tuesday, monday).predict([[0, 0]])
    array([0])
    """
    check_is_fitted(model)
    check_is_fitted(reference)
    if model.n_features_in_ != reference.n_features_in_:
        raise ValueError(
            "model and reference must be over the same columns. Got models of "
            f"{model.n_features_in_} and {reference.n_features_in_} columns."
        )
    rows, weight = _places(reference) if X is None else (X, None)

    def columns_of(one: Any) -> Any:
        return one._answer(rows, lambda checked: one.fitted_cut_.labels(checked))

    with threads(model.n_jobs):
        before, after = columns_of(reference), columns_of(model)
    counts = np.ones(len(before)) if weight is None else weight
    K = len(model.fitted_cut_.rotation)
    sizes: Array = np.bincount(after, counts, K).astype(np.float64)
    numbers: ClusterNumbers = reference.numbering_
    matched = match_clusters(Shared(before, after, counts), len(numbers.numbers), sizes)
    columns, numbers = continued(numbers, matched, sizes)
    aligned = copy(model)
    aligned._renumber(columns, numbers)
    return aligned


def _places(reference: Any) -> tuple[Any, Array]:
    """What the reference keeps of its rows, and how many each stands for."""
    affinity = reference.affinity_
    for name in ("rows_", "landmark_rows_"):
        if hasattr(affinity, name):
            return getattr(affinity, name), affinity.multiplicity_
    raise ValueError(
        f"X must be given for a reference with {type(affinity).__name__}, which does not keep its "
        "training rows. Got None; pass rows to compare labels on."
    )
