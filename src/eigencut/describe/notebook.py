"""What a notebook shows of a fitted model: below scikit-learn's diagram, what was found."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

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
