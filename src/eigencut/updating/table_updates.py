"""Updates and drift of models of tables: columns, units and fills stay as they were fitted."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from eigencut._utils.progress import all_or_nothing
from eigencut._utils.validation import check_sample_weight
from eigencut.io.rows import Rows
from eigencut.io.table import Table
from eigencut.io.validation import check_weights_of
from eigencut.semi_supervised.known_labels import warn_of_labels
from eigencut.updating.drift import Drift
from eigencut.updating.update import checked_decay, refuse_nothing


class TableUpdatingMixin:
    """``update``, ``partial_fit`` and ``drift`` of a ``TableModel``, through its preparation."""

    # The model's own.
    fit: Any
    labels_: Any
    model_: Any
    _naming_rows: Any
    prepare: Any
    preparation_: Any
    __sklearn_is_fitted__: Any

    def update(self, X: Any, *, sample_weight: Any = None, decay: float = 1.0) -> Self:
        """Refit the model as if it had seen these rows too; see ``GPOD.update``.

        Units, and what is filled in for missing values, stay those of the fit. Incomplete rows are
        left out if ``missing="drop"``. ``labels_`` are those of the rows of X.
        """
        model = copy(self._fitted_model())
        refuse_nothing(_rows_of(X), "update by")
        if isinstance(X, Rows):
            check_weights_of(X, sample_weight)
            with self._naming_rows(X, None):
                model.update(self.preparation_.stream(X), decay=decay)
            complete = None
        else:
            rows, complete = self.prepare(X)
            _refuse_incomplete(rows)
            weight = check_sample_weight(sample_weight, len(complete))
            of_complete = None if weight is None else weight[complete]
            with self._naming_rows(X, complete):
                model.update(np.ascontiguousarray(rows), sample_weight=of_complete, decay=decay)
        with all_or_nothing(self) as fresh:
            fresh.model_ = model
            fresh.__dict__.pop("labels_", None)
            if complete is not None:
                labels = np.full(len(complete), -1, dtype=np.intp)
                labels[complete] = model.labels_
                fresh.labels_ = labels
        return self

    def partial_fit(
        self, X: Any, y: Any = None, *, sample_weight: Any = None, decay: float = 1.0
    ) -> Self:
        """``fit`` at the first call, ``update`` at later ones; see ``GPOD.partial_fit``."""
        warn_of_labels(y)
        if not self.__sklearn_is_fitted__():
            checked_decay(decay)
            return self.fit(X, sample_weight=sample_weight)
        return self.update(X, sample_weight=sample_weight, decay=decay)

    def drift(self, X: Any, *, random_state: Any = None) -> Drift:
        """Say how rows differ from those that the model has seen; see ``GPOD.drift``.

        Incomplete rows are left out if ``missing="drop"``. The centre of a new cluster is in the
        units of the table; where there are words, which have none, a row in its middle is shown.
        """
        model = self._fitted_model()
        refuse_nothing(_rows_of(X), "compare")
        rows, complete = self.prepare(X)
        _refuse_incomplete(rows)
        with self._naming_rows(X, complete):
            found = model.drift(np.ascontiguousarray(rows), random_state=random_state)
        if found.new_cluster is None:
            return found
        new, places = found.new_cluster, np.flatnonzero(complete)
        scale, shift = self.preparation_.scale, self.preparation_.shift
        assert new.centre is not None
        if len(scale) == len(new.centre):
            new = replace(new, centre=new.centre * scale + shift)
        else:  # words are points of several coordinates
            middle = np.linalg.norm(rows[new.rows] - new.centre, axis=1).argmin()
            new = replace(new, centre=None, cells=self._cells(X, int(places[new.rows[middle]])))
        return replace(found, new_cluster=replace(new, rows=places[new.rows]))

    def _cells(self, X: Any, row: int) -> dict[str, float | str | None]:
        """What a row of the table has in the columns of the model."""
        from eigencut.inspection.columns import columns_of

        of_row = ((column.name, column) for column in columns_of(X, self.preparation_.columns))
        return {name: column.plain(column.values[row]) for name, column in of_row}

    def _fitted_model(self) -> Any:
        check_is_fitted(self)
        return self.model_


def _rows_of(X: Any) -> Any:
    """What has as many rows as X."""
    return X.values if isinstance(X, Table) else X


def _refuse_incomplete(rows: Any) -> None:
    if not len(rows):
        raise ValueError(
            "X must have at least one complete row. Got none; fill in missing values, or fit with "
            "missing='median'."
        )
