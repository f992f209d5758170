"""Models of tables, which remember columns, missing values and units."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
    clone,
)
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.contexts import all_or_nothing
from eigencut._utils.threads import threads
from eigencut._utils.validation import check_sample_weight
from eigencut.fitted import Answers
from eigencut.gpod import GPOD
from eigencut.inspection.describe import DescribingMixin
from eigencut.io.column_kinds import check_columns, columns_from_text, columns_to_text, plain_names
from eigencut.io.refused_rows import naming_rows_of_table
from eigencut.io.rows import Rows
from eigencut.io.saving import SavableMixin
from eigencut.io.state_reader import StateReader
from eigencut.io.table import Coding, Table, as_table
from eigencut.io.validation import check_rows, check_weights_of
from eigencut.neighbors.metrics import refuse_units
from eigencut.semi_supervised.constraints import Constraints, check_kind
from eigencut.semi_supervised.known_labels import known_classes_of_rows
from eigencut.tables.learning import learn_preparation, learn_preparation_from_stream
from eigencut.tables.preparation import (
    Mask,
    Preparation,
    check_preparation,
    preparation_state,
    refuse_width,
    restored_preparation,
    some_rows_of,
    sparse_rows,
    spread,
)
from eigencut.tables.summary import TableSummary
from eigencut.updating.table_updates import TableUpdatingMixin

if TYPE_CHECKING:
    from eigencut.hierarchy.hierarchy import Hierarchy
    from eigencut.inspection.description import Labelled


class TableModel(
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    TableUpdatingMixin,
    DescribingMixin,
    ClusterMixin,
    SavableMixin,
    BaseEstimator,
):
    """A model of tables: what columns hold, their units and missing values are part of it.

    Numbers, truth values, dates, words in an order and words without one: see ``docs/tables.md``.
    The command line fits these; ``eigencut.load`` gives back one if the file holds one.

    Parameters
    ----------
    model : GPOD, optional
        What clusters the rows, once they are prepared. A clone is fitted. Default: ``GPOD()``.
    columns : dict, list of str or None, default=None
        What columns hold, by name: "numeric", "boolean", "categorical", "date" (in days; or
        "date:hours" and the like), "ignore", or a list of words in their order, the least first.
        What is not said is found out from dtypes and contents; ``summary`` says it. A list of names
        chooses columns. None takes all.
    scale : {"standard", "minmax", "none"}, default="standard"
        Columns to mean 0 and variance 1, to the range from 0 to 1, or as they are. A constant
        column is only shifted. Words become points, in the same units.
    missing : {"refuse", "drop", "mean", "median"}, default="refuse"
        What to do with missing values: an error; leave such rows out of the fit, and give them the
        label -1 (and NaN for everything else); or fill in what is usual in the column. For words
        that is the middle of all, or the most frequent. The median of a stream is that of a
        reproducible sample of 65536 different rows.

    Attributes
    ----------
    columns_ : list of str
        Names of the columns, in the order of the fit; x1, x2, ... for an array.
    preparation_ : Preparation
        With ``kinds``, ``shift``, ``scale`` and ``fill``, one for each column.
    model_ : GPOD
        Fitted on the prepared rows.
    class_names_ : list of str
        What clusters 0, 1, ... are called, where y had words; else nothing.
    labels_ : array of shape (n_rows,)
        Not there after a fit on a stream.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"km": [1.0, 2, 1, 90, 91, None], "by": ["foot"] * 3 + ["train"] * 3})
    >>> model = TableModel(GPOD(2), missing="median").fit(frame)
    >>> model.predict(pd.DataFrame({"by": ["foot", "train"], "km": [1.5, 95]}))
    array([0, 1])
    >>> print(model.summary())
    column  kind         found
    km      numeric      mean 31.17, deviation 41.96
    by      categorical  foot, train
    """

    _saved_as: ClassVar[str] = "TableModel"
    _parameter_kinds: ClassVar[dict[str, type]] = {"model": GPOD}
    model_: GPOD
    preparation_: Preparation

    def __init__(
        self,
        model: GPOD | None = None,
        *,
        columns: Any = None,
        scale: str = "standard",
        missing: str = "refuse",
    ) -> None:
        self.model = model
        self.columns = columns
        self.scale = scale
        self.missing = missing

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        sample_weight: Any = None,
        constraints: Constraints | None = None,
    ) -> Self:
        """Learn columns, units and clusters from a data frame, an array or ``eigencut.Rows``.

        A stream is read in blocks: once for the units, once more if it has words, and as often as
        ``GPOD.fit`` does.

        Parameters
        ----------
        X : data frame, array of shape (n_samples, n_features) or Rows
        y : array-like of shape (n_samples,), optional
            Known classes of some rows: numbers from 0 on, or words, and -1 or a missing value for
            unknown. A y in which no class is unknown is ignored, and so are other numbers: see
            ``GPOD.fit``.
        sample_weight : array-like of shape (n_samples,), optional
            What each row counts, as in ``GPOD.fit``; in means, medians and shares of words too.
        constraints : eigencut.Constraints, optional
            Pairs of rows, by their place in the table from 0 on: see ``GPOD.fit``.
        """
        self._check_parameters()
        model: GPOD = GPOD() if self.model is None else clone(self.model)
        how = (self.scale, self.missing)
        if isinstance(X, Rows):
            check_weights_of(X, sample_weight)
            preparation = learn_preparation_from_stream(X, *how, self.columns)
            model.set_params(affinity=preparation.affinity_for(model.affinity))
            with naming_rows_of_table(X, None, preparation):
                model.fit(preparation.stream(X), y, constraints=constraints)
            return self._take(preparation, model)
        X = as_table(X, at_least=2)
        table = Table.of(X, coding=Coding(columns=self.columns))
        weight = check_sample_weight(sample_weight, len(table.values))
        preparation = learn_preparation(replace(table, weight=weight), *how)
        rows, complete = preparation.apply(table)
        of_complete = None if weight is None else weight[complete]
        known = known_classes_of_rows(y, len(table.values))
        model.set_params(affinity=preparation.affinity_for(model.affinity))
        of_rows = known.as_y[complete] if known.are_some else None
        pairs = None if constraints is None else check_kind(constraints).among(complete)
        with naming_rows_of_table(table, complete, preparation):
            model.fit(rows, of_rows, sample_weight=of_complete, constraints=pairs)
        return self._take(preparation, model, complete, X, known.names)

    def fit_predict(self, X: Any, y: Any = None, **params: Any) -> Indices:
        """Fit, and return ``labels_``; of a stream there are none."""
        if not hasattr(self.fit(X, y, **params), "labels_"):
            raise TypeError(
                "X must be rows in memory, for labels of a stream may not fit there. Got "
                "eigencut.Rows; the model is fitted: predict block by block, or use the command "
                "eigencut predict."
            )
        return self.labels_

    def _take(
        self,
        preparation: Preparation,
        model: GPOD,
        complete: Mask | None = None,
        X: Any = None,
        class_names: Sequence[str] = (),
    ) -> Self:
        """What was fitted; ``complete`` tells which of all rows of X the model was fitted on."""
        with all_or_nothing(self) as fresh:
            fresh.preparation_ = preparation
            fresh.model_ = model
            fresh.class_names_ = list(class_names)
            fresh._n_features_out = model.n_clusters_
            for name in ("labels_", "feature_names_in_"):
                fresh.__dict__.pop(name, None)
            fresh.n_features_in_ = len(preparation.columns)
            if X is not None:
                validate_data(fresh, X, reset=True, skip_check_array=True)  # names and number
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

    def summary(self) -> TableSummary:
        """What each column holds and what becomes of it; prints as a table."""
        check_is_fitted(self)
        return TableSummary.of(self.preparation_)

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

    def score(self, X: Any, y: Any = None) -> float:
        """Minus the error per cluster on the rows of X that are complete; see ``GPOD.score``."""
        rows, complete = self.prepare(X)
        with self._naming_rows(X, complete):
            return self.model_.score(rows)

    def answers(self, X: Any) -> Answers:
        """Labels, margins, support and probabilities of each row, in one pass over the rows."""
        rows, complete = self.prepare(X)
        gpod, n_rows = self.model_, rows.shape[0]
        with threads(gpod.n_jobs), self._naming_rows(X, complete), gpod._naming_rows(rows):
            marks = gpod.outliers == "label"
            found = gpod.fitted_cut_.answers(some_rows_of(rows), mark_outliers=marks)
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
        found = self._asked(X, "_labelled", rows, complete)
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
        if issparse(X):
            return sparse_rows(self.preparation_, check_rows(self.model_, X, reset=False))
        X = as_table(X)
        refuse_width(X, self.n_features_in_, len(self.columns_))
        return self.preparation_.apply(X)

    def _naming_rows(self, X: Any, complete: Mask | None) -> AbstractContextManager[None]:
        return naming_rows_of_table(X, complete, self.preparation_)

    def _of_rows(self, X: Any, method: str, otherwise: float) -> Any:
        rows, complete = self.prepare(X)
        found = self._asked(X, method, rows, complete)
        return spread(found[: rows.shape[0]], complete, otherwise)

    def _asked(self, X: Any, method: str, rows: Any, complete: Mask) -> Any:
        with self._naming_rows(X, complete):
            return getattr(self.model_, method)(some_rows_of(rows))

    # ---------------------------------------------------------------- saving

    def _state(self, include_training_data: bool = True) -> dict[str, Any]:
        """What was fitted, as plain values, arrays and the model."""
        check_is_fitted(self)
        found = {**preparation_state(self.preparation_), "model": self.model_}
        if self.n_features_in_ != len(self.columns_):
            found["n_columns"] = self.n_features_in_
        if hasattr(self, "feature_names_in_"):
            found["feature_names"] = [str(name) for name in self.feature_names_in_]
        if self.class_names_:
            found["class_names"] = self.class_names_
        has_labels = include_training_data and hasattr(self, "labels_")
        return found | ({"labels": self.labels_} if has_labels else {})

    def _restore(self, state: StateReader) -> None:
        """Take back a saved ``_state()``, instead of a fit."""
        self.columns = columns_from_text(self.columns)
        self._check_parameters()
        self.model_ = state.fitted("model", GPOD)
        self._n_features_out = self.model_.n_clusters_
        how = (self.scale, self.missing, self.model_.n_features_in_)
        self.preparation_ = restored_preparation(state, *how)
        self.n_features_in_ = n = len(self.columns_)
        if "n_columns" in state:
            self.n_features_in_ = n = state.integer("n_columns", least=len(self.columns_))
        if "feature_names" in state:
            self.feature_names_in_ = np.array(state.words("feature_names", n), dtype=object)
        self.class_names_ = state.some_words("class_names", self.model_.numbering_.n_given)
        if "labels" in state:
            self.labels_ = state.indices(
                "labels", (None,), self.model_.numbering_.n_given, least=-1
            )

    def _check_parameters(self) -> None:
        check_preparation(self.scale, self.missing)
        check_columns(self.columns)
        if self.model is None:
            return
        if not isinstance(self.model, GPOD):
            raise ValueError(
                f"model must be a GPOD. Got {type(self.model).__name__}; use e.g. GPOD(3)."
            )
        if self.model.affinity == "precomputed":
            raise ValueError(
                "model must have an affinity of rows. Got affinity='precomputed', which tables do "
                "not have; use GPOD alone."
            )
        refuse_units(self.model.metric or getattr(self.model.affinity, "metric", None), self.scale)

    def _saved_parameters(self, deep: bool = False) -> dict[str, Any]:
        """As ``get_params``, but what a file can hold: ``columns`` as text."""
        return self.get_params(deep) | {"columns": columns_to_text(self.columns)}

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.allow_nan = self.missing != "refuse"
        return tags


def table_model(
    model: GPOD,
    preparation: Preparation | None = None,
    complete: Mask | None = None,
    columns: Any = None,
    class_names: Sequence[str] = (),
) -> TableModel:
    """A fitted GPOD as a model of tables.

    Parameters
    ----------
    model : fitted GPOD
    preparation : Preparation, optional
        Of the rows that it was fitted on. Default: the model's columns by name, and nothing else.
    complete : array of bool, optional
        Which rows of the table these were. Default: all.
    columns : optional
        The parameter ``columns``.
    class_names : sequence of str
        What clusters 0, 1, ... are called.
    """
    check_is_fitted(model)
    if preparation is None:
        names = getattr(model, "feature_names_in_", plain_names(model.n_features_in_))
        preparation = Preparation.nothing(names)
    how = {"scale": preparation.units, "missing": preparation.missing}
    found = TableModel(model, columns=columns, **how)
    return found._take(preparation, model, complete, class_names=class_names)
