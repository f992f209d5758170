"""Numbers of clusters of one model, as another has them."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.threads import threads
from eigencut.extension.cluster_numbers import ClusterNumbers
from eigencut.extension.labelling import OUTLIER
from eigencut.io.column_kinds import Kind, quoted
from eigencut.io.table import Table
from eigencut.tables.preparation import Preparation, restored_table
from eigencut.updating.refit import Shared, continued, match_clusters
from eigencut.updating.table_updates import TableUpdatingMixin
from eigencut.updating.update import UpdatingMixin


def align_labels(model: Any, reference: Any, X: Any = None) -> Any:
    """The model with the cluster numbers of another model over the same columns.

    A cluster gets the number of the reference's cluster that it shares the most rows with, one to
    one, if these are more than half of the smaller of the two. Other clusters get numbers that the
    reference has never given, as at an ``update``; so numbers can have gaps.

    Parameters
    ----------
    model : fitted GPOD or TableModel
        Stays as it is.
    reference : fitted model of the same kind
        Of a TableModel columns are found by name, in either order; those of a GPOD must be in the
        same order.
    X : array-like of shape (n_samples, n_features), or a table, optional
        Rows to compare labels on. Default: what the reference keeps of the rows that it has seen,
        its distinct rows or its landmarks, each counting as many rows as it stands for.

    Returns
    -------
    GPOD or TableModel
        A copy; all but the numbers is the model's. ``class_names_`` are the reference's.

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
        if not isinstance(given, (UpdatingMixin, TableUpdatingMixin)):
            raise TypeError(
                f"{name} must be a GPOD or a TableModel. Got {type(given).__name__}; align the "
                "model that it was made of."
            )
        check_is_fitted(given)
    _refuse_other_columns(model, reference)
    of_tables = _is_of_tables(model)
    if of_tables:
        _refuse_other_names(model, reference)
    gpod, other = (model.model_, reference.model_) if of_tables else (model, reference)
    if of_tables and (X is None or isinstance(X, Table)):
        _refuse_other_kinds(model.preparation_, reference.preparation_)
    with threads(gpod.n_jobs):
        if X is not None:
            before, after = _of_both(_columns_of(reference, X), _columns_of(model, X))
            counts = np.ones(len(before))
        else:
            rows, counts = _places(other)
            before = other.fitted_cut_.labels(rows)
            after = gpod.fitted_cut_.labels(_as_model_sees(model, reference, rows))
    K = len(gpod.fitted_cut_.rotation)
    sizes: Array = np.bincount(after, counts, K).astype(np.float64)
    numbers: ClusterNumbers = other.numbering_
    matched = match_clusters(Shared(before, after, counts), len(numbers.numbers), sizes)
    columns, numbers = continued(numbers, matched, sizes)
    aligned = copy(model)
    if not of_tables:
        aligned._renumber(columns, numbers)
        return aligned
    aligned.model_ = copy(gpod)
    aligned.model_._renumber(columns, numbers)
    aligned.class_names_ = list(reference.class_names_)
    if hasattr(model, "labels_"):
        aligned.labels_ = _renamed(model.labels_, gpod.numbering_, columns, numbers)
    return aligned


def _is_of_tables(model: Any) -> bool:
    return isinstance(model, TableUpdatingMixin)


def _refuse_other_columns(model: Any, reference: Any) -> None:
    """An error where columns are not the same, or not certainly so."""
    if _is_of_tables(model) != _is_of_tables(reference):
        raise ValueError(
            f"model and reference must be of one kind. Got {_with_columns(model)} and "
            f"{_with_columns(reference)}; fit both as TableModel."
        )
    names, others = _names(model), _names(reference)
    if names is None or others is None:
        is_same = model.n_features_in_ == reference.n_features_in_
    else:
        is_same = set(names) == set(others) if _is_of_tables(model) else names == others
    if not is_same:
        raise ValueError(
            "model and reference must be over the same columns, and a GPOD's in the same order. "
            f"Got {_with_columns(model)} and {_with_columns(reference)}; fit both on the same "
            "columns."
        )


