"""``align_labels``: renumber the clusters of one model like those of another."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from scipy.sparse import issparse

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.running import threads
from eigencut.exceptions import invalid
from eigencut.io.column_kinds import quoted
from eigencut.io.table import Table
from eigencut.model import Model, at_least_one, spread
from eigencut.updating.update import continued, match_clusters, rows_in_common


def align_labels(model: Any, reference: Any, X: Any = None) -> Any:
    """Return a copy of the model with the cluster numbers of another model of the same columns.

    A cluster gets the number of the reference's cluster that it shares the most rows with, if these
    are more than half of the smaller of the two clusters. Others get numbers that are not in use.

    Parameters
    ----------
    model : fitted GPOD or TableModel
        The model itself does not change.
    reference : fitted model of the same kind
        Columns of a TableModel are matched by name; those of a GPOD must be in the same order.
    X : array-like of shape (n_samples, n_features), or a table, optional
        Rows to compare labels on. Default: the training rows that the reference keeps.

    Returns
    -------
    GPOD or TableModel
        A copy with other numbers, and the names of the reference.

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
    for name, given in (("model", model), ("reference", reference)):
        if not isinstance(given, Model) or given.splits_:
            got, remedy = type(given).__name__, "align the model that it was made of"
            raise invalid(name, "be a GPOD or a TableModel", got, remedy, TypeError)
        given.check_fitted()
    _refuse_other_columns(model, reference)
    class_names, known = (list(getattr(one, "class_names_", [])) for one in (model, reference))
    if class_names and class_names != known:
        expected = "have no class names, or those of the reference"
        got = f"{', '.join(class_names)}, and the reference has {', '.join(known) or 'none'}"
        remedy = "fit the model with the same known classes, which gives it their numbers"
        raise invalid("model", expected, got, remedy)
    if X is None or isinstance(X, Table):  # a table was read for one of the models
        model.refuse_other_kinds(reference)
    gpod, other = model.gpod, reference.gpod
    with threads(gpod.n_jobs):
        if X is None:
            affinity, counts = other.affinity_, other.affinity_.multiplicity_
            rows = getattr(affinity, "rows_", getattr(affinity, "landmark_rows_", None))
            if rows is None:
                expected = f"be given for a reference with {type(affinity).__name__}, which does "
                expected += "not keep its training rows"
                raise invalid("X", expected, None, "pass rows to compare labels on")
            rows = rows if issparse(rows) else np.ascontiguousarray(rows, dtype=np.float64)
            before = other.fitted_cut_.labels(rows)
            after = gpod.fitted_cut_.labels(model.rows_from(reference, rows))
        else:
            before, after = _columns_of(reference, X), _columns_of(model, X)
            is_complete = (before >= 0) & (after >= 0)
            before, after = before[is_complete], after[is_complete]
            counts = np.ones(len(before))
    sizes: Array = np.bincount(after, counts, gpod.n_clusters_).astype(np.float64)
    in_common = rows_in_common(before, after, counts, (gpod.n_clusters_, other.n_clusters_))
    columns, numbers = continued(other.numbering_, match_clusters(in_common, sizes), sizes)
    aligned = copy(model)
    aligned._renumber(columns, numbers)
    if known:
        aligned.class_names_ = known
    return aligned


def _refuse_other_columns(model: Model, reference: Model) -> None:
    """Raise an error unless both models surely have the same columns."""
    both = (f"a {type(one).__name__} of {quoted(one.columns_)}" for one in (model, reference))
    got = " and ".join(both)
    if type(model) is not type(reference):
        raise invalid("model and reference", "be of one kind", got, "fit both as TableModel")
    names, others = model.described_columns(None), reference.described_columns(None)
    is_same = names == others or (model.finds_columns and set(names or ()) == set(others or ()))
    if names is None or others is None:
        is_same = len(model.columns_) == len(reference.columns_)
    if not is_same:
        expected = "be over the same columns, and a GPOD's in the same order"
        raise invalid("model and reference", expected, got, "fit both on the same columns")


def _columns_of(model: Model, X: Any) -> Indices:
    """Return the cluster of each row, by column of the rotation; -1 for incomplete rows."""
    with model.preparing(X) as (rows, complete):
        if not complete.any():
            raise invalid("X", "have at least one complete row", "none", "fill in missing values")
        return spread(model.gpod.fitted_cut_.labels(at_least_one(rows)), complete, -1)
