"""Models of tables, which remember columns, missing values and units.

A row of a table becomes a row for the model in three steps, decided at the fit and kept with it:
the columns are found by name, missing values are filled (or the row is left out), and
``(value - shift) / scale`` brings columns to comparable units.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.utils.validation import check_is_fitted

from eigencut.data.table import Table, plain_names, quoted
from eigencut.estimator import GPOD
from eigencut.files.reader import StateReader
from eigencut.files.saving import SavableMixin
from eigencut.runtime.arrays import Array, Indices
from eigencut.runtime.validation import check_choice


def _standard(values: Array) -> tuple[Array, Array]:
    return values.mean(axis=0), values.std(axis=0)


def _minmax(values: Array) -> tuple[Array, Array]:
    return values.min(axis=0), np.ptp(values, axis=0)


def _unscaled(values: Array) -> tuple[Array, Array]:
    return np.zeros(values.shape[1]), np.ones(values.shape[1])


# What is subtracted from a column, and what it is divided by.
SCALES: dict[str, Callable[[Array], tuple[Array, Array]]] = {
    "standard": _standard,
    "minmax": _minmax,
    "none": _unscaled,
}
# What a missing value becomes, given the column; None where nothing is filled in.
MISSING: dict[str, Callable[..., Any] | None] = {
    "refuse": None,
    "drop": None,
    "mean": np.nanmean,
    "median": np.nanmedian,
}


class TableModel(ClusterMixin, SavableMixin, BaseEstimator):
    """A model of tables: columns by name, missing values and units are part of it.

    The command line fits these; ``eigencut.load`` gives back one if the file holds one.

    Parameters
    ----------
    model : GPOD
        What clusters the rows, once they are prepared. A clone of it is fitted.
    scale : {"standard", "minmax", "none"}, default="standard"
        Columns to mean 0 and variance 1, to the range from 0 to 1, or as they are. A constant
        column is only shifted.
    missing : {"refuse", "drop", "mean", "median"}, default="refuse"
        What to do with missing values: an error; leave such rows out of the fit, and give them the
        label -1 (and NaN for everything else); or fill in what is usual in the column.

    Attributes
    ----------
    columns_ : list of str
        Names of the columns, in the order of the fit; x1, x2, ... for an array.
    shift_, scale_, fill_ : arrays, one number for each column
    model_ : GPOD
        Fitted on the prepared rows.
    labels_ : array of shape (n_rows,)

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"km": [1.0, 2, 1, 90, 91, None], "t": [1, 2, 2, 9, 8, 9]})
    >>> model = TableModel(GPOD(2), missing="median").fit(frame)
    >>> model.predict(pd.DataFrame({"t": [1, 9], "km": [1.5, 95]}))
    array([0, 1])
    """

    _saved_as: ClassVar[str] = "TableModel"
    model_: GPOD

    def __init__(self, model: GPOD, *, scale: str = "standard", missing: str = "refuse") -> None:
        self.model = model
        self.scale = scale
        self.missing = missing

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn columns, units and clusters from a data frame or an array."""
        rows, complete = self.fit_preparation(X)
        return self.adopt(clone(self.model).fit(rows), complete)

    def adopt(self, model: GPOD, complete: NDArray[np.bool_] | None = None) -> Self:
        """Take a GPOD that was fitted on the prepared rows; ``complete`` tells which they were."""
        self.model_ = model
        if hasattr(model, "labels_"):
            all_rows = np.ones(len(model.labels_), dtype=bool)
            self.labels_ = _spread(model.labels_, all_rows if complete is None else complete, -1)
        return self

    @classmethod
    def around(cls, model: GPOD) -> Self:
        """A fitted GPOD as a model of tables: its columns by name, nothing scaled or filled."""
        check_is_fitted(model)
        n_columns = model.n_features_in_
        found = cls(model, scale="none")
        found.columns_ = list(getattr(model, "feature_names_in_", plain_names(n_columns)))
        found.shift_, found.scale_ = _unscaled(np.empty((0, n_columns)))
        found.fill_ = np.zeros(n_columns)
        return found.adopt(model)

    def fit_preparation(self, X: Any) -> tuple[Array, NDArray[np.bool_]]:
        """Learn columns and units only; the prepared rows, and which rows of X they are."""
        self._check_parameters()
        table = Table.of(X)
        self.columns_ = list(table.names)
        self._refuse_infinite(table)
        fill = MISSING[self.missing]
        self.fill_ = np.zeros(len(self.columns_))
        if fill is not None:
            self._refuse_empty_columns(np.isnan(table.values))
            self.fill_ = np.asarray(fill(table.values, axis=0))
        values, complete = self._filled(table)
        if not complete.any():
            raise ValueError(
                "The table must have rows without missing values. Got none; "
                "fit with missing 'mean' or 'median'."
            )
        with np.errstate(over="ignore", invalid="ignore"):
            self.shift_, width = SCALES[self.scale](values[complete])
        is_constant = np.ptp(values[complete], axis=0) == 0  # where a deviation can be rounding
        self.scale_ = np.where(is_constant, 1.0, width)
        self._refuse_unscalable(width)
        return self._scaled(values[complete]), complete

    def predict(self, X: Any) -> Indices:
        """The cluster of each row; -1 where values are missing and ``missing="drop"``."""
        return self._of_rows(X, self.model_.predict, -1)

    def predict_margin(self, X: Any) -> Array:
        """How clearly each row belongs to its cluster; see ``GPOD.predict_margin``."""
        return self._of_rows(X, self.model_.predict_margin, np.nan)

    def score_samples(self, X: Any) -> Array:
        """Support of each row; see ``GPOD.score_samples``."""
        return self._of_rows(X, self.model_.score_samples, np.nan)

    def transform(self, X: Any) -> Array:
        """The spectral embedding of each row; see ``GPOD.transform``."""
        return self._of_rows(X, self.model_.transform, np.nan)

    def prepare(self, X: Any) -> tuple[Array, NDArray[np.bool_]]:
        """Rows as the model wants them, without incomplete ones; and which rows are complete."""
        check_is_fitted(self)
        table = Table.of(X, self.columns_)
        self._refuse_infinite(table)
        filled, complete = self._filled(table)
        return self._scaled(filled[complete]), complete

    def _of_rows(self, X: Any, answer: Callable[[ArrayLike], Any], otherwise: float) -> Any:
        rows, complete = self.prepare(X)
        if len(rows):
            return _spread(answer(rows), complete, otherwise)
        shape_and_type = answer(self.shift_[np.newaxis])[:0]  # a model wants one row at least
        return _spread(shape_and_type, complete, otherwise)

    def _filled(self, table: Table) -> tuple[Array, NDArray[np.bool_]]:
        values = table.values
        is_missing = np.isnan(values)
        if MISSING[self.missing] is not None:
            return np.where(is_missing, self.fill_, values), np.ones(len(values), dtype=bool)
        if self.missing == "refuse" and is_missing.any():
            names = [self.columns_[i] for i in np.flatnonzero(is_missing.any(axis=0))]
            row = int(np.flatnonzero(is_missing.any(axis=1))[0])
            raise ValueError(
                f"The table must have no missing values. Got some in {quoted(names)}, first in row "
                f"{row + table.first_row}; fit with missing 'drop', 'mean' or 'median'."
            )
        return values, np.asarray(~is_missing.any(axis=1))

    def _scaled(self, values: Array) -> Array:
        with np.errstate(over="ignore"):
            scaled = (values - self.shift_) / self.scale_
        return np.clip(scaled, -np.finfo(np.float64).max, np.finfo(np.float64).max)

    # ---------------------------------------------------------------- saving

    def _state(self, include_training_data: bool = True) -> dict[str, Any]:
        """What was fitted, as plain values, arrays and the model."""
        check_is_fitted(self)
        found = {
            "columns": self.columns_,
            "shift": self.shift_,
            "scale": self.scale_,
            "fill": self.fill_,
            "model": self.model_,
        }
        return found | ({"labels": self.labels_} if include_training_data else {})

    def _restore(self, state: StateReader) -> None:
        """Take back a saved ``_state()``, instead of a fit."""
        self._check_parameters()
        self.model_ = state.fitted("model", GPOD)
        n_columns = self.model_.n_features_in_
        self.columns_ = state.words("columns", n_columns)
        self.shift_ = state.array("shift", (n_columns,))
        self.scale_ = state.array("scale", (n_columns,))
        self.fill_ = state.array("fill", (n_columns,))
        if (self.scale_ <= 0).any():
            raise ValueError("scale must be positive.")
        if "labels" in state:
            self.labels_ = state.indices("labels", (None,), self.model_.n_clusters_, least=-1)

    # ------------------------------------------------------------ parameters

    def _check_parameters(self) -> None:
        check_choice("scale", self.scale, tuple(SCALES))
        check_choice("missing", self.missing, tuple(MISSING))
        if not isinstance(self.model, GPOD):
            raise ValueError(
                f"model must be a GPOD. Got {type(self.model).__name__}; use e.g. GPOD(3)."
            )

    def _refuse_infinite(self, table: Table) -> None:
        row, column = np.nonzero(np.isinf(table.values))
        if len(row):
            raise ValueError(
                "The table must hold finite numbers. Got infinity in "
                f"{self.columns_[column[0]]!r}, row {row[0] + table.first_row}; correct or drop it."
            )

    def _refuse_empty_columns(self, is_missing: NDArray[np.bool_]) -> None:
        empty = [self.columns_[i] for i in np.flatnonzero(is_missing.all(axis=0))]
        if empty:
            raise ValueError(
                f"Columns must have some values to fill missing ones by their {self.missing}. "
                f"Got none in {quoted(empty)}; drop them."
            )

    def _refuse_unscalable(self, width: Array) -> None:
        bad = np.flatnonzero(~(np.isfinite(self.shift_) & np.isfinite(width)))
        if len(bad):
            names = [self.columns_[i] for i in bad]
            raise ValueError(
                f"Columns must hold numbers whose squares are finite for scale={self.scale!r}. "
                f"Got larger ones in {quoted(names)}; divide them, or use scale 'none'."
            )


def _spread(found: NDArray[Any], complete: NDArray[np.bool_], otherwise: float) -> NDArray[Any]:
    """What was found of complete rows, in the places of all rows."""
    if complete.all():
        return found
    everywhere = np.full((len(complete), *found.shape[1:]), otherwise, dtype=found.dtype)
    everywhere[complete] = found
    return everywhere
