"""What several answers of this room rest on: the same estimator, fitted again on other rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from eigencut._utils.arrays import Indices
from eigencut._utils.progress import counted, without_progress
from eigencut._utils.threads import threads
from eigencut.exceptions import GraphWarning
from eigencut.io.validation import check_rows

Item = TypeVar("Item")

_MOST_COPIES = 1000  # of a row that are made, on average


def refits(
    model: Any, samples: Sequence[Item], rows_of: Callable[[Item], Any], **changes: Any
) -> Iterator[tuple[Item, Any]]:
    """Each sample, and the model's estimator fitted on its rows.

    The number of clusters is the fitted one, also where it was "auto"; ``changes`` are to other
    parameters. One at a time: each fit has all threads and all memory.
    """
    estimator = clone(model).set_params(n_clusters=model.n_clusters_, n_jobs=None, verbose=False)
    estimator.set_params(**changes)
    for sample in counted(samples, "refits"):
        with threads(model.n_jobs), warnings.catch_warnings(), without_progress():
            # What is odd about a sample is part of what is measured.
            warnings.simplefilter("ignore", GraphWarning)
            fitted = clone(estimator).fit(rows_of(sample))
        yield sample, fitted


def training_rows(model: Any, X: Any = None) -> Any:
    """Rows to fit again on: those of X, or the training rows that a model keeps.

    Kept rows are sorted, and identical ones stand together.
    """
    check_is_fitted(model)
    if model.affinity_.pairwise:
        raise ValueError(
            "affinity must be one of rows of features, for samples of rows are fitted again. Got "
            "a matrix of affinities; use e.g. affinity='gaussian'."
        )
    if X is not None:
        return check_rows(model, X, reset=False, at_least=2)
    rows = getattr(model.affinity_, "rows_", None)
    if rows is None:
        raise ValueError(
            f"X must be given for a model with {type(model.affinity_).__name__}, which does not "
            "keep its training rows. Got None; pass the rows that it was fitted on."
        )
    counts = np.rint(model.affinity_.multiplicity_).astype(np.intp)
    if (counts != model.affinity_.multiplicity_).any() or counts.sum() > _MOST_COPIES * len(counts):
        raise ValueError(
            "model must be fitted on rows that are there once, or a few times, for samples of them "
            f"to be fitted again. Got weights that add up to {model.affinity_.n_rows_:g} on "
            f"{len(counts)} different rows; pass X, a sample of rows by their weights."
        )
    return rows[np.repeat(np.arange(len(counts)), counts)]


def renumbered(labels: Indices, like: Indices, n_clusters: int) -> Indices:
    """For each cluster of ``labels`` the cluster of ``like`` that it is, one to one.

    Of all one-to-one assignments that with the most rows in common (the Hungarian method).

    Examples
    --------
    >>> import numpy as np
    >>> renumbered(np.array([1, 1, 0, 0, 0]), np.array([0, 0, 1, 1, 0]), 2)
    array([1, 0])
    """
    together = np.zeros((n_clusters, n_clusters))
    np.add.at(together, (labels, like), 1)
    return linear_sum_assignment(together, maximize=True)[1]