def _names(model: Any) -> list[str] | None:
    if _is_of_tables(model):
        return list(model.columns_)
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def _with_columns(model: Any) -> str:
    """A model for a message: its kind, and the columns it was fitted on."""
    names = _names(model)
    columns = f"{model.n_features_in_} columns" if names is None else quoted(names)
    return f"a {type(model).__name__} of {columns}"


def _refuse_other_names(model: Any, reference: Any) -> None:
    """An error where clusters are called something that the reference does not know."""
    if model.class_names_ and model.class_names_ != reference.class_names_:
        known = ", ".join(reference.class_names_) or "none"
        raise ValueError(
            "model must have no names of classes, or those of the reference. Got "
            f"{', '.join(model.class_names_)}, and the reference has {known}; fit the model with "
            "the same known classes, which gives it their numbers."
        )


def _columns_of(model: Any, X: Any) -> tuple[Indices, Any]:
    """The cluster of each row that is complete, as a column of the rotation; and which are."""
    if not _is_of_tables(model):
        found = model._answer(X, lambda rows: model.fitted_cut_.labels(rows))
        return found, np.ones(len(found), dtype=bool)
    rows, complete = model.prepare(X)
    if not len(rows):
        raise ValueError("X must have at least one complete row. Got none; fill in missing values.")
    return model.model_.fitted_cut_.labels(np.ascontiguousarray(rows)), complete


def _of_both(one: tuple[Indices, Any], other: tuple[Indices, Any]) -> tuple[Indices, Indices]:
    """Clusters of the rows that are complete for both models."""
    both = one[1] & other[1]
    return one[0][both[one[1]]], other[0][both[other[1]]]


def _refuse_other_kinds(own: Preparation, before: Preparation) -> None:
    """An error where a table that was read for one model is not what the other one wants."""
    kinds = dict(zip(before.columns, before.kinds, strict=True))
    for name, kind in zip(own.columns, own.kinds, strict=True):
        held = kinds[name]
        if (kind.name, kind.order, kind.unit) != (held.name, held.order, held.unit):
            raise ValueError(
                f"X must be a data frame where columns hold different things. Got {name!r}, which "
                f"is {_shown_kind(kind)} in the model and {_shown_kind(held)} in the reference; "
                "pass rows to compare labels on: align_labels(model, reference, frame)."
            )


def _shown_kind(kind: Kind) -> str:
    if kind.name == "ordered":
        return " < ".join(kind.order)
    return f"{kind.name} ({kind.unit})" if kind.name == "date" else kind.name


def _as_model_sees(model: Any, reference: Any, rows: Any) -> Any:
    """Rows that the reference keeps, in the units of the model."""
    if not _is_of_tables(model):
        return rows
    table = restored_table(reference.preparation_, rows)
    return np.ascontiguousarray(model.preparation_.apply(table)[0])


def _places(reference: Any) -> tuple[Any, Array]:
    """What the reference keeps of its rows, and how many each stands for."""
    affinity = reference.affinity_
    for name in ("rows_", "landmark_rows_"):
        if hasattr(affinity, name):
            rows = getattr(affinity, name)
            rows = rows if issparse(rows) else np.ascontiguousarray(rows, dtype=np.float64)
            return rows, affinity.multiplicity_
    raise ValueError(
        f"X must be given for a reference with {type(affinity).__name__}, which does not keep its "
        "training rows. Got None; pass rows to compare labels on."
    )


def _renamed(
    labels: Indices, before: ClusterNumbers, columns: Indices, after: ClusterNumbers
) -> Indices:
    """Labels by the numbers of before as those of after; -1 stays."""
    number_of = np.full(before.n_given + 1, OUTLIER, dtype=np.intp)  # the last one is for -1
    number_of[before.numbers] = after.numbers[np.argsort(columns)]
    return number_of[labels]


def renumbered(model: Any, aligned: Any) -> dict[int, int]:
    """For each cluster number of a model of tables, its number in an aligned copy of it."""
    before, after = model.model_, aligned.model_
    # Columns of the rotation are in the order of the numbers; a column is found by its vector.
    same = np.argmax(before.rotation_.T @ after.rotation_, axis=1)
    numbers = after.cluster_numbers_[same]
    return dict(zip(before.cluster_numbers_.tolist(), numbers.tolist(), strict=True))
