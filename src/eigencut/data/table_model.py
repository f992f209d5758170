"""Models of tables, which remember columns, missing values and units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.utils.validation import check_is_fitted

from eigencut.data.preparation import Mask, Preparation, check_preparation
from eigencut.data.rows import Rows
from eigencut.data.table import Table, plain_names
from eigencut.data.validation import check_weights_of
from eigencut.describe.describing import DescribingMixin
from eigencut.estimator import GPOD
from eigencut.files.saving import SavableMixin
from eigencut.files.state_reader import StateReader
from eigencut.fitted import Answers
from eigencut.living.table_updates import TableUpdatingMixin
from eigencut.runtime.all_or_nothing import all_or_nothing
from eigencut.runtime.arrays import Array, Indices
from eigencut.runtime.threads import threads
from eigencut.runtime.validation import check_sample_weight

if TYPE_CHECKING:
    from eigencut.describe.description import Labelled
    from eigencut.nested.hierarchy import Hierarchy


class TableModel(TableUpdatingMixin, DescribingMixin, ClusterMixin, SavableMixin, BaseEstimator):
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
        label -1 (and NaN for everything else); or fill in what is usual in the column. The median
        of a stream is that of a reproducible sample of 65536 different rows.

    Attributes
    ----------
    columns_ : list of str
        Names of the columns, in the order of the fit; x1, x2, ... for an array.
    preparation_ : Preparation
        With ``shift``, ``scale`` and ``fill``, one number for each column.
    model_ : GPOD
        Fitted on the prepared rows.
    labels_ : array of shape (n_rows,)
        Not there after a fit on a stream.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"km": [1.0, 2, 1, 90, 91, None], "t": [1, 2, 2, 9, 8, 9]})
    >>> model = TableModel(GPOD(2), missing="median").fit(frame)
    >>> model.predict(pd.DataFrame({"t": [1, 9], "km": [1.5, 95]}))
    array([0, 1])
    """

    _saved_as: ClassVar[str] = "TableModel"
    _parameter_kinds: ClassVar[dict[str, type]] = {"model": GPOD}
    model_: GPOD
    preparation_: Preparation

    def __init__(self, model: GPOD, *, scale: str = "standard", missing: str = "refuse") -> None:
        self.model = model
        self.scale = scale
        self.missing = missing

    def fit(self, X: Any, y: Any = None, *, sample_weight: Any = None) -> Self:
        """Learn columns, units and clusters from a data frame, an array or ``eigencut.Rows``.

        A stream is read in blocks, once for the units and as often as ``GPOD.fit`` does.

        Parameters
        ----------
        X : data frame, array of shape (n_samples, n_features) or Rows
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            What each row counts, as in ``GPOD.fit``; in means and medians too.
        """
        self._check_parameters()
        model: GPOD = clone(self.model)
        if isinstance(X, Rows):
            check_weights_of(X, sample_weight)
            preparation = Preparation.learn_stream(X, self.scale, self.missing)
            return self._take(preparation, model.fit(preparation.stream(X)))
        table = Table.of(X)
        weight = check_sample_weight(sample_weight, len(table.values))
        preparation = Preparation.learn(replace(table, weight=weight), self.scale, self.missing)
        rows, complete = preparation.apply(table)
        of_complete = None if weight is None else weight[complete]
        return self._take(preparation, model.fit(rows, sample_weight=of_complete), complete)

    def _take(self, preparation: Preparation, model: GPOD, complete: Mask | None = None) -> Self:
        """What was fitted; ``complete`` tells which of all rows the model was fitted on."""
        with all_or_nothing(self) as fresh:
            fresh.preparation_ = preparation
            fresh.model_ = model
            fresh.__dict__.pop("labels_", None)
            if hasattr(model, "labels_"):
                rows = np.ones(len(model.labels_), dtype=bool) if complete is None else complete
                fresh.labels_ = spread(model.labels_, rows, -1)
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    @property
    def columns_(self) -> list[str]:
        """Names of the columns, in the order of the fit."""
        return self.preparation_.columns

    def predict(self, X: Any) -> Indices:
        """The cluster of each row; -1 where values are missing and ``missing="drop"``."""
        return self._of_rows(X, "predict", -1)

    def predict_margin(self, X: Any) -> Array:
        """How clearly each row belongs to its cluster; see ``GPOD.predict_margin``."""
        return self._of_rows(X, "predict_margin", np.nan)

    def predict_proba(self, X: Any) -> Array:
        """The probability of each cluster, for each row; see ``GPOD.predict_proba``.

        NaN where values are missing and ``missing="drop"``.
        """
        return self._of_rows(X, "predict_proba", np.nan)

    def score_samples(self, X: Any) -> Array:
        """Support of each row; see ``GPOD.score_samples``."""
        return self._of_rows(X, "score_samples", np.nan)

    def transform(self, X: Any) -> Array:
        """The spectral embedding of each row; see ``GPOD.transform``."""
        return self._of_rows(X, "transform", np.nan)

    def answers(self, X: Any) -> Answers:
        """Labels, margins, support and probabilities of each row, in one pass over the rows."""
        rows, complete = self.prepare(X)
        gpod, n_rows = self.model_, len(rows)
        with threads(gpod.n_jobs):
            marks = gpod.outliers == "label"
            found = gpod.fitted_cut_.answers(_some(rows), mark_outliers=marks)
        labels = gpod.numbering_.of_labels(found.labels[:n_rows])
        probabilities = gpod.numbering_.of_columns(found.probabilities[:n_rows])
        return Answers(
            spread(labels, complete, -1),
            spread(found.margins[:n_rows], complete, np.nan),
            spread(found.support[:n_rows], complete, np.nan),
            spread(probabilities, complete, np.nan),
        )

    def hierarchy(self) -> Hierarchy:
        """The clusters as a tree; see ``GPOD.hierarchy``."""
        check_is_fitted(self)
        return self.model_.hierarchy()

    def _labelled(self, X: Any) -> Labelled:
        rows, complete = self.prepare(X)
        found = self.model_._labelled(_some(rows))
        return replace(
            found,
            labels=spread(found.labels[: len(rows)], complete, -1),
            margins=spread(found.margins[: len(rows)], complete, np.nan),
            points=spread(found.points[: len(rows)], complete, 0.0),
        )

    def _described_columns(self, X: Any) -> Sequence[str] | None:
        return self.columns_

    def prepare(self, X: Any) -> tuple[Array, Mask]:
        """Rows as the model wants them, without incomplete ones; and which rows are complete."""
        check_is_fitted(self)
        return self.preparation_.apply(X)

    def _of_rows(self, X: Any, method: str, otherwise: float) -> Any:
        rows, complete = self.prepare(X)
        found = getattr(self.model_, method)(_some(rows))
        return spread(found[: len(rows)], complete, otherwise)

    # ---------------------------------------------------------------- saving

    def _state(self, include_training_data: bool = True) -> dict[str, Any]:
        """What was fitted, as plain values, arrays and the model."""
        check_is_fitted(self)
        found = {
            "columns": self.preparation_.columns,
            "shift": self.preparation_.shift,
            "scale": self.preparation_.scale,
            "fill": self.preparation_.fill,
            "model": self.model_,
        }
        has_labels = include_training_data and hasattr(self, "labels_")
        return found | ({"labels": self.labels_} if has_labels else {})

    def _restore(self, state: StateReader) -> None:
        """Take back a saved ``_state()``, instead of a fit."""
        self._check_parameters()
        self.model_ = state.fitted("model", GPOD)
        n_columns = self.model_.n_features_in_
        columns = state.words("columns", n_columns)
        shift, scale, fill = (
            state.coordinates(name, (n_columns,)) for name in ("shift", "scale", "fill")
        )
        if (scale <= 0).any():
            raise ValueError("scale must be positive.")
        self.preparation_ = Preparation(columns, self.scale, self.missing, shift, scale, fill)
        if "labels" in state:
            self.labels_ = state.indices(
                "labels", (None,), self.model_.numbering_.n_given, least=-1
            )

    # ------------------------------------------------------------ parameters

    def _check_parameters(self) -> None:
        check_preparation(self.scale, self.missing)
        if not isinstance(self.model, GPOD):
            raise ValueError(
                f"model must be a GPOD. Got {type(self.model).__name__}; use e.g. GPOD(3)."
            )


def table_model(
    model: GPOD, preparation: Preparation | None = None, complete: Mask | None = None
) -> TableModel:
    """A fitted GPOD as a model of tables.

    Parameters
    ----------
    model : fitted GPOD
    preparation : Preparation, optional
        Of the rows that it was fitted on. Default: the model's columns by name, and nothing else.
    complete : array of bool, optional
        Which rows of the table these were. Default: all.
    """
    check_is_fitted(model)
    if preparation is None:
        names = getattr(model, "feature_names_in_", plain_names(model.n_features_in_))
        preparation = Preparation.nothing(names)
    found = TableModel(model, scale=preparation.units, missing=preparation.missing)
    return found._take(preparation, model, complete)


def _some(rows: Array) -> Array:
    """The rows, or another one where there are none: a model wants one row at least."""
    return np.ascontiguousarray(rows) if len(rows) else np.zeros((1, rows.shape[1]))


def spread(found: NDArray[Any], complete: Mask, otherwise: float) -> NDArray[Any]:
    """What was found of complete rows, in the places of all rows."""
    if complete.all():
        return found
    everywhere = np.full((len(complete), *found.shape[1:]), otherwise, dtype=found.dtype)
    everywhere[complete] = found
    return everywhere
