"""What gives models ``describe``: they say which rows belong where, the rest is done here."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

if TYPE_CHECKING:
    from eigencut.inspection.description import Description, Labelled

# What a notebook shows of a fitted model: below scikit-learn's diagram, what was found.

_MOST_CLUSTERS = 20  # whose sizes are listed


def fitted_html(model: Any) -> str:
    """A table: clusters, their sizes, the graph and what it was chosen among; "" if not fitted.

    Parameters
    ----------
    model : estimator

    Returns
    -------
    html : str
        Everything that comes from parameters or data is escaped.
    """
    try:
        check_is_fitted(model)
    except Exception:  # whatever it is: a display must not fail
        return ""
    rows = [(name, value) for name, value in _facts(model) if value]
    cells = "".join(
        f"<tr><th style='text-align:left'>{escape(name)}</th>"
        f"<td style='text-align:left'>{escape(value)}</td></tr>"
        for name, value in rows
    )
    return f"<table class='eigencut-fitted'>{cells}</table>" if rows else ""


def _facts(model: Any) -> list[tuple[str, str]]:
    known = vars(model)
    numbers = getattr(model, "cluster_numbers_", None)
    choice = known.get("choice_", ())
    return [
        ("clusters", "" if numbers is None else str(len(numbers))),
        ("sizes", _sizes(known.get("labels_"))),
        ("graph", repr(known["affinity_"]) if "affinity_" in known else ""),
        ("chosen among", "; ".join(f"{one.affinity} ({one.score:.3g})" for one in choice)),
    ]


def _sizes(labels: Any) -> str:
    """Of the clusters of the rows that there are labels of; -1 are outliers."""
    if labels is None:
        return ""
    numbers, counts = np.unique(labels, return_counts=True)
    pairs = [f"{number}: {count}" for number, count in zip(numbers, counts, strict=True)]
    more = f", and {len(pairs) - _MOST_CLUSTERS} more" if len(pairs) > _MOST_CLUSTERS else ""
    return ", ".join(pairs[:_MOST_CLUSTERS]) + more


def describe_model(
    model: Any,
    X: Any,
    *,
    columns: Any = None,
    documents: Sequence[str] | None = None,
    n_typical: int,
    n_columns: int,
    n_words: int,
    confidence: float,
) -> Description:
    """Describe the clusters of a model on the rows of X; see ``Model.describe``."""
    from eigencut.inspection.description import Asked, describe_rows

    asked = Asked(n_typical, n_columns, n_words, confidence)
    rows = _labelled(model, X)
    table, names = columns, None
    if columns is None:
        table, names = X, model.described_columns(X)
        if rows.points is None or (documents is not None and names is None):
            table = None
    if table is None and documents is None:
        raise ValueError(
            "columns must be given for a model of affinities, which have none. Got None; pass "
            "a table of as many rows as X that describes them, or documents."
        )
    return describe_rows(rows, table, names, documents, asked)


def _labelled(model: Any, X: Any) -> Labelled:
    """Return the labels and margins of rows, and the points that distances are taken of."""
    from eigencut.inspection.description import Labelled

    with model.preparing(X) as (rows, complete):
        answers = model.answers_for_all(rows, complete)
    affinity = model.gpod.affinity_
    numbers, labels = model.cluster_numbers_, answers.labels
    points = rows
    if not complete.all():
        points = np.zeros((len(complete), rows.shape[1]))
        points[complete] = rows
    return Labelled(
        labels=np.where(labels < 0, -1, np.searchsorted(numbers, labels)),
        margins=answers.margins,
        points=None if affinity.pairwise else points,
        n_clusters=len(numbers),
        metric=str(getattr(affinity, "metric", "euclidean")),
        numbers=numbers,
    )
