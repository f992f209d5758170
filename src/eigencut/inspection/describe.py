"""What gives models ``describe``: they say which rows belong where, the rest is done here."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

if TYPE_CHECKING:
    from eigencut.inspection.description import Description, Labelled

# What a notebook shows of a fitted model: below scikit-learn's diagram, what was found.

_MOST_CLUSTERS = 20  # whose sizes are listed


class NotebookMixin:
    """Adds to scikit-learn's HTML of an estimator what ``fitted_html`` says of a fitted one."""

    def _repr_html_inner(self) -> str:
        return str(super()._repr_html_inner()) + fitted_html(self)  # type: ignore[misc]

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        shown = dict(super()._repr_mimebundle_(**kwargs))  # type: ignore[misc]
        if "text/html" in shown:
            shown["text/html"] = self._repr_html_inner()
        return shown


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


class DescribingMixin(NotebookMixin):
    """Gives a model ``describe``, and what notebooks show of it."""

    @abstractmethod
    def _labelled(self, X: Any) -> Labelled:
        """Labels and margins of rows, and what distances between them are taken of."""

    def _described_columns(self, X: Any) -> Sequence[str] | None:
        """Names of the columns of X that a description is about; None if they have none."""
        if hasattr(X, "columns"):
            return [str(name) for name in X.columns]
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else [str(name) for name in names]

    def describe(
        self,
        X: Any,
        *,
        columns: Any = None,
        documents: Sequence[str] | None = None,
        n_typical: int = 3,
        n_columns: int = 5,
        n_words: int = 8,
        confidence: float = 0.95,
    ) -> Description:
        """Say what each cluster is, on the rows of X: ``print(model.describe(X))``.

        Sizes, typical rows, the columns that distinguish a cluster, a rule of at most three
        conditions, and the words of documents. Everything is in the units of X. See
        ``docs/describe.md``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows as ``predict`` takes them: those of the fit, or others.
        columns : data frame or array of shape (n_samples, any), optional
            Describe the clusters by these columns, which may hold words, instead of those of X.
            Default: the columns of X; none of them where they have no names and there are
            ``documents``, as for embeddings, or where X holds affinities.
        documents : sequence of str, optional
            The text of each row, for the words of clusters.
        n_typical, n_columns, n_words : int
            How many typical rows, distinguishing columns and words there are for each cluster, at
            most.
        confidence : float, default=0.95
            Of all intervals. They hold given the clusters: they say how well a number is known on
            rows that the model was not fitted on, not that the clusters are real (see
            ``eigencut.inspection.significance``).

        Returns
        -------
        Description

        Examples
        --------
        >>> import pandas as pd
        >>> from eigencut import GPOD
        >>> frame = pd.DataFrame({"km": [1.0, 2, 3, 91, 90, 92, 93], "t": [1, 2, 1, 2, 1, 2, 1]})
        >>> model = GPOD(2).fit(frame)
        >>> model.describe(frame).clusters[0].rule.conditions
        (Condition(column='km', relation='>', value=50.0),)
        """
        from eigencut.inspection.description import Asked, describe_rows

        asked = Asked(n_typical, n_columns, n_words, confidence)
        rows = self._labelled(X)
        table, names = columns, None
        if columns is None:
            table, names = X, self._described_columns(X)
            if rows.points is None or (documents is not None and names is None):
                table = None
        if table is None and documents is None:
            raise ValueError(
                "columns must be given for a model of affinities, which have none. Got None; pass "
                "a table of as many rows as X that describes them, or documents."
            )
        return describe_rows(rows, table, names, documents, asked)
